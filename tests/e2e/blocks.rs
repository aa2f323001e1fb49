//! Pass `blocks` on a device: derived counts are the directly counted ones on every shader of every capture; entry counts
//! are the invocations that the device's own statistics report; what the machine of `vm` does not use is found; runs are
//! added up, and LLVM's tools read them.

use crate::device::device;
use crate::support::{Scratch, captures, run, sample, skip, text};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use trace::dir::Dir;
use trace::tables::{BLOCK_COUNTS, BLOCKS, EDGE_COUNTS, ENTRIES, FRAMES};
use trace::{Columns, Source, Table};

fn said(arguments: &[&str]) -> String {
    let out = run(arguments);
    assert!(out.status.success(), "{arguments:?}: {:?}\n{}", out.status, text(&out.stderr));
    text(&out.stdout)
}

/// Profiles a capture.
fn profile(capture: &Path, passes: &str, more: &[&str], to: &Path) -> Dir {
    let mut arguments = vec!["profile", capture.to_str().expect("plain"), "--passes", passes];
    arguments.extend(["--assume-subgroups", "-o", to.to_str().expect("plain")]);
    arguments.extend(more);
    said(&arguments);
    Dir::open(to).expect("a trace")
}

fn table(trace: &Dir, table: &'static Table) -> Columns {
    trace.read(table).expect("it is readable")
}

/// Executions by frame, entry point, function and block, of a pass; only those that ran.
type Counts = BTreeMap<[u64; 4], u64>;

fn counts(trace: &Dir, pass: &str) -> Counts {
    let t = table(trace, &BLOCK_COUNTS);
    let of = |r: usize| ["frame", "entry", "function", "block"].map(|c| t.u64(c)[r]);
    let own = (0..t.len()).filter(|&r| &*t.text("pass")[r] == pass && t.u64("executions")[r] > 0);
    own.map(|r| (of(r), t.u64("executions")[r])).collect()
}

/// The derived counts and those of every block by itself, of invocations one by one, through subgroups, held in registers
/// and at once; and what goes into a block comes out of it.
fn derived_are_direct(capture: &Path, scratch: &Scratch) -> usize {
    let passes = [
        "blocks",
        "blocks:placement=direct+flush=direct+as=direct",
        "blocks:mode=lane+flush=direct+as=lane",
        "blocks:mode=subgroup+as=subgroups",
        "blocks:mode=subgroup+placement=direct+flush=direct+as=subgroups-direct",
    ];
    let name = capture.file_stem().and_then(|n| n.to_str()).expect("plain");
    let trace = profile(capture, &passes.join(","), &[], &scratch.path(name));
    let blocks = counts(&trace, "blocks");
    for other in ["direct", "lane"] {
        let direct = counts(&trace, other);
        let wrong: Vec<_> = blocks.iter().filter(|(k, n)| direct.get(*k) != Some(*n)).take(5).collect();
        assert!(wrong.is_empty() && blocks.len() == direct.len(), "{name}, {other}: {wrong:?}");
    }
    let subgroups = counts(&trace, "subgroups");
    assert_eq!(subgroups, counts(&trace, "subgroups-direct"), "{name}");
    assert_eq!(subgroups.len(), blocks.len(), "{name}: what invocations run, subgroups come by");
    let size = table(&trace, &FRAMES).u64("subgroup_size").first().copied().unwrap_or(1);
    for (k, n) in &blocks {
        assert!(subgroups[k] <= *n && *n <= subgroups[k] * size, "{name}: {k:?} {n} {}", subgroups[k]);
    }
    let t = table(&trace, &EDGE_COUNTS);
    let (mut into, mut out) = (Counts::new(), Counts::new());
    for r in (0..t.len()).filter(|&r| &*t.text("pass")[r] == "blocks") {
        let at = |c| [t.u64("frame")[r], t.u64("entry")[r], t.u64("function")[r], t.u64(c)[r]];
        *out.entry(at("from")).or_default() += t.u64("executions")[r];
        *into.entry(at("to")).or_default() += t.u64("executions")[r];
    }
    for (k, n) in &blocks {
        assert_eq!(out.get(k), Some(n), "{name}: {k:?} is left as often as it was entered");
        assert!(k[3] == 0 || into.get(k) == Some(n), "{name}: {k:?}");
    }
    blocks.len()
}

