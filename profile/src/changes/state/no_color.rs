//! `no-color`: no component of a colour attachment is written.
//!
//! Guarantees: fragments are shaded, and depth and stencil written, as before, as far as the driver does not see that nobody needs
//! their colours. Refuses nothing.

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
    about: "colour attachments are not written: their write masks are 0",
    asks: "does time go to writing colours?",
    pictures_stay: false,
    make,
};

const STATE: DynamicState = DynamicState::COLOR_WRITE_MASK_EXT;

static CHANGE: Change = Change {
    name: "no-color",
    pixel: None,
    pipeline: |_, info| {
        let Some(state) = info.one("pColorBlendState") else { return vec![] };
        let masks = state.structs("pAttachments").filter_map(|a| set(a, "colorWriteMask", 0));
        masks.map(|e| (STATE, e)).collect()
    },
    dynamic: &[Dynamic {
        command: "vkCmdSetColorWriteMaskEXT",
        state: STATE,
        edits: |_, call| set_all(call, "pColorWriteMasks", 0),
    }],
};

fn make(of: &Use) -> Result<Made, String> {
    of_state(of, &ENTRY, CHANGE)
}
