//! The rewrite on every module there is and on an assembly; decoding; the counting of `probes/values.glsl`, mirrored.

use super::decode::{Seen, seen};
use super::*;
use crate::rewrite::Device;
use crate::testing::{entry, everywhere, frame, function_text, glsl, rewritten, rows};
use crate::{ActionData, Pass as _};
use trace::Memory;
use trace::tables::{VALUE_CHANGES, VALUE_REGISTERS, VALUE_SITES, VALUES, VALUES_SEEN};

fn make(options: &str) -> Box<dyn crate::Pass> {
    Box::new(Pass::new(&crate::passes::options(options)).expect("it knows them"))
}

#[test]
fn every_module_is_rewritten_validly() {
    for options in ["", "changes=no:slots=8:sites=texture|storage"] {
        let variants = everywhere(&|| make(options));
        assert!(variants.is_empty() || variants.len() > 20, "{}", variants.len());
    }
}

const SHADER: &str = "#version 450
    layout(local_size_x = 8) in;
    layout(binding = 0) uniform Block { vec2 v; uint n; } block;
    layout(push_constant) uniform Push { float p; };
    layout(binding = 2) buffer Out { uint o[]; };
    void main() { o[0] = o[gl_LocalInvocationIndex] + uint(block.v.y * p); }";

fn shader(options: &str) -> Option<crate::rewrite::Variant> {
    let w = glsl("comp", SHADER, &["--target-env", "vulkan1.2"])?;
    let mut made = rewritten("SHADER", &w, "vulkan1.3", &[make(options)], Device::default());
    made.pop()
}

#[test]
fn golden() {
    let Some(v) = shader("slots=16") else { return };
    let text = function_text(&v.words, "main").expect("it has one");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/passes/values/after.spvasm");
    assert_eq!(text, std::fs::read_to_string(path).unwrap_or_default(), "{text}");
}

#[test]
fn decoding() {
    let Some(v) = shader("slots=16") else { return };
    let names: Vec<String> =
        v.regions[0].sites.iter().map(|s| super::super::loads::text_of(&s.data[1..])).collect();
    assert_eq!(names, ["storage\nuint\nOut.o[?]", "uniform\nfloat\nblock.v.y", "push\nfloat\nPush.p"]);
    let size = (HEAD + REGISTERS / 2 + 32) as usize;
    assert_eq!((v.counters as usize, v.action_counters), (3 * size, 2));
    let mut counters = vec![0; 3 * size];
    counters[..3].copy_from_slice(&[100, 40, 7]);
    counters[3 + 5] = 9 | 4 << 32;
    counters[3 + 128 + 6..3 + 128 + 8].copy_from_slice(&[77, 53]);
    counters[size..size + 3].copy_from_slice(&[8, 0, 0]);
    counters[size + 3 + 9] = 3;
    counters[size + 3 + 128..size + 3 + 130].copy_from_slice(&[0x3f80_0000, 8]);
    let pass = Pass::new(&crate::passes::options("slots=16")).expect("known");
    let mut out = Memory::default();
    // The uniform block's counter, then the push constants'.
    let one = |v: u32| u64::from(v) | u64::from(!v) << 32;
    let of =
        [[one(5), one(1)], [one(5), 0], [one(6), 3 | 0xffff_ffff << 32], [one(5), one(1)], [one(5), one(2)]];
    let at = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)];
    let mut f = frame(8, vec![entry(&v, &counters)], vec![]);
    f.actions = at
        .iter()
        .zip(&of)
        .map(|(&(range, result_index), counters)| ActionData {
            range,
            result_index,
            result_sub_index: 0,
            entry: 0,
            counters,
        })
        .collect();
    pass.decode(&f, &mut out).expect("it is readable");
    assert_eq!(rows(&out, &VALUES), [[2, 3, 0, 100, 40, 7], [2, 3, 1, 8, 0, 0]]);
    assert_eq!(rows(&out, &VALUES_SEEN), [[2, 3, 0, 77, 53], [2, 3, 1, 0x3f80_0000, 8]]);
    assert_eq!(rows(&out, &VALUE_REGISTERS), [[2, 3, 0, 10, 9], [2, 3, 0, 11, 4]]);
    assert_eq!(rows(&out, &VALUE_SITES).len(), 3);
    // block.v.y: 5 5 6 | 5 5: three pairs, one change. p: 1, nothing, several | 1 2: the first pair is not known.
    assert_eq!(rows(&out, &VALUE_CHANGES), [[2, 3, 1, 5, 3, 1, 0], [2, 3, 2, 4, 2, 1, 1]]);
}

/// However wide a load is, it takes one call of a function, and one more where changes are followed.
#[test]
fn the_words_of_a_load_go_in_one_call() {
    let source = "#version 450
        layout(local_size_x = 8) in;
        layout(binding = 0) uniform Block { mat4 m; } block;
        layout(binding = 1) buffer Out { vec4 o; };
        void main() { o = block.m * vec4(1.0); }";
    let Some(w) = glsl("comp", source, &["--target-env", "vulkan1.2"]) else { return };
    for (options, calls) in [("changes=no", 1), ("", 2)] {
        let v =
            rewritten(source, &w, "vulkan1.3", &[make(options)], Device::default()).pop().expect("it loads");
        assert_eq!((v.regions[0].sites.len(), v.action_counters), (16, if calls == 2 { 16 } else { 0 }));
        let m = crate::spirv::Module::read(&v.words).expect("it is a module");
        let f = v.facts.functions[0].id;
        let main = m.functions.iter().find(|g| g.id() == f).expect("it has one");
        let with = |arguments: usize| {
            let is = |i: &&Inst| i.op() == Op::FunctionCall && i.inst.operands.len() == 1 + arguments;
            main.insts().filter(is).count()
        };
        // (first, stride, words, slots) and (counter, words)
        assert_eq!((with(4), with(2)), (1, calls - 1), "{options}");
    }
}