#[test]
fn derived_counts_are_direct_counts_on_every_shader_of_every_capture() {
    if !device("derived_counts_are_direct_counts") {
        return;
    }
    let scratch = Scratch::new("blocks-direct");
    let mut all = 0;
    for capture in captures() {
        let name = capture.file_name().and_then(|n| n.to_str()).expect("plain");
        // The same calls as in another file, compressed or cut otherwise; and twice half a minute.
        if ["cubes_zlib", "cubes_zstd", "sapien_rt_llvmpipe_105", "sapien_rt_h200"]
            .iter()
            .any(|n| name == format!("{n}.gfxr"))
        {
            skip(name, "another capture has these shaders");
            continue;
        }
        all += derived_are_direct(&capture, &scratch);
    }
    assert!(all > 1000, "only {all} counts of blocks");
}

/// How often entry points of each stage were entered in a frame.
fn entered(trace: &Dir, frame: u64) -> BTreeMap<String, u64> {
    let stages = table(trace, &ENTRIES);
    let mut by_stage = BTreeMap::new();
    for ([f, entry, function, block], n) in counts(trace, "blocks") {
        if (f, function, block) == (frame, 0, 0) {
            let row = stages.u64("entry").iter().position(|e| *e == entry).expect("it is there");
            *by_stage.entry(stages.text("stage")[row].to_string()).or_default() += n;
        }
    }
    by_stage
}

#[test]
fn entries_are_the_invocations_that_the_device_reports() {
    if !device("entries_are_the_invocations") {
        return;
    }
    let scratch = Scratch::new("blocks-entries");
    for (name, frame, stages) in [
        // Depth tests take away two fifths of the fragments, before the shader.
        ("cubes", 4, 3),
        ("vm", 2, 2),
        ("stages", 1, 7),
        ("pointers", 2, 1),
        ("feedback", 3, 1),
        ("steps", 2, 1),
    ] {
        let capture = sample(&format!("{name}.gfxr"));
        let only = format!("{frame}-{frame}");
        let trace = profile(&capture, "blocks", &["--frames", &only], &scratch.path(name));
        let file = capture.to_str().expect("plain");
        let arguments = [file, "--json", "--times", "command", "--statistics", "--frames", &only];
        let report: serde_json::Value = serde_json::from_str(&said(&arguments)).expect("it is JSON");
        let mut reported: BTreeMap<&str, u64> = BTreeMap::new();
        for span in
            report["times"]["spans"].as_array().expect("spans").iter().filter(|s| s["kind"] == "command")
        {
            for (query, n) in span["statistics"].as_object().into_iter().flatten() {
                let stage = match query.strip_prefix("VK_QUERY_PIPELINE_STATISTIC_").unwrap_or(query) {
                    "VERTEX_SHADER_INVOCATIONS_BIT" => "vertex",
                    "FRAGMENT_SHADER_INVOCATIONS_BIT" => "fragment",
                    "COMPUTE_SHADER_INVOCATIONS_BIT" => "compute",
                    "GEOMETRY_SHADER_INVOCATIONS_BIT" => "geometry",
                    "TESSELLATION_EVALUATION_SHADER_INVOCATIONS_BIT" => "tessellation-evaluation",
                    q if q.starts_with("TASK_SHADER_INVOCATIONS") => "task",
                    q if q.starts_with("MESH_SHADER_INVOCATIONS") => "mesh",
                    _ => continue,
                };
                *reported.entry(stage).or_default() += n.as_u64().unwrap_or(0);
            }
        }
        let mut compared = 0;
        for (stage, n) in entered(&trace, frame) {
            // (of tessellation control, patches are reported)
            if let Some(there) = reported.get(&*stage).filter(|_| stage != "tessellation-control") {
                assert_eq!(n, *there, "{name}: {stage}");
                compared += 1;
            }
        }
        assert_eq!(compared, stages, "{name}: {reported:?}");
    }
}

/// Blocks that can be reached, by shader stage; and those of them that ran.
fn ran(trace: &Dir, stage: &str) -> (Vec<[u64; 2]>, BTreeMap<[u64; 2], u64>) {
    let e = table(trace, &ENTRIES);
    let row = (0..e.len()).find(|&r| &*e.text("stage")[r] == stage).expect("it has this stage");
    let (entry, variant) = (e.u64("entry")[row], e.u64("variant")[row]);
    let b = table(trace, &BLOCKS);
    let own = (0..b.len()).filter(|&r| b.u64("variant")[r] == variant && b.u64("reached")[r] == 1);
    let all = own.map(|r| [b.u64("function")[r], b.u64("block")[r]]).collect();
    let mut ran = BTreeMap::new();
    for ([_, of, function, block], n) in counts(trace, "blocks") {
        if of == entry {
            *ran.entry([function, block]).or_default() += n;
        }
    }
    (all, ran)
}

