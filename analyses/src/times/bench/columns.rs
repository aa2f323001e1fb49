//! The tables of `bench`: what a row is, and each column with its unit and meaning.

use crate::rays::shader_clock::columns::CLOCK;
use crate::report::Unit::{Count, Milliseconds, Nanoseconds, Percent, Ratio, Text};
use crate::report::sheet::{Meaning, OTHERS, Sheet, m, sheet};

pub const VERDICTS: Sheet = sheet(
    "verdicts",
    "what `compare` says of a metric of a plan against another plan of the run (docs/compare.md)",
    &[&[
        m("capture", Text, "its name"),
        m("plan", Text, "the plan, and the one that it is held against"),
        m("metric", Text, "median or mean, of GPU times where all turns have one"),
        m("base", Text, "the other plan's figure"),
        m("new", Text, "its own"),
        m("change", Text, "its own over the other's, less 1"),
        m("interval", Text, "where the change lies at 99 %, of pairs of processes that were alive together"),
        m("verdict", Text, "regression, improvement, no change, not worse, or inconclusive"),
        m("p", Ratio, "of no change at all, adjusted for as many questions as there are"),
        m("delta", Ratio, "P(longer) less P(base longer), over all pairs of turns"),
        m("KS D", Ratio, "the greatest distance between both distributions of turns"),
        m("W1", Milliseconds, "the area between them"),
    ]],
);

const PLAN: &[Meaning] = &[m("plan", Text, "its name")];

pub const TIMES: Sheet = sheet(
    "times",
    "a plan",
    &[
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
);

pub const PERCENTILES: Sheet = sheet(
    "percentiles",
    "a plan",
    &[
        PLAN,
        &[m(
            OTHERS,
            Milliseconds,
            "p1 to p99: of rank ⌈n · p / 100⌉; where n · p / 100 is whole, the mean of it and the next",
        )],
    ],
);

pub const BANDS: Sheet = sheet(
    "bands",
    "a band of a plan's times: where they gather",
    &[
        PLAN,
        &[
            m("band", Count, "its number, the shortest first"),
            m("around", Milliseconds, "the density's maximum"),
            m("from", Milliseconds, "the lowest place of the density before it"),
            m("to", Milliseconds, "and behind it"),
            m("frames", Percent, "of all, between these"),
        ],
    ],
);

pub const EFFICIENCY: Sheet = sheet(
    "efficiency",
    "a plan",
    &[
        PLAN,
        &[
            m("synthetic SIMT efficiency", Percent, "of events of rays, ideally scheduled"),
            m("against identity", Percent, "its change"),
            m("actual SIMT efficiency", Percent, "of events of rays, counted with the swizzle in force"),
            m("against identity", Percent, "its change"),
        ],
    ],
);

/// Of `study rays`: the clocks of launches.
pub const CLOCKS: Sheet = sheet(
    "clocks",
    "a launch of a plan, with `--maps`",
    &[PLAN, &[m("launch", Count, "its number in the frame")], CLOCK],
);

/// Of `bench`: what it says of each plan.
pub const PLANS: Sheet = sheet(
    "plans",
    "a plan of a capture, as `bench` prints it",
    &[&[
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
);

pub const CALLS: Sheet = sheet(
    "calls",
    "a kind of calls of a plan, of turns with finer timestamps (`--detailed`)",
    &[&[
        m("calls of", Text, "descriptors, or recording"),
        m("capture", Text, "its name"),
        m("plan", Text, "its name"),
        m("calls", Count, "in a turn"),
        m("CPU time, median", Nanoseconds, "of a turn's calls, over turns of all processes"),
        m("change", Percent, "against the first plan"),
    ]],
);

/// Of `bench`: plans that were not timed.
pub const REFUSED: Sheet = sheet(
    "refused",
    "a plan that was not timed, as its picture is not what it has to be",
    &[&[
        m("plan", Text, "its name"),
        m("why", Text, "what of its picture differs first"),
        m("timed instead", Text, "the same plan, computed precisely, where that shows the same"),
    ]],
);

pub const HISTOGRAM: Sheet = sheet(
    "histogram_*",
    "a histogram's bucket of a plan's times",
    &[&[m("from", Milliseconds, "where it begins"), m("frames", Count, "turns in it")]],
);

pub const COURSES: Sheet = sheet(
    "times_*",
    "a turn of a plan, in the order in which they ran",
    &[&[m("turn", Count, "its number"), m("time", Milliseconds, "its GPU time")]],
);

pub const SHEETS: &[Sheet] =
    &[VERDICTS, TIMES, PERCENTILES, BANDS, EFFICIENCY, CLOCKS, PLANS, CALLS, REFUSED, HISTOGRAM, COURSES];
