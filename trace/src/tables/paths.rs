//! What pass `paths` records.

use crate::Table;
use crate::table::count;

/// Subgroups of entry points that trace rays.
pub static PATH_SUBGROUPS: Table = Table {
    name: "path_subgroups",
    about: "a subgroup that entered an entry point which may trace rays",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("entry", "number", "which entry point of which pipeline: a row of `entries`"),
        count("subgroup", "number", "its number in the frame, in the order in which subgroups came"),
        count("first", "work id", "the work that its first invocation does"),
        count("mask", "bits", "invocations that entered, 0 to 63"),
        count("mask_high", "bits", "invocations that entered, 64 to 127"),
    ],
};

/// Calls that trace rays.
pub static PATH_CALLS: Table = Table {
    name: "path_calls",
    about: "a call of a subgroup that traced a ray for each of its active invocations",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("entry", "number", "a row of `entries`"),
        count("subgroup", "number", "a row of `path_subgroups`, with the frame"),
        count("call", "index", "which of the subgroup's calls, from 0"),
        count("function", "index", "a row of `functions`, with the entry's variant"),
        count("block", "index", "a row of `blocks`, with the entry's variant and the function"),
        count("word_offset", "words", "where the call stands in the original module"),
        count("mask", "bits", "active invocations, 0 to 63"),
        count("mask_high", "bits", "active invocations, 64 to 127"),
    ],
};
