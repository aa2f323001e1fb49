//! The tables of `ray-simt`: what a row is, and each column with its unit and meaning.

use crate::context::columns::{ENTRY, LAUNCH};
use crate::report::Unit::{Count, Invocations, Percent, Subgroups, Text};
use crate::report::sheet::{Meaning, Sheet, m, sheet};

const ACTUAL: &[Meaning] = &[
    m("actual", Subgroups, "events that subgroups had, as recorded"),
    m("actual active", Invocations, "invocations active in these, summed"),
    m("actual efficiency", Percent, "active over events times the subgroup size"),
];

const SYNTHETIC: &[Meaning] = &[
    m("synthetic", Subgroups, "events that the same subgroups would have, ideally scheduled"),
    m("synthetic active", Invocations, "invocations active in these, summed"),
    m("synthetic efficiency", Percent, "active over synthetic events times the subgroup size"),
    m("bound", Subgroups, "events that the same subgroups have at least, in whatever order"),
    m("bound efficiency", Percent, "the same invocations over these: no order has a higher efficiency"),
];

pub const WHOLE: Sheet = sheet(
    "whole",
    "all events that count, or the kind that counts by itself: callables",
    &[&[m("events", Text, "which")], ACTUAL, SYNTHETIC],
);

pub const SHADERS: Sheet = sheet(
    "shaders",
    "a kind of event in an entry point",
    &[&[m("event", Text, "the kind")], ENTRY, ACTUAL, SYNTHETIC],
);

pub const SUBGROUPS_THAT_WASTED_MOST: Sheet = sheet(
    "subgroups_that_wasted_most",
    "a subgroup with the most inactive slots at events",
    &[LAUNCH, &[m("subgroup", Count, "the number that ray generation gave it")], ACTUAL],
);

pub const POPCOUNTS: Sheet = sheet(
    "popcounts",
    "a number of active invocations",
    &[&[m("from", Count, "active invocations of an event"), m("how many", Count, "events with so many")]],
);

pub const EFFICIENCIES: Sheet = sheet(
    "efficiencies",
    "a percent of efficiency",
    &[&[
        m("from", Count, "efficiency of a subgroup, in percent"),
        m("how many", Count, "subgroups from here to the next"),
    ]],
);

pub const SHEETS: &[Sheet] = &[WHOLE, SHADERS, SUBGROUPS_THAT_WASTED_MOST, POPCOUNTS, EFFICIENCIES];
