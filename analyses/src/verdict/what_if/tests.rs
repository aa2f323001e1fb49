//! Runs whose causes are known: what the report concludes.

use super::*;
use crate::report::{Cell, Report};
use crate::verdict::Ask;
use oorandom::Rand64;
use std::collections::BTreeMap;
use trace::Nanos;
use trace::actions::Action;
use trace::dir::Capture;
use trace::plan::Plan;
use trace::run::{FrameSample, RefusedPlan, Run, RunNote, Worker};
use trace::what_if::{Experiment, Part, WHAT_IF_VERSION, WhatIf};

const ASK: Ask = Ask { effect: 0.01, alpha: 0.01 };

/// A run of eight processes whose plans take these times of 10 ms, and show this.
fn run(seed: u64, plans: &[(&str, f64, &str)]) -> Run {
    let mut random = Rand64::new(seed.into());
    let mut noise = |by: f64| (0..12).map(|_| random.rand_float()).sum::<f64>().mul_add(by, 1.0 - 6.0 * by);
    let mut run = Run {
        note: RunNote {
            captures: vec![Capture { name: "a.gfxr".into(), blake3: "77".into(), size_bytes: 5 }],
            plans: plans.iter().map(|p| Plan::named(p.0)).collect(),
            ..RunNote::default()
        },
        ..Run::default()
    };
    for process in 0..8 {
        let drift = noise(0.01);
        for (plan, (_, share, shows)) in plans.iter().enumerate() {
            let worker = run.note.workers.len();
            let hashes = vec![(*shows).to_owned()];
            run.note.workers.push(Worker { plan, process, hashes, ..Worker::default() });
            for turn in 0..10 {
                let gpu = Some(Nanos((1e7 * share * drift * noise(0.002)) as u64));
                let one = FrameSample {
                    worker,
                    position: 0,
                    turn,
                    timed: true,
                    frame: 4,
                    load: false,
                    gpu,
                    cpu: Nanos(1),
                };
                run.frames.push(one);
            }
        }
    }
    run
}

fn experiment(part: usize, change: &str, asks: &str) -> Experiment {
    let run = if asks == experiments::COST { "costs" } else { "causes" };
    Experiment {
        plan: format!("{change}-{part}"),
        run: run.into(),
        part,
        change: change.into(),
        asks: asks.into(),
    }
}

/// A frame of three draws, the second of which takes most, by its fragments; and one plan that could not be run.
fn asked() -> (WhatIf, BTreeMap<String, Run>) {
    let draw = |block| Action { block, kind: "Draw".into(), ..Action::default() };
    let part = |name: &str, actions: Vec<usize>, own: u64| Part {
        name: name.into(),
        level: if actions.len() > 1 { "frame" } else { "draw" }.into(),
        actions,
        own: Some(own),
        ..Part::default()
    };
    let of = WhatIf {
        schema_version: WHAT_IF_VERSION,
        capture: "a.gfxr".into(),
        frame: 4,
        by: "draw".into(),
        base: "plain".into(),
        actions: vec![draw(1), draw(2), draw(3)],
        parts: vec![
            part("the frame", vec![0, 1, 2], 9_000_000),
            part("sky", vec![0], 1_000_000),
            part("trees", vec![1], 6_500_000),
            part("nothing", vec![2], 1_500_000),
        ],
        experiments: vec![
            experiment(0, "skip", "cost"),
            experiment(1, "skip", "cost"),
            experiment(2, "skip", "cost"),
            experiment(3, "skip", "cost"),
            experiment(2, "no-fragments", "fragments"),
            experiment(2, "no-blend", "output"),
            // (without colours there are no fragments either: which of two gains the same is chance)
            experiment(2, "no-color", "output"),
            experiment(1, "no-fragments", "fragments"),
            experiment(0, "wide-barriers", "waiting"),
            experiment(0, "half", "amount of work"),
        ],
        notes: vec![],
    };
    let costs = run(
        1,
        &[
            ("plain", 1.0, "a"),
            ("skip-0", 0.2, "b"),
            ("skip-1", 0.9, "b"),
            ("skip-2", 0.4, "b"),
            ("skip-3", 1.0, "b"),
        ],
    );
    let mut causes = run(
        2,
        &[
            ("plain", 1.0, "a"),
            ("no-fragments-2", 0.5, "b"),
            ("no-blend-2", 0.8, "a"),
            ("no-color-2", 0.4999, "b"),
            ("no-fragments-1", 1.0, "b"),
            ("wide-barriers-0", 1.05, "a"),
        ],
    );
    causes.note.plans.push(Plan::named("half-0"));
    causes.note.refused.push(RefusedPlan { plan: "half-0".into(), why: "indirect".into(), instead: None });
    (of, [("costs".to_owned(), costs), ("causes".to_owned(), causes)].into())
}

