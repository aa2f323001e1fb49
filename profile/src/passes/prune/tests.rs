//! Tests.

use super::*;
use crate::testing::{assembled, captured, corpus, function_text, glsl, invalid, rewritten, scenes};
use crate::{Pass as _, ShaderHash, rewrite};
use std::sync::Arc;
use trace::Memory;
use trace::Value::{Text, U64};
use trace::tables::{BLOCK_COUNTS, BLOCK_RUNS, BLOCKS, ENTRIES, FUNCTIONS};

/// Cuts by a rule and not by counts.
struct By<F>(Arc<F>);

impl<F: Fn(u32, u32) -> bool + Send + Sync> crate::Pass for By<F> {
    fn name(&self) -> &'static str {
        "prune"
    }
    fn needs(&self, _: Stage) -> Option<Needs> {
        Some(Needs::default())
    }
    fn is_last(&self) -> bool {
        true
    }
    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let gone = cut::cut(shader, &|f, b| self.0(f, b)).map_err(Error::shader(shader.hash))?;
        shader.reserve_counters(1).map_err(Error::shader(shader.hash))?;
        shader.note(format!("{}", gone.blocks));
        Ok(Change::Changed)
    }
    fn decode(&self, _: &FrameData<'_>, _: &mut dyn Sink) -> Result<()> {
        Ok(())
    }
}

/// Of every module each way of a walk that is really possible is kept, and nothing else: several walks of each.
#[test]
fn every_module_stays_valid_whatever_was_executed() {
    let named = |(path, m): (std::path::PathBuf, Vec<u32>)| (path.display().to_string(), m);
    let all = scenes().into_iter().chain(corpus()).map(named).chain(captured());
    let mut cut = 0;
    for (what, module) in all {
        if invalid(&module, "vulkan1.3").is_some() {
            continue;
        }
        for seed in 0..3u32 {
            let walked = Arc::new(walks(&module, seed));
            let pass = By(Arc::new(move |f, b| walked.contains(&(f, b))));
            for v in rewritten(&what, &module, "vulkan1.3", &[Box::new(pass)], rewrite::Device::default()) {
                cut += v.notes.iter().filter(|n| *n != "0").count();
            }
        }
    }
    assert!(cut > 40, "{cut}");
}

/// Blocks of a random way through each function: at each choice one of the ways, until it ends or has gone far.
fn walks(module: &[u32], seed: u32) -> std::collections::HashSet<(u32, u32)> {
    let m = crate::spirv::Module::read(module).expect("it is a module");
    let mut random = seed.wrapping_mul(0x9e37_79b9) ^ 0x1234_5678;
    let mut seen = std::collections::HashSet::new();
    for f in m.functions.iter().filter(|f| !f.blocks.is_empty()) {
        let (mut at, mut left) = (0, 40 + 100 * seed);
        loop {
            let block = &f.blocks[at];
            seen.insert((f.id(), block.label));
            let labels: Vec<usize> =
                block.end().ids().filter_map(|id| f.blocks.iter().position(|b| b.label == id)).collect();
            if labels.is_empty() || left == 0 {
                break;
            }
            left -= 1;
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            at = labels[(random >> 16) as usize % labels.len()];
        }
    }
    seen
}

const CHOICES: &str = include_str!("choices.spvasm");

/// The trace of a run of `choices.spvasm`, whose labels are given.
fn trace(words: &[u32], ran: &[u32], sample: u64) -> Memory {
    let hash = crate::ShaderHash::of(words).to_string();
    let m = crate::spirv::Module::read(words).expect("it is a module");
    let mut t = Memory::default();
    let texts = ["blocks", "invocations", "atomic", "direct", "exit"].map(Text);
    let [pass, unit, add, placement, flush] = texts;
    t.put(&BLOCK_RUNS, &[pass, U64(1), unit, add, U64(sample), placement, flush, U64(1)]);
    let words = [&hash[..], "main", "compute"].map(Text);
    t.put(&ENTRIES, &[[0, 7, 0, 3].map(U64).as_slice(), &words].concat());
    let f = &m.functions[0];
    t.put(&FUNCTIONS, &[U64(3), U64(0), U64(f.id().into()), Text("main")]);
    for (n, b) in f.blocks.iter().enumerate() {
        let row = [3, 0, n as u64, b.label.into(), 0, 1, 0, 1].map(U64);
        t.put(&BLOCKS, &[row.as_slice(), &[Text(""), U64(0)]].concat());
        let executions = u64::from(ran.contains(&b.label));
        t.put(&BLOCK_COUNTS, &[Text("blocks"), U64(1), U64(0), U64(0), U64(n as u64), U64(executions)]);
    }
    t
}

