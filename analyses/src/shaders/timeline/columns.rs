//! The tables of `timeline`: what a row is, and each column with its unit and meaning.

use crate::context::columns::{BLOCK, ENTRY, FRAME, PIPELINE, STAGE};
use crate::report::Unit::{Count, Cycles, Invocations, Percent, Ratio, Subgroups, Text};
use crate::report::sheet::{Meaning, Sheet, m, sheet};

pub const FRAMES: Sheet = sheet(
    "frames",
    "a frame",
    &[
        FRAME,
        &[
            m("spans", Subgroups, "subgroups that ran"),
            m("length", Cycles, "from the first begin to the last end"),
            m("in flight, mean", Subgroups, "ticks of spans over the length: occupancy"),
            m("in flight, most", Subgroups, "at one time"),
            m("busy", Percent, "of the length, with at least one in flight"),
            m("gaps", Count, "times in which none was in flight"),
            m("longest gap", Cycles, "the longest of these"),
        ],
    ],
);

const SPANS: &[Meaning] = &[
    m("spans", Subgroups, "subgroups that entered"),
    m("mean", Cycles, "from the entry to the last exit, on average"),
    m("min", Cycles, "the shortest"),
    m("50 %", Cycles, "half take no longer"),
    m("90 %", Cycles, "90 % take no longer"),
    m("99 %", Cycles, "99 % take no longer"),
    m("max", Cycles, "the longest"),
    m("sum", Cycles, "of all"),
    m("fullness", Percent, "invocations that entered over spans times the subgroup size"),
    m("pieces", Ratio, "exits over spans: above 1 where subgroups leave in parts"),
    m("SIMT efficiency", Percent, "of its blocks, where pass `simt` ran, too"),
];

pub const STAGES: Sheet = sheet("stages", "a shader stage", &[STAGE, SPANS]);

pub const SHADERS: Sheet = sheet("shaders", "an entry point of a pipeline", &[ENTRY, SPANS]);

pub const EXITS: Sheet = sheet(
    "exits",
    "a place where invocations leave",
    &[
        ENTRY,
        BLOCK,
        &[
            m("leaves by", Text, "the instruction that ends them"),
            m("exits", Subgroups, "executions of the place by subgroups"),
            m("left", Invocations, "invocations that left there"),
        ],
    ],
);

const LOAD: &[Meaning] = &[
    m("spans", Subgroups, "subgroups that ran"),
    m("busy", Cycles, "ticks in which at least one was in flight"),
    m("busy", Percent, "of the frames' length"),
    m("in flight, mean", Subgroups, "ticks of spans over the frames' length"),
    m("in flight, most", Subgroups, "at one time"),
];

pub const UNITS: Sheet = sheet(
    "units",
    "a multiprocessor, where the device says them; else unit 0",
    &[&[m("unit", Text, "which")], LOAD],
);

pub const PIPELINES: Sheet = sheet("pipelines", "a pipeline or shader object", &[PIPELINE, LOAD]);

pub const OVERLAP: Sheet = sheet(
    "overlap",
    "two pipelines that ran side by side",
    &[&[
        m("pipeline", Text, "the one"),
        m("beside", Text, "the other"),
        m("both", Cycles, "ticks in which both had subgroups in flight"),
        m("of the shorter", Percent, "of the busy ticks of the one that had fewer"),
    ]],
);

pub const GAPS: Sheet = sheet(
    "gaps",
    "a time in which nothing ran; the longest first",
    &[
        FRAME,
        &[
            m("since the first began", Cycles, "where it begins"),
            m("nothing ran for", Cycles, "how long it is"),
            m("after", Text, "whose subgroup was the last to end"),
            m("before", Text, "whose was the first to begin"),
        ],
    ],
);

pub const DURATIONS: Sheet = sheet(
    "durations_*",
    "a bucket of durations of a stage's spans: quarters of powers of two",
    &[&[m("duration", Cycles, "where the bucket begins"), m("spans", Subgroups, "spans in it")]],
);

pub const IN_FLIGHT: Sheet = sheet(
    "in_flight_*",
    "a part of a frame",
    &[&[
        m("since the first began", Cycles, "where the part begins"),
        m("in flight, mean", Subgroups, "in this part"),
    ]],
);

pub const SHEETS: &[Sheet] =
    &[FRAMES, STAGES, SHADERS, EXITS, UNITS, PIPELINES, OVERLAP, GAPS, DURATIONS, IN_FLIGHT];
