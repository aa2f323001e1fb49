//! Names and tags that applications give objects: the id becomes the live handle; names of virtual objects are dropped.

use super::Vulkan;
use crate::error::Result;
use crate::exec::{Call, Outcome};
use crate::link::Linked;
use crate::objects::{Entry, Objects};
use crate::report::Report;
use gfxr_parse::schema::Ty;
use gfxr_parse::schema::generated::{HANDLES, STRUCTS};
use gfxr_parse::view::View;

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
    let ty = View::call(&call.image).one(info.name).and_then(|i| i.u32("objectType"));
    // The older enum has the same numbers for what Vulkan 1.0 has. What is not of the type that is named is not passed on.
    let is = |e: &Entry| ty == Some(HANDLES[usize::from(e.ty)].object_type);
    match objects.any(call.image.u64(at)) {
        Some(e) if !e.virt && is(e) => {
            linked.set_word_at(at, e.live);
            let done = vk.raw(call, linked, report)?;
            Ok(Outcome { called: false, ..done })
        }
        _ => Ok(Outcome::captured(call)),
    }
}
