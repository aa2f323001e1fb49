//! The primitives of the parameter stream. Every one fails with the offset and what it wanted.
//!
//! Integers are one comparison and one load each: nom's `le_u32` and `le_u64` add the bytes up one by one, and its `take`
//! is a call of its own; together that was a tenth of the time of decoding.

use super::Decoder;
use crate::error::{Error, Result};

impl<'a> Decoder<'a, '_> {
    /// A 32-bit value.
    #[inline]
    pub(super) fn u32(&mut self) -> Result<u32> {
        match self.rest.split_first_chunk() {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(u32::from_le_bytes(*bytes))
            }
            None => Err(self.missing("a 32-bit value", 4)),
        }
    }

    /// A 64-bit value.
    #[inline]
    pub(super) fn u64(&mut self) -> Result<u64> {
        match self.rest.split_first_chunk() {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(u64::from_le_bytes(*bytes))
            }
            None => Err(self.missing("a 64-bit value", 8)),
        }
    }

    /// The next 32-bit value without consuming it.
    pub(super) fn peek_u32(&mut self) -> Result<u32> {
        let here = self.rest;
        let v = self.u32()?;
        self.rest = here;
        Ok(v)
    }

    /// `n` bytes.
    #[inline]
    pub(super) fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        match self.rest.split_at_checked(n) {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(bytes)
            }
            None => Err(self.missing("data", n as u64)),
        }
    }

    /// Fails unless `n` more bytes are there; called before memory is set aside for them.
    #[inline]
    pub(super) fn need(&mut self, n: u64) -> Result<()> {
        if n > self.left() as u64 { Err(self.missing("data", n)) } else { Ok(()) }
    }

    /// Bytes not read yet.
    #[inline]
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    /// Bytes read.
    #[inline]
    pub(super) fn pos(&self) -> usize {
        self.size - self.rest.len()
    }

    #[cold]
    fn missing(&self, what: &str, n: u64) -> Error {
        Error::truncated(what, n, self.left() as u64).at_offset(self.pos() as u64)
    }
}
