//! The tables of `divergence`: what a row is, and each column with its unit and meaning.

use crate::context::columns::{BLOCK, ENTRY, FRAME, PIPELINE, STAGE};
use crate::report::Unit::{Count, Instructions, Percent, Text};
use crate::report::sheet::{Meaning, Sheet, m, sheet};
use crate::shaders::scopes::Sheets;

pub const CAUSES: Sheet = sheet(
    "causes",
    "a cause, and parts and sums of them",
    &[&[
        m("cause", Text, "why slots were inactive; active ones and all for comparison"),
        m("slots", Count, "slots of this cause"),
        m("of inactive", Percent, "share of all inactive slots"),
        m("of all", Percent, "share of all slots"),
        m("slots", Instructions, "slots of this cause, each counted as often as its block has instructions"),
        m("of inactive, weighted", Percent, "share of these of all inactive ones"),
        m("of all, weighted", Percent, "share of these of all"),
    ]],
);

const BY_CAUSE: &[Meaning] = &[
    m("slots", Count, "executions of basic blocks by subgroups, times the subgroup size"),
    m("inactive", Count, "of these, slots whose invocation was not active"),
    m("early return", Count, "of these: it had left the entry point for good"),
    m("indirect call", Count, "it was absent where the shader was entered"),
    m("control flow", Count, "it went another way"),
    m("helper", Count, "it had entered as a helper of a fragment"),
    m("inactive", Instructions, "inactive slots, each counted as often as its block has instructions"),
    m("early return, weighted", Percent, "of the weighted inactive slots"),
    m("indirect call, weighted", Percent, "of the weighted inactive slots"),
    m("control flow, weighted", Percent, "of the weighted inactive slots"),
    m("helper, weighted", Percent, "of the weighted inactive slots"),
];

/// How many columns of a table, its last ones, are numbers.
pub const MEASURED: usize = BY_CAUSE.len();

pub const STAGES: Sheet = sheet("stages", "a shader stage", &[STAGE, BY_CAUSE]);

pub const PIPELINES: Sheet = sheet("pipelines", "a pipeline or shader object", &[PIPELINE, BY_CAUSE]);

pub const SHADERS: Sheet = sheet("shaders", "an entry point of a pipeline", &[ENTRY, BY_CAUSE]);

pub const FRAMES: Sheet = sheet("frames", "a frame", &[FRAME, BY_CAUSE]);

pub const BLOCKS: Sheet =
    sheet("blocks", "a basic block; what wasted the most slots comes first", &[ENTRY, BLOCK, BY_CAUSE]);

/// The tables of scopes.
pub const SCOPES: Sheets =
    Sheets { stages: STAGES, pipelines: PIPELINES, shaders: SHADERS, frames: FRAMES, blocks: BLOCKS };

pub const SHEETS: &[Sheet] = &[CAUSES, STAGES, PIPELINES, SHADERS, FRAMES, BLOCKS];
