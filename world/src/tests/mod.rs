//! Hand-made calls, and the samples.

pub(crate) mod bench;
mod binds;
mod buffers;
mod damaged;
mod runs;
mod samples;
mod updates;
