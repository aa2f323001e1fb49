//! Tests.

use super::*;
use crate::passes::learnt;
use crate::passes::loads::{Class, Defs, loads};
use crate::testing::{assembled, captured, corpus, function_text, glsl, invalid, rewritten, scenes};
use crate::{Pass as _, ShaderHash, rewrite};
use std::collections::BTreeSet;
use trace::Memory;
use trace::Value::{Text, U64};
use trace::tables::{ENTRIES, VALUE_SITES, VALUES};

/// Guards every load that there is, whatever it gives.
struct All;

impl crate::Pass for All {
    fn name(&self) -> &'static str {
        "zero-path"
    }
    fn needs(&self, _: Stage) -> Option<Needs> {
        Some(Needs::default())
    }
    fn is_last(&self) -> bool {
        true
    }
    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let defs = Defs::of(&shader.original.clone());
        let all = loads(shader, &defs);
        let about = guard::About::of(shader);
        let mut guarded = 0;
        for l in all.iter().filter(|l| l.class != Class::Handle) {
            // (of a vector the first and the third component)
            guarded += usize::from(
                guard::guard(shader, &about, l.word_offset, &BTreeSet::from([0, 2]), 1).is_some(),
            );
        }
        shader.note(guarded.to_string());
        shader.reserve_counters(1).map_err(Error::shader(shader.hash))?;
        Ok(Change::Changed)
    }
    fn decode(&self, _: &FrameData<'_>, _: &mut dyn Sink) -> Result<()> {
        Ok(())
    }
}

#[test]
fn every_module_stays_valid_whatever_is_guarded() {
    let named = |(path, m): (std::path::PathBuf, Vec<u32>)| (path.display().to_string(), m);
    let all = scenes().into_iter().chain(corpus()).map(named).chain(captured());
    let mut guarded = 0;
    for (what, module) in all {
        if invalid(&module, "vulkan1.3").is_some() {
            continue;
        }
        for v in rewritten(&what, &module, "vulkan1.3", &[Box::new(All)], rewrite::Device::default()) {
            guarded += v.notes.iter().filter_map(|n| n.parse::<usize>().ok()).sum::<usize>();
        }
    }
    assert!(guarded > 50, "{guarded}");
}

const MASKED: &str = include_str!("masked.spvasm");

/// What pass `values` says of the loads of `masked.spvasm`: executions and zeros of each word.
fn trace(words: &[u32], counts: &[(u32, [u64; 2])]) -> Memory {
    let hash = ShaderHash::of(words).to_string();
    let mut t = Memory::default();
    t.put(&ENTRIES, &[[4, 7, 0, 3].map(U64).as_slice(), &[&hash[..], "main", "fragment"].map(Text)].concat());
    for (site, (at, [executions, zeros])) in (0..).zip(counts) {
        let texts = ["uniform", "float", "mask", ""].map(Text);
        let row = [4, site, 0, 0, u64::from(*at)].map(U64);
        t.put(&VALUE_SITES, &[&row[..], &texts, &[U64(0)]].concat());
        t.put(&VALUES, &[1, 4, site, *executions, *zeros, 0].map(U64));
    }
    t
}

#[test]
fn what_zero_spares_is_not_computed() {
    let Some(words) = assembled(MASKED, "vulkan1.2") else { return };
    let m = crate::spirv::Module::read(&words).expect("it is a module");
    let load = m.functions[0].insts().filter(|i| i.op() == crate::spirv::Op::Load).nth(1);
    let at = load.and_then(|i| i.at).expect("the second load is the mask's");
    let mut counts = known::Counts::default();
    counts.add(&trace(&words, &[(at, [100, 95])]), &|f| f == 1).expect("it is a trace");
    assert!(counts.mostly_zero(96).is_empty());
    let pass = Pass { known: counts.mostly_zero(90), least: 3, ..Pass::default() };
    let made = rewritten("masked", &words, "vulkan1.2", &[Box::new(pass)], rewrite::Device::default());
    assert_eq!(made.len(), 1);
    let text = function_text(&made[0].words, "main").expect("the tools are there");
    assert_eq!(text, include_str!("masked_guarded.txt"), "{text}");
    assert!(made[0].notes[0].contains("1 of 1 loads"), "{:?}", made[0].notes);
    let dear = Pass { known: counts.mostly_zero(90), least: 30, ..Pass::default() };
    let none = rewritten("masked", &words, "vulkan1.2", &[Box::new(dear)], rewrite::Device::default());
    assert!(none.is_empty());
}

