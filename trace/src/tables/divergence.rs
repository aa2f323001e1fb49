//! What pass `divergence` records.

use crate::Table;
use crate::table::count;

/// Slots of executed basic blocks, by why they are inactive.
pub static DIVERGENCE: Table = Table {
    name: "divergence",
    about: "slots of a basic block's executions in one frame: subgroup size times executions, by what they were",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("entry", "number", "which entry point of which pipeline: a row of `entries`"),
        count("function", "index", "a row of `functions`, with the entry's variant"),
        count("block", "index", "a row of `blocks`, with the entry's variant and the function"),
        count("executions", "subgroups", "how often a subgroup executed it"),
        count("active", "slots", "with an active invocation"),
        count("early_return", "slots", "inactive: the invocation left the entry point for good"),
        count("indirect_call", "slots", "inactive: the invocation was absent where the shader was entered"),
        count("not_launched", "slots", "those of `indirect_call` that are of stages which nothing calls"),
        count("control_flow", "slots", "inactive for any other reason"),
        count("helper", "slots", "inactive: the invocation entered as a helper"),
        count("unattributed", "slots", "inactive, of subgroups whose entry was lost"),
    ],
};

/// What groups of a sample say of `divergence`.
pub static DIVERGENCE_GROUPS: Table = Table {
    name: "divergence_groups",
    about: "what one group of a sample counted, as rows of `divergence`, times one in how many counts: how far groups lie apart says how far those rows may be off",
    version: 1,
    columns: &[
        count("group", "index", "which group"),
        count("frame", "number", "as in `divergence`"),
        count("entry", "number", "as in `divergence`"),
        count("function", "index", "as in `divergence`"),
        count("block", "index", "as in `divergence`"),
        count("executions", "subgroups", "as in `divergence`"),
        count("active", "slots", "as in `divergence`"),
        count("early_return", "slots", "as in `divergence`"),
        count("indirect_call", "slots", "as in `divergence`"),
        count("not_launched", "slots", "as in `divergence`"),
        count("control_flow", "slots", "as in `divergence`"),
        count("helper", "slots", "as in `divergence`"),
        count("unattributed", "slots", "as in `divergence`"),
    ],
};
