//! Type 2: the application wrote to mapped memory.
//!
//! Stands before the submit, flush or unmap that made the write count. Refuses nothing beyond missing bytes; whether the
//! memory is that large is the replayer's to know.

use crate::container::fields::{Fields, Put};
use crate::container::payload::Payload;
use crate::error::Result;

/// Type 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FillMemory<'a> {
    /// VkDeviceMemory (or an Android hardware buffer's memory id).
    pub memory: u64,
    /// In bytes from the MAPPED POINTER, not from the start of the memory.
    pub offset: u64,
    /// What was written.
    pub data: Payload<'a>,
}

impl<'a> FillMemory<'a> {
    pub(crate) fn read(f: &mut Fields<'a>) -> Result<Self> {
        let (memory, offset) = (f.u64("memory")?, f.u64("memory offset")?);
        let size = f.u64("memory size")?;
        Ok(FillMemory { memory, offset, data: f.payload(size, "memory contents")? })
    }
    /// Writes the fields.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.put_u64(self.memory);
        out.put_u64(self.offset);
        out.put_u64(self.data.size());
        out.put(self.data.raw());
    }
}
