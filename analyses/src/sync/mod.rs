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

mod credit;
mod model;
mod scopes;

use crate::Question;
use crate::report::{Cell, Column, Cost, Report, Table, Unit};
use credit::Needed;
use model::{Model, Part};
use scopes::{HOST, access_words, stage_words, stages, waited_for, waiting, whole};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use trace::tables::{SYNC_ACCESSES, SYNC_SUBMISSIONS};
use trace::{Source, Unreadable};

/// The question.
#[derive(Clone, Copy, Debug)]
pub struct Sync;

/// Rows of each table.
const LISTED: usize = 40;

impl Question for Sync {
    fn name(&self) -> &'static str {
        "sync"
    }

    fn about(&self) -> &'static str {
        "barriers that possibly order nothing or are too wide, redundant changes of layout, submissions that could be one"
    }

    fn wants(&self) -> &'static [&'static trace::Table] {
        static TABLES: &[&trace::Table] = &[&SYNC_SUBMISSIONS, &SYNC_ACCESSES];
        TABLES
    }

    fn answer(&self, trace: &dyn Source) -> Result<Report, Unreadable> {
        let model = Model::read(trace)?;
        let needed = credit::needed(&model);
        let mut report = Report::new(self.name(), "Synchronisation");
        let why = "the capture's calls were followed; nothing was measured while something ran";
        report.cost = Cost::Nothing { why: why.into() };
        let (nothing, wide) = (nothing(&model, &needed), wide(&model, &needed));
        let (layouts, submits) = (layouts(&model), submits(&model));
        let executed = |kind: &str| model.parts.iter().filter(|p| &*p.kind == kind).count() as u64;
        let rows = [
            ("parts of barriers", executed("barrier")),
            ("parts of events' waits", executed("event")),
            ("dependencies of subpasses", executed("subpass")),
            (
                "of barriers, needed by a known conflict",
                needed.iter().filter(|n| n.any && !n.unsure).count() as u64,
            ),
            ("of barriers, needed as far as can be said", needed.iter().filter(|n| n.unsure).count() as u64),
            ("possibly order nothing", nothing.iter().map(|n| n.times).sum()),
            ("possibly too wide", wide.iter().map(|w| w.times).sum()),
            ("changes of layout possibly too many", layouts.iter().map(|l| l.times).sum()),
            ("submissions", model.submissions.len() as u64),
            ("submissions possibly too many", submits.iter().map(|s| s.2 - 1).sum()),
        ];
        report.tables.push(Table {
            name: "sums".into(),
            columns: vec![Column::new("executed", Unit::Text), Column::new("how many", Unit::Count)],
            rows: rows.into_iter().map(|(what, n)| vec![what.into(), Cell::Count(n)]).collect(),
        });
        report.tables.push(found("nothing", "possibly orders nothing", &nothing));
        report.tables.push(found("wide", "possibly too wide", &wide));
        report.tables.push(found("layouts", "layout possibly changed in vain", &layouts));
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
}

/// Something that is found at several executions.
struct Found {
    what: String,
    label: Arc<str>,
    because: String,
    times: u64,
    of: u64,
    first: (u64, (u64, u64), u64),
}

fn found(name: &str, heading: &str, all: &[Found]) -> Table {
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
    let mut order: Vec<&Found> = all.iter().collect();
    order.sort_by_key(|f| (std::cmp::Reverse(f.times), f.first));
    Table {
        name: name.into(),
        columns: vec![
            Column::new(heading, Unit::Text),
            Column::new("label", Unit::Text),
            Column::new("times", Unit::Count),
            Column::new("of", Unit::Count),
            Column::new("because", Unit::Text),
            Column::new("frame", Unit::Count),
            Column::new("recording:command", Unit::Text),
            Column::new("block", Unit::Count),
        ],
        rows: order.into_iter().take(LISTED).map(row).collect(),
    }
}

fn place(p: &Part) -> (u64, (u64, u64), u64) {
    (p.frame, p.at, p.block)
}

fn scope_words(given: &[u64; 4]) -> String {
    format!(
        "{} {} → {} {}",
        stage_words(given[0]),
        access_words(given[1]),
        stage_words(given[2]),
        access_words(given[3])
    )
}

/// `image 17 "shadow"`
fn object_words(model: &Model, object: u64) -> String {
    let Some((kind, name)) = model.names.get(&object) else { return "all memory".into() };
    let name = if name.is_empty() { String::new() } else { format!(" \"{name}\"") };
    format!("{kind} {object}{name}")
}

fn is_plain(p: &Part) -> bool {
    let host = (p.given[0] | p.given[2]) & HOST != 0 || (p.given[1] | p.given[3]) & 0x6000 != 0;
    &*p.kind == "barrier" && !p.transfer && p.layouts[0] == p.layouts[1] && !host
}

