//! Columns about time: frames, commands, loops, runs, studies; subgroups' spans and clocks.

use super::common::{BLOCK, ENTRY, LAUNCH, PIPELINE, STAGE};
use super::meaning::{Meaning, OTHERS, Sheet, m};
use crate::report::Unit::{
    Bytes, Count, Cycles, FramesPerSecond, Invocations, Milliseconds, Nanoseconds, Percent, Ratio, Subgroups,
    Text,
};

const SPANS: &[Meaning] = &[
    m("spans", Subgroups, "subgroups that entered"),
    m("mean", Cycles, "from the entry to the last exit, on average"),
    m("min", Cycles, "the shortest"),
    m("50 %", Cycles, "half take no longer"),
    m("90 %", Cycles, "90 % take no longer"),
    m("99 %", Cycles, "99 % take no longer"),
    m("max", Cycles, "the longest"),
    m("sum", Cycles, "of all"),
    m("fullness", Percent, "invocations that entered over spans times the subgroup size"),
    m("pieces", Ratio, "exits over spans: above 1 where subgroups leave in parts"),
    m("SIMT efficiency", Percent, "of its blocks, where pass `simt` ran, too"),
];
const LOAD: &[Meaning] = &[
    m("spans", Subgroups, "subgroups that ran"),
    m("busy", Cycles, "ticks in which at least one was in flight"),
    m("busy", Percent, "of the frames' length"),
    m("in flight, mean", Subgroups, "ticks of spans over the frames' length"),
    m("in flight, most", Subgroups, "at one time"),
];

pub const TIMELINE: &[Sheet] = &[
    Sheet {
        table: "frames",
        about: "a frame",
        columns: &[&[
            m("frame", Count, "the capture's number of the frame, from 1"),
            m("spans", Subgroups, "subgroups that ran"),
            m("length", Cycles, "from the first begin to the last end"),
            m("in flight, mean", Subgroups, "ticks of spans over the length: occupancy"),
            m("in flight, most", Subgroups, "at one time"),
            m("busy", Percent, "of the length, with at least one in flight"),
            m("gaps", Count, "times in which none was in flight"),
            m("longest gap", Cycles, "the longest of these"),
        ]],
    },
    Sheet { table: "stages", about: "a shader stage", columns: &[STAGE, SPANS] },
    Sheet { table: "shaders", about: "an entry point of a pipeline", columns: &[ENTRY, SPANS] },
    Sheet {
        table: "exits",
        about: "a place where invocations leave",
        columns: &[
            ENTRY,
            BLOCK,
            &[
                m("leaves by", Text, "the instruction that ends them"),
                m("exits", Subgroups, "executions of the place by subgroups"),
                m("left", Invocations, "invocations that left there"),
            ],
        ],
    },
    Sheet {
        table: "units",
        about: "a multiprocessor, where the device says them; else unit 0",
        columns: &[&[m("unit", Text, "which")], LOAD],
    },
    Sheet { table: "pipelines", about: "a pipeline or shader object", columns: &[PIPELINE, LOAD] },
    Sheet {
        table: "overlap",
        about: "two pipelines that ran side by side",
        columns: &[&[
            m("pipeline", Text, "the one"),
            m("beside", Text, "the other"),
            m("both", Cycles, "ticks in which both had subgroups in flight"),
            m("of the shorter", Percent, "of the busy ticks of the one that had fewer"),
        ]],
    },
    Sheet {
        table: "gaps",
        about: "a time in which nothing ran; the longest first",
        columns: &[&[
            m("frame", Count, "the capture's number of the frame, from 1"),
            m("since the first began", Cycles, "where it begins"),
            m("nothing ran for", Cycles, "how long it is"),
            m("after", Text, "whose subgroup was the last to end"),
            m("before", Text, "whose was the first to begin"),
        ]],
    },
    Sheet {
        table: "durations_*",
        about: "a bucket of durations of a stage's spans: quarters of powers of two",
        columns: &[&[m("duration", Cycles, "where the bucket begins"), m("spans", Subgroups, "spans in it")]],
    },
    Sheet {
        table: "in_flight_*",
        about: "a part of a frame",
        columns: &[&[
            m("since the first began", Cycles, "where the part begins"),
            m("in flight, mean", Subgroups, "in this part"),
        ]],
    },
];

