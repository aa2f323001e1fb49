//! Walking over the blocks of a file.
//!
//! Guarantees: touches the 12 bytes of each block's header and nothing else; ends at the end of the bytes, after the last
//! whole block. Refuses nothing: whether that was the end of the file is [`Blocks::truncated`].

use crate::container::block::Block;
use crate::container::framing::HEADER_BYTES;
use crate::container::{Budget, Compression};
use crate::error::{Error, Kind};

/// Walks over the blocks of one file. Ends at the end of the bytes; [`Blocks::truncated`] then says whether that was
/// the end of a block.
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    rest: &'a [u8],
    offset: u64,
    index: u64,
    file: u32,
    codec: Compression,
    budget: Budget,
}

impl<'a> Blocks<'a> {
    /// Over `bytes`, the first of which has this file offset.
    pub fn new(bytes: &'a [u8], offset: u64, codec: Compression) -> Self {
        Blocks { rest: bytes, offset, index: 0, file: 0, codec, budget: Budget::default() }
    }
    /// The same, with the memory that decoding one of them may take.
    pub(crate) fn within(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }
    /// The same, as part of a larger numbering.
    pub(crate) fn numbered(mut self, index: u64, file: u32) -> Self {
        (self.index, self.file) = (index, file);
        self
    }
    /// Offset of the next block's header.
    pub fn offset(&self) -> u64 {
        self.offset
    }
    /// The next block's number.
    pub fn index(&self) -> u64 {
        self.index
    }
    pub(crate) fn set_index(&mut self, index: u64) {
        self.index = index;
    }
    /// The bytes no block has been made of; after the end these are a truncated block's.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
    /// Once iteration has ended: what is missing, if the bytes end inside a block. Everything before it stands.
    pub fn truncated(&self) -> Option<Error> {
        let have = self.rest.len() as u64;
        let message = match parse_header(self.rest) {
            Some((_, size, _)) if size > have - HEADER_BYTES as u64 => {
                let left = have - HEADER_BYTES as u64;
                format!("the file ends inside this block: expected {size} more bytes, found {left}")
            }
            None if have > 0 => {
                format!("the file ends inside a block header: expected {HEADER_BYTES} bytes, found {have}")
            }
            _ => return None,
        };
        Some(Error::new(Kind::Truncated, message).in_block(self.index).at_offset(self.offset))
    }
}

/// Splits a block header (size of the body, type) off.
#[inline]
fn parse_header(bytes: &[u8]) -> Option<(&[u8], u64, u32)> {
    let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let (size, ty) = header.split_first_chunk()?;
    Some((rest, u64::from_le_bytes(*size), u32::from_le_bytes(*ty.first_chunk()?)))
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Block<'a>;

    #[inline]
    fn next(&mut self) -> Option<Block<'a>> {
        let (rest, size, ty) = parse_header(self.rest)?;
        // Compared as u64 first: a size beyond this machine's usize is beyond the file, too.
        if size > rest.len() as u64 {
            return None;
        }
        let (raw, rest) = self.rest.split_at(HEADER_BYTES + size as usize);
        let block = Block {
            index: self.index,
            offset: self.offset,
            file: self.file,
            ty,
            raw,
            codec: self.codec,
            budget: self.budget,
        };
        self.rest = rest;
        self.offset += raw.len() as u64;
        self.index += 1;
        Some(block)
    }
}
