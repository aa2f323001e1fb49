//! Events, and the launches that they are of.
//!
//! Guarantees: nothing here reads a trace; what is put in stays as it was put in.

use std::collections::HashMap;
use trace::tables::RayEvent;

/// What stands for no object, no subgroup.
pub const NO: u32 = u32::MAX;

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    /// Its kind.
    pub kind: RayEvent,
    /// The shader, a row of `entries`.
    pub entry: u32,
    /// Where in the original module; 0 for entries.
    pub place: u32,
}

/// What a ray can meet. The order of its fields is the order of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Object {
    /// Which instance.
    pub instance: u32,
    /// Which primitive of its geometry.
    pub primitive: u32,
    /// Which geometry of its bottom level.
    pub geometry: u32,
}

impl Object {
    /// `instance 0, geometry 0, primitive 31`; what is not known is left out.
    pub fn words(&self) -> String {
        let all = [("instance", self.instance), ("geometry", self.geometry), ("primitive", self.primitive)];
        let known = all.iter().filter(|n| n.1 != u32::MAX).map(|(name, n)| format!("{name} {n}"));
        known.collect::<Vec<_>>().join(", ")
    }
}

/// All events of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Events {
    /// In the order of frame and launch.
    pub launches: Vec<Launch>,
    /// By the numbers that events have.
    pub codes: Vec<Code>,
    /// By the numbers that events have.
    pub objects: Vec<Object>,
}

/// Events of one launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Launch {
    /// The capture's number of the frame.
    pub frame: u64,
    /// Which of the frame's.
    pub launch: u64,
    /// Its pipeline's id.
    pub pipeline: u64,
    /// Width, height, depth.
    pub size: [u32; 3],
    /// Invocations in a full subgroup.
    pub n: u32,
    /// Hit groups without closest-hit shader: hits may leave no event.
    pub no_closest_hit: u64,
    /// Which geometry's events are missing.
    pub missing: String,
    /// Where an invocation's events begin; one more at the end.
    pub starts: Vec<usize>,
    /// An invocation's subgroup; [`NO`] where it left no event.
    pub subgroup: Vec<u32>,
    /// Its lane there.
    pub lane: Vec<u8>,
    /// An event's code.
    pub code: Vec<u16>,
    /// An event's object; [`NO`] where it has none.
    pub object: Vec<u32>,
    /// An event's distance.
    pub t: Vec<f32>,
    /// Ticks between an invocation's first and last event, where clocks were recorded; empty if they were not asked for.
    pub ticks: Vec<u64>,
    /// Multiprocessor, and place there, of an invocation's last event, [`NO`] where they are not known; there where ticks are.
    pub last_place: Vec<[u32; 2]>,
    /// Where an invocation's [`Launch::places`] begin; empty if they were not asked for.
    pub place_starts: Vec<usize>,
    /// Where rays hit, one for each miss or closest hit in program order; misses are where the ray began.
    pub places: Vec<[f32; 3]>,
    /// Events whose subgroup or lane was another than that of their invocation's first event.
    pub strays: u64,
}

impl Launch {
    /// How many invocations it has.
    pub fn threads(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// An invocation's events.
    pub fn events(&self, thread: usize) -> std::ops::Range<usize> {
        self.starts[thread]..self.starts[thread + 1]
    }

    /// Column, row and layer of an invocation.
    pub fn pixel(&self, thread: usize) -> [u32; 3] {
        let [w, h, _] = self.size.map(|s| s.max(1) as usize);
        [(thread % w) as u32, (thread / w % h) as u32, (thread / w / h) as u32]
    }

    /// As words: `frame 3, launch 0`.
    pub fn words(&self) -> String {
        format!("frame {}, launch {}", self.frame, self.launch)
    }

    /// Recorded subgroups: the invocations of each in the order of lanes. Subgroups come in the order of their first
    /// invocation, so that those of an image come row by row. Invocations without events are in none.
    pub fn subgroups(&self) -> Vec<Vec<u32>> {
        let most = self.subgroup.iter().filter(|s| **s != NO).max().map_or(0, |s| *s as usize + 1);
        // (numbers are given from 0 and may have gaps; those that have more gaps than a table is worth are somebody's own)
        let mut number = vec![NO; if most / 64 <= self.subgroup.len() { most } else { 0 }];
        let mut far = HashMap::new();
        let mut all: Vec<Vec<u32>> = vec![];
        for (thread, &s) in self.subgroup.iter().enumerate().filter(|(_, s)| **s != NO) {
            let at = number.get_mut(s as usize).unwrap_or_else(|| far.entry(s).or_insert(NO));
            if *at == NO {
                *at = all.len() as u32;
                all.push(vec![]);
            }
            all[*at as usize].push(thread as u32);
        }
        for members in &mut all {
            members.sort_by_key(|&t| self.lane[t as usize]);
        }
        all
    }
}

impl Events {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.launches.iter().map(|l| l.code.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
