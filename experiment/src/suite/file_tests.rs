//! What is read of suite files, and what is said of those that are wrong.

use super::*;

const WHOLE: &str = r#"
schema_version = 1
name = "nightly"
[defaults]
processes = 12
metric = ["median", "p99"]
min-effect = "2%"
alpha = 0.01
gpu = 0
against = "plain"
budget = "10m"
[[plan]]
name = "plain"
[[plan]]
name = "other"
passes = ["simt", "burn:turns=300"]
env = { A = "x y", B = "it's" }
[[bench]]
name = "pygfx"
capture = "pygfx.gfxr"
frames = [61, "80-82"]
metric = "mean"
[[bench]]
captures = ["a.gfxr", "scenes/*.gfxr"]
plans = ["plain"]
weight = 3.5
min-effect = "5 %"
"#;

#[test]
fn a_suite_is_read() {
    let s = parse(WHOLE, "s.toml").expect("a suite");
    assert_eq!((&*s.name, s.plans.len(), s.benches.len()), ("nightly", 2, 2));
    let words = shlex::split(&s.plans[1].to_string()).expect("words");
    assert_eq!(words, ["other", "passes=simt,burn:turns=300", "env=A=x y", "env=B=it's"]);
    let [a, b] = &s.benches[..] else { panic!("two") };
    assert_eq!(
        (a.line, a.frames.clone(), a.plans.clone(), a.weight),
        (18, vec![61, 80, 81, 82], vec![0, 1], 1.0)
    );
    assert_eq!((a.settings.metrics(), a.settings.processes), (vec![Metric::Mean], Some(12)));
    assert_eq!(a.settings.gpu, Some(Text("0".into())));
    assert_eq!((b.frames.len(), b.plans.clone(), b.weight), (0, vec![0], 3.5));
    assert_eq!(b.captures, ["a.gfxr", "scenes/*.gfxr"]);
    assert_eq!(b.settings.metrics(), [Metric::Median, Metric::P99]);
    assert_eq!(b.settings.min_effect.as_ref().map(|s| s.share), Some(0.05));
    let one = parse("schema_version = 1\nname = \"x\"\n[[bench]]\ncapture = \"a.gfxr\"\n", "s").expect("one");
    assert_eq!(one.plans, [Plan::named("plain")]);
}

/// What is said of the suite with a text in place of another; the line is that of the error.
fn said_of(from: &str, to: &str) -> String {
    assert!(WHOLE.contains(from), "{from}");
    parse(&WHOLE.replacen(from, to, 1), "s.toml").expect_err(to)
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    for (from, to, line, words) in [
        ("schema_version = 1", "schema_version = 2", ":2:", "schema_version 2; this program reads 1"),
        ("schema_version = 1", "", ":", "begin with `schema_version = 1`"),
        ("name = \"nightly\"", "name = \" \"", ":3:", "has a name"),
        ("name = \"nightly\"", "", ":", "name"),
        ("processes = 12", "proceses = 12", ":5:", "processes"),
        ("processes = 12", "processes = \"many\"", ":5:", "u32"),
        ("processes = 12", "processes = ", ":5:", ""),
        ("\"p99\"]", "\"best\"]", ":6:", "no metric best; there are median"),
        ("min-effect = \"2%\"", "min-effect = \"much\"", ":7:", "2% for one"),
        ("min-effect = \"2%\"", "min-effect = 0.02", ":7:", "string"),
        ("alpha = 0.01", "alpha = 0.5", ":8:", "below 0.5"),
        ("gpu = 0", "gpu = true", ":9:", "a text or a whole number"),
        ("gpu = 0", "clock = \"sun\"", ":9:", "gpu or cpu"),
        ("against = \"plain\"", "against = \"nobody\"", ":10:", "has no such plan"),
        ("budget = \"10m\"", "budget = \"soon\"", ":11:", "90s, 10m or 2h"),
        ("name = \"other\"", "name = \"plain\"", ":15:", "plan plain is there twice"),
        ("name = \"other\"", "name = \"a=b\"", ":14:", "without `=`"),
        ("passes = [", "colour = [", ":16:", "passes"),
        ("A = \"x y\"", "\"A=B\" = \"x\"", ":14:", "no variable's name"),
        ("A = \"x y\"", "A = 3", ":17:", "string"),
        ("name = \"pygfx\"", "name = \"../x\"", ":19:", "folder"),
        ("capture = \"pygfx.gfxr\"", "", ":18:", "has a capture"),
        ("capture = \"pygfx.gfxr\"", "capture = \"\"", ":18:", "file's name"),
        ("capture = \"pygfx.gfxr\"", "capture = \"x\"\ncaptures = \"y\"", ":21:", "not both"),
        ("[61, \"80-82\"]", "[]", ":21:", "no frame"),
        ("[61, \"80-82\"]", "[0]", ":21:", "counted from 1"),
        ("[61, \"80-82\"]", "\"7-\"", ":21:", "frames at most"),
        ("[61, \"80-82\"]", "\"9-7\"", ":21:", "backwards"),
        ("[61, \"80-82\"]", "true", ":21:", "a frame's number"),
        ("plans = [\"plain\"]", "plans = [\"fast\"]", ":25:", "no plan fast; there are plain, other"),
        ("plans = [\"plain\"]", "plans = []", ":25:", "one plan at least"),
        ("plans = [\"plain\"]", "plans = [\"plain\", \"plain\"]", ":25:", "twice"),
        ("plans = [\"plain\"]", "plans = [\"other\"]", ":10:", "the [[bench]] on line 23 has no such plan"),
        ("weight = 3.5", "weight = 0.0", ":26:", "above 0"),
        ("weight = 3.5", "metric = []", ":23:", "leave it out"),
        ("weight = 3.5", "frame = 3", ":26:", "frames"),
    ] {
        let e = said_of(from, to);
        assert!(e.starts_with(&format!("s.toml{line}")) && e.contains(words), "{to}: {e}");
        assert!(!e.contains('\n'), "{e}");
    }
    let e = parse("schema_version = 1\nname = \"x\"\n", "s").expect_err("no bench");
    assert!(e.contains("one [[bench]]"), "{e}");
}
