//! Type 1: a message for whoever replays.
//!
//! The text fills the block and has no NUL. Refuses nothing.

use crate::container::fields::{Fields, Put, Text};
use crate::error::Result;

/// Type 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisplayMessage<'a> {
    /// The message.
    pub message: Text<'a>,
}

impl<'a> DisplayMessage<'a> {
    pub(crate) fn read(f: &mut Fields<'a>) -> Result<Self> {
        Ok(DisplayMessage { message: Text(f.rest()) })
    }
    /// Writes the fields.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.put(self.message.0);
    }
}
