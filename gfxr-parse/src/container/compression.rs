//! The compression methods, and decompressing one block's data: LZ4 (raw block), zlib (stream) or zstd (frame).
//!
//! Guarantees: memory grows with what is really decoded, not with what a header declares, beyond
//! [`TRUSTED_SIZE`]; the result has exactly the declared size. Refuses data that are damaged, cut off, or longer or shorter
//! than declared.
//!
//! [`TRUSTED_SIZE`] is also what a [`Scratch`] keeps for the next block once it is trimmed.
//!
//! How each is kept from allocating what was merely promised: zlib and zstd are decoded as streams into a buffer that
//! doubles; an LZ4 block is first walked without decoding, which yields its exact size for the price of reading its
//! tokens.

use std::fmt;
use std::str::FromStr;

use flate2::{Decompress, FlushDecompress, Status};
use zstd::zstd_safe::{self, DCtx, DParameter, InBuffer, OutBuffer};

use crate::container::lz4;
use crate::error::{Error, Kind, Result};
use crate::limits::{MAX_ZSTD_WINDOW_LOG, TRUSTED_SIZE};

/// A compression method; the discriminant is the value of the file option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Compression {
    /// Nothing is compressed.
    #[default]
    None = 0,
    /// A raw LZ4 block, without a frame.
    Lz4 = 1,
    /// A zlib stream.
    Zlib = 2,
    /// A zstd frame.
    Zstd = 3,
}

impl Compression {
    /// All of them.
    pub const ALL: [Compression; 4] = [Self::None, Self::Lz4, Self::Zlib, Self::Zstd];

    /// The value of the file option.
    pub fn value(self) -> u32 {
        self as u32
    }
    /// The method with this value of the file option.
    pub fn from_value(value: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.value() == value)
    }
    /// Its name, also what [`FromStr`] takes.
    pub fn name(self) -> &'static str {
        ["none", "lz4", "zlib", "zstd"][self as usize]
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Compression {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|c| c.name().eq_ignore_ascii_case(text)).ok_or_else(|| {
            Error::new(Kind::Usage, format!("compression \"{text}\": expected none, lz4, zlib or zstd"))
        })
    }
}

/// zstd's number for a frame that wants a larger window than it may have (`ZSTD_error_frameParameter_windowTooLarge`).
const WINDOW_TOO_LARGE: usize = 16;

/// Memory that decompression uses again and again: one per thread.
#[derive(Default)]
pub struct Scratch {
    buffer: Vec<u8>,
    lz4: Option<Box<lz4::Decoder>>,
    zstd: Option<DCtx<'static>>,
    zlib: Option<Decompress>,
}

impl Scratch {
    /// Nothing allocated yet.
    pub fn new() -> Self {
        Self::default()
    }
    /// Decompresses `raw`, which must become exactly `size` bytes.
    #[inline]
    pub(crate) fn decompress(&mut self, codec: Compression, raw: &[u8], size: u64) -> Result<&[u8]> {
        if codec == Compression::Lz4 && size.max(raw.len() as u64) <= lz4::WINDOW_BYTES as u64 {
            return self.small_lz4(raw, size as usize);
        }
        self.decompress_large(codec, raw, size)
    }

    fn decompress_large(&mut self, codec: Compression, raw: &[u8], size: u64) -> Result<&[u8]> {
        let size =
            usize::try_from(size).map_err(|_| Error::limit("uncompressed size", size, usize::MAX as u64))?;
        match codec {
            Compression::None => return Err(no_codec()),
            Compression::Lz4 => self.lz4(raw, size)?,
            Compression::Zlib => self.zlib(raw, size)?,
            Compression::Zstd => self.zstd(raw, size)?,
        }
        Ok(&self.buffer[..size])
    }

