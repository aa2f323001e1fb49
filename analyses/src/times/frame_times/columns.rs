//! The tables of `frame-times`: what a row is, and each column with its unit and meaning.

use crate::report::Unit::{Count, FramesPerSecond, Milliseconds, Text};
use crate::report::sheet::{Sheet, m, sheet};

pub const FRAMES: Sheet = sheet(
    "frames",
    "a clock: the GPU's, the CPU's",
    &[&[
        m(
            "",
            Text,
            "GPU: timestamps around the frame's submissions; CPU: from its first call to the return of its last",
        ),
        m("frames", Count, "frames that have such a time"),
        m("mean", Milliseconds, "exact"),
        m("median", Milliseconds, "half of the frames take no longer; at most 0.1 % above a frame that was"),
        m("p90", Milliseconds, "90 % take no longer"),
        m("p99", Milliseconds, "99 % take no longer; of fewer than 100 frames the longest"),
        m("max", Milliseconds, "the longest; exact"),
        m("mean", FramesPerSecond, "frames over their total time"),
        m("median", FramesPerSecond, "1000 over the median"),
        m("p90", FramesPerSecond, "1000 over p90"),
        m("p99", FramesPerSecond, "1000 over p99: what 99 % of the frames reach"),
        m("at max", FramesPerSecond, "1000 over the longest"),
    ]],
);

pub const LOAD_FRAME: Sheet = sheet(
    "load_frame",
    "a clock, of the frame that carries the program's start",
    &[&[
        m("load frame", Text, "GPU or CPU"),
        m("times", Count, "repetitions"),
        m("mean", Milliseconds, "over these"),
        m("max", Milliseconds, "the longest"),
    ]],
);

pub const GPU_DISTRIBUTION: Sheet = sheet(
    "gpu_distribution",
    "a histogram's bucket",
    &[&[m("time", Milliseconds, "where it begins"), m("frames", Count, "frames in it")]],
);

pub const CPU_DISTRIBUTION: Sheet = sheet(
    "cpu_distribution",
    "a histogram's bucket",
    &[&[m("time", Milliseconds, "where it begins"), m("frames", Count, "frames in it")]],
);

pub const GPU_TIMES: Sheet = sheet(
    "gpu_times",
    "a frame, in the order of the run",
    &[&[m("frame", Count, "its number"), m("time", Milliseconds, "its GPU time")]],
);

pub const CPU_TIMES: Sheet = sheet(
    "cpu_times",
    "a frame, in the order of the run",
    &[&[m("frame", Count, "its number"), m("time", Milliseconds, "its CPU time")]],
);

pub const SHEETS: &[Sheet] = &[FRAMES, LOAD_FRAME, GPU_DISTRIBUTION, CPU_DISTRIBUTION, GPU_TIMES, CPU_TIMES];
