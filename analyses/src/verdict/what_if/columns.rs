//! The tables of `what-if`: what a row is, and each column with its unit and meaning.

use crate::report::Unit::{Count, Milliseconds, Percent, Ratio, Text};
use crate::report::sheet::{Meaning, Sheet, m, sheet};

pub const PARTS: Sheet = sheet(
    "parts",
    "a part of the frame, and what leaving it out gains; the first is the whole frame",
    &[&[
        m("part", Count, "its number"),
        m("name", Text, "labels around it, and what it is"),
        m("within", Count, "the part that it is within, the smallest; none for the frame"),
        m("actions", Count, "draws, dispatches and traces"),
        m(
            "own",
            Milliseconds,
            "their times one by one, in turns that time every command: the sum of their medians",
        ),
        m("cost", Milliseconds, "how much less GPU time the frame takes without them"),
        m("from", Milliseconds, "the lower end of the cost's 99 % interval"),
        m("to", Milliseconds, "the upper end"),
        m(
            "overlap",
            Milliseconds,
            "own time less cost: what others do meanwhile, and what timing each command adds",
        ),
        m("of the frame", Percent, "the cost, of the frame as it is"),
        m("without it", Text, "whether that is sure: less time, no change, inconclusive, …"),
        m("bound by", Text, "what gains surely when it is changed, the most first"),
    ]],
);

pub const TOGETHER: Sheet = sheet(
    "together",
    "a part that holds others, and whether their costs add up",
    &[&[
        m("part", Text, "the frame, or a part by number and name"),
        m("holds", Count, "parts directly within it"),
        m("one at a time", Milliseconds, "the sum of their costs"),
        m("at once", Milliseconds, "its own cost: all of them are left out together"),
        m("from", Milliseconds, "the lower end of that cost's 99 % interval"),
        m("to", Milliseconds, "the upper end"),
        m(
            "costs",
            Text,
            "they add up; each alone holds up what others wait for; or they run beside each other, so that one alone gains less",
        ),
    ]],
);

const EXPERIMENT: &[Meaning] = &[
    m("part", Text, "what is changed: the frame, or a part by number and name"),
    m("change", Text, "what the replay does otherwise, as a plan has it"),
    m("asks about", Text, "what it would be, if the frame is faster so"),
    m("gain", Milliseconds, "how much less GPU time the frame takes: the change of the median"),
    m("from", Milliseconds, "the lower end of its 99 % interval"),
    m("to", Milliseconds, "the upper end"),
    m(
        "of the frame",
        Percent,
        "the gain, of the frame as it was in the same turns: clocks go up and down meanwhile",
    ),
    m(
        "verdict",
        Text,
        "less time or more time, surely and by at least --min-effect; no change; not more; inconclusive",
    ),
    m("p", Ratio, "of no change, adjusted over all experiments"),
    m("picture", Text, "whether the frame shows the same; none where it presents nothing"),
];

pub const EXPERIMENTS: Sheet = sheet("experiments", "a change, of the frame or a part", &[EXPERIMENT]);

pub const CAN_BE_HAD: Sheet = sheet(
    "can be had",
    "an experiment that is a sure gain and shows the same, the greatest gain first",
    &[EXPERIMENT],
);

pub const NOT_RUN: Sheet = sheet(
    "not run",
    "a reason for which experiments of a part were not run: the device or the capture refused them, or there was no time",
    &[&[
        m("part", Text, "what was to be changed"),
        m("change", Text, "how: each of these"),
        m("why", Text, "what its process said, or what it would have taken"),
    ]],
);

pub const SHEETS: &[Sheet] = &[PARTS, TOGETHER, EXPERIMENTS, CAN_BE_HAD, NOT_RUN];
