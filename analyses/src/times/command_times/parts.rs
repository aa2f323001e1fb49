//! What frames are made of, as a tree: submissions, labels and passes, and in each what runs there by name.
//!
//! Guarantees: each node stands before its parts, nodes side by side in the order in which they first began; times are those
//! of the tables. A node that was not timed itself (its parts were) has no values.

use super::columns;
use super::sums::{Sum, Timed, around, ms};
use crate::report::Cell;
use crate::report::shapes::{Node, Tree};
use crate::report::sheet::Meaning;
use std::collections::HashMap;
use trace::{SpanKind, TimeNames};

/// A node's parts, and what it sums.
#[derive(Default)]
struct Part {
    name: String,
    sum: Sum,
    parts: Vec<usize>,
}

/// The tree; none where nothing was timed.
pub fn tree(placed: &[Timed<'_>], total: u64, names: &TimeNames) -> Option<Tree> {
    let mut all = vec![Part { name: "everything".into(), ..Part::default() }];
    let mut known: HashMap<(usize, String), usize> = HashMap::new();
    for t in placed {
        let mut path = around(names, t);
        if matches!(t.record.kind, SpanKind::Run | SpanKind::Command) {
            path.push(names.path(t.record.node).last().copied().unwrap_or_default().to_owned());
        }
        let mut at = 0;
        for name in path {
            let next = all.len();
            let part = *known.entry((at, name.clone())).or_insert(next);
            if part == next {
                all.push(Part { name, ..Part::default() });
                all[at].parts.push(next);
            }
            at = part;
        }
        all[at].sum.add(t.place.time().0);
    }
    if placed.is_empty() {
        return None;
    }
    let mut nodes = Vec::with_capacity(all.len());
    let mut open = vec![(0u32, 0usize)];
    while let Some((depth, at)) = open.pop() {
        let Part { name, sum, parts } = &all[at];
        let values = match sum.times {
            0 => vec![Cell::Missing; 4],
            n => vec![Cell::Count(n), ms(sum.total / n), ms(sum.max), Cell::share(sum.total, total)],
        };
        nodes.push(Node { depth, name: name.clone(), values });
        open.extend(parts.iter().rev().map(|&part| (depth + 1, part)));
    }
    Some(Tree {
        name: "tree".into(),
        title: "What frames are made of".into(),
        columns: columns::SUM.iter().map(Meaning::column).collect(),
        nodes,
    })
}
