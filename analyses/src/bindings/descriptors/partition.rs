//! Which slots go into which sets: the partitions that are compared, and what none of them may touch.
//!
//! Guarantees: a partition has no more sets than the device can bind; what stays says why. Sets that pipelines of other layouts share,
//! and all sets below them, stay as they are, so that what was compatible remains so; so do sets that are pushed, sets with
//! bindings that are updated after they are bound or whose count is said at allocation. As such sets stay whole, dynamic offsets never
//! come into a set that may be updated after it is bound.

use super::redundancy::{Count, Pairs, Redundancy};
use crate::bindings::resources::{Flags, Model, NOTHING, Numbers, Slot};
use std::collections::BTreeMap;

/// What Vulkan guarantees of maxBoundDescriptorSets.
pub const LEAST_MAX_SETS: u64 = 4;

/// Slots are alike if their redundancies differ by no more than this.
pub const ALIKE: f64 = 0.05;

/// How slots are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Plan {
    /// As the capture has it.
    AsIs,
    /// By similar redundancy.
    Classes,
    /// A set for each slot.
    Single,
    /// Slots that always change together.
    Together,
    /// As few sets as can be.
    Minimal,
}

/// Those that are compared.
pub const PLANS: [Plan; 4] = [Plan::Classes, Plan::Single, Plan::Together, Plan::Minimal];

impl Plan {
    /// Its name in reports and file names.
    pub fn name(self) -> &'static str {
        match self {
            Plan::AsIs => "as it is",
            Plan::Classes => "classes",
            Plan::Single => "single",
            Plan::Together => "together",
            Plan::Minimal => "minimal",
        }
    }
}

/// Pipelines whose layouts are compatible with each other.
#[derive(Clone, Debug)]
pub struct Class {
    /// Indices of the pipelines.
    pub pipelines: Vec<u32>,
    /// Ids of their layouts.
    pub layouts: Vec<u64>,
    /// By set and binding.
    pub slots: Vec<Slot>,
    /// Over all of them.
    pub pairs: Vec<Pairs>,
    /// Draws and pairs.
    pub count: [u64; 2],
    /// Sets that stay, and why.
    pub fixed: BTreeMap<u32, &'static str>,
    /// How many sets may be bound, and whether the capture says so.
    pub limit: (u64, bool),
    /// Why nothing of it is moved; empty if something may be.
    pub whole: &'static str,
}

/// The classes, and the class of each pipeline.
pub fn classes(model: &Model, redundancy: &Redundancy) -> (Vec<Class>, Vec<u32>) {
    let mut of: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (n, p) in model.pipelines.iter().enumerate() {
        of.entry(&p.compatible).or_default().push(n as u32);
    }
    // (a pipeline of which nobody says what it is compatible with is so with none)
    let alone = of.remove("").unwrap_or_default().into_iter().map(|p| vec![p]);
    let mut groups: Vec<Vec<u32>> = of.into_values().chain(alone).collect();
    groups.sort();
    let mut by_pipeline = vec![NOTHING; model.pipelines.len()];
    for (n, group) in groups.iter().enumerate() {
        group.iter().for_each(|p| by_pipeline[*p as usize] = n as u32);
    }
    let shared = shared(model, &by_pipeline, groups.len());
    let of = |(group, shared): (Vec<u32>, Option<u32>)| class(model, redundancy, group, shared);
    (groups.into_iter().zip(shared).map(of).collect(), by_pipeline)
}

/// The highest set of each class that pipelines of another are run with, too.
fn shared(model: &Model, by_pipeline: &[u32], classes: usize) -> Vec<Option<u32>> {
    let mut of_set: Numbers<(u32, u32)> = Numbers::default();
    let mut highest: Vec<Option<u32>> = vec![None; classes];
    for (row, i) in model.invocations.iter().enumerate().filter(|i| i.1.pipeline != NOTHING) {
        let class = by_pipeline[i.pipeline as usize];
        for b in model.bound(row).iter().filter(|b| b.handle != 0) {
            let first = *of_set.entry(b.handle).or_insert((class, b.set));
            if first.0 != class {
                for (c, set) in [first, (class, b.set)] {
                    let highest = &mut highest[c as usize];
                    *highest = (*highest).max(Some(set));
                }
            }
        }
    }
    highest
}

