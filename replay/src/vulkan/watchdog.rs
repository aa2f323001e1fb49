//! Waiting that ends: every wait of the replay for the device has the watchdog's time, and what had not finished then is
//! known by submission.
//!
//! Guarantees: a device that never finishes ends the replay with [`Kind::Hang`](crate::error::Kind), not with a hang of
//! ours; the submissions that are not known to have finished are named, oldest first. A submission counts as finished
//! once a fence says so that it or a later one of its queue signals, or once the queue was idle; one without a fence may
//! be named although it had. Refuses nothing.

use super::{DeviceState, Vulkan};
use crate::error::{Error, Result, Vk};
use crate::report::InFlight;
use crate::vulkan::linked_call::{LinkedCall, Subscription::Before, Subscriptions};
use ash::vk::{self, Handle};
use gfxr_parse::argument;
use world::Outcome;

/// What says that submissions are done.
pub(super) const SUBSCRIPTIONS: Subscriptions =
    &[(&["vkResetFences"], Before(reset_fences)), (&["vkDestroyFence"], Before(destroy_fence))];

/// Before a submission that waits for semaphores: a software driver runs what was submitted before within that call,
/// where no watchdog reaches. There, that is waited for first.
pub fn before_waiting(vk: &Vulkan, device: u64) -> Result<()> {
    let Some(d) = vk.devices.get(&device).filter(|d| d.runs_on_host()) else { return Ok(()) };
    match vk.watch.pending.iter().rfind(|s| s.device == device) {
        None => Ok(()),
        Some(s) if s.fence != vk::Fence::null() => d.wait(&[s.fence]),
        Some(_) => d.wait_queues(&d.queues),
    }
}

/// What is not known to have finished, oldest first.
pub fn in_flight(vk: &mut Vulkan) -> Vec<InFlight> {
    let devices = &vk.devices;
    // A call that never returned may hold what this waits for: then nobody is asked any more.
    let mut answers = true;
    vk.watch.in_flight(|device, fence| {
        devices.get(&device).filter(|_| answers).is_some_and(|d| {
            // SAFETY: a fence stays alive as long as a submission is remembered with it: destroying it forgets those.
            let status = unsafe { super::driver::signalled(&d.ash, fence) };
            answers = status.is_ok();
            status.unwrap_or(false)
        })
    })
}

impl DeviceState {
    /// Waits until everything submitted is done; not for ever.
    pub fn wait_idle(&self) -> Result<()> {
        let mut queues = self.queues.clone();
        if queues.is_empty() {
            queues.push(self.own_queue().0);
        }
        self.wait_queues(&queues)?;
        // SAFETY: nothing else uses the device.
        super::driver::bounded(self.watchdog_ns, || unsafe { self.ash.device_wait_idle() })?
            .what("vkDeviceWaitIdle")
    }

    /// The driver is software.
    pub fn runs_on_host(&self) -> bool {
        self.gpu.properties.device_type == vk::PhysicalDeviceType::CPU
    }

    /// Waits for queues, by fences.
    fn wait_queues(&self, queues: &[vk::Queue]) -> Result<()> {
        let mut fences = Vec::with_capacity(queues.len());
        let mut submitted = Ok(());
        // SAFETY: plain creations; a fence is destroyed once nothing is to signal it.
        unsafe {
            for q in queues {
                fences.push(self.ash.create_fence(&Default::default(), None).what("vkCreateFence")?);
                submitted = super::driver::submit(&self.ash, *q, &[], fences[fences.len() - 1]);
                if submitted.is_err() {
                    break;
                }
            }
            submitted?;
            self.wait(&fences)?;
            fences.iter().for_each(|f| self.ash.destroy_fence(*f, None));
        }
        Ok(())
    }

    /// Waits for fences.
    pub fn wait(&self, fences: &[vk::Fence]) -> Result<()> {
        // SAFETY: live fences of this device.
        match unsafe { self.ash.wait_for_fences(fences, true, self.watchdog_ns) } {
            Err(vk::Result::TIMEOUT) => Err(Error::hang("the GPU did not finish", self.watchdog_ns)),
            r => r.what("vkWaitForFences"),
        }
    }
}

/// vkDeviceWaitIdle.
pub fn device_wait_idle(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    if call.image.ret().is_some_and(|r| r < 0) {
        return Ok(Outcome::captured(call));
    }
    let id = call.image.u64(0);
    vk.device(id)?.wait_idle()?;
    vk.watch.idle(id, None);
    vk.raw(call, linked, report)
}

/// vkQueueWaitIdle.
pub fn queue_wait_idle(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    if call.image.ret().is_some_and(|r| r < 0) {
        return Ok(Outcome::captured(call));
    }
    let id = call.image.u64(0);
    if let Some(q) = vk.queues.get(&id).copied() {
        vk.device(q.device)?.wait_queues(&[q.live])?;
        vk.watch.idle(q.device, Some(id));
    }
    vk.raw(call, linked, report)
}

/// vkResetFences: fences that are reset are no longer waited for by anybody.
pub fn reset_fences(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, linked, .. } = c;
    const FENCES: usize = argument!("vkResetFences", "pFences");
    const COUNT: usize = argument!("vkResetFences", "fenceCount");
    for fence in linked.params::<vk::Fence>(FENCES, COUNT).unwrap_or_default() {
        vk.watch.finished(*fence);
    }
    Ok(())
}

/// vkDestroyFence.
pub fn destroy_fence(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, linked, .. } = c;
    vk.watch.finished(vk::Fence::from_raw(linked.arg(argument!("vkDestroyFence", "fence"))));
    Ok(())
}
