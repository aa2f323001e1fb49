//! A trace of known numbers, and every number that follows.

use super::*;
use crate::context::sample;
use trace::Memory;
use trace::Value::{Text, U64};

/// The sample's shaders: the fragment shader entered 100 times, its loop's block run 700 times, the compute shader 10.
pub fn trace() -> Memory {
    let mut m = sample::trace();
    let run = [Text("blocks"), U64(1), Text("invocations"), Text("atomic"), U64(1), Text("knuth")];
    m.put(&BLOCK_RUNS, &run.into_iter().chain([Text("exit"), U64(1)]).collect::<Vec<_>>());
    for of in [[0, 0, 0, 100], [0, 1, 0, 100], [0, 1, 1, 700], [1, 0, 0, 10]] {
        let [entry, function, block, n] = of.map(U64);
        m.put(&BLOCK_COUNTS, &[Text("blocks"), U64(1), entry, function, block, n]);
    }
    let instruction = |m: &mut Memory, at: [u64; 4], opcode, line: u64| {
        let row = at.map(U64).into_iter().chain([Text(opcode), Text("src/sky.frag"), U64(line)]);
        m.put(&INSTRUCTIONS, &row.collect::<Vec<_>>());
    };
    instruction(&mut m, [0, 0, 0, 101], "OpLoad", 3);
    instruction(&mut m, [0, 1, 0, 201], "OpLoad", 12);
    instruction(&mut m, [0, 1, 1, 221], "OpFMul", 17);
    instruction(&mut m, [0, 1, 1, 226], "OpFAdd", 17);
    instruction(&mut m, [0, 1, 1, 231], "OpBranch", 18);
    instruction(&mut m, [1, 0, 0, 51], "OpLoad", 0);
    // A variant that no measured entry point has.
    instruction(&mut m, [9, 0, 0, 1], "OpKill", 1);
    m
}

fn column(t: &Table, name: &str) -> Vec<Cell> {
    let at = t.columns.iter().position(|c| c.name == name).unwrap_or_else(|| panic!("{name} of {}", t.name));
    t.rows.iter().map(|r| r[at].clone()).collect()
}

#[test]
fn every_number_of_a_known_trace() {
    let r = QUESTION.answer(&trace()).unwrap();
    // 2310 instructions, of which the fragment shader 2300 and its loop's block 2100.
    let said = "Fragment main (sky.frag, 1f2e3d4c) executed 99.57 % of all instructions; the hottest block, with 90.91 %, is fragment main (sky.frag, 1f2e3d4c), \
                function shade, block 1 (%45), sky.frag:17.";
    assert_eq!(r.headlines, [said]);
    let names: Vec<_> = r.tables.iter().map(|t| &*t.name).collect();
    assert_eq!(names, ["shaders", "instructions", "blocks", "lines", "opcodes"]);
    for t in &r.tables {
        assert!(t.rows.iter().all(|row| row.len() == t.columns.len()), "{}", t.name);
    }
    let counts = |n: &[u64]| n.iter().copied().map(Cell::Count).collect::<Vec<_>>();
    // Fragment: 100 + 100 + 3 x 700; compute: 10.
    assert_eq!(column(&r.tables[0], "executed"), counts(&[2300, 10]));
    assert_eq!(column(&r.tables[1], "executed"), counts(&[700, 700, 700, 100, 100, 10]));
    assert_eq!(column(&r.tables[1], "relative")[3], Cell::Number(100.0 / 700.0));
    assert_eq!(column(&r.tables[1], "word offset"), counts(&[221, 226, 231, 101, 201, 51]));
    assert_eq!(column(&r.tables[2], "work"), counts(&[2100, 100, 100, 10]));
    // Line 17 has two instructions; the compute shader's has none.
    assert_eq!(column(&r.tables[3], "source")[..2], ["sky.frag:17".into(), "sky.frag:18".into()]);
    assert_eq!(column(&r.tables[3], "executed"), counts(&[1400, 700, 100, 100]));
    assert_eq!(column(&r.tables[4], "opcode")[3], "OpLoad".into());
    assert_eq!(column(&r.tables[4], "executed"), counts(&[700, 700, 700, 210]));
    let image = &r.images[0];
    assert_eq!((image.width, image.height, image.pixels.len()), (6, 128, 768));
    // The third instruction's bar is whole, the compute shader's is one pixel of another colour.
    assert_eq!((image.pixels[2], image.pixels[127 * 6 + 5]), (0.0, 1.0));
    assert!(image.pixels[5].is_nan());
    assert_eq!(r.series.len(), 2);
    assert_eq!(r.notes, ["Executions are of invocations; helper invocations do not count."]);
}

#[test]
fn a_trace_without_counts_has_an_empty_answer() {
    let r = QUESTION.answer(&sample::trace()).unwrap();
    assert!(r.tables.iter().all(|t| t.rows.is_empty()) && r.images.is_empty() && r.series.is_empty());
}
