//! The tables of `call-costs`: what a row is, and each column with its unit and meaning.

use crate::context::columns::FRAME;
use crate::report::Unit::{Count, Nanoseconds, Ratio, Text};
use crate::report::sheet::{Meaning, Sheet, m, sheet};

const CALLS: &[Meaning] = &[
    m("calls", Count, "calls in measured frames"),
    m("calls a frame", Ratio, "their mean over frames"),
    m("net a call", Nanoseconds, "time in the driver's function, without what reading the clock takes"),
    m("time a frame", Nanoseconds, "between the two readings of the clock"),
    m("clock a frame", Nanoseconds, "what two readings take with nothing between them, times calls"),
    m("net a frame", Nanoseconds, "time without the clock's part, mean over frames"),
    m("net, median frame", Nanoseconds, "the same, of the frame in the middle"),
];

pub const FAMILIES: Sheet = sheet(
    "families",
    "a family of calls, by what they are for",
    &[&[m("calls that", Text, "what they do")], CALLS],
);

pub const COMMANDS: Sheet = sheet(
    "commands",
    "a call",
    &[
        &[m("command", Text, "its name")],
        CALLS,
        &[
            m("in frames", Count, "frames that made it"),
            m("most in one", Nanoseconds, "net, of the frame where it was most"),
        ],
    ],
);

pub const FRAMES: Sheet = sheet(
    "frames",
    "a frame",
    &[
        FRAME,
        &[
            m("calls", Count, "all its calls that are measured"),
            m("net", Nanoseconds, "of these"),
            m("manage descriptors", Nanoseconds, "net, of calls of this family"),
            m("bind descriptors", Nanoseconds, "net, of calls of this family"),
            m("push constants", Nanoseconds, "net, of calls of this family"),
            m("draw, dispatch, trace", Nanoseconds, "net, of calls of this family"),
            m("synchronise", Nanoseconds, "net, of calls of this family"),
        ],
    ],
);

pub const SHEETS: &[Sheet] = &[FAMILIES, COMMANDS, FRAMES];
