//! How blocks lie in a file: the header before each, and the numbers of their types.

use super::fields::Put;

/// Block types, without the compressed bit.
pub mod block_type {
    /// A frame's begin or end.
    pub const FRAME_MARKER: u32 = 1;
    /// The state snapshot's begin or end.
    pub const STATE_MARKER: u32 = 2;
    /// Anything that is not a call of the API.
    pub const META_DATA: u32 = 3;
    /// A call.
    pub const FUNCTION_CALL: u32 = 4;
    /// Text about the capture.
    pub const ANNOTATION: u32 = 5;
    /// A method call of an object (Direct3D 12).
    pub const METHOD_CALL: u32 = 6;
}

/// Writes a block header, lets `body` write the rest, and sets the size.
pub(crate) fn framed(out: &mut Vec<u8>, ty: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.put_u64(0);
    out.put_u32(ty);
    body(out);
    let size = (out.len() - start - HEADER_BYTES) as u64;
    out[start..start + 8].copy_from_slice(&size.to_le_bytes());
}

/// The type of a block whose data are, or are not, compressed.
pub(crate) fn typed(base: u32, compressed: bool) -> u32 {
    if compressed { base | COMPRESSED_BIT } else { base }
}

/// Bytes of a block header.
pub const HEADER_BYTES: usize = 12;

/// The bit that marks a compressed block.
pub const COMPRESSED_BIT: u32 = 0x8000_0000;
