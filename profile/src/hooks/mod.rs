//! Hooks into a replay. Each makes its own objects with `ash` directly: nothing measures the measurer.

// Hooks call the driver; every block says why it may.
#![allow(unsafe_code)]

pub mod actions;
pub mod arm;
pub mod breadcrumbs;
pub mod busy;
pub mod call_costs;
pub mod command_times;
pub mod contents;
mod debug_names;
pub mod executables;
pub mod first_run;
pub mod frame_actions;
pub mod frame_times;
pub mod geometry;
pub mod instrument;
pub mod measurement;
pub mod numbering;
pub mod pipeline_flags;
pub mod pipeline_times;
pub mod put;
pub(crate) mod readable;
pub mod repartition;
pub mod resources;
pub mod screenshot;
pub mod sync;
mod timestamps;
pub mod written;
