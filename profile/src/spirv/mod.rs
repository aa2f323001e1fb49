//! SPIR-V, taken apart so that probes can be put in and the whole put together again.
//!
//! [`Module`] keeps the sections of the logical layout and, for every instruction, where it stood in the module as the
//! application made it. rspirv reads and writes the instructions; its own module type refuses some modules that drivers
//! take (debug information outside functions, execution modes with ids), so the sections are kept here.
//!
//! [`Graph`] holds what is true of any control-flow graph: dominators, post-dominators, loops. [`Cfg`] is one of a
//! function; [`uniform`] says which values all of a subgroup share. Passes never split blocks: they put calls of helper functions at [`Place`]s, or a block on an edge.

mod cfg;
mod edit;
mod emptied;
mod entry;
mod error;
mod function;
mod graph;
mod index;
mod link;
mod module;
#[cfg(test)]
mod tests;
mod types;
pub mod uniform;

pub use cfg::{Cfg, Edge, EdgeKind};
pub use edit::Place;
pub use entry::{EntryPoint, stage_of};
pub(crate) use error::malformed;
pub use error::{Malformed, Result};
pub use function::{Block, Function, Inst};
pub(crate) use graph::Tree;
pub use graph::{Graph, Loop};
pub use link::{FIRST_SPEC_ID, Imported, Library, built_in_of};
pub use module::Module;
pub use types::Types;

pub use rspirv::dr::{Instruction, Operand};
pub use rspirv::spirv::Op;
