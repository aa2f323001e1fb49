//! What a round's calls cost the CPU: those about descriptors, and the others that record, manage command buffers and submit.
//!
//! *Input.* For each plan and round how many calls there were and how long the driver took for them, by the replay's own clock.
//! *Definitions.* Medians over rounds; changes are of medians against the first plan's, with the interval of `compare.rs`.
//! *Caveats.* What sets a plan makes once is not in a round: the loop's first iterations make it. Reading the clock is in the
//! times, alike for each call; finding the driver's function is in those of the capture's own calls, a few nanoseconds each, and
//! not in those that a plan makes in their place.

use super::compare::compare;
use super::plan::{About, Calls, Plan};
use crate::report::{Cell, Column, Table, Unit};
use crate::stats::Sample;
use trace::Nanos;
type Kind = fn(&Calls) -> (u64, Nanos);

const KINDS: [(&str, Kind); 2] = [("descriptors", |c| c.descriptors), ("recording", |c| c.recording)];

/// A row for each plan and kind of calls.
pub fn table(about: &About, plans: &[Plan]) -> Table {
    let mut rows = vec![];
    for (what, of) in KINDS {
        let times = |p: &Plan| p.calls.iter().map(|c| Some(of(c).1.0)).collect::<Vec<_>>();
        let Some(first) = plans.first().map(times) else { continue };
        for (n, plan) in plans.iter().enumerate().filter(|p| !p.1.calls.is_empty()) {
            let median = |values: Vec<u64>| Sample::new(values).median().map_or(Cell::Missing, Cell::whole);
            let change = (n > 0).then(|| compare(&times(plan), &first, about.seed)).flatten();
            let change = change.map_or([Cell::Missing, Cell::Missing, Cell::Missing], |c| {
                [c.median.0, c.median.1[0], c.median.1[1]].map(Cell::Number)
            });
            let mut row = vec![Cell::from(what), plan.name.as_str().into()];
            row.push(median(plan.calls.iter().map(|c| of(c).0).collect()));
            row.push(median(plan.calls.iter().map(|c| of(c).1.0).collect()));
            row.extend(change);
            rows.push(row);
        }
    }
    let percent = |name: &str| Column::new(name, Unit::Percent);
    Table {
        name: "calls".into(),
        columns: vec![
            Column::new("calls of", Unit::Text),
            Column::new("plan", Unit::Text),
            Column::new("calls", Unit::Count),
            Column::new("CPU time, median", Unit::Nanoseconds),
            percent("change"),
            percent("from"),
            percent("to"),
        ],
        rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Cost;

    #[test]
    fn each_kind_is_held_against_the_first_plan() {
        let plan = |name: &str, descriptors: u64, recording: u64| Plan {
            name: name.into(),
            calls: vec![Calls { descriptors: (3, Nanos(descriptors)), recording: (9, Nanos(recording)) }; 5],
            ..Plan::default()
        };
        let about = About { frame: 1, seed: 1, notes: vec![], cost: Cost::Nothing { why: "a test".into() } };
        let t = table(&about, &[plan("plain", 100, 1000), plan("other", 80, 1500), Plan::default()]);
        assert_eq!(t.rows.len(), 4);
        assert_eq!(t.rows[0][2..5], [Cell::Count(3), Cell::Count(100), Cell::Missing]);
        assert!(matches!(t.rows[1][4], Cell::Number(n) if (n + 20.0).abs() < 1e-9), "{t:?}");
        assert_eq!(t.rows[3][..4], ["recording".into(), "other".into(), Cell::Count(9), Cell::Count(1500)]);
        assert!(matches!(t.rows[3][4], Cell::Number(n) if (n - 50.0).abs() < 1e-9), "{t:?}");
    }
}
