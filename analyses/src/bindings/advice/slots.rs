//! Recommendations on slots and sets.

use super::ground::{Advice, Ground};
use crate::bindings::descriptors::partition::Plan;
use crate::bindings::descriptors::redundancy::{Change, change};
use crate::bindings::resources::{Bound, Model, NOTHING, Value};
use crate::bindings::uniforms::members::Layout;
use std::collections::{BTreeSet, HashMap, HashSet};

/// What Vulkan guarantees of dynamic uniform and storage buffers in a layout.
const LEAST_DYNAMIC: [(&str, u64); 2] = [("uniform buffer", 8), ("storage buffer", 4)];

/// Of a slot, over pairs of consecutive draws.
#[derive(Clone, Copy, Default)]
struct Changes {
    changed: u64,
    /// While nothing else in its set did.
    alone: u64,
    /// To another offset of the same buffer, with the same range.
    offset_only: u64,
    unknown: u64,
}

/// See [`Changes`]: by pipeline and slot.
pub(super) struct Pairs(Vec<Vec<Changes>>);

impl Pairs {
    pub(super) fn of(model: &Model) -> Pairs {
        let mut all: Vec<Vec<Changes>> =
            model.pipelines.iter().map(|p| vec![Changes::default(); p.slots.len()]).collect();
        let mut changed = vec![];
        for row in (0..model.invocations.len()).filter(|r| model.consecutive(*r)) {
            let p = model.invocations[row].pipeline as usize;
            let [a, b] = [row, row + 1].map(|r| model.bound(r));
            if a == b {
                continue;
            }
            let mut at = 0;
            for of in model.pipelines[p].slots.chunk_by(|x, y| x.set == y.set) {
                let [was, is] = [a, b].map(|s| s.iter().find(|s| s.set == of[0].set));
                changed.clear();
                for (n, slot) in of.iter().enumerate().filter(|_| was != is) {
                    let c = &mut all[p][at + n];
                    match change(model, was, is, slot.binding) {
                        Change::Same => continue,
                        Change::Unknown => c.unknown += 1,
                        Change::Changed => {
                            c.changed += 1;
                            let moved = was.zip(is).is_some_and(|(a, b)| moved(model, a, b, slot.binding));
                            c.offset_only += u64::from(moved);
                        }
                    }
                    changed.push(at + n);
                }
                if let [one] = changed[..] {
                    all[p][one].alone += 1;
                }
                at += of.len();
            }
        }
        Pairs(all)
    }

    /// Pairs in which a block's slot was all that changed in its set.
    pub(super) fn alone(&self, model: &Model, layout: &Layout) -> u64 {
        let p = layout.pipeline as usize;
        model.pipelines[p].slot(layout.set, layout.binding).map_or(0, |s| self.0[p][s].alone)
    }
}

/// Whether one descriptor differs from the other by its offset only.
fn moved(model: &Model, a: &Bound, b: &Bound, binding: u32) -> bool {
    let one = |s: &Bound| {
        let value: &Value = model.sets.value(model.sets.slot(s.contents, binding))?;
        match value.descriptors[..] {
            [(_, d)] => model.sets.descriptor(d),
            _ => None,
        }
    };
    match (one(a), one(b)) {
        (Some(a), Some(b)) => {
            a.buffer != 0 && (a.buffer, a.range) == (b.buffer, b.range) && a.offset != b.offset
        }
        _ => false,
    }
}

pub(super) fn dynamic_offsets(g: &Ground<'_>, pairs: &Pairs) -> Vec<Advice> {
    let mut all = vec![];
    for (p, pipeline) in g.model.pipelines.iter().enumerate() {
        let mut room = LEAST_DYNAMIC.map(|(kind, limit)| {
            let dynamic = |s: &&crate::bindings::resources::Slot| s.dynamic() && s.kind.starts_with(kind);
            limit.saturating_sub(pipeline.slots.iter().filter(dynamic).map(|s| s.count).sum())
        });
        for set in pipeline.slots.chunk_by(|a, b| a.set == b.set) {
            let begin = pipeline.slot(set[0].set, set[0].binding).expect("it is one of them");
            // (a set that may be updated after it is bound can have no dynamic offsets, nor can one that is pushed)
            if pipeline.descriptor_buffer || set.iter().any(|s| s.flags.update_after_bind || s.flags.push) {
                continue;
            }
            let may = |n: &usize| {
                let c = &pairs.0[p][begin + n];
                c.changed > 0 && c.unknown == 0 && c.offset_only == c.changed && set[*n].count == 1
            };
            let mut slots: Vec<usize> = vec![];
            for n in (0..set.len()).filter(may) {
                let kind = LEAST_DYNAMIC.iter().position(|(kind, _)| *kind == &*set[n].kind);
                if let Some(room) = kind.map(|k| &mut room[k]).filter(|room| **room > 0) {
                    *room -= 1;
                    slots.push(n);
                }
            }
            if slots.is_empty() {
                continue;
            }
            let number = set[0].set;
            let bindings: BTreeSet<u32> = slots.iter().map(|n| set[*n].binding).collect();
            let [before, after] = distinct(g.model, p as u32, number, set, &bindings);
            if after >= before {
                continue;
            }
            let descriptors: u64 = set.iter().map(|s| s.descriptors()).sum();
            let names: Vec<String> = slots.iter().map(|n| set[*n].words()).collect();
            let changed: u64 = slots.iter().map(|n| pairs.0[p][begin + n].changed).sum();
            all.push(Advice {
                what: "dynamic offsets",
                to: format!("slots {} of {}", names.join(", "), pipeline.words()),
                evidence: format!(
                    "in {changed} changes only the offset in the buffer was another; {before} different sets would be {after}"
                ),
                bytes: None,
                descriptors: Some(((before - after) * descriptors) as f64 / g.frames),
                binds: None,
                limits: "8 dynamic uniform and 4 dynamic storage buffers in a layout, which every device has; the set is bound as often"
                    .into(),
            });
        }
    }
    all
}

