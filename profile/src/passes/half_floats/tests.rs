//! Tests: what texts become, word for word; what the rewritten arithmetic computes, by an oracle of its own; every module of the
//! scenes, the corpus and the captures stays valid.

mod oracle;

use super::choose::{self, Chosen};
use super::*;
use crate::rewrite::{Device, Variant};
use crate::spirv::{Inst, Module, Op, Operand};
use crate::testing::{assembled, captured, corpus, function_text, invalid, of_text, rewritten, scenes};
use std::collections::HashMap;

fn pass(options: &str) -> Box<dyn Pass> {
    Box::new(HalfFloats::new(&crate::passes::options(options)).expect("options"))
}

const CHAIN: &str = include_str!("chain.spvasm");
const LOOP: &str = include_str!("loop.spvasm");
const POSITION: &str = include_str!("position.spvasm");

/// The ids of a module's names.
fn named(m: &Module) -> HashMap<String, u32> {
    let of = |n: &Inst| match &n.inst.operands[..] {
        [Operand::IdRef(id), Operand::LiteralString(name)] => Some((name.clone(), *id)),
        _ => None,
    };
    m.names.iter().filter_map(of).collect()
}

/// Which of the application's functions a rewritten module has, and where.
fn own(v: &Variant, m: &Module) -> Vec<usize> {
    v.facts.functions.iter().map(|f| m.function(f.id).expect("functions stay")).collect()
}

fn is_half(m: &Module, i: &Inst) -> bool {
    let ty = i.inst.result_type.and_then(|t| m.global(t));
    let float = ty.and_then(|t| if t.op() == Op::TypeVector { m.global(t.id_at(0)?) } else { Some(t) });
    float.is_some_and(|t| t.op() == Op::TypeFloat && t.inst.operands[..] == [Operand::LiteralBit32(16)])
}

#[test]
fn chains_are_converted_once() {
    let Some(v) = of_text(pass(""), CHAIN) else { return };
    let text = function_text(&v.words, "main").expect("the tools are there");
    assert_eq!(text, include_str!("chain_halved.txt"), "{text}");
    assert!(
        v.notes[0].ends_with("5 of 8 operations on 32-bit floats are computed with 16 bits"),
        "{:?}",
        v.notes
    );
}

#[test]
fn loops_are_not_left_between_steps() {
    let Some(v) = of_text(pass(""), LOOP) else { return };
    let text = function_text(&v.words, "main").expect("the tools are there");
    assert_eq!(text, include_str!("loop_halved.txt"), "{text}");
    // Where the sum begins with what 16 bits do not hold, it is computed with 32, and what is added with 16.
    let far = LOOP.replace("OpConstant %float 0\n", "OpConstant %float 1e30\n");
    let v = of_text(pass("all"), &far).expect("the tools are there");
    assert!(v.notes[0].contains(" 1 of 2 operations"), "{:?}", v.notes);
}

#[test]
fn what_is_not_decorated_stays_and_all_takes_it() {
    let plain = CHAIN.lines().filter(|l| !l.ends_with("RelaxedPrecision")).collect::<Vec<_>>().join("\n");
    let Some(words) = assembled(&plain, "vulkan1.2") else { return };
    let made = |options: &str| rewritten("chain", &words, "vulkan1.3", &[pass(options)], Device::default());
    assert!(made("").is_empty());
    // All but what is to be exact, and what 16 bits do not hold.
    let all = made("all");
    assert!(all[0].notes[0].contains(" 6 of 8 operations"), "{:?}", all[0].notes);
    // What a variable holds is a hint for loads and stores; it is none for arithmetic.
    let elsewhere = plain.replace("OpDecorate %in L", "OpDecorate %in RelaxedPrecision\nOpDecorate %in L");
    let words = assembled(&elsewhere, "vulkan1.2").expect("the tools are there");
    assert!(rewritten("chain", &words, "vulkan1.3", &[pass("")], Device::default()).is_empty());
    let hash = all[0].shader.to_string();
    assert_eq!(made(&format!("all+shader={}", &hash[..12])).len(), 1);
    assert!(made("all+stage=compute").is_empty() && made("all+stage=fragment").len() == 1);
}

