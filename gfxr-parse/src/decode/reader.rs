//! The primitives of the parameter stream, on nom. Every one fails with the offset and what it wanted.
//!
//! Integers are nom's `take` and one load: its `le_u32` and `le_u64` add the bytes up one by one, which was a tenth of
//! the time of decoding.

use super::Decoder;
use crate::error::{Error, Result};
use nom::IResult;

type NomError<'a> = nom::error::Error<&'a [u8]>;

/// The next `N` bytes.
#[inline]
fn array<const N: usize>(input: &[u8]) -> Option<[u8; N]> {
    let r: IResult<&[u8], &[u8], NomError> = nom::bytes::complete::take(N)(input);
    r.ok().and_then(|(_, bytes)| bytes.first_chunk().copied())
}

impl<'a> Decoder<'a, '_> {
    /// A 32-bit value.
    #[inline]
    pub(super) fn u32(&mut self) -> Result<u32> {
        match array(&self.input[self.pos..]) {
            Some(bytes) => {
                self.pos += 4;
                Ok(u32::from_le_bytes(bytes))
            }
            None => Err(self.missing("a 32-bit value", 4)),
        }
    }

    /// A 64-bit value.
    #[inline]
    pub(super) fn u64(&mut self) -> Result<u64> {
        match array(&self.input[self.pos..]) {
            Some(bytes) => {
                self.pos += 8;
                Ok(u64::from_le_bytes(bytes))
            }
            None => Err(self.missing("a 64-bit value", 8)),
        }
    }

    /// The next 32-bit value without consuming it.
    pub(super) fn peek_u32(&mut self) -> Result<u32> {
        let v = self.u32()?;
        self.pos -= 4;
        Ok(v)
    }

    /// `n` bytes.
    #[inline]
    pub(super) fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let r: IResult<&'a [u8], &'a [u8], NomError<'a>> =
            nom::bytes::complete::take(n)(&self.input[self.pos..]);
        match r {
            Ok((_, bytes)) => {
                self.pos += n;
                Ok(bytes)
            }
            Err(_) => Err(self.missing("data", n as u64)),
        }
    }

    /// Fails unless `n` more bytes are there; called before memory is set aside for them.
    pub(super) fn need(&mut self, n: u64) -> Result<()> {
        if n > (self.input.len() - self.pos) as u64 { Err(self.missing("data", n)) } else { Ok(()) }
    }

    /// Bytes not read yet.
    pub(super) fn left(&self) -> usize {
        self.input.len() - self.pos
    }

    #[cold]
    fn missing(&self, what: &str, n: u64) -> Error {
        Error::truncated(what, n, self.left() as u64).at_offset(self.pos as u64)
    }
}
