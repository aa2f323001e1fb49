//! Times, as the commands that measure them print them: of a replay's frames and commands, of one frame draw by draw, of a looped frame,
//! and of runs.
//!
//! One folder a report. They are functions of what a run has at hand, and no questions to a trace.

pub mod bench;
pub mod command_times;
pub mod frame;
pub mod frame_times;
pub mod loop_times;
pub mod run_times;
