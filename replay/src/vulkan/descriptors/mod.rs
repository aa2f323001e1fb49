//! Descriptors: pools that hold enough (`pools.rs`), the data of update templates (`template.rs`), and the driver's own bytes
//! in descriptor buffers (`buffers.rs`).

mod buffers;
pub(super) mod pools;
pub(super) mod state;
mod table;
pub(super) mod template;

pub(crate) use buffers::{buffer_gone, buffer_made, loaded, updated, written};
pub use buffers::{copy, get, layout};
pub(crate) use state::{Descriptors, Pools};
pub(crate) use table::Piece;
