//! The records that measuring writes and analysing reads: the only vocabulary that the two share.
//!
//! A record says what was measured, of what, in which unit, and nothing of how it was measured or what it
//! means. Records of one kind come in the order in which they were measured.
//!
//! Times of frames and of what they submit are records of their own. What instrumented shaders write comes as rows of
//! tables ([`tables`]): each says what its columns are, so that files and exports need to know nothing more.
//! Swizzles ([`swizzle`]) go the other way: analysing makes them, and a pass applies them.
#![forbid(unsafe_code)]

pub mod actions;
mod columns;
mod command_counters;
mod command_time;
mod cpu_span;
pub mod dir;
mod frame_time;
mod iteration;
pub mod names;
mod note;
pub mod plan;
pub mod run;
pub mod select;
pub mod suite;
pub mod swizzle;
pub mod table;
pub mod tables;
pub mod tolerance;
mod units;
pub mod what_if;

pub use columns::{ColumnData, Columns, Memory, Parts, Source, Unreadable};
pub use command_counters::{COUNTERS, CommandCounters, counter_name};
pub use command_time::{CommandTime, Node, SpanKind, TimeNames};
pub use cpu_span::{Calibration, CpuSpan};
pub use frame_time::FrameTime;
pub use iteration::Iteration;
pub use table::{Column, Kind, Table, Value};
pub use units::{Nanos, Ticks};

/// The version of the records' meaning and fields. It goes up by one when a field changes or goes; readers of
/// older versions stay, a file each.
pub const SCHEMA_VERSION: u32 = 1;
