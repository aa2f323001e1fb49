//! Answers as a report: what costs, what binds it, what can be had.

use super::answers::{Answer, Answers};
use super::columns;
use super::parts::ends;
use crate::report::sheet::Sheet;
use crate::report::{Cell, Cost, Report, Table, capitalized};
use crate::verdict::FEWEST;
use trace::what_if::{Part, WhatIf};

/// Parts of which it is told what binds them.
const TOLD: usize = 3;

/// The report.
pub fn report(of: &WhatIf, found: &Answers<'_>) -> Report {
    let title = format!("What if: frame {} of {}, by {}", of.frame, of.capture, of.by);
    let mut report = Report::new("what-if", &title);
    report.cost = Cost::Unknown {
        why: "a pair of timestamps stands around each submission, with and without each change alike".into(),
    };
    report.headlines = answer(of, found);
    report.tables =
        vec![parts(of, found), together(of, found), causes(of, found), had(of, found), refused(of, found)];
    report.tables.retain(|t| !t.rows.is_empty());
    report.notes.extend(sum(of, found));
    report.notes.extend(of.notes.iter().chain(&found.notes).cloned());
    report
}

/// A number of ms with as many digits as tell it apart.
fn ms(n: f64) -> String {
    format!("{n:.3} ms")
}

/// How sure it is.
fn between(a: &Answer<'_>) -> String {
    match a.interval {
        Some([low, high]) => format!("99 % interval {low:.3} … {high:.3}"),
        None => "not known how surely".into(),
    }
}

/// How a part is called in a sentence.
fn called(of: &WhatIf, part: usize) -> String {
    let p = &of.parts[part];
    if part == 0 { p.name.clone() } else { format!("part {part}, {}", p.name) }
}

/// Parts with a cost that is sure, the dearest first.
fn dearest<'f, 'w>(of: &WhatIf, found: &'f Answers<'w>) -> Vec<(usize, &'f Answer<'w>)> {
    let sure = |n: usize| found.cost(n).filter(|a| a.gains()).map(|a| (n, a));
    let mut all: Vec<_> = ends(&of.parts).into_iter().filter_map(sure).collect();
    all.sort_by(|a, b| b.1.gain.total_cmp(&a.1.gain));
    all
}

/// The conclusion, in sentences.
fn answer(of: &WhatIf, found: &Answers<'_>) -> Vec<String> {
    let Some(first) = found.all.first() else {
        return vec![format!("Nothing could be asked of frame {}.", of.frame)];
    };
    let dearest = dearest(of, found);
    let mut said = vec![];
    let processes = first.judged.processes.into_iter().min().unwrap_or(0);
    if processes < FEWEST {
        return vec![format!(
            "Frame {} takes {}. Nothing is sure: of each experiment {processes} processes ran, and {FEWEST} may decide (--processes).",
            of.frame,
            ms(first.base)
        )];
    }
    match dearest.first() {
        Some((n, a)) => said.push(format!(
            "Frame {} takes {}; what costs most is {}: without it {} less ({:.0} % of it; {}).",
            of.frame,
            ms(first.base),
            called(of, *n),
            ms(a.gain),
            a.percent(),
            between(a)
        )),
        None => said.push(format!(
            "Frame {} takes {}; no part of it costs so much that it is sure.",
            of.frame,
            ms(first.base)
        )),
    }
    let told = dearest.iter().take(TOLD).map(|d| d.0).chain([0]);
    said.extend(told.filter_map(|n| bound(of, found, n)));
    let had = found.can_be_had();
    said.push(match had.first() {
        Some(a) => format!(
            "Can be had, with the same picture: {} of {}, {} less ({:.0} % of the frame; {}).",
            a.of.change,
            called(of, a.of.part),
            ms(a.gain),
            a.percent(),
            between(a)
        ),
        None => "Of what was tried nothing is a sure gain with the same picture.".into(),
    });
    said
}

/// What binds a part, in a sentence; none where nothing was asked.
fn bound(of: &WhatIf, found: &Answers<'_>, part: usize) -> Option<String> {
    if found.of(part).all(|a| a.of.asks == super::experiments::COST) {
        return None;
    }
    let name = called(of, part);
    let name = capitalized(&name);
    let all = found.bound_by(part);
    let cost = found.cost(part).filter(|a| a.gains()).map(|a| a.gain);
    // (how much fragments may account for at most, where that is known)
    let most = found
        .of(part)
        .filter(|a| a.of.asks == "fragments" && a.judged.processes.iter().all(|n| *n >= FEWEST));
    let most = most.filter_map(|a| a.interval).map(|i| i[1]).reduce(f64::max);
    let only_draws = of.parts[part].actions.iter().all(|a| of.actions[*a].kind.starts_with("Draw"));
    if let Some((cost, most)) = cost.zip(most).filter(|(cost, most)| only_draws && *most < cost / 2.0) {
        return Some(format!(
            "{name} is bound by vertices, and what else comes before fragments: these account for {:.0} % of its cost at most.",
            100.0 * most.max(0.0) / cost
        ));
    }
    Some(match all.first() {
        Some((asks, a)) => format!(
            "{name} is bound by {asks}: with {} the frame takes {} less ({}).",
            a.of.change,
            ms(a.gain),
            between(a)
        ),
        None => format!("{name}: nothing that was tried but leaving it out is a sure gain."),
    })
}

fn number(n: f64) -> Cell {
    if n.is_finite() { Cell::Number(n) } else { Cell::Missing }
}

fn ends_of(a: Option<&Answer<'_>>) -> [Cell; 2] {
    match a.and_then(|a| a.interval) {
        Some(at) => at.map(number),
        None => [Cell::Missing, Cell::Missing],
    }
}

