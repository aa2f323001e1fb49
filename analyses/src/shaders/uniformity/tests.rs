//! The report of places whose classes are known beforehand.

use super::*;
use crate::context::sample;
use crate::report::text;
use trace::{Memory, Value};

struct Row(u64, [u64; 5], &'static str, &'static str, &'static str, u64, &'static str);

fn trace(rows: &[Row], counts: &[[u64; 6]]) -> Memory {
    let mut m = sample::trace();
    for Row(entry, place, kind, class, name, proven, unmeasured) in rows {
        let numbers = std::iter::once(*entry).chain(place[..4].iter().copied()).map(Value::U64);
        let texts = [kind, class, name].map(|t| Value::Text(t));
        let rest = [Value::U64(*proven), Value::Text(unmeasured), Value::Text(""), Value::U64(place[4])];
        m.put(&UNIFORMITY_SITES, &numbers.chain(texts).chain(rest).collect::<Vec<_>>());
    }
    for c in counts {
        m.put(&UNIFORMITY, &c.map(Value::U64));
    }
    m
}

/// Entry 0: a static, a dynamic and a divergent branch, one that was not executed, an address that is not measured, two
/// values. Entry 1 was not executed at all.
fn known(diverged: u64) -> Memory {
    let rows = [
        Row(0, [0, 0, 0, 102, 0], "branch", "control", "BranchConditional", 1, ""),
        Row(0, [1, 1, 0, 205, 0], "branch", "control", "Switch", 0, ""),
        Row(0, [2, 1, 1, 230, 0], "branch", "control", "BranchConditional", 0, ""),
        Row(0, [3, 1, 1, 240, 0], "branch", "control", "BranchConditional", 0, ""),
        Row(0, [4, 1, 1, 222, 0], "address", "uniform", "camera.eye", 1, "the address is constant"),
        Row(0, [5, 1, 1, 222, 0], "value", "uniform", "camera.eye", 1, ""),
        Row(0, [6, 1, 1, 226, 0], "value", "storage", "lights[?]", 0, ""),
        Row(1, [0, 0, 0, 60, 0], "branch", "control", "BranchConditional", 1, ""),
    ];
    let counts = [
        [1, 0, 0, 100, diverged, 8 * diverged],
        [1, 0, 1, 60, 0, 0],
        [2, 0, 1, 40, 0, 0],
        [1, 0, 2, 200, 50, 300],
        [1, 0, 5, 10, 0, 0],
        [1, 0, 6, 10, 10, 40],
    ];
    trace(&rows, &counts)
}

#[test]
fn golden_text() {
    let report = QUESTION.answer(&known(0)).expect("it is readable");
    assert!(report.failures.is_empty());
    let out = text::render(&report);
    assert_eq!(out, include_str!("golden.txt"), "{out}");
}

#[test]
fn classes_are_as_defined() {
    let report = QUESTION.answer(&known(0)).expect("it is readable");
    let branches = &report.tables[0].rows[1];
    assert_eq!(branches[0], "branch".into());
    // Four places: static, dynamic, divergent, not executed. The fifth is of an entry point that never ran.
    let counts = [4, 1, 1, 1, 1, 0].map(Cell::Count);
    assert_eq!(branches[1..7], counts);
    assert_eq!(branches[7..10], [1, 1, 1].map(|n| Cell::Number(f64::from(n) * 100.0 / 3.0)));
    assert_eq!(branches[10..], [Cell::Count(400), Cell::Number(12.5)]);
}

#[test]
fn what_was_proven_and_differs_is_a_failed_check() {
    let report = QUESTION.answer(&known(3)).expect("it is readable");
    assert_eq!(
        report.failures,
        [
            "branch BranchConditional was proven uniform, and differed in 3 of 100 executions: fragment main (sky.frag, 1f2e3d4c), block \
          0 (%5), word 102"
        ]
    );
    assert!(text::render(&report).contains("CHECK FAILED: branch BranchConditional was proven"));
    let soundness = report.tables.last().expect("it is the last");
    assert_eq!(soundness.rows[0], [3, 2, 110, 1].map(Cell::Count));
}

#[test]
fn one_module_in_two_pipelines_counts_once() {
    let mut m = known(0);
    // A second entry of the same module.
    let words = ["1f2e3d4c00112233", "main", "fragment"].map(Value::Text);
    let row: Vec<_> = [2, 8, 0, 0].map(Value::U64).into_iter().chain(words).collect();
    m.put(&trace::tables::ENTRIES, &row);
    let texts = ["branch", "control", "BranchConditional"].map(Value::Text);
    let row = [2, 0, 0, 0, 102].map(Value::U64).into_iter().chain(texts);
    let rest = [Value::U64(1), Value::Text(""), Value::Text(""), Value::U64(0)];
    m.put(&UNIFORMITY_SITES, &row.chain(rest).collect::<Vec<_>>());
    m.put(&UNIFORMITY, &[1, 2, 0, 1000, 0, 0].map(Value::U64));
    let report = QUESTION.answer(&m).expect("it is readable");
    assert_eq!(report.tables[0].rows[1][1], Cell::Count(4));
    assert_eq!(report.tables[0].rows[1][10], Cell::Count(1400));
}

#[test]
fn nothing_executed_is_said() {
    let report = QUESTION.answer(&trace(&[], &[])).expect("it is readable");
    assert_eq!(report.notes, ["No entry point with branches or loads was executed."]);
}
