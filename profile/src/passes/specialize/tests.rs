//! Tests.

use super::*;
use crate::passes::learnt;
use crate::testing::{assembled, captured, corpus, function_text, glsl, invalid, rewritten, scenes};
use crate::{Pass as _, ShaderHash, rewrite};
use known::{Blocks, Words};
use trace::Memory;
use trace::Value::{Text, U64};
use trace::tables::{CONTENT_WORDS, INVOCATION_BLOCKS, INVOCATIONS, RESOURCE_STAGES};

/// Everything that a module may read, as words that follow from where they are.
fn everything(module: &[u32], word: &dyn Fn(u64) -> u32) -> Vec<(learnt::Entry, Blocks)> {
    let all = rewrite::entries(module).into_iter();
    let of = |(_, name, stage): (_, String, Stage)| {
        let r = crate::reflect::reflect(module, stage, &name, &Default::default()).expect("it is a module");
        let words = |bytes: u64| -> Words { (0..bytes.div_ceil(4)).map(|n| (n * 4, word(n * 4))).collect() };
        let bound = r
            .slots
            .iter()
            .flat_map(|s| s.blocks.iter().map(|b| (Some((s.set, s.binding, 0)), words(b.bytes))));
        let pushed = r.push.iter().map(|b| (None, words(b.bytes)));
        let hash = ShaderHash::of(module);
        (learnt::of(&hash, stage.name(), &name), bound.chain(pushed).collect())
    };
    all.map(of).collect()
}

#[test]
fn every_module_stays_valid_whatever_is_known() {
    let named = |(path, m): (std::path::PathBuf, Vec<u32>)| (path.display().to_string(), m);
    let all = scenes().into_iter().chain(corpus()).map(named).chain(captured());
    let mut folded = 0;
    for (what, module) in all {
        if invalid(&module, "vulkan1.3").is_some() {
            continue;
        }
        // All words alike, every second one known, all of them different.
        let alike = everything(&module, &|_| 0x3f80_0000);
        let mut half = everything(&module, &|at| at as u32);
        half.iter_mut().flat_map(|h| h.1.values_mut()).for_each(|w| w.retain(|at, _| at % 8 == 0));
        for (entry, blocks) in alike.into_iter().chain(half).chain(everything(&module, &|at| at as u32)) {
            let pass = Pass { known: Known::with(entry, blocks), ..Pass::default() };
            let made = rewritten(&what, &module, "vulkan1.3", &[Box::new(pass)], rewrite::Device::default());
            folded += made.len();
        }
    }
    assert!(folded > 60, "{folded}");
}

const SOURCE: &str = "#version 450
    layout(std140, binding = 2) uniform Block { vec4 sun; float scale; uint count; uvec4 code[8]; mat2 turn; } b;
    layout(push_constant) uniform Push { layout(offset = 8) int kind; float rest; } p;
    layout(location = 0) in flat uint at;
    layout(location = 0) out vec4 o;
    void main() {
        o = b.sun * b.scale + float(b.code[2u * at].x) + float(b.code[2u * at + 1u].y) + vec4(b.turn[1], p.kind, p.rest);
    }";

/// Two invocations whose bytes are the same but for the sun's third component and what is pushed last.
fn trace(words: &[u32], same: bool) -> Memory {
    let hash = ShaderHash::of(words).to_string();
    let mut t = Memory::default();
    t.put(&RESOURCE_STAGES, &[U64(7), Text("fragment"), Text("main"), Text(&hash), U64(0)]);
    for n in 0..3 {
        // (the third is of another frame, and of other bytes)
        let frame = if n == 2 { 2 } else { 1 };
        let row = [n, frame, 0, 1, 0, 0, 0].map(U64);
        t.put(&INVOCATIONS, &[&row[..], &[Text("Draw"), U64(7), U64(0)]].concat());
        for (space, binding) in [("block", 2), ("push", 0)] {
            let contents = 2 * n + u64::from(space == "push") + 1;
            let row = [0, binding, 0, contents, 0].map(U64);
            let rest = [Text(""), U64(0), U64(0)];
            t.put(&INVOCATION_BLOCKS, &[&[U64(n), Text(space)], &row[..], &rest].concat());
            let size = if space == "push" { 16 } else { 192 };
            for at in (0..size).step_by(4) {
                let differs = if space == "push" { at == 12 } else { at == 8 };
                let word = match (space, at) {
                    _ if n == 2 || (n == 1 && differs && !same) => 77,
                    ("push", _) => 5,
                    (_, 0..32) => 0x4000_0000,
                    // code: even elements are (6, …), odd ones have their number
                    (_, 32..160) if (at - 32) / 16 % 2 == 0 => 6,
                    (_, 32..160) => (at - 32) / 16,
                    _ => 0x3f80_0000,
                };
                t.put(&CONTENT_WORDS, &[contents, at, word].map(U64));
            }
        }
    }
    t
}

