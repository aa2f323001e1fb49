//! The tables of `run-times`: what a row is, and each column with its unit and meaning.

use crate::report::Unit::{Count, Milliseconds, Text};
use crate::report::sheet::{Meaning, Sheet, Thing, m, sheet};

const RUN: &[Meaning] = &[
    m("mean", Milliseconds, "of frames' GPU times"),
    m("median", Milliseconds, "the one in the middle; of an even number the mean of the middle two"),
    m("p90", Milliseconds, "of rank ⌈n · 90 / 100⌉; where n · p / 100 is whole, the mean of it and the next"),
    m("p99", Milliseconds, "of rank ⌈n · 99 / 100⌉; where n · p / 100 is whole, the mean of it and the next"),
    m("max", Milliseconds, "the longest"),
];

pub const PLANS: Sheet = sheet(
    "plans",
    "a plan",
    &[
        &[
            m("plan", Text, "its name"),
            m("processes", Count, "processes that ran it"),
            m("frames", Count, "frames that they timed, without warm-up"),
        ],
        RUN,
        &[m("CPU, median", Milliseconds, "of frames' CPU times")],
    ],
);

pub const PROCESSES: Sheet = sheet(
    "processes",
    "a process",
    &[
        &[
            m("plan", Text, "its plan"),
            m("process", Count, "its number among those of the plan"),
            m("device", Text, "what it ran on"),
            m("driver", Text, "the driver's name and version"),
            m("turns of warm-up", Count, "turns that were left out"),
            m("settled", Text, "whether times showed no trend any more when timing began"),
            m("frames", Count, "frames that it timed"),
        ],
        RUN,
    ],
);

pub const PARTS: Sheet = sheet(
    "parts",
    "a command or run of commands, of turns that time them; those that took most",
    &[&[
        m("plan", Text, "the plan"),
        m("part", Text, "what it is"),
        m("within", Text, "labels and passes around it"),
        m("pipeline", Text, "its pipeline, and the first digits of its shaders' hashes")
            .names(Thing::Pipeline),
        m("frame", Count, "the frame that it is of"),
        m("times", Count, "how often it was timed"),
        m("mean", Milliseconds, "of these"),
        m("median", Milliseconds, "of these"),
    ]],
);

pub const TIMES: Sheet = sheet(
    "times_*",
    "a frame of a plan, in the order of the run",
    &[&[
        m("turn of the run", Count, "its place among turns of all plans"),
        m("time", Milliseconds, "its GPU time"),
    ]],
);

pub const SHEETS: &[Sheet] = &[PLANS, PROCESSES, PARTS, TIMES];
