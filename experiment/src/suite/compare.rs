//! `suite compare`: two results of a suite, unit by unit, and one verdict.
//!
//! Guarantees: a unit that the new result lacks is there by name. Metrics, least effects and alphas are those of the new result's suite file, for each unit its own, unless
//! the question says otherwise.

use super::file::{self, Settings};
use super::results::{self, Results};
use crate::failure::Failure;
use analyses::verdict::compare::{self, Compared, Wanted};
use analyses::verdict::suite::{Standing, SuiteCompared, SuiteSide, SuiteUnit, judged};
use analyses::verdict::{Ask, Metric};
use std::path::PathBuf;
use trace::suite::{State, SuiteNote, UnitNote};

/// What counts where neither the suite file nor a flag says so.
const MIN_EFFECT: f64 = 0.02;
/// Likewise.
const ALPHA: f64 = 0.01;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The result that it is held against.
    pub base: PathBuf,
    /// The result that is judged.
    pub new: PathBuf,
    /// The plan of the base that every plan is held against, if not the one of its own name.
    pub against: Option<String>,
    /// Metrics, where not the suite file's.
    pub metrics: Vec<Metric>,
    /// The least change that matters, where not the suite file's.
    pub min_effect: Option<f64>,
    /// The greatest p that is significant, where not the suite file's.
    pub alpha: Option<f64>,
    /// Results of other devices or captures are compared all the same.
    pub force: bool,
}

/// Compares two results.
pub fn compare(args: &Question) -> Result<SuiteCompared, Failure> {
    let (base, new) = (results::open(&args.base)?, results::open(&args.new)?);
    let suite = file::parse(&new.note.text, &format!("{}: the suite file in it", args.new.display()))
        .map_err(Failure::new)?;
    let itself = base.note == new.note;
    let mut notes = vec![];
    if base.note.blake3 != new.note.blake3 {
        notes.push("The suite file is another one than the base's.".to_owned());
    }
    let mut units = vec![];
    for unit in &new.note.units {
        let before = base.note.units.iter().find(|u| u.name == unit.name);
        let was = before.filter(|u| u.state == State::Done);
        let lacks =
            |standing, why: String| SuiteUnit { name: unit.name.clone(), standing, why, compared: None };
        let one = match (unit.state, was) {
            (State::Failed, _) => lacks(Standing::Failed, unit.why()),
            (State::Waiting | State::Elsewhere, Some(_)) => {
                lacks(Standing::Missing, "not measured in the new result".into())
            }
            // (nobody has measured it: a partial result of a partial base)
            (State::Waiting | State::Elsewhere, None) => continue,
            (State::Done, None) => lacks(Standing::New, not_there(before)),
            (State::Done, Some(_)) => {
                let bench = suite.benches.get(unit.bench).ok_or_else(|| {
                    let path = args.new.display();
                    Failure::new(format_args!(
                        "{path}: unit {} is of no [[bench]] of its suite file",
                        unit.name
                    ))
                })?;
                let wanted = wanted(args, &bench.settings, itself);
                // (inside one result a unit of one plan has nothing beside it)
                if itself && unit.plans.len() < 2 {
                    notes.push(format!("{}: it has one plan only, and is left out.", unit.name));
                    continue;
                }
                match compared(&base, &new, unit, &wanted)? {
                    Ok(c) => SuiteUnit { compared: Some(c), ..lacks(Standing::Compared, String::new()) },
                    Err(why) => lacks(Standing::Refused, why),
                }
            }
        };
        units.push(one);
    }
    for unit in base.note.units.iter().filter(|u| u.state == State::Done) {
        if !new.note.units.iter().any(|u| u.name == unit.name) {
            let why = "the new result's suite has no such unit".to_owned();
            units.push(SuiteUnit {
                name: unit.name.clone(),
                standing: Standing::Missing,
                why,
                compared: None,
            });
        }
    }
    if units.is_empty() {
        return Err(Failure::new("no unit is in both results"));
    }
    Ok(judged(&new.note.name, [side(&base.note), side(&new.note)], units, notes))
}

/// A unit's runs beside each other, or why they are not compared.
fn compared(
    base: &Results,
    new: &Results,
    unit: &UnitNote,
    wanted: &Wanted,
) -> Result<Result<Compared, String>, Failure> {
    let of = |r: &Results| r.place.run(&unit.folder()).map_err(Failure::new);
    let (base, new) = (of(base)?, of(new)?);
    if base.note.frame != new.note.frame && !wanted.force {
        let words = |f: Option<u64>| f.map_or("the whole capture".into(), |f| format!("frame {f}"));
        let [a, b] = [base.note.frame, new.note.frame].map(words);
        return Ok(Err(format!(
            "the base is of {a}, and this is of {b}; --force compares them all the same"
        )));
    }
    Ok(compare::compare(&base, &new, wanted))
}

/// How a unit's questions are asked.
fn wanted(args: &Question, s: &Settings, itself: bool) -> Wanted {
    let own = s.against.as_ref().filter(|_| itself).map(|a| a.get_ref().clone());
    Wanted {
        metrics: if args.metrics.is_empty() { s.metrics() } else { args.metrics.clone() },
        ask: Ask {
            effect: args.min_effect.or(s.min_effect.as_ref().map(|e| e.share)).unwrap_or(MIN_EFFECT),
            alpha: args.alpha.or(s.alpha.map(|a| a.0)).unwrap_or(ALPHA),
        },
        clock: s.clock.map(|c| c.0),
        against: args.against.clone().or(own),
        plans: vec![],
        force: args.force,
    }
}

fn not_there(before: Option<&UnitNote>) -> String {
    match before.map(|u| u.state) {
        None => "the base's suite has no such unit".into(),
        Some(State::Failed) => "it failed in the base".into(),
        Some(_) => "it was not measured in the base".into(),
    }
}

fn side(note: &SuiteNote) -> SuiteSide {
    SuiteSide {
        program: note.program.clone(),
        blake3: note.blake3.clone(),
        began: note.parts.iter().map(|p| p.began).min().unwrap_or_default(),
    }
}
