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
