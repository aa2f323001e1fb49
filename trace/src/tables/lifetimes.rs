//! What pass `lifetimes` records.

use crate::Table;
use crate::table::{count, text};

/// Histograms of blocks executed.
pub static LIFETIMES: Table = Table {
    name: "lifetimes",
    about: "how many invocations or subgroups executed so many basic blocks of an entry point in one frame",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("entry", "number", "which entry point of which pipeline: a row of `entries`"),
        text("of", "invocation or subgroup"),
        count("from", "blocks", "executed at least so many"),
        count("to", "blocks", "executed at most so many; the same number where the histogram is exact"),
        count("count", "invocations or subgroups", "how many did"),
    ],
};

/// The sums of these histograms.
pub static LIFETIME_SUMS: Table = Table {
    name: "lifetime_sums",
    about: "how many basic blocks the invocations or subgroups of an entry point executed together in one frame",
    version: 1,
    columns: &[
        count("frame", "number", "the capture's number of the frame"),
        count("entry", "number", "a row of `entries`"),
        text("of", "invocation or subgroup"),
        count("count", "invocations or subgroups", "how many there were"),
        count("blocks", "blocks", "executed by all of them"),
        count(
            "unfinished",
            "subgroups",
            "not seen to leave whole: their records were lost; in no other number",
        ),
    ],
};