    /// Gives memory back that a large block took; what most blocks need stays.
    #[inline]
    pub fn trim(&mut self) {
        if self.buffer.len() > TRUSTED_SIZE {
            self.buffer = Vec::new();
        }
    }
    /// The first `size` bytes of what was just decompressed, with the memory they lie in.
    pub(crate) fn take(&mut self, size: usize) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.buffer);
        bytes.truncate(size);
        bytes
    }

    /// Makes room for `size` bytes; what is there stays, so that reuse costs no clearing.
    fn reserve(&mut self, size: usize) {
        if self.buffer.is_empty() {
            self.buffer = vec![0; size];
        } else if self.buffer.len() < size {
            self.buffer.reserve_exact(size - self.buffer.len());
            self.buffer.resize(size, 0);
        }
    }

    fn lz4(&mut self, raw: &[u8], size: usize) -> Result<()> {
        if size > self.buffer.len().max(TRUSTED_SIZE) {
            match lz4_size(raw) {
                Some(real) if real == size as u64 => {}
                Some(real) => return Err(wrong_size(Compression::Lz4, size, Some(real))),
                None => return Err(damaged(Compression::Lz4, "a sequence runs past the end")),
            }
        }
        self.reserve(size);
        match lz4_flex::block::decompress_into(raw, &mut self.buffer[..size]) {
            Ok(n) if n == size => Ok(()),
            Ok(n) => Err(wrong_size(Compression::Lz4, size, Some(n as u64))),
            Err(lz4_flex::block::DecompressError::OutputTooSmall { .. }) => {
                Err(wrong_size(Compression::Lz4, size, lz4_size(raw)))
            }
            Err(e) => Err(damaged(Compression::Lz4, &e.to_string())),
        }
    }

    /// Most calls: see `lz4.rs`.
    #[inline]
    fn small_lz4(&mut self, raw: &[u8], size: usize) -> Result<&[u8]> {
        let decoder = self.lz4.get_or_insert_default();
        match decoder.decode(raw, size) {
            Ok(bytes) if bytes.len() == size => Ok(bytes),
            Ok(bytes) => Err(wrong_size(Compression::Lz4, size, Some(bytes.len() as u64))),
            Err(damage) => Err(small_damage(damage, raw, size)),
        }
    }

    fn zlib(&mut self, raw: &[u8], size: usize) -> Result<()> {
        let mut stream = self.zlib.take().unwrap_or_else(|| Decompress::new(true));
        stream.reset(true);
        let mut used = 0;
        loop {
            let (at, end) = self.grow(used, size);
            let before = (stream.total_in(), stream.total_out());
            let status = stream
                .decompress(&raw[before.0 as usize..], &mut self.buffer[at..end], FlushDecompress::None)
                .map_err(|_| damaged(Compression::Zlib, "not a valid stream"))?;
            used = stream.total_out() as usize;
            if used > size {
                return Err(wrong_size(Compression::Zlib, size, None));
            }
            if status == Status::StreamEnd {
                break;
            }
            if (stream.total_in(), stream.total_out()) == before {
                return Err(damaged(Compression::Zlib, "the stream is cut off"));
            }
        }
        if stream.total_in() != raw.len() as u64 {
            return Err(damaged(Compression::Zlib, "bytes follow the end of the stream"));
        }
        if used != size {
            return Err(wrong_size(Compression::Zlib, size, Some(used as u64)));
        }
        self.zlib = Some(stream);
        Ok(())
    }

    fn zstd(&mut self, raw: &[u8], size: usize) -> Result<()> {
        let name = |code| zstd_error(code);
        let mut context = match self.zstd.take() {
            Some(context) => context,
            None => {
                let mut context = DCtx::create();
                context.set_parameter(DParameter::WindowLogMax(MAX_ZSTD_WINDOW_LOG)).map_err(name)?;
                context
            }
        };
        let mut used = 0;
        if size <= TRUSTED_SIZE {
            // Small enough: straight into its place, without a window.
            self.reserve(size);
            used = context.decompress(&mut self.buffer[..size], raw).map_err(name)?;
        } else {
            context.reset(zstd_safe::ResetDirective::SessionOnly).map_err(name)?;
            let mut input = InBuffer::around(raw);
            loop {
                let (at, end) = self.grow(used, size);
                let mut output = OutBuffer::around(&mut self.buffer[at..end]);
                let before = input.pos();
                let hint = context.decompress_stream(&mut output, &mut input).map_err(name)?;
                let made = output.pos();
                used += made;
                if used > size {
                    return Err(wrong_size(Compression::Zstd, size, None));
                }
                if hint == 0 && input.pos() == raw.len() {
                    break;
                }
                if made == 0 && input.pos() == before {
                    return Err(damaged(Compression::Zstd, "the frame is cut off"));
                }
            }
        }
        if used != size {
            return Err(wrong_size(Compression::Zstd, size, Some(used as u64)));
        }
        self.zstd = Some(context);
        Ok(())
    }

    /// The free range after `used` bytes, never empty: at least one byte beyond `size` can be written, which is how a
    /// stream that is too long shows.
    fn grow(&mut self, used: usize, size: usize) -> (usize, usize) {
        let most = size.saturating_add(1);
        if used == self.buffer.len() {
            self.reserve(used.saturating_mul(2).clamp(TRUSTED_SIZE.min(most), most));
        }
        (used, self.buffer.len().min(most))
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scratch({} bytes)", self.buffer.len())
    }
}

