//! Type 34: go on in another file, then come back; see [`crate::container::assets`].
//!
//! Refuses nothing beyond missing bytes; the name is judged when the file is opened.

use crate::container::fields::{Fields, Put, Text};
use crate::error::Result;

/// Type 34.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecuteBlocks<'a> {
    /// How many blocks to run; 0: to the end of that file.
    pub blocks: u32,
    /// Where in that file, in bytes from its first.
    pub offset: i64,
    /// Its name; it lies beside the capture.
    pub file: Text<'a>,
}

impl<'a> ExecuteBlocks<'a> {
    pub(crate) fn read(f: &mut Fields<'a>) -> Result<Self> {
        let (blocks, offset) = (f.u32("block count")?, f.i64("file offset")?);
        let length = f.u32("file name length")?;
        Ok(ExecuteBlocks { blocks, offset, file: Text(f.bytes(length.into(), "file name")?) })
    }
    /// Writes the fields.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.put_u32(self.blocks);
        out.put_u64(self.offset as u64);
        out.put_u32(self.file.0.len() as u32);
        out.put(self.file.0);
    }
}
