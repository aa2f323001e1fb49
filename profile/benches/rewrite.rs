//! Micro-benchmarks of rewriting: instructions of the original module a second.
//!
//! `cargo bench -p reray-profile`. What is rewritten: the scenes' shaders, those of the sample captures, those of captures in the
//! folder that `RERAY_CAPTURES` names, and made-up ones: a long one of 10,000 basic blocks, and 1,000 different ones.
//! Everything is in memory before the clock starts. `reading` and `facts` are parts of every rewriting; each pass is
//! measured by itself, then all of them at once; one thread, but for the thousand, which are shared out as in a replay.

use divan::Bencher;
use divan::counter::ItemsCount;
use gfxr_parse::container::{BlockKind, Capture, Scratch, read_file};
use gfxr_parse::decode::decode_call;
use gfxr_parse::image::Image;
use gfxr_parse::schema::command;
use gfxr_parse::shaders;
use profile::passes::PASSES;
use profile::rewrite::{Device, Facts, Key, Replays, Sampling, Variants, entries, instrument};
use profile::spirv::Module;
use profile::{Pass, ShaderHash};
use rayon::prelude::*;
use rspirv::binary::{Assemble, Consumer, ParseAction, parse_words};
use rspirv::dr::Builder;
use rspirv::spirv::{
    AddressingModel, Capability, ExecutionMode, ExecutionModel, FunctionControl, LoopControl, MemoryModel,
};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

fn main() {
    divan::main();
}

const DEVICE: Device = Device {
    subgroup_size: 32,
    subgroup_clock: false,
    atomic_64: true,
    keep_calls: false,
    lone_any_hits: false,
    no_actions: false,
    own_clock: false,
    reorder_ext: false,
    sm_builtins: false,
    chosen_only: false,
    sampling: Sampling { every: 1, seed: 0 },
    replays: Replays { asked: 1, now: 0 },
};

/// Modules that are rewritten as one piece of work, with the entry point that is.
struct Corpus {
    modules: Vec<Vec<u32>>,
    entries: Vec<(ExecutionModel, String)>,
    instructions: usize,
}

impl Corpus {
    fn new(modules: Vec<Vec<u32>>) -> Self {
        let count = |m: &Vec<u32>| Module::read(m).expect("it is a module").len();
        let entry = |m: &Vec<u32>| {
            let first = entries(m).swap_remove(0);
            (first.0, first.1)
        };
        let (instructions, entries) = (modules.iter().map(count).sum(), modules.iter().map(entry).collect());
        Corpus { modules, entries, instructions }
    }
}

static REAL: LazyLock<Corpus> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("../captures/samples"), root.join("../captures/src/scenes")];
    folders.extend(std::env::var_os("RERAY_CAPTURES").map(PathBuf::from));
    let (mut seen, mut all) = (HashSet::new(), vec![]);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).expect("a folder").map(|f| f.expect("a file").path()) {
            match path.extension().and_then(|e| e.to_str()) {
                None if path.is_dir() => folders.push(path),
                Some("spv") => all.push(words(&std::fs::read(&path).expect("a file"))),
                Some("gfxr") => captured(&path, &mut all),
                _ => {}
            }
        }
    }
    all.retain(|m| seen.insert(ShaderHash::of(m)));
    all.sort();
    Corpus::new(all)
});

static LONG: LazyLock<Corpus> = LazyLock::new(|| Corpus::new(vec![made(2_500, 1)]));
static THOUSAND: LazyLock<Corpus> = LazyLock::new(|| Corpus::new((0..1_000).map(|n| made(40, n)).collect()));

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().expect("4 bytes"))).collect()
}

fn captured(path: &Path, all: &mut Vec<Vec<u32>>) {
    let capture = Capture::open(path, read_file).expect("a capture");
    let (mut scratch, mut image) = (Scratch::new(), Image::default());
    for block in capture.blocks() {
        let Ok(BlockKind::Call(call)) = block.kind() else { continue };
        let Some(def) = command(call.call_id).filter(|c| shaders::concerns(c.name)) else { continue };
        let params = call.payload.bytes(&mut scratch).expect("it is whole");
        decode_call(def, params, &mut image).expect("it is a call");
        all.extend(shaders::shaders(&image).iter().map(|s| words(s.code)));
    }
}

