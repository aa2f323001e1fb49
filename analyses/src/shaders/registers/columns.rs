//! The tables of `registers`: what a row is, and each column with its unit and meaning.

use crate::report::Unit::{Bytes, Count, Executions, Instructions, Invocations, Text};
use crate::report::sheet::{Meaning, Sheet, Thing, m, sheet};

/// What drivers are known to say, by names of their own (`known.rs`).
pub const SUMMARY: &[Meaning] = &[
    m("registers", Count, "registers, in the driver's unit"),
    m("spills", Count, "spills, in the driver's unit"),
    m("occupancy", Count, "how many subgroups or threads may run at once, in the driver's unit"),
    m("instructions", Instructions, "instructions of the device"),
    m("code", Bytes, "machine code"),
    m("scratch", Bytes, "memory for spills, stack and private arrays"),
    m("shared memory", Bytes, "memory of a workgroup"),
];

pub const EXECUTABLES: Sheet = sheet(
    "executables",
    "a piece of code that a driver compiled for a pipeline",
    &[
        &[
            m("pipeline", Text, "the pipeline").names(Thing::Pipeline),
            m("executable", Text, "the driver's name of it"),
            m("stages", Text, "the shader stages that it is of"),
            m("rewritten", Text, "whether its shaders had probes: then numbers are of those"),
            m("subgroup size", Invocations, "the subgroup size that it was compiled for"),
        ],
        SUMMARY,
        &[m(
            "begun",
            Executions,
            "how often its entry points ran, from passes `blocks` or `simt` of the same trace",
        )],
    ],
);

pub const STATISTICS: Sheet = sheet(
    "statistics",
    "a statistic of an executable, as the driver gives it",
    &[&[
        m("pipeline", Text, "the pipeline").names(Thing::Pipeline),
        m("executable", Text, "the driver's name of it"),
        m("statistic", Text, "the driver's name of the statistic"),
        m("value", Count, "its value"),
        m("about", Text, "the driver's description"),
    ]],
);

pub const SHEETS: &[Sheet] = &[EXECUTABLES, STATISTICS];
