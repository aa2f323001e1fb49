//! A subgroup that goes through a shader by the book: whoever takes another way, the rest waits where ways meet again.
//!
//! Shaders are written down as what a subgroup does in them: blocks by their number in the module, conditions as functions of
//! an invocation. From this follows everything that passes count, for subgroups of any size. With subgroups of one invocation
//! it follows, too, what does not depend on who shares a subgroup. No part of it knows SPIR-V or the passes.

use std::collections::BTreeMap;

/// A set of a subgroup's invocations.
pub type Mask = u128;

/// Where something is: the function's name, the block's number in it.
pub type At = (&'static str, u32);

/// A load: what it reads (`uniform`, `push`, `storage`, `texture`), and which of the entry point's that read such it is.
pub type Load = (&'static str, usize);

/// What a subgroup does in an entry point.
pub type Main<'a> = &'a dyn Fn(&mut Walk);

/// One invocation: its number in the workgroup and the workgroup's, or its pixel or launch index.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lane {
    pub x: u32,
    pub y: u32,
}

/// What is known of a block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// How often it was executed with so many invocations.
    pub popcounts: BTreeMap<u64, u64>,
    /// Inactive slots, by cause.
    pub early: u64,
    pub absent: u64,
    pub control: u64,
}

impl Block {
    pub fn executions(&self) -> u64 {
        self.popcounts.values().sum()
    }
    pub fn invocations(&self) -> u64 {
        self.popcounts.iter().map(|(active, times)| active * times).sum()
    }
}

/// What is known of a place where invocations leave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exit {
    pub executions: u64,
    pub invocations: u64,
    /// How often by all that had entered.
    pub whole: u64,
}

/// What is known of a branch or a load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Site {
    pub executions: u64,
    /// How often not all active invocations had the same.
    pub divergent: u64,
    /// The values and how many invocations had them.
    pub values: BTreeMap<u64, u64>,
}

/// What is known of an entry point after all of its subgroups.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    pub subgroups: u64,
    pub invocations: u64,
    pub blocks: BTreeMap<At, Block>,
    /// From block to block, by invocations; to `u32::MAX` where a function is left.
    pub edges: BTreeMap<(&'static str, u32, u32), u64>,
    pub exits: BTreeMap<At, Exit>,
    /// Conditional branches and switches, by the block that they end; the values are the conditions.
    pub branches: BTreeMap<At, Site>,
    /// Loads: what their addresses are made of, and their values.
    pub addresses: BTreeMap<Load, Site>,
    pub loads: BTreeMap<Load, Site>,
    /// How many invocations executed so many blocks; how many subgroups did.
    pub lifetimes: BTreeMap<u64, u64>,
    pub subgroup_lifetimes: BTreeMap<u64, u64>,
    /// How often a subgroup came by a trace with these invocations.
    pub traces: BTreeMap<At, BTreeMap<u64, u64>>,
}

/// A subgroup on its way.
pub struct Walk<'t> {
    tally: &'t mut Tally,
    n: u32,
    lanes: Vec<Lane>,
    /// All that entered; those that are here; those that left for good, the function, the loop, this trip.
    present: Mask,
    active: Mask,
    gone: Mask,
    /// Of those gone: who passed no place where it could have said so.
    lost: Mask,
    returned: Mask,
    broken: Mask,
    continued: Mask,
    function: &'static str,
    at: u32,
    /// For each lane the block that it was in last, in the function that it is in.
    last: Vec<Option<u32>>,
    lived: Vec<u64>,
    blocks: u64,
}

