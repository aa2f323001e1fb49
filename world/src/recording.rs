//! Command buffers and what was recorded into them.

use super::commands::Recorded;
use std::rc::Rc;

/// A VkCommandBuffer.
#[derive(Debug, Default)]
pub struct CommandBuffer {
    /// Its pool.
    pub pool: u64,
    /// It is executed by others.
    pub secondary: bool,
    /// What was recorded last; none before the first time and after a reset.
    pub recording: Option<Rc<Recording>>,
}

/// What a command buffer holds since it was begun.
#[derive(Debug, Default)]
pub struct Recording {
    /// Its number, from 0 over the capture.
    pub number: u64,
    /// The block of vkBeginCommandBuffer.
    pub block: u64,
    /// VkCommandBufferUsageFlags.
    pub flags: u32,
    /// Commands that were recorded, those that are not kept too.
    pub count: u32,
    /// Those that do something.
    pub commands: Vec<Recorded>,
}
