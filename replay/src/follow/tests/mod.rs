//! Hand-made calls, and the samples.

mod bench;
mod binds;
mod buffers;
mod damaged;
mod runs;
mod samples;
mod updates;
