//! The tables of `bindings`: what a row is, and each column with its unit and meaning.

use crate::report::Unit::{Count, Percent, Text};
use crate::report::sheet::{Meaning, Sheet, Thing, m, sheet};

const COSTS: &[Meaning] = &[
    m("sets", Count, "distinct sets in each execution of a recording, summed over executions"),
    m("descriptors", Count, "descriptors in them"),
    m("change", Percent, "of descriptors, against what the capture has"),
    m(
        "kept",
        Count,
        "descriptors of sets that are distinct over the whole capture: what has to be written if nothing is freed",
    ),
    m("binds", Count, "sets that had to be bound since another one, or other offsets, were there"),
    m("bind calls", Count, "calls for that, as neighbours go into one"),
];

pub const WHOLE: Sheet = sheet(
    "whole",
    "a way to part slots into sets, for all pipelines",
    &[&[m("whole capture", Text, "the partition")], COSTS],
);

pub const PARTITIONS: Sheet = sheet(
    "partitions",
    "a partition of the pipelines of one layout",
    &[
        &[
            m("pipelines of one layout", Text, "which pipelines"),
            m("partition", Text, "as captured, classes, single, together or minimal"),
            m("sets in layout", Count, "highest set number and one"),
        ],
        COSTS,
        &[m("stays", Text, "sets that are not moved, and why")],
    ],
);

pub const SLOTS: Sheet = sheet(
    "slots",
    "a slot (set and binding) of a pipeline",
    &[&[
        m("pipeline", Text, "the pipeline").names(Thing::Pipeline),
        m("slot", Text, "set.binding, and its name where a shader says one"),
        m("type", Text, "the type of its descriptors"),
        m("descriptors", Count, "of the slot's layout; an inline uniform block is one"),
        m("draws", Count, "draws, dispatches and traces of the pipeline"),
        m("pairs", Count, "consecutive ones of which both values are known"),
        m("redundancy", Percent, "of these, pairs that are equal"),
        m("not known", Count, "pairs in which a descriptor is not known"),
        m("used by", Text, "stages whose shaders use the slot statically"),
    ]],
);

pub const RECORDINGS: Sheet = sheet(
    "recordings",
    "a pipeline in a recording of a command buffer",
    &[&[
        m("recording", Count, "the recording's number"),
        m("frame", Count, "the first frame that executed it"),
        m("pipeline", Text, "the pipeline").names(Thing::Pipeline),
        m("draws", Count, "its draws, dispatches and traces"),
        m("runs", Count, "how often these began to follow each other"),
        m("pairs", Count, "consecutive ones, of all slots"),
        m("redundancy", Percent, "of these, pairs that are equal"),
        m("changes most", Text, "the slot with the lowest redundancy"),
        m("redundancy", Percent, "and that"),
    ]],
);

pub const MAPPING: Sheet = sheet(
    "mapping",
    "a slot, where a partition needs fewer descriptors",
    &[&[
        m("fewest descriptors", Text, "the pipelines of one layout"),
        m("partition", Text, "the partition with the fewest descriptors"),
        m("slot", Text, "set.binding as captured"),
        m("redundancy", Percent, "equal pairs of consecutive draws"),
        m("goes to", Text, "set.binding in the partition"),
    ]],
);

pub const SHEETS: &[Sheet] = &[WHOLE, PARTITIONS, SLOTS, RECORDINGS, MAPPING];
