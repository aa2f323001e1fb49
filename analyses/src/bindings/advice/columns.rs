//! The tables of `advice`: what a row is, and each column with its unit and meaning.

use crate::report::Unit::{Count, Ratio, Text};
use crate::report::sheet::{Meaning, Sheet, m, sheet};

const SAVES: &[Meaning] = &[
    m(
        "bytes a frame",
        Ratio,
        "that need not be written (of device-local memory: not be read over a bus); negative is a price",
    ),
    m("descriptors a frame", Ratio, "that need not be written"),
    m("binds a frame", Ratio, "that need not be made"),
];

pub const KINDS: Sheet = sheet(
    "kinds",
    "a kind of recommendation",
    &[&[m("possibly", Text, "what to do"), m("how many", Count, "recommendations of this kind")], SAVES],
);

pub const ADVICE: Sheet = sheet(
    "advice",
    "a recommendation; of each kind those that save most",
    &[
        &[m("possibly", Text, "what to do"), m("of", Text, "with what")],
        SAVES,
        &[m("because", Text, "the evidence"), m("limits", Text, "what it has to keep to")],
    ],
);

pub const SHEETS: &[Sheet] = &[KINDS, ADVICE];
