//! Columns of questions about subgroups in shaders: efficiency, divergence, splitting, paths, lifetimes.

use super::common::{BLOCK, ENTRY, FRAME, PIPELINE, STAGE};
use super::meaning::{Meaning, Sheet, m};
use crate::report::Unit::{Count, Executions, Instructions, Invocations, Percent, Ratio, Subgroups, Text};

const EVENT_SUMS: &[Meaning] = &[
    m("executed", Subgroups, "executions by subgroups"),
    m("active", Invocations, "invocations that were active in them, summed"),
    m("efficiency", Percent, "active invocations over executions times the subgroup size"),
];
const SIMT_MORE: &[Meaning] = &[
    m("weighted", Percent, "the same, each execution counted as often as its block has instructions"),
    m("helpers", Invocations, "helper invocations that were there; they are in no other number"),
];
const BARS: &[Meaning] = &[
    m("active", Invocations, "active invocations of an execution"),
    m("executions", Executions, "executions with so many"),
];

pub const SIMT: &[Sheet] = &[
    Sheet {
        table: "whole",
        about: "all basic blocks together",
        columns: &[&[m("basic blocks", Text, "all")], EVENT_SUMS, SIMT_MORE],
    },
    Sheet {
        table: "events",
        about: "a kind of event of rays, or all that count: calls that trace, and entries of intersection, any-hit, miss and closest-hit shaders, not of callable ones",
        columns: &[&[m("event", Text, "the kind")], EVENT_SUMS],
    },
    Sheet { table: "stages", about: "a shader stage", columns: &[STAGE, EVENT_SUMS, SIMT_MORE] },
    Sheet {
        table: "pipelines",
        about: "a pipeline or shader object",
        columns: &[PIPELINE, EVENT_SUMS, SIMT_MORE],
    },
    Sheet {
        table: "shaders",
        about: "an entry point of a pipeline",
        columns: &[ENTRY, EVENT_SUMS, SIMT_MORE],
    },
    Sheet { table: "frames", about: "a frame", columns: &[FRAME, EVENT_SUMS, SIMT_MORE] },
    Sheet {
        table: "blocks",
        about: "a basic block; what wasted the most slots comes first",
        columns: &[ENTRY, BLOCK, EVENT_SUMS, SIMT_MORE],
    },
    Sheet {
        table: "popcounts_*",
        about: "executions with so many active invocations: of all blocks, and of those of a stage",
        columns: &[BARS],
    },
];

const CAUSES: &[Meaning] = &[
    m("slots", Count, "executions of basic blocks by subgroups, times the subgroup size"),
    m("inactive", Count, "of these, slots whose invocation was not active"),
    m("early return", Count, "of these: it had left the entry point for good"),
    m("indirect call", Count, "it was absent where the shader was entered"),
    m("control flow", Count, "it went another way"),
    m("helper", Count, "it had entered as a helper of a fragment"),
    m("inactive", Instructions, "inactive slots, each counted as often as its block has instructions"),
    m("early return, weighted", Percent, "of the weighted inactive slots"),
    m("indirect call, weighted", Percent, "of the weighted inactive slots"),
    m("control flow, weighted", Percent, "of the weighted inactive slots"),
    m("helper, weighted", Percent, "of the weighted inactive slots"),
];

pub const DIVERGENCE: &[Sheet] = &[
    Sheet {
        table: "causes",
        about: "a cause, and parts and sums of them",
        columns: &[&[
            m("cause", Text, "why slots were inactive; active ones and all for comparison"),
            m("slots", Count, "slots of this cause"),
            m("of inactive", Percent, "share of all inactive slots"),
            m("of all", Percent, "share of all slots"),
            m(
                "slots",
                Instructions,
                "slots of this cause, each counted as often as its block has instructions",
            ),
            m("of inactive, weighted", Percent, "share of these of all inactive ones"),
            m("of all, weighted", Percent, "share of these of all"),
        ]],
    },
    Sheet { table: "stages", about: "a shader stage", columns: &[STAGE, CAUSES] },
    Sheet { table: "pipelines", about: "a pipeline or shader object", columns: &[PIPELINE, CAUSES] },
    Sheet { table: "shaders", about: "an entry point of a pipeline", columns: &[ENTRY, CAUSES] },
    Sheet { table: "frames", about: "a frame", columns: &[FRAME, CAUSES] },
    Sheet {
        table: "blocks",
        about: "a basic block; what wasted the most slots comes first",
        columns: &[ENTRY, BLOCK, CAUSES],
    },
];

