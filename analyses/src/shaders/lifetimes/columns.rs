//! The tables of `lifetimes`: what a row is, and each column with its unit and meaning.

use crate::context::columns::{ENTRY, STAGE};
use crate::report::Unit::{Count, Executions, Ratio, Text};
use crate::report::sheet::{Meaning, Sheet, m, sheet};

const LIVES: &[Meaning] = &[
    m("of", Text, "of invocations or of subgroups"),
    m("lived", Count, "how many there were"),
    m("mean", Executions, "basic blocks that one executed, on average; exact"),
    m("min", Count, "fewest blocks"),
    m("median", Count, "blocks, by nearest rank"),
    m("p90", Count, "blocks that 90 % do not exceed"),
    m("p99", Count, "blocks that 99 % do not exceed"),
    m("max", Count, "most blocks"),
    m(
        "exact",
        Text,
        "whether percentiles and maximum are exact, or the upper ends of buckets of powers of two",
    ),
];

pub const STAGES: Sheet =
    sheet("stages", "a shader stage: its invocations, or its subgroups", &[STAGE, LIVES]);

pub const SHADERS: Sheet =
    sheet("shaders", "an entry point of a pipeline: its invocations, or its subgroups", &[ENTRY, LIVES]);

pub const BALANCE: Sheet = sheet(
    "balance",
    "an entry point of a pipeline",
    &[
        ENTRY,
        &[m(
            "balance",
            Ratio,
            "mean lifetime of invocations over that of subgroups: 1 where all do the same",
        )],
    ],
);

pub const HISTOGRAMS: Sheet = sheet(
    "*",
    "how many of a stage's invocations or subgroups executed so many blocks",
    &[&[
        m("blocks", Count, "blocks executed"),
        m("invocations|subgroups", Count, "how many executed so many"),
    ]],
);

pub const SHEETS: &[Sheet] = &[STAGES, SHADERS, BALANCE, HISTOGRAMS];
