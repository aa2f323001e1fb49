//! The records that measuring writes and analysing reads: the only vocabulary that the two share.
//!
//! A record says what was measured, of what, in which unit, and nothing of how it was measured or what it
//! means. Records come in batches of one kind ([`Batch`]), in the order in which they were measured, so that
//! a batch can lie on disk as columns.
//!
//! What is here so far are the records of the times of frames and of what they submit. The records of instrumented shaders, and the files
//! that all of them lie in, come with the passes that write them.
#![forbid(unsafe_code)]

mod batch;
mod command_counters;
mod command_time;
mod cpu_span;
mod frame_time;
mod iteration;
mod units;

pub use batch::{Batch, RecordKind, RecordKinds};
pub use command_counters::{COUNTERS, CommandCounters, counter_name};
pub use command_time::{CommandTime, Node, SpanKind, TimeNames};
pub use cpu_span::{Calibration, CpuSpan};
pub use frame_time::FrameTime;
pub use iteration::Iteration;
pub use units::{Nanos, Ticks};

/// The version of the records' meaning and fields. It goes up by one when a field changes or goes; readers of
/// older versions stay, a file each.
pub const SCHEMA_VERSION: u32 = 1;
