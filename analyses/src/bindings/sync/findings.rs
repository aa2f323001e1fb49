//! What is found: barriers that order nothing, masks that are too wide, changes of layout and submissions that are too many.
//!
//! Never said of what does more than order, or orders with the host or with what is not followed ([`Part::is_kept`]), nor of
//! what may serve accesses after the capture's end. Only of frames that were asked for; what other frames access counts as ever.

use super::credit::Needed;
use super::model::{Access, Model, Part, Submission};
use super::places::{Object, Range};
use super::scopes::{
    HOST, LAYOUTS, MEMORY_READ, MEMORY_WRITE, SHADER_READ as OLD_SHADER_READ, SHADER_READS, WRITES,
    access_words, accesses, stage_words, stages, waited_for, waiting, whole,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// HOST_READ and HOST_WRITE.
const HOST_ACCESSES: u64 = 0x6000;

/// Something that is found at several executions.
pub struct Found {
    pub what: String,
    pub label: Arc<str>,
    pub because: String,
    pub times: u64,
    pub of: u64,
    pub first: (u64, (u64, u64), u64),
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
    let Some(Object { kind, name, .. }) = model.places.0.get(&object) else { return "all memory".into() };
    trace::names::object(kind, object, name)
}

/// Parts of barriers that are judged, and why one has no conflict; none of those that a conflict wants, or may.
fn judged<'m>(model: &'m Model, needed: &'m [Needed]) -> impl Iterator<Item = (&'m Part, Option<String>)> {
    let last_frame = model.submissions.iter().map(|s| s.frame).max().unwrap_or(0);
    // (the older commands' stages stand as a part without accesses beside those of buffers and images: it is not judged by itself)
    let stages_only = |at: usize| {
        let p = &model.parts[at];
        let beside = |other: Option<&Part>| other.is_some_and(|o| o.sequence == p.sequence);
        let others = [at.checked_sub(1), Some(at + 1)].map(|n| n.and_then(|n| model.parts.get(n)));
        p.object == 0 && p.given[1] | p.given[3] == 0 && others.into_iter().any(beside)
    };
    let all = model.parts.iter().zip(needed).enumerate();
    let all = all.filter(move |(at, (p, _))| !p.is_kept(model.host_signals) && !p.aside && !stages_only(*at));
    all.map(move |(_, (p, n))| (p, if n.any { None } else { no_conflict(model, p, last_frame) }))
}

/// The accesses of a part's memory next before it and behind it.
fn around<'m>(model: &'m Model, p: &Part, group: u32) -> (Option<&'m Access>, Option<&'m Access>) {
    let accesses = &model.groups[group as usize];
    let meets =
        |a: &&Access| a.change.is_none() && model.places.meet((p.object, &p.range), (a.object, &a.range));
    // (they are in order)
    let at = accesses.partition_point(|a| a.sequence < p.sequence);
    (accesses[..at].iter().rev().find(meets), accesses[at..].iter().find(meets))
}

/// Why nothing that is known to conflict wants a part; none where what comes after the capture may.
fn no_conflict(model: &Model, p: &Part, last_frame: u64) -> Option<String> {
    let Some(group) = p.group else {
        let because = "no two accesses that conflict want it: there are none, or another barrier orders them";
        return (p.frame < last_frame).then(|| because.to_owned());
    };
    let words =
        |a: &Access| format!("{} {}", if a.write { "written by" } else { "read by" }, stage_words(a.stages));
    match around(model, p, group) {
        (None, None) => Some("no command accesses it".to_owned()),
        // (what comes after the capture may want it)
        (_, None) => None,
        (None, Some(b)) => Some(format!("nothing accesses it before; then it is {}", words(b))),
        (Some(a), Some(b)) => Some(format!(
            "before it is {}, then {}: {}",
            words(a),
            words(b),
            match (a.write || b.write, model.meet(a, b)) {
                (true, true) => "another barrier orders that",
                (true, false) => "these are other parts of it",
                (false, _) => "no conflict",
            }
        )),
    }
}