/// Lets these invocations, in this order, go through `main` in subgroups of `n`.
pub fn run(n: u32, lanes: impl IntoIterator<Item = Lane>, tally: &mut Tally, main: impl Fn(&mut Walk)) {
    let lanes: Vec<Lane> = lanes.into_iter().collect();
    for lanes in lanes.chunks(n as usize) {
        let present = (1 << lanes.len()) - 1;
        let mut w = Walk {
            tally,
            n,
            lanes: lanes.to_vec(),
            present,
            active: present,
            gone: 0,
            lost: 0,
            returned: 0,
            broken: 0,
            continued: 0,
            function: "main",
            at: 0,
            last: vec![None; lanes.len()],
            lived: vec![0; lanes.len()],
            blocks: 0,
        };
        main(&mut w);
        assert_eq!(w.gone, present, "somebody did not leave");
        let (lived, blocks, lost) = (w.lived, w.blocks, w.lost);
        tally.subgroups += 1;
        tally.invocations += lanes.len() as u64;
        // A lifetime is told where it ends.
        if lost != present {
            *tally.subgroup_lifetimes.entry(blocks).or_default() += 1;
        }
        for (_, n) in lived.into_iter().enumerate().filter(|(i, _)| lost >> i & 1 == 0) {
            *tally.lifetimes.entry(n).or_default() += 1;
        }
    }
}

