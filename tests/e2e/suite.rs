//! `suite`: shards put together are the whole, a unit that fails leaves the others, what was begun goes on, and results are compared
//! unit by unit, from folders and from one file.

use crate::device::device;
use crate::rays::sample;
use crate::schema::wrong;
use crate::support::{Scratch, run, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use trace::run::Run;
use trace::suite::{State, SuiteNote};

/// What ended how, and said what.
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

fn suite(words: &[&str]) -> Said {
    let out = run(["suite"].iter().chain(words));
    Said { code: out.status.code(), out: text(&out.stdout), err: text(&out.stderr) }
}

fn word(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

fn note(folder: &Path) -> SuiteNote {
    let bytes = fs::read(folder.join("suite.json")).expect("it is there");
    let value: Value = serde_json::from_slice(&bytes).expect("JSON");
    assert_eq!(wrong("suite", &value), Vec::<String>::new());
    SuiteNote::parse(&bytes, folder).expect("a suite's results")
}

fn states(folder: &Path) -> Vec<(String, State)> {
    note(folder).units.into_iter().map(|u| (u.name, u.state)).collect()
}

/// A scratch folder with captures and a suite file of these benches.
fn with(name: &str, benches: &str) -> (Scratch, PathBuf) {
    let scratch = Scratch::new(name);
    fs::create_dir(scratch.path("captures")).expect("a folder");
    for capture in ["ordering.gfxr", "vm.gfxr"] {
        fs::copy(sample(capture), scratch.path("captures").join(capture)).expect("a capture");
    }
    let file = scratch.path("suite.toml");
    let head = "schema_version = 1\nname = \"e2e\"\n[defaults]\nprocesses = 2\niterations = 3\nwarmup = 2\ndetailed = 1\n\
                min-effect = \"90%\"\n";
    fs::write(&file, format!("{head}{benches}")).expect("a file");
    (scratch, file)
}

const TWO_PLANS: &str =
    "[[plan]]\nname = \"plain\"\n[[plan]]\nname = \"env\"\nenv = { RERAY_E2E = \"a 'b' c\" }\n";

/// Of a unit: its capture, its plans with what they set, its processes, its frame.
type Measured = (String, Vec<(String, Option<String>)>, usize, Option<u64>);

fn measured(folder: &Path) -> BTreeMap<String, Measured> {
    let units = note(folder).units.into_iter().filter(|u| u.state == State::Done);
    let of = |name: &str| {
        let run = Run::open(&folder.join("units").join(name)).expect("a run");
        let n = run.note;
        let plans = n.plans.into_iter().map(|p| (p.name, p.env.get("RERAY_E2E").cloned())).collect();
        (n.captures[0].blake3.clone(), plans, n.workers.len(), n.frame)
    };
    units.map(|u| (u.name.clone(), of(&u.name))).collect()
}

#[test]
fn shards_put_together_are_the_whole() {
    if !device("suite-shards") {
        return;
    }
    let benches = "[[bench]]\ncapture = \"captures/ordering.gfxr\"\nframes = [1, 2]\n\
                   [[bench]]\nname = \"whole\"\ncaptures = \"captures/ord*.gfxr\"\nplans = [\"plain\"]\nweight = 0.1\n";
    let (scratch, file) = with("suite-shards", &format!("{TWO_PLANS}{benches}"));
    let [whole, one, two, merged] = ["whole", "one", "two", "merged"].map(|n| scratch.path(n));
    let said = suite(&["run", word(&file), "-o", word(&whole)]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    assert!(said.out.contains("3 of 3 units done, 0 failed"), "{}", said.out);
    assert!(said.err.contains("ordering-f2: done") && said.err.contains("(3 of 3)"), "{}", said.err);
    let n = note(&whole);
    assert_eq!(n.units[1].command[..3], ["bench", "captures/ordering.gfxr", "--frame=2"]);
    assert!(!n.units.iter().flat_map(|u| &u.command).any(|w| w.contains(word(&scratch.path("")))), "{n:?}");
    for (shard, to) in [("1/2", &one), ("2/2", &two)] {
        let said = suite(&["run", word(&file), "--shard", shard, "-o", word(to), "--json"]);
        assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
        let value: Value = serde_json::from_str(&said.out).expect("JSON");
        assert_eq!(wrong("report", &value), Vec::<String>::new());
    }
    let names = |states: Vec<(String, State)>, of: State| -> Vec<String> {
        states.into_iter().filter(|s| s.1 == of).map(|s| s.0).collect()
    };
    assert_eq!(names(states(&one), State::Done), ["ordering-f1", "whole"]);
    assert_eq!(names(states(&one), State::Elsewhere), ["ordering-f2"]);
    assert_eq!(names(states(&two), State::Done), ["ordering-f2"]);
    // A shard of more than there are units has nothing to do.
    let empty = scratch.path("empty");
    let said = suite(&["run", word(&file), "--shard", "4/4", "-o", word(&empty)]);
    assert_eq!((said.code, names(states(&empty), State::Elsewhere).len()), (Some(0), 3), "{}", said.err);

    let said = suite(&["merge", word(&one), "-o", word(&merged)]);
    assert!(
        said.code == Some(1) && said.err.contains("ordering-f2 (shard 2/2)"),
        "{:?} {}",
        said.code,
        said.err
    );
    assert!(!merged.exists());
    let said = suite(&["merge", word(&one), word(&two), "-o", word(&merged)]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(measured(&merged), measured(&whole));
    assert_eq!(measured(&merged)["ordering-f2"].1[1], ("env".into(), Some("a 'b' c".into())));
    assert_eq!((measured(&merged)["whole"].2, measured(&merged)["whole"].3), (2, None));
    let n = note(&merged);
    assert_eq!((n.shard, n.parts.len(), n.units[1].part), (None, 2, Some(1)));
    assert_eq!(suite(&["merge", word(&one), word(&two), "-o", word(&merged)]).code, Some(2), "it is full");
    let said = suite(&["merge", word(&one), word(&whole), "-o", word(&scratch.path("twice"))]);
    assert!(said.code == Some(1) && said.err.contains("differently"), "{}", said.err);

    // One file is the same, and the same bytes whoever packs it.
    let [file_a, file_b] = ["a.tar.gz", "b.tgz"].map(|n| scratch.path(n));
    assert_eq!(suite(&["merge", word(&one), word(&two), "-o", word(&file_a)]).code, Some(0));
    assert_eq!(suite(&["merge", word(&merged), "-o", word(&file_b)]).code, Some(0));
    assert_eq!(fs::read(&file_a).expect("a file"), fs::read(&file_b).expect("a file"));

    // Two processes on each side can make no regression; what is said of three units is there in every format.
    let [xml, page, json, bench, csv] =
        ["v.xml", "v.md", "v.json", "bench.json", "v.csv"].map(|n| scratch.path(n));
    let write = [("junit", &xml), ("markdown", &page), ("json", &json), ("benchmark", &bench), ("csv", &csv)]
        .map(|(f, p)| format!("{f}={}", word(p)));
    let mut words = vec!["compare", word(&file_a), word(&whole)];
    write.iter().for_each(|w| words.extend(["--write", w]));
    let said = suite(&words);
    assert!(matches!(said.code, Some(0 | 4)), "{:?} {}{}", said.code, said.out, said.err);
    for unit in ["ordering-f1", "ordering-f2", "whole"] {
        assert!(said.out.contains(&format!("\n{unit}: ")), "{unit}: {}", said.out);
    }
    assert!(said.out.contains("least effect 90 %"), "the suite's own: {}", said.out);
    let read = |p: &Path| fs::read_to_string(p).expect("it was written");
    let value: Value = serde_json::from_str(&read(&json)).expect("JSON");
    assert_eq!((&value["complete"], value["units"].as_array().map(Vec::len)), (&true.into(), Some(3)));
    assert_eq!(value["units"][0]["compared"]["rows"][0]["processes"], serde_json::json!([2, 2]));
    let xml = read(&xml);
    assert_eq!((xml.matches("<testsuite ").count(), xml.matches("</testsuite>").count()), (5, 5), "{xml}");
    assert!(
        xml.contains("name=\"ordering-f2: ordering.gfxr, env\"") && xml.ends_with("</testsuites>\n"),
        "{xml}"
    );
    let page = read(&page);
    assert_eq!(page.matches("<details").count(), 3, "{page}");
    let rows = page.lines().skip_while(|l| !l.starts_with("| unit")).take_while(|l| l.starts_with('|'));
    let widths: Vec<usize> = rows.map(|l| l.matches('|').count()).collect();
    assert_eq!(widths, [10; 5], "{page}");
    let value: Value = serde_json::from_str(&read(&bench)).expect("JSON");
    assert_eq!(value[0]["name"], "ordering-f1, plain, median", "{value}");
    assert!(read(&csv).starts_with("bench,time,side,"), "{}", read(&csv));

    // One run out of it, as a file, is what `compare` takes, too; and both say what the other is for.
    let packed = scratch.path("run.tar.gz");
    let tar = std::process::Command::new("tar")
        .args(["-C", word(&whole.join("units")), "-czf", word(&packed), "ordering-f2"])
        .status();
    assert!(tar.expect("tar is there").success());
    let out = run(["compare", word(&packed), word(&merged.join("units/ordering-f2")), "--min-effect", "90%"]);
    assert!(matches!(out.status.code(), Some(0 | 4)), "{}", text(&out.stderr));
    let out = run(["compare", word(&file_a), word(&packed)]);
    assert!(text(&out.stderr).contains("suite compare"), "{}", text(&out.stderr));
    assert!(suite(&["compare", word(&file_a), word(&packed)]).err.contains("compares runs"));
    // A page of all units.
    let page = scratch.path("report.html");
    let out = run(["report", word(&merged), "-o", word(&page)]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let out = run(["report", word(&file_a), "-o", word(&page)]);
    assert!(text(&out.stderr).contains("unpack it"), "{}", text(&out.stderr));
}

#[test]
fn what_fails_leaves_the_others_and_what_was_begun_goes_on() {
    if !device("suite-failures") {
        return;
    }
    let benches = "[[bench]]\nname = \"none\"\ncapture = \"captures/ordering.gfxr\"\nframes = 99\n\
                   [[bench]]\ncapture = \"captures/broken.gfxr\"\nframes = 2\n\
                   [[bench]]\ncapture = \"captures/ordering.gfxr\"\nframes = 2\n";
    let (scratch, file) = with("suite-failures", benches);
    let broken = scratch.path("captures/broken.gfxr");
    fs::write(&broken, "no capture").expect("a file");
    let [to, fast] = ["to", "fast"].map(|n| scratch.path(n));
    let said = suite(&["run", word(&file), "-o", word(&to)]);
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    assert!(said.err.contains("none-f99: failed") && said.err.contains("broken-f2: failed"), "{}", said.err);
    let n = note(&to);
    let state: Vec<State> = n.units.iter().map(|u| u.state).collect();
    assert_eq!(state, [State::Failed, State::Failed, State::Done]);
    assert!(n.units[0].exit.is_some_and(|e| e != 0) && n.units[0].stderr.join("").contains("99"), "{n:?}");
    assert!(said.out.contains("1 of 3 units done, 2 failed") && said.out.contains("99"), "{}", said.out);
    // Nothing is left of what failed.
    assert_eq!(fs::read_dir(to.join("units")).expect("it is there").count(), 1);

    let said = suite(&["run", word(&file), "-o", word(&fast), "--fail-fast"]);
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert_eq!(
        states(&fast).into_iter().map(|s| s.1).collect::<Vec<_>>(),
        [State::Failed, State::Waiting, State::Waiting]
    );

    // It goes on: what is done is not measured again, what failed is tried again.
    assert!(suite(&["run", word(&file), "-o", word(&to)]).err.contains("--resume"));
    let done = |folder: &Path| fs::read(folder.join("units/ordering-f2/run.json")).expect("a run");
    let before = done(&to);
    fs::copy(sample("ordering.gfxr"), &broken).expect("a capture");
    fs::create_dir_all(to.join("units/.broken-f2.123.part/x")).expect("what a crash left");
    let said = suite(&["run", word(&file), "-o", word(&to), "--resume", "--only", "broken-*,ord*"]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    assert_eq!(done(&to), before);
    let n = note(&to);
    assert_eq!((n.units[1].state, n.units[1].part, n.parts.len()), (State::Done, Some(1), 2));
    assert_eq!((n.units[1].exit, n.units[1].stderr.len(), n.units[0].state), (None, 0, State::Failed));
    assert_eq!(fs::read_dir(to.join("units")).expect("it is there").count(), 2);

    // Of two results the one that lacks units is said so, by name.
    let said = suite(&["compare", word(&to), word(&fast), "--min-effect", "90%"]);
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    for words in ["none-f99 (failed", "broken-f2 (missing", "ordering-f2 (missing"] {
        assert!(said.err.contains(words), "{words}: {}", said.err);
    }
    let said = suite(&["compare", word(&to), word(&fast), "--partial", "--format", "junit"]);
    assert_eq!(said.code, Some(4), "{}{}", said.out, said.err);
    assert_eq!(said.out.matches("<error type=").count(), 3, "{}", said.out);

    // What is of something else is not gone on with.
    for (change, words) in [
        (vec!["--shard", "1/2"], "of all units, and not of shard 1/2"),
        (vec!["--only", "nobody"], "no unit is called so"),
    ] {
        let said = suite(&[&["run", word(&file), "-o", word(&to), "--resume"], &change[..]].concat());
        assert!(said.code == Some(2) && said.err.contains(words), "{:?} {}", said.code, said.err);
    }
    let held = fs::File::open(&to).expect("a folder");
    held.lock().expect("it can be locked");
    let said = suite(&["run", word(&file), "-o", word(&to), "--resume"]);
    assert!(said.code == Some(1) && said.err.contains("another `suite run`"), "{}", said.err);
    drop(held);
    let other = scratch.path("other.toml");
    fs::write(&other, fs::read_to_string(&file).expect("a suite") + "# changed\n").expect("a file");
    let said = suite(&["run", word(&other), "-o", word(&to), "--resume"]);
    assert!(said.code == Some(2) && said.err.contains("another suite file"), "{}", said.err);
    assert_eq!(done(&to), before);
}

#[test]
fn a_planted_slowdown_is_the_suites_verdict() {
    if !device("suite-verdict") {
        return;
    }
    let benches = "against = \"plain\"\n[[plan]]\nname = \"plain\"\n\
                   [[plan]]\nname = \"slow\"\npasses = \"burn:turns=30000+stage=fragment\"\n\
                   [[bench]]\nname = \"vm\"\ncapture = \"captures/vm.gfxr\"\nframes = 2\n\
                   [[bench]]\nname = \"alone\"\ncapture = \"captures/ordering.gfxr\"\nframes = 2\nplans = [\"plain\"]\nprocesses = 1\n";
    let (scratch, file) = with("suite-verdict", benches);
    let text = fs::read_to_string(&file).expect("a suite").replace("90%", "25%");
    // (what is inconclusive on a busy machine is measured with more processes, as in verdict.rs)
    let mut processes = 6;
    let (to, said) = loop {
        let to = scratch.path(&format!("to-{processes}"));
        fs::write(&file, text.replacen("processes = 2", &format!("processes = {processes}"), 1))
            .expect("a file");
        let said = suite(&["run", word(&file), "-o", word(&to)]);
        assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
        let said = suite(&["compare", word(&to), word(&to), "--format", "json"]);
        processes *= 2;
        if said.code != Some(4) || processes > 24 {
            break (to, said);
        }
    };
    assert_eq!(said.code, Some(3), "{}{}", said.out, said.err);
    let all: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!((&all["verdict"], &all["units"][0]["name"]), (&"regression".into(), &"vm-f2".into()), "{all}");
    assert_eq!(all["units"][0]["compared"]["rows"][0]["plan"], "slow against plain");
    assert!(all["notes"][0].as_str().is_some_and(|n| n.contains("alone-f2: it has one plan only")), "{all}");
    // A flag is stronger than the suite file.
    let said = suite(&["compare", word(&to), word(&to), "--metric", "p99"]);
    assert!(
        said.code == Some(4) && said.out.contains("p99 needs 100 frames"),
        "{:?} {}",
        said.code,
        said.out
    );
}

#[test]
fn what_makes_no_suite_is_refused_with_its_line() {
    let (scratch, file) = with("suite-refused", "[[bench]]\ncapture = \"captures/a.gfxr\"\n");
    let said = suite(&["list", word(&file), "--shard", "2/2", "--json"]);
    assert_eq!(said.code, Some(0), "captures need not be there: {}", said.err);
    let value: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(wrong("report", &value), Vec::<String>::new());
    assert_eq!(
        (&value["tables"][0]["rows"][0][0], &value["tables"][0]["rows"][0][6]),
        (&"a".into(), &1.into())
    );
    let to = scratch.path("to");
    for (from, text, words) in [
        ("[[bench]]", "[[bench]]\ncolour = 3", ":10: unknown field `colour`"),
        ("processes = 2", "processes = 0", ":9: as flags of bench: invalid value '0' for '--processes"),
        ("schema_version = 1", "schema_version = 7", ":1: schema_version 7"),
    ] {
        let bad = scratch.path("bad.toml");
        fs::write(&bad, fs::read_to_string(&file).expect("a suite").replacen(from, text, 1)).expect("a file");
        for words_of in [vec!["list", word(&bad)], vec!["run", word(&bad), "-o", word(&to)]] {
            let said = suite(&words_of);
            assert!(said.code == Some(1) && said.err.contains(words), "{:?} {}", said.code, said.err);
        }
    }
    assert!(!to.exists(), "nothing is half written");
    assert_eq!(suite(&["run", word(&file), "-o", word(&to), "--shard", "3/2"]).code, Some(2));
    assert_eq!(suite(&["list", word(&scratch.path(""))]).code, Some(1));
    let said = suite(&["merge", word(&scratch.path("captures")), "-o", word(&to)]);
    assert!(said.code == Some(1) && said.err.contains("suite.json"), "{}", said.err);
    fs::write(scratch.path("x.tar.gz"), "no archive").expect("a file");
    let said = suite(&["compare", word(&scratch.path("x.tar.gz")), word(&to)]);
    assert!(said.code == Some(1) && said.err.contains("to be a .tar.gz file"), "{}", said.err);
}
