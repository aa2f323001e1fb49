//! Files and folders: captures and traces that are opened, results that are written.
//!
//! Guarantees: what is written is there whole or not at all. Refuses folders that hold something, where a new one is wanted.

pub mod archive;
pub mod folder;
pub mod input;
pub mod memory;
pub mod mmap;
pub mod output;
