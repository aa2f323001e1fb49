//! What came of comparing with a device: counts, and differences with what caused them.

use std::fmt;
use world::At;

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Draws, dispatches and traces of the frames asked for.
    pub invocations: u64,
    /// Of these, those that read blocks in memory.
    pub with_blocks: u64,
    /// Of these, those of which every block was compared at its very point.
    pub at_point: u64,
    /// Blocks of draws that were compared.
    pub blocks: u64,
    /// Of these, at their very point.
    pub blocks_at_point: u64,
    /// Of these, storage buffers that shaders only read.
    pub storage: u64,
    /// Bytes of them that are known.
    pub bytes: u64,
    /// Bytes of them that are not.
    pub unknown: u64,
    /// Blocks that were compared at the edge before their submit call.
    pub before: u64,
    /// Blocks that were compared at the edge behind it.
    pub behind: u64,
    /// Blocks that a shader of the same render pass may write: at no place for copies they are what the draw reads.
    pub in_pass: u64,
    /// Blocks of executions whose copies a later execution in the same submit call wrote over.
    pub again: u64,
    /// Blocks of which no copy could be recorded.
    pub uncopied: u64,
    /// Of blocks without a copy, those that their submit call writes before and behind the draw.
    pub between: u64,
    /// Blocks of draws that run later than their submit call, and have no copy that is theirs.
    pub later: u64,
    /// Blocks whose buffer cannot be read, the first reason.
    pub unreadable: (u64, String),
    /// Bytes of storage buffers beyond what is looked at.
    pub beyond: u64,
    /// Push constants and inline uniform blocks: no memory has them.
    pub by_calls: u64,
    /// Blocks with a difference.
    pub different: u64,
    /// The first of them.
    pub differences: Vec<Difference>,
    /// Bytes that were read back at the end of submit calls.
    pub read_back: u64,
    /// Bytes that are not known otherwise, and were read back at their very point: each once a draw.
    pub filled: u64,
}

/// A byte that is another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where the draw is executed.
    pub at: At,
    /// What it is: Draw, Dispatch, ….
    pub kind: &'static str,
    /// Set, binding, element.
    pub place: (u32, u32, u32),
    /// The buffer, and the byte in it.
    pub byte: (u64, u64),
    /// When the device's byte was looked at.
    pub when: When,
    /// The byte as it is followed, and as the device has it.
    pub bytes: (u8, u8),
    /// Who wrote it last, as it is followed.
    pub cause: String,
}

/// When the device's bytes were looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Directly before the draw.
    Invocation,
    /// Directly before its render pass.
    Pass,
    /// Before the submit call.
    Before,
    /// Behind it.
    Behind,
}

impl When {
    fn words(self) -> &'static str {
        match self {
            When::Invocation => "directly before it",
            When::Pass => "before its render pass",
            When::Before => "before its submit call",
            When::Behind => "behind its submit call",
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, (set, binding, element)) = (&self.at, self.place);
        write!(
            f,
            "frame {}, submission {} (block {}), {} recorded in block {} as command {} of VkCommandBuffer {}, set {set} binding \
             {binding}[{element}], byte {} of VkBuffer {}, {}: followed {:#04x}, on the device {:#04x}; {}",
            at.frame,
            at.submission,
            at.submit_block,
            self.kind,
            at.block,
            at.command,
            at.holder,
            self.byte.1,
            self.byte.0,
            self.when.words(),
            self.bytes.0,
            self.bytes.1,
            self.cause
        )
    }
}