#[test]
fn values_are_those_of_16_bits() {
    let Some(v) = of_text(pass(""), CHAIN) else { return };
    let before =
        Module::read(&assembled(CHAIN, "vulkan1.2").expect("the tools are there")).expect("a module");
    let after = Module::read(&v.words).expect("a module");
    let ids = named(&before);
    let both = |x: [f32; 4]| [oracle::run(&before, "main", &x), oracle::run(&after, "main", &x)];
    // Small whole numbers are exact either way, but for the tenth of the third component: 0.1 is 0.0999755859375 with 16 bits.
    let [a, b] = both([1.0, -2.0, 3.0, 0.5]);
    assert_eq!(a[&ids["square"]], b[&ids["square"]]);
    assert_eq!(b[&ids["square"]], [1.0, 4.0, 9.0, 0.25]);
    assert_eq!(a[&ids["sum"]], [2.0, 5.0, 9.1, 1.25]);
    // (between 8 and 16 the steps are 1/128)
    assert_eq!(b[&ids["sum"]], [2.0, 5.0, 9.101_562_5, 1.25]);
    // 4 + 25 + 82.838…, where the steps are 1/16.
    assert_eq!(b[&ids["dot"]], [111.8125]);
    // What is not decorated computes with 32 bits of what it is given.
    assert_eq!(b[&ids["whole"]], [112.8125]);
    assert_eq!(b[&ids["exact"]], [111.8125]);
    assert_eq!(b[&ids["large"]], [111.8125 * 1e6]);
    assert_eq!(b[&ids["again"]], [1.0]);
    // Everywhere the two differ by no more than the roundings do: a few of 2⁻¹¹ each.
    for n in 1..200 {
        let x = [n as f32 * 0.0137, 1.0 / n as f32, n as f32 * 0.031, -0.77].map(|x: f32| x + 0.01);
        let [a, b] = both(x);
        for name in ["square", "sum", "most", "dot", "whole", "large"] {
            for (a, b) in a[&ids[name]].iter().zip(&b[&ids[name]]) {
                assert!((a - b).abs() <= a.abs() / 256.0 + 1e-6, "{name} of {x:?}: {a} and {b}");
            }
        }
    }
}

#[test]
fn numbers_become_the_nearest() {
    // What every pattern of 16 bits stands for is the pattern again.
    for bits in 0..=u16::MAX {
        let x = oracle::number(bits);
        let normal = x == 0.0 || (x.is_finite() && bits & 0x7c00 != 0);
        assert_eq!(choose::half(x), normal.then_some(bits), "{bits:#x}");
    }
    // Half way between two goes to the even one; beyond it to the next.
    let step = 1.0 / 1024.0;
    for (x, becomes) in [
        (1.0 + step / 2.0, 1.0),
        (1.0 + step * 0.51, 1.0 + step),
        (1.0 + step * 1.5, 1.0 + 2.0 * step),
        (-2047.5, -2048.0),
        (0.1, 0.099_975_586),
    ] {
        assert_eq!(choose::half(x).map(oracle::number), Some(becomes), "{x}");
    }
    for none in [65505.0, -1e30, 1e-5, f32::INFINITY, f32::NAN, f32::MIN_POSITIVE] {
        assert_eq!(choose::half(none), None, "{none}");
    }
}

#[test]
fn what_decides_what_is_drawn_stays() {
    let halves = |options: &str, text: &str| -> Option<Vec<String>> {
        let v = of_text(pass(options), text)?;
        let m = Module::read(&v.words).expect("a module");
        let converted = |id: u32| {
            let mut all = own(&v, &m).into_iter().flat_map(|f| m.functions[f].insts());
            all.any(|i| i.id() == Some(id) && i.op() == Op::FConvert)
        };
        let mut names: Vec<String> =
            named(&m).into_iter().filter(|(_, id)| converted(*id)).map(|(name, _)| name).collect();
        names.sort();
        Some(names)
    };
    let Some(all) = halves("all", POSITION) else { return };
    assert_eq!(all, ["bright", "dark"]);
    // Where the application says that it need not be exact, a position is computed as all else.
    let said = POSITION.replace("OpDecorate %in L", "OpDecorate %turned RelaxedPrecision\nOpDecorate %in L");
    assert_eq!(halves("", &said), Some(vec!["turned".to_owned()]));
    assert_eq!(halves("all", &said).map(|h| h.len()), Some(3));
    // What is no built-in is an output like another.
    let other = POSITION
        .replace("OpMemberDecorate %block 0 BuiltIn Position", "OpMemberDecorate %block 0 Location 1");
    assert_eq!(halves("all", &other).map(|h| h.len()), Some(6));
}

