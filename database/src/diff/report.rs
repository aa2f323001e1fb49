//! A difference as text, as JSON and as a report for pages.
//!
//! Guarantees: the first line is the conclusion; a change that repeats is said once, with how often. Texts from captures are escaped
//! where they are printed. Refuses nothing.

use super::{Change, Difference, Kind, What};
use analyses::report::text::wrapped;
use analyses::report::{Cell, Column, Cost, Report, Table, Unit, counted, escape};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The version of the JSON. It goes up by one when a field changes its meaning or goes.
pub const SCHEMA_VERSION: u32 = 1;
/// Members of a change that the text shows, at most.
const MEMBERS: usize = 12;
/// Lines of a shader's difference that the text shows, at most.
const LINES: usize = 40;

/// The conclusion, in a sentence.
pub fn conclusion(d: &Difference) -> String {
    if d.is_equal() {
        return "The captures do the same.".into();
    }
    let of = |kind: Kind, what: What| -> u64 {
        let all = d.changes.iter().filter(|c| (c.kind, c.what) == (kind, what));
        all.map(|c| match kind {
            Kind::Command | Kind::Call => c.times[0].max(c.times[1]),
            Kind::Frame => c.frames[0].len().max(c.frames[1].len()) as u64,
            Kind::Object | Kind::Contents => 1,
        })
        .sum()
    };
    let mut parts = vec![];
    for (kind, one, all) in [
        (Kind::Frame, "frame", d.counts.frames),
        (Kind::Command, "command", d.counts.commands),
        (Kind::Call, "call", [0; 2]),
        (Kind::Object, "object", d.counts.objects),
        (Kind::Contents, "written resource", [0; 2]),
    ] {
        let [changed, added, removed] = [What::Changed, What::Added, What::Removed].map(|w| of(kind, w));
        if changed + added + removed == 0 {
            continue;
        }
        let most = all[0].max(all[1]);
        let total = if most > 0 { format!(" of {}", counted(most, one)) } else { String::new() };
        let mut said = vec![];
        for (n, word) in [(changed, "changed"), (added, "added"), (removed, "removed")] {
            if n == 0 {
                continue;
            }
            let verb = if n == 1 { "was" } else { "were" };
            said.push(match (said.is_empty(), total.is_empty()) {
                (true, true) => format!("{} {verb} {word}", counted(n, one)),
                (true, false) => format!("{n}{total} {verb} {word}"),
                _ => format!("{n} {verb} {word}"),
            });
        }
        parts.push(said.join(", "));
    }
    let all: BTreeSet<u64> =
        d.changes.iter().flat_map(|c| (0..2).flat_map(|side| proper(d, c, side))).collect();
    let frames = ranges(&all);
    let place = match all.len() {
        0 => String::new(),
        1 => format!(", in frame {frames}"),
        _ => format!(", in frames {frames}"),
    };
    format!("{}{place}; everything else is equal.", parts.join("; "))
}

/// The frames of a change on a side, without the state before the first one and what follows the last.
fn proper(d: &Difference, c: &Change, side: usize) -> BTreeSet<u64> {
    let is_one = |n: &&u64| **n != 0 && Some(**n) != d.counts.tails[side];
    c.frames[side].iter().filter(is_one).copied().collect()
}

/// Numbers as ranges: 1-3, 7.
pub fn ranges(all: &BTreeSet<u64>) -> String {
    let mut runs: Vec<(u64, u64)> = vec![];
    for n in all {
        match runs.last_mut() {
            Some(last) if last.1 + 1 == *n => last.1 = *n,
            _ => runs.push((*n, *n)),
        }
    }
    const SHOWN: usize = 6;
    let one = |r: &(u64, u64)| if r.0 == r.1 { r.0.to_string() } else { format!("{}-{}", r.0, r.1) };
    let mut parts: Vec<String> = runs.iter().take(SHOWN).map(one).collect();
    if runs.len() > SHOWN {
        parts.push("…".into());
    }
    parts.join(", ")
}

