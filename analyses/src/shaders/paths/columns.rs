//! The tables of `paths` and `ray-paths`: what a row is, and each column with its unit and meaning.

use crate::context::columns::ENTRY;
use crate::report::Unit::{Count, Invocations, Percent, Subgroups, Text};
use crate::report::sheet::{Meaning, Sheet, m, sheet};

pub const PATHS: Sheet = sheet(
    "paths",
    "an entry point that traces rays",
    &[
        ENTRY,
        &[
            m("entered", Subgroups, "subgroups that entered it"),
            m("entered", Invocations, "invocations that did"),
            m("calls", Subgroups, "trace calls that subgroups executed"),
            m("rays", Invocations, "rays that were traced: active invocations of these calls, summed"),
            m("paths", Count, "paths that are different"),
        ],
    ],
);

pub const FREQUENT_PATHS: Sheet = sheet(
    "frequent_paths",
    "one of the most frequent paths of an entry point",
    &[
        ENTRY,
        &[
            m(
                "path",
                Text,
                "a digit for each trace call of the subgroup, in order: 1 where the invocation took part",
            ),
            m("rays", Count, "ones in it"),
            m("took it", Invocations, "invocations with this path"),
            m("took it", Percent, "of all that entered"),
        ],
    ],
);

const WINDOW: &[Meaning] = &[
    m("window", Text, "subgroups whose active invocations are packed together"),
    m("ran", Subgroups, "trace calls that subgroups executed"),
    m("needed", Subgroups, "those that packed subgroups would execute"),
    m("saved", Percent, "1 less needed over ran"),
];

pub const COMPACTION: Sheet = sheet("compaction", "a compaction window of an entry point", &[ENTRY, WINDOW]);

pub const COMPACTION_OF_ALL: Sheet = sheet(
    "compaction_of_all",
    "all entry points together, where there are several: a launch at a time",
    &[WINDOW],
);

pub const SHEETS: &[Sheet] = &[PATHS, FREQUENT_PATHS, COMPACTION, COMPACTION_OF_ALL];
