//! The tables of `loop-times`: what a row is, and each column with its unit and meaning.

use crate::report::Unit::{Bytes, Count, Milliseconds, Percent, Text};
use crate::report::sheet::{Sheet, m, sheet};

pub const ITERATIONS: Sheet = sheet(
    "iterations",
    "a clock",
    &[&[
        m("", Text, "GPU, CPU, or until idle: from the first call until the device is idle again"),
        m("iterations", Count, "timed iterations"),
        m("mean", Milliseconds, "exact"),
        m("median", Milliseconds, "the value in the middle; of an even number the mean of the middle two"),
        m(
            "p90",
            Milliseconds,
            "of rank ⌈n · 90 / 100⌉; where n · p / 100 is whole, the mean of it and the next",
        ),
        m(
            "p99",
            Milliseconds,
            "of rank ⌈n · 99 / 100⌉; where n · p / 100 is whole, the mean of it and the next",
        ),
        m("max", Milliseconds, "the longest"),
        m("std dev", Milliseconds, "standard deviation (n − 1)"),
        m("CV", Percent, "standard deviation over the mean"),
        m(
            "median from",
            Milliseconds,
            "in 95 % of 2000 drawings with replacement the median is at least this",
        ),
        m("median to", Milliseconds, "and at most this"),
    ]],
);

pub const RESTORING: Sheet = sheet(
    "restoring",
    "what is in none of the times: putting the frame back, and the snapshot",
    &[&[
        m("outside of these times", Text, "which"),
        m("mean", Milliseconds, "a time"),
        m("max", Milliseconds, "the longest"),
        m("mean", Bytes, "copied each time"),
        m("resources", Count, "buffers, images and acceleration structures"),
        m("other objects", Count, "semaphores, fences, events, descriptors …"),
    ]],
);

pub const GPU_TIMES: Sheet = sheet(
    "gpu_times",
    "an iteration, in order",
    &[&[m("iteration", Count, "its number"), m("time", Milliseconds, "its GPU time")]],
);

pub const CPU_TIMES: Sheet = sheet(
    "cpu_times",
    "an iteration, in order",
    &[&[m("iteration", Count, "its number"), m("time", Milliseconds, "its CPU time")]],
);

pub const SHEETS: &[Sheet] = &[ITERATIONS, RESTORING, GPU_TIMES, CPU_TIMES];
