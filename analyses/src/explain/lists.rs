//! Which described tables are whose: questions in the order of [`crate::QUESTIONS`], then what else makes reports.

use super::meaning::Sheet;
use super::{rays, resources, shaders, times, what_if, work};

/// The tables of one analysis.
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// The question's or analysis's name.
    pub name: &'static str,
    /// Its tables, then its series.
    pub sheets: &'static [Sheet],
}

const fn list(name: &'static str, sheets: &'static [Sheet]) -> List {
    List { name, sheets }
}

/// Of each question.
pub static LISTS: &[List] = &[
    list("simt", shaders::SIMT),
    list("divergence", shaders::DIVERGENCE),
    list("its", shaders::ITS),
    list("paths", shaders::PATHS),
    list("ray-paths", shaders::PATHS),
    list("lifetimes", shaders::LIFETIMES),
    list("blocks", work::BLOCKS),
    list("hotspots", work::HOTSPOTS),
    list("counters", work::COUNTERS),
    list("registers", work::REGISTERS),
    list("uniformity", work::UNIFORMITY),
    list("values", work::VALUES),
    list("annotate", shaders::ANNOTATE),
    list("timeline", times::TIMELINE),
    list("ray-counts", rays::RAY_COUNTS),
    list("rays", rays::RAYS),
    list("ray-simt", rays::RAY_SIMT),
    list("shader-clock", times::SHADER_CLOCK),
    list("warp-order", rays::WARP_ORDER),
    list("ray-maps", rays::RAY_MAPS),
    list("unnecessary-tests", rays::UNNECESSARY_TESTS),
    list("repack", rays::REPACK),
    list("reorder", rays::REORDER),
    list("bindings", resources::BINDINGS),
    list("uniforms", resources::UNIFORMS),
    list("advice", resources::ADVICE),
    list("call-costs", resources::CALL_COSTS),
    list("sync", resources::SYNC),
];

/// Of what a replay, a looped frame and runs of `bench` report.
pub static ANALYSES: &[List] = &[
    list("frame-times", times::FRAME_TIMES),
    list("command-times", times::COMMAND_TIMES),
    list("loop-times", times::LOOP_TIMES),
    list("run-times", times::RUN_TIMES),
    list("bench", times::BENCH),
    list("what-if", what_if::WHAT_IF),
];
