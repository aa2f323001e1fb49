use super::*;
use crate::context::sample;
use crate::report::text;
use trace::tables::{BLOCKS, ENTRIES, FUNCTIONS, PIPELINES};
use trace::{Memory, Value};

fn put(m: &mut Memory, table: &'static trace::Table, rows: &[&[u64]]) {
    for row in rows {
        m.put(table, &row.iter().map(|&v| Value::U64(v)).collect::<Vec<_>>());
    }
}

/// N = 8. Fragment shader: main's block by 4 full subgroups (10 instructions), shade's first by 4 halves (3), its loop's by
/// 8 quarters (4), with 3 helpers. Compute shader (20): once by all, once by one.
fn known() -> Memory {
    let mut m = sample::trace();
    put(
        &mut m,
        &SIMT,
        &[
            &[1, 0, 0, 0, 8, 4, 32],
            &[1, 0, 1, 0, 4, 4, 16],
            &[1, 0, 1, 1, 2, 8, 16],
            &[1, 1, 0, 0, 8, 1, 8],
            &[1, 1, 0, 0, 1, 1, 1],
        ],
    );
    put(&mut m, &SIMT_HELPERS, &[&[1, 0, 1, 1, 3]]);
    m
}

#[test]
fn golden_text() {
    // 73 of 144 slots; by instructions 612 of 992: (32·10 + 16·3 + 16·4 + 9·20) of (32·10 + 32·3 + 64·4 + 16·20).
    // Fragments: 64 of 128, and 432 of 672. Compute: 9 of 16, weighted alike, as it is one block.
    let expected = "\
SIMT efficiency

61.69 % of the instruction slots of subgroups were active.
63.16 % of the inactive ones are in fragment main (sky.frag, 1f2e3d4c) of pipeline 7 \"sky\", of whose own 35.71 % are inactive; 50.53 % of all inactive ones in fragment main (sky.frag, 1f2e3d4c), function shade, block 1 (%45), sky.frag:17.

basic blocks   executed       active  efficiency  weighted      helpers
              subgroups  invocations           %         %  invocations
all                  18           73       50.69     61.69            3

stage      executed       active  efficiency  weighted      helpers
          subgroups  invocations           %         %  invocations
compute           2            9       56.25     56.25            0
fragment         16           64       50.00     64.29            3

pipeline           executed       active  efficiency  weighted      helpers
                  subgroups  invocations           %         %  invocations
pipeline 7 \"sky\"         16           64       50.00     64.29            3
pipeline 8                2            9       56.25     56.25            0

pipeline  stage     shader            entry   executed       active  efficiency  weighted      helpers
                                             subgroups  invocations           %         %  invocations
       7  fragment  1f2e3d4c00112233  main          16           64       50.00     64.29            3
       8  compute   99aabbccddeeff00  work           2            9       56.25     56.25            0

frame   executed       active  efficiency  weighted      helpers
       subgroups  invocations           %         %  invocations
    1         18           73       50.69     61.69            3

pipeline  stage     shader            entry  function    block  label  source        executed       active  efficiency  weighted      helpers
                                                                                    subgroups  invocations           %         %  invocations
       7  fragment  1f2e3d4c00112233  main   shade(vf3;      1  %45    sky.frag:17          8           16       25.00     25.00            3
       8  compute   99aabbccddeeff00  work   work            0  %3     –                    2            9       56.25     56.25            0
       7  fragment  1f2e3d4c00112233  main   shade(vf3;      0  %13    sky.frag:12          4           16       50.00     50.00            0
       7  fragment  1f2e3d4c00112233  main   main            0  %5     –                    4           32      100.00    100.00            0

Cost of measuring: not known, the frame was not timed without the probes
";
    assert_eq!(text::render(&QUESTION.answer(&known()).unwrap()), expected);
}

#[test]
fn events_stand_by_themselves() {
    let mut m = known();
    m.put(&PIPELINES, &[Value::U64(9), Value::Text("ray-tracing"), Value::Text("")]);
    for (entry, stage) in [(2, "ray-generation"), (3, "miss"), (4, "closest-hit"), (5, "callable")] {
        let words = ["aa", "main", stage].map(Value::Text);
        let row: Vec<_> = [entry, 9, entry - 2, entry].map(Value::U64).into_iter().chain(words).collect();
        m.put(&ENTRIES, &row);
        m.put(&FUNCTIONS, &[Value::U64(entry), Value::U64(0), Value::U64(4), Value::Text("main")]);
        for block in [0, 1] {
            let row = [entry, 0, block, 5, 9, 2, 0, 1].map(Value::U64);
            let row = row.into_iter().chain([Value::Text(""), Value::U64(0)]);
            m.put(&BLOCKS, &row.collect::<Vec<_>>());
        }
    }
    let before = QUESTION.answer(&m).unwrap().tables.remove(1);
    assert!(before.rows.is_empty());
    // Two calls, one by all and one by half; a miss shader's entry by 6, and a closest-hit's by 2. A callable's, by 3, is in no sum.
    put(&mut m, &SIMT_TRACES, &[&[1, 2, 0, 0, 17, 8, 1, 8], &[1, 2, 0, 0, 17, 4, 1, 4]]);
    put(
        &mut m,
        &SIMT,
        &[&[1, 3, 0, 0, 6, 1, 6], &[1, 3, 0, 1, 1, 9, 9], &[1, 4, 0, 0, 2, 1, 2], &[1, 5, 0, 0, 3, 1, 3]],
    );
    let events = QUESTION.answer(&m).unwrap().tables.remove(1);
    let row = |of: &str, n: u64, active: u64, efficiency: f64| {
        vec![of.into(), Cell::Count(n), Cell::Count(active), Cell::Number(efficiency)]
    };
    assert_eq!(
        events.rows,
        [
            row("all", 4, 20, 62.5),
            row("callable entered", 1, 3, 37.5),
            row("closest-hit entered", 1, 2, 25.0),
            row("miss entered", 1, 6, 75.0),
            row("ray traced", 2, 12, 75.0),
        ]
    );
    assert_eq!(events.columns.len(), 4);
}

#[test]
fn frames_may_have_sizes_of_their_own_and_executions_beyond_the_histogram_count() {
    let mut m = Memory::default();
    put(&mut m, &trace::tables::FRAMES, &[&[1, 32, 0, 0, 0, 0], &[2, 128, 0, 0, 0, 0]]);
    put(&mut m, &SIMT, &[&[1, 0, 0, 0, 16, 2, 32], &[2, 0, 0, 0, 0, 3, 384]]);
    let report = QUESTION.answer(&m).unwrap();
    let frames = report.tables.iter().find(|t| t.name == "frames").expect("there is one");
    assert_eq!(frames.rows[0][3], Cell::Number(50.0));
    assert_eq!(frames.rows[1][3], Cell::Number(100.0));
    assert!(report.notes[0].starts_with("3 executions had more"), "{:?}", report.notes);
    assert_eq!(report.series[0].points, [(Cell::Count(16), Cell::Count(2))]);
}

#[test]
fn nothing_and_no_size_are_said() {
    let report = QUESTION.answer(&Memory::default()).unwrap();
    assert_eq!(report.notes, ["No instrumented basic block was executed."]);
    let mut m = Memory::default();
    put(&mut m, &SIMT, &[&[1, 0, 0, 0, 16, 2, 32]]);
    assert!(QUESTION.answer(&m).unwrap_err().0.contains("no subgroup size"));
}
