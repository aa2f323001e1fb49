//! The tables of `its`: what a row is, and each column with its unit and meaning.

use crate::context::columns::{BLOCK, ENTRY, STAGE};
use crate::report::Unit::{Invocations, Percent, Ratio, Subgroups, Text};
use crate::report::sheet::{Meaning, Sheet, m, sheet};

const SPLITS: &[Meaning] = &[
    m("entries", Subgroups, "subgroups that entered"),
    m("exits", Subgroups, "executions of places where invocations leave"),
    m(
        "exits / entries",
        Ratio,
        "1 where every subgroup leaves as it came; more where subgroups were split, or leave at several places",
    ),
    m("split", Subgroups, "subgroups that did not leave at once with all that had entered"),
    m("split", Percent, "of those that entered"),
];

pub const WHOLE: Sheet =
    sheet("whole", "all entry points together", &[&[m("entry points", Text, "all")], SPLITS]);

pub const STAGES: Sheet = sheet("stages", "a shader stage", &[STAGE, SPLITS]);

pub const SHADERS: Sheet = sheet("shaders", "an entry point of a pipeline", &[ENTRY, SPLITS]);

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
            m("whole", Subgroups, "exits by all invocations that had entered together"),
            m(
                "exits / entries",
                Ratio,
                "exits here over entries of the entry point: above 1 only scheduling can bring it",
            ),
        ],
    ],
);

pub const SHEETS: &[Sheet] = &[WHOLE, STAGES, SHADERS, EXITS];
