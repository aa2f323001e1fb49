//! PREINITIALIZED is a layout that no image ever returns to. Before each further iteration the contents' restoring puts
//! such images into GENERAL, which holds the same bytes; the frame's own barriers are rewritten to say so.

use gfxr_parse::ahead::Call;
use gfxr_parse::schema::Ty;
use gfxr_parse::schema::generated::STRUCTS;

const PREINITIALIZED: u32 = 8;
const GENERAL: u32 = 1;

/// Rewrites the image barriers of one call, and says how many there were.
pub fn rewrite(call: &mut Call) -> u64 {
    if !matches!(
        call.command.canonical,
        "vkCmdPipelineBarrier" | "vkCmdPipelineBarrier2" | "vkCmdWaitEvents" | "vkCmdWaitEvents2"
    ) {
        return 0;
    }
    let mut places = Vec::new();
    for p in call.command.params {
        let Ty::Struct(id) = p.ty else { continue };
        let Some(array) = call.image.ptr(p.at).filter(|a| a.has_data()) else { continue };
        let (def, to, len) = (&STRUCTS[id as usize], array.to, array.len as u32);
        for i in 0..len {
            old_layout(call, id, to + i * def.size, &mut places);
        }
    }
    for at in &places {
        call.image.edit_u32(*at, GENERAL);
    }
    places.len() as u64
}

/// Finds `oldLayout` of an image barrier, or of those that a dependency info leads to.
fn old_layout(call: &Call, id: u16, at: u32, places: &mut Vec<u32>) {
    for m in STRUCTS[id as usize].members {
        match (m.name, m.ty) {
            ("oldLayout", _) if call.image.u32(at + m.at) == PREINITIALIZED => places.push(at + m.at),
            ("pImageMemoryBarriers", Ty::Struct(inner)) => {
                let Some(array) = call.image.ptr(at + m.at).filter(|a| a.has_data()) else { continue };
                let (to, len, size) = (array.to, array.len as u32, STRUCTS[inner as usize].size);
                (0..len).for_each(|i| old_layout(call, inner, to + i * size, places));
            }
            _ => {}
        }
    }
}
