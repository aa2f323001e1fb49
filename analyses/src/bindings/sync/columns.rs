//! The tables of `sync`: what a row is, and each column with its unit and meaning.

use crate::report::Unit::{Count, Text};
use crate::report::sheet::{Meaning, Sheet, m, sheet};

pub const SUMS: Sheet = sheet(
    "sums",
    "what was executed, and how much of it was found",
    &[&[m("executed", Text, "what"), m("how many", Count, "how many")]],
);

const FOUND: &[Meaning] = &[
    m("label", Text, "the debug label that it stands in"),
    m("times", Count, "executions that were found"),
    m("of", Count, "executions with the same masks, object and label"),
    m("because", Text, "what was seen before and after"),
    m("frame", Count, "the first one's frame"),
    m("recording:command", Text, "the first one's recording, and number of the command in it"),
    m("block", Count, "the first one's block in the capture"),
];

pub const NOTHING: Sheet = sheet(
    "nothing",
    "a part of a barrier that no conflict wants, given the others",
    &[&[m("possibly orders nothing", Text, "stages, accesses and object")], FOUND],
);

pub const WIDE: Sheet = sheet(
    "wide",
    "masks with stages that no conflict that they order wants",
    &[&[m("possibly too wide", Text, "the masks, and what would do")], FOUND],
);

pub const LAYOUTS: Sheet = sheet(
    "layouts",
    "two changes of an image's layout with no access between",
    &[&[m("layout possibly changed in vain", Text, "the image, and the layouts")], FOUND],
);

pub const SUBMISSIONS: Sheet = sheet(
    "submissions",
    "submissions that could be one",
    &[&[
        m("submissions that could be one", Count, "how many in a row"),
        m("frame", Count, "their frame"),
        m("queue", Count, "the capture's id of the queue"),
        m("first block", Count, "where the first is called in the capture"),
        m("because", Text, "what there is not between them"),
    ]],
);

pub const SHEETS: &[Sheet] = &[SUMS, NOTHING, WIDE, LAYOUTS, SUBMISSIONS];
