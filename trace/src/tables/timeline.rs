//! What pass `timeline` records.

use crate::Table;
use crate::table::{count, text};

/// The number that stands for a multiprocessor, or a place on it, that the device does not say.
pub const NOWHERE: u64 = u32::MAX as u64;

/// Subgroups in entry points.
pub static TIMELINE: Table = Table {
    name: "timeline",
    about: "a subgroup in an entry point: from when to when, and where on the device",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("entry", "number", "which entry point of which pipeline: a row of `entries`"),
        count("subgroup", "number", "the number that it got there, from 0 in each frame"),
        count("begin", "ticks", "the clock when it entered"),
        count(
            "end",
            "ticks",
            "the clock when the last of its invocations left; `begin` where no exit was recorded",
        ),
        count("active", "invocations", "how many entered; helper invocations do not count"),
        count("left", "invocations", "how many left at the last exit"),
        count("exits", "exits", "at how many it left: one piece each; 0 where none was recorded"),
        count("sm", "number", "the multiprocessor; 4294967295 where the device was not asked"),
        count("warp", "number", "its place on the multiprocessor; 4294967295 where the device was not asked"),
        text("clock", "whose clock it is: device, one for all; or subgroup, its own"),
    ],
};

/// Exits of subgroups.
pub static TIMELINE_EXITS: Table = Table {
    name: "timeline_exits",
    about: "invocations of a subgroup that left an entry point at one place at one time",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("entry", "number", "a row of `entries`"),
        count("subgroup", "number", "as in `timeline`"),
        count("time", "ticks", "the clock"),
        count("active", "invocations", "how many left"),
        count("function", "index", "a row of `functions`, with the entry's variant"),
        count("block", "index", "a row of `blocks`, with the entry's variant and the function"),
        count(
            "word_offset",
            "words",
            "where the instruction that they left by stands in the original module",
        ),
        text("how", "return, kill, demote, ignore-intersection, terminate-ray or emit-mesh-tasks"),
    ],
};