const SPLITS: &[Meaning] = &[
    m("entries", Subgroups, "subgroups that entered"),
    m("exits", Subgroups, "executions of places where invocations leave"),
    m(
        "exits / entries",
        Ratio,
        "1 where every subgroup leaves as it came; more where subgroups were split, or leave at several places",
    ),
    m("split", Subgroups, "subgroups that did not leave at once with all that had entered"),
    m("split", Percent, "of those that entered"),
];

pub const ITS: &[Sheet] = &[
    Sheet {
        table: "whole",
        about: "all entry points together",
        columns: &[&[m("entry points", Text, "all")], SPLITS],
    },
    Sheet { table: "stages", about: "a shader stage", columns: &[STAGE, SPLITS] },
    Sheet { table: "shaders", about: "an entry point of a pipeline", columns: &[ENTRY, SPLITS] },
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
                m("whole", Subgroups, "exits by all invocations that had entered together"),
                m(
                    "exits / entries",
                    Ratio,
                    "exits here over entries of the entry point: above 1 only scheduling can bring it",
                ),
            ],
        ],
    },
];

const WINDOW: &[Meaning] = &[
    m("window", Text, "subgroups whose active invocations are packed together"),
    m("ran", Subgroups, "trace calls that subgroups executed"),
    m("needed", Subgroups, "those that packed subgroups would execute"),
    m("saved", Percent, "1 less needed over ran"),
];

pub const PATHS: &[Sheet] = &[
    Sheet {
        table: "paths",
        about: "an entry point that traces rays",
        columns: &[
            ENTRY,
            &[
                m("entered", Subgroups, "subgroups that entered it"),
                m("entered", Invocations, "invocations that did"),
                m("calls", Subgroups, "trace calls that subgroups executed"),
                m("rays", Invocations, "rays that were traced: active invocations of these calls, summed"),
                m("paths", Count, "paths that are different"),
            ],
        ],
    },
    Sheet {
        table: "frequent_paths",
        about: "one of the most frequent paths of an entry point",
        columns: &[
            ENTRY,
            &[
                m(
                    "path",
                    Text,
                    "a digit for each trace call of the subgroup, in order: 1 where the invocation took part",
                ),
                m("rays", Count, "ones in it"),
                m("took it", Invocations, "invocations with this path"),
                m("took it", Percent, "of all that entered"),
            ],
        ],
    },
    Sheet { table: "compaction", about: "a compaction window of an entry point", columns: &[ENTRY, WINDOW] },
    Sheet {
        table: "compaction_of_all",
        about: "all entry points together, where there are several: a launch at a time",
        columns: &[WINDOW],
    },
];

const LIVES: &[Meaning] = &[
    m("of", Text, "of invocations or of subgroups"),
    m("lived", Count, "how many there were"),
    m("mean", Executions, "basic blocks that one executed, on average; exact"),
    m("min", Count, "fewest blocks"),
    m("median", Count, "blocks, by nearest rank"),
    m("p90", Count, "blocks that 90 % do not exceed"),
    m("p99", Count, "blocks that 99 % do not exceed"),
    m("max", Count, "most blocks"),
    m(
        "exact",
        Text,
        "whether percentiles and maximum are exact, or the upper ends of buckets of powers of two",
    ),
];

pub const LIFETIMES: &[Sheet] = &[
    Sheet {
        table: "stages",
        about: "a shader stage: its invocations, or its subgroups",
        columns: &[STAGE, LIVES],
    },
    Sheet {
        table: "shaders",
        about: "an entry point of a pipeline: its invocations, or its subgroups",
        columns: &[ENTRY, LIVES],
    },
    Sheet {
        table: "balance",
        about: "an entry point of a pipeline",
        columns: &[
            ENTRY,
            &[m(
                "balance",
                Ratio,
                "mean lifetime of invocations over that of subgroups: 1 where all do the same",
            )],
        ],
    },
    Sheet {
        table: "*",
        about: "how many of a stage's invocations or subgroups executed so many blocks",
        columns: &[&[
            m("blocks", Count, "blocks executed"),
            m("invocations|subgroups", Count, "how many executed so many"),
        ]],
    },
];

pub const ANNOTATE: &[Sheet] = &[Sheet {
    table: "shaders",
    about: "a module that was instrumented; its texts are files",
    columns: &[&[
        m("shader", Text, "the first digits of the module's BLAKE3 hash"),
        m("blocks", Count, "basic blocks of instrumented entry points"),
        m("executed", Count, "of these, blocks that were executed"),
        m("executions", Subgroups, "executions of all its blocks by subgroups"),
        m("efficiency", Percent, "SIMT efficiency over these"),
        m("SPIR-V", Text, "the file of its annotated SPIR-V"),
        m("sources", Count, "source files that it carries, each annotated in a file of its own"),
    ]],
}];
