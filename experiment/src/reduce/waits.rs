//! What submissions are waited for with: behind that a program records, writes and destroys again what they use.
//!
//! A GPU that still runs what is recorded, written or destroyed may never end. So a submission that stays keeps the first call that waits for it, and the last
//! that resets its fence. Guarantees: nothing is put back that names what is gone, or that waits for a submission that is gone. Refuses nothing. Not known:
//! waits for one of several fences or semaphores, for presentation, for events, and for results of queries.

use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// A submission that nothing waited for yet.
#[derive(Debug)]
struct Pending {
    block: u32,
    fence: u64,
    /// Semaphores, and the values that it gives them.
    signals: Vec<(u64, u64)>,
}

/// What a call waits for.
#[derive(Clone, Copy)]
enum For {
    Fence(u64),
    /// Its value is at least this one.
    Semaphore(u64, u64),
}

impl For {
    fn is_signalled_by(self, p: &Pending) -> bool {
        match self {
            For::Fence(fence) => p.fence == fence,
            For::Semaphore(semaphore, value) => p.signals.iter().any(|s| s.0 == semaphore && s.1 <= value),
        }
    }
}

/// What a submission keeps as long as it stays, and what that needs.
#[derive(Debug)]
struct Keeps {
    submission: u32,
    block: u32,
    needs: Rc<[u32]>,
}

/// See the module's header.
#[derive(Debug, Default)]
pub struct Waits {
    /// By queue, in order: what is behind a submission ends no earlier than it.
    pending: BTreeMap<u64, Vec<Pending>>,
    /// By fence: what reset it last, and what that needs.
    resets: HashMap<u64, (u32, Rc<[u32]>)>,
    all: Vec<Keeps>,
}

impl Waits {
    /// A call, in the order of the capture, and the blocks that made what it names; submissions without which it would wait in vain.
    pub fn call(&mut self, call: &Call, needs: impl Iterator<Item = u32>, at: u32) -> Vec<u32> {
        const SUCCESS: i32 = 0;
        const ANY: u32 = 1;
        let (name, v) = (call.command.canonical, View::call(&call.image));
        let number = |v: View<'_>, name: &str| v.u64(name).unwrap_or(0);
        if name.starts_with("vkQueueSubmit") || name == "vkQueueBindSparse" {
            let fence = number(v, "fence");
            if let Some((reset, needs)) = self.resets.get(&fence) {
                self.all.push(Keeps { submission: at, block: *reset, needs: needs.clone() });
            }
            let pending = Pending { block: at, fence, signals: signals(v) };
            self.pending.entry(number(v, "queue")).or_default().push(pending);
            return vec![];
        }
        if name == "vkResetFences" {
            let needs: Rc<[u32]> = needs.collect();
            self.resets.extend(v.u64s("pFences").into_iter().map(|f| (f, (at, needs.clone()))));
            return vec![];
        }
        if call.image.ret() != Some(SUCCESS) {
            return vec![];
        }
        let one = |id: &str| number(v, id);
        let of = match name {
            "vkWaitForFences" => {
                let fences = v.u64s("pFences");
                let all = fences.len() == 1 || v.u32("waitAll") != Some(0);
                fences.into_iter().filter(|_| all).map(For::Fence).collect()
            }
            "vkGetFenceStatus" => vec![For::Fence(one("fence"))],
            "vkWaitSemaphores" => {
                let Some(info) = v.one("pWaitInfo") else { return vec![] };
                let semaphores = info.u64s("pSemaphores");
                let all = semaphores.len() == 1 || info.u32("flags").unwrap_or(0) & ANY == 0;
                let with = semaphores.into_iter().zip(info.u64s("pValues")).filter(|_| all);
                with.map(|(semaphore, value)| For::Semaphore(semaphore, value)).collect()
            }
            "vkGetSemaphoreCounterValue" => {
                let value = v.u64s("pValue").first().copied().unwrap_or(0);
                vec![For::Semaphore(one("semaphore"), value)]
            }
            "vkQueueWaitIdle" | "vkDeviceWaitIdle" => {
                let (needs, queue) = (needs.collect(), number(v, "queue"));
                for (of, pending) in &mut self.pending {
                    if name == "vkDeviceWaitIdle" || *of == queue {
                        keep(&mut self.all, pending.drain(..), at, &needs);
                    }
                }
                // (without any submission it ends at once)
                return vec![];
            }
            _ => return vec![],
        };
        self.waited(at, needs, &of)
    }

    /// A call has waited for these, and so for all that their queues were given before: the submissions that ended its wait.
    fn waited(&mut self, at: u32, needs: impl Iterator<Item = u32>, of: &[For]) -> Vec<u32> {
        let last = |f: For, pending: &[Pending]| pending.iter().rposition(|p| f.is_signalled_by(p));
        let queues = || self.pending.values();
        let ends = |f: For| queues().filter_map(move |pending| last(f, pending).map(|n| pending[n].block));
        let ended: Vec<u32> = of.iter().flat_map(|f| ends(*f)).collect();
        let needs = needs.chain(ended.iter().copied()).collect();
        for pending in self.pending.values_mut() {
            if let Some(last) = of.iter().filter_map(|f| last(*f, pending)).max() {
                keep(&mut self.all, pending.drain(..=last), at, &needs);
            }
        }
        ended
    }

    /// Puts back what submissions that stay keep, but for what was gone before.
    pub fn keep(&self, before: &[bool], gone: &mut [bool]) {
        for k in &self.all {
            let stays = |block: &u32| !gone[*block as usize];
            if stays(&k.submission) && !before[k.block as usize] && k.needs.iter().all(stays) {
                gone[k.block as usize] = false;
            }
        }
    }
}