fn class(model: &Model, redundancy: &Redundancy, group: Vec<u32>, shared: Option<u32>) -> Class {
    let of = |p: &u32| &model.pipelines[*p as usize];
    let mut slots: BTreeMap<(u32, u32), (Slot, Pairs)> = BTreeMap::new();
    let mut count = [0; 2];
    for p in &group {
        let counted: &Count = &redundancy.pipelines[*p as usize];
        count[0] += counted.invocations;
        count[1] += counted.pairs();
        for (s, pairs) in of(p).slots.iter().zip(&counted.slots) {
            slots.entry((s.set, s.binding)).or_insert_with(|| (s.clone(), Pairs::default())).1.add(pairs);
        }
    }
    let (slots, pairs): (Vec<Slot>, Vec<Pairs>) = slots.into_values().unzip();
    let mut fixed = BTreeMap::new();
    for s in &slots {
        let why = match s.flags {
            Flags { push: true, .. } => "pushed",
            Flags { variable_count: true, .. } => "variable count",
            Flags { update_after_bind: true, .. } => "update-after-bind",
            _ if shared.is_some_and(|highest| s.set <= highest) => "shared with other layouts",
            _ => continue,
        };
        fixed.entry(s.set).or_insert(why);
    }
    let said = group.iter().map(|p| of(p).max_sets).filter(|n| *n != 0).min();
    let mut layouts: Vec<u64> = group.iter().map(|p| of(p).layout).filter(|l| *l != 0).collect();
    layouts.sort_unstable();
    layouts.dedup();
    let whole = if group.iter().any(|p| of(p).descriptor_buffer) {
        "descriptor buffers"
    } else if slots.iter().all(|s| fixed.contains_key(&s.set)) {
        fixed.values().next().copied().unwrap_or("no descriptors")
    } else if count[1] == 0 {
        "no consecutive draws"
    } else {
        ""
    };
    let limit = (said.unwrap_or(LEAST_MAX_SETS), said.is_some());
    Class { pipelines: group, layouts, slots, pairs, count, fixed, limit, whole }
}

/// Where each slot of a class goes.
pub type Places = Vec<(u32, u32)>;

/// By slot of the class; `None` where nothing of it is moved.
pub fn places(class: &Class, plan: Plan) -> Option<Places> {
    if plan == Plan::AsIs || !class.whole.is_empty() {
        return (plan == Plan::AsIs).then(|| class.slots.iter().map(|s| (s.set, s.binding)).collect());
    }
    let free: Vec<usize> =
        (0..class.slots.len()).filter(|n| !class.fixed.contains_key(&class.slots[*n].set)).collect();
    let room = class.limit.0.saturating_sub(class.fixed.len() as u64).max(1) as usize;
    let groups = limited(grouped(class, &free, plan), class, room);
    let numbers = (0..).filter(|n| !class.fixed.contains_key(n));
    let mut places: Places = class.slots.iter().map(|s| (s.set, s.binding)).collect();
    for (group, set) in groups.iter().zip(numbers) {
        let mut group = group.clone();
        group.sort_unstable();
        group.iter().enumerate().for_each(|(n, slot)| places[*slot] = (set, n as u32));
    }
    Some(places)
}

/// What is not known counts as always changing.
fn redundancy(class: &Class, slot: usize) -> f64 {
    let p = &class.pairs[slot];
    p.equal as f64 / (p.known + p.unknown).max(1) as f64
}

/// Groups of slots, the most redundant first.
fn grouped(class: &Class, free: &[usize], plan: Plan) -> Vec<Vec<usize>> {
    let mut order = free.to_vec();
    order.sort_by(|a, b| redundancy(class, *b).total_cmp(&redundancy(class, *a)).then(a.cmp(b)));
    match plan {
        Plan::AsIs | Plan::Minimal => vec![order],
        Plan::Single => order.into_iter().map(|s| vec![s]).collect(),
        // (a class is as wide as what is alike, wherever it begins)
        Plan::Classes => group_by(order, |first, s| redundancy(class, first) - redundancy(class, s) <= ALIKE),
        Plan::Together => {
            let pattern = |s: usize| (class.pairs[s].pattern, class.pairs[s].unknown);
            group_by(order, |first, s| pattern(first) == pattern(s))
        }
    }
}

/// Puts each into the first group whose first it fits.
fn group_by(order: Vec<usize>, fits: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = vec![];
    for s in order {
        match groups.iter_mut().find(|g| fits(g[0], s)) {
            Some(group) => group.push(s),
            None => groups.push(vec![s]),
        }
    }
    groups
}

/// Joins neighbours whose redundancies lie closest until there are no more than that.
fn limited(mut groups: Vec<Vec<usize>>, class: &Class, room: usize) -> Vec<Vec<usize>> {
    let mean = |g: &[usize]| g.iter().map(|s| redundancy(class, *s)).sum::<f64>() / g.len() as f64;
    while groups.len() > room {
        let gap = |n: &usize| mean(&groups[*n]) - mean(&groups[n + 1]);
        let Some(at) = (0..groups.len() - 1).min_by(|a, b| gap(a).total_cmp(&gap(b))) else { break };
        let joined = groups.remove(at + 1);
        groups[at].extend(joined);
    }
    groups
}
