//! Traces that are made up, one of them edited: what is worse, where, and what is not compared.

use super::*;
use crate::context::sample;
use crate::verdict::export::{as_junit, as_markdown, as_text};
use trace::tables::{ACTIONS, EXECUTABLES, SAMPLES, SIMT};
use trace::{Memory, Value};

fn row(m: &mut Memory, table: &'static trace::Table, values: &[u64]) {
    m.put(table, &values.iter().map(|v| Value::U64(*v)).collect::<Vec<_>>());
}

/// Subgroups of 8: main's block (10 instructions) by 4 full ones, shade's loop (4) by `loops` quarters.
fn counted(loops: u64) -> Memory {
    let mut m = sample::trace();
    row(&mut m, &SIMT, &[1, 0, 0, 0, 8, 4, 32]);
    row(&mut m, &SIMT, &[1, 0, 1, 1, 2, loops, 2 * loops]);
    m
}

fn manifest(name: &str) -> Manifest {
    let mut m = Manifest { frames: vec![1], complete: true, ..Manifest::default() };
    (m.capture.name, m.capture.blake3) = (format!("{name}.gfxr"), name.into());
    (m.device.name, m.device.subgroup_size) = ("GPU".into(), 8);
    m
}

fn compared(a: &Memory, b: &Memory, wanted: &Wanted) -> Result<Compared, String> {
    let (x, y) = (manifest("a"), manifest("b"));
    compare(Side { trace: a, manifest: &x }, Side { trace: b, manifest: &y }, wanted)
}

fn wanted() -> Wanted {
    Wanted { effect: 0.02, ..Wanted::default() }
}

#[test]
fn a_trace_and_itself_do_not_differ() {
    let all = compared(&counted(8), &counted(8), &wanted()).unwrap();
    assert_eq!((all.verdict, all.clock), (Verdict::NoChange, None));
    let rows: Vec<_> = all.rows.iter().map(|r| (r.level, r.metric.as_str(), r.judged.base)).collect();
    // 4 · 8 · 10 + 16 · 4; 4 · 10 + 8 · 4; of (40 + 32) · 8 slots.
    let efficiency = 100.0 * 384.0 / 576.0;
    assert_eq!(
        rows,
        [
            ("capture", "instructions", 384.0),
            ("capture", "subgroup-instructions", 72.0),
            ("capture", "efficiency", efficiency)
        ]
    );
}

#[test]
fn a_loop_that_runs_longer_is_found_where_it_is() {
    let all = compared(&counted(8), &counted(12), &wanted()).unwrap();
    assert_eq!(all.verdict, Verdict::Regression);
    let of = |level: &str, metric: &str| {
        let mut rows = all.rows.iter().filter(|r| r.level == level && r.metric == metric);
        let row = rows.next().expect("a row");
        assert!(rows.next().is_none(), "{level} {metric}: one has changed");
        (row.judged.base, row.judged.new, row.judged.verdict)
    };
    assert_eq!(of("capture", "instructions"), (384.0, 416.0, Verdict::Regression));
    assert_eq!(of("block", "subgroup-instructions"), (32.0, 48.0, Verdict::Regression));
    assert_eq!(of("shader", "instructions").2, Verdict::Regression);
    assert_eq!(of("capture", "efficiency").2, Verdict::Regression);
    // A quarter of each subgroup as before: the block's own efficiency is the same, and is not there.
    assert!(!all.rows.iter().any(|r| r.level == "block" && r.metric == "efficiency"));
    let text = as_text(&all);
    assert!(text.starts_with("regression: counts, least effect 2 %\n"), "{text}");
    assert!(text.contains("block 1 (%45), sky.frag:17"), "{text}");
    assert!(text.contains("The captures differ: a.gfxr and b.gfxr."), "{text}");
    assert!(!text.contains("interval") && !text.contains("KS D"), "{text}");
    assert!(as_junit(&all).contains("<failure type=\"regression\""), "{}", as_junit(&all));
    assert!(
        as_markdown(&all).contains("| subgroup-instructions |")
            || as_markdown(&all).contains("subgroup-instructions")
    );
    let back = compared(&counted(12), &counted(8), &wanted()).unwrap();
    assert_eq!(back.verdict, Verdict::Improvement);
}