impl Walk<'_> {
    fn each(&self, mask: Mask) -> impl Iterator<Item = (usize, Lane)> + use<> {
        let lanes = self.lanes.clone();
        lanes.into_iter().enumerate().filter(move |(i, _)| mask >> i & 1 == 1)
    }

    /// Those of the active that are so.
    fn those(&self, are: impl Fn(Lane) -> bool) -> Mask {
        self.each(self.active).filter(|(_, lane)| are(*lane)).fold(0, |mask, (i, _)| mask | 1 << i)
    }

    /// The active invocations execute a block.
    pub fn block(&mut self, block: u32) {
        if self.active == 0 {
            return;
        }
        self.at = block;
        self.blocks += 1;
        let active = u64::from(self.active.count_ones());
        let early = u64::from((self.gone & self.present).count_ones());
        let absent = u64::from(self.n - self.present.count_ones());
        let of = self.tally.blocks.entry((self.function, block)).or_default();
        *of.popcounts.entry(active).or_default() += 1;
        of.early += early;
        of.absent += absent;
        of.control += u64::from(self.n) - active - early - absent;
        for (i, _) in self.each(self.active) {
            self.lived[i] += 1;
            if let Some(from) = self.last[i].replace(block) {
                *self.tally.edges.entry((self.function, from, block)).or_default() += 1;
            }
        }
    }

    fn seen(site: &mut Site, values: &[u64]) {
        site.executions += 1;
        site.divergent += u64::from(values.iter().any(|v| *v != values[0]));
        for value in values {
            *site.values.entry(*value).or_default() += 1;
        }
    }

    /// What the block's branch depends on.
    fn branches(&mut self, on: impl Fn(Lane) -> u64) {
        if self.active != 0 {
            let values: Vec<u64> = self.each(self.active).map(|(_, lane)| on(lane)).collect();
            Self::seen(self.tally.branches.entry((self.function, self.at)).or_default(), &values);
        }
    }

    /// A load: what its address depends on, and what it gives.
    pub fn load(&mut self, name: Load, address: impl Fn(Lane) -> u64, value: impl Fn(Lane) -> u64) {
        if self.active != 0 {
            let of = |f: &dyn Fn(Lane) -> u64| -> Vec<u64> {
                self.each(self.active).map(|(_, lane)| f(lane)).collect()
            };
            let (addresses, values) = (of(&address), of(&value));
            Self::seen(self.tally.addresses.entry(name).or_default(), &addresses);
            Self::seen(self.tally.loads.entry(name).or_default(), &values);
        }
    }

    /// The active invocations trace a ray each.
    pub fn trace(&mut self) {
        if self.active != 0 {
            let of = self.tally.traces.entry((self.function, self.at)).or_default();
            *of.entry(u64::from(self.active.count_ones())).or_default() += 1;
        }
    }

    fn away(&self) -> Mask {
        self.gone | self.returned | self.broken | self.continued
    }

    /// Some go on alone; who comes back meets the others.
    pub fn only(&mut self, who: impl Fn(Lane) -> bool, body: impl FnOnce(&mut Self)) {
        let before = self.active;
        self.active = self.those(who);
        if self.active != 0 {
            body(self);
        }
        self.active = before & !self.away();
    }

    /// The block's conditional branch, on to one way or the other.
    pub fn fork(
        &mut self,
        on: impl Fn(Lane) -> bool,
        then: impl FnOnce(&mut Self),
        other: impl FnOnce(&mut Self),
    ) {
        self.branches(|lane| u64::from(on(lane)));
        let (before, yes) = (self.active, self.those(&on));
        for (who, way) in
            [(yes, Box::new(then) as Box<dyn FnOnce(&mut Self)>), (before & !yes, Box::new(other))]
        {
            self.active = who;
            if who != 0 {
                way(self);
            }
        }
        self.active = before & !self.away();
    }

    /// The same with nothing on the other way.
    pub fn when(&mut self, on: impl Fn(Lane) -> bool, then: impl FnOnce(&mut Self)) {
        self.fork(on, then, |_| {});
    }

    /// A switch's value; where it leads, `only` says.
    pub fn switch(&mut self, on: impl Fn(Lane) -> u64) {
        self.branches(on);
    }

    /// A loop as GLSL's `for` becomes one: header, test, body, continuation.
    pub fn repeat(
        &mut self,
        [header, test, again]: [u32; 3],
        on: impl Fn(Lane, u32) -> bool,
        body: impl Fn(&mut Self, u32),
    ) {
        let (before, broken, continued) = (self.active, self.broken, self.continued);
        (self.broken, self.continued) = (0, 0);
        for trip in 0.. {
            self.block(header);
            self.block(test);
            self.branches(|lane| u64::from(on(lane, trip)));
            self.active = self.those(|lane| on(lane, trip));
            let inside = self.active;
            if inside == 0 {
                break;
            }
            body(self, trip);
            self.continued = 0;
            self.active = inside & !self.away();
            if self.active == 0 {
                break;
            }
            self.block(again);
        }
        (self.broken, self.continued) = (broken, continued);
        self.active = before & !self.away();
    }

    /// The active invocations leave the loop.
    pub fn breaks(&mut self) {
        self.broken |= self.active;
        self.active = 0;
    }

    /// The active invocations go on with the next trip.
    pub fn continues(&mut self) {
        self.continued |= self.active;
        self.active = 0;
    }

    /// The active invocations return: from the entry point for good.
    pub fn returns(&mut self) {
        if self.function == "main" {
            return self.kills();
        }
        self.leave();
        self.returned |= self.active;
        self.active = 0;
    }

    fn leave(&mut self) {
        for (i, _) in self.each(self.active) {
            if let Some(from) = self.last[i].take() {
                *self.tally.edges.entry((self.function, from, u32::MAX)).or_default() += 1;
            }
        }
    }

    /// The active invocations end: are discarded, or end an any-hit shader, or return from the entry point.
    pub fn kills(&mut self) {
        if self.active == 0 {
            return;
        }
        self.leave();
        let of = self.tally.exits.entry((self.function, self.at)).or_default();
        of.executions += 1;
        of.invocations += u64::from(self.active.count_ones());
        of.whole += u64::from(self.active == self.present);
        self.gone |= self.active;
        self.active = 0;
    }

    /// The active invocations go on uncounted, as helpers: as if they had left.
    pub fn demoted(&mut self) {
        self.leave();
        self.gone |= self.active;
        self.active = 0;
    }

    /// The active invocations do not come back from what they called: they pass no exit.
    pub fn lost(&mut self) {
        self.lost |= self.active;
        self.demoted();
    }

    /// The active invocations call a function.
    pub fn call(&mut self, function: &'static str, body: impl FnOnce(&mut Self)) {
        if self.active == 0 {
            return;
        }
        let (before, at) = (self.active, self.at);
        let (caller, last, returned) = (self.function, self.last.clone(), self.returned);
        let (broken, continued) = (self.broken, self.continued);
        self.function = function;
        self.last = vec![None; self.lanes.len()];
        (self.returned, self.broken, self.continued) = (0, 0, 0);
        body(self);
        assert_eq!(self.active, 0, "{function} has no end");
        (self.function, self.last, self.at) = (caller, last, at);
        (self.returned, self.broken, self.continued) = (returned, broken, continued);
        self.active = before;
    }
}
