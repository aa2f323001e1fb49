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
        if let Some(frame) = self.frame {
            let _ = write!(out, ", frame {frame}");
        }
        if let Some(p) = &self.place {
            let _ = write!(out, ", {} {}", p.level, what(self));
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
    let (labels, name) = names::of_path(&p.within);
    let around = names::around(p.pass, &labels, name);
    // (of earlier runs, and of what is no draw, nothing but its place among commands is known)
    let by_place = || {
        let out = if p.within.is_empty() {
            p.name.clone()
        } else {
            format!("{}{}{}", p.within, names::WITHIN, p.name)
        };
        match p.execution {
            0 => format!("{out} ({}:{})", p.position, p.index),
            n => format!("{out} ({}:s{n}:{})", p.position, p.index),
        }
    };
    let mut out = match (p.draw, p.pass) {
        (0, pass) if pass > 0 && p.level == "pass" => {
            format!("frame {} · {}", p.frame, names::pass(pass, &names::of_path(&p.within).0, &p.name))
        }
        (0, _) => by_place(),
        (draw, _) => names::draw(Some(p.frame), around.as_deref(), draw, &p.name),
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
