//! `suite compare`: two results of a suite, unit by unit, and one verdict.
//!
//! Guarantees: a unit that the new result lacks is there by name. Metrics, least effects and alphas are those of the new result's suite file, for each unit its own, unless
//! the question says otherwise.

use super::file::{self, Settings};
use super::results::{self, Results};
use crate::failure::Failure;
use analyses::report::Picture;
use analyses::verdict::compare::{self, Compared, Wanted};
use analyses::verdict::pictures::{self, Shown};
use analyses::verdict::suite::{Standing, SuiteCompared, SuiteSide, SuiteUnit, judged};
use analyses::verdict::{Ask, Metric, counts};
use std::path::{Path, PathBuf};
use trace::dir::{Bytes, Dir};
use trace::suite::{State, SuiteNote, UnitNote};
use trace::tolerance::Tolerance;

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

/// Compares two results; and of their pictures that differ, what there is to see.
pub fn compare(args: &Question) -> Result<(SuiteCompared, Vec<Picture>), Failure> {
    let (base, new) = (results::open(&args.base)?, results::open(&args.new)?);
    let suite = file::parse(&new.note.text, &format!("{}: the suite file in it", args.new.display()))
        .map_err(Failure::new)?;
    let itself = base.note == new.note;
    let mut notes = vec![];
    if base.note.blake3 != new.note.blake3 {
        notes.push("The suite file is another one than the base's.".to_owned());
    }
    let (mut units, mut pictures) = (vec![], vec![]);
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
                    Ok(mut c) => {
                        if let Some(before) = was.filter(|_| !itself) {
                            let sides = [(&base, before), (&new, unit)];
                            pictures.extend(seen(&mut c, sides, &bench.settings)?);
                            counted(&mut c, sides, &bench.settings, &wanted)?;
                        }
                        SuiteUnit { compared: Some(c), ..lacks(Standing::Compared, String::new()) }
                    }
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
    Ok((judged(&new.note.name, [side(&base.note), side(&new.note)], units, notes), pictures))
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

/// A side of a unit.
type Half<'r> = (&'r Results, &'r UnitNote);

/// Adds what both sides' pictures say; what is to be seen of those that differ.
fn seen(to: &mut Compared, [base, new]: [Half<'_>; 2], s: &Settings) -> Result<Vec<Picture>, Failure> {
    let read = |(of, unit): Half<'_>| -> Result<Vec<Bytes>, Failure> {
        unit.pictures.iter().map(|p| of.place.read(Path::new(&p.file))).collect()
    };
    let files = [read(base)?, read(new)?];
    let [base, new] = [(base.1, &files[0]), (new.1, &files[1])].map(|(unit, files)| -> Vec<Shown<'_>> {
        unit.pictures.iter().zip(files).map(|(note, png)| Shown { note, png: (**png).as_ref() }).collect()
    });
    let tolerance = s.pictures.map_or(Tolerance::default(), |p| p.0);
    let name = to.rows.first().map_or(String::new(), |r| r.capture.clone());
    pictures::compare(to, &name, [&base, &new], tolerance).map_err(Failure::new)
}

/// Adds what both sides counted.
fn counted(
    to: &mut Compared,
    [base, new]: [Half<'_>; 2],
    s: &Settings,
    wanted: &Wanted,
) -> Result<(), Failure> {
    if !(base.1.counted && new.1.counted) {
        if base.1.counted {
            to.notes.push("The base has counts, and the new result has none.".to_owned());
        }
        return Ok(());
    }
    let open = |(of, unit): Half<'_>| of.place.trace(&unit.counts()).map_err(Failure::new);
    let (base, new) = (open(base)?, open(new)?);
    let wanted = counts::Wanted {
        columns: vec![],
        effect: wanted.ask.effect,
        thresholds: s.threshold.iter().flatten().map(|(n, t)| (n.clone(), t.share)).collect(),
        force: wanted.force,
    };
    let [base, new] = [&base, &new].map(|dir: &Dir| counts::Side { trace: dir, manifest: dir.manifest() });
    to.with(counts::compare(base, new, &wanted).map_err(Failure::new)?);
    Ok(())
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
