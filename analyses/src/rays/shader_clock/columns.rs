//! The tables of `shader-clock`: what a row is, and each column with its unit and meaning.

use crate::context::columns::LAUNCH;
use crate::report::Unit::{Count, Cycles, Percent};
use crate::report::sheet::{Meaning, Sheet, m, sheet};

pub const CLOCK: &[Meaning] = &[
    m("invocations", Count, "invocations of ray generation that were recorded"),
    m("least", Cycles, "ticks from entry to exit, of the fastest"),
    m("mean", Cycles, "on average"),
    m("median", Cycles, "of the one in the middle, or the mean of the middle two"),
    m("p99", Cycles, "99 % take no longer"),
    m("most", Cycles, "of the slowest"),
    m("SMs at entry", Count, "multiprocessors on which invocations entered"),
    m("SMs at exit", Count, "on which they left"),
    m("moved within SM", Percent, "invocations that left at another place of the same multiprocessor"),
    m("moved to other SM", Percent, "that left on another one"),
    m("subgroups", Count, "groups that entered at one place at one tick"),
    m("in step", Percent, "of these, groups whose invocations all took the same time"),
    m("together", Percent, "groups that left from one place"),
];

pub const LAUNCHES: Sheet = sheet("launches", "a launch", &[LAUNCH, CLOCK]);

pub const MULTIPROCESSORS: Sheet = sheet(
    "multiprocessors",
    "a multiprocessor in a launch",
    &[
        LAUNCH,
        &[
            m("SM", Count, "its number"),
            m("entered", Count, "invocations that entered on it"),
            m("left", Count, "that left on it"),
            m("ticks of those that left", Cycles, "their times, summed"),
        ],
    ],
);

pub const SHEETS: &[Sheet] = &[LAUNCHES, MULTIPROCESSORS];
