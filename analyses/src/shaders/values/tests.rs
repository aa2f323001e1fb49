//! The report of places whose values are known beforehand.

use super::*;
use crate::context::sample;
use crate::report::text as render;
use trace::{Memory, Value};

fn site(m: &mut Memory, number: u64, class: &str, kind: &str, name: &str) {
    let numbers = [0, number, 1, 1, 222 + number].map(Value::U64);
    let texts = [class, kind, name, ""].map(Value::Text);
    m.put(&VALUE_SITES, &numbers.into_iter().chain(texts).chain([Value::U64(0)]).collect::<Vec<_>>());
}

fn put(m: &mut Memory, table: &'static trace::Table, rows: &[&[u64]]) {
    for row in rows {
        m.put(table, &row.iter().copied().map(Value::U64).collect::<Vec<_>>());
    }
}

/// Two frames. A constant, a texture's component that is mostly zero, a counter that changes, one with too many values.
fn known() -> Memory {
    let mut m = sample::trace();
    site(&mut m, 0, "uniform", "float", "camera.far");
    site(&mut m, 1, "texture", "float", "ImageFetch mask.x");
    site(&mut m, 2, "push", "int", "step");
    site(&mut m, 3, "storage", "uint", "ids[?]");
    put(
        &mut m,
        &VALUES,
        &[
            &[1, 0, 0, 100, 0, 0],
            &[2, 0, 0, 100, 0, 0],
            &[1, 0, 1, 400, 300, 0],
            &[1, 0, 2, 8, 0, 0],
            &[2, 0, 2, 8, 4, 0],
            &[1, 0, 3, 1000, 10, 890],
        ],
    );
    let (far, half) = (u64::from(100f32.to_bits()), u64::from(0.5f32.to_bits()));
    let minus = u64::from(u32::MAX);
    put(
        &mut m,
        &VALUES_SEEN,
        &[
            &[1, 0, 0, far, 100],
            &[2, 0, 0, far, 100],
            &[1, 0, 1, half, 60],
            &[1, 0, 1, far, 40],
            &[1, 0, 2, minus, 8],
            &[2, 0, 2, minus, 4],
            &[1, 0, 3, 7, 100],
        ],
    );
    // The registers that the numbers from 1 to 500 leave.
    let mut registers = vec![0; 256];
    for n in 1..=500 {
        let (r, rank) = register_of(n);
        registers[r] = rank.max(registers[r]);
    }
    for (r, &rank) in registers.iter().enumerate().filter(|r| *r.1 != 0) {
        put(&mut m, &VALUE_REGISTERS, &[&[1, 0, 3, r as u64, rank]]);
    }
    put(&mut m, &VALUE_CHANGES, &[&[1, 0, 2, 5, 4, 3, 0], &[2, 0, 2, 5, 4, 0, 1], &[1, 0, 0, 5, 4, 0, 0]]);
    m
}

#[test]
fn golden_text() {
    let out = render::render(&QUESTION.answer(&known()).expect("it is readable"));
    assert_eq!(out, include_str!("golden.txt"), "{out}");
}

#[test]
fn numbers_are_as_defined() {
    let context = Context::read(&known()).expect("it is readable");
    let s = sites(&known(), &context).expect("it is readable");
    assert_eq!(s[0].distinct(), (1.0, true));
    assert_eq!(s[1].distinct(), (3.0, true), "zero is one of them");
    assert_eq!(s[1].top(), [(0, 300), (u64::from(0.5f32.to_bits()), 60), (u64::from(100f32.to_bits()), 40)]);
    let (n, exact) = s[3].distinct();
    assert!(!exact && (n - 501.0).abs() < 3.0 * 0.065 * 501.0, "{n}");
    assert_eq!(s[2].frame_changes(), (1, 1));
    assert_eq!(s[0].frame_changes(), (1, 0));
    assert_eq!(s[3].frame_changes(), (0, 0));
    assert_eq!(s[2].changes, [10, 8, 3, 1]);
    assert_eq!(s[2].words(u64::from(u32::MAX)), "-1");
}

#[test]
fn nothing_read_is_said() {
    let report = QUESTION.answer(&sample::trace()).expect("it is readable");
    assert_eq!(report.notes, ["Nothing that is looked at was read."]);
}
