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
        count(
            "active",
            "invocations",
            "popcount of the active mask; helper invocations are not active; 0: more than are told apart",
        ),
        count("executions", "subgroups", "how often"),
        count("invocations", "invocations", "active ones of all these executions"),
    ],
};

/// Helper invocations beside active ones.
pub static SIMT_HELPERS: Table = Table {
    name: "simt_helpers",
    about: "how many helper invocations were there where subgroups with active ones executed a basic block in one frame",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("entry", "number", "a row of `entries`"),
        count("function", "index", "as in `simt`"),
        count("block", "index", "as in `simt`"),
        count("helpers", "invocations", "helpers of all executions"),
    ],
};

/// Active invocations where rays are traced.
pub static SIMT_TRACES: Table = Table {
    name: "simt_traces",
    about: "how often a subgroup came by a call that traces a ray with so many active invocations in one frame",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("entry", "number", "a row of `entries`"),
        count("function", "index", "as in `simt`"),
        count("block", "index", "as in `simt`"),
        count("word_offset", "words", "where the call stands in the original module"),
        count("active", "invocations", "as in `simt`"),
        count("executions", "subgroups", "how often"),
        count("invocations", "invocations", "active ones of all these executions"),
    ],
};

/// What groups of a sample say of `simt`.
pub static SIMT_GROUPS: Table = Table {
    name: "simt_groups",
    about: "what one group of a sample counted, as rows of `simt`, times one in how many counts: how far groups lie apart says how far those rows may be off",
    version: 1,
    columns: &[
        count("group", "index", "which group"),
        count("frame", "number", "as in `simt`"),
        count("entry", "number", "as in `simt`"),
        count("function", "index", "as in `simt`"),
        count("block", "index", "as in `simt`"),
        count("active", "invocations", "as in `simt`"),
        count("executions", "subgroups", "as in `simt`"),
        count("invocations", "invocations", "as in `simt`"),
    ],
};
