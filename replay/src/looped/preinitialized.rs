//! PREINITIALIZED is a layout that no image ever returns to. Before each further iteration the contents' restoring puts
//! such images into GENERAL, which holds the same bytes; the frame's own barriers are rewritten to say so.

use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;

const PREINITIALIZED: u32 = 8;
const GENERAL: u32 = 1;

/// Rewrites the image barriers of one call.
pub fn rewrite(call: &mut Call) {
    if !matches!(
        call.command.canonical,
        "vkCmdPipelineBarrier" | "vkCmdPipelineBarrier2" | "vkCmdWaitEvents" | "vkCmdWaitEvents2"
    ) {
        return;
    }
    let v = View::call(&call.image);
    let newer = v.structs("pDependencyInfo").chain(v.structs("pDependencyInfos"));
    let barriers = std::iter::once(v).chain(newer).flat_map(|v| v.structs("pImageMemoryBarriers"));
    let old = barriers.filter_map(|b| Some(b.definition("oldLayout")?.1));
    let old: Vec<u32> = old.filter(|at| call.image.u32(*at) == PREINITIALIZED).collect();
    old.into_iter().for_each(|at| call.image.edit_u32(at, GENERAL));
}
