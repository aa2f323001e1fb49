//! The container: file header, blocks, compression, frame numbers, sibling files.
//!
//! ```text
//! file     16-byte header, n x 8-byte options, blocks
//! block    u64 size of the body | u32 type | body            12-byte header, little-endian, no padding
//! ```
//!
//! Guarantees: nothing is copied or decompressed before it is asked for; a length is compared with the bytes that are
//! there before it is used; a block whose body is malformed is an error of that block only, its bytes stay at hand and
//! the next block follows. Refuses: files that are no captures, and versions newer than 0.1.

pub mod assets;
pub mod block;
pub mod blocks;
pub mod budget;
pub mod compress;
pub mod compression;
pub mod fields;
pub mod file;
pub mod frames;
pub(crate) mod framing;
pub mod header;
pub mod lz4;
pub mod payload;
pub mod reader;
mod source;

pub use assets::{AllBlocks, Assets, Readable};
pub use block::{Block, BlockKind, FunctionCall, Marker, MarkerKind, MethodCall, Unknown};
pub use blocks::Blocks;
pub use budget::Budget;
pub use compress::Compressor;
pub use compression::{Compression, Scratch};
pub use fields::{Fields, Text};
pub use file::{open_file, read_file};
pub use frames::{FrameCounter, FrameRule, Place};
pub use header::FileHeader;
pub use payload::Payload;
pub use reader::Capture;
pub use source::{Bytes, Source};
