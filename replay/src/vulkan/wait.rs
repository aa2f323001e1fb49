//! Waiting: the capture's outcome decides what the replay waits for.
//!
//! What had finished then must have finished now before the next call, and what had not must not hold the replay up.
//! Every wait is bounded by the watchdog: a GPU that never finishes ends the replay with a message instead of a hang.

use super::Vulkan;
use crate::error::{Error, Result, Vk};
use crate::link::Linked;
use crate::report::Report;
use crate::vulkan::linked_call::LinkedCall;
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use gfxr_parse::{argument, param};
use std::time::{Duration, Instant};
use world::Outcome;

const SUCCESS: i32 = 0;
const TIMEOUT: i32 = 2;

/// Our own timeout in place of the application's, then a divergence if it passes.
fn bounded(
    vk: &mut Vulkan,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
    slot: usize,
) -> Result<Outcome> {
    let watchdog = vk.options.watchdog_ns();
    match call.image.ret() {
        Some(SUCCESS) => linked.set_arg(slot, watchdog),
        Some(TIMEOUT) => linked.set_arg(slot, 0),
        // It failed at capture: waiting for it means nothing.
        _ => return Ok(Outcome::captured(call)),
    }
    let outcome = vk.raw(call, linked, report)?;
    if outcome.result() == TIMEOUT && call.image.ret() == Some(SUCCESS) {
        return Err(Error::hang("the GPU did not finish, as it did at capture,", watchdog));
    }
    Ok(outcome)
}

/// vkWaitForFences.
pub fn wait_for_fences(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    bounded(vk, call, linked, report, argument!("vkWaitForFences", "timeout"))
}

/// vkWaitSemaphores.
pub fn wait_semaphores(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    bounded(vk, call, linked, report, argument!("vkWaitSemaphores", "timeout"))
}

/// vkGetFenceStatus: signalled then means wait now; not signalled then means do not look.
pub fn fence_status(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, .. } = c;
    if call.image.ret() != Some(SUCCESS) {
        return Ok(Outcome::captured(call));
    }
    let fence = vk::Fence::from_raw(linked.arg(argument!("vkGetFenceStatus", "fence")));
    let watchdog = vk.options.watchdog_ns();
    let d = vk.device(call.image.u64(0))?;
    // SAFETY: a live fence of this device.
    match unsafe { d.ash.wait_for_fences(&[fence], true, watchdog) } {
        Err(vk::Result::TIMEOUT) => {
            Err(Error::hang("the fence was not signalled, as it was at capture,", watchdog))
        }
        r => r.what("vkWaitForFences").map(|()| Outcome::captured(call)),
    }
}

/// vkGetSemaphoreCounterValue: at least the captured value must have been reached.
pub fn semaphore_counter(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, .. } = c;
    let value = call.image.target(param!("vkGetSemaphoreCounterValue", "pValue"));
    let Some(value) = value.map(|to| call.image.u64(to)) else {
        return Ok(Outcome::captured(call));
    };
    if call.image.ret() != Some(SUCCESS) {
        return Ok(Outcome::captured(call));
    }
    let semaphore = linked.arg(argument!("vkGetSemaphoreCounterValue", "semaphore"));
    let semaphores = [vk::Semaphore::from_raw(semaphore)];
    let values = [value];
    let watchdog = vk.options.watchdog_ns();
    let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
    let d = vk.device(call.image.u64(0))?;
    let instance =
        vk.instances.get(&d.instance_id).ok_or_else(|| Error::divergence("the instance is gone"))?;
    // The core name where the device has version 1.2, else the extension's.
    let r = if call.command.name.ends_with("KHR") {
        // SAFETY: a live timeline semaphore of this device.
        unsafe {
            ash::khr::timeline_semaphore::Device::new(&instance.ash, &d.ash).wait_semaphores(&info, watchdog)
        }
    } else {
        // SAFETY: as above.
        unsafe { d.ash.wait_semaphores(&info, watchdog) }
    };
    match r {
        Err(vk::Result::TIMEOUT) => {
            Err(Error::hang(&format!("the semaphore did not reach {value}, as it had at capture,"), watchdog))
        }
        r => r.what("vkWaitSemaphores").map(|()| Outcome::captured(call)),
    }
}

/// vkGetEventStatus: set then means set now, within reason; an event nobody will set is no reason to hang.
pub fn event_status(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    const EVENT_SET: i32 = 3;
    if call.image.ret() != Some(EVENT_SET) {
        return Ok(Outcome::captured(call));
    }
    let until = Instant::now() + Duration::from_secs(1);
    loop {
        let outcome = vk.raw(call, linked, report)?;
        if outcome.result() == EVENT_SET {
            return Ok(outcome);
        }
        if Instant::now() > until {
            report.note("events that were set at capture were not set after a second");
            return Ok(outcome);
        }
        std::thread::sleep(Duration::from_micros(50));
    }
}

/// vkGetQueryPoolResults: available then means wait now, bounded; the values themselves are this run's.
pub fn query_results(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    if call.image.ret() != Some(SUCCESS) {
        return Ok(Outcome::captured(call));
    }
    // Without the WAIT flag, so that the wait stays ours.
    const FLAGS: usize = argument!("vkGetQueryPoolResults", "flags");
    let flags = linked.arg(FLAGS) as u32;
    linked.set_arg(FLAGS, u64::from(flags & !vk::QueryResultFlags::WAIT.as_raw()));
    let until = Instant::now() + Duration::from_secs(5);
    loop {
        let outcome = vk.raw(call, linked, report)?;
        if outcome.result() != vk::Result::NOT_READY.as_raw() {
            return Ok(outcome);
        }
        if Instant::now() > until {
            report.note("query results that were ready at capture were not after five seconds");
            return Ok(Outcome::captured(call));
        }
        std::thread::sleep(Duration::from_micros(50));
    }
}
