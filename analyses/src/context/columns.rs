//! Columns that many tables share: which shader, which block, which frame.

use crate::report::Unit::{Count, Text};
use crate::report::sheet::{Meaning, Thing, m};

/// Of `Context::entry_cells`.
pub const ENTRY: &[Meaning] = &[
    m("pipeline", Count, "the capture's id of the pipeline or shader object").names(Thing::Pipeline),
    m("stage", Text, "the shader stage"),
    m("shader", Text, "the first digits of the module's BLAKE3 hash, by which `extract` names its file")
        .names(Thing::Shader),
    m("entry", Text, "the entry point's name"),
];

/// The same where a row is of all pipelines that use the entry point.
pub const SHADER: &[Meaning] = &[
    m("stage", Text, "the shader stage"),
    m("shader", Text, "the first digits of the module's BLAKE3 hash, by which `extract` names its file")
        .names(Thing::Shader),
    m("entry", Text, "the entry point's name"),
];

/// Of `Context::block_cells`, behind [`ENTRY`].
pub const BLOCK: &[Meaning] = &[
    m("function", Text, "the function that the block is in, by name or id"),
    m("block", Count, "the basic block's number in its function, from 0"),
    m("label", Text, "the block's OpLabel in the module as the application made it").names(Thing::Block),
    m("source", Text, "file and line, where the module carries them").names(Thing::Line),
];

/// A frame.
pub const FRAME: &[Meaning] =
    &[m("frame", Count, "the capture's number of the frame, from 1").names(Thing::Frame)];

/// A launch.
pub const LAUNCH: &[Meaning] = &[
    m("frame", Count, "the capture's number of the frame, from 1").names(Thing::Frame),
    m("launch", Count, "which launch of the frame, from 0, in the order of submission"),
];

/// A stage.
pub const STAGE: &[Meaning] = &[m("stage", Text, "the shader stage")];

/// A pipeline in words.
pub const PIPELINE: &[Meaning] =
    &[m("pipeline", Text, "the pipeline or shader object, by the capture's id and its debug name")
        .names(Thing::Pipeline)];
