//! The container layer from outside: hand-written bytes in, fields and the same bytes out; real captures through it.
//!
//! Tests that need the real captures say so and pass when the folder is absent (see [`common::captures`]).

mod assets;
mod budget;
mod common;
mod files;
mod frames;
mod golden_blocks;
mod golden_meta;
mod header;
mod real;
mod transcode;
mod truncation;
