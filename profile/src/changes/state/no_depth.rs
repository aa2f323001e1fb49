//! `no-depth`: no depth test, and so no depth is written.
//!
//! Guarantees: tests of stencil and of depth bounds stay. Refuses nothing.

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
    about: "no depth test, and no depth is written",
    asks: "does time go to depth tests and writes, or do they save more than they cost?",
    pictures_stay: false,
    make,
};

static CHANGE: Change = Change {
    name: "no-depth",
    pixel: None,
    pipeline: |_, info| {
        let Some(state) = info.one("pDepthStencilState") else { return vec![] };
        let test = set(state, "depthTestEnable", 0).map(|e| (DynamicState::DEPTH_TEST_ENABLE, e));
        let write = set(state, "depthWriteEnable", 0).map(|e| (DynamicState::DEPTH_WRITE_ENABLE, e));
        test.into_iter().chain(write).collect()
    },
    dynamic: &[
        Dynamic {
            command: "vkCmdSetDepthTestEnable",
            state: DynamicState::DEPTH_TEST_ENABLE,
            edits: |_, call| set(call, "depthTestEnable", 0).into_iter().collect(),
        },
        Dynamic {
            command: "vkCmdSetDepthWriteEnable",
            state: DynamicState::DEPTH_WRITE_ENABLE,
            edits: |_, call| set(call, "depthWriteEnable", 0).into_iter().collect(),
        },
    ],
};

fn make(of: &Use) -> Result<Made, String> {
    of_state(of, &ENTRY, CHANGE)
}
