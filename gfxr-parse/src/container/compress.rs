//! Compressing one block's data.
//!
//! Guarantees: what does not get smaller is not compressed, as gfxreconstruct does it; memory is used again from block to
//! block. Refuses nothing beyond what the libraries refuse.

use std::fmt;

use flate2::{Compress, FlushCompress, Status};
use zstd::zstd_safe::{self, CCtx};

use crate::container::Compression;
use crate::error::{Error, Result};

/// zstd's level: the one gfxreconstruct uses.
const ZSTD_LEVEL: i32 = 1;
/// LZ4's own bound on its input (`LZ4_MAX_INPUT_SIZE`); larger blocks stay uncompressed.
const LZ4_MAX_INPUT: usize = 0x7E00_0000;

/// Compresses block after block with one method.
pub struct Compressor {
    method: Compression,
    buffer: Vec<u8>,
    zstd: Option<CCtx<'static>>,
}

impl Compressor {
    /// One that uses `method`.
    pub fn new(method: Compression) -> Self {
        let zstd = (method == Compression::Zstd).then(CCtx::create);
        Compressor { method, buffer: Vec::new(), zstd }
    }
    /// The method.
    pub fn method(&self) -> Compression {
        self.method
    }
    /// `data` compressed; none if that did not make them smaller, in which case the block stays as it is.
    pub fn compress(&mut self, data: &[u8]) -> Result<Option<&[u8]>> {
        let n = match self.method {
            Compression::None => return Ok(None),
            Compression::Lz4 if data.len() > LZ4_MAX_INPUT => return Ok(None),
            Compression::Lz4 => {
                self.buffer.resize(lz4_flex::block::get_maximum_output_size(data.len()), 0);
                lz4_flex::block::compress_into(data, &mut self.buffer)
                    .map_err(|e| Error::malformed(format!("LZ4: {e}")))?
            }
            Compression::Zlib => {
                // A stream that does not end within the input's own size is not worth having.
                self.buffer.resize(data.len(), 0);
                let mut stream = Compress::new(flate2::Compression::default(), true);
                let status = stream
                    .compress(data, &mut self.buffer, FlushCompress::Finish)
                    .map_err(|e| Error::malformed(format!("zlib: {e}")))?;
                if status != Status::StreamEnd {
                    return Ok(None);
                }
                stream.total_out() as usize
            }
            Compression::Zstd => {
                self.buffer.resize(zstd_safe::compress_bound(data.len()), 0);
                let context = self.zstd.get_or_insert_with(CCtx::create);
                context
                    .compress(&mut self.buffer[..], data, ZSTD_LEVEL)
                    .map_err(|code| Error::malformed(format!("zstd: {}", zstd_safe::get_error_name(code))))?
            }
        };
        Ok((n > 0 && n < data.len()).then(|| &self.buffer[..n]))
    }
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Compressor({})", self.method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_shrink_stays() {
        for method in Compression::ALL {
            assert_eq!(Compressor::new(method).compress(&[1, 2, 3]).unwrap(), None);
            assert_eq!(Compressor::new(method).compress(&[]).unwrap(), None);
        }
    }
}
