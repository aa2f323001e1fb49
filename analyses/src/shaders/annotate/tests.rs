//! Known records over known texts.

use super::*;
use crate::context::Context;
use crate::context::sample;
use trace::{Memory, Value};

const SHADER: &str = "1f2e3d4c00112233";

fn trace() -> Memory {
    let mut m = sample::trace();
    // frame, entry, function, block, active, executions, invocations
    for row in
        [[1, 0, 1, 1, 8, 6, 48], [1, 0, 1, 1, 2, 6, 12], [1, 0, 0, 0, 8, 3, 24], [1, 1, 0, 0, 0, 2, 10]]
    {
        m.put(&SIMT, &row.map(Value::U64));
    }
    let line = |m: &mut Memory, at: u64, text| {
        m.put(&SPIRV_TEXT, &[Value::Text(SHADER), Value::U64(at), Value::Text(text)]);
    };
    line(&mut m, 0, "; SPIR-V");
    line(&mut m, 100, "       %5 = OpLabel");
    line(&mut m, 102, "            OpReturn");
    line(&mut m, 200, "      %13 = OpLabel");
    line(&mut m, 220, "      %45 = OpLabel");
    for (n, text) in [(16, "{"), (17, "    s += x;"), (18, "}")] {
        let row = [Value::Text(SHADER), Value::Text("src/sky.frag"), Value::U64(n), Value::Text(text)];
        m.put(&SOURCE_TEXT, &row);
    }
    m
}

#[test]
fn comments_stand_over_blocks() {
    let report = QUESTION.answer(&trace()).unwrap();
    let names: Vec<&str> = report.files.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["1f2e3d4c00112233.spvasm", "1f2e3d4c00112233.sky.frag"]);
    let text = |n: usize| String::from_utf8(report.files[n].content.clone()).unwrap();
    assert_eq!(
        text(0),
        "; SPIR-V
            ; /* executions=3 efficiency=100.00% histogram=8:3 */
       %5 = OpLabel
            OpReturn
            ; /* executions=0 */
      %13 = OpLabel
            ; /* executions=12 efficiency=62.50% histogram=8:6,2:6 */
      %45 = OpLabel
"
    );
    assert_eq!(
        text(1),
        "{
    /* executions=12 efficiency=62.50% histogram=8:6,2:6 block=%45 */
    s += x;
}
"
    );
}

#[test]
fn the_table_has_every_shader() {
    let report = QUESTION.answer(&trace()).unwrap();
    // 36 of 12 · 8 invocations were not in a block of 4 instructions, none of 3 · 8 in one of 10: 144 of 624.
    let most = "Fragment main (sky.frag, 1f2e3d4c) has most idle slots: 23.08 % of its instruction slots were inactive, over 15 executions of blocks.";
    assert_eq!(report.headlines, [most]);
    let rows = &report.tables[0].rows;
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0][..4], [SHADER.into(), Cell::Count(3), Cell::Count(2), Cell::Count(15)]);
    // 84 of 15 · 8 invocations; 10 of 2 · 8.
    assert_eq!(rows[0][4..], [Cell::Number(70.0), "yes".into(), Cell::Count(1)]);
    assert_eq!(rows[1][4..], [Cell::Number(62.5), "no".into(), Cell::Count(0)]);
    assert!(report.notes.is_empty());
}

#[test]
fn what_is_not_told_apart_is_named() {
    let mut blocks = measured(&trace(), &Context::read(&trace()).unwrap()).unwrap();
    let compute = blocks.remove("99aabbccddeeff00").unwrap();
    assert_eq!(compute[&50].words(), "executions=2 efficiency=62.50% histogram=more:2");
}

#[test]
fn records_of_no_block_are_refused() {
    let mut m = trace();
    m.put(&SIMT, &[1, 0, 7, 0, 8, 1, 8].map(Value::U64));
    assert!(QUESTION.answer(&m).unwrap_err().0.contains("function 7, block 0 is in no table"));
}

#[test]
fn sources_of_one_name_are_told_apart() {
    let mut names = vec![];
    let paths = ["a/x.frag", "b\\x.frag", ""];
    assert_eq!(paths.map(|p| source_name(p, &mut names)), ["x.frag", "2.x.frag", "source"]);
}