#[test]
fn choices_are_made_and_cases_go() {
    let Some(words) = assembled(CHOICES, "vulkan1.2") else { return };
    let m = crate::spirv::Module::read(&words).expect("it is a module");
    let labels: Vec<u32> = m.functions[0].blocks.iter().map(|b| b.label).collect();
    // entry, yes, merge, the second case, the switch's merge; not: no, the first case, the default.
    let ran: Vec<u32> = [0, 1, 3, 5, 7].map(|n| labels[n]).to_vec();
    let mut known = Known::default();
    known.add(&trace(&words, &ran, 1), &|f| f == 1).expect("it is a trace");
    let pass = Pass { known: known.clone(), ..Pass::default() };
    let made = rewritten("choices", &words, "vulkan1.2", &[Box::new(pass)], rewrite::Device::default());
    assert_eq!(made.len(), 1);
    let text = function_text(&made[0].words, "main").expect("the tools are there");
    let golden = include_str!("choices_pruned.txt");
    assert_eq!(text, golden, "{text}");
    assert!(made[0].notes[0].ends_with("3 of 8 blocks were never executed"), "{:?}", made[0].notes);
    // Other frames have no counts; a sample is refused.
    let mut none = Known::default();
    none.add(&trace(&words, &ran, 1), &|f| f == 2).expect("it is a trace");
    assert!(none.is_empty() && Pass { known: none, ..Pass::default() }.needs(Stage::Compute).is_none());
    let why = Known::default().add(&trace(&words, &ran, 8), &|_| true).expect_err("a sample");
    assert!(why.contains("one in 8"), "{why}");
    assert_ne!(Pass { known, ..Pass::default() }.key(), Pass::default().key());
}

/// What is said of a fragment shader whose blocks, but for those with such an addition, all ran.
fn notes(source: &str, ignore_helpers: bool) -> Vec<String> {
    let Some(words) = glsl("frag", source, &["--target-env", "vulkan1.2"]) else { return vec![] };
    let m = crate::spirv::Module::read(&words).expect("it is a module");
    let all = m.functions.iter().flat_map(|f| f.blocks.iter().map(move |b| (f.id(), b)));
    let rare = |b: &crate::spirv::Block| b.body.iter().any(|i| i.op() == crate::spirv::Op::FAdd);
    let run = all.filter(|(_, b)| !rare(b)).map(|(f, b)| (f, b.label)).collect();
    let entry = crate::passes::learnt::of(&ShaderHash::of(&words), "fragment", "main");
    let pass = Pass { known: Known::with(entry, run), ignore_helpers, precise: vec![] };
    let made = rewritten("quads", &words, "vulkan1.2", &[Box::new(pass)], rewrite::Device::default());
    made.into_iter().flat_map(|v| v.notes).collect()
}

/// Of helper invocations nobody knows where they went: what they may have brought to a derivative stays.
#[test]
fn what_a_derivative_may_see_stays() {
    let body = "#version 450
        layout(location = 0) in float x;
        layout(location = 0) out vec4 o;
        float twice(float v) { if (x > 9.0) v = v + 1.0; return v * 2.0; }
        void main() {
            float v = x;
            if (x > 8.0) v = v + 2.0;
            v = twice(v);
            o = vec4(LOOKED);
            if (x > 7.0) o.y = x + 3.0;
        }";
    let before = "2 blocks that were never executed stay";
    let looks = notes(&body.replace("LOOKED", "dFdx(v)"), false);
    assert!(looks.len() == 2 && looks[0].contains(before), "{looks:?}");
    assert!(looks[1].contains(": 1 of 8 blocks"), "{looks:?}");
    // In a function that is called, and where nobody looks.
    let called = body
        .replace("LOOKED", "looked(v)")
        .replace("float twice", "float looked(float v) { return fwidth(v); }\nfloat twice");
    assert_eq!(notes(&called, false).len(), 2);
    for (source, ignore) in [(body.replace("LOOKED", "v"), false), (body.replace("LOOKED", "dFdx(v)"), true)]
    {
        let all = notes(&source, ignore);
        assert!(all.len() == 1 && all[0].contains(": 3 of 8 blocks"), "{all:?}");
    }
}

#[test]
fn options() {
    assert!(Pass::new(&crate::passes::options("")).is_ok_and(|p| p.known.is_empty()));
    assert!(
        Pass::new(&crate::passes::options("/nowhere")).is_err()
            && Pass::new(&crate::passes::options("depth=3")).is_err()
            && Pass::new(&crate::passes::options("frames=9-2")).is_err()
    );
    assert!(
        Pass::new(&crate::passes::options("helpers=ignore+precise=yes"))
            .is_ok_and(|p| p.ignore_helpers && p.precise == [""])
    );
    assert!(
        Pass::new(&crate::passes::options("helpers=no")).is_err()
            && Pass::new(&crate::passes::options("precise=maybe")).is_err()
    );
}