/// When and how often, in words.
fn when(d: &Difference, c: &Change) -> String {
    let side = usize::from(c.frames[0].is_empty());
    let (any, frames) = (&c.frames[side], &proper(d, c, side));
    let mut out = match (frames.len() as u64, d.counts.frames[side]) {
        (0, _) if any.is_empty() => String::new(),
        (0, _) if any.contains(&0) => "before the first frame".into(),
        (0, _) => "after the last frame".into(),
        (1, _) => format!("frame {}", ranges(frames)),
        (n, all) if n == all => format!("in all {all} frames"),
        (n, all) => format!("in {n} of {all} frames ({})", ranges(frames)),
    };
    let times = c.times[0].max(c.times[1]);
    let is_run = matches!(c.kind, Kind::Command | Kind::Call);
    if is_run && times > any.len() as u64 {
        out.push_str(&format!(", {times} times"));
    }
    if c.kind == Kind::Frame {
        return counted(times, "command");
    }
    match c.time_ns {
        [Some(a), Some(b)] => out.push_str(&format!(", {} -> {}", time(a), time(b))),
        [Some(t), None] | [None, Some(t)] => out.push_str(&format!(", {}", time(t))),
        [None, None] => {}
    }
    if let Some(n) = c.reaches.filter(|n| *n > 0) {
        let of = if n == 1 { "draw, dispatch or trace" } else { "draws, dispatches and traces" };
        out.push_str(&format!(", reaches {n} {of}"));
    }
    out
}

fn time(ns: f64) -> String {
    if ns >= 1e6 { format!("{:.2} ms", ns / 1e6) } else { format!("{:.2} µs", ns / 1e3) }
}

/// All of it as text, its sentences in so many columns; at most so many changes are listed.
pub fn text(d: &Difference, most: usize, within: Option<usize>) -> String {
    let sentence = |text: &str| wrapped(text, within, 0) + "\n";
    let mut out = sentence(&conclusion(d));
    let kinds = [
        (Kind::Frame, "Frames"),
        (Kind::Command, "Commands"),
        (Kind::Call, "Calls"),
        (Kind::Object, "Objects"),
        (Kind::Contents, "What is written to buffers and images"),
    ];
    let mut left = most;
    for (kind, heading) in kinds {
        let all: Vec<&Change> = d.changes.iter().filter(|c| c.kind == kind).collect();
        if all.is_empty() {
            continue;
        }
        _ = writeln!(out, "\n{heading}");
        for c in all.iter().take(left) {
            one(d, c, &mut out);
        }
        if all.len() > left {
            _ = writeln!(out, "  … and {} more; --json has them all", all.len() - left);
        }
        left = left.saturating_sub(all.len());
    }
    let answers = d.counts.answers;
    if answers > 0 || !d.notes.is_empty() {
        out.push('\n');
    }
    if answers > 0 {
        let verb = if answers == 1 { "differs" } else { "differ" };
        let text = "which is no change of the program";
        out += &sentence(&format!("{} of the driver {verb}, {text}.", counted(answers, "answer")));
    }
    d.notes.iter().for_each(|n| out += &sentence(n));
    escape::lines(&out).into_owned()
}