/// Barriers without a conflict.
pub fn nothing(model: &Model, needed: &[Needed]) -> Vec<Found> {
    let mut all: BTreeMap<(u64, [u64; 4], Arc<str>), Found> = BTreeMap::new();
    let mut times: BTreeMap<(u64, [u64; 4], Arc<str>), u64> = BTreeMap::new();
    for (p, because) in judged(model, needed) {
        let key = (p.object, p.given, p.label.clone());
        *times.entry(key.clone()).or_default() += 1;
        let Some(because) = because else { continue };
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

/// The blocks of a frame's barrier commands that order nothing, whatever part of them and whenever they are executed. None of a frame that
/// is the first or the last, and none whose object nothing accesses before: what is not in the capture may want them.
pub fn unneeded(model: &Model, needed: &[Needed], frame: u64) -> Vec<u64> {
    let frames = || model.submissions.iter().map(|s| s.frame);
    if frames().all(|f| f >= frame) || frames().all(|f| f <= frame) {
        return vec![];
    }
    let kept = model.parts.iter().zip(needed).filter(|(p, n)| n.any || p.is_kept(model.host_signals));
    let mut wanted: BTreeSet<u64> = kept.map(|k| k.0.block).collect();
    let mut vain = BTreeSet::new();
    for (p, because) in judged(model, needed) {
        let used = || p.group.is_none_or(|group| around(model, p, group).0.is_some());
        if because.is_none() {
            wanted.insert(p.block);
        } else if &*p.kind == "barrier" && p.frame == frame && used() {
            vain.insert(p.block);
        }
    }
    vain.difference(&wanted).copied().collect()
}

/// Masks with stages or accesses that no conflict wants.
pub fn wide(model: &Model, needed: &[Needed]) -> Vec<Found> {
    type Key = (Arc<str>, [u64; 4], bool, [u64; 2], Arc<str>);
    let mut all: BTreeMap<Key, (Needed, u64, &Part)> = BTreeMap::new();
    for (p, n) in model.parts.iter().zip(needed) {
        let key = (p.kind.clone(), p.given, p.object != 0, p.layouts, p.label.clone());
        let sum = all.entry(key).or_insert_with(|| (Needed { any: true, ..Needed::default() }, 0, p));
        // (one that is not needed wants nothing; that is another finding)
        sum.0.unsure |= n.unsure;
        sum.0.conflicts += n.conflicts;
        sum.0.masks.iter_mut().zip(n.masks).for_each(|(mask, wants)| *mask |= wants);
        sum.1 += u64::from(!p.aside);
        if sum.2.aside {
            sum.2 = p;
        }
    }
    let mut found = vec![];
    for ((_, given, ..), (n, times, p)) in all {
        let host = (given[0] | given[2]) & HOST != 0 || (given[1] | given[3]) & HOST_ACCESSES != 0;
        if n.unsure || n.conflicts == 0 || times == 0 || host || p.transfer || p.changes {
            continue;
        }
        let more = too_much(&given, &n.masks);
        if more == [0; 4] {
            continue;
        }
        let list = |stages: u64, access: u64, before: &str| match (stages, access) {
            (0, 0) => String::new(),
            (s, 0) => format!("; {before} it {}", stage_words(s)),
            (0, a) => format!("; {before} it {}", access_words(a)),
            (s, a) => format!("; {before} it {} and {}", stage_words(s), access_words(a)),
        };
        let because = format!(
            "{} conflicts want {}; nobody wants{}{}",
            n.conflicts,
            scope_words(&n.masks),
            list(more[0], more[1], "before").trim_start_matches(';'),
            list(more[2], more[3], "behind")
        );
        found.push(Found {
            what: scope_words(&given),
            label: p.label.clone(),
            because,
            times,
            of: times,
            first: place(p),
        });
    }
    found
}

/// What is in the masks and is wanted by nobody. A side of which nothing at all is known to be wanted is not judged: it may serve
/// presentation, or another queue.
fn too_much(given: &[u64; 4], wanted: &[u64; 4]) -> [u64; 4] {
    // (the older masks know no part of these)
    let [src, dst] = [wanted[0], wanted[2]].map(whole);
    let access = |given: u64, wanted: u64| {
        let named = if given & OLD_SHADER_READ != 0 { SHADER_READS } else { 0 };
        // (what loads and stores attachments is one to most)
        let one =
            [named, 0x180, 0x600].into_iter().filter(|g| g & wanted != 0).fold(wanted, |all, g| all | g);
        // (of a mask that names all, what cannot be of any of the stages is nothing that costs)
        let large = given & (MEMORY_READ | MEMORY_WRITE);
        match large {
            0 => accesses(given) & !one,
            large => large | accesses(given & !large) & !one,
        }
    };
    let mut more = [0; 4];
    if wanted[0] != 0 {
        more[0] = stages(given[0]) & !waited_for(src);
        // (reads need not be made available)
        more[1] = match wanted[1] {
            0 => 0,
            w => access(given[1] & !(MEMORY_READ), w) & (WRITES | MEMORY_WRITE),
        };
    }
    if wanted[2] != 0 {
        more[2] = stages(given[2]) & !waiting(dst);
        more[3] = match wanted[3] {
            0 => 0,
            w => access(given[3], w),
        };
    }
    more
}

/// Changes of layout with nothing between.
pub fn layouts(model: &Model) -> Vec<Found> {
    let mut last: BTreeMap<(u64, u64, Range), &Part> = BTreeMap::new();
    type Key = (u64, [u64; 2], [u64; 2], Arc<str>);
    let mut all: BTreeMap<Key, Found> = BTreeMap::new();
    for p in model.parts.iter().filter(|p| p.layouts[0] != p.layouts[1]) {
        let Some(group) = p.group else { continue };
        let before = last.insert((p.queue, p.object, p.range), p);
        let Some(a) = before.filter(|a| !a.transfer && !p.transfer && a.sequence < p.sequence) else {
            continue;
        };
        let (from, to) = (a.sequence, p.sequence);
        let between = |all: &[Access]| {
            let next = all.partition_point(|b| b.sequence <= from);
            let mut there = all[next..].iter().take_while(|b| b.sequence < to);
            there.any(|b| b.change.is_none() && model.places.meet((p.object, &p.range), (b.object, &b.range)))
        };
        let shared = || model.groups[group as usize].iter().any(|b| b.object != p.object);
        let follows = p.layouts[0] == 0 || a.layouts[1] == p.layouts[0];
        let accessed = between(&model.groups[group as usize]) || between(&model.anything);
        if accessed || !follows || a.aside || p.aside || shared() {
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
    LAYOUTS.iter().find(|l| l.0 == layout).map_or_else(|| layout.to_string(), |l| l.1.to_owned())
}

/// Runs of submissions that could be one: frame, queue, how many, the first's block.
pub fn submits(model: &Model) -> Vec<(u64, u64, u64, u64)> {
    let queues: BTreeSet<u64> = model.submissions.iter().map(|s| s.queue).collect();
    let mut all = vec![];
    for queue in queues {
        let mut of: Vec<_> = model.submissions.iter().filter(|s| s.queue == queue).collect();
        of.sort_by_key(|s| s.number);
        let joins = |a: &Submission, b: &Submission| {
            let ([_, _, signals, fence, _], [_, waits, _, _, host]) = (a.counts, b.counts);
            // (batches of one call are one submission to the driver)
            !a.aside
                && a.frame == b.frame
                && a.call != b.call
                && signals == 0
                && fence == 0
                && waits == 0
                && host == 0
        };
        for run in of.chunk_by(|a, b| joins(a, b)).filter(|run| run.len() > 1) {
            all.push((run[0].frame, queue, run.len() as u64, run[0].call));
        }
    }
    all
}
