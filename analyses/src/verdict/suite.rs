//! Two results of a suite beside each other: a comparison a unit, decided together.
//!
//! Each unit is compared as two runs are (`compare`), by its own least effect and alpha. *One family*: p of all metrics of all
//! captures and plans of all units is adjusted at once, as whoever looks at a whole suite asks all these questions at once, and
//! would find something somewhere. Frames, passes and commands stay families of their capture and plan.
//!
//! The whole's verdict is the worst of all units that could be compared; if there are none it is inconclusive. A unit of the base
//! that was not measured anew, or cannot be compared, makes the whole incomplete, which is no verdict and is said apart.

use super::compare::{Compared, Row, decide_together};
use super::counts;
use super::judge::{Test, Verdict};
use serde::Serialize;

/// The version of the JSON's shape.
pub const SCHEMA_VERSION: u32 = 2;

/// Where a unit stands between two results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// On both sides.
    Compared,
    /// In the new result only.
    New,
    /// In the base, and not measured in the new result.
    Missing,
    /// It failed in the new result.
    Failed,
    /// On both sides, which do not belong together.
    Refused,
}

impl Standing {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Standing::Compared => "compared",
            Standing::New => "new",
            Standing::Missing => "missing",
            Standing::Failed => "failed",
            Standing::Refused => "refused",
        }
    }

    /// Whether the whole is not complete with it.
    pub fn lacks(self) -> bool {
        matches!(self, Standing::Missing | Standing::Failed | Standing::Refused)
    }
}

/// A unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SuiteUnit {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub standing: Standing,
    /// Why it was not compared; empty where it was.
    pub why: String,
    /// The comparison.
    pub compared: Option<Compared>,
}

/// A side, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SuiteSide {
    /// The program and its version.
    pub program: String,
    /// BLAKE3 of the suite file.
    pub blake3: String,
    /// When its first part began: seconds since 1970, UTC.
    pub began: u64,
}

/// Both results, compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SuiteCompared {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The suite's name.
    pub suite: String,
    /// The whole's verdict.
    pub verdict: Verdict,
    /// Every unit of the base was compared, and none failed.
    pub complete: bool,
    /// The sides.
    pub base: SuiteSide,
    /// See `base`.
    pub new: SuiteSide,
    /// Units, in the new result's order.
    pub units: Vec<SuiteUnit>,
    /// What is to be said.
    pub notes: Vec<String>,
}

/// Decides units together.
pub fn judged(
    suite: &str,
    sides: [SuiteSide; 2],
    mut units: Vec<SuiteUnit>,
    notes: Vec<String>,
) -> SuiteCompared {
    let mut all: Vec<&mut Compared> = units.iter_mut().filter_map(|u| u.compared.as_mut()).collect();
    decide_together(&mut all);
    let [base, new] = sides;
    SuiteCompared {
        schema_version: SCHEMA_VERSION,
        suite: suite.to_owned(),
        verdict: all.iter().map(|c| c.verdict).max().unwrap_or(Verdict::Inconclusive),
        complete: !units.iter().any(|u| u.standing.lacks()),
        base,
        new,
        units,
        notes,
    }
}

/// What a unit's verdict comes from: of its worst rows the one that changed most for the worse. Captures' rows come first.
pub fn worst(of: &Compared) -> Option<&Row> {
    let worse = |r: &Row| {
        let change = r.judged.change.unwrap_or(f64::NEG_INFINITY);
        if r.unit == "FPS" || counts::more_is_better(&r.metric) { -change } else { change }
    };
    // (a row without an interval, too few frames for one metric, decides nothing where another one does)
    let counted = |r: &Row| r.judged.test == Test::Counted;
    let judged = |r: &&Row| {
        matches!(r.level, "capture" | "frame" | "picture") && (r.judged.interval.is_some() || counted(r))
    };
    let decides = |r: &&Row| r.judged.verdict == of.verdict;
    let most = |rows: Vec<&'_ Row>| rows.iter().map(|r| worse(r)).fold(f64::NEG_INFINITY, f64::max);
    for level in ["capture", "frame", "picture"] {
        let rows: Vec<&Row> =
            of.rows.iter().filter(judged).filter(decides).filter(|r| r.level == level).collect();
        let greatest = most(rows.clone());
        if let Some(r) = rows.into_iter().find(|r| worse(r) >= greatest) {
            return Some(r);
        }
    }
    of.rows.iter().find(|r| r.level == "capture")
}
