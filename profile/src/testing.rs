//! What tests of passes and of rewriting share: modules to rewrite, the tools that make and check them, and the check that
//! every rewritten module has to pass.
//!
//! Tools that are not installed skip a test, and fail it where `RERAY_REQUIRE_DEVICE` is set.

use crate::ShaderHash;
use crate::pass::Pass;
use crate::passes::PASSES;
use crate::rewrite::{Device, Variant, entries, instrument};
use gfxr_parse::container::{BlockKind, Capture, Scratch, read_file};
use gfxr_parse::decode::decode_call;
use gfxr_parse::image::Image;
use gfxr_parse::schema::command;
use gfxr_parse::shaders;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The words of a module's bytes.
pub fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().expect("4 bytes"))).collect()
}

/// The bytes of a module's words.
pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Every module of the scenes, by file name.
pub fn scenes() -> Vec<(PathBuf, Vec<u32>)> {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/src/scenes");
    let mut all = vec![];
    let mut folders = vec![scenes];
    while let Some(folder) = folders.pop() {
        for file in std::fs::read_dir(&folder).expect("the scenes are beside this crate") {
            let path = file.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|x| x == "spv") {
                all.push((path.clone(), words(&std::fs::read(&path).expect("a file"))));
            }
        }
    }
    all.sort();
    assert!(all.len() > 15, "only {} modules", all.len());
    all
}

/// Every module of the sample captures and of those in the folder that `RERAY_CAPTURES` names, each once, with the name
/// of the first capture that has it.
pub fn captured() -> Vec<(String, Vec<u32>)> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/samples");
    let mut folders = vec![samples];
    folders.extend(std::env::var_os("RERAY_CAPTURES").map(PathBuf::from));
    let files = folders.iter().flat_map(|f| std::fs::read_dir(f).expect("a folder"));
    let mut files: Vec<PathBuf> = files.map(|f| f.expect("a file").path()).collect();
    files.retain(|p| p.extension().is_some_and(|x| x == "gfxr"));
    files.sort();
    let mut all: Vec<(String, Vec<u32>)> = vec![];
    for file in files {
        let name = file.file_name().and_then(|n| n.to_str()).expect("it has one").to_owned();
        let capture = Capture::open(&file, read_file).expect("a capture");
        let (mut scratch, mut image) = (Scratch::new(), Image::default());
        for block in capture.blocks() {
            let Ok(BlockKind::Call(call)) = block.kind() else { continue };
            let Some(def) = command(call.call_id).filter(|c| shaders::concerns(c.name)) else { continue };
            let params = call.payload.bytes(&mut scratch).expect("it is whole");
            decode_call(def, params, &mut image).expect("it is a call");
            for s in shaders::shaders(&image) {
                let module = words(s.code);
                if all.iter().all(|m| m.1 != module) {
                    all.push((format!("{name} {:x}", s.handle), module));
                }
            }
        }
    }
    assert!(all.len() > 15, "only {} modules", all.len());
    all
}

/// Runs a tool over its stdin. `None` if it is not installed, which fails where devices are required.
pub fn tool(name: &str, args: &[&str], input: &[u8]) -> Option<std::result::Result<Vec<u8>, String>> {
    let child = Command::new(name)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        assert!(
            std::env::var_os("RERAY_REQUIRE_DEVICE").is_none(),
            "{name} is not installed, and is required"
        );
        eprintln!("skipped: {name} is not installed");
        return None;
    };
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let out = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic");
    Some(if out.status.success() {
        Ok(out.stdout)
    } else {
        Err(String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned())
    })
}

/// What spirv-val says is wrong with a module; nothing where it is absent.
pub fn invalid(words: &[u32], env: &str) -> Option<String> {
    tool("spirv-val", &["--target-env", env, "-"], &bytes(words))?.err()
}

/// A module from SPIR-V assembly.
pub fn assembled(text: &str, env: &str) -> Option<Vec<u32>> {
    let made = tool("spirv-as", &["--target-env", env, "-o", "-", "-"], text.as_bytes())?;
    Some(words(&made.unwrap_or_else(|e| panic!("{e}\n{text}"))))
}

/// The text of a module.
pub fn disassembled(words: &[u32]) -> Option<String> {
    let made = tool("spirv-dis", &["--no-color", "-"], &bytes(words))?.expect("it is a module");
    Some(String::from_utf8(made).expect("it is text"))
}

