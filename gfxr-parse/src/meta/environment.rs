//! Type 32: environment variables of the captured program that its user wanted recorded.
//!
//! `NAME=value` texts with a byte 0xFF between them and, as gfxreconstruct writes it, a NUL after the last. Refuses
//! nothing beyond missing bytes.

use crate::container::fields::{Fields, Put, Text};
use crate::error::Result;

/// Between two variables.
pub const DELIMITER: u8 = 0xFF;

/// Type 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Environment<'a> {
    /// All of it, delimiters included.
    pub raw: Text<'a>,
}

impl<'a> Environment<'a> {
    pub(crate) fn read(f: &mut Fields<'a>) -> Result<Self> {
        let length = f.u64("text length")?;
        Ok(Environment { raw: Text(f.bytes(length, "environment variables")?) })
    }
    /// (name, value) of each; the value is empty if there is no `=`.
    pub fn variables(&self) -> impl Iterator<Item = (Text<'a>, Text<'a>)> {
        let parts = self.raw.0.split(|&b| b == DELIMITER).map(|p| Text(p).until_nul().0);
        parts.filter(|p| !p.is_empty()).map(|p| match p.iter().position(|&b| b == b'=') {
            Some(i) => (Text(&p[..i]), Text(&p[i + 1..])),
            None => (Text(p), Text(&[])),
        })
    }
    /// Writes the fields.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.put_u64(self.raw.0.len() as u64);
        out.put(self.raw.0);
    }
}
