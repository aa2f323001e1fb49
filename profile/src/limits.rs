//! The limits of this crate: what a shader may ask of those who follow it.
//!
//! A module that was checked ([`pointers::limits`]) is sound, and may still be made to cost its readers more time and memory
//! than there is. Beyond a limit a shader is left alone, and the reason says so.

/// Blocks of a function. What is asked of its control flow grows with their square.
pub const MOST_BLOCKS: usize = 1 << 16;
/// Loops of a function times its blocks: for each loop it is known which blocks are inside.
pub const MOST_LOOPS_TIMES_BLOCKS: usize = 1 << 26;
/// Parts of resources that values are known to be, all together.
pub const MOST_PARTS: usize = 1 << 20;
/// How often such a part is handed on from a value to another.
pub const MOST_PARTS_MOVED: usize = 1 << 25;
/// Bytes of a member's name, its structs' names included.
pub const MOST_NAME_BYTES: usize = 1 << 10;
/// Ranges of bytes of a block that are told apart before they are joined: elements of arrays of structs have one each.
pub const MOST_RANGES: u64 = 1 << 20;