#[test]
fn what_the_machine_does_not_use_is_found() {
    if !device("what_the_machine_does_not_use") {
        return;
    }
    let scratch = Scratch::new("blocks-vm");
    let trace = profile(&sample("vm.gfxr"), "blocks", &[], &scratch.path("vm"));
    let (all, ran) = ran(&trace, "fragment");
    // Two frames of 64x48 pixels, two runs of 128 instructions.
    let pixels = 2 * 64 * 48;
    assert_eq!(ran[&[0, 0]], pixels);
    assert_eq!(all.len() - ran.len(), 70, "all cases but one");
    // The loop's body, the switch, and the one case that is used.
    let each = ran.values().filter(|n| **n == pixels * 256).count();
    assert!(each >= 3 && ran.values().all(|n| *n <= pixels * (256 + 2)), "{ran:?}");
    // The report says the same.
    let folder = scratch.path("vm");
    let report = said(&["analyze", folder.to_str().expect("plain"), "blocks", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&report).expect("it is JSON");
    let tables = report["reports"][0]["tables"].as_array().expect("tables");
    let unused = tables.iter().find(|t| t["name"] == "unused_blocks").expect("the table");
    assert_eq!(unused["rows"].as_array().map(Vec::len), Some(70), "{unused}");
}

#[test]
fn runs_add_up_and_llvm_reads_them() {
    if !device("runs_add_up") {
        return;
    }
    let scratch = Scratch::new("blocks-merge");
    let (a, b) = (scratch.path("a"), scratch.path("b"));
    let one = profile(&sample("pointers.gfxr"), "blocks", &[], &a);
    profile(&sample("pointers.gfxr"), "blocks:mode=lane", &[], &b);
    let paths = ["both", "both.proftext", "both.blocks", "more.proftext", "more.profdata"];
    let path = |n: usize| scratch.path(paths[n]).to_str().expect("plain").to_owned();
    let (a, b) = (a.to_str().expect("plain"), b.to_str().expect("plain"));
    for n in 0..3 {
        said(&["merge-profiles", a, b, "-o", &path(n)]);
    }
    // As a trace: twice what one run counted.
    let both = Dir::open(&scratch.path("both")).expect("a trace");
    let doubled: Counts = counts(&one, "blocks").into_iter().map(|(k, n)| (k, 2 * n)).collect();
    assert!(!doubled.is_empty());
    assert_eq!(counts(&both, "blocks"), doubled);
    // Of files: the binary and a trace.
    said(&["merge-profiles", &path(2), a, "-o", &path(3)]);
    let refused = run(["merge-profiles", a, "-o", &path(0)]);
    assert_eq!(refused.status.code(), Some(2), "the folder is there already");
    if Command::new("llvm-profdata").arg("--version").output().is_err() {
        assert!(std::env::var_os("RERAY_REQUIRE_DEVICE").is_none(), "llvm-profdata is not installed");
        return skip("runs_add_up", "llvm-profdata is not installed");
    }
    // Three times one run, by us and by LLVM.
    let llvm = |arguments: &[&str]| {
        let out = Command::new("llvm-profdata").args(arguments).output().expect("it starts");
        assert!(out.status.success(), "{arguments:?}: {}", text(&out.stderr));
        text(&out.stdout)
    };
    let one = scratch.path("one.proftext").to_str().expect("plain").to_owned();
    said(&["merge-profiles", a, "-o", &one]);
    llvm(&["merge", "-o", &path(4), &one, &path(1)]);
    let back = llvm(&["show", "--all-functions", "--counts", "--text", &path(4)]);
    let numbers = |t: &str| -> Vec<String> {
        let mut records: Vec<String> = t
            .split("\n\n")
            .map(|r| r.lines().filter(|l| !l.starts_with(['#', ':'])).collect::<Vec<_>>().join(" "))
            .collect();
        records.retain(|r| !r.is_empty());
        records.sort();
        records
    };
    let ours = std::fs::read_to_string(path(3)).expect("it was written");
    assert_eq!(numbers(&back), numbers(&ours));
    assert!(numbers(&ours).len() >= 2, "{ours}");
}
