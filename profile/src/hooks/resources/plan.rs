//! Which copies a replay has to record, learnt from a walk over the capture without a device.
//!
//! What a draw reads is known when it is submitted; copies of it have to be recorded before. So the capture is followed
//! once, and what is read at each place ([`super::trail`]) by any execution of a recording is copied by all of them.
//! Guarantees: a copy names a buffer that was made and bound before the copy is recorded and that is alive whenever the
//! recording is executed; a descriptor that is updated after it was bound may name others, which have no copies then.
//! Refuses nothing.

use super::program::Programs;
use super::reads::{self, Found, Read};
use super::trail::{By, Spot, Trail};
use crate::hooks::put::WantsFrame;
use gfxr_parse::ahead::Call;
use gfxr_parse::param;
use gfxr_parse::view::View;
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Next};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use world::commands::Command;
use world::recording::Recording;
use world::{At, Follow, Frame, Invocation, MetaBlock, Observer, Outcome, World};

/// Most bytes of a storage buffer that are looked at.
pub const OF_STORAGE: u64 = 1 << 20;
/// Most bytes of storage buffers that one recording copies.
const STORAGE_IN_ALL: u64 = 32 << 20;

/// A range of a buffer: it, the first byte, bytes.
pub type Range = (u64, u64, u64);

/// A copy of what a secondary command buffer copied, directly after it was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drain {
    /// The secondary's recording.
    pub recording: u64,
    /// Where to, in the primary's.
    pub to: u64,
    /// Bytes.
    pub bytes: u64,
}

/// See the module's header. Recordings are named by the block of their vkBeginCommandBuffer, places by the block of the call
/// that copies are before.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Bytes that each recording copies, those of secondaries among them.
    pub recordings: HashMap<u64, u64>,
    /// Ranges, and where each is copied to.
    pub places: HashMap<u64, BTreeMap<Range, u64>>,
    /// By vkCmdExecuteCommands and position in it.
    pub drains: HashMap<u64, BTreeMap<u32, Drain>>,
    /// Reads of storage buffers that are too many to be copied.
    pub beyond: u64,
}

/// What one recording is to copy.
#[derive(Default)]
struct Learnt {
    places: BTreeMap<u64, BTreeSet<Range>>,
    /// By call and position, the secondary's recording.
    executes: BTreeMap<u64, BTreeMap<u32, u64>>,
    /// The buffers, and the block since which each can be copied.
    buffers: HashMap<u64, u64>,
    /// Bytes of storage buffers.
    storage: u64,
}

/// What is learnt.
struct Learner {
    wants: WantsFrame,
    storage: bool,
    programs: Programs,
    trail: Trail,
    learnt: HashMap<u64, Learnt>,
    /// By buffer: the block that made it, or that bound it.
    made: HashMap<u64, u64>,
    beyond: u64,
}

impl Learner {
    /// A read at a place.
    fn learn(&mut self, spot: &Spot, range: Range, storage: bool) {
        let Some(&made) = self.made.get(&range.0).filter(|made| **made < spot.block) else { return };
        let learnt = self.learnt.entry(spot.recording).or_default();
        let there = learnt.places.get(&spot.block).is_some_and(|p| p.contains(&range));
        if range.2 == 0 || there {
            return;
        }
        if storage {
            if learnt.storage + range.2 > STORAGE_IN_ALL {
                self.beyond += 1;
                return;
            }
            learnt.storage += range.2;
        }
        if *learnt.buffers.entry(range.0).or_insert(made) == made {
            learnt.places.entry(spot.block).or_default().insert(range);
        }
    }

    /// Copies of buffers that are gone, or others by now, must not be recorded at all.
    fn still(&mut self, recording: u64) {
        let Some(learnt) = self.learnt.get_mut(&recording) else { return };
        let gone = |(b, made): &(&u64, &u64)| self.made.get(b) != Some(made);
        let gone: Vec<u64> = learnt.buffers.iter().filter(gone).map(|b| *b.0).collect();
        for b in gone {
            learnt.places.values_mut().for_each(|p| p.retain(|r| r.0 != b));
            // (whatever the buffer will be, it is not to be copied)
            learnt.buffers.insert(b, u64::MAX);
        }
    }
}

