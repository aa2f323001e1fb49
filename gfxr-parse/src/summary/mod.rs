//! What a capture is, in one pass: application, devices, frames, calls, pipelines, shaders, memory, compression.
//!
//! Made to be fast: every block is looked at (its header, its call id), only the few calls that say something about the
//! whole are decoded. Guarantees: counts are exact; a call that cannot be decoded is counted like the others and listed.
//! Refuses nothing. What it does not do: decode every call (that is `crate::verify`).

mod collect;
mod model;

pub use model::{
    AnnotationInfo, Application, BlockStats, Blocks, Calls, Decodable, Device, Encoder, Executable, FileInfo,
    Frames, Heap, Memory, MemoryTypeInfo, Pipelines, SCHEMA_VERSION, Shaders, Summary, Undecodable, Variable,
    Version,
};

use crate::container::{Capture, FrameCounter, FrameRule};

/// Reads a whole capture. `progress` is told, now and then, how far it is, in bytes.
pub fn summarize(capture: &Capture, mut progress: impl FnMut(u64)) -> Summary {
    let rule = FrameRule::detect(capture);
    let mut frames = FrameCounter::with_rule(rule);
    let mut c = collect::Collector::new();
    let mut blocks = capture.all_blocks();
    for block in blocks.by_ref() {
        match block {
            Ok(block) => {
                c.block(&block, frames.feed(&block));
                if block.index & 0xFFFF == 0 {
                    progress(block.offset);
                }
            }
            Err(e) => c.unread(&e),
        }
    }
    let truncated = blocks.truncated().map(|e| e.to_string());
    c.finish(capture, frames.rule(), truncated)
}