/// Size of a raw LZ4 block once decoded; none if a sequence runs past the end. Reads tokens and lengths only.
fn lz4_size(raw: &[u8]) -> Option<u64> {
    let mut at = 0usize;
    let mut total = 0u64;
    let length = |at: &mut usize, nibble: u8| -> Option<u64> {
        let mut n = u64::from(nibble);
        let mut more = nibble == 15;
        while more {
            let byte = *raw.get(*at)?;
            *at += 1;
            n += u64::from(byte);
            more = byte == 255;
        }
        Some(n)
    };
    loop {
        let token = *raw.get(at)?;
        at += 1;
        let literals = length(&mut at, token >> 4)?;
        at = at.checked_add(usize::try_from(literals).ok()?).filter(|&a| a <= raw.len())?;
        total += literals;
        if at == raw.len() {
            return Some(total);
        }
        at += 2;
        total += length(&mut at, token & 15)? + 4;
    }
}

#[cold]
fn small_damage(damage: lz4::Damage, raw: &[u8], size: usize) -> Error {
    match damage {
        lz4::Damage::TooLarge => wrong_size(Compression::Lz4, size, lz4_size(raw)),
        lz4::Damage::CutOff => damaged(Compression::Lz4, "a sequence runs past the end"),
        lz4::Damage::Before => damaged(Compression::Lz4, "a match begins before the data do"),
    }
}

#[cold]
fn no_codec() -> Error {
    Error::malformed("a compressed block in a file whose header names no compression method")
}

#[cold]
fn damaged(method: Compression, why: &str) -> Error {
    Error::malformed(format!("damaged {method} data: {why}"))
}

#[cold]
fn zstd_error(code: usize) -> Error {
    let name = zstd_safe::get_error_name(code);
    if code.wrapping_neg() == WINDOW_TOO_LARGE {
        return Error::new(
            Kind::Limit,
            format!("zstd data: expected a window of at most {} bytes: {name}", 1 << MAX_ZSTD_WINDOW_LOG),
        );
    }
    damaged(Compression::Zstd, name)
}

