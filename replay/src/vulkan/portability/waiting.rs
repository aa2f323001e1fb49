//! Submissions that wait for a timeline semaphore's value which nothing has signalled yet: held back until something does.

use gfxr_parse::ahead::Call;
use std::collections::HashMap;
use world::objects::Sync;
use world::{SemaphoreUse, World};

/// See the module's header.
#[derive(Default)]
pub struct Held {
    pub(super) waiting: Vec<Waiting>,
    /// Values that are signalled by what has been submitted, or by the host.
    pub(super) reached: HashMap<u64, u64>,
}

/// Batches of a call, from one on.
pub(super) struct Waiting {
    pub(super) call: Call,
    pub(super) from: usize,
}

impl Held {
    /// How many calls wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The first batch from `from` on that has to wait; what those before it signal counts.
    pub(super) fn ready(&mut self, world: &World, call: &Call, from: usize) -> (usize, usize) {
        let batches = world::batches(call);
        let timeline = |u: &&SemaphoreUse| world.syncs.get(&u.semaphore).is_some_and(Sync::is_timeline);
        for (i, (waits, _, signals)) in batches.iter().enumerate().skip(from) {
            let is_there = |w: &SemaphoreUse| {
                let reached = self.reached.get(&w.semaphore).or_else(|| world.reached.get(&w.semaphore));
                reached.is_some_and(|r| *r >= w.value)
            };
            if !waits.iter().filter(timeline).all(is_there) {
                return (i, batches.len());
            }
            signals.iter().filter(timeline).for_each(|s| self.signal(s.semaphore, s.value));
        }
        (batches.len(), batches.len())
    }

    pub(super) fn signal(&mut self, semaphore: u64, value: u64) {
        let reached = self.reached.entry(semaphore).or_default();
        *reached = value.max(*reached);
    }
}
