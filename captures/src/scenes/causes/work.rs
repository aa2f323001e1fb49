//! How much there is of everything: what is tuned, so that every planted cause takes a few tenths of a millisecond on a large GPU.
//!
//! Nothing else here says a number of its own. Shaders are told by push constants; but a workgroup is 32x2 texels, a target of triangles
//! 32x32, and what textures are made of 1024x1024, there as well.

use ash::vk;

/// The side of a tile of the picture, and of the targets that are shown whole.
pub const TILE: u32 = 32;

/// The target of full-screen draws. A tile shows the middle of every 15x15 pixels, which no rounding moves.
pub const SCREEN: vk::Extent2D = vk::Extent2D { width: TILE * 15, height: TILE * 15 };

/// The textures: of powers of two, and at most [`PATTERN`] or multiples of it.
pub const LARGE: vk::Extent2D = vk::Extent2D { width: 8192, height: 4096 };
/// The small one.
pub const SMALL: vk::Extent2D = vk::Extent2D { width: 16, height: 16 };
/// What both are copied from has this side.
pub const PATTERN: u32 = 1024;
/// Rounds of arithmetic that a texel of it is.
pub const PATTERN_ROUNDS: u32 = 2;
/// Texels that a fragment reads.
pub const TEXELS: u32 = 16;

/// Rounds of arithmetic of a fragment.
pub const DEAR_ROUNDS: u32 = 1000;
/// Without the cause.
pub const PLAIN_ROUNDS: u32 = 50;
/// In both passes of one target.
pub const PASS_ROUNDS: u32 = 250;
/// Draws of the pass whose result is overwritten, each over all of the target.
pub const REDUNDANT_DRAWS: u32 = 2;

/// Dispatches, of one workgroup each, the rows of a tile that one writes, and the rounds of a texel.
pub const DISPATCHES: u32 = TILE / ROWS;
/// See [`DISPATCHES`].
pub const ROWS: u32 = 2;
/// See [`DISPATCHES`].
pub const ROW_ROUNDS: u32 = 1200;

/// Triangles of one pixel.
pub const DRAWS: u32 = 300;
/// Rounds of one.
pub const DOT_ROUNDS: u32 = 4;

/// What all numbers begin with.
pub const SEED: u32 = 7;

/// What targets are cleared to, and that as bytes.
pub const CLEARED: [f32; 4] = [0.2, 0.2, 0.2, 1.0];
/// See [`CLEARED`].
#[cfg(test)]
pub const CLEARED_BYTES: [u8; 3] = [51; 3];
