//! Questions that are asked of a trace: which there are, which it can answer, and their answers.
//!
//! Guarantees: answers come in the order of the questions, each with what measuring cost. Refuses names that are no question's, and
//! questions whose tables the trace does not have, saying how to record them.

use crate::failure::Failure;
use crate::say::complain;
use analyses::report::{Cost, Report};
use analyses::{QUESTIONS, Question, Session};
use trace::dir::{Dir, Manifest};

/// The answers to questions, in their order; what measuring cost is in each.
pub fn answers(
    dir: &Dir,
    questions: &[&'static Question],
) -> impl Iterator<Item = Result<Report, trace::Unreadable>> {
    let session = Session::new(dir, questions.iter().filter_map(|q| q.events));
    questions.iter().map(move |question| {
        let at = |e: trace::Unreadable| trace::Unreadable(format!("{}: {}", dir.folder().display(), e.0));
        // (what is wrong in a file names it already)
        let named =
            |e: trace::Unreadable| if e.0.starts_with(&*dir.folder().to_string_lossy()) { e } else { at(e) };
        let mut report = question.ask(&session).map_err(named)?;
        cost(&mut report, dir.manifest());
        // (the book and Parquet's metadata describe every column: tests run into this where one is not)
        let unexplained = analyses::explain::unexplained(&report);
        debug_assert!(unexplained.is_empty(), "not as the sheets of questions say: {unexplained:#?}");
        Ok(report)
    })
}

/// All questions that the trace has the tables for.
pub fn answerable(dir: &Dir) -> Vec<&'static Question> {
    QUESTIONS.iter().copied().filter(|q| missing(dir, q).is_empty()).collect()
}

/// Refuses names that are no question's.
pub fn known(names: &[String]) -> Result<(), Failure> {
    names.iter().try_for_each(|name| question(name).map(|_| ()))
}

/// The question of this name.
pub fn question(name: &str) -> Result<&'static Question, Failure> {
    QUESTIONS.iter().copied().find(|q| q.name == name).ok_or_else(|| {
        let known: Vec<&str> = QUESTIONS.iter().map(|q| q.name).collect();
        Failure::usage(format_args!("there is no question {name:?}; there are {}", known.join(", ")))
    })
}

/// The questions of these names, or all that can be answered.
pub fn chosen(dir: &Dir, names: &[String]) -> Result<Vec<&'static Question>, Failure> {
    if names.is_empty() {
        let all = answerable(dir);
        if all.is_empty() {
            complain(format_args!(
                "{}: the trace can answer no question; --list says which table each wants",
                dir.folder().display()
            ));
        }
        return Ok(all);
    }
    let mut chosen = vec![];
    for name in names {
        let question = question(name)?;
        let missing = missing(dir, question);
        if !missing.is_empty() {
            return Err(Failure::new(format_args!(
                "{}: question {name} wants table {}, in which nothing was recorded; `profile --ask {name}` records it",
                dir.folder().display(),
                missing.join(", ")
            )));
        }
        chosen.push(question);
    }
    Ok(chosen)
}

/// The tables that a question wants and the trace does not have.
pub fn missing(dir: &Dir, question: &Question) -> Vec<&'static str> {
    question.wants.iter().filter(|t| dir.rows(t).is_none()).map(|t| t.name).collect()
}

/// What measuring cost is the trace's to say, unless the question knows better.
fn cost(report: &mut Report, manifest: &Manifest) {
    if let (Cost::Unknown { .. }, Some(c)) = (&report.cost, &manifest.cost) {
        report.cost = Cost::Measured { of: c.of.clone(), without: c.without, with: c.with };
    }
}
