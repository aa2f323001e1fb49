//! What a row of a comparison says: the words that its formats and its headlines share.
//!
//! Guarantees: what is not known is empty. Refuses nothing.

use super::compare::{Compared, Row};
use super::judge::{Test, Verdict};
use super::metrics::Scale;
use std::fmt::Write;
use trace::names;

impl Row {
    /// What it is about, in a line.
    pub fn title(&self) -> String {
        let mut out = format!("{}, {}", self.capture, self.plan);
        match (&self.place, self.frame) {
            (Some(p), _) if p.draw > 0 || p.level == "pass" => out += &format!(", {}", what(self)),
            (Some(p), _) => out += &format!(", {} {}", p.level, what(self)),
            (None, Some(frame)) => out += &format!(", frame {frame}"),
            (None, None) => {}
        }
        if !self.part.is_empty() {
            let _ = write!(out, ", {}", self.part);
        }
        out
    }

    pub(super) fn value(&self, v: f64) -> String {
        let digits = match self.judged.test {
            // (whole things, or their mean over frames)
            Test::Counted if v.fract() == 0.0 => 0,
            Test::Counted => 2,
            Test::WelchT | Test::PairedT => 4,
        };
        match v.is_finite() {
            true => format!("{v:.digits$} {}", self.unit).trim_end().to_owned(),
            false => String::new(),
        }
    }
}

/// A place in words: where, its name, its pipeline. What is counted says what it is of.
pub(super) fn what(row: &Row) -> String {
    if !row.part.is_empty() {
        return row.part.clone();
    }
    let Some(p) = &row.place else { return row.frame.map_or(String::new(), |f| format!("frame {f}")) };
    let within: Vec<&str> = p.within.split(names::WITHIN).collect();
    let (labels, name) = names::of_path(&within);
    // (what is no draw, and all of earlier runs, is found by its place among commands)
    let by_place = || {
        let out = if p.within.is_empty() {
            p.name.clone()
        } else {
            format!("{}{}{}", p.within, names::WITHIN, p.name)
        };
        let secondary = if p.execution > 0 { format!("s{}:", p.execution) } else { String::new() };
        let pass = if p.pass > 0 { format!(" in pass {}", p.pass) } else { String::new() };
        format!("frame {} · {out} ({}:{secondary}{}{pass})", p.frame, p.position, p.index)
    };
    let mut out = match (p.draw, p.pass) {
        (0, pass) if pass > 0 && p.level == "pass" => {
            format!("frame {} · {}", p.frame, names::pass(pass, &labels, &p.name))
        }
        (0, _) => by_place(),
        (draw, pass) => {
            names::draw(Some(p.frame), names::around(pass, &labels, name).as_deref(), draw, &p.name)
        }
    };
    if !p.pipeline.is_empty() {
        let _ = write!(out, ", {}", names::recorded_pipeline(&p.pipeline));
    }
    out
}

/// A change; differences of shares are in percentage points.
pub(super) fn change(row: &Row, share: f64) -> String {
    let unit = if row.judged.scale == Scale::Ratio { "%" } else { "pp" };
    format!("{:+.2} {unit}", 100.0 * share)
}

/// How much a row changed; nothing where that is not known.
pub(super) fn changed(row: &Row) -> String {
    row.judged.change.map_or(String::new(), |c| change(row, c))
}

pub(super) fn range(row: &Row) -> String {
    row.judged.interval.map_or(String::new(), |[a, b]| format!("{} to {}", change(row, a), change(row, b)))
}

/// What text shows below captures: findings, the greatest loss of time first.
pub(super) fn shown<'c>(of: &'c Compared, level: &str) -> Vec<&'c Row> {
    let found =
        |r: &&Row| r.level == level && matches!(r.judged.verdict, Verdict::Regression | Verdict::Improvement);
    let mut rows: Vec<&Row> = of.rows.iter().filter(found).collect();
    let lost = |r: &&Row| r.judged.new - r.judged.base;
    rows.sort_by(|a, b| lost(b).total_cmp(&lost(a)));
    // (what is counted has columns of several units: each for itself, in the order of the whole's)
    let column = |r: &&Row| of.rows.iter().position(|w| w.metric == r.metric);
    rows.sort_by_key(column);
    rows
}
