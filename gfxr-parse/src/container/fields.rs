//! Reading the fields of one block's body from front to back, and putting them back.
//!
//! Guarantees: every error names the field, the block and the field's offset in the file; a count is compared with the
//! bytes that are left before anything is allocated for it. Refuses bodies that end inside a field.

use std::borrow::Cow;
use std::fmt;

use nom::Parser;
use nom::bytes::complete::take;

use crate::container::{Budget, Compression, Payload};
use crate::error::{Error, Result};

/// Bytes the format calls text. They are kept as written; nothing says that they are UTF-8.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Text<'a>(pub &'a [u8]);

impl<'a> Text<'a> {
    /// The text, with what is not UTF-8 replaced.
    pub fn text(self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.0)
    }
    /// The part before the first NUL: what a `char[N]` holds.
    pub fn until_nul(self) -> Text<'a> {
        let end = self.0.iter().position(|&b| b == 0).unwrap_or(self.0.len());
        Text(&self.0[..end])
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Text(text.as_bytes())
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.until_nul().text(), f)
    }
}

/// A cursor over one block's body.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
    offset: u64,
    block: u64,
    codec: Option<Compression>,
    budget: Budget,
}

impl<'a> Fields<'a> {
    /// Over `body`, which lies at `offset` of its file and belongs to block number `block`; `codec` is what its data are
    /// compressed with, if the block's type says that they are.
    #[inline]
    pub fn new(body: &'a [u8], offset: u64, block: u64, codec: Option<Compression>) -> Self {
        Fields { rest: body, offset, block, codec, budget: Budget::default() }
    }
    /// The same, with the memory that decoding its data may take.
    #[inline]
    pub(crate) fn within(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }
    /// Bytes that are left.
    #[inline]
    pub fn left(&self) -> usize {
        self.rest.len()
    }
    /// File offset of the next field.
    pub fn offset(&self) -> u64 {
        self.offset
    }
    /// The block's type carries the compressed bit.
    #[inline]
    pub fn is_compressed(&self) -> bool {
        self.codec.is_some()
    }
    /// The block these fields belong to.
    pub fn block(&self) -> u64 {
        self.block
    }
    /// Puts block and offset on an error about the next field.
    #[cold]
    pub fn blame(&self, error: Error) -> Error {
        error.in_block(self.block).at_offset(self.offset)
    }

    /// One comparison and one load: nom's integers add the bytes up one by one.
    #[inline]
    fn next<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let Some((bytes, rest)) = self.rest.split_first_chunk() else {
            return Err(self.missing(what, N as u64));
        };
        self.offset += N as u64;
        self.rest = rest;
        Ok(*bytes)
    }
    #[cold]
    fn missing(&self, what: &str, want: u64) -> Error {
        self.blame(Error::truncated(what, want, self.rest.len() as u64))
    }
    /// The next 4 bytes.
    #[inline]
    pub fn u32(&mut self, what: &str) -> Result<u32> {
        self.next(what).map(u32::from_le_bytes)
    }
    /// The next 8 bytes.
    #[inline]
    pub fn u64(&mut self, what: &str) -> Result<u64> {
        self.next(what).map(u64::from_le_bytes)
    }
    /// The next 8 bytes, signed.
    pub fn i64(&mut self, what: &str) -> Result<i64> {
        self.next(what).map(i64::from_le_bytes)
    }
    /// The next `n` bytes.
    pub fn bytes(&mut self, n: u64, what: &str) -> Result<&'a [u8]> {
        // A count beyond usize is beyond what is left, too.
        let mut parser = take::<_, _, ()>(usize::try_from(n).unwrap_or(usize::MAX));
        let Ok((rest, bytes)) = parser.parse_complete(self.rest) else { return Err(self.missing(what, n)) };
        self.offset += n;
        self.rest = rest;
        Ok(bytes)
    }
    /// The next `N` bytes by value.
    pub fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        Ok(self.bytes(N as u64, what)?.try_into().expect("N bytes were taken"))
    }
    /// Everything that is left.
    #[inline]
    pub fn rest(&mut self) -> &'a [u8] {
        self.offset += self.rest.len() as u64;
        std::mem::take(&mut self.rest)
    }
    /// `n` records of `each` bytes, read by `read`. Refuses before allocating if that many bytes are not there.
    pub fn records<T>(
        &mut self,
        n: u32,
        each: u64,
        what: &str,
        read: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let want = u64::from(n) * each;
        if want > self.rest.len() as u64 {
            return Err(self.blame(Error::truncated(what, want, self.rest.len() as u64)));
        }
        let mut read = read;
        (0..n).map(|_| read(self)).collect()
    }
    /// The data at the end of a block: `size` bytes, or, in a compressed block, everything left, which becomes `size`
    /// bytes when decompressed.
    #[inline]
    pub fn payload(&mut self, size: u64, what: &str) -> Result<Payload<'a>> {
        let (at, block) = (self.offset, self.block);
        match self.codec {
            Some(codec) => Ok(Payload::compressed(self.rest(), codec, size, block, at).within(self.budget)),
            None => Ok(Payload::located(self.bytes(size, what)?, block, at).within(self.budget)),
        }
    }
}

/// Little-endian writing.
pub(crate) trait Put {
    /// Appends bytes.
    fn put(&mut self, bytes: &[u8]);
    /// Appends 4 bytes.
    fn put_u32(&mut self, v: u32) {
        self.put(&v.to_le_bytes());
    }
    /// Appends 8 bytes.
    fn put_u64(&mut self, v: u64) {
        self.put(&v.to_le_bytes());
    }
    /// Appends 4 bytes for each.
    fn put_u32s(&mut self, vs: &[u32]) {
        vs.iter().for_each(|&v| self.put_u32(v));
    }
    /// Appends exactly `n` bytes: `bytes`, cut or padded with zeros.
    fn put_padded(&mut self, bytes: &[u8], n: usize) {
        let have = bytes.len().min(n);
        self.put(&bytes[..have]);
        self.put(&vec![0; n - have]);
    }
}

impl Put for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}
