//! Command buffers and what was recorded into them.

use super::commands::Recorded;
use gfxr_parse::ahead::Call;
use std::rc::Rc;

/// A VkCommandBuffer.
#[derive(Clone, Debug, Default)]
pub struct CommandBuffer {
    /// Its pool.
    pub pool: u64,
    /// It is executed by others.
    pub secondary: bool,
    /// What was recorded last; none before the first time and after a reset.
    pub recording: Option<Rc<Recording>>,
}

/// What a place in a recording is in, as far as it restricts which commands may stand there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Nothing.
    #[default]
    Outside,
    /// A render pass or rendering.
    Pass {
        /// It is a rendering that another goes on with.
        suspends: bool,
    },
    /// Behind a rendering that is suspended, before the one that resumes it.
    Suspended,
    /// Video coding.
    Coding,
}

/// VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT.
const RENDER_PASS_CONTINUE: u32 = 2;

impl Scope {
    /// That of a recording that begins, with VkCommandBufferUsageFlags.
    pub fn first(flags: u32) -> Self {
        if flags & RENDER_PASS_CONTINUE != 0 { Scope::Pass { suspends: false } } else { Scope::Outside }
    }
    /// That behind a render pass or rendering that ends here.
    pub fn behind(self) -> Self {
        if self == (Scope::Pass { suspends: true }) { Scope::Suspended } else { Scope::Outside }
    }
}

/// What a command buffer holds since it was begun.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Its number, from 0 over the capture.
    pub number: u64,
    /// The block of vkBeginCommandBuffer.
    pub block: u64,
    /// VkCommandBufferUsageFlags.
    pub flags: u32,
    /// Commands that were recorded, those that are not kept too.
    pub count: u32,
    /// What the next command would be in.
    pub scope: Scope,
    /// Those that do something.
    pub commands: Vec<Recorded>,
    /// The calls that made it, from vkBeginCommandBuffer on; none unless they are kept ([`crate::Follow::keep_calls`]).
    pub calls: Vec<Call>,
}
