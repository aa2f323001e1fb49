//! Which call of the host waits first for what a submission runs: behind it a program records, writes and destroys again what that uses.
//!
//! A GPU that still runs what is recorded, written or destroyed may never end. So a submission that stays keeps its first wait. Guarantees: no wait is put back
//! that names what is gone. Refuses nothing. Not known: waits for presentation, and results of queries that are waited for.

use gfxr_parse::ahead::Call;

/// Calls that wait, and those that ask whether something has ended.
const WAITS: [&str; 5] =
    ["vkWaitForFences", "vkWaitSemaphores", "vkQueueWaitIdle", "vkDeviceWaitIdle", "vkGetFenceStatus"];

/// A submission, its first wait, and the blocks that this needs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wait {
    submission: u32,
    wait: u32,
    needs: Vec<u32>,
}

/// See the module's header.
#[derive(Debug, Default)]
pub struct Waits {
    /// Submissions that nothing waited for yet, and what they name.
    pending: Vec<(u32, Vec<u64>)>,
    all: Vec<Wait>,
}

impl Waits {
    /// A call, in the order of the capture, and the blocks that made what it names.
    pub fn call(&mut self, call: &Call, needs: impl Iterator<Item = u32>, at: u32) {
        const SUCCESS: i32 = 0;
        let name = call.command.canonical;
        let named = || call.image.handles.iter().map(|h| call.image.u64(h.at));
        if name.starts_with("vkQueueSubmit") || name == "vkQueueBindSparse" {
            self.pending.push((at, named().collect()));
        } else if WAITS.contains(&name) && call.image.ret() == Some(SUCCESS) {
            // (a device is what submissions do not name)
            let (named, whole): (Vec<u64>, bool) = (named().collect(), name == "vkDeviceWaitIdle");
            let of = |p: &(u32, Vec<u64>)| whole || p.1.iter().any(|n| named.contains(n));
            let waited: Vec<u32> = self.pending.iter().filter(|p| of(p)).map(|p| p.0).collect();
            self.pending.retain(|p| !of(p));
            if !waited.is_empty() {
                let needs: Vec<u32> = needs.collect();
                let one = |submission| Wait { submission, wait: at, needs: needs.clone() };
                self.all.extend(waited.into_iter().map(one));
            }
        }
    }

    /// Puts back the waits of submissions that stay, but for those that were gone before.
    pub fn keep(&self, before: &[bool], gone: &mut [bool]) {
        for w in &self.all {
            let stays = |block: &u32| !gone[*block as usize];
            if stays(&w.submission) && !before[w.wait as usize] && w.needs.iter().all(stays) {
                gone[w.wait as usize] = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn submit(fence: u64) -> Call {
        let call = Call::written("vkQueueSubmit", |w| {
            w.u64(2).u32(0).null_structs().u64(fence).u32(0);
        });
        call.expect("a call")
    }

    fn wait(fence: u64, result: u32) -> Call {
        let call = Call::written("vkWaitForFences", |w| {
            w.u64(1).u32(1).u64_array(&[fence]).u32(1).u64(u64::MAX).u32(result);
        });
        call.expect("a call")
    }

    #[test]
    fn a_submission_that_stays_keeps_its_first_wait() {
        const TIMEOUT: u32 = 2;
        let mut waits = Waits::default();
        let calls = [submit(7), submit(8), wait(7, TIMEOUT), wait(7, 0), wait(7, 0), wait(8, 0)];
        for (at, call) in (1..).zip(&calls) {
            waits.call(call, [0].into_iter(), at);
        }
        let kept = |before: &[u32], gone: &[u32]| -> Vec<u32> {
            let bits = |of: &[u32]| (0..7).map(|n| of.contains(&n)).collect::<Vec<bool>>();
            let mut gone = bits(gone);
            waits.keep(&bits(before), &mut gone);
            (0..7).filter(|n| !gone[*n as usize]).collect()
        };
        assert_eq!(kept(&[], &[3, 4, 5, 6]), [0, 1, 2, 4, 6]);
        assert_eq!(kept(&[], &[2, 3, 4, 5, 6]), [0, 1, 4]);
        assert_eq!(kept(&[4], &[3, 4, 5]), [0, 1, 2, 6], "what went before stays gone");
        assert_eq!(kept(&[], &[0, 4]), [1, 2, 3, 5, 6], "its device is gone");
    }
}
