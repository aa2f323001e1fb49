//! Hand-made calls (`bench.rs`), and the samples.

mod binds;
mod buffers;
mod damaged;
mod runs;
mod samples;
mod updates;
