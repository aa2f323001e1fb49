//! Every pass over every kind of module: what comes out is valid, the same each time, and the same from the disk.

use super::{Device, Key, LeftOut, Replays, Variant, Variants, instrument};
use crate::spirv::{Function, Inst, Module, Op, Operand};
use crate::testing::{assembled, captured, every_pass, glsl, rewritten, rewritten_by_all, scenes, tempfile};
use crate::{Pass, ShaderHash};
use rayon::prelude::*;
use rspirv::spirv::{BuiltIn, Decoration, FunctionControl, MemoryAccess};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[test]
fn every_pass_leaves_the_scenes_shaders_valid() {
    for (path, module) in scenes() {
        rewritten_by_all(&path.display().to_string(), &module, "vulkan1.3");
    }
}

/// The scene's module whose push constants are all there are.
fn full() -> (rspirv::spirv::ExecutionModel, String, Vec<u32>) {
    let full = |s: &(PathBuf, Vec<u32>)| s.0.ends_with("pushed.frag.spv");
    let (_, module) = scenes().into_iter().find(full).expect("it is among the scenes");
    let (model, name, _) = super::entries(&module).swap_remove(0);
    (model, name, module)
}

#[test]
fn a_shader_that_cannot_be_told_its_action_counts_by_frame() {
    let (model, name, module) = full();
    let make = |passes: &[Box<dyn Pass>], device| {
        instrument(&module, ShaderHash::of(&module), model, &name, passes, device)
            .expect("it goes well")
            .expect("something is measured")
    };
    let made = make(&every_pass(), Device::default());
    let why = made.not_by_action.clone().expect("its push constants are full");
    assert!(why.contains("its push constants reach to byte 256"), "{why}");
    assert!(made.left_out.is_empty() && made.action_counters == 0 && made.action_offset.is_none());
    assert!(made.regions.iter().any(|r| r.pass == "counters" && r.counters > 0));
    // Where the layout says so beforehand it is not tried.
    let told = make(&every_pass(), Device { no_actions: true, ..Device::default() });
    assert_eq!(Variant { not_by_action: None, ..made }, told);
    // Passes that count by frame anyway are not concerned.
    let others =
        every_pass().into_iter().filter(|p| !p.needs(crate::Stage::Fragment).is_some_and(|n| n.actions));
    let others: Vec<_> = others.collect();
    assert!(others.len() > 5 && make(&others, Device::default()).not_by_action.is_none());
}

/// Does nothing but fail.
struct Failing;

impl Pass for Failing {
    fn name(&self) -> &'static str {
        "failing"
    }

    fn needs(&self, _: crate::Stage) -> Option<crate::Needs> {
        Some(crate::Needs::default())
    }

    fn run(&self, shader: &mut super::Shader) -> crate::pass::Result<crate::pass::Change> {
        // What it has done until then is to be gone.
        shader.reserve_counters(3).expect("there are as many");
        Err(crate::pass::Error::Shader { shader: shader.hash, why: "it always fails".into() })
    }

    fn decode(&self, _: &crate::FrameData<'_>, _: &mut dyn crate::pass::Sink) -> crate::pass::Result<()> {
        Ok(())
    }
}

#[test]
fn a_pass_that_cannot_do_its_work_is_left_out_and_the_others_do_theirs() {
    let (model, name, module) = full();
    let make = |passes: &[Box<dyn Pass>]| {
        instrument(&module, ShaderHash::of(&module), model, &name, passes, Device::default())
    };
    let others = make(&every_pass()).expect("it goes well").expect("something is measured");
    assert!(others.left_out.is_empty() && others.regions.len() >= 6);
    let mut with = every_pass();
    with.insert(1, Box::new(Failing));
    let all = make(&with).expect("the others go well").expect("something is measured");
    let [LeftOut { pass, why }] = &all.left_out[..] else { panic!("{:?}", all.left_out) };
    assert!(pass == "failing" && why.contains("it always fails"), "{pass}: {why}");
    assert_eq!(Variant { left_out: vec![], ..all }, others);
    let alone = make(&[Box::new(Failing)]).expect_err("nobody else is there");
    assert!(alone.to_string().contains("it always fails"), "{alone}");
}

/// Calls of functions that probe modules brought, in the application's own functions.
fn probe_calls(v: &Variant) -> usize {
    let m = Module::read(&v.words).expect("it is a module");
    let own: BTreeSet<u32> = v.facts.functions.iter().map(|f| f.id).collect();
    let of_own = m.functions.iter().filter(|f| own.contains(&f.id()));
    let calls = of_own.flat_map(|f| f.insts()).filter(|i| i.op() == Op::FunctionCall);
    calls.filter(|i| i.id_at(0).is_some_and(|f| !own.contains(&f))).count()
}

