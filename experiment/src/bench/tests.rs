//! When a run is for long enough: runs that are made up.

use super::known::{clock, half_of, half_of_change, tight};
use serde_json::json;
use trace::Nanos;
use trace::dir::Capture;
use trace::plan::Plan;
use trace::run::{FrameSample, Run, RunNote, Worker};

/// What processes of each number find.
const STATES: [f64; 8] = [1.0, 2.0, 0.5, 3.0, 1.5, 0.7, 2.5, 1.2];

/// Eight processes of each plan, each of which finds the machine in another state; those of one number find it in the same one.
fn drifting(plans: usize) -> Run {
    let mut run = Run {
        note: RunNote {
            captures: vec![Capture::default()],
            plans: vec![Plan::default(); plans],
            ..RunNote::default()
        },
        ..Run::default()
    };
    for (process, state) in (0..).zip(STATES) {
        for plan in 0..plans {
            let worker = run.note.workers.len();
            run.note.workers.push(Worker { plan, process, device: json!({}), ..Worker::default() });
            for turn in 0..9 {
                let time = state * (1.0 + 0.1 * plan as f64) * (1.0 + 0.0001 * (turn % 3) as f64);
                let gpu = Some(Nanos((time * 1e7) as u64));
                let (position, cpu) = (turn, Nanos(1));
                let frame =
                    FrameSample { worker, position, turn, timed: true, frame: 1, load: false, gpu, cpu };
                run.frames.push(frame);
            }
        }
    }
    run
}

#[test]
fn what_drifts_for_all_plans_alike_hides_medians_and_no_changes() {
    let run = drifting(3);
    let own = half_of(&run, (0, 0), clock(&run)).expect("an interval");
    assert!(own > 0.5, "{own}");
    for plan in [1, 2] {
        let change = half_of_change(&run, (0, plan), clock(&run)).expect("an interval");
        assert!(change < 0.001, "{change}");
    }
    // With several plans it is the changes that have to be known; of one plan, its median.
    assert!(tight(&run, 0.005) && !tight(&run, 1e-9));
    assert!(!tight(&drifting(1), 0.005));
    // A plan whose processes drift by themselves keeps the run going, whatever the others do.
    let mut run = drifting(3);
    let alone = run.note.workers.iter().position(|w| (w.plan, w.process) == (2, 3)).expect("a process");
    run.frames.iter_mut().filter(|f| f.worker == alone).for_each(|f| f.gpu = Some(Nanos(90_000_000)));
    assert!(!tight(&run, 0.005));
    // One capture's changes are not another's.
    let mut run = drifting(2);
    run.note.captures.push(Capture::default());
    assert!(!tight(&run, 0.005));
}