/// Changes are only left out where the application's push constants take the room.
#[test]
fn full_push_constants_are_left_alone() {
    for (block, actions) in
        [("vec4 a[16];", 0), ("vec4 a[15]; vec2 b;", 4), ("mat4 m[3]; layout(offset = 240) float b;", 4)]
    {
        let main = "void main() { o[0] = a[0]; }"
            .replace("a[0]", if block.contains("mat4") { "m[0][0]" } else { "a[0]" });
        let source = format!(
            "#version 450
             layout(local_size_x = 8) in;
             layout(push_constant) uniform Push {{ {block} }};
             layout(binding = 2) buffer Out {{ vec4 o[]; }};
             {main}"
        );
        let Some(w) = glsl("comp", &source, &["--target-env", "vulkan1.2"]) else { return };
        let v = rewritten(block, &w, "vulkan1.3", &[make("")], Device::default()).pop().expect("it loads");
        assert_eq!((v.regions[0].sites.len(), v.action_counters), (4, actions), "{block}");
    }
}

#[test]
fn what_an_action_saw() {
    assert_eq!(seen(0), Seen::Nothing);
    assert_eq!(seen(0xffff_ffff_0000_0000), Seen::One(0));
    assert_eq!(seen(0x0000_0000_ffff_ffff), Seen::One(u32::MAX));
    assert_eq!(seen(0xffff_fffe_0000_0003), Seen::Several);
}

#[test]
fn options_are_read_and_refused() {
    let p = Pass::new(&crate::passes::options("slots=8:sites=push|uniform:changes=no")).expect("known");
    assert_eq!((p.slots, p.classes.len(), p.changes), (8, 2, false));
    assert!(!p.needs(Stage::Vertex).expect("all stages").actions);
    assert!(
        !Pass::new(&crate::passes::options("sites=texture"))
            .expect("known")
            .needs(Stage::Vertex)
            .expect("all stages")
            .actions
    );
    assert!(
        Pass::new(&crate::passes::options(""))
            .expect("known")
            .needs(Stage::Vertex)
            .expect("all stages")
            .actions
    );
    for (wrong, says) in [("slots=7", "power of two"), ("sites=stuff", "uniform, push"), ("top=8", "slots=N")]
    {
        let e = Pass::new(&crate::passes::options(wrong)).err().expect("it is refused");
        assert!(e.contains(says), "{e}");
    }
}

/// `probes/values.glsl`, `mixed`.
fn mixed(word: u32) -> u32 {
    let h = (word ^ (word >> 16)).wrapping_mul(0x85eb_ca6b);
    let h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

/// The same probe on the CPU: registers and slots of what it is given, in this order.
fn noted(values: impl Iterator<Item = u32>, slots: u32) -> (Vec<u32>, BTreeMap<u32, u64>, u64) {
    let (mut registers, mut table, mut overflow) = (vec![0; 256], vec![(0u32, 0u64); slots as usize], 0);
    for v in values.filter(|&v| v != 0) {
        let h = mixed(v);
        let rank = (h & 0xff_ffff).leading_zeros() - 8 + 1;
        let r = &mut registers[(h >> 24) as usize];
        *r = rank.max(*r);
        let tries = (0..slots.min(16)).map(|i| (h.wrapping_add(i) & (slots - 1)) as usize);
        match tries.into_iter().find(|&t| table[t].0 == 0 || table[t].0 == v) {
            Some(t) => table[t] = (v, table[t].1 + 1),
            None => overflow += 1,
        }
    }
    (registers, table.into_iter().filter(|t| t.1 != 0).collect(), overflow)
}

/// Values as they come in shaders: counted up, floats in steps, random ones. The estimate's error stays within three
/// standard errors, and its mean within one.
#[test]
fn the_estimate_is_as_good_as_it_says() {
    let float = |n: u32| (n as f32 * 0.37 + 1.0).to_bits();
    type Kind = (&'static str, fn(u32) -> u32);
    let kinds: [Kind; 3] =
        [("counted up", |n| n + 1), ("floats", float), ("random", |n| mixed(n ^ 0x9e37_79b9).max(1))];
    let (mut worst, mut sum, mut n) = (0f64, 0f64, 0);
    for (what, value) in kinds {
        for distinct in [100u32, 300, 1000, 5000, 50_000, 400_000] {
            let (registers, ..) = noted((0..distinct).map(value), 64);
            let ranks: Vec<u64> = registers.iter().map(|&r| r.into()).collect();
            let error = trace::tables::hyperloglog(&ranks) / f64::from(distinct) - 1.0;
            assert!(error.abs() < 3.0 * 0.065, "{what}, {distinct}: {error}");
            worst = worst.max(error.abs());
            (sum, n) = (sum + error, n + 1);
        }
    }
    assert!((sum / f64::from(n)).abs() < 0.065, "biased by {}", sum / f64::from(n));
    assert!(worst > 0.0, "an estimate is no count");
}

#[test]
fn slots_are_exact_until_they_are_full() {
    let (_, table, overflow) = noted((0..1000).map(|n| n % 10 + 1), 64);
    assert_eq!((table.len(), overflow), (10, 0));
    assert!(table.values().all(|&n| n == 100));
    let (_, table, overflow) = noted((0..1000).map(|n| n % 100 + 1), 64);
    assert!(table.values().all(|&n| n == 10), "what has a slot has all its executions");
    assert_eq!(table.values().sum::<u64>() + overflow, 1000);
    assert!(overflow > 0 && table.len() <= 64);
}
