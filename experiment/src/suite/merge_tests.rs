//! What shards come to, and what is refused.

use super::*;
use trace::dir::Capture;
use trace::suite::{PartNote, SUITE_VERSION};

/// Shard `index` of two, of units a, b (shard 1) and c (shard 2).
fn shard(index: u32) -> SuiteNote {
    let unit = |name: &str, of: u32| UnitNote {
        name: name.into(),
        file: "x.gfxr".into(),
        shard: of,
        state: if of == index { State::Done } else { State::Elsewhere },
        part: (of == index).then_some(0),
        capture: (of == index).then(|| Capture { blake3: "77".into(), ..Capture::default() }),
        ..UnitNote::default()
    };
    SuiteNote {
        schema_version: SUITE_VERSION,
        program: "p".into(),
        name: "s".into(),
        blake3: "5".into(),
        shard: Some([index, 2]),
        parts: vec![PartNote { began: index.into(), ..PartNote::default() }],
        units: vec![unit("a", 1), unit("b", 1), unit("c", 2)],
        ..SuiteNote::default()
    }
}

fn merged_of(
    notes: &[&SuiteNote],
    flags: [bool; 2],
    equal: bool,
) -> Result<(SuiteNote, Vec<Option<usize>>), String> {
    let [partial, force] = flags;
    let args = Merge { parts: vec![], output: "x".into(), partial, force };
    let names: Vec<String> = (0..notes.len()).map(|n| format!("results-{n}")).collect();
    merged(notes, &names, &args, &|_, _, _| Ok(equal)).map_err(|e| e.to_string())
}

#[test]
fn shards_make_one_whole() {
    let (one, two) = (shard(1), shard(2));
    let (whole, from) = merged_of(&[&one, &two], [false; 2], false).expect("both are there");
    assert_eq!((whole.shard, whole.parts.len(), from), (None, 2, vec![Some(0), Some(0), Some(1)]));
    assert!(whole.units.iter().all(|u| u.state == State::Done));
    assert_eq!(whole.units.iter().map(|u| u.part).collect::<Vec<_>>(), [Some(0), Some(0), Some(1)]);
    // The same in any order, but for the order of parts; merged again with one of them, it is the same.
    let (other, from) = merged_of(&[&two, &one], [false; 2], false).expect("both are there");
    assert_eq!(other.units.iter().map(|u| u.part).collect::<Vec<_>>(), [Some(1), Some(1), Some(0)]);
    assert_eq!(from, [Some(1), Some(1), Some(0)]);
    assert_eq!(merged_of(&[&whole, &one], [false; 2], true).expect("the same runs").0, whole);
    let e = merged_of(&[&whole, &one], [false; 2], false).expect_err("other runs");
    assert!(e.contains("unit a was measured in results-0 and in results-1"), "{e}");
}

#[test]
fn what_is_missing_is_named_with_its_shard() {
    let one = shard(1);
    let e = merged_of(&[&one], [false; 2], true).expect_err("c is missing");
    assert!(e.contains("1 of 3 units") && e.contains("c (shard 2/2)"), "{e}");
    let (part, from) = merged_of(&[&one], [true, false], true).expect("partly");
    assert_eq!((part.units[2].state, from[2]), (State::Waiting, None));
    let mut waits = shard(2);
    waits.units[2].state = State::Waiting;
    assert!(merged_of(&[&one, &waits], [false; 2], true).is_err_and(|e| e.contains("c (shard 2/2)")));
}

#[test]
fn what_failed_stays_so_unless_it_was_measured_elsewhere() {
    let (one, mut two) = (shard(1), shard(2));
    two.units[2] = UnitNote { state: State::Failed, exit: Some(5), ..two.units[2].clone() };
    let (whole, _) = merged_of(&[&one, &two], [false; 2], true).expect("a failure is a result");
    assert_eq!((whole.units[2].state, whole.units[2].exit), (State::Failed, Some(5)));
    let again = shard(2);
    for all in [[&one, &two, &again], [&again, &one, &two]] {
        let (whole, _) = merged_of(&all, [false; 2], true).expect("measured");
        assert_eq!(whole.units[2].state, State::Done);
    }
    // Of two failures the later one.
    let mut later = two.clone();
    (later.parts[0].began, later.units[2].exit) = (9, Some(6));
    let (whole, _) = merged_of(&[&one, &later, &two], [false; 2], true).expect("a failure is a result");
    assert_eq!(whole.units[2].exit, Some(6));
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let one = shard(1);
    let of = |change: &dyn Fn(&mut SuiteNote), force: bool| {
        let mut two = shard(2);
        change(&mut two);
        merged_of(&[&one, &two], [false, force], true)
    };
    let file = |n: &mut SuiteNote| n.blake3 = "6".into();
    assert!(of(&file, false).is_err_and(|e| e.contains("another suite file")));
    assert!(of(&file, true).is_err_and(|e| e.contains("another suite file")));
    let program = |n: &mut SuiteNote| n.program = "q".into();
    assert!(of(&program, false).is_err_and(|e| e.contains("another program (q; --force")));
    assert!(of(&program, true).is_ok());
    let units = |n: &mut SuiteNote| n.units[2].name = "d".into();
    assert!(of(&units, true).is_err_and(|e| e.contains("other units")));
    let capture =
        |n: &mut SuiteNote| n.units[2].capture = Some(Capture { blake3: "78".into(), ..Capture::default() });
    assert!(
        of(&capture, false).is_err_and(|e| e.contains("x.gfxr was another file for unit c than for unit a"))
    );
    assert!(of(&capture, true).is_ok());
}
