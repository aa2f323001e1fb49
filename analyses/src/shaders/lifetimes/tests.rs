use super::*;
use crate::context::sample;
use crate::report::text;
use trace::{Memory, Value};

fn put(m: &mut Memory, entry: u64, of: &str, buckets: &[[u64; 3]], blocks: u64, unfinished: u64) {
    let place = [Value::U64(1), Value::U64(entry), Value::Text(of)];
    for b in buckets {
        m.put(&LIFETIMES, &place.into_iter().chain(b.map(Value::U64)).collect::<Vec<_>>());
    }
    let sums = [buckets.iter().map(|b| b[2]).sum(), blocks, unfinished];
    m.put(&LIFETIME_SUMS, &place.into_iter().chain(sums.map(Value::U64)).collect::<Vec<_>>());
}

/// Compute: 64 invocations, half with 3 blocks and half with 5, in 8 subgroups that execute 6 each. Fragments: 99 with 2
/// blocks, one with 300.
fn known() -> Memory {
    let mut m = sample::trace();
    put(&mut m, 1, "invocation", &[[3, 3, 32], [5, 5, 32]], 256, 0);
    put(&mut m, 1, "subgroup", &[[6, 6, 8]], 48, 0);
    put(&mut m, 0, "invocation", &[[2, 2, 99], [256, 511, 1]], 498, 0);
    m
}

#[test]
fn golden_text() {
    let expected = "\
Lifetimes

Least alike are invocations of compute work (99aabbcc) of pipeline 8: on average they execute 66.67 % of the blocks that their subgroup does.
The longest invocation executed 256 to 511 blocks, in fragment main (sky.frag, 1f2e3d4c) of pipeline 7 \"sky\", where the mean is 4.98.

stage     of          lived        mean  min  median  p90  p99  max  exact
                             executions
compute   invocation     64        4.00    3       3    5    5    5  yes
compute   subgroup        8        6.00    6       6    6    6    6  yes
fragment  invocation    100        4.98    2       2    2    2  511  upper ends of buckets

pipeline  stage     shader            entry  of          lived        mean  min  median  p90  p99  max  exact
                                                                executions
       7  fragment  1f2e3d4c00112233  main   invocation    100        4.98    2       2    2    2  511  upper ends of buckets
       8  compute   99aabbccddeeff00  work   invocation     64        4.00    3       3    5    5    5  yes
       8  compute   99aabbccddeeff00  work   subgroup        8        6.00    6       6    6    6    6  yes

pipeline  stage    shader            entry  balance
       8  compute  99aabbccddeeff00  work    0.6667

Cost of measuring: not known, the frame was not timed without the probes
";
    assert_eq!(text::render(&QUESTION.answer(&known()).unwrap()), expected);
}

#[test]
fn frames_are_put_together_and_loss_is_said() {
    let mut m = known();
    put(&mut m, 1, "subgroup", &[[6, 6, 2], [9, 9, 2]], 30, 3);
    let report = QUESTION.answer(&m).unwrap();
    assert!(report.notes[0].starts_with("3 subgroups were not seen"), "{:?}", report.notes);
    let row = report.tables[0].rows.iter().find(|r| r[1] == "subgroup".into()).expect("it is there");
    assert_eq!(row[2..4], [Cell::Count(12), Cell::Number(6.5)]);
    assert_eq!(row[8], Cell::Count(9));
    assert_eq!(QUESTION.answer(&Memory::default()).unwrap().notes, ["No instrumented entry point was left."]);
}
