//! Verdicts on what is counted and seen: two traces of `effects`, of which one has a shader whose loop goes round twice as often, and two
//! results of a suite of these.

use crate::changes::edited;
use crate::device::device;
use crate::rays::sample;
use crate::support::{Scratch, run, text};
use gfxr_parse::view::View;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// `effects`, whose fragment shader computes 512 rounds and not 256.
fn longer(scratch: &Scratch) -> PathBuf {
    const CONSTANT: u32 = 4 << 16 | 43;
    let mut changed = 0;
    let to = edited(scratch, "effects", |call| {
        let info = View::call(&call.image).one("pCreateInfo");
        let Some((info, (at, words))) = info.and_then(|i| Some((i, i.array("pCode")?))) else { return false };
        let code = info.bytes("pCode").expect("words");
        let code: Vec<u32> =
            code.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().expect("four"))).collect();
        assert_eq!(words, code.len() as u64);
        let found = (0..code.len() - 3).find(|n| code[*n] == CONSTANT && code[n + 3] == 256);
        if let Some(n) = found {
            call.image.edit_u32(at + 4 * (n as u32 + 3), 512);
            changed += 1;
        }
        found.is_some()
    });
    assert_eq!(changed, 1, "one shader has rounds");
    to
}

fn word(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

fn profiled(capture: &Path, to: &Path, passes: &str) {
    let out = run([
        "profile",
        word(capture),
        "--frames",
        "1",
        "--assume-subgroups",
        "--passes",
        passes,
        "-o",
        word(to),
    ]);
    assert!(out.status.success(), "{}", text(&out.stderr));
}

#[test]
fn an_edited_shader_is_held_against_its_former_self() {
    if !device("compare: traces") {
        return;
    }
    let scratch = Scratch::new("compare-traces");
    let [plain, same, long] = ["plain", "same", "long"].map(|n| scratch.path(n));
    profiled(&sample("effects.gfxr"), &plain, "simt");
    profiled(&sample("effects.gfxr"), &same, "simt");
    profiled(&longer(&scratch), &long, "simt");
    let compare = |a: &Path, b: &Path, more: &[&str]| {
        let out = run(["compare", word(a), word(b)].iter().chain(more));
        (out.status.code(), text(&out.stdout), text(&out.stderr))
    };
    let (code, out, err) = compare(&plain, &same, &["--min-effect", "0.001%"]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.starts_with("no change: counts"), "{out}");

    let (code, out, err) = compare(&plain, &long, &["--format", "json"]);
    assert_eq!(code, Some(3), "{out}{err}");
    let all: Value = serde_json::from_str(&out).expect("JSON");
    let rows = all["rows"].as_array().expect("rows");
    let of = |level: &str, metric: &str| -> Vec<&Value> {
        rows.iter().filter(|r| r["level"] == level && r["metric"] == metric).collect()
    };
    // Every pixel computes the rounds; 64x48 of them.
    let change = |r: &Value| r["new"].as_f64().expect("a number") - r["base"].as_f64().expect("a number");
    let [whole] = of("capture", "instructions")[..] else { panic!("{out}") };
    let blocks = of("block", "instructions");
    assert_eq!(blocks.iter().map(|r| change(r)).sum::<f64>(), change(whole));
    assert!(blocks.iter().all(|r| change(r) > 0.0 && change(r) % (64.0 * 48.0 * 256.0) == 0.0), "{out}");
    let [shader] = of("shader", "instructions")[..] else { panic!("{out}") };
    let part = shader["part"].as_str().expect("words");
    assert!(part.starts_with("fragment ") && part.contains("edited, was fragment "), "{part}");
    assert!(all["notes"].to_string().contains("The captures differ"), "{out}");
    let (code, ..) = compare(&long, &plain, &[]);
    assert_eq!(code, Some(0), "an improvement");
    let (code, out, _) =
        compare(&plain, &long, &["--threshold", "instructions=300%,subgroup-instructions=300%"]);
    assert_eq!((code, out.starts_with("no change")), (Some(0), true), "{out}");

    // What makes no sense.
    for (words, why) in [
        (&["--metric", "median"][..], "columns that both traces have: efficiency, instructions"),
        (&["--against", "plain"], "--against is of runs"),
        (&["--threshold", "efficiency"], "expected COLUMN=PERCENT"),
    ] {
        let (code, _, err) = compare(&plain, &long, words);
        assert!(code.is_some_and(|c| c == 1 || c == 2) && err.contains(why), "{err}");
    }
    let (code, _, err) = compare(&sample("effects.gfxr"), &plain, &[]);
    assert!(code == Some(1) && err.contains("that is a capture; profile it first"), "{err}");
}

#[test]
fn a_suite_judges_pictures_and_counts_beside_times() {
    if !device("suite: pictures") {
        return;
    }
    let scratch = Scratch::new("suite-pictures");
    let file = scratch.path("suite.toml");
    let suite = "schema_version = 1\nname = \"seen\"\n[defaults]\nprocesses = 4\niterations = 3\nwarmup = 1\ndetailed = 0\n\
                 assume-subgroups = true\nmin-effect = \"900%\"\npictures = \"exact\"\ncounts = [\"simt\"]\n\
                 threshold = { instructions = \"1%\" }\n[[plan]]\nname = \"plain\"\n[[plan]]\nname = \"env\"\nenv = { RERAY_E2E = \"x\" }\n\
                 [[bench]]\ncapture = \"captures/effects.gfxr\"\nframes = [1]\n";
    fs::write(&file, suite).expect("a file");
    fs::create_dir(scratch.path("captures")).expect("a folder");
    let capture = scratch.path("captures/effects.gfxr");
    let long = longer(&scratch);
    let [base, again, new] = ["base", "again", "new"].map(|n| scratch.path(n));
    for (from, to) in [(&sample("effects.gfxr"), &base), (&sample("effects.gfxr"), &again), (&long, &new)] {
        fs::copy(from, &capture).expect("a capture");
        let out = run(["suite", "run", word(&file), "-o", word(to)]);
        assert!(out.status.success(), "{}", text(&out.stderr));
    }
    for plan in ["plain", "env"] {
        let picture = base.join("units/effects-f1/pictures").join(plan).join("frame_1.png");
        assert!(picture.is_file(), "{}", picture.display());
    }
    let compare = |a: &Path, b: &Path, more: &[&str]| {
        let out = run(["suite", "compare", word(a), word(b)].iter().chain(more));
        (out.status.code(), text(&out.stdout), text(&out.stderr))
    };
    let (code, out, err) = compare(&base, &again, &["--format", "json"]);
    // (on a busy machine times of so few processes may say nothing)
    assert!(matches!(code, Some(0 | 4)), "{out}{err}");
    let all: Value = serde_json::from_str(&out).expect("JSON");
    let rows = all["units"][0]["compared"]["rows"].as_array().expect("rows").clone();
    let levels = |level: &str| rows.iter().filter(|r| r["level"] == level).count();
    assert_eq!((levels("picture"), levels("capture")), (2, 2 + 3), "{out}");
    let exact: Vec<&Value> = rows.iter().filter(|r| r["test"] == "counted").collect();
    assert_eq!((exact.len(), exact.iter().all(|r| r["verdict"] == "no-change")), (2 + 3, true), "{out}");

    // The woven tile is another one, and every pixel has more to do. As one file, a baseline is the same.
    let packed = scratch.path("base.tar.gz");
    assert!(run(["suite", "merge", word(&base), "-o", word(&packed)]).status.success());
    let page = scratch.path("page.html");
    let junit = format!("junit={}", word(&scratch.path("v.xml")));
    let bencher = format!("bencher={}", word(&scratch.path("b.json")));
    let more = ["--force", "--page", word(&page), "--write", &junit, "--write", &bencher];
    let (code, out, err) = compare(&packed, &new, &more);
    assert_eq!(code, Some(3), "{out}{err}");
    assert!(
        out.contains("effects.gfxr, plain, frame 1: ")
            && out.contains("in columns 32 to 47 and rows 16 to 31"),
        "{out}"
    );
    let xml = fs::read_to_string(scratch.path("v.xml")).expect("it was written");
    assert!(xml.contains("name=\"picture, frame 1\"><failure type=\"regression\""), "{xml}");
    assert!(xml.contains("name=\"instructions\"><failure type=\"regression\""), "{xml}");
    let bencher: Value =
        serde_json::from_slice(&fs::read(scratch.path("b.json")).expect("it was written")).expect("JSON");
    assert!(bencher["effects-f1, plain"]["median"]["value"].as_f64().is_some_and(|v| v > 0.0), "{bencher}");
    assert!(bencher["effects-f1, counts"]["instructions"]["value"].as_f64().is_some(), "{bencher}");
    assert!(fs::read_to_string(&page).expect("a page").contains("<html"));
}
