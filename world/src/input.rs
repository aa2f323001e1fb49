//! What is followed: how calls ended, metadata, ends of frames.
//!
//! Refuses nothing.

use gfxr_parse::ahead::Call;
use gfxr_parse::meta::Meta;

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The raw return value (a VkResult in the low 32 bits, or an address); the captured one if nothing was called.
    pub ret: u64,
    /// The driver was called.
    pub called: bool,
}

impl Outcome {
    /// Answered with what the capture recorded.
    pub fn captured(call: &Call) -> Self {
        let ret = call.command.ret.map_or(0, |_| call.image.u64(call.image.ret_at()));
        Outcome { ret, called: false }
    }
    /// The return value as a VkResult.
    pub fn result(self) -> i32 {
        self.ret as u32 as i32
    }
}

/// A metadata block with its payload decompressed where it has one.
pub struct MetaBlock<'a> {
    /// The block.
    pub meta: &'a Meta<'a>,
    /// Its data, decompressed.
    pub data: &'a [u8],
    /// Block index.
    pub block: u64,
}

/// A frame has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The capture's number of the frame that ended; 0 is the load (everything before the first frame's calls).
    pub number: u64,
    /// That of the frame that comes next, if one does: a trimmed capture's first is not 1.
    pub next: u64,
    /// Which repetition of the selected frames, from 0.
    pub repeat: u32,
}
