//! Every question begins its report with the answer: of recorded traces, each of which holds what several questions want.

use analyses::QUESTIONS;
use std::path::Path;
use trace::Source;
use trace::dir::Dir;

const TRACES: [&str; 5] = ["rays", "fragment", "compute", "clock", "effects"];

/// Questions that no trace here holds an answer to, and why; their own tests have the headline's text.
const WITHOUT: [(&str, &str); 1] =
    [("registers", "the device that the traces are of says nothing of its executables")];

#[test]
fn every_question_has_a_headline() {
    let dirs = TRACES.map(|name| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces").join(name);
        Dir::open(&path).expect("a trace")
    });
    for q in QUESTIONS {
        let holds = |d: &&Dir| q.wants.iter().all(|t| d.read(t).is_ok_and(|rows| !rows.is_empty()));
        let mut answers = dirs.iter().filter(holds).map(|d| q.answer(d).expect("an answer")).peekable();
        let without = WITHOUT.iter().any(|w| w.0 == q.name);
        assert_eq!(answers.peek().is_none(), without, "{}: whether no trace has what it wants", q.name);
        for r in answers {
            assert!(!r.headlines.is_empty(), "{} says nothing first: {:?}", q.name, r.notes);
            for h in &r.headlines {
                println!("{}: {h}", q.name);
                assert!(h.ends_with('.') && !h.contains("NaN") && h.lines().count() == 1, "{}: {h}", q.name);
            }
            assert!(r.headlines.len() <= 2, "{}: {:?}", q.name, r.headlines);
        }
    }
}