const CLOCKS: &[Meaning] = &[
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

pub const SHADER_CLOCK: &[Sheet] = &[
    Sheet { table: "launches", about: "a launch", columns: &[LAUNCH, CLOCKS] },
    Sheet {
        table: "multiprocessors",
        about: "a multiprocessor in a launch",
        columns: &[
            LAUNCH,
            &[
                m("SM", Count, "its number"),
                m("entered", Count, "invocations that entered on it"),
                m("left", Count, "that left on it"),
                m("ticks of those that left", Cycles, "their times, summed"),
            ],
        ],
    },
];

pub const FRAME_TIMES: &[Sheet] = &[
    Sheet {
        table: "frames",
        about: "a clock: the GPU's, the CPU's",
        columns: &[&[
            m(
                "",
                Text,
                "GPU: timestamps around the frame's submissions; CPU: from its first call to the return of its last",
            ),
            m("frames", Count, "frames that have such a time"),
            m("mean", Milliseconds, "exact"),
            m(
                "median",
                Milliseconds,
                "half of the frames take no longer; at most 0.1 % above a frame that was",
            ),
            m("p90", Milliseconds, "90 % take no longer"),
            m("p99", Milliseconds, "99 % take no longer; of fewer than 100 frames the longest"),
            m("max", Milliseconds, "the longest; exact"),
            m("mean", FramesPerSecond, "frames over their total time"),
            m("median", FramesPerSecond, "1000 over the median"),
            m("p90", FramesPerSecond, "1000 over p90"),
            m("p99", FramesPerSecond, "1000 over p99: what 99 % of the frames reach"),
            m("at max", FramesPerSecond, "1000 over the longest"),
        ]],
    },
    Sheet {
        table: "load_frame",
        about: "a clock, of the frame that carries the program's start",
        columns: &[&[
            m("load frame", Text, "GPU or CPU"),
            m("times", Count, "repetitions"),
            m("mean", Milliseconds, "over these"),
            m("max", Milliseconds, "the longest"),
        ]],
    },
    Sheet {
        table: "gpu_distribution",
        about: "a histogram's bucket",
        columns: &[&[m("time", Milliseconds, "where it begins"), m("frames", Count, "frames in it")]],
    },
    Sheet {
        table: "cpu_distribution",
        about: "a histogram's bucket",
        columns: &[&[m("time", Milliseconds, "where it begins"), m("frames", Count, "frames in it")]],
    },
    Sheet {
        table: "gpu_times",
        about: "a frame, in the order of the run",
        columns: &[&[m("frame", Count, "its number"), m("time", Milliseconds, "its GPU time")]],
    },
    Sheet {
        table: "cpu_times",
        about: "a frame, in the order of the run",
        columns: &[&[m("frame", Count, "its number"), m("time", Milliseconds, "its CPU time")]],
    },
];

pub const COMMAND_TIMES: &[Sheet] = &[
    Sheet {
        table: "top",
        about: "a command (or pass, or submission) that took much, over all frames",
        columns: &[&[
            m("submit|label|pass|secondary|run|command", Text, "what it is"),
            m(
                "at",
                Text,
                "command buffer of the submission : recorded index; in a secondary one position : s execution : index",
            ),
            m("pipeline", Text, "debug name or id, and the first digits of its shaders' hashes"),
            m("within", Text, "labels, passes and secondary command buffers around it, from outside in"),
            m("times", Count, "how often it ran"),
            m("mean", Milliseconds, "of one time"),
            m("max", Milliseconds, "of one time"),
            m("share", Percent, "of all submissions' GPU time"),
            m("cumulative", Percent, "shares added up from the top"),
        ]],
    },
    Sheet {
        table: "tree",
        about: "a label or pass, with all that lies within it",
        columns: &[&[
            m("labels and passes", Text, "indented as they nest"),
            m("times", Count, "how often it ran"),
            m("mean", Milliseconds, "of one time"),
            m("max", Milliseconds, "of one time"),
            m("share", Percent, "of all submissions' GPU time"),
        ]],
    },
    Sheet {
        table: "statistics",
        about: "the rows of `top`, where pipeline statistics were counted",
        columns: &[&[
            m("submit|label|pass|secondary|run|command", Text, "what it is"),
            m("at", Text, "where it was recorded"),
            m(
                OTHERS,
                Count,
                "a column for each pipeline statistic of the device, by Vulkan's name: the mean of one time",
            ),
        ]],
    },
];

pub const LOOP_TIMES: &[Sheet] = &[
    Sheet {
        table: "iterations",
        about: "a clock",
        columns: &[&[
            m("", Text, "GPU, CPU, or until idle: from the first call until the device is idle again"),
            m("iterations", Count, "timed iterations"),
            m("mean", Milliseconds, "exact"),
            m(
                "median",
                Milliseconds,
                "the value in the middle; of an even number the mean of the middle two",
            ),
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
    },
    Sheet {
        table: "restoring",
        about: "what is in none of the times: putting the frame back, and the snapshot",
        columns: &[&[
            m("outside of these times", Text, "which"),
            m("mean", Milliseconds, "a time"),
            m("max", Milliseconds, "the longest"),
            m("mean", Bytes, "copied each time"),
            m("resources", Count, "buffers, images and acceleration structures"),
            m("other objects", Count, "semaphores, fences, events, descriptors …"),
        ]],
    },
    Sheet {
        table: "gpu_times",
        about: "an iteration, in order",
        columns: &[&[m("iteration", Count, "its number"), m("time", Milliseconds, "its GPU time")]],
    },
    Sheet {
        table: "cpu_times",
        about: "an iteration, in order",
        columns: &[&[m("iteration", Count, "its number"), m("time", Milliseconds, "its CPU time")]],
    },
];

const RUN: &[Meaning] = &[
    m("mean", Milliseconds, "of frames' GPU times"),
    m("median", Milliseconds, "the one in the middle; of an even number the mean of the middle two"),
    m("p90", Milliseconds, "of rank ⌈n · 90 / 100⌉; where n · p / 100 is whole, the mean of it and the next"),
    m("p99", Milliseconds, "of rank ⌈n · 99 / 100⌉; where n · p / 100 is whole, the mean of it and the next"),
    m("max", Milliseconds, "the longest"),
];

pub const RUN_TIMES: &[Sheet] = &[
    Sheet {
        table: "plans",
        about: "a plan",
        columns: &[
            &[
                m("plan", Text, "its name"),
                m("processes", Count, "processes that ran it"),
                m("frames", Count, "frames that they timed, without warm-up"),
            ],
            RUN,
            &[m("CPU, median", Milliseconds, "of frames' CPU times")],
        ],
    },
    Sheet {
        table: "processes",
        about: "a process",
        columns: &[
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
    },
    Sheet {
        table: "parts",
        about: "a command or run of commands, of turns that time them; those that took most",
        columns: &[&[
            m("plan", Text, "the plan"),
            m("part", Text, "what it is"),
            m("within", Text, "labels and passes around it"),
            m("pipeline", Text, "its pipeline, and the first digits of its shaders' hashes"),
            m("frame", Count, "the frame that it is of"),
            m("times", Count, "how often it was timed"),
            m("mean", Milliseconds, "of these"),
            m("median", Milliseconds, "of these"),
        ]],
    },
    Sheet {
        table: "times_*",
        about: "a frame of a plan, in the order of the run",
        columns: &[&[
            m("turn of the run", Count, "its place among turns of all plans"),
            m("time", Milliseconds, "its GPU time"),
        ]],
    },
];

const PLAN: &[Meaning] = &[m("plan", Text, "its name")];

pub const BENCH: &[Sheet] = &[
    Sheet {
        table: "verdicts",
        about: "what `compare` says of a metric of a plan against another plan of the run (docs/compare.md)",
        columns: &[&[
            m("capture", Text, "its name"),
            m("plan", Text, "the plan, and the one that it is held against"),
            m("metric", Text, "median or mean, of GPU times where all turns have one"),
            m("base", Text, "the other plan's figure"),
            m("new", Text, "its own"),
            m("change", Text, "its own over the other's, less 1"),
            m(
                "interval",
                Text,
                "where the change lies at 99 %, of pairs of processes that were alive together",
            ),
            m("verdict", Text, "regression, improvement, no change, not worse, or inconclusive"),
            m("p", Ratio, "of no change at all, adjusted for as many questions as there are"),
            m("delta", Ratio, "P(longer) less P(base longer), over all pairs of turns"),
            m("KS D", Ratio, "the greatest distance between both distributions of turns"),
            m("W1", Milliseconds, "the area between them"),
        ]],
    },
    Sheet {
        table: "times",
        about: "a plan",
        columns: &[
            PLAN,
            &[
                m("frames", Count, "turns that count, of all its processes"),
                m("mean", Milliseconds, "of GPU times"),
                m("median", Milliseconds, "of these"),
                m("IQR", Milliseconds, "p75 less p25"),
                m("std dev", Milliseconds, "standard deviation (n − 1)"),
                m("min", Milliseconds, "the shortest"),
                m(
                    "p99",
                    Milliseconds,
                    "of rank ⌈n · 99 / 100⌉; where n · p / 100 is whole, the mean of it and the next",
                ),
                m("max", Milliseconds, "the longest"),
                m("outliers", Count, "times more than 1.5 IQR beyond p25 or p75"),
                m("outliers", Percent, "their share"),
            ],
        ],
    },
    Sheet {
        table: "percentiles",
        about: "a plan",
        columns: &[
            PLAN,
            &[m(
                OTHERS,
                Milliseconds,
                "p1 to p99: of rank ⌈n · p / 100⌉; where n · p / 100 is whole, the mean of it and the next",
            )],
        ],
    },
    Sheet {
        table: "bands",
        about: "a band of a plan's times: where they gather",
        columns: &[
            PLAN,
            &[
                m("band", Count, "its number, the shortest first"),
                m("around", Milliseconds, "the density's maximum"),
                m("from", Milliseconds, "the lowest place of the density before it"),
                m("to", Milliseconds, "and behind it"),
                m("frames", Percent, "of all, between these"),
            ],
        ],
    },
    Sheet {
        table: "efficiency",
        about: "a plan",
        columns: &[
            PLAN,
            &[
                m("synthetic SIMT efficiency", Percent, "of events of rays, ideally scheduled"),
                m("against identity", Percent, "its change"),
                m("actual SIMT efficiency", Percent, "of events of rays, counted with the swizzle in force"),
                m("against identity", Percent, "its change"),
            ],
        ],
    },
    Sheet {
        table: "clocks",
        about: "a launch of a plan, with `--maps`",
        columns: &[PLAN, &[m("launch", Count, "its number in the frame")], CLOCKS],
    },
    Sheet {
        table: "plans",
        about: "a plan of a capture, as `bench` prints it",
        columns: &[&[
            m("capture", Text, "its name"),
            m("plan", Text, "its name"),
            m("processes", Count, "that replayed it"),
            m("turns", Count, "that count, of all of them"),
            m("median", Milliseconds, "of frames' times, the geometric mean over processes"),
            m("± at 99 %", Percent, "half its interval"),
            m("± of the change", Percent, "half the interval of its change against the first plan"),
            m("mean", Milliseconds, "likewise"),
            m("p99", Milliseconds, "likewise; missing where a process has too few turns for it"),
        ]],
    },
    Sheet {
        table: "calls",
        about: "a kind of calls of a plan, of turns with finer timestamps (`--detailed`)",
        columns: &[&[
            m("calls of", Text, "descriptors, or recording"),
            m("capture", Text, "its name"),
            m("plan", Text, "its name"),
            m("calls", Count, "in a turn"),
            m("CPU time, median", Nanoseconds, "of a turn's calls, over turns of all processes"),
            m("change", Percent, "against the first plan"),
        ]],
    },
    Sheet {
        table: "refused",
        about: "a plan that was not timed, as its picture is not what it has to be",
        columns: &[&[
            m("plan", Text, "its name"),
            m("why", Text, "what of its picture differs first"),
            m("timed instead", Text, "the same plan, computed precisely, where that shows the same"),
        ]],
    },
    Sheet {
        table: "histogram_*",
        about: "a histogram's bucket of a plan's times",
        columns: &[&[m("from", Milliseconds, "where it begins"), m("frames", Count, "turns in it")]],
    },
    Sheet {
        table: "times_*",
        about: "a turn of a plan, in the order in which they ran",
        columns: &[&[m("turn", Count, "its number"), m("time", Milliseconds, "its GPU time")]],
    },
];
