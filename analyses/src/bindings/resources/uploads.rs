//! Buffers, and what was written into them.

use super::numbers::Numbers;
use std::sync::Arc;
use trace::tables::{RESOURCE_BUFFERS, UPLOADS};
use trace::{Source, Unreadable};

/// A buffer.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// The application's name for it.
    pub name: Arc<str>,
    /// Its size.
    pub bytes: u64,
    /// Its usage flags.
    pub usage: Arc<str>,
    /// Its memory type's flags; empty if not known.
    pub memory_flags: Arc<str>,
    /// The frame that created it.
    pub frame: u64,
}

impl Buffer {
    /// Whether its memory is host-visible and not on the device; `None` if that is not known.
    pub fn host_only(&self) -> Option<bool> {
        let has = |f: &str| self.memory_flags.split_whitespace().any(|flag| flag == f);
        (!self.memory_flags.is_empty()).then(|| has("HOST_VISIBLE") && !has("DEVICE_LOCAL"))
    }
}

/// Bytes that a frame wrote.
#[derive(Clone, Debug)]
pub struct Upload {
    /// The frame.
    pub frame: u64,
    /// mapped, UpdateBuffer, …
    pub cause: Arc<str>,
    /// The buffer, or 0.
    pub buffer: u64,
    /// How often.
    pub writes: u64,
    /// How many.
    pub bytes: u64,
    /// Of these, those that were there already.
    pub same_bytes: u64,
}

pub(super) fn buffers(trace: &dyn Source) -> Result<Numbers<Buffer>, Unreadable> {
    let t = trace.read(&RESOURCE_BUFFERS)?;
    let buffer = |r: usize| Buffer {
        name: t.text("name")[r].clone(),
        bytes: t.u64("bytes")[r],
        usage: t.text("usage")[r].clone(),
        memory_flags: t.text("memory_flags")[r].clone(),
        frame: t.u64("frame")[r],
    };
    Ok((0..t.len()).map(|r| (t.u64("buffer")[r], buffer(r))).collect())
}

pub(super) fn uploads(trace: &dyn Source) -> Result<Vec<Upload>, Unreadable> {
    let t = trace.read(&UPLOADS)?;
    let upload = |r: usize| Upload {
        frame: t.u64("frame")[r],
        cause: t.text("cause")[r].clone(),
        buffer: t.u64("buffer")[r],
        writes: t.u64("writes")[r],
        bytes: t.u64("bytes")[r],
        same_bytes: t.u64("same_bytes")[r],
    };
    Ok((0..t.len()).map(upload).collect())
}