/// Barriers without a conflict.
fn nothing(model: &Model, needed: &[Needed]) -> Vec<Found> {
    let last_frame = model.submissions.iter().map(|s| s.frame).max().unwrap_or(0);
    let mut all: BTreeMap<(u64, [u64; 4], Arc<str>), Found> = BTreeMap::new();
    let mut times: BTreeMap<(u64, [u64; 4], Arc<str>), u64> = BTreeMap::new();
    // (the older commands' stages stand as a part without accesses beside those of buffers and images: it is not judged by itself)
    let stages_only = |at: usize| {
        let p = &model.parts[at];
        let beside = |other: Option<&Part>| other.is_some_and(|o| o.sequence == p.sequence);
        let others = [at.checked_sub(1), Some(at + 1)].map(|n| n.and_then(|n| model.parts.get(n)));
        p.object == 0 && p.given[1] | p.given[3] == 0 && others.into_iter().any(beside)
    };
    for (at, (p, n)) in model.parts.iter().zip(needed).enumerate().filter(|(_, (p, _))| is_plain(p)) {
        if stages_only(at) {
            continue;
        }
        let key = (p.object, p.given, p.label.clone());
        *times.entry(key.clone()).or_default() += 1;
        if n.any {
            continue;
        }
        let because = match p.group {
            None if p.frame >= last_frame => continue,
            None => "no two accesses that conflict want it: there are none, or another barrier orders them"
                .to_owned(),
            Some(group) => {
                let accesses = &model.groups[group as usize];
                let meets = |a: &&model::Access| model.aliased[group as usize] || p.range.meets(&a.range);
                // (they are in order)
                let at = accesses.partition_point(|a| a.sequence < p.sequence);
                let before = accesses[..at].iter().rev().find(meets);
                let after = accesses[at..].iter().find(meets);
                let words = |a: &model::Access| {
                    format!("{} {}", if a.write { "written by" } else { "read by" }, stage_words(a.stages))
                };
                match (before, after) {
                    (None, None) => "no command accesses it".to_owned(),
                    // (what comes after the capture may want it)
                    (_, None) => continue,
                    (None, Some(b)) => format!("nothing accesses it before; then it is {}", words(b)),
                    (Some(a), Some(b)) => format!(
                        "before it is {}, then {}: {}",
                        words(a),
                        words(b),
                        if a.write || b.write { "another barrier orders that" } else { "no conflict" }
                    ),
                }
            }
        };
        let f = all.entry(key).or_insert_with(|| Found {
            what: format!("{}: {}", object_words(model, p.object), scope_words(&p.given)),
            label: p.label.clone(),
            because,
            times: 0,
            of: 0,
            first: place(p),
        });
        f.times += 1;
    }
    for (key, f) in &mut all {
        f.of = times[key];
    }
    all.into_values().collect()
}

/// Masks with stages that no conflict wants.
fn wide(model: &Model, needed: &[Needed]) -> Vec<Found> {
    type Key = (Arc<str>, [u64; 4], bool, [u64; 2], Arc<str>);
    let mut all: BTreeMap<Key, (Needed, u64, &Part)> = BTreeMap::new();
    for (p, n) in model.parts.iter().zip(needed) {
        let key = (p.kind.clone(), p.given, p.object != 0, p.layouts, p.label.clone());
        let sum = all.entry(key).or_insert_with(|| (Needed { any: true, ..Needed::default() }, 0, p));
        // (one that is not needed wants nothing; that is another finding)
        sum.0.unsure |= n.unsure;
        sum.0.conflicts += n.conflicts;
        sum.0.masks.iter_mut().zip(n.masks).for_each(|(mask, wants)| *mask |= wants);
        sum.1 += 1;
    }
    let mut found = vec![];
    for ((kind, given, ..), (n, times, p)) in all {
        let host = (given[0] | given[2]) & HOST != 0;
        if n.unsure || n.conflicts == 0 || host || &*kind == "event" || p.transfer {
            continue;
        }
        // (the older masks know no part of these)
        let [n_src, n_dst] = [n.masks[0], n.masks[2]].map(whole);
        let more = [stages(given[0]) & !waited_for(n_src), stages(given[2]) & !waiting(n_dst)];
        if more == [0, 0] {
            continue;
        }
        found.push(Found {
            what: scope_words(&given),
            label: p.label.clone(),
            because: format!("{} conflicts want {}", n.conflicts, scope_words(&n.masks)),
            times,
            of: times,
            first: place(p),
        });
    }
    found
}

