//! What became of many mutants: a record each, and tables over all.
//!
//! Guarantees: tables are in the order of `mix.rs`; records name everything that makes the mutant again. Refuses nothing.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use super::Mutant;
use super::mix::{CLASSES, WAYS};
use super::outcome::Outcome;
use super::places::Place;
use super::process::{End, Ended};

/// Characters of a message that a record keeps.
const MOST_TEXT: usize = 600;
/// Lines of a list of places.
const MOST_PLACES: usize = 200;

/// A mutant, and what became of it.
pub struct Record {
    /// The mutant, without its bytes.
    pub mutant: Mutant,
    /// The capture's name.
    pub capture: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Where it crashed or hung.
    pub place: Option<Place>,
    /// The process.
    pub ended: Ended,
    /// The program's arguments.
    pub arguments: Vec<String>,
}

impl Record {
    /// As a line of JSON.
    pub fn json(&self, seed: u64) -> Value {
        let (m, e) = (&self.mutant, &self.ended);
        let (exit, signal) = match e.end {
            End::Exit(n) => (Some(n), None),
            End::Signal(n) => (None, Some(n)),
            End::Late | End::Large => (None, None),
        };
        json!({
            "seed": seed, "index": m.index, "capture": self.capture, "class": m.class.name(), "command": m.command,
            "changes": m.changes, "way": m.way.name(), "arguments": self.arguments,
            "outcome": self.outcome.name(), "exit": exit, "signal": signal,
            "place": self.place.as_ref().map(|p| &p.function), "caller": self.place.as_ref().map(|p| &p.caller),
            "ms": e.time.as_millis() as u64, "memory_mb": e.memory >> 20,
            "stderr": e.text.chars().take(MOST_TEXT).collect::<String>(),
        })
    }
}

/// Tables over all records.
pub fn tables(records: &[Record]) -> String {
    let mut out = String::new();
    let classes = CLASSES.map(|(c, _)| c.name());
    let ways = WAYS.map(|(w, _)| w.name());
    table(&mut out, "class", &classes, records, |r| r.mutant.class.name());
    table(&mut out, "way", &ways, records, |r| r.mutant.way.name());
    for outcome in Outcome::ALL.into_iter().filter(|o| o.is_bad()) {
        let of: Vec<&Record> = records.iter().filter(|r| r.outcome == outcome).collect();
        if !of.is_empty() {
            let _ = writeln!(out, "\n{}: {}", outcome.name(), of.len());
            groups(&mut out, "where", &of, |r| {
                let place = r.place.as_ref().map_or("unknown", |p| p.function.as_str());
                let text = r.ended.text.lines().find(|l| l.contains("panicked at"));
                text.unwrap_or(place).to_string()
            });
            groups(&mut out, "changed", &of, |r| format!("{} {}", r.mutant.command, r.mutant.class.name()));
        }
    }
    out
}

fn table(out: &mut String, head: &str, rows: &[&str], records: &[Record], of: impl Fn(&Record) -> &str) {
    let _ = write!(out, "\n{head:<12}{:>8}", "mutants");
    Outcome::ALL.iter().for_each(|o| {
        let _ = write!(out, "{:>9}", o.name());
    });
    out.push('\n');
    for row in rows.iter().copied().chain(["all"]) {
        let some = records.iter().filter(|r| row == "all" || of(r) == row);
        let mut counts = [0; Outcome::ALL.len()];
        some.for_each(|r| counts[r.outcome as usize] += 1);
        let _ = write!(out, "{row:<12}{:>8}", counts.iter().sum::<u32>());
        counts.iter().for_each(|n| {
            let _ = write!(out, "{n:>9}");
        });
        out.push('\n');
    }
}

/// Counts by a key, the most frequent first, each with one mutant.
fn groups(out: &mut String, head: &str, records: &[&Record], key: impl Fn(&Record) -> String) {
    let mut counts: BTreeMap<String, Vec<&Record>> = BTreeMap::new();
    records.iter().for_each(|r| counts.entry(key(r)).or_default().push(r));
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, of)| std::cmp::Reverse(of.len()));
    let _ = writeln!(out, "  by {head}");
    for (key, of) in counts.iter().take(MOST_PLACES) {
        let example = of[0];
        let change = example.mutant.changes.first().map_or("", String::as_str);
        let _ = writeln!(
            out,
            "  {:>5}  {key}   (#{} {}: {change})",
            of.len(),
            example.mutant.index,
            example.capture
        );
    }
}
