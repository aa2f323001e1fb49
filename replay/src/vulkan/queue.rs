//! Submissions.

use super::Vulkan;
use crate::error::{Error, Kind, Result};
use crate::exec::{Call, Outcome};
use crate::link::Linked;
use crate::objects::Objects;
use crate::options::MemoryMode;
use crate::report::Report;
use ash::vk::Handle;

/// vkQueueSubmit, vkQueueSubmit2.
pub fn submit(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    super::swapchain::settle(vk)?;
    super::known::before_submit(vk, call)?;
    if vk.ray.on {
        super::ray::refresh(vk)?;
    }
    if let Some(q) = vk.queues.get(&call.image.u64(0)) {
        super::watchdog::before_waiting(vk, q.device)?;
    }
    let outcome = vk.raw(call, linked, report);
    // One that the driver does not return from is under way, too, whatever its fence says.
    let fence = match &outcome {
        Ok(o) if o.result() >= 0 => Some(linked.arg(3)),
        Err(e) if e.is_gone() => Some(0),
        _ => None,
    };
    if let Some(fence) = fence
        && let Some(q) = vk.queues.get(&call.image.u64(0))
    {
        vk.watch.submitted(call, q.device, ash::vk::Fence::from_raw(fence));
    }
    outcome
}

/// vkQueueBindSparse: passes through where memory does.
pub fn bind_sparse(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    if vk.memory.mode == MemoryMode::Rebind {
        return Err(Error::new(Kind::Unsupported, "sparse binding; --memory rebind cannot"));
    }
    super::swapchain::settle(vk)?;
    vk.raw(call, linked, report)
}
