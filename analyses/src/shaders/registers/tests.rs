//! Two pipelines of a driver that says this and that.

use super::*;
use crate::context::sample;
use trace::{Memory, Value};

fn put(m: &mut Memory, numbers: [u64; 5], kind: &str, name: &str, statistic: (&str, &str, f64)) {
    let [pipeline, executable, stages, size, instrumented] = numbers.map(Value::U64);
    m.put(
        &EXECUTABLES,
        &[
            pipeline,
            Value::Text(kind),
            executable,
            Value::Text(name),
            Value::Text("what it is"),
            stages,
            size,
            instrumented,
            Value::Text(statistic.0),
            Value::Text("what it says"),
            Value::Text(statistic.1),
            Value::F64(statistic.2),
        ],
    );
}

fn traced() -> Memory {
    let mut m = sample::trace();
    let f = [7, 1, 0x10, 32, 0];
    put(&mut m, f, "graphics", "Fragment", ("SGPRs", "u64", 24.0));
    put(&mut m, f, "graphics", "Fragment", ("VGPRs", "u64", 40.0));
    put(&mut m, f, "graphics", "Fragment", ("Occupancy", "f64", 0.75));
    put(&mut m, f, "graphics", "Fragment", ("Latency", "i64", -3.0));
    // The pipeline was made anew.
    put(&mut m, f, "graphics", "Fragment", ("VGPRs", "u64", 44.0));
    put(&mut m, [99, 0, 0x20, 0, 1], "compute", "main", ("", "", 0.0));
    for (active, executions) in [(8, 10), (3, 2)] {
        m.put(&SIMT, &[1, 0, 0, 0, active, executions, active * executions].map(Value::U64));
    }
    m
}

#[test]
fn what_drivers_name_is_summarised_and_listed() {
    let r = QUESTION.answer(&traced()).expect("a whole trace");
    let [summary, all] = &r.tables[..] else { panic!("two tables") };
    assert_eq!(summary.rows.len(), 2);
    // It says nothing of spills.
    assert_eq!(r.headlines, ["Most registers: 44, by Fragment of pipeline 7 \"sky\"."]);
    let fragment = &summary.rows[0];
    assert_eq!(fragment[0], "pipeline 7 \"sky\"".into());
    assert_eq!(fragment[2..5], ["fragment".into(), "no".into(), Cell::Count(32)]);
    // registers, spills, occupancy
    assert_eq!(fragment[5..8], [Cell::Count(44), Cell::Missing, Cell::Number(0.75)]);
    assert_eq!(fragment.last(), Some(&Cell::Count(12)));
    let compute = &summary.rows[1];
    assert_eq!(compute[..2], ["pipeline 99".into(), "main".into()]);
    assert_eq!(compute[3], "yes".into());
    assert!(compute[4..].iter().all(|c| *c == Cell::Missing));
    let names: Vec<_> = all.rows.iter().map(|r| (r[2].clone(), r[3].clone())).collect();
    assert_eq!(
        names,
        [
            ("SGPRs".into(), Cell::Count(24)),
            ("VGPRs".into(), Cell::Count(44)),
            ("Occupancy".into(), Cell::Number(0.75)),
            ("Latency".into(), Cell::Number(-3.0)),
        ]
    );
    assert!(r.notes.iter().any(|n| n.starts_with("1 executables were compiled from rewritten modules")));
}

#[test]
fn nothing_recorded_is_an_empty_answer() {
    let r = QUESTION.answer(&Memory::default()).expect("no trace is no error");
    assert!(r.tables.iter().all(|t| t.rows.is_empty()));
    assert!(r.notes.len() == 1 && r.headlines.is_empty());
}
