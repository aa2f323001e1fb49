//! The tables of `ray-counts`: what a row is, and each column with its unit and meaning.

use crate::context::columns::{ENTRY, LAUNCH};
use crate::report::Unit::{Count, Invocations, Percent, Subgroups, Text};
use crate::report::sheet::{Meaning, Sheet, m, sheet};

const EVENTS: &[Meaning] = &[
    m("subgroups' events", Subgroups, "events that invocations of a subgroup had together"),
    m("active", Invocations, "invocations active in these, summed"),
    m("efficiency", Percent, "active over subgroups' events times the subgroup size"),
];

pub const WHOLE: Sheet = sheet(
    "whole",
    "everything",
    &[&[m("events", Count, "events of rays"), m("rays", Count, "of these, begins of rays")], EVENTS],
);

pub const SHADERS: Sheet = sheet(
    "shaders",
    "a kind of event in an entry point",
    &[
        &[m("event", Text, "begin, intersection, any-hit, miss, closest hit …")],
        ENTRY,
        &[m("events", Count, "events of this kind there")],
        EVENTS,
    ],
);

pub const LAUNCHES: Sheet = sheet(
    "launches",
    "a launch",
    &[LAUNCH, &[m("events", Count, "events of its rays"), m("rays", Count, "rays that began")], EVENTS],
);

pub const SHEETS: &[Sheet] = &[WHOLE, SHADERS, LAUNCHES];
