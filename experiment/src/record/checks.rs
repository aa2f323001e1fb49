//! What a trace says first, and what it has to hold to be right: asked of the questions with the names of the passes that
//! were run, and of those that check it.
//!
//! Guarantees: the words and the judgement are the analyses' own; a check that fails is on stderr and makes the exit code 5,
//! the trace stays.

use crate::failure::{Exit, Failure};
use crate::say::complain;
use analyses::{QUESTIONS, Session};
use trace::Source;
use trace::plan::Use;
use trace::tables::{FRAMES, RAYS, RayEvent};

/// Questions whose answers check what was measured.
const CHECKED: [&str; 2] = ["uniformity", "rays"];

/// What was answered.
#[derive(Default)]
pub struct Answers {
    /// The headlines of questions that were asked, and of those with the names of passes.
    pub headlines: Vec<String>,
    /// A line for each check that was made.
    pub said: Vec<String>,
    /// What failed.
    pub failed: Vec<String>,
}

/// Asks those that have tables here.
pub fn ask(trace: &dyn Source, passes: &[Use], questions: &[String]) -> Result<Answers, Failure> {
    let mut answers = Answers::default();
    let asked = |name: &str| passes.iter().any(|p| p.name == name) || questions.iter().any(|q| q == name);
    let session = Session::new(trace, QUESTIONS.iter().filter_map(|q| q.events));
    for q in QUESTIONS {
        let (asked, checked) = (asked(q.name), CHECKED.contains(&q.name));
        if !asked && !checked {
            continue;
        }
        if q.wants.iter().any(|t| trace.parts(t, &[]).is_ok_and(|parts| parts.is_empty())) {
            continue;
        }
        let report = q.ask(&session).map_err(Failure::new)?;
        if asked {
            // (simt and divergence may say the same of the worst shader)
            let new = report.headlines.into_iter().filter(|h| !answers.headlines.contains(h));
            let new: Vec<String> = new.collect();
            answers.headlines.extend(new);
        }
        if checked {
            answers.said.push(match report.failures.len() {
                0 => format!("Check {}: passed", q.name),
                n => format!("Check {}: {n} failed", q.name),
            });
        }
        answers.failed.extend(report.failures.iter().map(|f| format!("{}: check failed: {f}", q.name)));
    }
    Ok(answers)
}

/// How much of the log rays took, where their events were recorded.
pub fn rays(trace: &dyn Source) -> Result<Option<String>, Failure> {
    let (mut events, mut begun) = (0u64, 0u64);
    let mut count = |rows: &trace::Columns| {
        let kinds = rows.u64("kind").iter().filter_map(|k| RayEvent::of(*k));
        events += rows.len() as u64;
        begun += kinds.filter(|k| k.begins() || *k == RayEvent::QueryBegin).count() as u64;
        Ok(())
    };
    trace.each_of(&RAYS, &["kind"], &mut count).map_err(Failure::new)?;
    if begun == 0 {
        return Ok(None);
    }
    let words: u64 = trace.read(&FRAMES).map_err(Failure::new)?.u64("log_words").iter().sum();
    let bytes = words as f64 * 4.0 / begun as f64;
    Ok(Some(format!("{events} events of {begun} rays; {bytes:.1} bytes of the log a ray")))
}

/// Says on stderr what failed.
pub fn judge(failed: &[String]) -> Exit {
    failed.iter().for_each(complain);
    if failed.is_empty() { Exit::Done } else { Exit::Diverged }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::Memory;
    use trace::Value::{Text, U64};
    use trace::tables::{BLOCKS, ENTRIES, FUNCTIONS, PIPELINES, UNIFORMITY, UNIFORMITY_SITES};

    /// A compute shader of one block, whose branch is proven uniform; how often it was seen to differ.
    fn trace(differs: u64) -> Memory {
        let mut m = Memory::default();
        m.put(&PIPELINES, &[U64(7), Text("compute"), Text("")]);
        let words = ["1f2e3d4c00112233", "main", "compute"].map(Text);
        m.put(&ENTRIES, &[[0, 7, 0, 0].map(U64).as_slice(), &words].concat());
        m.put(&FUNCTIONS, &[U64(0), U64(0), U64(4), Text("main")]);
        let block = [[0, 0, 0, 5, 100, 3, 0, 1].map(U64).as_slice(), &[Text(""), U64(0)]].concat();
        m.put(&BLOCKS, &block);
        let texts = ["branch", "control", "BranchConditional"].map(Text);
        let rest = [U64(1), Text(""), Text(""), U64(0)];
        m.put(&UNIFORMITY_SITES, &[[0, 0, 0, 0, 102].map(U64).as_slice(), &texts, &rest].concat());
        m.put(&UNIFORMITY, &[1, 0, 0, 100, differs, 0].map(U64));
        m
    }

    #[test]
    fn what_was_proven_is_checked() {
        let of = |trace: &Memory, pass: &[Use]| ask(trace, pass, &[]).expect("it is readable");
        let Answers { headlines, said, failed } = of(&trace(0), &["uniformity".parse().expect("a pass")]);
        assert_eq!((&said[..], failed.len()), (&["Check uniformity: passed".to_owned()][..], 0));
        assert_eq!(headlines, ["No branch diverged, in 100 executions."]);
        assert_eq!(judge(&failed), Exit::Done);
        let Answers { headlines: none, said, failed } = of(&trace(3), &[]);
        assert_eq!((&said[..], none.len()), (&["Check uniformity: 1 failed".to_owned()][..], 0));
        assert!(failed[0].contains("was proven uniform, and differed in 3 of 100"), "{failed:?}");
        assert_eq!(judge(&failed), Exit::Diverged);
        // A question says its conclusion whichever pass it was that recorded for it.
        let asked = ask(&trace(0), &[], &["uniformity".to_owned()]).expect("it is readable");
        assert_eq!(asked.headlines, headlines);
        assert!(of(&Memory::default(), &[]).said.is_empty(), "there is nothing to ask");
    }
}