/// Every place counts in exactly one of the replays that they are spread over, and means the same in each.
#[test]
fn places_are_spread_over_replays() {
    // (nothing held in registers, and nothing put before ways out: a call a place)
    let mut spread = 0;
    for name in ["simt:placement=direct", "blocks:placement=direct+flush=direct"] {
        let pass = || vec![crate::passes::by_name(name).expect("it is a pass")];
        assert!(pass()[0].spreads().is_some());
        for (path, module) in scenes() {
            let what = format!("{name}, {}", path.display());
            let of = |now| {
                let device = Device { replays: Replays { asked: 3, now }, ..Device::default() };
                rewritten(&what, &module, "vulkan1.3", &pass(), device)
            };
            let one = rewritten(&what, &module, "vulkan1.3", &pass(), Device::default());
            let three = [of(0), of(1), of(2)];
            for (n, whole) in one.iter().enumerate() {
                let parts = three.each_ref().map(|all| &all[n]);
                let places = probe_calls(whole);
                assert_eq!(parts.iter().map(|p| probe_calls(p)).sum::<usize>(), places, "{what}");
                for p in parts {
                    let same = (p.counters, p.probes, &p.regions);
                    assert_eq!(same, (whole.counters, whole.probes, &whole.regions), "{what}");
                    assert!(p.replays as usize <= 3.min(places.max(1)), "{what}");
                }
                assert_eq!(whole.replays, 1);
                spread += usize::from(parts.iter().all(|p| probe_calls(p) > 0));
            }
        }
    }
    assert!(spread > 20, "{spread}");
}

#[test]
fn probe_functions_are_marked_where_calls_are_to_stay() {
    let all = scenes();
    let (_, module) =
        all.iter().find(|(path, _)| path.ends_with("cube.vert.spv")).expect("scene cubes has one");
    for keep_calls in [false, true] {
        let device = Device { keep_calls, ..Device::default() };
        for v in rewritten("a scene's", module, "vulkan1.3", &every_pass(), device) {
            let m = Module::read(&v.words).expect("it is a module");
            let own: Vec<u32> = v.facts.functions.iter().map(|f| f.id).collect();
            let marked = |f: &Function| {
                f.def.inst.operands[0] == Operand::FunctionControl(FunctionControl::DONT_INLINE)
            };
            // Those of probe modules have their names there.
            let named = |f: &&Function| m.names.iter().any(|n| n.id_at(0) == Some(f.id()));
            let brought = m.functions.iter().filter(|f| !own.contains(&f.id())).filter(named);
            let brought: Vec<_> = brought.collect();
            assert!(!brought.is_empty());
            assert!(brought.iter().all(|f| marked(f) == keep_calls));
        }
    }
}

#[test]
fn where_some_actions_count_all_memory_is_reached_through_variables() {
    let device = Device { chosen_only: true, atomic_64: true, ..Device::default() };
    let mut seen = 0;
    for (path, module) in scenes() {
        // Its push constants leave no room: nobody could say what counts.
        if path.ends_with("stages/pushed.frag.spv") {
            let (model, name, _) = super::entries(&module).swap_remove(0);
            let made = instrument(&module, ShaderHash::of(&module), model, &name, &every_pass(), device);
            let why = made.expect_err("it is refused").to_string();
            assert!(why.contains("its push constants reach to byte 256"), "{why}");
            continue;
        }
        for v in rewritten(&path.display().to_string(), &module, "vulkan1.3", &every_pass(), device) {
            assert!(v.action_offset.is_some(), "{}", path.display());
            let m = Module::read(&v.words).expect("it is a module");
            let ids = [v.constants.region, v.constants.log].concat();
            let named = |i: &Inst| {
                let spec = i.inst.operands.get(1) == Some(&Operand::Decoration(Decoration::SpecId));
                let of = |n: &u32| i.inst.operands.get(2) == Some(&Operand::LiteralBit32(*n));
                (spec && ids.iter().any(of)).then(|| i.id_at(0).unwrap_or(0))
            };
            let mut constants: Vec<u32> = m.annotations.iter().filter_map(named).collect();
            assert_eq!(constants.len(), 4);
            let made = m.globals.iter().filter(|g| g.ids().any(|id| constants.contains(&id)));
            constants.extend(made.filter_map(Inst::id).collect::<Vec<_>>());
            let users = m
                .functions
                .iter()
                .filter(|f| f.insts().flat_map(Inst::ids).any(|id| constants.contains(&id)));
            assert_eq!(users.count(), 1, "{}: the function that chooses alone knows", path.display());
            seen += 1;
        }
    }
    assert!(seen > 15, "{seen}");
}

