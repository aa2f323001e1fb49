//! Blocks and texels of one format as texels of another: BC, ETC2, EAC and ASTC (LDR) decoded, depths in another number,
//! colours in wider channels or in one channel more; row by row, for images of the format that stands in.
//!
//! Pure, and made to be given anything: of bytes that are missing every block is zeros, and a block that no encoder writes
//! gives the colours that the format's decoder gives for errors. Guarantees: texels come in rows without gaps, slice behind
//! slice, as many as the extent has; blocks at the edges are cut. Values are those of the formats' specifications: to the bit
//! for ETC2 and EAC, within a step of 8 bits for ASTC, whose interpolation is of 16, and for BC1 to BC3, which leave the
//! rounding open; the nearest for what is not compressed, from which the captured bits follow again ([`Packing`]). Refuses
//! nothing; which formats there are is said by [`Codec::of`].

mod channels;
mod codec;
mod depth;
mod eac;
mod packing;
mod stand_ins;
#[cfg(test)]
mod tests;
mod texel;

pub use channels::channels;
pub use codec::Codec;
pub use packing::Packing;
pub use stand_ins::{family, feature, stand_ins};
