//! What pass `its` records.

use crate::Table;
use crate::table::{count, text};

/// Entries and exits of entry points.
pub static ITS: Table = Table {
    name: "its",
    about: "how often subgroups entered an entry point, or left it at one place, in one frame",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("entry", "number", "which entry point of which pipeline: a row of `entries`"),
        count("function", "index", "a row of `functions`, with the entry's variant"),
        count("block", "index", "a row of `blocks`, with the entry's variant and the function"),
        count("word_offset", "words", "where it stands in the original module"),
        text("kind", "entry, return, kill, ignore-intersection, terminate-ray or emit-mesh-tasks"),
        count("executions", "subgroups", "how often"),
        count("invocations", "invocations", "active ones of all these"),
        count("whole", "subgroups", "how often by all invocations that had entered together"),
    ],
};
