//! Hooks: what may stand between the capture's calls and the driver.
//!
//! What a hook says of itself is here; [`Hook`] and what runs a chain of them lie in `exec.rs`, as each names the other.

mod commands;
mod needs;

pub use crate::exec::{Hook, Next};
pub use commands::{Commands, index_of};
pub use needs::{Feature, Needs};
