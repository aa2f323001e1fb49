//! Counters of spans: those of what lies within one added to its own.

use super::columns;
use super::sums::{Counts, Top, add, at};
use crate::report::sheet::{Meaning, OTHERS};
use crate::report::{Cell, Column, Table};
use std::collections::HashMap;
use trace::{COUNTERS, CommandCounters, CommandTime, SpanKind, counter_name};

/// Counters by number of record, each with what lies within it.
pub fn inclusive(records: &[CommandTime], counters: &[CommandCounters]) -> HashMap<usize, Counts> {
    let mut all: HashMap<usize, Counts> = HashMap::new();
    let mut own = counters.iter().peekable();
    // The spans around the current one: number and depth.
    let mut open: Vec<(usize, u32)> = Vec::new();
    for (at, r) in records.iter().enumerate() {
        if r.kind == SpanKind::Submit {
            open.clear();
        }
        while open.last().is_some_and(|o| {
            let outer = &records[o.0];
            o.1 >= r.depth || (outer.kind != SpanKind::Submit && outer.position != r.position)
        }) {
            open.pop();
        }
        open.push((at, r.depth));
        while let Some(c) = own.next_if(|c| c.span as usize <= at) {
            for (outer, _) in &open {
                add(all.entry(*outer).or_default(), &c.counts);
            }
        }
    }
    all
}

/// The counters of the most expensive, one time each; none where nothing was counted.
pub fn table(top: &[Top<'_>], finest: SpanKind) -> Option<Table> {
    let counted = |counter: &usize| {
        top.iter().any(|t| t.sum.counts.is_some_and(|c| c[*counter].is_some_and(|n| n > 0)))
    };
    let shown: Vec<usize> = (0..COUNTERS.len()).filter(counted).collect();
    if shown.is_empty() {
        return None;
    }
    let rows = top.iter().filter(|t| t.sum.counts.is_some()).map(|t| {
        let mean = |n: u64| Cell::Count((n + t.sum.times / 2) / t.sum.times.max(1));
        let counts = t.sum.counts.unwrap_or_default();
        [Cell::Text(t.name.clone()), Cell::Text(at(t))]
            .into_iter()
            .chain(shown.iter().map(|c| counts[*c].map_or(Cell::Missing, mean)))
            .collect()
    });
    let names = |m: &Meaning| match m.name {
        OTHERS => shown.iter().map(|c| Column::new(counter_name(COUNTERS[*c]), m.unit)).collect(),
        _ => vec![Column::new(finest.name(), m.unit)],
    };
    Some(columns::STATISTICS.table_with(names, rows))
}

#[cfg(test)]
mod tests {
    use super::super::tests::span;
    use super::*;

    #[test]
    fn what_lies_within_counts_for_what_is_around() {
        let mut second = span(SpanKind::Command, 1, 5, 60, 70);
        second.position = 1;
        let records = [
            span(SpanKind::Submit, 0, 1, 0, 100),
            span(SpanKind::Pass, 1, 2, 0, 50),
            span(SpanKind::Command, 2, 3, 0, 10),
            span(SpanKind::Command, 2, 4, 10, 20),
            second,
            span(SpanKind::Submit, 0, 1, 100, 110),
        ];
        let of = |span, n| {
            let mut counts = [None; COUNTERS.len()];
            counts[2] = Some(n);
            CommandCounters { span, counts }
        };
        let all = inclusive(&records, &[of(2, 3), of(3, 4), of(4, 10)]);
        let n = |at: usize| all.get(&at).and_then(|c| c[2]);
        assert_eq!((0..6).map(n).collect::<Vec<_>>(), [Some(17), Some(7), Some(3), Some(4), Some(10), None]);
        assert_eq!(all[&0][0], None);
    }
}
