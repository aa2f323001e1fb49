//! Objects that changes make beside the application's, each for one of these.
//!
//! Made by the same call, edited, which runs first; then runs the application's own. Guarantees: they are in the table of objects only
//! while a call runs that is to use them; each goes with the one that it is for, and the rest with the device or the replay.
#![allow(unsafe_code)]

use gfxr_parse::ahead::Call;
use replay::ash::{self, vk};
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::Next;
use std::collections::HashMap;
use world::Outcome;

/// What destroys one.
type Destroy<T> = unsafe fn(&ash::Device, T, Option<&vk::AllocationCallbacks<'_>>);

/// See the module's header.
pub struct Beside<T> {
    destroy: Destroy<T>,
    /// By captured id: the device, and ours.
    made: HashMap<u64, (u64, T)>,
    /// Of ids that name others now.
    left: Vec<(u64, T)>,
}

impl<T: vk::Handle + Copy> Beside<T> {
    /// None yet.
    pub fn new(destroy: Destroy<T>) -> Self {
        Beside { destroy, made: HashMap::new(), left: vec![] }
    }

    /// Ours for an object of the application's.
    pub fn get(&self, id: u64) -> Option<T> {
        self.made.get(&id).map(|m| m.1)
    }

    /// Makes the objects of a call of the application's otherwise: whether the driver did. `edited`: the call as it is to be; `ids`: those that it makes; `uses`: objects in whose
    /// place it is to use ours.
    pub fn make(
        &mut self,
        cx: &mut Executor,
        (edited, ids): (&mut Call, &[u64]),
        uses: &[u64],
        next: Next,
    ) -> Result<bool> {
        let device = edited.image.u64(0);
        let made = match self.within(cx, uses, |cx| next.run(cx, edited)) {
            Err(e) if e.is_gone() => return Err(e),
            made => made.is_ok_and(|outcome| outcome.called && outcome.result() == 0),
        };
        for id in ids.iter().filter(|_| made) {
            let live = cx.objects.live(*id);
            cx.objects.remove(*id);
            if live != 0
                && let Some(old) = self.made.insert(*id, (device, T::from_raw(live)))
            {
                self.left.push(old);
            }
        }
        Ok(made)
    }

    /// An id names another object now, for which there is none of ours.
    pub fn forget(&mut self, id: u64) {
        self.left.extend(self.made.remove(&id));
    }

    /// Runs something while the application's ids name ours, as far as there are such.
    pub fn within<R>(&self, cx: &mut Executor, ids: &[u64], run: impl FnOnce(&mut Executor) -> R) -> R {
        let ours = ids.iter().filter_map(|id| Some((*id, self.get(*id)?.as_raw())));
        let swapped: Vec<(u64, u64)> = ours.map(|(id, other)| (id, cx.objects.swap(id, other))).collect();
        let done = run(cx);
        // (the last first: an id may be there twice)
        for (id, live) in swapped.into_iter().rev() {
            cx.objects.swap(id, live);
        }
        done
    }

    /// The application destroys an object: runs its call, and ours goes, too.
    pub fn destroyed(&mut self, cx: &mut Executor, call: &mut Call, id: u64, next: Next) -> Result<Outcome> {
        let outcome = next.run(cx, call)?;
        let gone = self.made.remove(&id);
        self.destroy_all(cx, gone);
        Ok(outcome)
    }

    /// All of a device, or all there are, are not used any more.
    pub fn give_back(&mut self, cx: &mut Executor, device: Option<u64>) -> Result<()> {
        let is = |of: u64| device.is_none_or(|d| d == of);
        let mut gone: Vec<(u64, T)> = self.left.extract_if(.., |l| is(l.0)).collect();
        gone.extend(self.made.extract_if(|_, m| is(m.0)).map(|m| m.1));
        if let Some(vk) = cx.backend.vulkan() {
            for (device, _) in &gone {
                if let Ok(d) = vk.device(*device) {
                    d.wait_idle()?;
                }
            }
        }
        self.destroy_all(cx, gone);
        Ok(())
    }

    fn destroy_all(&self, cx: &mut Executor, gone: impl IntoIterator<Item = (u64, T)>) {
        let Some(vk) = cx.backend.vulkan() else { return };
        for (device, object) in gone {
            if let Ok(d) = vk.device(device) {
                // SAFETY: ours alone, of this device; what used it has ended, as what used the application's has to.
                unsafe { (self.destroy)(&d.ash, object, None) };
            }
        }
    }
}
