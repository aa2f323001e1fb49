//! `one-pixel`: scissors have one pixel, at their own offset. Primitives are set up and culled as before; hardly a fragment is left.
//!
//! Guarantees: an empty scissor stays empty. Refuses nothing.

use super::change::{Change, Dynamic, dynamic_of};
use crate::changes::choice::{AT, LABEL, PIPELINE};
use crate::changes::edit::{Edit, set};
use crate::changes::entry::{Entry, Made, of_state};
use gfxr_parse::view::View;
use replay::ash::vk::DynamicState;
use trace::plan::Use;

/// See the module's header.
pub const ENTRY: Entry = Entry {
    name: CHANGE.name,
    options: &[AT, LABEL, PIPELINE],
    about: "scissors, static or dynamic, are 1 × 1 at their own offset",
    asks: "does time go to fragments and output, or to what is in front of them?",
    pictures_stay: false,
    make,
};

static CHANGE: Change = Change {
    name: "one-pixel",
    pipeline: |info| {
        let Some(state) = info.one("pViewportState") else { return vec![] };
        // (where commands set how many there are, they set which, too)
        let counted = dynamic_of(info).contains(&DynamicState::SCISSOR_WITH_COUNT);
        let edits = if counted { vec![] } else { small(state) };
        edits.into_iter().map(|e| (DynamicState::SCISSOR, e)).collect()
    },
    dynamic: &[
        Dynamic { command: "vkCmdSetScissor", state: DynamicState::SCISSOR, edits: small },
        Dynamic {
            command: "vkCmdSetScissorWithCount",
            state: DynamicState::SCISSOR_WITH_COUNT,
            edits: small,
        },
    ],
};

/// The extents of `pScissors`.
fn small(of: View<'_>) -> Vec<Edit> {
    let extents = of.structs("pScissors").filter_map(|r| r.one("extent"));
    let sides = extents.flat_map(|e| ["width", "height"].map(|side| (e, side)));
    sides.filter_map(|(e, side)| set(e, side, e.u32(side)?.min(1))).collect()
}

fn make(of: &Use) -> Result<Made, String> {
    of_state(of, &ENTRY, &CHANGE)
}