/// spirv-val knows which functions there are for 16 bits.
#[test]
fn every_operation_is_there_for_16_bits() {
    let three = ["FClamp", "FMix", "SmoothStep", "Fma", "FaceForward", "NClamp"];
    let two = ["Atan2", "Pow", "FMin", "FMax", "Step", "Distance", "Cross", "Reflect", "NMin", "NMax"];
    let mut body = String::new();
    let mut relaxed = String::new();
    for name in choose::GLSL.split_whitespace() {
        assert!(
            rspirv::grammar::GLSL_STD_450_INSTRUCTION_TABLE.iter().any(|i| i.opname == name),
            "there is no {name}"
        );
        let ty = if ["Length", "Distance"].contains(&name) { "float" } else { "vec3" };
        let operands = match name {
            "Refract" => "%low %low %one",
            _ if three.contains(&name) => "%low %low %low",
            _ if two.contains(&name) => "%low %low",
            _ => "%low",
        };
        body += &format!("%r{name} = OpExtInst %{ty} %glsl {name} {operands}\n");
        relaxed += &format!("OpDecorate %r{name} RelaxedPrecision\n");
    }
    for (op, ty, operands) in [
        ("FAdd", "vec3", "%low %low"),
        ("FSub", "vec3", "%low %low"),
        ("FMul", "vec3", "%low %low"),
        ("FDiv", "vec3", "%low %low"),
        ("FRem", "vec3", "%low %low"),
        ("FMod", "vec3", "%low %low"),
        ("FNegate", "vec3", "%low"),
        ("VectorTimesScalar", "vec3", "%low %whole"),
        ("Dot", "float", "%low %low"),
    ] {
        body += &format!("%r{op} = Op{op} %{ty} {operands}\n");
        relaxed += &format!("OpDecorate %r{op} RelaxedPrecision\n");
    }
    let text = CHAIN
        .replace("OpDecorate %in L", &format!("{relaxed}OpDecorate %in L"))
        .replace("; from what was computed with 32\n", &body);
    let Some(v) = of_text(pass(""), &text) else { return };
    let m = Module::read(&v.words).expect("a module");
    let halved = Chosen::of(&m, &own(&v, &m), false);
    assert!(halved.arithmetic.is_empty());
    assert!(v.notes[0].contains(" 61 of 64 "), "{:?}", v.notes);
}

#[test]
fn every_module_stays_valid_and_keeps_its_ids() {
    let named = |(path, m): (std::path::PathBuf, Vec<u32>)| (path.display().to_string(), m);
    let all = scenes().into_iter().chain(corpus()).map(named).chain(captured());
    let mut halves = 0;
    for (what, module) in all {
        if invalid(&module, "vulkan1.3").is_some() {
            continue;
        }
        for v in rewritten(&what, &module, "vulkan1.3", &[pass("all")], Device::default()) {
            let [before, after] = [&module, &v.words].map(|w| Module::read(w).expect("it is a module"));
            let types = |m: &Module| -> HashMap<u32, Option<u32>> {
                let insts = m.functions.iter().flat_map(|f| f.insts());
                insts.filter_map(|i| Some((i.id()?, i.inst.result_type))).collect()
            };
            let now = types(&after);
            let functions = own(&v, &after);
            for f in &functions {
                let id = after.functions[*f].id();
                let old = &before.functions[before.function(id).expect("it was there")];
                for i in old.insts() {
                    let kept = i.id().is_none_or(|id| now.get(&id) == Some(&i.inst.result_type));
                    assert!(kept, "{what}: {i:?}");
                }
                halves += after.functions[*f].insts().filter(|i| is_half(&after, i)).count();
            }
            // Nothing is left to be taken.
            assert!(Chosen::of(&after, &functions, true).arithmetic.is_empty(), "{what}");
        }
    }
    assert!(halves > 100, "{halves}");
}

#[test]
fn options_are_read_and_wrong_ones_refused() {
    let p = HalfFloats::new(&crate::passes::options("all+stage=fragment+shader=AB12")).expect("options");
    assert_eq!((p.all, &*p.shader, p.stage), (true, "ab12", Some(Stage::Fragment)));
    assert!(p.needs(Stage::Compute).is_none());
    assert!(p.needs(Stage::Fragment).is_some_and(|n| n.half_floats));
    assert!(HalfFloats::default().needs(Stage::Miss).is_some_and(|n| n.half_floats));
    for wrong in ["al", "all=yes", "stage=pixel", "shader=", "shader=xyz", "turns=3"] {
        assert!(HalfFloats::new(&crate::passes::options(wrong)).is_err(), "{wrong}");
    }
    assert_ne!(pass("all").key(), pass("").key());
}