fn one(d: &Difference, c: &Change, out: &mut String) {
    let side = usize::from(c.frames[0].is_empty());
    let place = match (c.kind, c.place.is_empty()) {
        (Kind::Frame, _) => format!(" {}", ranges(&c.frames[side])),
        (_, true) => String::new(),
        // (where there is no label it is what the command is about)
        (Kind::Command, false) if !c.place.starts_with("Vk") => format!(" in \"{}\"", c.place),
        _ => format!(" of {}", c.place),
    };
    let when = when(d, c);
    let when = if when.is_empty() { String::new() } else { format!(" ({when})") };
    let sign = match c.what {
        What::Changed => '~',
        What::Added => '+',
        What::Removed => '-',
    };
    let several = if c.kind == Kind::Frame && c.frames[side].len() > 1 { "s" } else { "" };
    _ = writeln!(out, "  {sign} {}{several}{place}{when}", escape::line(&c.subject));
    for m in c.members.iter().take(MEMBERS) {
        let (path, a, b) = (escape::line(&m.path), escape::line(&m.a), escape::line(&m.b));
        _ = match (m.a.is_empty(), m.b.is_empty()) {
            (true, true) => writeln!(out, "      {path}"),
            (true, false) => writeln!(out, "      {path}: only in the second: {b}"),
            (false, true) => writeln!(out, "      {path}: only in the first: {a}"),
            _ if path.len() + a.len() + b.len() > 66 => {
                writeln!(out, "      {path}:\n        {a}\n        -> {b}")
            }
            _ => writeln!(out, "      {path}: {a} -> {b}"),
        };
    }
    if c.members.len() > MEMBERS {
        _ = writeln!(out, "      … and {} more", c.members.len() - MEMBERS);
    }
    if let Some(shader) = &c.shader {
        let lines: Vec<&str> = shader.lines().collect();
        for line in lines.iter().take(LINES) {
            _ = writeln!(out, "      {line}");
        }
        if lines.len() > LINES {
            _ = writeln!(out, "      … and {} more lines", lines.len() - LINES);
        }
    }
}

fn kind(of: Kind) -> &'static str {
    match of {
        Kind::Frame => "frame",
        Kind::Command => "command",
        Kind::Call => "call",
        Kind::Object => "object",
        Kind::Contents => "contents",
    }
}

/// All of it as JSON, the report for pages in it.
pub fn json(d: &Difference) -> Value {
    let change = |c: &Change| {
        let members: Vec<Value> =
            c.members.iter().map(|m| json!({ "path": m.path, "a": m.a, "b": m.b })).collect();
        json!({
            "what": c.what.word(),
            "kind": kind(c.kind),
            "subject": c.subject,
            "place": c.place,
            "members": members,
            "shader": c.shader,
            "frames": { "a": c.frames[0], "b": c.frames[1] },
            "times": { "a": c.times[0], "b": c.times[1] },
            "block": { "a": c.blocks[0], "b": c.blocks[1] },
            "time_ns": { "a": c.time_ns[0], "b": c.time_ns[1] },
            "reaches": c.reaches,
        })
    };
    let changes: Vec<Value> = d.changes.iter().map(change).collect();
    json!({
        "schema_version": SCHEMA_VERSION,
        "equal": d.is_equal(),
        "conclusion": conclusion(d),
        "a": d.names[0],
        "b": d.names[1],
        "commands": { "a": d.counts.commands[0], "b": d.counts.commands[1] },
        "frames": { "a": d.counts.frames[0], "b": d.counts.frames[1] },
        "objects": { "a": d.counts.objects[0], "b": d.counts.objects[1] },
        "answers": d.counts.answers,
        "changes": changes,
        "notes": d.notes,
        "report": report(d),
    })
}

/// A report, for pages and databases.
pub fn report(d: &Difference) -> Report {
    let mut r = Report::new("diff", "What differs between two captures");
    r.headlines = vec![format!("{} and {}: {}", d.names[0], d.names[1], conclusion(d))];
    r.cost = Cost::Nothing { why: "captures are read, and nothing runs".into() };
    r.notes = d.notes.clone();
    if d.counts.answers > 0 {
        r.notes.push(format!(
            "{} of the driver differ, which is no change of the program.",
            counted(d.counts.answers, "answer")
        ));
    }
    let column = |name: &str, unit| Column::new(name, unit);
    let columns = vec![
        column("change", Unit::Text),
        column("kind", Unit::Text),
        column("what", Unit::Text),
        column("where", Unit::Text),
        column("member", Unit::Text),
        column("before", Unit::Text),
        column("after", Unit::Text),
        column("frames", Unit::Text),
        column("times", Unit::Executions),
        column("before", Unit::Nanoseconds),
        column("after", Unit::Nanoseconds),
    ];
    let mut rows = vec![];
    for c in &d.changes {
        let side = usize::from(c.frames[0].is_empty());
        let none = [super::Member::new("", "", "")];
        let members = if c.members.is_empty() { &none[..] } else { &c.members };
        for m in members {
            let text = |t: &str| Cell::Text(t.to_owned());
            let number = |n: Option<f64>| n.map_or(Cell::Missing, Cell::Number);
            rows.push(vec![
                text(c.what.word()),
                text(kind(c.kind)),
                text(&c.subject),
                text(&c.place),
                text(&m.path),
                text(&m.a),
                text(&m.b),
                text(&ranges(&c.frames[side])),
                Cell::Count(c.times[0].max(c.times[1])),
                number(c.time_ns[0]),
                number(c.time_ns[1]),
            ]);
        }
    }
    r.tables = vec![Table { name: "changes".into(), columns, rows }];
    r
}