/// Changes of layout with nothing between.
fn layouts(model: &Model) -> Vec<Found> {
    let mut last: BTreeMap<(u64, u64, model::Range), &Part> = BTreeMap::new();
    type Key = (u64, [u64; 2], [u64; 2], Arc<str>);
    let mut all: BTreeMap<Key, Found> = BTreeMap::new();
    for p in model.parts.iter().filter(|p| p.layouts[0] != p.layouts[1]) {
        let Some(group) = p.group else { continue };
        let before = last.insert((p.queue, p.object, p.range), p);
        let Some(a) = before.filter(|a| !a.transfer && !p.transfer && a.sequence < p.sequence) else {
            continue;
        };
        let (from, to) = (a.sequence, p.sequence);
        let between = |all: &[model::Access]| {
            let next = all.partition_point(|b| b.sequence <= from);
            all.get(next).is_some_and(|b| b.sequence < to)
        };
        let follows = p.layouts[0] == 0 || a.layouts[1] == p.layouts[0];
        let accessed = between(&model.groups[group as usize]) || between(&model.anything);
        if accessed || !follows || model.aliased[group as usize] {
            continue;
        }
        // (other parts of the image may be changed meanwhile)
        let first = model.parts.partition_point(|o| o.sequence <= from);
        let mut others = model.parts[first..].iter().take_while(|o| o.sequence < to);
        if others.any(|o| o.object == p.object && o.range.meets(&p.range)) {
            continue;
        }
        let because = match (a.layouts, p.layouts) {
            (_, [0, _]) => "nothing uses the first layout, and then the content is discarded",
            ([x, _], [_, z]) if x == z => "there and back, and nothing uses the image between",
            _ => "nothing uses the layout between: one change would do",
        };
        // (what is back is not gone from again)
        last.remove(&(p.queue, p.object, p.range));
        let layout = |l: u64| layout_words(l);
        let key = (p.object, a.layouts, p.layouts, p.label.clone());
        let f = all.entry(key).or_insert_with(|| Found {
            what: format!(
                "{}: {} → {} → {}",
                object_words(model, p.object),
                layout(a.layouts[0]),
                layout(a.layouts[1]),
                layout(p.layouts[1])
            ),
            label: if a.label == p.label {
                p.label.clone()
            } else {
                format!("{}, {}", a.label, p.label).into()
            },
            because: because.into(),
            times: 0,
            of: 0,
            first: place(a),
        });
        f.times += 1;
        f.of += 1;
    }
    all.into_values().collect()
}

/// VkImageLayout without its prefix.
fn layout_words(layout: u64) -> String {
    let names = [
        "UNDEFINED",
        "GENERAL",
        "COLOR_ATTACHMENT_OPTIMAL",
        "DEPTH_STENCIL_ATTACHMENT_OPTIMAL",
        "DEPTH_STENCIL_READ_ONLY_OPTIMAL",
        "SHADER_READ_ONLY_OPTIMAL",
        "TRANSFER_SRC_OPTIMAL",
        "TRANSFER_DST_OPTIMAL",
        "PREINITIALIZED",
    ];
    match layout {
        1_000_001_002 => "PRESENT_SRC_KHR".into(),
        1_000_314_000 => "READ_ONLY_OPTIMAL".into(),
        1_000_314_001 => "ATTACHMENT_OPTIMAL".into(),
        n => names.get(n as usize).map_or_else(|| n.to_string(), |n| (*n).to_owned()),
    }
}

/// Runs of submissions that could be one: frame, queue, how many, the first's block.
fn submits(model: &Model) -> Vec<(u64, u64, u64, u64)> {
    let queues: BTreeSet<u64> = model.submissions.iter().map(|s| s.queue).collect();
    let mut all = vec![];
    for queue in queues {
        let mut of: Vec<_> = model.submissions.iter().filter(|s| s.queue == queue).collect();
        of.sort_by_key(|s| s.number);
        let joins = |a: &model::Submission, b: &model::Submission| {
            let ([_, _, signals, fence, _], [_, waits, _, _, host]) = (a.counts, b.counts);
            // (batches of one call are one submission to the driver)
            a.frame == b.frame && a.call != b.call && signals == 0 && fence == 0 && waits == 0 && host == 0
        };
        for run in of.chunk_by(|a, b| joins(a, b)).filter(|run| run.len() > 1) {
            all.push((run[0].frame, queue, run.len() as u64, run[0].call));
        }
    }
    all
}

fn submissions(all: &[(u64, u64, u64, u64)]) -> Table {
    let row = |(frame, queue, n, block): &(u64, u64, u64, u64)| {
        let because = "nothing is signalled, waited for, or done by the host between them";
        vec![Cell::Count(*n), Cell::Count(*frame), Cell::Count(*queue), Cell::Count(*block), because.into()]
    };
    Table {
        name: "submissions".into(),
        columns: vec![
            Column::new("submissions that could be one", Unit::Count),
            Column::new("frame", Unit::Count),
            Column::new("queue", Unit::Count),
            Column::new("first block", Unit::Count),
            Column::new("because", Unit::Text),
        ],
        rows: all.iter().take(LISTED).map(row).collect(),
    }
}

#[cfg(test)]
mod tests;
