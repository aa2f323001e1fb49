//! Compressed blocks as texels: what is in the blocks of BC, ETC2, EAC and ASTC (LDR), row by row, for images of an uncompressed
//! format.
//!
//! Pure, and made to be given anything: of bytes that are missing every block is zeros, and a block that no encoder writes gives
//! the colours that the format's decoder gives for errors. Guarantees: texels come in rows without gaps, slice behind slice, as
//! many as the extent has; blocks at the edges are cut. Values are those of the formats' specifications: to the bit for ETC2 and
//! EAC, within a step of 8 bits for ASTC, whose interpolation is of 16, and for BC1 to BC3, which leave the rounding open.
//! Refuses nothing; which formats there are is said by [`Codec::of`].

mod codec;
mod eac;
mod stand_ins;
#[cfg(test)]
mod tests;
mod texel;

pub use codec::Codec;
pub use stand_ins::{feature, stand_ins, twin};
pub use texel::texel_bytes;
