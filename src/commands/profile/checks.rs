//! What a trace has to hold to be right, asked of the analyses that check it: those of the passes that were run.
//!
//! Guarantees: the words and the judgement are the analyses' own; a check that fails is on stderr and makes the exit code 5,
//! the trace stays.

use crate::exit::{Exit, Failure, complain};
use analyses::QUESTIONS;
use trace::Source;
use trace::tables::{FRAMES, RAYS, RayEvent};

/// Questions whose answers check what was measured.
const CHECKED: [&str; 2] = ["uniformity", "rays"];

/// Asks those that have tables here. A line for each that was asked, and what failed.
pub fn ask(trace: &dyn Source) -> Result<(Vec<String>, Vec<String>), Failure> {
    let (mut said, mut failed) = (Vec::new(), Vec::new());
    for q in QUESTIONS.iter().filter(|q| CHECKED.contains(&q.name())) {
        if q.wants().iter().any(|t| trace.parts(t, &[]).is_ok_and(|parts| parts.is_empty())) {
            continue;
        }
        let report = q.answer(trace).map_err(Failure::new)?;
        let failures = report.failures.len();
        said.push(match failures {
            0 => format!("Check {}: passed", q.name()),
            n => format!("Check {}: {n} failed", q.name()),
        });
        failed.extend(report.failures.iter().map(|f| format!("{}: check failed: {f}", q.name())));
    }
    Ok((said, failed))
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
        let (said, failed) = ask(&trace(0)).expect("it is readable");
        assert_eq!((&said[..], failed.len()), (&["Check uniformity: passed".to_owned()][..], 0));
        assert_eq!(judge(&failed), Exit::Done);
        let (said, failed) = ask(&trace(3)).expect("it is readable");
        assert_eq!(said, ["Check uniformity: 1 failed"]);
        assert!(failed[0].contains("was proven uniform, and differed in 3 of 100"), "{failed:?}");
        assert_eq!(judge(&failed), Exit::Diverged);
        assert!(ask(&Memory::default()).expect("nothing to ask").0.is_empty());
    }
}
