//! Every table there is, a file for each pass that fills some.

mod shaders;
mod simt;

pub use shaders::*;
pub use simt::*;

use crate::Table;

/// All of them.
pub static TABLES: &[&Table] = &[&PIPELINES, &ENTRIES, &FUNCTIONS, &BLOCKS, &EDGES, &FRAMES, &SIMT];
