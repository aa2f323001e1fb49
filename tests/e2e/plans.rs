//! Plans of a run: each is really in force, a run stops when it is told to, and one that cannot be is none.
//!
//! What shows that a plan is in force is what it leaves: another device, another picture, longer times, what passes say of
//! shaders. SwiftShader, another Vulkan in software, comes with Debian's Chromium.

use crate::device::device;
use crate::rays::sample;
use crate::support::{Scratch, run, skip, swiftshader, text};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Output;
use trace::run::{Run, Worker};
use trace::swizzle::Swizzle;

fn plain(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

fn bench(to: &Path, captures: &[&str], more: &[&str]) -> Output {
    let captures: Vec<PathBuf> = captures.iter().map(|c| sample(&format!("{c}.gfxr"))).collect();
    let captures = captures.iter().map(|c| plain(c));
    let fixed = ["bench", "--frame", "2", "-o", plain(to)];
    run(fixed.into_iter().chain(captures).chain(more.iter().copied()))
}

fn done(to: &Path, captures: &[&str], more: &[&str]) -> (Run, String) {
    let out = bench(to, captures, more);
    assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
    (Run::open(to).expect("a run"), text(&out.stdout))
}

fn compare(args: &[&str]) -> (Option<i32>, String, String) {
    let out = run(["compare"].iter().chain(args));
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

/// The processes of a capture and plan.
fn workers(run: &Run, at: (usize, usize)) -> Vec<&Worker> {
    run.note.workers.iter().filter(|w| (w.capture, w.plan) == at).collect()
}

/// The least GPU time of their timed turns, in ns.
fn least(run: &Run, (capture, plan): (usize, usize)) -> u64 {
    let of = |w: usize| (run.note.workers[w].capture, run.note.workers[w].plan) == (capture, plan);
    let times = run.frames.iter().filter(|f| f.timed && of(f.worker)).filter_map(|f| f.gpu);
    times.map(|n| n.0).min().expect("times")
}

/// llvmpipe's manifest, and its library's whole path.
fn llvmpipe() -> Option<(PathBuf, PathBuf)> {
    let folders = ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"];
    let files = folders.iter().filter_map(|f| Path::new(f).read_dir().ok()).flatten().flatten();
    let is = |f: &PathBuf| f.file_name().is_some_and(|n| n.to_string_lossy().starts_with("lvp_icd"));
    let file = files.map(|f| f.path()).find(is)?;
    let manifest: Value = serde_json::from_slice(&std::fs::read(&file).ok()?).ok()?;
    let library = Path::new(manifest["ICD"]["library_path"].as_str()?);
    let library = match library.parent() {
        Some(folder) if folder != Path::new("") => file.parent()?.join(library),
        // (a bare name is looked up as any library's is)
        _ => {
            let deeper = Path::new("/usr/lib").read_dir().ok()?.flatten().map(|f| f.path());
            let all = deeper.chain(["/usr/lib", "/usr/lib64", "/usr/local/lib"].map(PathBuf::from));
            all.map(|folder| folder.join(library)).find(|l| l.is_file())?
        }
    };
    Some((file, library))
}

#[test]
fn drivers_are_plans() {
    if !device("plans-drivers") {
        return;
    }
    let Some((own, library)) = llvmpipe() else {
        return skip("drivers as plans", "llvmpipe is not installed as a driver of its own");
    };
    let scratch = Scratch::new("plans-drivers");
    let (to, copy) = (scratch.path("run"), scratch.path("other.json"));
    let manifest = json!({
        "file_format_version": "1.0.0",
        "ICD": { "library_path": library, "api_version": "1.3.0" },
    });
    std::fs::write(&copy, manifest.to_string()).expect("written");
    let swift = swiftshader();
    if swift.is_none() {
        skip("another driver as a plan", "Chromium, which brings SwiftShader, is not installed");
    }
    let drivers: Vec<&str> = [plain(&own), plain(&copy)].into_iter().chain(swift).collect();
    let plans: Vec<String> = ["own", "copy", "swift"]
        .iter()
        .zip(&drivers)
        .map(|(name, file)| format!("{name} driver={file}"))
        .collect();
    let turns = ["--processes", "2", "--iterations", "3", "--warmup", "2", "--detailed", "1"];
    let plans = plans.iter().flat_map(|p| ["--plan", p]);
    // (both show the same with any driver that rounds as it should; `effects` need not)
    let (whole, _) =
        done(&to, &["closed_compute", "effects"], &turns.into_iter().chain(plans).collect::<Vec<_>>());
    let n = &whole.note;
    assert_eq!((n.captures.len(), n.workers.len()), (2, 4 * drivers.len()));
    for (plan, driver) in n.plans.iter().zip(&drivers) {
        assert_eq!(plan.driver.as_deref(), Some(*driver));
    }
    for capture in 0..2 {
        let first = workers(&whole, (capture, 0))[0];
        assert!(first.of_device("name").starts_with("llvmpipe"), "{first:?}");
        // The same device by another file.
        for w in workers(&whole, (capture, 0)).into_iter().chain(workers(&whole, (capture, 1))) {
            assert_eq!((&w.device, &w.hashes), (&first.device, &first.hashes));
            assert!(!w.hashes.is_empty(), "{w:?}");
        }
        for w in if swift.is_some() { workers(&whole, (capture, 2)) } else { vec![] } {
            assert!(w.of_device("name").contains("SwiftShader"), "{w:?}");
            for key in ["driver", "driver_uuid", "pipeline_cache_uuid"] {
                assert!(!w.of_device(key).is_empty(), "{key}: {w:?}");
                assert_ne!(w.of_device(key), first.of_device(key), "{key}");
            }
        }
        assert!(whole.places.iter().any(|p| p.capture == capture && p.level == "command"));
    }
    let folder = plain(&to);
    let (code, out, err) = compare(&[folder, folder, "--against", "own", "--plans", "copy"]);
    // (two processes are too few for a regression)
    assert!(matches!(code, Some(0 | 4)), "{code:?} {out}{err}");
    assert!(out.contains("copy against own") && !out.contains("Other d"), "{out}");
    if swift.is_none() {
        return;
    }
    let of_swift = [folder, folder, "--against", "own", "--plans", "swift"];
    let (code, out, err) = compare(&of_swift);
    assert_eq!(code, Some(1), "{out}{err}");
    for part in ["plan swift against own ran on llvmpipe", "SwiftShader", "--force"] {
        assert!(err.contains(part), "{part}: {err}");
    }
    let (code, out, err) = compare(&[&of_swift[..], &["--force"]].concat());
    assert!(matches!(code, Some(0 | 4)), "{code:?} {out}{err}");
    assert!(out.contains("Other devices: plan swift against own"), "{out}");
}

/// A folder with the fragment shader of `vm`, which divides by 255, dividing by 510.
fn darker(scratch: &Scratch) -> PathBuf {
    let (all, to) = (scratch.path("extracted"), scratch.path("darker"));
    let out = run(["extract", plain(&sample("vm.gfxr")), "-o", plain(&all)]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    std::fs::create_dir(&to).expect("a folder");
    let mut changed = 0;
    for file in all.read_dir().expect("a folder").flatten().map(|f| f.path()) {
        if file.extension().is_none_or(|e| e != "spv") {
            continue;
        }
        let bytes = std::fs::read(&file).expect("it is there");
        let mut words: Vec<u32> =
            bytes.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().expect("four"))).collect();
        const CONSTANT: u32 = 4 << 16 | 43;
        let at = (3..words.len()).find(|n| words[n - 3] == CONSTANT && words[*n] == 255f32.to_bits());
        let Some(at) = at else { continue };
        words[at] = 510f32.to_bits();
        changed += 1;
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        std::fs::write(to.join(file.file_name().expect("a name")), bytes).expect("written");
    }
    assert_eq!(changed, 1, "one shader of vm divides by 255");
    to
}

#[test]
fn what_a_plan_says_is_in_force() {
    if !device("plans-force") {
        return;
    }
    let scratch = Scratch::new("plans-force");
    let to = scratch.path("run");
    let shaders = darker(&scratch);
    let burnt = "burnt passes=burn:turns=30000+stage=fragment";
    let other = format!("other shaders={}", shaders.display());
    let narrow = "narrow env=LP_NATIVE_VECTOR_WIDTH=128 env=LP_NUM_THREADS=1";
    let turns = ["--processes", "1", "--iterations", "4", "--warmup", "2", "--detailed", "2"];
    let plans = ["--plan", "plain", "--plan", burnt, "--plan", &other, "--plan", narrow];
    let learnt = ["--plan", "prune passes=prune", "--plan", "specialize passes=specialize"];
    let more = [&turns[..], &plans, &learnt, &["--assume-subgroups"]].concat();
    let (whole, printed) = done(&to, &["vm", "effects"], &more);
    let n = &whole.note;
    let names: Vec<&str> = n.plans.iter().map(|p| &*p.name).collect();
    assert_eq!(names, ["plain", "burnt", "other", "narrow", "prune", "specialize"]);
    assert_eq!(n.plans[1].passes.to_string(), "burn:turns=30000+stage=fragment");
    assert_eq!(n.plans[2].shaders.as_deref(), shaders.to_str());
    assert_eq!((&*n.plans[4].passes.to_string(), n.plans[3].env.len()), ("prune", 2));
    let of = |capture: usize, plan: &str| -> &Worker {
        let plan = names.iter().position(|n| *n == plan).expect("a plan");
        match workers(&whole, (capture, plan))[..] {
            [one] => one,
            ref all => panic!("{all:?}"),
        }
    };
    for capture in 0..2 {
        let shown = &of(capture, "plain").hashes;
        assert_eq!(shown.len(), 1);
        for plan in ["burnt", "prune", "specialize"] {
            assert_eq!(&of(capture, plan).hashes, shown, "{plan}");
        }
        let [own, burnt] = [0, 1].map(|plan| least(&whole, (capture, plan)));
        assert!(burnt > 2 * own, "{own} ns, burnt {burnt} ns");
        // What is known of a capture's shaders was seen in that capture.
        let known = to.join(format!("made/{capture}/known"));
        assert!(known.join("blocks/manifest.json").is_file() && known.join("resources").is_dir());
    }
    // The replacement is of a shader of the first capture alone.
    assert_ne!(of(0, "other").hashes, of(0, "plain").hashes);
    assert_eq!(of(1, "other").hashes, of(1, "plain").hashes);
    let said = |plan: &str| of(0, plan).notes.iter().any(|n| n.starts_with(&format!("{plan}: shader")));
    assert!(said("prune") && said("specialize"), "{n:?}");
    assert!(of(0, "plain").notes.is_empty() && printed.contains("prune: shader"), "{printed}");
    if of(0, "plain").of_device("name").starts_with("llvmpipe") {
        let narrow = of(0, "narrow");
        assert!(narrow.of_device("name").contains("128 bits"), "{narrow:?}");
        assert_eq!(narrow.device["subgroup_size"], 4);
    }
    let folder = plain(&to);
    let (_, out, _) = compare(&[folder, folder, "--against", "plain", "--plans", "other,burnt"]);
    let differs = "vm.gfxr, other against plain: the frame does not show";
    assert!(out.contains(differs) && out.matches("does not show").count() == 1, "{out}");
}

#[test]
fn a_method_is_in_force_for_each_capture() {
    if !device("plans-method") {
        return;
    }
    let scratch = Scratch::new("plans-method");
    // (what plans read lies in there, in a folder whose name parts lists elsewhere)
    let to = scratch.path("run,a+b");
    let turns = ["--processes", "1", "--iterations", "2", "--warmup", "1", "--detailed", "0"];
    let turns = [&turns[..], &["--assume-subgroups", "--plan", "plain"]].concat();
    let packed = "packed passes=burn:turns=3 method=random";
    let captures = ["mesh", "closed_rays"];
    let (whole, _) = done(&to, &captures, &[&turns[..], &["--plan", packed]].concat());
    let n = &whole.note;
    let plan = n.plans[1].to_string();
    assert_eq!(plan, packed);
    assert!(n.plans[0].method.is_none() && n.workers.iter().all(|w| w.notes.is_empty()), "{:?}", n.workers);
    let swizzle = |capture: usize| -> Swizzle {
        let file = to.join(format!("made/{capture}/swizzles/packed_frame2_launch0.swizzle"));
        Swizzle::of_bytes(&std::fs::read(file).expect("it is there")).expect("a swizzle")
    };
    for capture in 0..2 {
        let shown: Vec<&Vec<String>> = (0..2).map(|p| &workers(&whole, (capture, p))[0].hashes).collect();
        assert_eq!(shown[0], shown[1], "the same work in another order shows the same");
        assert_ne!(swizzle(capture).indices[..8], [0, 1, 2, 3, 4, 5, 6, 7]);
    }
    assert_ne!(swizzle(0).size, swizzle(1).size);
    // Each of a worker's files is read and given to its launch; what finds none is said.
    let given = scratch.path("given");
    std::fs::create_dir(&given).expect("a folder");
    let put = |name: &str, s: &Swizzle| std::fs::write(given.join(name), s.bytes()).expect("written");
    put("a.swizzle", &swizzle(0));
    put("b.swizzle", &Swizzle { launch: 7, ..swizzle(0) });
    let to = scratch.path("given-run");
    let files = ["a", "b"].map(|n| given.join(n).with_extension("swizzle").display().to_string());
    let packed = format!("packed passes=swizzle:{},burn:turns=3", files.join("+"));
    let more = [&turns[..], &["--plan", &packed]].concat();
    let (whole, _) = done(&to, &captures[..1], &more);
    let notes = &workers(&whole, (0, 1))[0].notes;
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("frame 2 has no launch 7 that could be given its swizzle"), "{notes:?}");
    assert!(workers(&whole, (0, 0))[0].notes.is_empty());
}