#[cold]
fn wrong_size(method: Compression, declared: usize, real: Option<u64>) -> Error {
    let real = real.map_or("more".to_string(), |n| n.to_string());
    Error::malformed(format!("{method} data: expected {declared} bytes uncompressed, found {real}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::Compressor;

    fn pattern(n: usize) -> Vec<u8> {
        (0..n).map(|i| if i % 7 < 5 { 0 } else { (i / 64) as u8 }).collect()
    }

    #[test]
    fn the_walk_over_lz4_tokens_knows_the_size() {
        for n in [1, 4, 5, 12, 13, 18, 19, 20, 255, 270, 300, 65_536, 1_000_003] {
            for data in [pattern(n), vec![0; n], (0..n).map(|i| ((i * 7919) >> 3) as u8).collect()] {
                let raw = lz4_flex::block::compress(&data);
                assert_eq!(lz4_size(&raw), Some(n as u64));
                assert_eq!(lz4_size(&raw[..raw.len() - 1]).filter(|&s| s == n as u64), None);
            }
        }
        assert_eq!(lz4_size(&[]), None);
    }

    #[test]
    fn every_method_and_size_comes_back() {
        let mut scratch = Scratch::new();
        for method in [Compression::Lz4, Compression::Zlib, Compression::Zstd] {
            let mut compressor = Compressor::new(method);
            // Down as well as up: the scratch memory is larger than needed in between.
            for n in
                [100, 70_000, 3 * TRUSTED_SIZE + 17, 33, 2 * TRUSTED_SIZE, TRUSTED_SIZE + 1, TRUSTED_SIZE]
            {
                let data = pattern(n);
                let raw = compressor.compress(&data).unwrap().expect("shrinks").to_vec();
                assert!(scratch.decompress(method, &raw, n as u64).unwrap() == data, "{method} {n}");
                assert!(
                    Scratch::new().decompress(method, &raw, n as u64).unwrap() == data,
                    "{method} {n} fresh"
                );
            }
        }
    }

    #[test]
    fn a_wrong_declared_size_is_an_error_without_allocating_it() {
        for method in [Compression::Lz4, Compression::Zlib, Compression::Zstd] {
            for n in [1000, 2 * TRUSTED_SIZE] {
                let raw = Compressor::new(method).compress(&pattern(n)).unwrap().expect("shrinks").to_vec();
                for declared in [n - 1, n + 1, n / 2, 1 << 33] {
                    let mut scratch = Scratch::new();
                    let error = scratch.decompress(method, &raw, declared as u64).unwrap_err();
                    assert_eq!(error.kind(), Kind::Malformed, "{method} {n} {declared}: {error}");
                    assert!(scratch.buffer.len() <= 4 * n.max(TRUSTED_SIZE), "{method} {declared}");
                }
            }
        }
    }

    #[test]
    fn damage_at_any_byte_never_panics() {
        for method in [Compression::Lz4, Compression::Zlib, Compression::Zstd] {
            let data = pattern(3000);
            let raw = Compressor::new(method).compress(&data).unwrap().expect("shrinks").to_vec();
            let mut scratch = Scratch::new();
            for i in 0..raw.len() {
                assert!(scratch.decompress(method, &raw[..i], 3000).is_err(), "{method} cut at {i}");
                let mut bad = raw.clone();
                bad[i] ^= 0x55;
                let _ = scratch.decompress(method, &bad, 3000);
            }
            assert!(scratch.decompress(method, &raw, 3000).unwrap() == data, "{method} recovers");
        }
    }

    #[test]
    fn error_texts() {
        let mut scratch = Scratch::new();
        let mut text =
            |method, raw: &[u8], size| scratch.decompress(method, raw, size).unwrap_err().to_string();
        assert_eq!(
            text(Compression::None, &[], 4),
            "a compressed block in a file whose header names no compression method"
        );
        let raw = lz4_flex::block::compress(&[7; 100]);
        assert_eq!(text(Compression::Lz4, &raw, 99), "lz4 data: expected 99 bytes uncompressed, found 100");
        let raw = Compressor::new(Compression::Zlib).compress(&[7; 100]).unwrap().unwrap().to_vec();
        assert_eq!(
            text(Compression::Zlib, &raw, 99),
            "zlib data: expected 99 bytes uncompressed, found more"
        );
        assert_eq!(
            text(Compression::Zlib, &raw[..raw.len() - 2], 100),
            "damaged zlib data: the stream is cut off"
        );
        assert_eq!(
            "gzip".parse::<Compression>().unwrap_err().to_string(),
            "compression \"gzip\": expected none, lz4, zlib or zstd"
        );
    }
}
