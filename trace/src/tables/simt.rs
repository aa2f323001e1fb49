//! What pass `simt` records.

use crate::Table;
use crate::table::count;

/// How often basic blocks were executed with how many active invocations.
pub static SIMT: Table = Table {
    name: "simt",
    about: "how often a subgroup executed a basic block with so many active invocations in one frame",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("entry", "number", "which entry point of which pipeline: a row of `entries`"),
        count("function", "index", "a row of `functions`, with the entry's variant"),
        count("block", "index", "a row of `blocks`, with the entry's variant and the function"),
        count("active", "invocations", "popcount of the active mask; helper invocations are not active"),
        count("executions", "subgroups", "how often"),
    ],
};
