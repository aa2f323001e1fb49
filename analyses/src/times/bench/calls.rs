//! What a turn's calls cost the CPU: those about descriptors, and the others that record, manage command buffers and submit.
//!
//! *Input.* For each process and turn with finer timestamps how many calls there were and how long the driver took for them, by the
//! replay's own clock. *Definitions.* Medians over all turns of a capture's and plan's processes; the change is of medians against the
//! first plan's. It describes what was seen: these turns' frames are in no metric, and no verdict rests on them.
//! *Caveats.* What sets a plan makes once is not in a turn: the loop's first iterations make it. Reading the clock is in the
//! times, alike for each call; finding the driver's function is in those of the capture's own calls, a few nanoseconds each, and
//! not in those that a plan makes in their place.

use super::columns;
use crate::report::{Cell, Table};
use crate::stats::Sample;
use trace::run::{CallSample, Run};

/// A row for each capture, plan and kind of calls; none where no calls were timed.
pub fn calls(run: &Run) -> Table {
    let mut rows = vec![];
    for (c, capture) in run.note.captures.iter().enumerate() {
        for kind in ["descriptors", "recording"] {
            let median = |plan: usize, value: fn(&CallSample) -> u64| {
                let of = |s: &&CallSample| {
                    run.note.workers.get(s.worker).is_some_and(|w| (w.capture, w.plan) == (c, plan))
                };
                let all = run.calls.iter().filter(|s| s.kind == kind).filter(of);
                Sample::new(all.map(value).collect()).median()
            };
            for (p, plan) in run.note.plans.iter().enumerate() {
                let Some((calls, time)) = median(p, |s| s.calls).zip(median(p, |s| s.time.0)) else {
                    continue;
                };
                let first = median(0, |s| s.time.0).filter(|first| p > 0 && *first > 0.0);
                rows.push(vec![
                    Cell::from(kind),
                    capture.name.as_str().into(),
                    plan.name.as_str().into(),
                    Cell::whole(calls),
                    Cell::whole(time),
                    first.map_or(Cell::Missing, |f| Cell::Number(100.0 * (time / f - 1.0))),
                ]);
            }
        }
    }
    columns::CALLS.table(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::Nanos;
    use trace::dir::Capture;
    use trace::plan::Plan;
    use trace::run::{RunNote, Worker};

    #[test]
    fn each_kind_is_held_against_the_first_plan() {
        let note = RunNote {
            captures: vec![Capture { name: "a".into(), ..Capture::default() }],
            plans: ["plain", "other", "untimed"].map(Plan::named).to_vec(),
            workers: (0..2).map(|plan| Worker { plan, ..Worker::default() }).collect(),
            ..RunNote::default()
        };
        let mut run = Run { note, ..Run::default() };
        for turn in 0..3 {
            for (worker, kind, calls, time) in [
                (0, "descriptors", 3, 100),
                (1, "descriptors", 3, 80),
                (0, "recording", 9, 1000),
                (1, "recording", 9, 1500),
            ] {
                let time = Nanos(time);
                run.calls.push(CallSample { worker, turn, kind: kind.into(), calls, time });
            }
        }
        let t = calls(&run);
        assert_eq!(t.rows.len(), 4);
        assert_eq!(t.rows[0][3..], [Cell::Count(3), Cell::Count(100), Cell::Missing]);
        assert!(matches!(t.rows[1][5], Cell::Number(n) if (n + 20.0).abs() < 1e-9), "{t:?}");
        let last = ["recording".into(), "a".into(), "other".into(), Cell::Count(9), Cell::Count(1500)];
        assert_eq!(t.rows[3][..5], last);
        assert!(matches!(t.rows[3][5], Cell::Number(n) if (n - 50.0).abs() < 1e-9), "{t:?}");
        assert!(calls(&Run::default()).rows.is_empty());
    }
}
