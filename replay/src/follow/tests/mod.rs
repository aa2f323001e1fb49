//! Hand-made calls, and the samples.

mod bench;
mod binds;
mod buffers;
mod runs;
mod samples;
mod updates;
