//! Submissions.

use super::Vulkan;
use crate::error::{Error, Kind, Result};
use crate::exec::{Call, Outcome};
use crate::link::Linked;
use crate::objects::Objects;
use crate::options::MemoryMode;
use crate::report::Report;

/// vkQueueSubmit, vkQueueSubmit2.
pub fn submit(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    super::swapchain::settle(vk)?;
    if vk.ray.on {
        super::ray::refresh(vk)?;
    }
    vk.raw(call, linked, report)
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
