//! The tables of `counters`: what a row is, and each column with its unit and meaning.

use crate::context::columns::FRAME;
use crate::report::Unit::{Count, Executions, Text};
use crate::report::sheet::{Meaning, OTHERS, Sheet, Thing, m, sheet};

pub const METRICS: Sheet = sheet(
    "metrics",
    "a metric",
    &[&[
        m("metric", Text, "its name, and that of its column in the other tables"),
        m("about", Text, "what it counts"),
        m("source", Text, "who counts: portable (shaders of our own) or arm (the driver)"),
        m("all actions", Count, "its sum over all actions of all measured frames"),
    ]],
);

const ACTION: &[Meaning] = &[
    m("frame", Count, "the capture's number of the frame, from 1").names(Thing::Frame),
    m(
        "draw",
        Count,
        "its number among the frame's draws, dispatches and traces, from 1; of several executions the first's",
    ).names(Thing::Draw),
    m("range", Count, "which recording of a command buffer, from 0"),
    m("result index", Count, "which draw, dispatch or trace of the recording, from 0"),
    m("command", Text, "the command"),
    m("command buffer", Count, "the capture's id of the command buffer"),
    m("index", Count, "which of all commands of the recording"),
    m("pipeline", Text, "the pipeline, or that shader objects were bound").names(Thing::Pipeline),
    m(
        "executions",
        Executions,
        "how often the frame submitted the recording; counters are the sum over these",
    ),
    m(
        OTHERS,
        Count,
        "a column for each metric of table `metrics`; with shaders of our own the classes fma, cvt, sfu, ls, tex, var, in instructions times invocations",
    ),
    m("not counted", Text, "why nothing is counted, where that is so"),
];

pub const DEAREST: Sheet =
    sheet("dearest", "one of the draws, dispatches and traces with the highest counts", &[ACTION]);

pub const ACTIONS: Sheet =
    sheet("actions", "a draw, dispatch or trace as recorded, in a frame that executed it", &[ACTION]);

pub const VALUES: Sheet = sheet(
    "values",
    "a basic block of an action",
    &[
        FRAME,
        &[
            m("range", Count, "which recording of a command buffer, from 0"),
            m("result_index", Count, "which action of the recording, from 0"),
            m("result_sub_index", Count, "the shader group, where rays are traced; else 0"),
            m("stages", Text, "the shader stages"),
            m("basic_block_index", Count, "the basic block's number, as whoever counted numbers them"),
            m(OTHERS, Count, "a column for each metric"),
            m("block", Text, "the block in words, where it is one of the application's module"),
        ],
    ],
);

pub const SHEETS: &[Sheet] = &[METRICS, DEAREST, ACTIONS, VALUES];
