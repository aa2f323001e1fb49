use super::*;
use crate::context::sample;
use crate::report::text;
use trace::{Memory, Value};

fn put(m: &mut Memory, entry: u64, at: [u64; 3], kind: &str, counts: [u64; 3]) {
    let row = [1, entry].into_iter().chain(at).map(Value::U64);
    let row = row.chain([Value::Text(kind)]).chain(counts.map(Value::U64));
    m.put(&ITS, &row.collect::<Vec<_>>());
}

/// Ten fragment subgroups of which two are killed in part; four compute subgroups that are split at their one return: one in
/// two, one in four.
fn known() -> Memory {
    let mut m = sample::trace();
    put(&mut m, 0, [0, 0, 100], "entry", [10, 80, 10]);
    put(&mut m, 0, [1, 1, 220], "kill", [2, 6, 0]);
    put(&mut m, 0, [0, 0, 110], "return", [10, 74, 8]);
    put(&mut m, 1, [0, 0, 50], "entry", [4, 32, 4]);
    put(&mut m, 1, [0, 0, 60], "return", [8, 32, 2]);
    m
}

#[test]
fn golden_text() {
    let expected = "\
Independent thread scheduling

Subgroups that were split: 4 of 14 (28.57 %); most in fragment main (sky.frag, 1f2e3d4c) of pipeline 7 \"sky\": 2 of 10 (20.00 %).

entry points    entries      exits  exits / entries      split  split
              subgroups  subgroups                   subgroups      %
all                  14         20           1.4286          4  28.57

stage       entries      exits  exits / entries      split  split
          subgroups  subgroups                   subgroups      %
compute           4          8           2.0000          2  50.00
fragment         10         12           1.2000          2  20.00

pipeline  stage     shader            entry    entries      exits  exits / entries      split  split
                                             subgroups  subgroups                   subgroups      %
       7  fragment  1f2e3d4c00112233  main          10         12           1.2000          2  20.00
       8  compute   99aabbccddeeff00  work           4          8           2.0000          2  50.00

pipeline  stage     shader            entry  function    block  label  source       leaves by      exits         left      whole  exits / entries
                                                                                               subgroups  invocations  subgroups
       7  fragment  1f2e3d4c00112233  main   main            0  %5     –            return            10           74          8           1.0000
       7  fragment  1f2e3d4c00112233  main   shade(vf3;      1  %45    sky.frag:17  kill               2            6          0           0.2000
       8  compute   99aabbccddeeff00  work   work            0  %3     –            return             8           32          2           2.0000

Cost of measuring: not known, the frame was not timed without the probes
";
    assert_eq!(text::render(&QUESTION.answer(&known()).unwrap()), expected);
}

#[test]
fn nothing_is_said() {
    let report = QUESTION.answer(&Memory::default()).unwrap();
    assert_eq!(report.notes, ["No instrumented entry point was entered."]);
    assert!(report.headlines.is_empty());
    let mut whole = sample::trace();
    put(&mut whole, 0, [0, 0, 100], "entry", [3, 24, 3]);
    put(&mut whole, 0, [0, 0, 110], "return", [3, 24, 3]);
    assert_eq!(QUESTION.answer(&whole).unwrap().headlines, ["No subgroup was split, of 3 that entered."]);
}
