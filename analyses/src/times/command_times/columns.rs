//! The tables of `command-times`: what a row is, and each column with its unit and meaning.

use crate::report::Unit::{Count, Milliseconds, Percent, Text};
use crate::report::sheet::{Meaning, OTHERS, Sheet, Thing, m, sheet};

/// What is said of a sum of times.
pub const SUM: &[Meaning] = &[
    m("times", Count, "how often it ran"),
    m("mean", Milliseconds, "of one time"),
    m("max", Milliseconds, "of one time"),
    m("share", Percent, "of all submissions' GPU time"),
];

pub const TOP: Sheet = sheet(
    "top",
    "a command (or pass, or submission) that took much, over all frames",
    &[
        &[
            m("submit|label|pass|secondary|run|command", Text, "what it is"),
            m(
                "at",
                Text,
                "draw (dispatch, trace) or pass, by its number in the frame where that is the same in all frames; else command buffer of the submission : recorded index, in a secondary one position : s execution : index",
            ).names(Thing::Draw),
            m("pipeline", Text, "debug name or id, and the first digits of its shaders' hashes").names(Thing::Pipeline),
            m("within", Text, "labels, passes and secondary command buffers around it, from outside in"),
        ],
        SUM,
        &[m("cumulative", Percent, "shares added up from the top")],
    ],
);

pub const TREE: Sheet = sheet(
    "tree",
    "a label or pass, with all that lies within it",
    &[&[m("labels and passes", Text, "indented as they nest")], SUM],
);

pub const STATISTICS: Sheet = sheet(
    "statistics",
    "the rows of `top`, where pipeline statistics were counted",
    &[&[
        m("submit|label|pass|secondary|run|command", Text, "what it is"),
        m("at", Text, "where it was recorded").names(Thing::Draw),
        m(
            OTHERS,
            Count,
            "a column for each pipeline statistic of the device, by Vulkan's name: the mean of one time",
        ),
    ]],
);

pub const SHEETS: &[Sheet] = &[TOP, TREE, STATISTICS];
