//! Writing captures: blocks passed on as they are, new blocks, whole files in another compression, and parameters by
//! hand.
//!
//! Guarantees: a block passed on raw is the same bytes; data of new blocks are compressed with the file's method only if
//! that makes them smaller, as gfxreconstruct does. Refuses to pass on raw what is compressed with another method than
//! the file it goes into.

mod blocks;
pub mod params;
pub mod transcode;

pub use blocks::{Writer, frame_block};
pub use params::ParamWriter;
pub use transcode::{Transcoded, transcode};
