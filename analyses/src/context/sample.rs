//! Tables of what was instrumented, for tests of questions: two pipelines, a fragment shader of two functions and three
//! blocks, a compute shader of one block. N = 8.

use trace::tables::{BLOCKS, EDGES, ENTRIES, FRAMES, FUNCTIONS, PIPELINES};
use trace::{Memory, Value};

/// The tables. Entry 0 is the fragment shader (functions main and shade), entry 1 the compute shader.
pub fn trace() -> Memory {
    let mut m = Memory::default();
    m.put(&FRAMES, &[1, 8, 4, 2, 0, 0].map(Value::U64));
    m.put(&PIPELINES, &[Value::U64(7), Value::Text("graphics"), Value::Text("sky")]);
    m.put(&PIPELINES, &[Value::U64(8), Value::Text("compute"), Value::Text("")]);
    let entry = |m: &mut Memory, numbers: [u64; 4], words: [&str; 3]| {
        let row: Vec<_> = numbers.map(Value::U64).into_iter().chain(words.map(Value::Text)).collect();
        m.put(&ENTRIES, &row);
    };
    entry(&mut m, [0, 7, 1, 0], ["1f2e3d4c00112233", "main", "fragment"]);
    entry(&mut m, [1, 8, 0, 1], ["99aabbccddeeff00", "work", "compute"]);
    let function = |m: &mut Memory, numbers: [u64; 3], name| {
        let row: Vec<_> = numbers.map(Value::U64).into_iter().chain([Value::Text(name)]).collect();
        m.put(&FUNCTIONS, &row);
    };
    function(&mut m, [0, 0, 4], "main");
    function(&mut m, [0, 1, 12], "shade(vf3;");
    function(&mut m, [1, 0, 2], "work");
    // variant, function, block, label, word offset, instructions, depth, reached
    let block = |m: &mut Memory, numbers: [u64; 8], file, line| {
        let row = numbers.map(Value::U64).into_iter().chain([Value::Text(file), Value::U64(line)]);
        m.put(&BLOCKS, &row.collect::<Vec<_>>());
    };
    block(&mut m, [0, 0, 0, 5, 100, 10, 0, 1], "", 0);
    block(&mut m, [0, 1, 0, 13, 200, 3, 0, 1], "src/sky.frag", 12);
    block(&mut m, [0, 1, 1, 45, 220, 4, 1, 1], "src/sky.frag", 17);
    block(&mut m, [1, 0, 0, 3, 50, 20, 0, 1], "", 0);
    m.put(&EDGES, &[0, 1, 0, 1].map(Value::U64));
    m.put(&EDGES, &[0, 1, 1, 1].map(Value::U64));
    m
}
