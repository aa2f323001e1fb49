//! What a page is made of: traces, runs of `bench`, and JSON that a replay or `analyze` printed.
//!
//! A folder with a `run.json` is a run, one with a trace's manifest a trace. A folder with a `report.json` is a study: that report,
//! and the runs and traces below it (as of a suite's results, its units' runs), but for those that were only recorded for the
//! report's own numbers (`OWN`). A file is JSON; every report in it counts. Refuses all else.

use crate::failure::Failure;
use crate::files::{archive, input, mmap};
use crate::pictures;
use crate::questions;
use crate::say::complain;
use analyses::report::Report;
use analyses::report::html::Input;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use trace::dir::Manifest;
use trace::run::Run;
use trace::what_if::{WHAT_IF_FILE, WhatIf};

/// Folders of a run whose traces are in its report already.
const OWN: [&str; 3] = ["efficiency", "checked", "known"];
/// Folders that lie within each other in a run.
const DEEPEST: u32 = 5;
/// Largest JSON that is read.
const LARGEST: u64 = 1 << 30;

/// What was read.
#[derive(Default)]
pub struct Read {
    /// In the order of the command line.
    pub inputs: Vec<Input>,
    /// Some question was not answered; stderr says which.
    pub failed: bool,
    /// The replay of a capture was not what was captured; stderr says which.
    pub diverged: bool,
}

/// Reads one.
pub fn read(path: &Path, questions: &[String], into: &mut Read) -> Result<(), Failure> {
    let name = name(path);
    if !path.is_dir() {
        if archive::is_archive(path) {
            let text = "an archive; unpack it, and name the folder";
            return Err(Failure::new(format_args!("{}: {text}", path.display())));
        }
        let value = json(path)?;
        let input = Input { name, ..of_json(&value, path)? };
        if input.reports.is_empty() {
            let text =
                "no report in it: it is to be JSON that a replay, analyze, bench, diff or compare printed";
            return Err(Failure::new(format_args!("{}: {text}", path.display())));
        }
        into.inputs.push(input);
        return Ok(());
    }
    let before = into.inputs.len();
    folder(path, &name, questions, into, 0)?;
    if into.inputs.len() == before {
        let text = "no trace and no run: it has no manifest.json of a trace, and no report.json";
        return Err(Failure::new(format_args!("{}: {text}", path.display())));
    }
    Ok(())
}

/// A file's or folder's own name.
pub fn name(path: &Path) -> String {
    let whole = fs::canonicalize(path);
    let of = |p: &Path| p.file_name().map(|n| n.to_string_lossy().into_owned());
    of(path).or_else(|| of(whole.as_deref().ok()?)).unwrap_or_else(|| path.display().to_string())
}

fn folder(path: &Path, name: &str, questions: &[String], into: &mut Read, depth: u32) -> Result<(), Failure> {
    let manifest = path.join("manifest.json");
    let trace = mmap::open_plain(&manifest).ok();
    let trace = trace.filter(|bytes| Manifest::parse((**bytes).as_ref(), &manifest).is_ok());
    if Run::is_one(path) {
        into.inputs.push(of_run(path, name)?);
        return Ok(());
    }
    if trace.is_some() {
        let input = of_trace(path, name, questions, &mut into.failed)?;
        into.inputs.extend(input);
        return Ok(());
    }
    let report = path.join("report.json");
    if report.is_file() {
        let mut input =
            Input { name: name.to_owned(), kind: "run".into(), ..of_json(&json(&report)?, &report)? };
        if manifest.is_file() {
            flatten("", &json(&manifest)?, &mut input.facts);
        }
        if let Err(why) = pictures_of_asked(path, &mut input) {
            input.notes.push(format!("Pictures are missing: {}.", why.1.trim_end_matches('.')));
        }
        into.inputs.push(input);
    }
    if depth == DEEPEST {
        return Ok(());
    }
    let listed = fs::read_dir(path).map_err(|e| Failure::new(format_args!("{}: {e}", path.display())))?;
    // (links are not followed: they lead anywhere, and in circles)
    let folders = |e: io::Result<fs::DirEntry>| e.ok().filter(|e| e.file_type().is_ok_and(|t| t.is_dir()));
    let mut below: Vec<PathBuf> = listed.filter_map(folders).map(|e| e.path()).collect();
    below.sort();
    for inner in below {
        let own = inner.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !OWN.contains(&own.as_str()) {
            folder(&inner, &format!("{name}/{own}"), questions, into, depth + 1)?;
        }
    }
    Ok(())
}