#[test]
fn what_had_one_value_is_a_constant() {
    let Some(words) = glsl("frag", SOURCE, &["--target-env", "vulkan1.2"]) else { return };
    let mut known = Known::default();
    known.add(&trace(&words, false), &|f| f == 1).expect("it is a trace");
    let pass = Pass { known: known.clone(), ..Pass::default() };
    let made = rewritten("a text", &words, "vulkan1.2", &[Box::new(pass)], rewrite::Device::default());
    let text = function_text(&made[0].words, "main").expect("the tools are there");
    assert_eq!(text, include_str!("folded.txt"), "{text}");
    assert!(made[0].notes[0].contains("5 of 7 loads"), "{:?}", made[0].notes);
    // With the other frame nothing is alike; a trace that agrees takes nothing away, one that does not does.
    let mut both = Known::default();
    both.add(&trace(&words, false), &|_| true).expect("it is a trace");
    let none = Pass { known: both, ..Pass::default() };
    assert!(
        rewritten("a text", &words, "vulkan1.2", &[Box::new(none)], rewrite::Device::default()).is_empty()
    );
    let digest = known.digest();
    known.add(&trace(&words, true), &|f| f == 1).expect("it is a trace");
    assert_eq!(known.digest(), digest);
    known.add(&trace(&words, true), &|f| f == 2).expect("it is a trace");
    assert_ne!(known.digest(), digest);
}

#[test]
fn numbers_that_may_be_addresses_stay() {
    let source = "#version 450
        #extension GL_EXT_buffer_reference : require
        #extension GL_EXT_buffer_reference_uvec2 : require
        layout(buffer_reference, std430) buffer There { float v; };
        layout(std140, binding = 0) uniform B { There there; float scale; uvec2 address; } b;
        layout(location = 0) out vec4 o;
        void main() { o = vec4(b.there.v, There(b.address).v, b.scale, b.address.x); }";
    let Some(words) = glsl("frag", source, &["--target-env", "vulkan1.2"]) else { return };
    let known = everything(&words, &|_| 0x3f80_0000).remove(0);
    let pass = Pass { known: Known::with(known.0, known.1), ..Pass::default() };
    let made = rewritten("a text", &words, "vulkan1.2", &[Box::new(pass)], rewrite::Device::default());
    assert!(made[0].notes[0].contains("1 of 4 loads"), "{:?}", made[0].notes);
}

#[test]
fn options() {
    assert!(Pass::new(&crate::passes::options("")).is_ok_and(|p| p.needs(Stage::Compute).is_none()));
    assert!(
        Pass::new(&crate::passes::options("/nowhere")).is_err()
            && Pass::new(&crate::passes::options("share=3")).is_err()
            && Pass::new(&crate::passes::options("precise=3")).is_err()
    );
}

