//! The data of a block, compressed as they lie in the file until somebody asks for them.
//!
//! Guarantees: [`Payload::bytes`] gives exactly [`Payload::size`] bytes or an error that names block and offset; plain
//! data are never copied. Refuses data that decompress to another size than declared, and those that declare more than
//! their capture's budget allows ([`Budget`]).

use std::fmt;

use crate::container::{Budget, Compression, Scratch};
use crate::error::{Error, Result};
use crate::limits::TRUSTED_SIZE;

/// See the module's header.
#[derive(Clone, Copy)]
pub struct Payload<'a> {
    raw: &'a [u8],
    size: u64,
    codec: Option<Compression>,
    budget: Budget,
    block: Option<u64>,
    offset: u64,
}

impl<'a> Payload<'a> {
    /// Plain data for a new block.
    #[inline]
    pub fn plain(bytes: &'a [u8]) -> Self {
        Payload {
            raw: bytes,
            size: bytes.len() as u64,
            codec: None,
            budget: Budget::default(),
            block: None,
            offset: 0,
        }
    }
    /// Plain data found in a file.
    #[inline]
    pub fn located(bytes: &'a [u8], block: u64, offset: u64) -> Self {
        Payload { block: Some(block), offset, ..Self::plain(bytes) }
    }
    /// Compressed data found in a file, `size` bytes when decompressed (as the block declares).
    #[inline]
    pub fn compressed(raw: &'a [u8], codec: Compression, size: u64, block: u64, offset: u64) -> Self {
        Payload { raw, size, codec: Some(codec), budget: Budget::default(), block: Some(block), offset }
    }
    /// The same, with the memory that decoding it may take.
    #[inline]
    pub fn within(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }
    /// The memory that decoding it may take.
    #[inline]
    pub fn budget(&self) -> Budget {
        self.budget
    }
    /// The bytes as they lie in the file.
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }
    /// Size in bytes once decompressed, as declared.
    pub fn size(&self) -> u64 {
        self.size
    }
    /// They lie in the file in compressed form.
    pub fn is_compressed(&self) -> bool {
        self.codec.is_some()
    }
    /// What compresses them, if anything does.
    pub fn codec(&self) -> Option<Compression> {
        self.codec
    }
    /// File offset of the first raw byte (0 for new data).
    pub fn offset(&self) -> u64 {
        self.offset
    }
    /// The data; decompressed into `scratch` if need be.
    #[inline]
    pub fn bytes<'s>(&self, scratch: &'s mut Scratch) -> Result<&'s [u8]>
    where
        'a: 's,
    {
        let Some(codec) = self.codec else { return Ok(self.raw) };
        if !self.budget.admits(self.size) {
            return Err(self.blame(self.budget.refuse(self.size)));
        }
        match scratch.decompress(codec, self.raw, self.size) {
            Ok(bytes) => Ok(bytes),
            Err(e) => Err(self.blame(e)),
        }
    }
    /// The data in memory of their own; large ones are decompressed right there.
    pub fn to_vec(&self, scratch: &mut Scratch) -> Result<Vec<u8>> {
        if self.codec.is_none() || self.size <= TRUSTED_SIZE as u64 {
            return self.bytes(scratch).map(<[u8]>::to_vec);
        }
        let size = self.bytes(scratch)?.len();
        Ok(scratch.take(size))
    }
    /// Puts block and offset on an error about these data.
    #[cold]
    pub(crate) fn blame(&self, error: Error) -> Error {
        match self.block {
            Some(block) => error.in_block(block).at_offset(self.offset),
            None => error,
        }
    }
}

impl PartialEq for Payload<'_> {
    /// The same bytes stored the same way; where they lie does not matter.
    fn eq(&self, other: &Self) -> bool {
        (self.raw, self.size, self.codec) == (other.raw, other.size, other.codec)
    }
}

impl fmt::Debug for Payload<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.codec {
            Some(codec) => write!(f, "Payload({} bytes as {codec} in {})", self.size, self.raw.len()),
            None => write!(f, "Payload({} bytes)", self.size),
        }
    }
}