/// A module from GLSL: its stage as glslangValidator names it, and more arguments.
pub fn glsl(stage: &str, source: &str, args: &[&str]) -> Option<Vec<u32>> {
    let to = tempfile();
    let mut all = vec!["--quiet", "-V", "--stdin", "-S", stage, "-o", to.0.to_str().expect("it is text")];
    all.extend(args);
    if let Err(e) = tool("glslangValidator", &all, source.as_bytes())? {
        panic!("{e}\n{source}");
    }
    Some(words(&std::fs::read(&to.0).expect("it was written")))
}

/// A path that no other test has; what is there is removed in the end.
pub struct Temporary(pub PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// See [`Temporary`].
pub fn tempfile() -> Temporary {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("profile-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    Temporary(std::env::temp_dir().join(name))
}

/// Every registered pass, as it is without options; but the one that takes away what others count in, and stands alone.
pub fn every_pass() -> Vec<Box<dyn Pass>> {
    PASSES
        .iter()
        .filter(|p| p.name != "trivial")
        .map(|p| (p.make)(&crate::passes::options("")).unwrap_or_else(|e| panic!("{}: {e}", p.name)))
        .collect()
}

/// Rewrites every entry point of a module with these passes, twice: the same words, and spirv-val finds nothing. The
/// variants; those of stages that no pass wants are not there.
pub fn rewritten(
    what: &str,
    module: &[u32],
    env: &str,
    passes: &[Box<dyn Pass>],
    device: Device,
) -> Vec<Variant> {
    let names: Vec<String> = passes.iter().map(|p| p.key()).collect();
    let all = entries(module);
    assert!(!all.is_empty(), "{what} has no entry point");
    let mut variants = vec![];
    for (model, name, _) in all {
        let make = || instrument(module, ShaderHash::of(module), model, &name, passes, device);
        let made = make().unwrap_or_else(|e| panic!("{what}, {model:?} {name}, {names:?}: {e}"));
        assert_eq!(made, make().expect("it went well before"), "{what}: twice the same");
        let Some(v) = made else { continue };
        if let Some(why) = invalid(&v.words, env) {
            let text = disassembled(&v.words).unwrap_or_default();
            let kept = std::env::temp_dir().join("invalid.spvasm");
            let _ = std::fs::write(&kept, text);
            panic!("{what}, {model:?} {name}, {names:?}: {why}\nsee {}", kept.display());
        }
        variants.push(v);
    }
    variants
}

/// [`rewritten`] with all registered passes at once for devices of two kinds, and with every pass by itself for one of
/// them.
pub fn rewritten_by_all(what: &str, module: &[u32], env: &str) {
    if let Some(why) = invalid(module, env) {
        panic!("{what} is invalid before anything is done to it: {why}");
    }
    let most = Device { atomic_64: true, keep_calls: true, ..Device::default() };
    let all = rewritten(what, module, env, &every_pass(), most).len();
    let least = rewritten(what, module, env, &every_pass(), Device::default()).len();
    let alone: usize =
        every_pass().into_iter().map(|p| rewritten(what, module, env, &[p], Device::default()).len()).sum();
    assert!(all > 0 && all == least && alone >= all, "{what}: {all}, {least}, {alone} variants");
}

/// Shaders of the stages and the ways out that no scene has, compiled: `rewrite/corpus`. None where the tools are absent.
pub fn corpus() -> Vec<(PathBuf, Vec<u32>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rewrite/corpus");
    let mut all = vec![];
    for file in std::fs::read_dir(folder).expect("the corpus is beside this file") {
        let path = file.expect("an entry").path();
        let source = std::fs::read_to_string(&path).expect("it is text");
        let made = match path.extension().and_then(|e| e.to_str()).expect("its stage") {
            "spvasm" => assembled(&source, "vulkan1.3"),
            stage => glsl(stage, &source, &["--target-env", "vulkan1.3"]),
        };
        match made {
            Some(module) => all.push((path, module)),
            None => return vec![],
        }
    }
    all.sort();
    all
}

/// The variants that one pass makes of everything: the scenes' shaders and the corpus. All are valid.
pub fn everywhere(make: &dyn Fn() -> Box<dyn Pass>) -> Vec<Variant> {
    let device = Device::default();
    let all = scenes().into_iter().chain(corpus());
    all.flat_map(|(path, m)| rewritten(&path.display().to_string(), &m, "vulkan1.3", &[make()], device))
        .collect()
}

/// The one variant that a pass makes of an assembly.
pub fn of_text(pass: Box<dyn Pass>, text: &str) -> Option<Variant> {
    let module = assembled(text, "vulkan1.2")?;
    let mut made = rewritten("a text", &module, "vulkan1.3", &[pass], Device::default());
    assert_eq!(made.len(), 1, "it has one entry point, with something to measure");
    made.pop()
}

/// The text of a module's function of this name, a line each, names as spirv-dis makes them friendly. Ids without a name
/// are numbered anew, and calls that return nothing have none, so that the text says only what the function does.
pub fn function_text(words: &[u32], name: &str) -> Option<String> {
    let text = disassembled(words)?;
    let mut known: Vec<String> = vec![];
    let mut renumbered = |word: &str| match word.strip_prefix('%').map(str::parse::<u32>) {
        Some(Ok(_)) => {
            let at = known.iter().position(|k| k == word).unwrap_or_else(|| {
                known.push(word.to_owned());
                known.len() - 1
            });
            format!("%{}", at + 1)
        }
        _ => word.to_owned(),
    };
    let lines = text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "));
    let begin = format!("%{name} = OpFunction ");
    let mut out = String::new();
    for line in lines.skip_while(|l| !l.starts_with(&begin)) {
        let of_nothing = line.contains("= OpFunctionCall %void");
        let line = if of_nothing { line.split_once("= ").map_or(&line[..], |l| l.1) } else { &line[..] };
        out += &line.split(' ').map(&mut renumbered).collect::<Vec<_>>().join(" ");
        out.push('\n');
        if line == "OpFunctionEnd" {
            break;
        }
    }
    Some(out)
}

/// A variant's one region as a pass gets it back, with these counters.
pub fn entry<'a>(variant: &'a Variant, counters: &'a [u64]) -> crate::EntryData<'a> {
    crate::EntryData {
        entry: 3,
        pipeline: 7,
        variant,
        region: &variant.regions[0],
        counters: counters.into(),
    }
}

/// Every row of a table in memory, whole numbers only.
pub fn rows(of: &trace::Memory, table: &'static trace::Table) -> Vec<Vec<u64>> {
    use trace::{ColumnData, Source};
    let columns = of.read(table).expect("memory is readable");
    let cell = |row: usize| {
        move |c: &ColumnData| match c {
            ColumnData::U64(v) => Some(v[row]),
            _ => None,
        }
    };
    (0..columns.len()).map(|row| columns.columns().iter().filter_map(cell(row)).collect()).collect()
}

/// A compute shader with a way out for half of its invocations, and one for the others.
pub const BRANCH: &str = include_str!("testing/branch.spvasm");

/// A ray-generation shader with one trace call.
pub const TRACE: &str = include_str!("testing/trace.spvasm");

/// A frame of a device with subgroups of `n`, numbered 2.
pub fn frame<'a>(
    n: u32,
    entries: Vec<crate::EntryData<'a>>,
    records: Vec<crate::LogRecord<'a>>,
) -> crate::FrameData<'a> {
    crate::FrameData { frame: 2, subgroup_size: n, entries, records, ..Default::default() }
}

/// A variant of no module, with these sites.
pub fn variant(stage: crate::Stage, sites: Vec<crate::rewrite::Site>) -> Variant {
    use crate::rewrite::{Constants, Region};
    Variant {
        shader: ShaderHash([0; 32]),
        name: "main".into(),
        stage,
        words: vec![],
        constants: Constants { region: [0; 2], log: [0; 2], probe_base: 0, action_base: 0, elsewhere: None },
        counters: 0,
        sample: None,
        replays: 1,
        action_counters: 0,
        action_offset: None,
        given_offset: None,
        notes: vec![],
        probes: 0,
        regions: vec![Region {
            pass: "test".into(),
            first_counter: 0,
            counters: 0,
            first_action_counter: 0,
            action_counters: 0,
            sites,
        }],
        left_out: vec![],
        not_by_action: None,
        facts: Default::default(),
    }
}