/// A module of `cases/`, and what becomes of its functions. `RERAY_WRITE_PRINTED=1` writes that anew: it shows what changed, and
/// is no proof. That the module is valid says spirv-val here, that it draws the same picture `tests/e2e/learnt.rs`.
fn case(name: &str, functions: &[&str], blocks: Blocks, note: &str) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/passes/specialize/cases");
    let read =
        |file: std::path::PathBuf| std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{file:?}: {e}"));
    let Some(words) = assembled(&read(folder.join(format!("{name}.spvasm"))), "vulkan1.2") else { return };
    assert_eq!(invalid(&words, "vulkan1.2"), None, "{name}");
    let entry = learnt::of(&ShaderHash::of(&words), "fragment", "main");
    let pass = Pass { known: Known::with(entry, blocks), ..Pass::default() };
    let made = rewritten(name, &words, "vulkan1.2", &[Box::new(pass)], rewrite::Device::default());
    assert_eq!(made.len(), 1, "{name}");
    assert!(made[0].notes[0].contains(note), "{name}: {:?}", made[0].notes);
    let text = |f: &&str| function_text(&made[0].words, f).expect("the tools are there");
    let text = functions.iter().map(text).collect::<Vec<_>>().join("\n") + "\n";
    let printed = folder.join(format!("{name}.txt"));
    if std::env::var_os("RERAY_WRITE_PRINTED").is_some() {
        std::fs::write(&printed, &text).expect("it can be written");
    }
    assert_eq!(text, read(printed), "{name}: {text}");
}

/// Floats that are 2 or what an offset says.
fn floats(bytes: u64, two: impl Fn(u64) -> bool) -> Words {
    (0..bytes / 4).map(|n| (4 * n, if two(4 * n) { 2f32.to_bits() } else { (n as f32).to_bits() })).collect()
}

#[test]
fn pointers_that_functions_are_given_lead_to_what_calls_give() {
    // (the array's elements all differ, so that only its third is known)
    let words = floats(96, |at| at < 32);
    let blocks = Blocks::from([(Some((0, 2, 0)), words)]);
    case("parameters", &["main", "same", "other"], blocks, "2 of 3 loads");
}

#[test]
fn arrays_of_the_pipelines_sizes_are_read_as_far_as_the_next_member() {
    let blocks = Blocks::from([(Some((0, 2, 0)), floats(128, |_| true))]);
    case("sized", &["main"], blocks, "2 of 3 loads");
}

#[test]
fn descriptors_of_an_array_have_contents_of_their_own() {
    let of = |n: u64| (Some((0, 2, n as u32)), Words::from([(0, 2f32.to_bits()), (4, (n as f32).to_bits())]));
    case("descriptors", &["main"], (0..3).map(of).collect(), "2 of 3 loads");
    // Where one is not known, nothing is known of any.
    let known = (1..3).map(of).collect();
    let words = include_str!("cases/descriptors.spvasm");
    let Some(words) = assembled(words, "vulkan1.2") else { return };
    let entry = learnt::of(&ShaderHash::of(&words), "fragment", "main");
    let pass = Pass { known: Known::with(entry, known), ..Pass::default() };
    let made = rewritten("two", &words, "vulkan1.2", &[Box::new(pass)], rewrite::Device::default());
    assert!(made[0].notes[0].contains("1 of 3 loads"), "{:?}", made[0].notes);
}

#[test]
fn parts_of_what_is_loaded_whole_and_copies_are_constants() {
    // (one number of the array is not known, so that the load stays)
    let mut words = floats(528, |_| true);
    words.remove(&20);
    case("whole", &["main"], Blocks::from([(Some((0, 2, 0)), words)]), "2 of 2 loads");
}

#[test]
fn arithmetic_is_held_where_that_is_wished() {
    let Some(words) = glsl("frag", SOURCE, &["--target-env", "vulkan1.2"]) else { return };
    let hash = ShaderHash::of(&words).to_string();
    let held = |precise: &str| {
        let precise = crate::passes::learnt::Given::read("specialize", &crate::passes::options(precise), &[])
            .expect("an option")
            .precise;
        let mut known = Known::default();
        known.add(&trace(&words, false), &|f| f == 1).expect("it is a trace");
        let pass = Pass { known, precise };
        let made = rewritten("held", &words, "vulkan1.2", &[Box::new(pass)], rewrite::Device::default());
        let text = crate::testing::disassembled(&made[0].words).expect("the tools are there");
        text.matches("NoContraction").count()
    };
    // One product and three sums.
    assert_eq!((held(""), held("precise=yes"), held("precise=no")), (0, 4, 0));
    assert_eq!((held(&format!("precise=00000000|{hash}")), held("precise=00000000")), (4, 0));
}
