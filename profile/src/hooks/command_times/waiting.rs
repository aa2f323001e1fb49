//! Submissions that are being made, and those whose results have not been read.
//!
//! Refuses nothing.

use super::recording::Recorded;
use super::slot::Slot;
use replay::ash::{self, vk};
use std::collections::HashMap;
use std::rc::Rc;

/// One command buffer of a submission.
pub struct Part {
    pub command_buffer: u64,
    pub position: u32,
    pub recorded: Rc<Recorded>,
    /// Where the results of its timestamps begin, and those of its statistics.
    pub at: usize,
    pub counts_at: usize,
    pub stamps: u32,
    pub counters: vk::QueryPipelineStatisticFlags,
    /// Ends within a suspended render pass: nothing may come between it and the next.
    pub suspends: bool,
}

impl Part {
    /// Whether it writes any.
    pub fn queries(&self) -> bool {
        self.stamps > 0
    }
}

/// By command buffer of the submission, execution and command: the number of the draw, dispatch or trace, and that of the render pass; 0 for
/// none.
pub type Numbers = HashMap<(u32, u32, u32), (u32, u32)>;

/// A submission whose results have not been read.
pub struct Waiting {
    pub device: u64,
    pub family: u32,
    pub queue: u64,
    pub frame: u64,
    pub submit: u64,
    pub slot: Slot,
    pub parts: Vec<Part>,
    /// Node of the submission.
    pub outer: u32,
    /// Its results are wanted.
    pub keep: bool,
    /// Room for this many results.
    pub results: usize,
    /// Which repetition of its frame; known when the frame has ended.
    pub repeat: Option<u32>,
    /// Numbers of its commands in the frame.
    pub numbers: Numbers,
}

/// A submission that is being made.
pub struct Current {
    pub waiting: Waiting,
    pub device: ash::Device,
    pub queue: vk::Queue,
}
