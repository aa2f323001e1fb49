//! Names and tags that applications give objects: the id becomes the live handle; names of virtual objects, and those of
//! objects of another type than the call says, are dropped.

use crate::error::Result;
use crate::vulkan::linked_call::LinkedCall;
use gfxr_parse::argument;
use gfxr_parse::schema::Ty;
use gfxr_parse::schema::generated::{ENUMS, HANDLES, STRUCTS};
use world::Outcome;

/// vkSetDebugUtilsObjectNameEXT and its kin; their results never matter.
pub fn set(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, linked, report } = c;
    let info = &call.command.params[argument!("vkSetDebugUtilsObjectNameEXT", "pNameInfo")];
    let (Ty::Struct(id), Some(to)) = (info.ty, call.image.target(info.at)) else {
        return Ok(Outcome::captured(call));
    };
    let member = STRUCTS[id as usize].members.iter().find(|m| matches!(m.ty, Ty::ObjectHandle(_)));
    let Some((member, Ty::ObjectHandle(kind))) = member.map(|m| (m, m.ty)) else {
        return Ok(Outcome::captured(call));
    };
    let at = to + member.at;
    // Drivers go by the type that the call names, not by what the handle is. (An older extension numbers types otherwise.)
    let kind = &STRUCTS[id as usize].members[kind as usize];
    let newer = matches!(kind.ty, Ty::Enum(e) if ENUMS[e as usize].name == "VkObjectType");
    let named = call.image.u32(to + kind.at);
    match objects.any(call.image.u64(at)) {
        Some(e) if newer && HANDLES[e.ty as usize].object_type != named => Ok(Outcome::captured(call)),
        Some(e) if !e.virt => {
            linked.set_word_at(at, e.live);
            let done = vk.raw(call, linked, report)?;
            Ok(Outcome { called: false, ..done })
        }
        _ => Ok(Outcome::captured(call)),
    }
}
