//! What a change of graphics state edits: in create infos, and in commands that set state dynamically.
//!
//! Refuses nothing.

use crate::changes::edit::Edit;
use gfxr_parse::view::View;
use replay::ash::vk::DynamicState;

/// A change of graphics state.
#[derive(Clone, Copy)]
pub struct Change {
    /// Its name.
    pub name: &'static str,
    /// The pixel that it is about, if one is named.
    pub pixel: Option<[u32; 2]>,
    /// What it edits in VkGraphicsPipelineCreateInfo, and which dynamic state would make that void.
    pub pipeline: fn(&Change, View<'_>) -> Vec<(DynamicState, Edit)>,
    /// The commands that set such state.
    pub dynamic: &'static [Dynamic],
}

/// A command that sets state which a change is about.
pub struct Dynamic {
    /// The command, by canonical name.
    pub command: &'static str,
    /// The state that it sets.
    pub state: DynamicState,
    /// What is edited in it.
    pub edits: fn(&Change, View<'_>) -> Vec<Edit>,
}

/// What a create info leaves to commands.
pub fn dynamic_of(info: View<'_>) -> Vec<DynamicState> {
    let states = info.one("pDynamicState").map_or(vec![], |d| d.u64s("pDynamicStates"));
    states.into_iter().map(|s| DynamicState::from_raw(s as i32)).collect()
}
