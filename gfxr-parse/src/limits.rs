//! Every bound this crate puts on its input, in one place, each with what it protects.
//!
//! A length read from a file is never trusted before the bytes it promises have been seen: allocations grow with bytes
//! consumed, and where C memory is larger than the wire (a `char[256]` holding three letters) the growth is capped
//! by [`MAX_IMAGE_BYTES`].

/// Deepest pNext chain. The registry has some 1,600 structs, of which a few may stand in a chain more than once; each link
/// takes stack of its own (`deeper`), so that this is what a damaged capture may take of memory for it.
pub const MAX_PNEXT: usize = 4096;
/// Deepest nesting of structs within one call, from one link of a chain to the next. Protects the stack.
pub const MAX_DEPTH: usize = 64;
/// Largest decoded image of one call, in bytes. Real calls stay below a few hundred MiB (vkCmdUpdateBuffer, shaders).
pub const MAX_IMAGE_BYTES: usize = 1 << 30;
/// Largest uncompressed size of one block, in bytes.
pub const MAX_BLOCK_BYTES: u64 = 8 << 30;
/// What decoding a capture may take in memory where nobody says otherwise (`--max-memory`, [`crate::container::Budget`]).
pub const DEFAULT_MEMORY_BYTES: u64 = 2 << 30;
/// Largest decoded image in relation to the bytes it is decoded from: a null pointer of 4 bytes becomes a slot and a
/// record of 48, and few things grow more.
pub const MAX_IMAGE_RATIO: u64 = 16;
/// Up to this an image may be any multiple of its bytes: structs of a call that the driver left empty have up to
/// 256 bytes for one null string of 4.
pub const FREE_IMAGE_BYTES: u64 = 16 << 20;
/// Largest window of a zstd frame, as a power of two: what every decoder is to support by RFC 8878, 3.1.1.1.2, and 16
/// times what gfxreconstruct's level asks for. A decoder sets that much aside at once.
pub const MAX_ZSTD_WINDOW_LOG: u32 = 23;
/// Largest growth that a compressed payload may declare: LZ4 and zlib cannot exceed 255:1 and 1032:1; zstd of constant
/// data is far denser, so its declared size is only bounded by [`MAX_BLOCK_BYTES`] and by growing while decoding.
pub const MAX_RATIO: u64 = 1032;
/// Most options in a file header; gfxreconstruct writes one.
pub const MAX_FILE_OPTIONS: u32 = 1024;
/// Most descriptors (of all kinds together) in one update-template payload.
pub const MAX_TEMPLATE_DESCRIPTORS: u64 = 1 << 24;
/// Deepest chain of "execute blocks from file" references.
pub const MAX_ASSET_DEPTH: usize = 8;
/// Uncompressed sizes up to this are allocated as declared; beyond it memory grows with what is really decoded.
pub const TRUSTED_SIZE: usize = 4 << 20;
/// Most "execute blocks from file" references followed in one pass over a capture: files that name each other could
/// otherwise keep a reader busy for ever without growing.
pub const MAX_ASSET_RUNS: u64 = 1 << 22;
/// Most blocks taken from other files in one pass over a capture, for the same reason: a short file of many blocks that
/// runs itself many times stays below [`MAX_ASSET_RUNS`] and still offers billions of blocks.
pub const MAX_ASSET_BLOCKS: u64 = 1 << 26;

/// Goes on behind a link of a pNext chain, on more stack where there is little left.
pub(crate) fn deeper<T>(f: impl FnOnce() -> T) -> T {
    // (between two links there are at most `MAX_DEPTH` structs)
    stacker::maybe_grow(256 << 10, 4 << 20, f)
}
