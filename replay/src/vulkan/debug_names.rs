//! Names and tags that applications give objects: the id becomes the live handle; names of virtual objects are dropped.

use super::Vulkan;
use crate::error::Result;
use crate::exec::{Call, Outcome};
use crate::link::Linked;
use crate::objects::Objects;
use crate::report::Report;
use gfxr_parse::schema::{Ty, generated::STRUCTS};

/// vkSetDebugUtilsObjectNameEXT and its kin; their results never matter.
pub fn set(
    vk: &mut Vulkan,
    objects: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let info = &call.command.params[1];
    let (Ty::Struct(id), Some(to)) = (info.ty, call.image.target(info.at)) else {
        return Ok(Outcome::captured(call));
    };
    let member = STRUCTS[id as usize].members.iter().find(|m| matches!(m.ty, Ty::ObjectHandle(_)));
    let Some(at) = member.map(|m| to + m.at) else { return Ok(Outcome::captured(call)) };
    match objects.any(call.image.u64(at)) {
        Some(e) if !e.virt => {
            linked.set_word_at(at, e.live);
            let done = vk.raw(call, linked, report)?;
            Ok(Outcome { called: false, ..done })
        }
        _ => Ok(Outcome::captured(call)),
    }
}
