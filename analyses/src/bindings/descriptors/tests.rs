//! Figures 4.4 to 4.6, and what may not be moved.

use super::*;
use crate::bindings::resources::Model;
use crate::bindings::resources::sample::Sample;
use crate::report::text;
use partition::{PLANS, Plan};

/// Figure 4.4: four draws, a set each, five bindings; the last holds two descriptors.
fn monolithic() -> Sample {
    let mut s = Sample::default();
    s.frame = 1;
    s.pipeline(10, 20, "monolithic");
    for (binding, count, name) in [(0, 1, "b0"), (1, 1, "b1"), (2, 1, "b2"), (3, 1, "b3"), (4, 2, "b4")] {
        s.slot([10, 0, binding, count], ["uniform buffer", "", name]);
    }
    (1..=12).for_each(|d| s.descriptor(d, d, 0, 64));
    let draws: [[&[u64]; 5]; 4] = [
        [&[1], &[2], &[5], &[6], &[7, 8]],
        [&[1], &[3], &[5], &[6], &[9, 8]],
        [&[1], &[3], &[5], &[6], &[10, 12]],
        [&[1], &[4], &[11], &[6], &[10, 12]],
    ];
    for (n, draw) in draws.iter().enumerate() {
        s.draw(10);
        let bindings: Vec<(u64, &[u64])> = draw.iter().enumerate().map(|(b, d)| (b as u64, *d)).collect();
        s.set(0, 100 + n as u64, &bindings);
    }
    s
}

fn answer(s: &Sample) -> Answer {
    Answer::of(&Model::read(&s.memory).unwrap())
}

