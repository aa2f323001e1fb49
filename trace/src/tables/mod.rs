//! Every table there is, a file for each pass that fills some.

mod bench;
mod blocks;
mod counters;
mod divergence;
mod executables;
mod geometry;
mod its;
mod lifetimes;
mod paths;
mod rays;
mod resources;
mod sampling;
mod shader_clock;
mod shaders;
mod simt;
mod sync;
mod texts;
mod timeline;
mod uniformity;
mod values;

pub use bench::*;
pub use blocks::*;
pub use counters::*;
pub use divergence::*;
pub use executables::*;
pub use geometry::*;
pub use its::*;
pub use lifetimes::*;
pub use paths::*;
pub use rays::*;
pub use resources::*;
pub use sampling::*;
pub use shader_clock::*;
pub use shaders::*;
pub use simt::*;
pub use sync::*;
pub use texts::*;
pub use timeline::*;
pub use uniformity::*;
pub use values::*;

use crate::Table;

/// All of them.
pub static TABLES: &[&Table] = &[
    &PIPELINES,
    &ENTRIES,
    &FUNCTIONS,
    &BLOCKS,
    &EDGES,
    &FRAMES,
    &SIMT,
    &SPIRV_TEXT,
    &SOURCE_TEXT,
    &METRICS,
    &ACTIONS,
    &COUNTERS,
    &CLASSES,
    &EXECUTABLES,
    &BLOCK_RUNS,
    &BLOCK_COUNTS,
    &EDGE_COUNTS,
    &SIMT_HELPERS,
    &SIMT_TRACES,
    &DIVERGENCE,
    &ITS,
    &PATH_SUBGROUPS,
    &PATH_CALLS,
    &LIFETIMES,
    &LIFETIME_SUMS,
    &INSTRUCTIONS,
    &UNIFORMITY_SITES,
    &UNIFORMITY,
    &VALUE_SITES,
    &VALUES,
    &VALUES_SEEN,
    &VALUE_REGISTERS,
    &VALUE_CHANGES,
    &TIMELINE,
    &TIMELINE_EXITS,
    &SHADER_CLOCK,
    &RAY_LAUNCHES,
    &RAYS,
    &WARPS,
    &STRUCTURES,
    &GEOMETRIES,
    &INSTANCES,
    &BOXES,
    &TRIANGLES,
    &LAUNCH_STRUCTURES,
    &RESOURCE_PIPELINES,
    &RESOURCE_STAGES,
    &RESOURCE_SLOTS,
    &RESOURCE_MEMBERS,
    &INVOCATIONS,
    &INVOCATION_SETS,
    &SET_CONTENTS,
    &DYNAMIC_OFFSETS,
    &DESCRIPTORS,
    &INVOCATION_BLOCKS,
    &CONTENT_WORDS,
    &UPLOADS,
    &RESOURCE_BUFFERS,
    &CALL_COSTS,
    &SYNC_SUBMISSIONS,
    &SYNC_WAITS,
    &SYNC_BARRIERS,
    &SYNC_ACCESSES,
    &SYNC_OBJECTS,
    &BENCH_FRAMES,
    &BENCH_PLACES,
    &BENCH_SPANS,
    &BENCH_CALLS,
    &SAMPLES,
    &SIMT_GROUPS,
    &DIVERGENCE_GROUPS,
];