#[test]
fn descriptors_in_other_sets_are_a_plan() {
    if !device("plans-repartition") {
        return;
    }
    let scratch = Scratch::new("plans-repartition");
    let [trace, answers, to] = ["trace", "answers", "run"].map(|n| scratch.path(n));
    let capture = sample("monolithic.gfxr");
    let out = run(["bindings", plain(&capture), "--no-answers", "-o", plain(&trace)]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let out = run(["analyze", plain(&trace), "bindings", "-o", plain(&answers)]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let sets = answers.join("repartition-classes.json");
    let moved = format!("moved descriptors={}", plain(&sets));
    let plans = ["--plan", "plain", "--plan", &moved];
    let bench = |to: &Path, more: &[&str]| {
        let fixed = ["bench", plain(&capture), "--frame", "1", "--processes", "2", "-o", plain(to)];
        run(fixed.into_iter().chain(["--iterations", "2", "--warmup", "1"]).chain(more.iter().copied()))
    };
    let out = bench(&to, &[&["--detailed", "1"][..], &plans].concat());
    assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
    let whole = Run::open(&to).expect("a run");
    let plans: Vec<(&str, Option<&str>)> =
        whole.note.plans.iter().map(|p| (&*p.name, p.descriptors.as_deref())).collect();
    assert_eq!(plans, [("plain", None), ("moved", sets.to_str())]);
    for w in workers(&whole, (0, 1)) {
        assert_eq!(w.notes, ["repartition: 1 of the partition's 1 pipeline layouts have other sets"]);
        assert_eq!(w.hashes, workers(&whole, (0, 0))[0].hashes);
    }
    assert!(workers(&whole, (0, 0)).iter().all(|w| w.notes.is_empty() && !w.hashes.is_empty()));
    // What nobody could compare is no plan.
    let both = format!("x descriptors={} passes=simt", plain(&sets));
    let out = bench(&scratch.path("none"), &["--plan", &both]);
    assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
    assert!(
        text(&out.stderr).contains("plan x: where descriptors are in other sets"),
        "{}",
        text(&out.stderr)
    );
}

/// The share of `column` in a report's table of plans, by plan.
fn shares(printed: &str, column: &str) -> Vec<Option<f64>> {
    let report: Value = serde_json::from_str(printed).expect("JSON");
    let table = report["tables"].as_array().and_then(|t| t.iter().find(|t| t["name"] == "plans"));
    let table = table.unwrap_or_else(|| panic!("{printed}"));
    let at = table["columns"].as_array().and_then(|c| c.iter().position(|c| c["name"] == column));
    let at = at.unwrap_or_else(|| panic!("{column}: {printed}"));
    table["rows"].as_array().expect("rows").iter().map(|r| r[at].as_f64()).collect()
}

#[test]
fn a_budget_ends_a_run_between_numbers_of_processes_and_pairs_are_compared() {
    if !device("plans-budget") {
        return;
    }
    let scratch = Scratch::new("plans-budget");
    let turns = ["--iterations", "5", "--warmup", "3", "--detailed", "0"];
    let both = ["--plan", "plain", "--plan", "again"];
    // No number of processes fits: the first runs all the same, and whole.
    let budget = ["--budget", "0.01s", "--processes", "8"];
    let (short, printed) =
        done(&scratch.path("short"), &["vm", "closed_compute"], &[&turns[..], &both, &budget].concat());
    assert_eq!((short.note.stopped.as_str(), short.note.workers.len()), ("budget", 4));
    assert!(printed.contains("Time was out"), "{printed}");
    for w in 0..4 {
        assert_eq!(short.frames.iter().filter(|f| f.worker == w && f.timed).count(), 5);
    }
    // Well enough for a bound that is this wide; never before the fifth number, and long before the last.
    let wide = ["--budget", "10m", "--tight", "900%", "--processes", "60"];
    for (name, plans, column) in [("one", &both[..2], "± at 99 %"), ("two", &both[..], "± of the change")] {
        let more = [&turns[..], plans, &wide, &["--json"]].concat();
        let (tight, printed) = done(&scratch.path(name), &["vm"], &more);
        let (n, plans) = (&tight.note, plans.len() / 2);
        assert_eq!(n.stopped, "tight", "{printed}");
        assert!((5 * plans..60 * plans).contains(&n.workers.len()), "{}", n.workers.len());
        assert_eq!(n.workers.len() % plans, 0);
        let known = shares(&printed, column);
        // (with several plans it is the changes that have to be known)
        let known = if plans > 1 { &known[1..] } else { &known[..] };
        assert!(known.iter().all(|k| k.is_some_and(|k| k <= 900.0)), "{printed}");
        let why = if plans > 1 { "Every change is known" } else { "Every median is known" };
        assert!(printed.contains(why), "{printed}");
    }
    // Processes of one number were alive together: pairs.
    let two = scratch.path("two");
    let folder = plain(&two);
    let rows = |args: &[&str]| -> (Option<i32>, Value) {
        let (code, out, err) = compare(&[args, &["--format", "json"]].concat());
        let all: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
        (code, all["rows"][0].clone())
    };
    let processes = Run::open(&two).expect("a run").note.workers.len() / 2;
    let (code, row) = rows(&[folder, folder, "--against", "plain"]);
    assert_ne!(code, Some(3), "{row}");
    assert_eq!((&row["plan"], &row["level"]), (&"again against plain".into(), &"capture".into()));
    assert_eq!((&row["paired"], &row["processes"]), (&true.into(), &json!([processes, processes])));
    assert_eq!((&row["test"], &row["p_adjusted"]), (&"paired-t".into(), &row["p"]), "{row}");
    // At another level the interval is another one, and p is not.
    let (_, wider) = rows(&[folder, folder, "--against", "plain", "--alpha", "0.1"]);
    let interval = |r: &Value| [0, 1].map(|n| r["interval"][n].as_f64().unwrap_or_else(|| panic!("{r}")));
    let (at_99, at_90) = (interval(&row), interval(&wider));
    assert!(at_99[0] < at_90[0] && at_90[1] < at_99[1], "{at_99:?} {at_90:?}");
    assert_eq!(row["p"], wider["p"]);
    // Processes of two runs were not, even if there are as many.
    let other = scratch.path("other");
    let count = processes.to_string();
    done(&other, &["vm"], &[&turns[..], &both, &["--processes", &count]].concat());
    let (_, row) = rows(&[folder, plain(&other), "--plans", "again"]);
    assert_eq!((&row["paired"], &row["test"]), (&false.into(), &"welch-t".into()));
}

#[test]
fn a_plan_that_cannot_be_is_named_and_leaves_nothing() {
    let scratch = Scratch::new("plans-refused");
    let other = Scratch::new("plans-refused-input");
    let refused = |name: &str, capture: &str, more: &[&str], code: i32, parts: &[&str]| {
        let out = bench(&scratch.path(name), &[capture], &[&["--processes", "1"], more].concat());
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(code), "{more:?}: {said}");
        for part in parts {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert_eq!(scratch.path("").read_dir().expect("it is there").count(), 0, "{more:?}");
    };
    // What is seen before anything runs.
    let gone = "gone driver=/nowhere/icd.json";
    refused("a", "vm", &["--plan", gone], 1, &["plan gone: driver=/nowhere/icd.json: No such file"]);
    refused("b", "mesh", &["--plan", "p method=best"], 2, &["plan p: there is no method best"]);
    let tile = ["--plan", "p method=tiled-objects:tile=0x8"];
    refused("c", "mesh", &tile, 2, &["plan p: method tiled-objects: tile=0x8"]);
    refused("d", "mesh", &["--plan", "p colour=red"], 2, &["plan p: colour: there are passes, method"]);
    refused("i", "mesh", &["--plan", "p", "--plan", "p gpu=0"], 2, &["plan p: it is there twice"]);
    if !device("plans-refused") {
        return;
    }
    let manifest = other.path("none.json");
    let text = json!({ "file_format_version": "1.0.0", "ICD": { "library_path": "/nowhere.so", "api_version": "1.3.0" } });
    std::fs::write(&manifest, text.to_string()).expect("written");
    let driver = format!("none driver={}", manifest.display());
    let named = format!("plan none (driver={})", manifest.display());
    refused("e", "vm", &["--plan", "plain", "--plan", &driver], 77, &[&named, "finds no driver"]);
    refused("f", "vm", &["--plan", "r shaders=/nowhere"], 2, &["plan r", "/nowhere: No such file"]);
    refused("g", "vm", &["--plan", "x gpu=99"], 77, &["plan x", "no device matches --gpu 99"]);
    // What was learnt of other frames shows another picture.
    let known = other.path("known");
    let cubes = sample("cubes.gfxr");
    let out = run(["bindings", "--no-answers", "--frames", "1-1", "-o", plain(&known), plain(&cubes)]);
    assert!(out.status.success());
    let learnt = format!("specialize passes=specialize:{}", plain(&known));
    refused("h", "cubes", &["--plan", &learnt], 5, &["plan specialize: frame 2 shows another picture"]);
}
