//! `no-fragments`: primitives are discarded before they are rasterized. What is left is the work of vertices.
//!
//! Guarantees: shaders before rasterization run as before; queries of samples count none. Refuses nothing.

use super::change::{Change, Dynamic};
use crate::changes::choice::{AT, LABEL, PIPELINE};
use crate::changes::edit::set;
use crate::changes::entry::{Entry, Made, of_state};
use replay::ash::vk::DynamicState;
use trace::plan::Use;

/// See the module's header.
pub const ENTRY: Entry = Entry {
    name: CHANGE.name,
    options: &[AT, LABEL, PIPELINE],
    about: "rasterization is discarded: no fragments, no output",
    asks: "does time go to fragments, or to vertices?",
    pictures_stay: false,
    make,
};

const STATE: DynamicState = DynamicState::RASTERIZER_DISCARD_ENABLE;

static CHANGE: Change = Change {
    name: "no-fragments",
    pixel: None,
    pipeline: |_, info| {
        let edit = info.one("pRasterizationState").and_then(|s| set(s, "rasterizerDiscardEnable", 1));
        edit.map(|e| (STATE, e)).into_iter().collect()
    },
    dynamic: &[Dynamic {
        command: "vkCmdSetRasterizerDiscardEnable",
        state: STATE,
        edits: |_, call| set(call, "rasterizerDiscardEnable", 1).into_iter().collect(),
    }],
};

fn make(of: &Use) -> Result<Made, String> {
    of_state(of, &ENTRY, CHANGE)
}