/// Different sets that a pipeline had at a number: as they were, and with the offsets of these bindings left out.
fn distinct(
    model: &Model,
    pipeline: u32,
    number: u32,
    slots: &[crate::bindings::resources::Slot],
    moved: &BTreeSet<u32>,
) -> [u64; 2] {
    let mut before: HashSet<(u64, u32)> = HashSet::new();
    let mut after: HashSet<Vec<(u64, u64)>> = HashSet::new();
    let mut met: HashMap<u32, ()> = HashMap::new();
    for (row, _) in model.invocations.iter().enumerate().filter(|i| i.1.pipeline == pipeline) {
        let Some(b) = model.bound(row).iter().find(|b| b.set == number && b.contents != NOTHING) else {
            continue;
        };
        before.insert((b.handle, b.contents));
        if met.insert(b.contents, ()).is_some() {
            continue;
        }
        let key = |s: &crate::bindings::resources::Slot| {
            let value = model.sets.slot(b.contents, s.binding);
            let one = model.sets.value(value).and_then(|v| v.descriptors.first());
            let descriptor =
                one.and_then(|d| model.sets.descriptor(d.1)).filter(|_| moved.contains(&s.binding));
            descriptor.map_or((u64::from(value), u64::MAX), |d| (d.buffer, d.range))
        };
        after.insert(slots.iter().map(key).collect());
    }
    [before.len() as u64, after.len() as u64]
}

pub(super) fn repartition(g: &Ground<'_>) -> Vec<Advice> {
    let mut all = vec![];
    for (n, class) in g.bindings.classes.iter().enumerate() {
        let plan = g.bindings.best(n as u32);
        let [before, after] = [Plan::AsIs, plan].map(|plan| g.bindings.cost(n as u32, plan));
        if plan == Plan::AsIs || after.descriptors >= before.descriptors {
            continue;
        }
        let first = &g.model.pipelines[class.pipelines[0] as usize];
        let more = match class.pipelines.len() {
            1 => String::new(),
            n => format!(" and {} more of its layout", n - 1),
        };
        all.push(Advice {
            what: "repartition",
            to: format!("{}{more}", first.words()),
            evidence: format!(
                "partition {} has {} descriptors where {} are, in {} sets where {} are",
                plan.name(),
                after.descriptors,
                before.descriptors,
                after.sets,
                before.sets
            ),
            bytes: None,
            descriptors: Some((before.descriptors - after.descriptors) as f64 / g.frames),
            binds: Some((before.calls as f64 - after.calls as f64) / g.frames),
            limits: match class.limit {
                (n, true) => format!("maxBoundDescriptorSets: {n}"),
                (n, false) => format!("maxBoundDescriptorSets: {n}, which every device has"),
            },
        });
    }
    all
}

pub(super) fn unused(g: &Ground<'_>) -> Vec<Advice> {
    let mut all = vec![];
    for (n, class) in g.bindings.classes.iter().enumerate() {
        let of = |p: &u32| &g.model.pipelines[*p as usize];
        if class.pipelines.iter().any(|p| of(p).unreadable || of(p).descriptor_buffer) {
            continue;
        }
        let used = |set: u32, binding: u32| {
            let slot = |p: &u32| of(p).slot(set, binding).is_some_and(|s| !of(p).slots[s].used.is_empty());
            class.pipelines.iter().any(slot)
        };
        let shared = |set: u32| class.fixed.get(&set) == Some(&"shared with other layouts");
        let free = class.slots.iter().filter(|s| !used(s.set, s.binding) && !shared(s.set));
        let free: Vec<_> = free.filter(|s| !s.flags.update_after_bind && !s.flags.variable_count).collect();
        let cost = g.bindings.cost(n as u32, Plan::AsIs);
        if free.is_empty() || class.count[0] < 2 {
            continue;
        }
        // (each set that was made has them)
        let sets = cost.sets as f64 / class.slots.iter().map(|s| s.set).collect::<BTreeSet<_>>().len() as f64;
        let descriptors: u64 = free.iter().map(|s| s.descriptors()).sum();
        let names: Vec<String> = free.iter().take(6).map(|s| s.words()).collect();
        all.push(Advice {
            what: "drop unused slots",
            to: of(&class.pipelines[0]).words(),
            evidence: format!(
                "no shader of {} pipelines of the layout uses {}{}",
                class.pipelines.len(),
                names.join(", "),
                if free.len() > 6 { format!(" and {} more", free.len() - 6) } else { String::new() }
            ),
            bytes: None,
            descriptors: Some(sets * descriptors as f64 / g.frames),
            binds: None,
            limits: "pipelines that were never run may use them".into(),
        });
    }
    all
}
