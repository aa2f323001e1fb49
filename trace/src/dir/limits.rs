//! Every limit of a trace on disk, for writing and for reading. What is beyond one is refused with a message that names it.

/// The version of the layout of a table's file. It goes up when the layout changes; the table's own version is another.
pub const FORMAT: u32 = 2;
/// The oldest that is read.
pub const OLDEST_FORMAT: u32 = 1;
/// Rows of a chunk.
pub const CHUNK_ROWS: usize = 1 << 15;
/// Bytes of text after which a chunk is written, even if it has fewer rows.
pub const CHUNK_TEXT: usize = 4 << 20;
/// Bytes of one text.
pub const TEXT: usize = 16 << 20;
/// Bytes of one column of one chunk, before compression.
pub const COLUMN: usize = 64 << 20;
/// Columns of a table.
pub const COLUMNS: usize = 256;
/// Bytes of a table's or a column's name.
pub const NAME: usize = 255;
/// Chunks of a table.
pub const CHUNKS: usize = 1 << 24;
/// Bytes of a manifest.
pub const MANIFEST: u64 = 64 << 20;
/// The level that columns are compressed with: delta and dictionaries have taken most out before.
pub const ZSTD_LEVEL: i32 = 1;
/// Bytes in memory of a table that is read as a whole.
pub const WHOLE: u64 = 8 << 30;
/// What the values of a column that counts or measures may add up to: whoever sums them, or multiplies a sum by the invocations
/// of a subgroup, stays within 64 bits.
pub const SUM: u64 = 1 << 56;