#[test]
fn every_pass_leaves_captured_shaders_valid() {
    captured().par_iter().for_each(|(name, module)| rewritten_by_all(name, module, "vulkan1.3"));
}

/// The sources of the corpus.
fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rewrite/corpus");
    let files = std::fs::read_dir(folder).expect("it is here");
    let mut files: Vec<PathBuf> = files.map(|f| f.expect("a file").path()).collect();
    files.sort();
    files
}

/// A source of the corpus, compiled.
fn one(name: &str, args: &[&str]) -> Option<Vec<u32>> {
    let path = corpus().into_iter().find(|p| p.ends_with(name)).expect("it is in the corpus");
    let source = std::fs::read_to_string(path).expect("a file");
    match name.split_once('.').expect("it is a stage").1 {
        "spvasm" => assembled(&source, "vulkan1.3"),
        stage => glsl(stage, &source, args),
    }
}

/// How a source of the corpus is compiled: for three versions of Vulkan, with the two kinds of debug information, where
/// glslang compiles it for the version and to what spirv-val takes.
fn builds(source: &str) -> [[&'static str; 3]; 3] {
    let newer = ["subgroup", "ray", "mesh_shader", "vulkan_memory_model", "helperInvocationEXT"];
    let old = if newer.iter().any(|n| source.contains(n)) { "vulkan1.2" } else { "vulkan1.0" };
    // The other kind would have a forward pointer to the type 0.
    let debug = if source.contains("buffer_reference") { "-g" } else { "-gVS" };
    [["--target-env", old, "-g0"], ["--target-env", "vulkan1.2", "-g"], ["--target-env", "vulkan1.3", debug]]
}

#[test]
fn every_pass_leaves_the_corpus_valid() {
    let files = corpus();
    let (mut stages, mut modules) = (BTreeSet::new(), 0);
    let work = |path: &PathBuf| {
        let source = std::fs::read_to_string(path).expect("a file");
        let name = path.file_name().and_then(|n| n.to_str()).expect("it has one").to_owned();
        let stage = name.split('.').nth(1).expect("it is a stage");
        let mut done = vec![];
        if stage == "spvasm" {
            let Some(module) = assembled(&source, "vulkan1.3") else { return done };
            rewritten_by_all(&name, &module, "vulkan1.3");
            done.push(module);
            return done;
        }
        for args in builds(&source) {
            let Some(module) = glsl(stage, &source, &args) else { return done };
            rewritten_by_all(&format!("{name} {args:?}"), &module, "vulkan1.3");
            done.push(module);
        }
        done
    };
    let all: Vec<_> = files.par_iter().flat_map(work).collect();
    for module in &all {
        stages.extend(super::entries(module).into_iter().map(|e| e.2));
        modules += 1;
    }
    if modules > 0 {
        assert_eq!(stages.len(), 14, "{stages:?}");
        assert!(modules > 100, "{modules}");
    }
}

#[test]
fn a_compute_shader_of_every_version() {
    let source = "#version 460
        layout(local_size_x = 8) in;
        layout(set = 0, binding = 0) buffer B { uint at[]; };
        void main() {
            uint i = gl_GlobalInvocationID.x;
            for (uint n = 0; n < at[i]; n++)
                at[i] += n;
        }";
    for n in 0..=6 {
        let target = format!("spirv1.{n}");
        let Some(module) = glsl("comp", source, &["--target-env", &target]) else { return };
        assert_eq!(module[1], 1 << 16 | n << 8);
        rewritten_by_all(&target, &module, "vulkan1.3");
    }
}

/// Input variables of a built-in, and whether they are decorated Volatile.
fn inputs(m: &Module, built_in: BuiltIn) -> Vec<(u32, bool)> {
    let decorated = |id: u32, with: &[Operand]| {
        m.annotations
            .iter()
            .any(|a| a.op() == Op::Decorate && a.id_at(0) == Some(id) && a.inst.operands[1..] == *with)
    };
    let is = [Operand::Decoration(Decoration::BuiltIn), Operand::BuiltIn(built_in)];
    let variables = m.globals.iter().filter(|i| i.op() == Op::Variable).filter_map(|i| i.id());
    let of = variables.filter(|&v| decorated(v, &is));
    of.map(|v| (v, decorated(v, &[Operand::Decoration(Decoration::Volatile)]))).collect()
}

#[test]
fn what_changes_under_a_ray_tracing_shader_is_read_each_time() {
    let lane = BuiltIn::SubgroupLocalInvocationId;
    for (name, decorated, loaded) in [
        ("nested.rgen", true, false),
        ("again.rchit", true, false),
        ("ignore.rahit", false, false),
        ("shared.comp", false, false),
        ("model.rgen", false, true),
        ("model_signed.spvasm", false, true),
    ] {
        let Some(module) = one(name, &["--target-env", "vulkan1.2"]) else { return };
        let v = rewritten(name, &module, "vulkan1.3", &every_pass(), Device::default()).swap_remove(0);
        let m = Module::read(&v.words).expect("it is a module");
        let all = inputs(&m, lane);
        assert_eq!(all.len(), 1, "{name}: one variable a built-in");
        let (variable, volatile) = all[0];
        assert_eq!(volatile, decorated, "{name}");
        let loads = m.functions.iter().flat_map(Function::insts);
        let loads: Vec<_> = loads.filter(|i| i.op() == Op::Load && i.id_at(0) == Some(variable)).collect();
        assert!(!loads.is_empty(), "{name}");
        let says = Some(&Operand::MemoryAccess(MemoryAccess::VOLATILE));
        assert!(loads.iter().all(|i| (i.inst.operands.get(1) == says) == loaded), "{name}");
    }
}

#[test]
fn each_entry_point_uses_its_own_variables() {
    let Some(module) = one("signed_stages.spvasm", &[]) else { return };
    for v in rewritten("it", &module, "vulkan1.3", &every_pass(), Device::default()) {
        let m = Module::read(&v.words).expect("it is a module");
        let interface = &m.entry_points[0].inst.operands[3..];
        for built_in in [BuiltIn::VertexIndex, BuiltIn::LocalInvocationIndex, BuiltIn::FragCoord] {
            let all = inputs(&m, built_in).into_iter().filter(|i| interface.contains(&Operand::IdRef(i.0)));
            assert!(all.count() <= 1, "{}: {built_in:?}", v.name);
        }
    }
}

#[test]
fn specialization_ids_of_the_application_are_left_to_it() {
    let Some(module) = one("special.comp", &["--target-env", "vulkan1.2"]) else { return };
    let v = rewritten("it", &module, "vulkan1.3", &every_pass(), Device::default()).swap_remove(0);
    let c = v.constants;
    assert_eq!([c.region[0], c.region[1], c.log[0], c.log[1], c.probe_base], [2010, 2011, 2012, 2013, 2014]);
    let m = Module::read(&v.words).expect("it is a module");
    let all = m.annotations.iter().filter_map(|a| match a.inst.operands[..] {
        [_, Operand::Decoration(Decoration::SpecId), Operand::LiteralBit32(n)] => Some(n),
        _ => None,
    });
    let ids: Vec<u32> = all.collect();
    // The application's 0 is there twice: the size along x, and a number.
    let ours = ids.iter().filter(|&&n| n >= 2010);
    let different: BTreeSet<&u32> = ours.clone().collect();
    assert_eq!(ours.count(), different.len(), "each once: {ids:?}");
    assert!([0, 2, 2000, 2002, 2004, 2010].iter().all(|n| ids.contains(n)), "{ids:?}");
}

#[test]
fn variants_come_back_from_the_disk_and_are_made_again_where_a_file_is_damaged() {
    let (_, module) = scenes().swap_remove(0);
    let (model, name, _) = super::entries(&module).swap_remove(0);
    let key = Key { shader: ShaderHash::of(&module), model, name, actions: true, replay: 0 };
    let folder = tempfile();
    let get = |words: &[u32]| {
        let v = Variants::new(every_pass(), Some(folder.0.clone()));
        v.get(&key, words)
    };
    let made = get(&module).expect("it goes well").expect("something is measured");
    let files = || -> Vec<PathBuf> {
        std::fs::read_dir(&folder.0).expect("it is there").map(|f| f.expect("a file").path()).collect()
    };
    let [file] = &files()[..] else { panic!("{:?}", files()) };
    let good = std::fs::read(file).expect("a file");
    // Without the module nothing could be made: it was read.
    assert_eq!(get(&[]).expect("it is kept").as_deref(), Some(&*made));
    for n in 0..40 {
        let mut bad = good.clone();
        match n {
            0 => bad.clear(),
            1 => bad.truncate(good.len() / 2),
            _ => {
                let at = (n * 7919) % bad.len();
                bad[at] ^= 1 << (n % 8);
            }
        }
        std::fs::write(file, &bad).expect("it can be written");
        assert!(get(&[]).is_err(), "{n}: a damaged file was taken for a variant");
        std::fs::write(file, &bad).expect("it can be written");
        assert_eq!(get(&module).expect("it goes well").as_deref(), Some(&*made), "{n}");
        assert_eq!(std::fs::read(file).expect("a file"), good, "{n}: it is whole again");
    }
    assert_eq!(files().len(), 1, "nothing else is left there");
}
