//! Parity: for every call of every capture, the values `dump` prints equal those of Debian's gfxrecon-convert 0.9.18.
//!
//! Both outputs are compared as data. Where they differ by design (that version is older than the shape `dump`
//! follows), one rule of `rules` says why; a rule that nothing needs any more fails the test, too.

mod rules;

use crate::support::{Scratch, captures, run, shared_captures, skip, text};
use rules::{ELSEWHERE, RULES, Rule, Side};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The version whose output the rules describe.
const VERSION: &str = "0.9.18";

/// Is that version of gfxrecon-convert installed?
fn convert_is_there() -> bool {
    let Ok(out) = Command::new("gfxrecon-convert").arg("--version").output() else { return false };
    text(&out.stdout).contains(&format!("Version {VERSION}"))
}

/// Records by block index, of this kind.
fn records(lines: &str, kind: &str) -> BTreeMap<u64, Value> {
    let parse = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_else(|e| panic!("{e} in {line}"));
    let mut out = BTreeMap::new();
    for mut record in lines.lines().map(parse) {
        if let (Some(index), Some(body)) = (record["index"].as_u64(), record.get_mut(kind)) {
            out.insert(index, body.take());
        }
    }
    out
}

fn ours(path: &Path, flags: &[&str]) -> String {
    let mut arguments = vec![std::ffi::OsStr::new("dump"), path.as_os_str()];
    arguments.extend(flags.iter().map(std::ffi::OsStr::new));
    let out = run(arguments);
    assert_eq!(out.status.code(), Some(0), "{}: {}", path.display(), text(&out.stderr));
    String::from_utf8(out.stdout).expect("UTF-8")
}

/// One call being compared.
struct Comparison<'r> {
    uses: &'r mut BTreeMap<&'static str, u64>,
    problems: &'r mut Vec<String>,
    place: String,
}

impl Comparison<'_> {
    /// Compares two values; `expanded` is ours again, with flags by name.
    fn values(&mut self, path: &str, ours: &Value, expanded: &Value, theirs: &Value) {
        match (ours, theirs) {
            (Value::Object(a), Value::Object(b)) => self.objects(path, a, expanded, b),
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                for (i, (x, y)) in a.iter().zip(b).enumerate() {
                    self.values(&format!("{path}[{i}]"), x, &expanded[i], y);
                }
            }
            _ if ours == theirs => {}
            _ => self.different(path, Side::Both { ours, expanded, theirs }),
        }
    }

    fn objects(&mut self, path: &str, a: &Map<String, Value>, expanded: &Value, b: &Map<String, Value>) {
        for (key, x) in a {
            let path = format!("{path}.{key}");
            match b.get(key) {
                Some(y) => self.values(&path, x, &expanded[key], y),
                None => self.different(&path, Side::Ours(x)),
            }
        }
        for (key, y) in b.iter().filter(|(k, _)| !a.contains_key(*k)) {
            self.different(&format!("{path}.{key}"), Side::Theirs(y));
        }
    }

    fn different(&mut self, path: &str, side: Side) {
        let name = path.rsplit('.').next().unwrap_or(path).split('[').next().unwrap_or("");
        let found: Option<&Rule> = RULES.iter().find(|r| (r.applies)(name, &side));
        match (found, &side) {
            (Some(rule), Side::Both { ours, expanded, theirs }) if rule.look_inside => {
                *self.uses.entry(rule.name).or_default() += 1;
                self.values(path, ours, expanded, &theirs[0]);
            }
            (Some(rule), _) => *self.uses.entry(rule.name).or_default() += 1,
            (None, _) => self.problems.push(format!("{}: {path}: {side:?}", self.place)),
        }
    }
}

#[test]
fn every_value_equals_converts() {
    if !convert_is_there() {
        return skip("parity with gfxrecon-convert", &format!("version {VERSION} is not installed"));
    }
    let scratch = Scratch::new("parity");
    let mut uses = BTreeMap::new();
    let mut problems = Vec::new();
    let mut calls = 0;
    for path in captures() {
        if path.ends_with("objects.gfxr") {
            skip("objects.gfxr", &format!("version {VERSION} does not know what it uses, and aborts"));
            continue;
        }
        let theirs = scratch.path("theirs.jsonl");
        let out = Command::new("gfxrecon-convert").arg("--output").arg(&theirs).arg(&path).output();
        let out = out.expect("it starts");
        assert!(out.status.success(), "{}: {}", path.display(), text(&out.stderr));
        let theirs = text(&std::fs::read(theirs).expect("it wrote"));
        let (plain, names) = (ours(&path, &[]), ours(&path, &["--expand-flags"]));
        let mine = records(&plain, "function");
        let expanded = records(&names, "function");
        let theirs_calls = records(&theirs, "vkFunc");
        assert!(mine.keys().eq(theirs_calls.keys()), "{}: not the same calls", path.display());
        for (index, call) in &mine {
            calls += 1;
            let place = format!("{} block {index} {}", path.display(), call["name"]);
            let mut c = Comparison { uses: &mut uses, problems: &mut problems, place };
            c.values("", call, &expanded[index], &theirs_calls[index]);
        }
        // Upstream shortens no annotation, so they are equal as they are.
        assert_eq!(records(&plain, "annotation"), records(&theirs, "annotation"), "{}", path.display());
    }
    eprintln!("{calls} calls; tolerated: {uses:#?}");
    assert!(problems.is_empty(), "{} values differ, the first:\n{}", problems.len(), first(&problems));
    if shared_captures().is_some() {
        let idle = RULES.iter().map(|r| r.name).filter(|n| !uses.contains_key(n) && !ELSEWHERE.contains(n));
        let idle: Vec<_> = idle.collect();
        assert!(idle.is_empty(), "rules that nothing needs: {idle:?}");
    }
}

fn first(problems: &[String]) -> String {
    problems.iter().take(20).map(|p| p.chars().take(400).collect::<String>()).collect::<Vec<_>>().join("\n")
}
