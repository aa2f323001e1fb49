//! What is recorded of entry points that count a sample of their work.

use super::{DIVERGENCE, DIVERGENCE_GROUPS, SIMT, SIMT_GROUPS};
use crate::Table;
use crate::table::count;

/// Which entry points counted a sample.
pub static SAMPLES: Table = Table {
    name: "samples",
    about: "entry points of which a sample of the work counted: what tables say of them are estimates",
    version: 1,
    columns: &[
        count("entry", "number", "a row of `entries`"),
        count("every", "number", "one subgroup, or workgroup, in so many counted"),
        count("groups", "number", "the groups that those were in"),
    ],
};

/// A table that may hold estimates.
pub struct Sampled {
    /// The table.
    pub of: &'static Table,
    /// That of its groups: a column `group`, and then the same columns.
    pub groups: &'static Table,
    /// Its columns that are sums over work; the others say what of.
    pub sums: &'static [&'static str],
}

/// All of them.
pub static SAMPLED: &[Sampled] = &[
    Sampled { of: &SIMT, groups: &SIMT_GROUPS, sums: &["executions", "invocations"] },
    Sampled {
        of: &DIVERGENCE,
        groups: &DIVERGENCE_GROUPS,
        sums: &[
            "executions",
            "active",
            "early_return",
            "indirect_call",
            "not_launched",
            "control_flow",
            "helper",
            "unattributed",
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::SAMPLED;

    #[test]
    fn groups_have_the_columns_of_what_they_are_groups_of() {
        for s in SAMPLED {
            let names = |t: &crate::Table| t.columns.iter().map(|c| c.name).collect::<Vec<_>>();
            assert_eq!(names(s.groups), [&["group"][..], &names(s.of)].concat());
            assert!(s.sums.iter().all(|sum| names(s.of).contains(sum)), "{}", s.of.name);
        }
    }
}