fn reported() -> Report {
    let (of, runs) = asked();
    report(&of, &answers(&of, &runs, &ASK).expect("they can be compared"))
}

fn column<'r>(report: &'r Report, table: &str, column: &str) -> Vec<&'r Cell> {
    let t = report.tables.iter().find(|t| t.name == table).expect("it is there");
    let at = t.columns.iter().position(|c| c.name == column).expect("it is there");
    t.rows.iter().map(|r| &r[at]).collect()
}

#[test]
fn the_dearest_part_and_its_cause_come_first() {
    let report = reported();
    let said = &report.headlines;
    let costs_most = " ms; what costs most is part 2, trees: without it ";
    assert!(said[0].starts_with("Frame 4 takes ") && said[0].contains(costs_most), "{said:?}");
    assert!(said[1].starts_with("Part 2, trees is bound by fragments: with no-fragments"), "{said:?}");
    assert!(said[2].starts_with("Part 1, sky is bound by vertices"), "{said:?}");
    assert!(said[3].starts_with("The frame: nothing that was tried"), "{said:?}");
    assert!(said[4].starts_with("Can be had, with the same picture: no-blend of part 2, trees"), "{said:?}");
    let added = report.notes.iter().find(|s| s.starts_with("Parts left out one at a time")).expect("told");
    assert!(
        added.ends_with("they run beside each other, so that one alone gains less than its share."),
        "{added}"
    );
}

#[test]
fn costs_are_what_was_planted_and_nothing_is_called_a_gain_that_is_none() {
    let report = reported();
    let costs: Vec<f64> = column(&report, "parts", "cost")
        .into_iter()
        .map(|c| if let Cell::Number(n) = c { *n } else { f64::NAN })
        .collect();
    for (cost, planted) in costs.iter().zip([8.0, 1.0, 6.0, 0.0]) {
        assert!((cost - planted).abs() < 0.1, "{costs:?}");
    }
    let words: Vec<String> =
        column(&report, "parts", "without it").into_iter().map(|c| format!("{c:?}")).collect();
    assert_eq!(
        words,
        ["Text(\"less time\")", "Text(\"less time\")", "Text(\"less time\")", "Text(\"no change\")"]
    );
    let had: Vec<String> =
        column(&report, "can be had", "change").into_iter().map(|c| format!("{c:?}")).collect();
    assert_eq!(had, ["Text(\"no-blend\")"]);
    let held: Vec<_> = column(&report, "together", "holds");
    assert_eq!(held, [&Cell::Count(3)]);
    let why: Vec<String> = column(&report, "not run", "why").into_iter().map(|c| format!("{c:?}")).collect();
    assert_eq!(why, ["Text(\"indirect\")"]);
}

#[test]
fn what_was_not_run_for_the_same_reason_is_one_row() {
    let (mut of, mut runs) = asked();
    let causes = &mut runs.get_mut("causes").expect("a run").note;
    for (plan, part, why) in
        [("one-pixel-0", 0, "indirect"), ("half-1", 1, "indirect"), ("cleared-0", 0, "late")]
    {
        let change = plan[..plan.len() - 2].to_owned();
        let (run, asks) = ("causes".to_owned(), "fragments".to_owned());
        of.experiments.push(Experiment { plan: plan.into(), run, part, change, asks });
        causes.plans.push(Plan::named(plan));
        causes.refused.push(RefusedPlan { plan: plan.into(), why: why.into(), instead: None });
    }
    let report = report(&of, &answers(&of, &runs, &ASK).expect("they can be compared"));
    let changes: Vec<String> =
        column(&report, "not run", "change").into_iter().map(|c| format!("{c:?}")).collect();
    assert_eq!(changes, ["Text(\"half, one-pixel\")", "Text(\"half\")", "Text(\"cleared\")"]);
}

#[test]
fn a_frame_that_presents_nothing_has_no_picture_to_keep() {
    let (of, mut runs) = asked();
    runs.values_mut().flat_map(|r| &mut r.note.workers).for_each(|w| w.hashes.clear());
    let found = answers(&of, &runs, &ASK).expect("they can be compared");
    assert!(found.all.iter().all(|a| a.same.is_none()) && found.can_be_had().is_empty());
    assert!(found.bound_by(2).first().is_some_and(|b| b.0 == "fragments"));
}