impl Observer for Learner {
    fn enters(&mut self, _: &World, at: &At, recording: &Recording) {
        let learnt = &mut self.learnt;
        self.trail.enters(at, recording.block, |by, _| {
            if let By::Buffer { recording: outer, call, position, .. } = by {
                let executes = &mut learnt.entry(outer).or_default().executes;
                executes.entry(call).or_default().insert(position, recording.block);
            }
            None
        });
        self.still(recording.block);
    }

    fn leaves(&mut self, _: &World, _: &At) {
        self.trail.leaves();
    }

    fn command(&mut self, world: &World, at: &At, command: &Command) {
        self.trail.command(world, at, command);
    }

    fn invocation(&mut self, world: &World, at: &At, i: &Invocation<'_>) {
        if !(self.wants)(at.frame) {
            return;
        }
        let Some(spot) = self.trail.spot(world, at) else { return };
        let facts = self.programs.facts(i.invoke);
        let storage = if self.storage { &facts.buffers[..] } else { &[] };
        for used in [&facts.blocks, storage] {
            for r in of_invocation(world, i, used) {
                self.learn(&spot, range(world, &r), r.storage);
            }
        }
    }

    fn invoked(&mut self, world: &mut World, at: &At, i: &Invocation<'_>) {
        let facts = self.programs.facts(i.invoke);
        world.wrote(i.invoke, &facts.written, at.block);
    }
}

/// The used blocks of a draw that lie in buffers.
pub fn of_invocation(w: &World, i: &Invocation<'_>, used: &[super::program::UsedBlock]) -> Vec<Read> {
    let mut all = Vec::new();
    let found = reads::each(w, i.invoke, used, &mut |found| {
        if let Found::Buffer(r) = found {
            all.push(r);
        }
        Ok(())
    });
    debug_assert!(found.is_ok(), "nothing in it fails");
    all
}

/// The range that is copied for a read: as far as the buffer reaches; none of a sparse buffer, as that may have holes.
pub fn range(w: &World, r: &Read) -> Range {
    let b = w.buffers.get(&r.buffer).filter(|b| b.bound.is_some());
    let there = b.map_or(0, |b| b.size.saturating_sub(r.offset));
    let most = if r.storage { OF_STORAGE } else { u64::MAX };
    (r.buffer, r.offset, r.bytes.min(there).min(most))
}

/// See the module's header.
pub struct PlanHook {
    follow: Follow,
    learner: Learner,
    plan: Rc<RefCell<Plan>>,
}

impl PlanHook {
    /// One that learns from these frames; and the plan, once it has run.
    pub fn new(wants: WantsFrame, storage: bool) -> (Self, Rc<RefCell<Plan>>) {
        let plan = Rc::new(RefCell::new(Plan::default()));
        let learner = Learner {
            wants,
            storage,
            programs: Programs::default(),
            trail: Trail::default(),
            learnt: HashMap::new(),
            made: HashMap::new(),
            beyond: 0,
        };
        (PlanHook { follow: Follow::new(), learner, plan: plan.clone() }, plan)
    }

    /// Buffers come, are bound, and go.
    fn note(&mut self, call: &Call) {
        let v = View::call(&call.image);
        let made = &mut self.learner.made;
        let mut bound = |buffer: u64| {
            made.insert(buffer, call.block);
        };
        match call.command.canonical {
            "vkBindBufferMemory" => bound(call.image.u64(param!("vkBindBufferMemory", "buffer"))),
            "vkBindBufferMemory2" => {
                v.structs("pBindInfos").filter_map(|i| i.u64("buffer")).for_each(bound);
            }
            "vkDestroyBuffer" => drop(made.remove(&world::destroyed(call))),
            _ => {}
        }
    }
}

impl Hook for PlanHook {
    fn name(&self) -> &'static str {
        "resources: what to copy"
    }

    fn wants(&self) -> Commands {
        Commands::all()
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let outcome = next.run(cx, call)?;
        self.follow.call(call, outcome, &mut self.learner);
        self.note(call);
        Ok(outcome)
    }

    fn meta(&mut self, _: &mut Executor, block: &MetaBlock<'_>) -> Result<()> {
        self.follow.meta(block);
        Ok(())
    }

    fn frame(&mut self, _: &mut Executor, frame: Frame) -> Result<()> {
        self.follow.frame(frame);
        Ok(())
    }

    fn finish(&mut self, _: &mut Executor) -> Result<()> {
        self.follow.finish(&mut self.learner);
        *self.plan.borrow_mut() = made(std::mem::take(&mut self.learner.learnt), self.learner.beyond);
        Ok(())
    }
}

