//! Synchronisation: barriers that order nothing that conflicts, masks that are wider than what they order, changes of layout with
//! nothing between, and submissions that could be one. All of it *possibly*.
//!
//! *Conflicts* are two accesses of the same memory of which one writes; they come from the executed commands, in the order of
//! execution (table `sync_accesses`; shaders by reflection). Each is ordered by the first barrier that orders it (`credit.rs`).
//!
//! *Orders nothing*: a part of a barrier that no conflict needs, given the others. Never said of: changes of layout, handing over to another queue
//! family, the host, events, dependencies of render passes, what may serve accesses after the capture's end (barriers of all memory in the last frame;
//! of an object that is not accessed any more but was before).
//!
//! *Too wide*: every execution with the same masks under the same debug label was needed by conflicts that are known one by one, and stages of
//! the mask are in none of them, nor come with those that are (what waits for fragments waits for vertices).
//!
//! *Layouts*: two changes of the same part of an image with no access between them.
//!
//! *Submissions*: to one queue, in one frame, by calls with nothing between them by which the host could have learnt or given something;
//! the first signals nothing and has no fence, the second waits for nothing.

mod columns;
mod credit;
mod findings;
mod model;
mod order;
mod places;
mod scopes;

use crate::report::sheet::Sheet;
use crate::report::{Cell, Cost, Report, Table, counted, most};
use crate::{Question, Session};
use findings::{Found, layouts, nothing, submits, wide};
use model::Model;
use trace::tables::{SYNC_ACCESSES, SYNC_SUBMISSIONS};
use trace::{Source, Unreadable};

/// The question.
pub static QUESTION: Question = Question {
    name: "sync",
    about: "barriers that possibly order nothing or are too wide, redundant changes of layout, submissions that could be one",
    wants: &[&SYNC_SUBMISSIONS, &SYNC_ACCESSES],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

/// Rows of each table.
const LISTED: usize = 40;

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let model = Model::read(trace)?;
    let credit = credit::needed(&model);
    let needed = &credit.needed;
    let mut report = Report::new(QUESTION.name, "Synchronisation");
    let why = "the capture's calls were followed; nothing was measured while something ran";
    report.cost = Cost::Nothing { why: why.into() };
    let (nothing, wide) = (nothing(&model, needed), wide(&model, needed));
    let (layouts, submits) = (layouts(&model), submits(&model));
    let executed = |kind: &str| model.parts.iter().filter(|p| &*p.kind == kind).count() as u64;
    let (barriers, submitted) = (executed("barrier"), model.submissions.len() as u64);
    let [orders_nothing, too_wide, changes] =
        [&nothing, &wide, &layouts].map(|f| f.iter().map(|f| f.times).sum::<u64>());
    let too_many = submits.iter().map(|s| s.2 - 1).sum::<u64>();
    let rows = [
        ("parts of barriers", barriers),
        ("parts of events' waits", executed("event")),
        ("dependencies of subpasses", executed("subpass")),
        ("conflicts that one part orders", credit.sums.one),
        ("conflicts that several order, or it is not known which", credit.sums.several),
        ("conflicts that none orders: semaphores, or the host waited", credit.sums.none),
        (
            "of barriers, needed by a known conflict",
            needed.iter().filter(|n| n.any && !n.unsure).count() as u64,
        ),
        ("of barriers, needed as far as can be said", needed.iter().filter(|n| n.unsure).count() as u64),
        ("possibly order nothing", orders_nothing),
        ("possibly too wide", too_wide),
        ("changes of layout possibly too many", changes),
        ("submissions", submitted),
        ("submissions possibly too many", too_many),
    ];
    let in_vain = [orders_nothing, too_wide, changes, too_many].iter().any(|n| *n != 0);
    report.headlines.extend((barriers + submitted != 0).then(|| match in_vain {
        false => format!("Nothing was found to be in vain; parts of barriers: {barriers}, submissions: {submitted}."),
        true => format!(
            "Possibly in vain: {orders_nothing} of {barriers} parts of barriers order nothing, {too_wide} are too wide; changes of \
             layout: {changes}; submissions: {too_many} of {submitted}."
        ),
    }));
    let worst = [&nothing, &wide, &layouts].into_iter().filter_map(|f| by_times(f).into_iter().next());
    report.headlines.extend(most(worst, |f| f.times).map(|f| {
        format!("Executed most of these, {}: {} ({}).", counted(f.times, "time"), f.what, f.because)
    }));
    report
        .tables
        .push(columns::SUMS.table(rows.into_iter().map(|(what, n)| vec![what.into(), Cell::Count(n)])));
    report.tables.push(found(columns::NOTHING, &nothing));
    report.tables.push(found(columns::WIDE, &wide));
    report.tables.push(found(columns::LAYOUTS, &layouts));
    report.tables.push(submissions(&submits));
    if !model.anything.is_empty() {
        report.notes.push(format!(
            "{} commands may access anything (descriptors or commands that are not followed): barriers around them count as needed.",
            model.anything.len()
        ));
    }
    if [&nothing, &wide, &layouts].iter().all(|f| f.is_empty()) && submits.is_empty() {
        report.notes.push("Nothing was found, as far as was followed.".into());
    }
    for (name, n) in [("nothing", nothing.len()), ("wide", wide.len()), ("layouts", layouts.len())] {
        if n > LISTED {
            report.notes.push(format!("Table `{name}` lists {LISTED} of {n}, those executed most."));
        }
    }
    Ok(report)
}

/// The capture's blocks that record barriers of a frame which order nothing, each time they are executed: all of them can be left out at
/// once, as far as the trace shows, which is of the whole capture: none of the first frame and of the last. Refuses a trace that lacks
/// what `sync` reads.
pub fn unneeded(trace: &dyn Source, frame: u64) -> Result<Vec<u64>, Unreadable> {
    let model = Model::read(trace)?;
    let credit = credit::needed(&model);
    Ok(findings::unneeded(&model, &credit.needed, frame))
}

/// Those executed most first.
fn by_times(all: &[Found]) -> Vec<&Found> {
    let mut order: Vec<&Found> = all.iter().collect();
    order.sort_by_key(|f| (std::cmp::Reverse(f.times), f.first));
    order
}

fn found(sheet: Sheet, all: &[Found]) -> Table {
    let row = |f: &Found| {
        vec![
            f.what.clone().into(),
            (&*f.label).into(),
            Cell::Count(f.times),
            Cell::Count(f.of),
            f.because.clone().into(),
            Cell::Count(f.first.0),
            format!("{}:{}", f.first.1.0, f.first.1.1).into(),
            Cell::Count(f.first.2),
        ]
    };
    sheet.table(by_times(all).into_iter().take(LISTED).map(row))
}

fn submissions(all: &[(u64, u64, u64, u64)]) -> Table {
    let row = |(frame, queue, n, block): &(u64, u64, u64, u64)| {
        let because = "nothing is signalled, waited for, or done by the host between them";
        vec![Cell::Count(*n), Cell::Count(*frame), Cell::Count(*queue), Cell::Count(*block), because.into()]
    };
    columns::SUBMISSIONS.table(all.iter().take(LISTED).map(row))
}

#[cfg(test)]
mod tests;
