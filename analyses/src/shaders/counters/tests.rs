//! A trace of two actions, by hand.

use super::*;
use crate::context::sample;
use crate::report::{json, text};
use trace::{Memory, Value};

fn traced() -> Memory {
    let mut m = sample::trace();
    for (n, (name, about)) in [("fma", "multiplies"), ("ls", "loads")].iter().enumerate() {
        for _ in 0..2 {
            m.put(
                &METRICS,
                &[Value::U64(n as u64), Value::Text(name), Value::Text(about), Value::Text("portable")],
            );
        }
    }
    let action = |m: &mut Memory, n: u64, command, pipeline, why| {
        m.put(
            &ACTIONS,
            &[
                Value::U64(4),
                Value::U64(n),
                Value::U64(1),
                Value::U64(n + 5),
                Value::U64(30),
                Value::U64(n * 3),
                Value::Text(command),
                Value::U64(pipeline),
                Value::U64(1),
                Value::Text(why),
            ],
        );
    };
    action(&mut m, 0, "vkCmdDraw", 7, "");
    action(&mut m, 1, "vkCmdDispatch", 9, "");
    action(&mut m, 2, "vkCmdDispatch", 8, "its layout uses all push constants");
    // sub index, stages, block, metric, value, entry: the fragment shader's blocks 0 (main) and 2 (shade's second).
    for (block, metric, value) in [(2, 0, 70), (2, 1, 5), (0, 0, 10), (0, 1, 0)] {
        m.put(&COUNTERS, &[0, 0, 0x10, block, metric, value, 1, 4, 1].map(Value::U64));
    }
    m
}

fn table<'r>(r: &'r Report, name: &str) -> &'r Table {
    r.tables.iter().find(|t| t.name == name).expect("it is there")
}

#[test]
fn actions_have_their_sums_and_blocks_their_names() {
    let r = QUESTION.answer(&traced()).expect("a whole trace");
    let sums: Vec<_> = table(&r, "metrics").rows.iter().map(|r| r[3].clone()).collect();
    assert_eq!(sums, [Cell::Count(80), Cell::Count(5)]);
    let dearest = "What cost most, 100.00 % of all that was counted, is frame 1 · draw 5 (Draw), with pipeline 7 \"sky\": \
                   mostly fma (80).";
    assert_eq!(r.headlines, [dearest]);
    let actions = table(&r, "actions");
    assert_eq!(actions.rows.len(), 3);
    assert_eq!(actions.rows.iter().map(|r| r[1].clone()).collect::<Vec<_>>(), [5, 6, 7].map(Cell::Count));
    assert_eq!(actions.rows[0][9..], [Cell::Count(80), Cell::Count(5), Cell::Missing]);
    assert_eq!(
        actions.rows[1][9..],
        [Cell::Missing, Cell::Missing, "none of its shaders is instrumented".into()]
    );
    assert_eq!(actions.rows[2][11], "its layout uses all push constants".into());
    assert_eq!(actions.rows[0][7], "pipeline 7 \"sky\"".into());
    let values = table(&r, "values");
    let blocks: Vec<_> = values.rows.iter().map(|r| (r[5].clone(), r[6].clone(), r[8].clone())).collect();
    assert_eq!(
        blocks,
        [
            (Cell::Count(0), Cell::Count(10), "fragment main (sky.frag, 1f2e3d4c), block 0 (%5)".into()),
            (
                Cell::Count(2),
                Cell::Count(70),
                "fragment main (sky.frag, 1f2e3d4c), function shade, block 1 (%45), sky.frag:17".into()
            ),
        ]
    );
    // Both exporters take it.
    assert!(text::render(&r).contains("vkCmdDispatch"));
    assert!(json::render(&r).contains("basic_block_index"));
}

#[test]
fn a_trace_that_does_not_fit_together_is_refused() {
    let mut m = traced();
    m.put(&COUNTERS, &[0, 0, 1, 0, 9, 1, 1, 4, 0].map(Value::U64));
    let e = QUESTION.answer(&m).expect_err("no metric 9").to_string();
    assert_eq!(e, "table counters, row 4: there is no metric 9; record the trace again");
    let mut m = traced();
    m.put(&METRICS, &[Value::U64(0), Value::Text("cycles"), Value::Text(""), Value::Text("arm")]);
    assert!(QUESTION.answer(&m).is_err());
}

#[test]
fn stages_in_words() {
    assert_eq!(stage_words(0x11), "vertex|fragment");
    assert_eq!(stage_words(0x4020), "compute|0x4000");
    assert_eq!(stage_words(0), "");
}

#[test]
fn a_driver_s_blocks_and_unknown_instructions_are_said() {
    let mut m = Memory::default();
    m.put(&METRICS, &[Value::U64(0), Value::Text("cycles"), Value::Text(""), Value::Text("arm")]);
    m.put(&COUNTERS, &[0, 0, 0x20, 1, 0, 7, 1, 0, 0].map(Value::U64));
    let classes = [0u64; 10].map(Value::U64).into_iter().chain([Value::Text("OpFrob, SPV_X 3")]);
    m.put(&CLASSES, &classes.collect::<Vec<_>>());
    let r = QUESTION.answer(&m).expect("a whole trace");
    assert_eq!(table(&r, "values").rows[0][7], Cell::Missing);
    assert!(r.notes.iter().any(|n| n == "No class is known of OpFrob, SPV_X 3; they count in none"));
    assert!(r.notes.iter().any(|n| n.starts_with("Counted by the driver")));
}