#[test]
fn thresholds_are_each_columns_own() {
    let thresholds = |of: &[(&str, f64)]| Wanted {
        thresholds: of.iter().map(|(n, t)| ((*n).to_owned(), *t)).collect(),
        ..wanted()
    };
    let of = |w: &Wanted| compared(&counted(8), &counted(12), w).map(|c| c.verdict);
    let all = [("instructions", 0.5), ("subgroup-instructions", 0.5), ("efficiency", 0.2)];
    assert_eq!(of(&thresholds(&all)), Ok(Verdict::NoChange));
    assert_eq!(of(&thresholds(&all[..2])), Ok(Verdict::Regression));
    let one = Wanted { columns: vec!["instructions".into()], ..thresholds(&all) };
    assert_eq!(of(&one), Ok(Verdict::NoChange));
    let e = of(&Wanted { columns: vec!["rays begin".into()], ..wanted() }).unwrap_err();
    assert_eq!(
        e,
        "rays begin: columns that both traces have: efficiency, instructions, subgroup-instructions"
    );
}

#[test]
fn what_a_sample_counted_decides_nothing() {
    let mut sampled = counted(12);
    row(&mut sampled, &SAMPLES, &[0, 4, 30]);
    let all = compared(&counted(8), &sampled, &wanted()).unwrap();
    assert_eq!(all.verdict, Verdict::Inconclusive);
    assert!(all.rows[0].judged.why.contains("one subgroup in 4"), "{:?}", all.rows[0]);
}

#[test]
fn what_drivers_and_actions_say() {
    let of = |registers: f64, draws: u64| {
        let mut m = sample::trace();
        for (executable, value) in [(0, registers), (1, 16.0)] {
            let id = [
                Value::U64(7),
                Value::Text("graphics"),
                Value::U64(executable),
                Value::Text("x"),
                Value::Text(""),
            ];
            let of = [
                Value::U64(16),
                Value::U64(8),
                Value::U64(0),
                Value::Text("Register Count"),
                Value::Text(""),
            ];
            m.put(&EXECUTABLES, &[&id[..], &of, &[Value::Text("u64"), Value::F64(value)]].concat());
        }
        let id = [0, 0, 1, 1, 5, 2].map(Value::U64);
        let rest = [Value::Text("vkCmdDrawIndexed"), Value::U64(7), Value::U64(draws), Value::Text("")];
        m.put(&ACTIONS, &[&id[..], &rest].concat());
        m
    };
    let all = compared(&of(32.0, 3), &of(40.0, 3), &wanted()).unwrap();
    let rows: Vec<_> =
        all.rows.iter().map(|r| (r.level, r.metric.as_str(), r.judged.new, r.judged.verdict)).collect();
    assert_eq!(
        rows,
        [
            ("capture", "draws", 3.0, Verdict::NoChange),
            ("capture", "compiled registers", 40.0, Verdict::Regression),
            ("pipeline", "compiled registers", 40.0, Verdict::Regression),
        ]
    );
    assert_eq!(compared(&of(32.0, 0), &of(32.0, 1), &wanted()).unwrap().verdict, Verdict::Regression);
}

#[test]
fn other_devices_are_refused() {
    let (x, mut y) = (manifest("a"), manifest("a"));
    y.device.subgroup_size = 32;
    let t = counted(8);
    let of = |force| {
        let wanted = Wanted { force, ..wanted() };
        compare(Side { trace: &t, manifest: &x }, Side { trace: &t, manifest: &y }, &wanted)
    };
    assert!(of(false).unwrap_err().contains("subgroups of 32); --force"), "{:?}", of(false));
    assert!(of(true).unwrap().notes[0].starts_with("Other devices"), "{:?}", of(true));
}