#[test]
fn words_of_a_load_are_told_apart() {
    let words = [1, 2, 3];
    let mut counts = known::Counts::default();
    let t = trace(&words, &[(9, [10, 0]), (9, [10, 10]), (9, [10, 9]), (20, [4, 4])]);
    counts.add(&t, &|_| true).expect("it is a trace");
    let known = counts.mostly_zero(90);
    let entry = learnt::of(&ShaderHash::of(&words), "fragment", "main");
    let loads = known.of(&entry).expect("it ran");
    assert_eq!(loads[&9], BTreeSet::from([1, 2]));
    assert_eq!(loads[&20], BTreeSet::from([0]));
    let none = known::Counts::default();
    assert!(none.is_empty() && Pass::default().needs(Stage::Fragment).is_none());
}

#[test]
fn options() {
    assert!(Pass::new(&crate::passes::options("")).is_ok_and(|p| p.known.is_empty() && p.least == 3));
    assert!(Pass::new(&crate::passes::options("share=50+least=8")).is_ok_and(|p| p.least == 8));
    for wrong in ["share=0", "share=101", "least=x", "depth=3", "/nowhere"] {
        assert!(Pass::new(&crate::passes::options(wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn a_sampled_image_is_made_where_it_is_used() {
    let source = "#version 450
        layout(binding = 0) uniform B { float mask; };
        layout(binding = 1) uniform sampler2D image;
        layout(location = 0) out vec4 o;
        void main() { float m = mask; vec4 t = textureLod(image, vec2(m * 3.0, m + m * m), 0.0); o = t * m + textureLod(image, vec2(0.5), 0.0); }";
    let Some(words) = glsl("frag", source, &["--target-env", "vulkan1.2"]) else { return };
    let made = rewritten("sampled", &words, "vulkan1.2", &[Box::new(All)], rewrite::Device::default());
    assert!(made[0].notes.iter().any(|n| n != "0"), "{:?}", made[0].notes);
}

/// Compilers that do not optimize keep all values in variables; what is expensive is a function.
#[test]
fn variables_and_quiet_functions_are_seen_through() {
    let source = "#version 450
        layout(binding = 0) uniform B { vec4 weights; } b;
        layout(location = 0) in vec2 at;
        layout(location = 0) out vec4 o;
        float cloth(vec2 p) {
            float sum = 0.0;
            for (int n = 0; n < 9; n++) sum += sin(p.x * float(n)) * cos(p.y);
            return sum;
        }
        void main() {
            vec4 w = b.weights;
            vec3 colour = vec3(at, 0.5);
            float effect = cloth(at);
            colour += vec3(effect, effect * 0.5, 0.25) * w.w;
            if (at.x > 2.0) colour.x = 0.0;
            o = vec4(colour, 1.0);
        }";
    let Some(words) = glsl("frag", source, &["--target-env", "vulkan1.2"]) else { return };
    let guarded = |words: &[u32], least| {
        let m = crate::spirv::Module::read(words).expect("it is a module");
        let main = m.function(m.entries()[0].function).expect("it is there");
        let load = m.functions[main].insts().find(|i| i.op() == crate::spirv::Op::Load);
        let at = load.and_then(|i| i.at).expect("the first load is the weights'");
        let mut counts = known::Counts::default();
        let words_of = |zeros: [u64; 4]| zeros.map(|z| (at, [100, z]));
        counts.add(&trace(words, &words_of([0, 0, 10, 97])), &|_| true).expect("it is a trace");
        let pass = Pass { known: counts.mostly_zero(90), least, ..Pass::default() };
        rewritten("cloth", words, "vulkan1.2", &[Box::new(pass)], rewrite::Device::default())
    };
    let made = guarded(&words, 3);
    assert_eq!(made.len(), 1);
    let text = function_text(&made[0].words, "main").expect("the tools are there");
    // The call is in the application's way alone, and the sum behind both.
    let ways: Vec<&str> = text.split("OpLabel").collect();
    assert_eq!(ways.len(), 7, "{text}");
    let calls: Vec<bool> = ways.iter().map(|w| w.contains("OpFunctionCall")).collect();
    assert_eq!(calls, [false, false, false, true, false, false, false], "{text}");
    assert!(ways[4].contains("OpPhi") && ways[4].contains("OpStore %colour"), "{text}");
    // It counts for all that the function does.
    assert_eq!(guarded(&words, 20).len(), 1);
    assert!(guarded(&words, 500).is_empty());
    // A function that writes to memory, or ends invocations, is called as before.
    for effect in ["if (sum > 100.0) discard;", "sum += dFdx(sum);", "last = sum;", "p = p.yx;"] {
        let loud = source
            .replace("return sum;", &format!("{effect} return sum;"))
            .replace("float cloth", "float last;\nfloat cloth");
        let Some(words) = glsl("frag", &loud, &["--target-env", "vulkan1.2"]) else { return };
        for v in guarded(&words, 1) {
            let text = function_text(&v.words, "main").expect("the tools are there");
            let first = text.find("OpFunctionCall").expect("it is called");
            assert!(first < text.find("OpBranchConditional").unwrap_or(first), "{effect}: {text}");
        }
    }
}