#[test]
fn figures_4_4_to_4_6() {
    let s = monolithic();
    let a = answer(&s);
    let percents: Vec<f64> =
        a.redundancy.pipelines[0].slots.iter().map(|p| 100.0 * p.redundancy().unwrap()).collect();
    let expected = [100.0, 100.0 / 3.0, 200.0 / 3.0, 100.0, 100.0 / 3.0];
    assert!(percents.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{percents:?}");
    let (places, cost) = &a.plans[&(0, Plan::Classes)];
    assert_eq!(places, &[(0, 0), (2, 0), (1, 0), (0, 1), (2, 1)]);
    let before = a.cost(0, Plan::AsIs);
    assert_eq!((before.sets, before.descriptors, before.kept), (4, 24, 24));
    assert_eq!((cost.sets, cost.descriptors, cost.kept), (7, 16, 16));
    // Draw 1 binds all three in one call; 2 and 3 bind set 2; 4 binds sets 1 and 2 in one.
    assert_eq!((before.binds, before.calls), (4, 4));
    assert_eq!((cost.binds, cost.calls), (3 + 1 + 1 + 2, 4));
    // The four sets that the text speaks of, and the two ends of the trade.
    let of =
        |plan| (a.plans[&(0, plan)].0.iter().map(|p| p.0 + 1).max().unwrap(), a.cost(0, plan).descriptors);
    assert_eq!([of(Plan::Together), of(Plan::Single), of(Plan::Minimal)], [(4, 13), (5, 13), (1, 24)]);
    assert_eq!(a.best(0), Plan::Together);
    assert_eq!(
        show::json(&a, Plan::Classes),
        "{\"20\":[[0,0,0,0],[0,1,2,0],[0,2,1,0],[0,3,0,1],[0,4,2,1]]}\n"
    );
}

#[test]
fn the_report_is_printed_as_it_was() {
    let text = text::render(&QUESTION.answer(&monolithic().memory).unwrap());
    crate::report::printed::hold("bindings/descriptors/printed.txt", &text);
}

/// Two slots, one that changes with each draw; `flags` are of the second set's slot.
fn two_sets(s: &mut Sample, pipeline: u64, compatible: &str, flags: &str) {
    s.pipeline(pipeline, pipeline + 100, compatible);
    s.slot([pipeline, 0, 0, 1], ["uniform buffer", "", "still"]);
    s.slot([pipeline, 0, 1, 1], ["uniform buffer", "", "moves"]);
    s.slot([pipeline, 1, 0, 1], ["uniform buffer", flags, "other"]);
}

#[test]
fn sets_that_other_layouts_share_stay() {
    let mut s = Sample::default();
    two_sets(&mut s, 1, "a", "");
    two_sets(&mut s, 2, "b", "");
    for n in 0..6 {
        s.draw(1 + n / 3);
        s.set(0, 900, &[(0, &[1]), (1, &[2])]);
        s.set(1, 910 + n, &[(0, &[3 + n])]);
    }
    let a = answer(&s);
    assert_eq!(a.classes.len(), 2);
    for class in 0..2 {
        assert_eq!(a.classes[class as usize].fixed.get(&0), Some(&"shared with other layouts"));
        let single = &a.plans[&(class, Plan::Single)].0;
        assert_eq!(single, &[(0, 0), (0, 1), (1, 0)]);
    }
    // With layouts that are compatible all of it is one class, and may be split.
    let mut s = Sample::default();
    two_sets(&mut s, 1, "a", "");
    two_sets(&mut s, 2, "a", "");
    for n in 0..6 {
        s.draw(1 + n / 3);
        s.set(0, 900, &[(0, &[1]), (1, &[2])]);
        s.set(1, 910 + n, &[(0, &[3 + n])]);
    }
    let a = answer(&s);
    assert_eq!((a.classes.len(), a.classes[0].layouts.clone()), (1, vec![101, 102]));
    assert_eq!(a.plans[&(0, Plan::Single)].0, [(0, 0), (1, 0), (2, 0)]);
    // Two pipelines of one class follow each other: their sets stay bound, their pairs do not count.
    assert_eq!(a.classes[0].count, [6, 4]);
    assert_eq!(a.cost(0, Plan::AsIs).binds, 1 + 6);
}

#[test]
fn what_is_pushed_or_updated_after_binding_stays() {
    for (flags, why) in [
        ("push", "pushed"),
        ("update-after-bind partially-bound", "update-after-bind"),
        ("partially-bound variable-count", "variable count"),
    ] {
        let mut s = Sample::default();
        two_sets(&mut s, 1, "a", flags);
        for n in 0..4 {
            s.draw(1);
            s.set(0, 900 + n, &[(0, &[1]), (1, &[2 + n])]);
            s.set(1, 0, &[(0, &[9 + n])]);
        }
        let a = answer(&s);
        assert_eq!(a.classes[0].fixed.get(&1), Some(&why));
        // (a set's number that is taken is passed over)
        assert_eq!(a.plans[&(0, Plan::Single)].0, [(0, 0), (2, 0), (1, 0)]);
        assert_eq!(a.cost(0, Plan::Single).descriptors, 1 + 4 + 4);
    }
}

#[test]
fn no_more_sets_than_may_be_bound() {
    let mut s = Sample::default();
    let limits = [("pipeline", 1), ("layout", 2), ("max_sets", 2)];
    crate::bindings::resources::sample::row(
        &mut s.memory,
        &RESOURCE_PIPELINES,
        &limits,
        &[("compatible", "a")],
    );
    (0..5).for_each(|b| s.slot([1, 0, b, 1], ["uniform buffer", "", ""]));
    for n in 0..9 {
        s.draw(1);
        let bindings: Vec<[u64; 1]> = (0..5).map(|b| [1 + b * 10 + n / (b + 1)]).collect();
        let bindings: Vec<(u64, &[u64])> =
            bindings.iter().enumerate().map(|(b, d)| (b as u64, &d[..])).collect();
        s.set(0, 10 + n, &bindings);
    }
    let a = answer(&s);
    for plan in PLANS {
        assert!(a.plans[&(0, plan)].0.iter().all(|p| p.0 < 2), "{plan:?}");
    }
    // Slot 0 changes always, the others half the time or less: they are closer to each other.
    assert_eq!(a.plans[&(0, Plan::Single)].0, [(1, 0), (0, 0), (0, 1), (0, 2), (0, 3)]);
}

#[test]
fn offsets_count_as_change_and_make_no_set() {
    let mut s = Sample::default();
    s.pipeline(1, 2, "a");
    s.slot([1, 0, 0, 1], ["uniform buffer dynamic", "", "ring"]);
    s.slot([1, 0, 1, 1], ["sampler", "", "sampler"]);
    for n in 0..5 {
        s.draw(1);
        s.set_at(0, 900, &[(0, &[1]), (1, &[2])], &[(0, 256 * (n / 2))]);
    }
    let a = answer(&s);
    let slots = &a.redundancy.pipelines[0].slots;
    assert_eq!((slots[0].equal, slots[0].known), (2, 4));
    assert_eq!(slots[1].redundancy(), Some(1.0));
    let cost = a.cost(0, Plan::AsIs);
    assert_eq!((cost.descriptors, cost.binds), (2, 3));
    assert_eq!(a.cost(0, Plan::Single).descriptors, 2);
}

#[test]
fn what_is_not_known_counts_neither_way() {
    let mut s = Sample::default();
    s.pipeline(1, 2, "a");
    s.slot([1, 0, 0, 1], ["uniform buffer", "", ""]);
    s.slot([1, 0, 1, 1], ["uniform buffer", "", ""]);
    s.descriptor(1, 5, 0, 16);
    let unknown = [("descriptor", 2)];
    crate::bindings::resources::sample::row(
        &mut s.memory,
        &trace::tables::DESCRIPTORS,
        &unknown,
        &[("unknown", "from memory")],
    );
    for _ in 0..3 {
        s.draw(1);
        s.set(0, 7, &[(0, &[1]), (1, &[2])]);
    }
    s.draw(1);
    let a = answer(&s);
    let slots = &a.redundancy.pipelines[0].slots;
    assert_eq!((slots[0].known, slots[0].equal, slots[0].unknown), (2, 2, 1));
    assert_eq!((slots[1].known, slots[1].unknown), (0, 3));
    assert_eq!(slots[1].redundancy(), None);
}

#[test]
fn runs_end_where_another_pipeline_runs() {
    let mut s = Sample::default();
    s.pipeline(1, 2, "a");
    s.pipeline(3, 4, "b");
    s.slot([1, 0, 0, 1], ["uniform buffer", "", ""]);
    for (n, p) in [1, 1, 3, 1, 1, 1].into_iter().enumerate() {
        s.draw(p);
        if p == 1 {
            s.set(0, 7, &[(0, &[1 + n as u64 / 5])]);
        }
    }
    let a = answer(&s);
    let count = &a.redundancy.pipelines[0];
    assert_eq!((count.invocations, count.runs, count.pairs()), (5, 2, 3));
    assert_eq!((count.slots[0].known, count.slots[0].equal), (3, 2));
}
