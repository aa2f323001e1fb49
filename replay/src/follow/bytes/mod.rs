//! What device memory contains, as far as the capture says.
//!
//! Nothing is kept yet: everything reads as never written.

/// What wrote bytes: mapped, UpdateBuffer, FillBuffer, CopyBuffer, ….
pub type Cause = &'static str;
/// Why bytes are not known: written by a shader, never written, ….
pub type Why = &'static str;

/// What is known of bytes that were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Spans of known bytes: first byte, bytes; from the beginning of what was read.
    pub spans: Vec<(u64, u64)>,
    /// Why the first of the others is not known.
    pub why: Option<Why>,
}

/// Contents of device memory.
#[derive(Debug, Default)]
pub struct Bytes {}

impl Bytes {
    /// A memory object comes to be.
    pub fn allocate(&mut self, _memory: u64, _size: u64) {}
    /// It goes.
    pub fn free(&mut self, _memory: u64) {}
    /// Bytes are written.
    pub fn write(&mut self, _memory: u64, _offset: u64, _data: &[u8], _cause: Cause) {}
    /// Bytes are filled with a word.
    pub fn fill(&mut self, _memory: u64, _offset: u64, _size: u64, _word: u32, _cause: Cause) {}
    /// Bytes are copied, known and unknown ones.
    pub fn copy(&mut self, _from: (u64, u64), _to: (u64, u64), _size: u64, _cause: Cause) {}
    /// Bytes are written by what is not followed.
    pub fn forget(&mut self, _memory: u64, _offset: u64, _size: u64, _why: Why) {}
    /// Reads bytes; those that are not known are 0.
    pub fn read(&self, _memory: u64, _offset: u64, size: u64, into: &mut Vec<u8>) -> Known {
        into.resize(into.len() + size as usize, 0);
        Known { spans: vec![], why: Some("never written") }
    }
}
