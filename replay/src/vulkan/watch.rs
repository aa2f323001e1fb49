//! Submissions that are not known to have finished.
//!
//! A submission counts as finished once a fence says so that it or a later one of its queue signals, or once the queue was
//! idle. Guarantees: those that are left are in the order of their submission; more than [`MOST`] are not remembered.

use crate::report::InFlight;
use ash::vk;
use gfxr_parse::ahead::Call;
use std::collections::VecDeque;

/// Submissions remembered at most. More than that are under way only where nothing ever waits.
pub(super) const MOST: usize = 256;

/// From so many submissions on that are not known to have finished, the next one may have to wait for room in the driver's
/// queue. How much room there is nobody says; being wrong costs microseconds a submission.
pub(super) const LONG: usize = 32;

pub(super) struct Submitted {
    pub(super) number: u64,
    pub(super) block: u64,
    pub(super) frame: u64,
    pub(super) queue: u64,
    pub(super) device: u64,
    pub(super) fence: vk::Fence,
}

/// Submissions under way.
#[derive(Default)]
pub struct Watch {
    pub(super) next: u64,
    pub(super) pending: VecDeque<Submitted>,
}

impl Watch {
    /// One more submission has been made.
    pub fn submitted(&mut self, call: &Call, device: u64, fence: vk::Fence) {
        if self.pending.len() == MOST {
            self.pending.pop_front();
        }
        self.pending.push_back(Submitted {
            number: self.next,
            block: call.block,
            frame: call.frame,
            queue: call.image.u64(0),
            device,
            fence,
        });
        self.next += 1;
    }

    /// So much is not known to have finished that the driver may have no room for more, and wait.
    pub fn is_long(&self) -> bool {
        self.pending.len() >= LONG
    }

    /// The application may reset or destroy this fence: what it belonged to is done.
    pub fn finished(&mut self, fence: vk::Fence) {
        if fence != vk::Fence::null()
            && let Some(i) = self.pending.iter().rposition(|s| s.fence == fence)
        {
            self.done_until(i);
        }
    }

    /// Submission `i` and those before it on its queue are done.
    fn done_until(&mut self, i: usize) {
        let (queue, number) = (self.pending[i].queue, self.pending[i].number);
        self.pending.retain(|s| s.queue != queue || s.number > number);
    }

    /// A queue of a device, or all of them, has nothing to do any more.
    pub fn idle(&mut self, device: u64, queue: Option<u64>) {
        self.pending.retain(|s| s.device != device || queue.is_some_and(|q| q != s.queue));
    }

    /// What is not known to have finished.
    pub(super) fn in_flight(&mut self, mut signalled: impl FnMut(u64, vk::Fence) -> bool) -> Vec<InFlight> {
        while let Some(i) =
            self.pending.iter().rposition(|s| s.fence != vk::Fence::null() && signalled(s.device, s.fence))
        {
            self.done_until(i);
        }
        let one = |s: &Submitted| InFlight {
            submit: s.number,
            block: s.block,
            frame: s.frame,
            queue: s.queue,
            ..Default::default()
        };
        self.pending.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ash::vk::Handle;

    fn watch(fences: &[(u64, u64)]) -> Watch {
        let one = |(i, (queue, fence)): (usize, &(u64, u64))| Submitted {
            number: i as u64,
            block: 100 + i as u64,
            frame: 1,
            queue: *queue,
            device: 1,
            fence: vk::Fence::from_raw(*fence),
        };
        Watch { next: fences.len() as u64, pending: fences.iter().enumerate().map(one).collect() }
    }

    fn left(w: &mut Watch, signalled: &[u64]) -> Vec<u64> {
        w.in_flight(|_, f| signalled.contains(&f.as_raw())).iter().map(|i| i.submit).collect()
    }

    #[test]
    fn a_fence_finishes_what_came_before_it_on_its_queue_only() {
        let all = [(7, 0), (7, 21), (8, 0), (7, 22), (7, 0)];
        assert_eq!(left(&mut watch(&all), &[]), [0, 1, 2, 3, 4]);
        assert_eq!(left(&mut watch(&all), &[21]), [2, 3, 4]);
        assert_eq!(left(&mut watch(&all), &[22]), [2, 4]);
        let mut w = watch(&all);
        w.finished(vk::Fence::from_raw(21));
        w.finished(vk::Fence::null());
        assert_eq!(left(&mut w, &[]), [2, 3, 4]);
        w.idle(1, Some(8));
        assert_eq!(left(&mut w, &[]), [3, 4]);
        w.idle(2, None);
        assert_eq!(left(&mut w, &[]), [3, 4]);
        w.idle(1, None);
        assert!(left(&mut w, &[]).is_empty());
    }
}
