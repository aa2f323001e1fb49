//! `check`: would this capture replay here, and what would be done differently? Without replaying it.
//!
//! Guarantees: all that the capture asks of a device is in the table, refused or not; exit code 0 if it would replay, 77
//! if it is refused, 1 if blocks of a sibling file could not be read. Refuses nothing itself. What the table cannot say (whether a driver's bugs bite, whether memory
//! suffices) shows in a replay only.

use crate::cli::CheckArgs;
use crate::exit::{Exit, Failure, columns};
use crate::input::{self, Complaints};
use crate::output;
use analyses::report::escape;
use analyses::report::text::{aligned, described, rewrapped, said_of_cuts};
use gfxr_parse::container::Capture;
use replay::session::check;
use replay::vulkan::portability::Verdict;
use replay::vulkan::portability::{Done, Line, Sort};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Runs it.
pub fn run(args: &CheckArgs) -> Result<Exit, Failure> {
    let capture = input::open(&args.file, args.run.reading)?;
    let options = experiment::replaying::options(&args.run.how())?;
    let complaints = Complaints::new(&capture);
    // What a sibling that cannot be read would ask for is not known.
    capture.all_blocks().filter_map(std::result::Result::err).for_each(|e| complaints.add(0, &e));
    let unread = complaints.exit();
    let verdict = check(&capture, &options).map_err(experiment::replaying::failure)?;
    let text =
        if args.json { output::json(&to_json(&capture, &verdict))? } else { to_text(&capture, &verdict) };
    output::print(text.as_bytes())?;
    Ok(if verdict.replays() { unread } else { Exit::NoDevice })
}

fn to_text(capture: &Capture, v: &Verdict) -> String {
    let mut t = escape::line(&format!("{} on {}: ", capture.name(), v.gpu)).into_owned();
    let driver =
        if v.same_driver { "the driver it was taken on" } else { "another driver than it was taken on" };
    if v.replays() {
        let _ = writeln!(t, "would replay, memory {}; {driver}", v.memory.name());
    } else {
        let _ = writeln!(t, "would not replay; {driver}");
        for l in v.lines.iter().filter(|l| l.done == Done::Refused) {
            let because = format!("  because {} is not here{}", l.what, amounts(l));
            let _ = writeln!(t, "{}", escape::line(&because));
        }
    }
    rewrapped(&t, columns()) + "\n" + &table(&v.lines, columns())
}

fn amounts(l: &Line) -> String {
    match (l.asked.is_empty(), l.found.is_empty()) {
        (true, true) => String::new(),
        (true, false) => format!(" (here: {})", l.found),
        (false, true) if matches!(l.sort, Sort::DeviceExtension | Sort::Feature) => format!(" ({})", l.asked),
        (false, true) => format!(" (asked: {})", l.asked),
        (false, false) => format!(" (asked: {}; here: {})", l.asked, l.found),
    }
}

/// The table: what was asked for, how much of it, what is here, what is done.
pub fn table(lines: &[Line], within: Option<usize>) -> String {
    let here = |l: &Line| {
        let yes = if l.here { "yes" } else { "no" };
        if l.found.is_empty() { yes.to_owned() } else { l.found.clone() }
    };
    let head = ["", "asked for", "", "here", "done", "bridge"].map(str::to_owned);
    let mut rows = vec![head];
    let mut sorted: Vec<&Line> = lines.iter().collect();
    sorted.sort_by_key(|l| l.sort);
    rows.extend(sorted.iter().map(|l| {
        let bridge = l.bridge.map_or("", |b| b.name());
        [l.sort.name(), &l.what, &l.asked, &here(l), l.done.name(), bridge]
            .map(|t| escape::line(t).into_owned())
    }));
    let cells: Vec<Vec<String>> = rows.into_iter().map(Vec::from).collect();
    let table = aligned(&cells, 1, &[false; 6], within);
    let mut words: Vec<(&str, String)> = vec![];
    for done in lines.iter().map(|l| l.done).filter(|d| *d != Done::Kept) {
        if words.iter().all(|w| w.0 != done.name()) {
            words.push((done.name(), done.about().to_owned()));
        }
    }
    let below = described(words.into_iter(), within) + &said_of_cuts(within, table.cut);
    let between = if below.is_empty() { "" } else { "\n" };
    format!("{}{between}{below}", table.text)
}

/// The same as JSON.
pub fn lines_json(lines: &[Line]) -> Value {
    let one = |l: &Line| {
        json!({
            "sort": l.sort.name(), "what": l.what, "asked": l.asked, "found": l.found, "here": l.here,
            "done": l.done.name(), "bridge": l.bridge.map(|b| b.name()),
        })
    };
    lines.iter().map(one).collect()
}

fn to_json(capture: &Capture, v: &Verdict) -> Value {
    json!({
        "schema_version": 1,
        "capture": capture.name(),
        "device": v.gpu,
        "same_driver": v.same_driver,
        "memory": v.memory.name(),
        "replays": v.replays(),
        "refused": v.lines.iter().filter(|l| l.done == Done::Refused).map(|l| &l.what).collect::<Vec<_>>(),
        "negotiation": lines_json(&v.lines),
    })
}