fn keep(all: &mut Vec<Keeps>, of: impl Iterator<Item = Pending>, block: u32, needs: &Rc<[u32]>) {
    all.extend(of.map(|p| Keeps { submission: p.block, block, needs: needs.clone() }));
}

/// The semaphores that a submission signals, and the values that they get.
fn signals(v: View<'_>) -> Vec<(u64, u64)> {
    let mut all = vec![];
    for submit in v.structs("pSubmits") {
        let values = submit.next("VkTimelineSemaphoreSubmitInfo");
        let values = values.map_or(vec![], |t| t.u64s("pSignalSemaphoreValues"));
        all.extend(submit.u64s("pSignalSemaphores").into_iter().zip(values));
        let infos = submit.structs("pSignalSemaphoreInfos");
        all.extend(infos.filter_map(|i| Some((i.u64("semaphore")?, i.u64("value")?))));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, params: impl FnOnce(&mut gfxr_parse::writer::ParamWriter)) -> Call {
        Call::written(name, params).expect("a call")
    }

    fn submit(fence: u64) -> Call {
        call("vkQueueSubmit", |w| {
            w.u64(2).u32(0).null_structs().u64(fence).u32(0);
        })
    }

    fn wait(fences: &[u64], result: u32) -> Call {
        call("vkWaitForFences", |w| {
            w.u64(1).u32(fences.len() as u32).u64_array(fences).u32(1).u64(u64::MAX).u32(result);
        })
    }

    fn reset(fence: u64) -> Call {
        call("vkResetFences", |w| {
            w.u64(1).u32(1).u64_array(&[fence]).u32(0);
        })
    }

    /// These calls, numbered from 1, on what block 0 made.
    fn of(calls: &[Call]) -> (Waits, Vec<Vec<u32>>) {
        let mut waits = Waits::default();
        let vain = (1..).zip(calls).map(|(at, call)| waits.call(call, [0].into_iter(), at));
        let vain = vain.collect();
        (waits, vain)
    }

    /// What stays of `n` blocks.
    fn kept(waits: &Waits, n: u32, before: &[u32], gone: &[u32]) -> Vec<u32> {
        let bits = |of: &[u32]| (0..n).map(|n| of.contains(&n)).collect::<Vec<bool>>();
        let mut gone = bits(gone);
        waits.keep(&bits(before), &mut gone);
        (0..n).filter(|n| !gone[*n as usize]).collect()
    }

    #[test]
    fn a_submission_that_stays_keeps_its_first_wait() {
        const TIMEOUT: u32 = 2;
        let (a, b) = (submit(7), submit(8));
        let (waits, vain) = of(&[a, b, wait(&[7], TIMEOUT), wait(&[7], 0), wait(&[7], 0), wait(&[8], 0)]);
        assert_eq!(vain, [vec![], vec![], vec![], vec![1], vec![], vec![2]]);
        let kept = |before: &[u32], gone: &[u32]| kept(&waits, 7, before, gone);
        assert_eq!(kept(&[], &[3, 4, 5, 6]), [0, 1, 2, 4, 6]);
        assert_eq!(kept(&[], &[2, 3, 4, 5, 6]), [0, 1, 4]);
        assert_eq!(kept(&[4], &[3, 4, 5]), [0, 1, 2, 6], "what went before stays gone");
        assert_eq!(kept(&[], &[0, 4]), [1, 2, 3, 5, 6], "its device is gone");
    }

    #[test]
    fn a_wait_for_a_submission_that_is_gone_is_not_put_back() {
        let (waits, vain) = of(&[submit(7), submit(8), wait(&[7, 8], 0)]);
        assert_eq!(vain[2], [1, 2]);
        assert_eq!(kept(&waits, 4, &[], &[2, 3]), [0, 1]);
        assert_eq!(kept(&waits, 4, &[], &[3]), [0, 1, 2, 3]);
    }

    #[test]
    fn a_fence_covers_what_its_queue_was_given_before_and_is_reset() {
        let (waits, vain) = of(&[submit(0), reset(7), submit(7), wait(&[7], 0)]);
        assert_eq!(vain[3], [3]);
        assert_eq!(kept(&waits, 5, &[], &[2, 4]), [0, 1, 2, 3, 4]);
        assert_eq!(kept(&waits, 5, &[], &[2, 3, 4]), [0, 1], "what would end its wait is gone");
    }

    #[test]
    fn a_semaphore_has_a_value() {
        const SUBMIT: u32 = 1_000_314_004;
        const SIGNAL: u32 = 1_000_314_005;
        const WAIT: u32 = 1_000_207_004;
        let submit = |value| {
            call("vkQueueSubmit2", |w| {
                w.u64(2).u32(1).structures(1, |w, _| {
                    w.u32(SUBMIT).null_struct().u32(0).u32(0).null_structs().u32(0).null_structs().u32(1);
                    w.structures(1, |w, _| {
                        w.u32(SIGNAL).null_struct().u64(9).u64(value).u64(0).u32(0);
                    });
                });
                w.u64(0).u32(0);
            })
        };
        let wait = |value| {
            call("vkWaitSemaphores", |w| {
                w.u64(1).structure(|w| {
                    w.u32(WAIT).null_struct().u32(0).u32(1).u64_array(&[9]).u64_array(&[value]);
                });
                w.u64(u64::MAX).u32(0);
            })
        };
        let (waits, vain) = of(&[submit(1), submit(2), submit(3), wait(1), wait(3)]);
        assert_eq!((&vain[3], &vain[4]), (&vec![1], &vec![3]));
        assert_eq!(kept(&waits, 6, &[], &[2, 4, 5]), [0, 1, 3, 4, 5]);
    }
}
