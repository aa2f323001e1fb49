//! What pass `blocks` records.

use crate::Table;
use crate::table::{count, text};

/// How a frame's blocks were counted.
pub static BLOCK_RUNS: Table = Table {
    name: "block_runs",
    about: "how basic blocks were counted in one frame",
    version: 1,
    columns: &[
        text("pass", "the pass's name: a plan may have it more than once"),
        count("frame", "number", "the capture's number of the frame"),
        text("unit", "what is counted: invocations, or subgroups (comings-by with any invocation)"),
        text("add", "atomic; plain: additions may have been lost, so that counts are too low"),
        count("sample", "number", "1: everything was counted; k: one in k was, and counts are of these only"),
        text("placement", "knuth: counts follow from some of them; direct: each was counted"),
        text("flush", "exit: what loops repeat was added where invocations leave; direct: at once"),
        count("copies", "number", "copies of the counters; the counts are their sums"),
    ],
};

/// How often basic blocks were run.
pub static BLOCK_COUNTS: Table = Table {
    name: "block_counts",
    about: "how often a basic block was run in one frame, derived counts included; 0 where a block of a measured entry \
            point has no row (the first block of an entry point's own function always has one)",
    version: 1,
    columns: &[
        text("pass", "as in `block_runs`"),
        count("frame", "number", "the capture's number of the frame"),
        count("entry", "number", "which entry point of which pipeline: a row of `entries`"),
        count("function", "index", "a row of `functions`, with the entry's variant"),
        count("block", "index", "a row of `blocks`, with the entry's variant and the function"),
        count(
            "executions",
            "as `block_runs` says",
            "how often it was begun; helper invocations do not count",
        ),
    ],
};

/// How often control went from block to block.
pub static EDGE_COUNTS: Table = Table {
    name: "edge_counts",
    about: "how often control went from a basic block to another in one frame; none where subgroups are counted, whose \
            comings-by are not conserved; 0 where there is no row",
    version: 1,
    columns: &[
        text("pass", "as in `block_runs`"),
        count("frame", "number", "the capture's number of the frame"),
        count("entry", "number", "which entry point of which pipeline: a row of `entries`"),
        count("function", "index", "a row of `functions`, with the entry's variant"),
        count("from", "index", "the block that was left"),
        count("to", "index", "the block that was entered; the number of blocks where the function was left"),
        count("executions", "as `block_runs` says", "how often"),
    ],
};

/// Instructions.
pub static INSTRUCTIONS: Table = Table {
    name: "instructions",
    about: "an instruction of a basic block that does something, in the module's order",
    version: 1,
    columns: &[
        count("variant", "number", "as in `entries`"),
        count("function", "index", "a row of `functions`"),
        count("block", "index", "a row of `blocks`"),
        count("word_offset", "words", "where it stands in the original module"),
        text("opcode", "its opcode's name in the specification: OpIAdd"),
        text("file", "source file, where the module carries it"),
        count("line", "line", "source line, from 1; 0 where the module carries none"),
    ],
};