fn own(p: &Part) -> Option<f64> {
    p.own.map(|n| n as f64 / 1e6)
}

fn parts(of: &WhatIf, found: &Answers<'_>) -> Table {
    let row = |(n, p): (usize, &Part)| {
        let a = found.cost(n);
        let bound: Vec<&str> = found.bound_by(n).into_iter().map(|b| b.0).collect();
        let overlap = own(p).zip(a).map(|(own, a)| own - a.gain);
        let [low, high] = ends_of(a);
        vec![
            Cell::Count(n as u64),
            p.name.as_str().into(),
            p.within.map_or(Cell::Missing, |of| Cell::Count(of as u64)),
            Cell::Count(p.actions.len() as u64),
            own(p).map_or(Cell::Missing, Cell::Number),
            a.map_or(Cell::Missing, |a| number(a.gain)),
            low,
            high,
            overlap.map_or(Cell::Missing, number),
            a.map_or(Cell::Missing, |a| number(a.percent())),
            a.map_or("not run", Answer::word).into(),
            bound.join(", ").into(),
        ]
    };
    columns::PARTS.table(of.parts.iter().enumerate().map(row))
}

fn experiments<'a, 'w: 'a>(of: &WhatIf, sheet: Sheet, some: impl Iterator<Item = &'a Answer<'w>>) -> Table {
    let row = |a: &Answer<'_>| {
        let [low, high] = ends_of(Some(a));
        let picture = match a.same {
            Some(true) => "the same",
            Some(false) => "another, as meant",
            None => "none",
        };
        vec![
            called(of, a.of.part).into(),
            a.of.change.as_str().into(),
            a.of.asks.as_str().into(),
            number(a.gain),
            low,
            high,
            number(a.percent()),
            a.word().into(),
            number(a.judged.p_adjusted),
            picture.into(),
        ]
    };
    sheet.table(some.map(row))
}

fn causes(of: &WhatIf, found: &Answers<'_>) -> Table {
    experiments(of, columns::EXPERIMENTS, found.all.iter().filter(|a| a.of.asks != super::experiments::COST))
}

fn had(of: &WhatIf, found: &Answers<'_>) -> Table {
    experiments(of, columns::CAN_BE_HAD, found.can_be_had().into_iter())
}

/// A row is why, and what of a part was not run for that.
fn refused(of: &WhatIf, found: &Answers<'_>) -> Table {
    let mut rows: Vec<(usize, &str, Vec<&str>)> = vec![];
    for (e, why) in &found.refused {
        match rows.iter_mut().find(|(part, of, _)| *part == e.part && of == why) {
            Some((_, _, changes)) => changes.push(&e.change),
            None => rows.push((e.part, why, vec![&e.change])),
        }
    }
    let row = |(part, why, changes): (usize, &str, Vec<&str>)| {
        vec![called(of, part).into(), changes.join(", ").as_str().into(), why.into()]
    };
    columns::NOT_RUN.table(rows.into_iter().map(row))
}

/// The costs of the parts that one holds, together.
struct Sum {
    part: usize,
    held: usize,
    sum: f64,
    /// Half the width of its 99 % interval, at most: costs are held against the same processes of the base, so that what these are off by
    /// adds up.
    half: f64,
}

/// What holds several parts, with the costs of these together; none where one of them is not known.
fn sums(of: &WhatIf, found: &Answers<'_>) -> Vec<Sum> {
    let sum = |part: usize| {
        let held = (1..of.parts.len()).filter(|p| of.parts[*p].within.unwrap_or(0) == part);
        let costs: Option<Vec<&Answer<'_>>> = held.map(|p| found.cost(p)).collect();
        let costs = costs.filter(|c| c.len() > 1)?;
        let half = |a: &&Answer<'_>| a.interval.map_or(f64::NAN, |[low, high]| (high - low) / 2.0);
        Some(Sum {
            part,
            held: costs.len(),
            sum: costs.iter().map(|a| a.gain).sum(),
            half: costs.iter().map(half).sum(),
        })
    };
    (0..of.parts.len()).filter_map(sum).collect()
}

/// Whether costs add up to what leaving out all at once gains, as far as both are known.
fn add_up(sum: &Sum, whole: &Answer<'_>) -> &'static str {
    match whole.interval {
        Some([low, high]) if !sum.half.is_nan() => {
            let apart = (high - low) / 2.0 + sum.half;
            match sum.sum - whole.gain {
                d if d.abs() <= apart => "they add up",
                d if d > 0.0 => "each alone holds up what others wait for",
                _ => "they run beside each other, so that one alone gains less than its share",
            }
        }
        _ => "how surely is not known",
    }
}

fn together(of: &WhatIf, found: &Answers<'_>) -> Table {
    let row = |s: Sum| {
        let whole = found.cost(s.part)?;
        let [low, high] = ends_of(Some(whole));
        let (name, held) = (called(of, s.part).into(), Cell::Count(s.held as u64));
        Some(vec![name, held, number(s.sum), number(whole.gain), low, high, add_up(&s, whole).into()])
    };
    columns::TOGETHER.table(sums(of, found).into_iter().filter_map(row))
}

/// Whether the frame's costs add up, in a sentence.
fn sum(of: &WhatIf, found: &Answers<'_>) -> Option<String> {
    let whole = found.cost(0)?;
    let sum = sums(of, found).into_iter().find(|s| s.part == 0)?;
    Some(format!(
        "Parts left out one at a time cost {} together, and {} at once ({}): {}.",
        ms(sum.sum),
        ms(whole.gain),
        between(whole),
        add_up(&sum, whole)
    ))
}