#[cfg(test)]
mod tests {
    use super::super::{Counts, Member};
    use super::*;

    fn change(kind: Kind, what: What, frames: [u64; 2]) -> Change {
        Change {
            what,
            kind,
            subject: "vkCmdDraw 12".into(),
            place: "shadow".into(),
            members: vec![Member::new("vertexCount", "36", "72")],
            shader: None,
            frames: [(frames[0]..=frames[1]).collect(), (frames[0]..=frames[1]).collect()],
            times: [frames[1] - frames[0] + 1; 2],
            blocks: [Some(7), Some(8)],
            time_ns: [None, None],
            reaches: None,
        }
    }

    fn of(changes: Vec<Change>) -> Difference {
        let counts = Counts { commands: [412; 2], frames: [30; 2], objects: [9; 2], ..Counts::default() };
        Difference { names: ["a".into(), "b".into()], counts, changes, notes: vec![] }
    }

    #[test]
    fn the_first_line_is_the_conclusion() {
        assert_eq!(text(&of(vec![]), 10, None), "The captures do the same.\n");
        let d = of(vec![
            change(Kind::Command, What::Changed, [3, 4]),
            change(Kind::Command, What::Added, [9, 9]),
        ]);
        let said = text(&d, 10, None);
        let first = said.lines().next().unwrap_or_default();
        assert_eq!(
            first,
            "2 of 412 commands were changed, 1 was added, in frames 3-4, 9; everything else is equal."
        );
        assert!(said.contains("  ~ vkCmdDraw 12 in \"shadow\" (in 2 of 30 frames (3-4))\n"), "{said}");
        assert!(said.contains("      vertexCount: 36 -> 72\n"), "{said}");
    }

    #[test]
    fn what_lies_before_and_behind_the_frames_is_none_of_them() {
        let mut d = of(vec![change(Kind::Command, What::Changed, [31, 31])]);
        d.counts.tails = [Some(31); 2];
        let said = text(&d, 10, None);
        assert!(said.starts_with("1 of 412 commands was changed; everything"), "{said}");
        assert!(said.contains("  ~ vkCmdDraw 12 in \"shadow\" (after the last frame)\n"), "{said}");
        d.changes = vec![change(Kind::Command, What::Changed, [0, 31])];
        let said = text(&d, 10, None);
        assert!(said.contains("(in all 30 frames)"), "{said}");
    }

    #[test]
    fn what_is_not_listed_is_counted() {
        let all = (0..5).map(|i| change(Kind::Command, What::Changed, [i + 1, i + 1])).collect();
        assert!(text(&of(all), 2, None).contains("  … and 3 more; --json has them all\n"));
    }

    #[test]
    fn json_has_a_report_that_can_be_read_back() {
        let value = json(&of(vec![change(Kind::Object, What::Removed, [1, 1])]));
        assert_eq!((&value["schema_version"], &value["equal"]), (&json!(1), &json!(false)));
        let r = analyses::report::json::read(&value["report"]).expect("a report");
        assert_eq!((r.analysis.as_str(), r.tables[0].rows.len()), ("diff", 1));
    }
}
