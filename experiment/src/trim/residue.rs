//! What the device did before a range that is neither contents nor synchronisation: acceleration structures and micromaps that were built or
//! copied, queries that were made, events that were set.
//!
//! The commands that did it last run again, where they were submitted, in a command buffer of the section's own. Guarantees: of builds, what the capture says their inputs
//! held then is kept. Refuses nothing.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use world::bytes::{Known, Reason};

/// A number of an object, in the order in which they were made.
pub type Number = u32;

/// What of a structure stays when it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// Nothing.
    Anew,
    /// It is updated as it is.
    InPlace,
    /// It is made of another.
    OfAnother,
}

/// Bytes of a buffer, as they were before a build.
#[derive(Debug)]
pub struct Input {
    /// Its device and id.
    pub device: u64,
    /// Its id.
    pub buffer: u64,
    /// From the first on; 0 where they are not known.
    pub bytes: Vec<u8>,
    /// Where that is.
    pub unknown: Vec<(u64, u64)>,
}

/// A command that the device ran.
#[derive(Debug)]
pub struct Run {
    /// Its place among all that ran.
    pub order: u64,
    /// The block that submitted it, and the one that recorded it.
    pub blocks: (u32, u32),
    /// The queue's device, its family and its id.
    pub queue: (u64, u32, u64),
    /// What it needs.
    pub uses: Vec<Number>,
    /// It builds a structure of instances, which refer to others.
    pub instances: bool,
    /// What a build reads.
    pub inputs: Vec<Rc<Input>>,
}

/// See the module's header.
#[derive(Debug, Default)]
pub struct Residue {
    /// By structure: what made it what it is.
    builds: HashMap<Number, Vec<Rc<Run>>>,
    /// By pool and query: what made it what it is.
    queries: BTreeMap<(Number, u32), Vec<Rc<Run>>>,
    /// By buffer: its bytes when a build read it, and when they changed last.
    inputs: HashMap<Number, (u64, Rc<Input>)>,
    /// By event that is set: what set it; none if the host did.
    events: HashMap<Number, Option<Rc<Run>>>,
    ran: u64,
}

impl Residue {
    /// What made an object what it is.
    pub fn of(&self, object: Number) -> impl Iterator<Item = &Rc<Run>> {
        let queries = self.queries.range((object, 0)..=(object, u32::MAX)).flat_map(|q| q.1);
        let set = self.events.get(&object).into_iter().flatten();
        self.builds.get(&object).into_iter().flatten().chain(queries).chain(set)
    }

    /// A structure was written: from nothing, from itself as it was, or from another.
    pub fn built(&mut self, structure: Number, run: &Rc<Run>, how: Build) {
        let of = self.builds.entry(structure).or_default();
        match how {
            Build::Anew => of.clear(),
            // (of several updates in place the last says everything)
            Build::InPlace if of.len() > 1 => drop(of.pop()),
            _ => {}
        }
        of.push(run.clone());
    }

    /// The host resets queries.
    pub fn reset(&mut self, pool: Number, first: u32, count: u32) {
        let all = (pool, first)..(pool, first.saturating_add(count.min(1 << 16)));
        let gone: Vec<(Number, u32)> = self.queries.range(all).map(|q| *q.0).collect();
        gone.iter().for_each(|q| _ = self.queries.remove(q));
    }

    /// Queries of a pool were written, or reset.
    pub fn asked(&mut self, pool: Number, queries: std::ops::Range<u32>, run: &Rc<Run>, anew: bool) {
        for query in queries {
            let of = self.queries.entry((pool, query)).or_default();
            if anew {
                of.clear();
            }
            of.push(run.clone());
        }
    }

    /// The device sets an event.
    pub fn set(&mut self, event: Number, run: Rc<Run>) {
        self.events.insert(event, Some(run));
    }

    /// The number of the next command.
    pub fn next(&mut self) -> u64 {
        self.ran += 1;
        self.ran
    }

    /// A buffer's bytes as a build found them when they changed last, or those that are read now.
    pub fn input(&mut self, buffer: Number, stamp: u64, now: impl FnOnce() -> Input) -> Rc<Input> {
        match self.inputs.get(&buffer) {
            Some((then, input)) if *then == stamp => input.clone(),
            _ => {
                let input = Rc::new(now());
                self.inputs.insert(buffer, (stamp, input.clone()));
                input
            }
        }
    }

    /// The host sets an event, or resets it.
    pub fn by_host(&mut self, event: Number, sets: bool) {
        self.events.remove(&event);
        if sets {
            self.events.insert(event, None);
        }
    }

    /// Whether the host has set an event.
    pub fn is_set_by_host(&self, event: Number) -> bool {
        matches!(self.events.get(&event), Some(None))
    }
}

/// Where bytes are not known that something wrote.
pub fn unknown(known: &Known) -> Vec<(u64, u64)> {
    let written =
        known.holes.iter().filter(|h| !matches!(h.why.reason, Reason::NeverWritten | Reason::Discarded));
    written.map(|h| (h.from, h.to)).collect()
}
