//! What a partition costs over the draws that there were: sets, descriptors, and what has to be bound.
//!
//! *Sets* and *descriptors*: for each execution of a recording, the distinct sets that its draws had and how many descriptors
//! are in them, summed. As captured, a set is one that the application made, with what was in it then; in a partition, it is what it would hold, so that equal
//! sets are one. Dynamic offsets make no other set. *Binds*: sets that had to be bound because the one there before was another or had other
//! offsets; *calls*: how many calls that takes, as neighbours go into one.

use super::partition::{Class, Places};
use crate::bindings::resources::{Bound, Model, NOTHING};
use std::collections::HashMap;

type Map<K, V> = HashMap<K, V, crate::rays::events::Fast>;

/// See the module's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Distinct sets.
    pub sets: u64,
    /// Descriptors in them.
    pub descriptors: u64,
    /// Distinct over the whole capture, descriptors of.
    pub kept: u64,
    /// Sets bound.
    pub binds: u64,
    /// Calls that bind them.
    pub calls: u64,
}

impl Cost {
    /// Those of both.
    pub fn add(&mut self, o: Cost) {
        self.sets += o.sets;
        self.descriptors += o.descriptors;
        self.kept += o.kept;
        self.binds += o.binds;
        self.calls += o.calls;
    }
}

/// Counts distinct sets by execution.
#[derive(Default)]
struct Seen {
    last: Map<(u64, u64, u64), u32>,
}

impl Seen {
    fn take(&mut self, key: (u64, u64, u64), execution: u32, descriptors: u64, cost: &mut Cost) {
        match self.last.insert(key, execution) {
            Some(before) if before == execution => return,
            Some(_) => {}
            None => cost.kept += descriptors,
        }
        cost.sets += 1;
        cost.descriptors += descriptors;
    }
}

/// A partition of a class, in the middle of draws.
pub struct Running<'a> {
    model: &'a Model,
    /// New sets: the slots in each, and whether it is one that stayed.
    sets: Vec<NewSet>,
    seen: Seen,
    interned: Map<Box<[u32]>, u32>,
    /// What it costs.
    pub cost: Cost,
}

struct NewSet {
    /// Old set and binding, in the order of new bindings.
    slots: Vec<(u32, u32)>,
    descriptors: u64,
    /// The old set that it is.
    stays: Option<u32>,
    contents: u32,
    offsets: u32,
}

impl<'a> Running<'a> {
    /// Of these places; with `as_is` what the application made is counted, whatever was in it.
    pub fn new(model: &'a Model, class: &Class, places: &Places, as_is: bool) -> Self {
        let mut sets: Vec<NewSet> = vec![];
        let highest = places.iter().map(|p| p.0 + 1).max().unwrap_or(0);
        for set in 0..highest {
            let mut of: Vec<usize> = (0..places.len()).filter(|n| places[*n].0 == set).collect();
            of.sort_by_key(|n| places[*n].1);
            let stays = of.first().is_some_and(|n| as_is || class.fixed.contains_key(&class.slots[*n].set));
            sets.push(NewSet {
                descriptors: of.iter().map(|n| class.slots[*n].descriptors()).sum(),
                stays: stays.then_some(set),
                slots: of.into_iter().map(|n| (class.slots[n].set, class.slots[n].binding)).collect(),
                contents: NOTHING,
                offsets: NOTHING,
            });
        }
        Running { model, sets, seen: Seen::default(), interned: Map::default(), cost: Cost::default() }
    }

    /// A draw of the class; `before` is the one before it if that was of the class too, in the same execution.
    pub fn take(&mut self, before: Option<usize>, row: usize) {
        let model = self.model;
        let execution = model.invocations[row].execution;
        let is = model.bound(row);
        let was = before.map(|b| model.bound(b));
        if was.is_some_and(|was| was == is) {
            return;
        }
        let mut before_it = false;
        for n in 0..self.sets.len() {
            let bound = match self.sets[n].stays {
                Some(set) => self.stayed(n, set, was, is, execution),
                None => self.moved(n, was, is, execution),
            };
            self.cost.binds += u64::from(bound);
            self.cost.calls += u64::from(bound && !before_it);
            before_it = bound;
        }
    }

    fn stayed(&mut self, n: usize, set: u32, was: Option<&[Bound]>, is: &[Bound], execution: u32) -> bool {
        let find = |sets: &[Bound]| sets.iter().find(|b| b.set == set).copied();
        let Some(now) = find(is) else { return false };
        let before = was.and_then(find);
        let key = (now.handle, u64::from(now.contents), u64::from(set));
        self.seen.take(key, execution, self.sets[n].descriptors, &mut self.cost);
        // (contents that change under a set that is bound are no binding)
        before.is_none_or(|b| {
            b.handle != now.handle
                || b.offsets != now.offsets
                || (now.handle == 0 && b.contents != now.contents)
        })
    }

    fn moved(&mut self, n: usize, was: Option<&[Bound]>, is: &[Bound], execution: u32) -> bool {
        let (sets, model) = (&mut self.sets[n], self.model);
        // (most often nothing of what it is made of changed)
        let find = |sets: &[Bound], set: u32| sets.iter().find(|b| b.set == set).copied();
        let same = |was: &[Bound]| sets.slots.iter().all(|(set, _)| find(was, *set) == find(is, *set));
        if sets.slots.is_empty() || was.is_some_and(same) {
            return false;
        }
        let mut key = |offsets: bool| {
            let value = |(set, binding): &(u32, u32)| {
                let Some(b) = is.iter().find(|b| b.set == *set) else { return NOTHING };
                if offsets {
                    model.sets.offset(b.offsets, *binding)
                } else {
                    model.sets.slot(b.contents, *binding)
                }
            };
            let values: Box<[u32]> =
                std::iter::once(u32::from(offsets)).chain(sets.slots.iter().map(value)).collect();
            let next = self.interned.len() as u32;
            *self.interned.entry(values).or_insert(next)
        };
        let (contents, offsets) = (key(false), key(true));
        let bound = was.is_none() || contents != sets.contents || offsets != sets.offsets;
        (sets.contents, sets.offsets) = (contents, offsets);
        let key = (u64::from(contents), n as u64, u64::from(NOTHING));
        self.seen.take(key, execution, sets.descriptors, &mut self.cost);
        bound
    }
}