/// Everything has its place.
fn made(mut learnt: HashMap<u64, Learnt>, beyond: u64) -> Plan {
    let mut plan = Plan { beyond, ..Plan::default() };
    let all: Vec<u64> = learnt.keys().copied().collect();
    all.into_iter().for_each(|recording| plan.recording(recording, &mut learnt));
    plan
}

impl Plan {
    /// A recording's own copies, and behind them those of the secondaries that it executes.
    fn recording(&mut self, recording: u64, learnt: &mut HashMap<u64, Learnt>) {
        // (gone while it is worked on: what executes itself ends here)
        let Some(l) = learnt.remove(&recording) else { return };
        let mut bytes = 0;
        let mut take = |n: u64| {
            let at = bytes;
            bytes += n.next_multiple_of(16);
            at
        };
        for (place, ranges) in l.places.into_iter().filter(|p| !p.1.is_empty()) {
            let placed = ranges.into_iter().map(|r| (r, take(r.2))).collect();
            self.places.insert(place, placed);
        }
        for (call, executed) in l.executes {
            for (&position, &secondary) in &executed {
                self.recording(secondary, learnt);
                if let Some(&bytes) = self.recordings.get(&secondary) {
                    let drain = Drain { recording: secondary, to: take(bytes), bytes };
                    self.drains.entry(call).or_default().insert(position, drain);
                }
            }
        }
        if bytes > 0 {
            self.recordings.insert(recording, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_secondaries_copy_lies_behind_what_executes_them_copies() {
        let of = |place, ranges: &[Range]| Learnt {
            places: BTreeMap::from([(place, ranges.iter().copied().collect())]),
            ..Learnt::default()
        };
        let mut primary = of(11, &[(1, 0, 20), (1, 32, 4)]);
        // The secondary was begun later; the second call executes it twice.
        primary.executes.insert(12, BTreeMap::from([(0, 20)]));
        primary.executes.insert(13, BTreeMap::from([(0, 20), (1, 20)]));
        let learnt = HashMap::from([(10, primary), (20, of(21, &[(2, 0, 100)])), (30, of(31, &[]))]);
        let plan = made(learnt, 0);
        assert_eq!(plan.recordings, HashMap::from([(10, 48 + 112 * 3), (20, 112)]));
        assert_eq!(plan.places[&11], BTreeMap::from([((1, 0, 20), 0), ((1, 32, 4), 32)]));
        assert_eq!(plan.places[&21], BTreeMap::from([((2, 0, 100), 0)]));
        assert!(!plan.places.contains_key(&31));
        let drain = |to| Drain { recording: 20, to, bytes: 112 };
        assert_eq!(plan.drains[&12], BTreeMap::from([(0, drain(48))]));
        assert_eq!(plan.drains[&13], BTreeMap::from([(0, drain(160)), (1, drain(272))]));
    }

    #[test]
    fn buffers_that_are_others_by_now_are_not_copied() {
        let mut learner = PlanHook::new(Box::new(|_| true), false).0.learner;
        let spot = Spot { block: 50, recording: 40, base: None, time: 0, pass: false };
        learner.made = HashMap::from([(1, 10), (2, 20), (3, 60)]);
        (1..=4).for_each(|b| learner.learn(&spot, (b, 0, 8), false));
        let ranges = |l: &Learner| l.learnt[&40].places[&50].iter().map(|r| r.0).collect::<Vec<_>>();
        assert_eq!(ranges(&learner), [1, 2], "the third came too late, the fourth never");
        learner.made.insert(2, 70);
        learner.still(40);
        learner.learn(&spot, (2, 0, 8), false);
        assert_eq!(ranges(&learner), [1]);
        learner.learn(&spot, (1, 0, STORAGE_IN_ALL + 1), true);
        assert_eq!((ranges(&learner).len(), learner.beyond), (1, 1));
    }
}