/// Of a folder of `what-if`, pictures of the frame that it asked about; else why there are none.
fn pictures_of_asked(path: &Path, input: &mut Input) -> Result<(), Failure> {
    let file = path.join(WHAT_IF_FILE);
    let Ok(bytes) = fs::read(&file) else { return Ok(()) };
    let of = WhatIf::parse(&bytes, &file).map_err(Failure::new)?;
    if let Some((report, _)) = input.reports.first_mut() {
        report.pictures = pictures::taken(path, of.frame)?;
    }
    Ok(())
}

/// A run of several processes.
fn of_run(path: &Path, name: &str) -> Result<Input, Failure> {
    let run = Run::open_with(path, mmap::open_plain).map_err(Failure::new)?;
    let note = &run.note;
    let mut facts = vec![];
    let mut add = |name: &str, value: String| {
        if !value.is_empty() {
            facts.push((name.to_owned(), value));
        }
    };
    for c in &note.captures {
        add("capture", c.name.clone());
        add("capture, BLAKE3", c.blake3.clone());
    }
    for p in &note.plans {
        let parts = p.changes();
        add(
            &format!("plan {}", p.name),
            if parts.is_empty() { "as captured".into() } else { parts.join(", ") },
        );
    }
    for r in &note.refused {
        add(&format!("plan {}", r.plan), format!("refused, and not timed: {}", r.why));
    }
    let mut devices: Vec<&Value> = vec![];
    for w in &note.workers {
        if !devices.contains(&&w.device) {
            devices.push(&w.device);
        }
    }
    add("processes", note.workers.len().to_string());
    add("stopped", note.stopped.clone());
    add("wall time", format!("{:.1} s", note.wall.as_millis() / 1e3));
    add("command line", note.command_line.join(" "));
    add("written by", note.program.clone());
    devices.iter().for_each(|device| flatten("device", device, &mut facts));
    flatten("machine", &note.machine, &mut facts);
    let reports = analyses::times::run_times::reports(&run).into_iter();
    let about = "how long frames took under each plan, in each process, and what took it";
    let mut notes: Vec<String> = vec![];
    for note in note.workers.iter().flat_map(|w| &w.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    Ok(Input {
        name: name.into(),
        kind: "run".into(),
        facts,
        notes,
        reports: reports.map(|r| (r, about.to_owned())).collect(),
        ..Input::default()
    })
}

/// A trace and its answers; none where no question that is asked for can be answered.
pub fn of_trace(
    path: &Path,
    name: &str,
    questions: &[String],
    failed: &mut bool,
) -> Result<Option<Input>, Failure> {
    let dir = input::trace(path, "simt")?;
    let mut asked = questions::answerable(&dir);
    if !questions.is_empty() {
        questions::known(questions)?;
        asked.retain(|q| questions.iter().any(|name| name == q.name));
    }
    let answers = questions::answers(&dir, &asked);
    let mut reports = vec![];
    for (question, answer) in asked.iter().zip(answers) {
        match answer {
            Ok(report) => reports.push((report, question.about.to_owned())),
            Err(e) => {
                complain(format_args!("{}: {e}", question.name));
                *failed = true;
            }
        }
    }
    let m = dir.manifest();
    let passes = m.passes.iter().map(|p| match p.options.as_str() {
        "" => p.name.clone(),
        options => format!("{} ({options})", p.name),
    });
    let frames = match (m.frames.first(), m.frames.last()) {
        (Some(a), Some(b)) if a != b => format!("{a} to {b}, {} of them", m.frames.len()),
        (Some(a), _) => a.to_string(),
        _ => "none".into(),
    };
    let mut facts = vec![
        ("capture".to_owned(), m.capture.name.clone()),
        ("capture, bytes".to_owned(), m.capture.size_bytes.to_string()),
        ("capture, BLAKE3".to_owned(), m.capture.blake3.clone()),
        ("device".to_owned(), m.device.name.clone()),
        ("driver".to_owned(), m.device.driver.clone()),
        ("subgroup size".to_owned(), m.device.subgroup_size.to_string()),
        ("passes".to_owned(), passes.collect::<Vec<_>>().join(", ")),
        ("frames measured".to_owned(), frames),
        ("written by".to_owned(), m.program.clone()),
    ];
    if m.device.subgroup_size == 0 {
        facts.retain(|f| f.0 != "subgroup size");
    }
    facts.retain(|f| !f.1.is_empty());
    for c in m.cost.iter().chain(&m.other_costs) {
        let (without, with) = (c.without.as_millis(), c.with.as_millis());
        facts.push((format!("cost: {}", c.of), format!("{without:.3} ms without, {with:.3} ms with")));
    }
    let input = Input {
        name: name.into(),
        kind: "trace".into(),
        facts,
        notes: m.notes.clone(),
        reports,
        ..Input::default()
    };
    Ok((!input.reports.is_empty()).then_some(input))
}

/// A file of JSON.
pub fn json(path: &Path) -> Result<Value, Failure> {
    let fail = |e: &dyn std::fmt::Display| Failure::new(format_args!("{}: {e}", path.display()));
    let meta = fs::metadata(path).map_err(|e| fail(&e))?;
    if !meta.is_file() {
        return Err(fail(&"no plain file"));
    }
    if input::is_capture(path) {
        return Err(fail(
            &"that is another capture; here goes what was measured on one: a trace, a run, or JSON that this program wrote",
        ));
    }
    let length = meta.len();
    if length > LARGEST {
        return Err(fail(&format_args!("{length} bytes; {LARGEST} at most are read")));
    }
    let bytes = fs::read(path).map_err(|e| fail(&e))?;
    let wanted = "neither a capture nor JSON that this program wrote";
    serde_json::from_slice(&bytes).map_err(|e| fail(&format_args!("{wanted}: {e}")))
}

/// Every report in it, and of a replay what it says of itself.
pub fn of_json(value: &Value, path: &Path) -> Result<Input, Failure> {
    let kind = if value["verdict"].is_string() { "verdict" } else { "replay" };
    let mut input = Input { kind: kind.into(), ..Input::default() };
    collect(value, &mut input.reports)
        .map_err(|why| Failure::new(format_args!("{}: a report in it: {why}", path.display())))?;
    for key in [
        "tool",
        "capture",
        "device",
        "memory",
        "addresses",
        "frame_by",
        "calls",
        "frames",
        "submits",
        "pipelines",
    ] {
        match &value[key] {
            Value::Null => {}
            inner => flatten(key, inner, &mut input.facts),
        }
    }
    if let Value::Object(notes) = &value["notes"] {
        input.notes.extend(notes.iter().map(|(what, n)| format!("{n} × {what}")));
    }
    Ok(input)
}

fn collect(value: &Value, reports: &mut Vec<(Report, String)>) -> Result<(), String> {
    if value.get("analysis").is_some() && value.get("tables").is_some() {
        reports.push((analyses::report::json::read(value)?, String::new()));
        return Ok(());
    }
    for inner in [&value["report"], &value["times"]["report"]] {
        if inner.is_object() {
            collect(inner, reports)?;
        }
    }
    value["reports"].as_array().into_iter().flatten().try_for_each(|inner| collect(inner, reports))
}

/// `{"device": {"name": "x"}}` as `device, name`: `x`.
fn flatten(name: &str, value: &Value, facts: &mut Vec<(String, String)>) {
    let joined = |key: &str| {
        if name.is_empty() { key.replace('_', " ") } else { format!("{name}, {}", key.replace('_', " ")) }
    };
    let plain = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    match value {
        Value::Null => {}
        Value::Object(inner) => inner.iter().for_each(|(k, v)| flatten(&joined(k), v, facts)),
        Value::Array(all) if all.iter().all(|v| !v.is_object() && !v.is_array()) => {
            facts.push((name.to_owned(), all.iter().map(plain).collect::<Vec<_>>().join(", ")));
        }
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(n, v)| flatten(&joined(&(n + 1).to_string()), v, facts))
        }
        other => facts.push((name.to_owned(), plain(other))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reports_are_found_wherever_a_command_prints_them() {
        let r = serde_json::to_value(Report::new("x", "X")).expect("plain values");
        let found = |v: Value| of_json(&v, Path::new("x")).map_or(0, |i| i.reports.len());
        assert_eq!(found(r.clone()), 1);
        assert_eq!(found(json!({ "report": r, "times": { "report": r } })), 2);
        assert_eq!(found(json!({ "reports": [r, r, r] })), 3);
        assert_eq!(found(json!({ "report": null, "frames": 3 })), 0);
    }

    #[test]
    fn facts_are_flat() {
        let mut facts = vec![];
        flatten(
            "",
            &json!({ "device": { "driver_uuid": "ab", "none": null }, "tile": [2, 3], "frame": 1 }),
            &mut facts,
        );
        let of = |n: &str| facts.iter().find(|f| f.0 == n).map(|f| f.1.as_str());
        assert_eq!(
            (of("device, driver uuid"), of("tile"), of("frame"), facts.len()),
            (Some("ab"), Some("2, 3"), Some("1"), 3)
        );
    }
}