/// A compute shader of so many pieces, each four blocks: a loop whose header chooses, a body of sixteen instructions.
fn made(pieces: u32, seed: u32) -> Vec<u32> {
    let mut b = Builder::new();
    b.set_version(1, 5);
    b.capability(Capability::Shader);
    b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
    let (void, uint, truth) = (b.type_void(), b.type_int(32, 0), b.type_bool());
    let ty = b.type_function(void, []);
    let (zero, limit) = (b.constant_bit32(uint, 0), b.constant_bit32(uint, seed + 3));
    let main = b.begin_function(void, None, FunctionControl::NONE, ty).expect("it is well formed");
    let mut label = b.id();
    b.begin_block(Some(label)).expect("it is well formed");
    for _ in 0..pieces {
        let (header, body, next, merge) = (b.id(), b.id(), b.id(), b.id());
        let (phi, changed) = (b.id(), b.id());
        b.branch(header).expect("it is well formed");
        b.begin_block(Some(header)).expect("it is well formed");
        b.phi(uint, Some(phi), [(zero, label), (changed, next)]).expect("it is well formed");
        let less = b.u_less_than(truth, None, phi, limit).expect("it is well formed");
        b.loop_merge(merge, next, LoopControl::NONE, []).expect("it is well formed");
        b.branch_conditional(less, body, merge, []).expect("it is well formed");
        b.begin_block(Some(body)).expect("it is well formed");
        let mut sum = phi;
        for _ in 0..16 {
            sum = b.i_add(uint, None, sum, limit).expect("it is well formed");
        }
        b.branch(next).expect("it is well formed");
        b.begin_block(Some(next)).expect("it is well formed");
        b.i_mul(uint, Some(changed), sum, limit).expect("it is well formed");
        b.branch(header).expect("it is well formed");
        b.begin_block(Some(merge)).expect("it is well formed");
        label = merge;
    }
    b.ret().expect("it is well formed");
    b.end_function().expect("it is well formed");
    b.entry_point(ExecutionModel::GLCompute, main, "main", []);
    b.execution_mode(main, ExecutionMode::LocalSize, [64, 1, 1]);
    b.module().assemble()
}

/// Parsing alone, as rspirv does it: what no rewriting can be faster than.
struct Nothing;

impl Consumer for Nothing {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }
    fn finalize(&mut self) -> ParseAction {
        ParseAction::Continue
    }
    fn consume_header(&mut self, _: rspirv::dr::ModuleHeader) -> ParseAction {
        ParseAction::Continue
    }
    fn consume_instruction(&mut self, _: rspirv::dr::Instruction) -> ParseAction {
        ParseAction::Continue
    }
}

#[divan::bench]
fn parsing(bencher: Bencher) {
    let c = &*REAL;
    bencher.counter(ItemsCount::new(c.instructions)).bench(|| {
        c.modules.iter().for_each(|m| parse_words(m, &mut Nothing).expect("it is a module"));
    });
}

#[divan::bench]
fn reading(bencher: Bencher) {
    let c = &*REAL;
    let read = || c.modules.iter().map(|m| Module::read(m).expect("it is a module").len()).sum::<usize>();
    bencher.counter(ItemsCount::new(c.instructions)).bench(read);
}

#[divan::bench]
fn facts(bencher: Bencher) {
    let c = &*REAL;
    let all: Vec<Module> = c.modules.iter().map(|m| Module::read(m).expect("it is a module")).collect();
    let of = |m: &Module| Facts::new(m, m.entries()[0].function).expect("it is well formed").functions.len();
    bencher.counter(ItemsCount::new(c.instructions)).bench(|| all.iter().map(of).sum::<usize>());
}

fn names() -> impl Iterator<Item = &'static str> {
    PASSES.iter().map(|p| p.name).chain(["all"])
}

fn passes(name: &str) -> Vec<Box<dyn Pass>> {
    let some = PASSES.iter().filter(|p| name == "all" || p.name == name);
    some.map(|p| (p.make)(&[]).expect("no options")).collect()
}

/// The first entry point of every module. One of the scenes' has push constants that leave the replay no room: pass
/// `counters` refuses it.
fn rewrite(c: &Corpus, passes: &[Box<dyn Pass>]) -> usize {
    let mut words = 0;
    for (m, (model, name)) in c.modules.iter().zip(&c.entries) {
        let v = instrument(m, ShaderHash([0; 32]), *model, name, passes, DEVICE);
        words += match v {
            Ok(v) => v.map_or(0, |v| v.words.len()),
            Err(e) if e.to_string().contains("its push constants reach to byte") => 0,
            Err(e) => panic!("{e}"),
        };
    }
    words
}

#[divan::bench(args = names())]
fn real(bencher: Bencher, name: &str) {
    let (c, passes) = (&*REAL, passes(name));
    bencher.counter(ItemsCount::new(c.instructions)).bench(|| rewrite(c, &passes));
}

#[divan::bench(args = names())]
fn long(bencher: Bencher, name: &str) {
    let (c, passes) = (&*LONG, passes(name));
    bencher.counter(ItemsCount::new(c.instructions)).bench(|| rewrite(c, &passes));
}

/// A thousand different shaders through all passes, shared out to all cores; nothing is kept on disk.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn thousand(bencher: Bencher) {
    let c = &*THOUSAND;
    bencher.counter(ItemsCount::new(c.instructions)).bench(|| {
        let variants = Variants::new(passes("all"), None);
        let one = |(m, (model, name)): (&Vec<u32>, &(ExecutionModel, String))| {
            let key = Key {
                shader: ShaderHash::of(m),
                model: *model,
                name: name.clone(),
                actions: true,
                replay: 0,
            };
            variants.get(&key, m).expect("it goes well").map_or(0, |v| v.words.len())
        };
        c.modules.par_iter().zip(&c.entries).map(one).sum::<usize>()
    });
}
