//! Surfaces exist only here: swapchains are virtual, so no window is ever opened.

use super::Vulkan;
use crate::error::Result;
use crate::objects::Objects;
use crate::report::Report;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::{CommandDef, Shape, Ty, generated::HANDLES};
use world::Outcome;

/// A command whose output is a VkSurfaceKHR, of whatever window system.
pub fn creates_surface(c: &CommandDef) -> bool {
    c.params.last().is_some_and(|p| {
        p.out
            && p.shape == Shape::Ptr
            && matches!(p.ty, Ty::Handle(h) if HANDLES[h as usize].name == "VkSurfaceKHR")
    })
}

/// vkCreate…SurfaceKHR: the id names something virtual.
pub fn create(
    vk: &mut Vulkan,
    objects: &mut Objects,
    call: &Call,
    _: &mut Report,
) -> Result<Option<Outcome>> {
    for h in call.image.handles.iter().filter(|h| h.out && h.ty == vk.types.surface) {
        objects.insert_virtual(call.image.u64(h.at), h.ty);
    }
    Ok(Some(Outcome::captured(call)))
}
