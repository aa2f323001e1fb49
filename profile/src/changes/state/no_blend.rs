//! `no-blend`: fragments replace what is in colour attachments, without blending and logical operations.
//!
//! Guarantees: which components are written stays. Refuses nothing.

use super::change::{Change, Dynamic};
use crate::changes::choice::{AT, LABEL, PIPELINE};
use crate::changes::edit::{set, set_all};
use crate::changes::entry::{Entry, Made, of_state};
use replay::ash::vk::DynamicState;
use trace::plan::Use;

/// See the module's header.
pub const ENTRY: Entry = Entry {
    name: CHANGE.name,
    options: &[AT, LABEL, PIPELINE],
    about: "no blending, no logical operations: fragments replace what is there",
    asks: "does time go to reading what is blended with?",
    pictures_stay: false,
    make,
};

static CHANGE: Change = Change {
    name: "no-blend",
    pixel: None,
    pipeline: |_, info| {
        let Some(state) = info.one("pColorBlendState") else { return vec![] };
        let blends = state.structs("pAttachments").filter_map(|a| set(a, "blendEnable", 0));
        let logic = set(state, "logicOpEnable", 0);
        let blends = blends.map(|e| (DynamicState::COLOR_BLEND_ENABLE_EXT, e));
        blends.chain(logic.map(|e| (DynamicState::LOGIC_OP_ENABLE_EXT, e))).collect()
    },
    dynamic: &[
        Dynamic {
            command: "vkCmdSetColorBlendEnableEXT",
            state: DynamicState::COLOR_BLEND_ENABLE_EXT,
            edits: |_, call| set_all(call, "pColorBlendEnables", 0),
        },
        Dynamic {
            command: "vkCmdSetLogicOpEnableEXT",
            state: DynamicState::LOGIC_OP_ENABLE_EXT,
            edits: |_, call| set(call, "logicOpEnable", 0).into_iter().collect(),
        },
    ],
};

fn make(of: &Use) -> Result<Made, String> {
    of_state(of, &ENTRY, CHANGE)
}
