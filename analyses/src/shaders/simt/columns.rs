//! The tables of `simt`: what a row is, and each column with its unit and meaning.

use crate::context::columns::{BLOCK, ENTRY, FRAME, PIPELINE, STAGE};
use crate::report::Unit::{Executions, Invocations, Percent, Subgroups, Text};
use crate::report::sheet::{Meaning, Sheet, m, sheet};
use crate::shaders::scopes::Sheets;

const EVENT_SUMS: &[Meaning] = &[
    m("executed", Subgroups, "executions by subgroups"),
    m("active", Invocations, "invocations that were active in them, summed"),
    m("efficiency", Percent, "active invocations over executions times the subgroup size"),
];

const SIMT_MORE: &[Meaning] = &[
    m("weighted", Percent, "the same, each execution counted as often as its block has instructions"),
    m("helpers", Invocations, "helper invocations that were there; they are in no other number"),
];

pub const WHOLE: Sheet =
    sheet("whole", "all basic blocks together", &[&[m("basic blocks", Text, "all")], EVENT_SUMS, SIMT_MORE]);

pub const EVENTS: Sheet = sheet(
    "events",
    "a kind of event of rays, or all that count: calls that trace, and entries of intersection, any-hit, miss and closest-hit shaders, not of callable ones",
    &[&[m("event", Text, "the kind")], EVENT_SUMS],
);

pub const STAGES: Sheet = sheet("stages", "a shader stage", &[STAGE, EVENT_SUMS, SIMT_MORE]);

pub const PIPELINES: Sheet =
    sheet("pipelines", "a pipeline or shader object", &[PIPELINE, EVENT_SUMS, SIMT_MORE]);

pub const SHADERS: Sheet = sheet("shaders", "an entry point of a pipeline", &[ENTRY, EVENT_SUMS, SIMT_MORE]);

pub const FRAMES: Sheet = sheet("frames", "a frame", &[FRAME, EVENT_SUMS, SIMT_MORE]);

pub const BLOCKS: Sheet = sheet(
    "blocks",
    "a basic block; what wasted the most slots comes first",
    &[ENTRY, BLOCK, EVENT_SUMS, SIMT_MORE],
);

/// The tables of scopes below the whole.
pub const SCOPES: Sheets =
    Sheets { stages: STAGES, pipelines: PIPELINES, shaders: SHADERS, frames: FRAMES, blocks: BLOCKS };

/// How many columns of a table, its last ones, are numbers.
pub const SUMS: usize = EVENT_SUMS.len() + SIMT_MORE.len();

const BARS: &[Meaning] = &[
    m("active", Invocations, "active invocations of an execution"),
    m("executions", Executions, "executions with so many"),
];

pub const POPCOUNTS: Sheet = sheet(
    "popcounts_*",
    "executions with so many active invocations: of all blocks, and of those of a stage",
    &[BARS],
);

pub const SHEETS: &[Sheet] = &[WHOLE, EVENTS, STAGES, PIPELINES, SHADERS, FRAMES, BLOCKS, POPCOUNTS];
