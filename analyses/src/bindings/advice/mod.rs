//! What to do about what draws bind and read: recommendations, each with its evidence and what it would save in a frame.
//!
//! All of it follows from questions `bindings` and `uniforms`; nothing is recommended for bytes that are not known, for what a limit
//! that Vulkan guarantees (or that the capture asked for) does not allow, or on the evidence of one draw. Savings are means over frames that have
//! draws; a negative one is a price. They are what the API would no longer be given, not time: whether it is faster only a measurement says.
//!
//! | recommendation | when |
//! |---|---|
//! | push constants | a block's used bytes fit beside the push constants there are, are known, and change in half of the pairs or more |
//! | inline uniform block | a block of at most 256 bytes, known, that changes more seldom; at most four for a pipeline |
//! | specialization constants | members that had one value over the capture or pipeline, in two draws at least |
//! | zero specialization | members that are zero in half of the executions or more, and not always |
//! | dynamic offsets | a slot that only ever changes its offset in one buffer, in sets that would be the same without |
//! | split by update rate | a block with 16 bytes or more that are constant over frames beside some that change from draw to draw |
//! | device-local memory | a buffer in host-visible memory that is not on the device, written in at most a tenth of the frames that read it |
//! | drop unused members | members that no shader reads, in buffers that nothing else reads |
//! | merge duplicates | the same bytes in several places in a frame |
//! | skip writes | half of the bytes written to a buffer were there already |
//! | repartition | a partition of question `bindings` has fewer descriptors |
//! | drop unused slots | bindings that no shader of any pipeline of the layout uses |

mod blocks;
mod buffers;
mod columns;
mod ground;
mod slots;

pub use ground::{Advice, Ground};

use crate::bindings::descriptors::Answer;
use crate::bindings::resources::{Model, NOTHING};
use crate::bindings::uniforms::members::Members;
use crate::bindings::uniforms::places::Places;
use crate::report::{Cell, Cost, Report, counted, most};
use crate::{Question, Session};
use std::collections::BTreeMap;
use trace::Unreadable;
use trace::tables::{INVOCATIONS, RESOURCE_PIPELINES};

/// The question.
pub static QUESTION: Question = Question {
    name: "advice",
    about: "what to change in descriptors and uniform blocks, with evidence and what it would save in a frame",
    wants: &[&RESOURCE_PIPELINES, &INVOCATIONS],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

/// Recommendations of one kind that are listed.
const LISTED: usize = 12;

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let model = session.resources()?;
    Ok(report(model, all(model)))
}

/// Every recommendation, the kinds in the order of the table above, those that save most first.
pub fn all(model: &Model) -> Vec<Advice> {
    let members = Members::of(model);
    let places = Places::of(model, &members);
    let bindings = Answer::of(model);
    let mut blocks: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
    let ran = model.used();
    for (n, l) in members.layouts.iter().enumerate().filter(|l| ran[l.1.pipeline as usize]) {
        let key = l.members.iter().map(|m| members.all[*m].group).collect();
        blocks.entry(key).or_default().push(n);
    }
    let ground = Ground {
        model,
        bindings: &bindings,
        members: &members,
        places: &places,
        blocks: blocks.into_values().collect(),
        frames: model.frame_count(),
    };
    let pairs = slots::Pairs::of(model);
    let mut all = vec![];
    let (push, pushed) = blocks::push_constants(&ground, &pairs);
    let kinds = [
        push,
        blocks::inline(&ground, &pushed),
        blocks::constants(&ground),
        blocks::zeros(&ground),
        slots::dynamic_offsets(&ground, &pairs),
        blocks::split(&ground),
        buffers::device_local(&ground),
        blocks::unused(&ground),
        buffers::duplicates(&ground),
        buffers::skip_writes(&ground),
        slots::repartition(&ground),
        slots::unused(&ground),
    ];
    for mut of in kinds {
        let key = |a: &Advice| [a.bytes, a.descriptors, a.binds].map(|n| n.unwrap_or(0.0));
        of.sort_by(|a, b| key(b).partial_cmp(&key(a)).expect("they are numbers").then(a.to.cmp(&b.to)));
        all.extend(of);
    }
    all
}

/// What would save most, of bytes and of descriptors.
fn headlines(all: &[Advice]) -> Vec<String> {
    let best = ["bytes", "descriptors"].into_iter().filter_map(|what| {
        let of = |a: &Advice| if what == "bytes" { a.bytes } else { a.descriptors };
        let a = most(all, |a| of(a).unwrap_or(0.0))?;
        Some(format!("What saves most {what}, {:.1} a frame: {} ({}).", of(a)?, a.what, a.to))
    });
    let mut said: Vec<String> = best.collect();
    if said.is_empty() && !all.is_empty() {
        said.push(format!(
            "{} would save neither bytes nor descriptors.",
            counted(all.len() as u64, "recommendation")
        ));
    }
    said
}

fn report(model: &Model, all: Vec<Advice>) -> Report {
    let mut report = Report::new("advice", "What to change in descriptors and uniform blocks");
    let why = "the capture's calls were followed; nothing was measured while something ran";
    report.cost = Cost::Nothing { why: why.into() };
    let mut summary: BTreeMap<usize, (&str, u64, [f64; 3])> = BTreeMap::new();
    let mut kinds: Vec<&str> = vec![];
    for a in &all {
        if !kinds.contains(&a.what) {
            kinds.push(a.what);
        }
        let at = kinds.iter().position(|k| *k == a.what).unwrap_or(0);
        let sum = summary.entry(at).or_insert((a.what, 0, [0.0; 3]));
        sum.1 += 1;
        [a.bytes, a.descriptors, a.binds].iter().zip(&mut sum.2).for_each(|(n, s)| *s += n.unwrap_or(0.0));
    }
    let round = |n: f64| Cell::Text(format!("{:.1}", n + 0.0));
    report.headlines = headlines(&all);
    let kind = |(what, n, sums): (&str, u64, [f64; 3])| {
        [what.into(), Cell::Count(n)].into_iter().chain(sums.map(round))
    };
    report.tables.push(columns::KINDS.table(summary.into_values().map(|sum| kind(sum).collect())));
    let mut listed: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rows = vec![];
    for a in &all {
        let n = listed.entry(a.what).or_default();
        *n += 1;
        if *n > LISTED {
            continue;
        }
        let number = |n: Option<f64>| n.map_or(Cell::Missing, round);
        rows.push(vec![
            a.what.into(),
            a.to.clone().into(),
            number(a.bytes),
            number(a.descriptors),
            number(a.binds),
            a.evidence.clone().into(),
            a.limits.clone().into(),
        ]);
    }
    report.tables.push(columns::ADVICE.table(rows));
    let mut note = |n: String| report.notes.push(n);
    if all.is_empty() {
        note("Nothing is recommended, as far as was followed.".into());
    } else {
        note(
            "Recommendations overlap: what one saves another may save as well. They follow from what was captured; what never varied \
             here may vary elsewhere. Savings are what the API is given in a frame; only a measurement says whether that takes less time."
                .into(),
        );
    }
    for (what, n) in listed.iter().filter(|l| *l.1 > LISTED) {
        note(format!("{what}: {LISTED} of {n} are listed, those that save most."));
    }
    let lost = model.invocations.iter().filter(|i| i.pipeline == NOTHING).count();
    if lost != 0 {
        note(format!("{lost} draws ran with nothing known bound; what they read is not known."));
    }
    report
}

#[cfg(test)]
mod tests;
