//! What handlers read of a call: whether its objects exist, and which one it makes.

use crate::error::{Error, Result};
use crate::objects::Objects;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::HandleId;

/// For handlers whose linking is lenient because some of their objects may be virtual: everything else must exist.
pub(crate) fn require_handles(objects: &Objects, call: &Call, virtual_ok: &[HandleId]) -> Result<()> {
    for h in call.image.handles.iter().filter(|h| !h.out && !h.lenient && !virtual_ok.contains(&h.ty)) {
        let id = call.image.u64(h.at);
        if objects.get(id, h.ty).is_none_or(|e| e.virt) {
            let name = gfxr_parse::schema::generated::HANDLES[h.ty as usize].name;
            return Err(Error::divergence(format!("{name} {id} was never created, or is already destroyed")));
        }
    }
    Ok(())
}

/// The id the capture gave the new object in the last parameter, and where it lies.
pub(crate) fn new_object(call: &Call) -> Result<(u64, u32)> {
    let at = call.command.params.last().map_or(0, |p| p.at);
    let to =
        call.image.target(at).ok_or_else(|| Error::divergence("the capture has no id for the new object"))?;
    Ok((call.image.u64(to), to))
}
