//! What semaphores are once the device has done all that was submitted: no driver can be asked for it of binary ones, and of
//! timelines only for what they have reached.
//!
//! Followed where calls are kept ([`crate::Follow::keep_calls`]), as these are made again where semaphores have to be as they
//! were, and where something is done about some of them ([`crate::Follow::follow_semaphores`]). Guarantees: needs no submission to be executed. Refuses nothing.

use super::execute::{batches, host_signal, older};
use super::objects::Sync;
use super::read::destroyed;
use super::{Ids, SemaphoreUse};
use gfxr_parse::ahead::Call;
use gfxr_parse::meta::SwapchainImages;
use gfxr_parse::view::View;
use std::collections::{BTreeMap, BTreeSet};

/// See the module's header.
#[derive(Clone, Debug, Default)]
pub struct Semaphores {
    /// Binary ones that are signalled.
    pub signalled: BTreeSet<u64>,
    /// Timelines: the greatest value that something signals, and the greatest that something waits for.
    pub promised: BTreeMap<u64, (u64, u64)>,
}

impl Semaphores {
    /// Timelines that something submitted waits for and nothing submitted signals: one, and the value that is waited for.
    pub fn stuck(&self) -> Option<(u64, u64)> {
        self.promised.iter().find(|(_, (signals, waits))| waits > signals).map(|(id, p)| (*id, p.1))
    }

    /// A call that ran; its objects are known, those that it destroys too.
    pub(super) fn call(&mut self, syncs: &Ids<Sync>, call: &Call) {
        let v = View::call(&call.image);
        let binary = |semaphore: u64| SemaphoreUse { semaphore, ..SemaphoreUse::default() };
        match call.command.canonical {
            "vkQueueSubmit" | "vkQueueSubmit2" => {
                batches(call).iter().for_each(|(waits, _, signals)| self.batch(syncs, waits, signals));
            }
            "vkQueueBindSparse" => v.structs("pBindInfo").for_each(|info| {
                let (waits, _, signals) = older(info);
                self.batch(syncs, &waits, &signals);
            }),
            "vkQueuePresentKHR" => {
                let waits = v.one("pPresentInfo").map_or(vec![], |p| p.u64s("pWaitSemaphores"));
                self.batch(syncs, &waits.into_iter().map(binary).collect::<Vec<_>>(), &[]);
            }
            "vkAcquireNextImageKHR" | "vkAcquireNextImage2KHR" if acquired(call) => {
                let v = v.one("pAcquireInfo").unwrap_or(v);
                self.batch(syncs, &[], &[binary(v.u64("semaphore").unwrap_or(0))]);
            }
            "vkSignalSemaphore" | "vkLatencySleepNV" => {
                if let Some((semaphore, value)) = host_signal(call) {
                    self.batch(syncs, &[], &[SemaphoreUse { value, ..binary(semaphore) }]);
                }
            }
            "vkDestroySemaphore" => {
                let gone = destroyed(call);
                self.signalled.remove(&gone);
                self.promised.remove(&gone);
            }
            _ => {}
        }
    }

    /// A snapshot's images that are acquired: their semaphores are signalled.
    pub(super) fn loaded(&mut self, images: &SwapchainImages) {
        let acquired = images.images.iter().filter(|i| i.acquired != 0).map(|i| i.acquire_semaphore);
        self.signalled.extend(acquired.filter(|s| *s != 0));
    }

    fn batch(&mut self, syncs: &Ids<Sync>, waits: &[SemaphoreUse], signals: &[SemaphoreUse]) {
        let all = waits.iter().map(|u| (u, false)).chain(signals.iter().map(|u| (u, true)));
        for (u, signals) in all.filter(|(u, _)| u.semaphore != 0) {
            match syncs.get(&u.semaphore) {
                Some(Sync::Timeline(initial)) => {
                    let promised = self.promised.entry(u.semaphore).or_insert((*initial, 0));
                    let value = if signals { &mut promised.0 } else { &mut promised.1 };
                    *value = u.value.max(*value);
                }
                _ if signals => drop(self.signalled.insert(u.semaphore)),
                _ => drop(self.signalled.remove(&u.semaphore)),
            }
        }
    }
}

/// Success, or suboptimal.
fn acquired(call: &Call) -> bool {
    const SUBOPTIMAL: i32 = 1_000_001_003;
    matches!(call.image.ret(), Some(0 | SUBOPTIMAL))
}
