//! What pass `uniformity` records.

use crate::Table;
use crate::table::{count, text};

/// Branches, addresses and values.
pub static UNIFORMITY_SITES: Table = Table {
    name: "uniformity_sites",
    about: "a place in an entry point where a value may or may not be the same for a whole subgroup",
    version: 1,
    columns: &[
        count("entry", "number", "which entry point of which pipeline: a row of `entries`"),
        count("site", "number", "its number in the entry point, from 0"),
        count("function", "index", "a row of `functions`, with the entry's variant"),
        count("block", "index", "a row of `blocks`, with the entry's variant and the function"),
        count("word_offset", "words", "where the instruction stands in the original module"),
        text("kind", "branch: a condition or selector; address: of a load; value: what a load gives"),
        text(
            "class",
            "what is read: uniform, push, storage, texture, workgroup, record, task-payload, ray, scratch (own arrays), \
             input, own, handle; control for branches",
        ),
        text("name", "the branch's opcode, or what is read in the shader's words"),
        count("static", "0 or 1", "1: a divergence analysis of the module proves that it is uniform"),
        text("unmeasured", "why it is not measured; empty where it is"),
        text("file", "source file of the block's first instruction that has a line"),
        count("line", "line", "that line, from 1; 0 where the module carries none"),
    ],
};

/// How often they were alike.
pub static UNIFORMITY: Table = Table {
    name: "uniformity",
    about: "how often a place was executed in one frame, and how often active invocations of a subgroup differed there; \
            absent where it was not executed",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("entry", "number", "with `site`, a row of `uniformity_sites`"),
        count("site", "number", "which"),
        count("executions", "subgroups", "how often a subgroup came by; helper invocations do not count"),
        count("diverged", "subgroups", "those in which some invocation had another value than the first"),
        count("invocations", "invocations", "active invocations, summed over those that diverged"),
    ],
};
