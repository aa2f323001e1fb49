use super::*;
use crate::rays::events::model::Model;
use crate::report::text;
use trace::{Memory, Value};

#[test]
fn the_report_is_printed_as_it_was() {
    let made = Model { width: 8, height: 4, samples: 1, ..Model::SMALL }.trace(true);
    let text = text::render(&QUESTION.answer(&made.memory()).unwrap());
    crate::report::printed::hold("rays/ray_counts/printed.txt", &text);
}

/// What the model counted, and the efficiency that question `ray-simt` says.
#[test]
fn counts_are_the_model_s_and_the_efficiency_is_that_of_the_other_question() {
    let made = Model::SMALL.trace(true);
    let mut memory = made.memory();
    // (a callable's entry is in neither's sum)
    let callable = [1, 0, 0, RayEvent::Callable as u64, 9, 0, 0xff, 0, 0, 0, 0];
    memory.put(&WARPS, &callable.map(Value::U64));
    let found = rays(&memory).unwrap();
    assert_eq!(found.len(), 1);
    let mut kinds = [0; 13];
    found[&(1, 0)].iter().for_each(|(s, n)| kinds[s.0 as usize] += n[0]);
    assert_eq!(kinds, made.counts.events);
    let [ours, theirs] = [&QUESTION, &crate::rays::ray_simt::QUESTION]
        .map(|q| q.answer(&memory).unwrap().tables[0].rows[0].clone());
    assert_eq!(ours[2..5], theirs[1..4]);
    let report = QUESTION.answer(&memory).unwrap();
    let row = report.tables[1].rows.iter().find(|r| r[0] == Cell::from("callable")).unwrap();
    assert_eq!(row[row.len() - 3..], [Cell::Count(1), Cell::Count(8), Cell::Number(25.0)]);
}

/// Several launches in one part, entry points of any number, and kinds that nobody knows.
#[test]
fn whatever_stands_in_the_table_is_counted() {
    let mut memory = Memory::default();
    let row = |frame: u64, launch: u64, kind: u64, entry: u64| {
        let of = |c: &trace::Column| match (c.name, c.kind) {
            ("frame", _) => Value::U64(frame),
            ("launch", _) => Value::U64(launch),
            ("kind", _) => Value::U64(kind),
            ("entry", _) => Value::U64(entry),
            (_, trace::Kind::F64) => Value::F64(0.0),
            _ => Value::U64(0),
        };
        RAYS.columns.iter().map(of).collect::<Vec<_>>()
    };
    for (frame, launch, kind, entry) in
        [(1, 0, 0, 3), (1, 0, 7, 4), (1, 1, 0, 3), (2, 0, 0, 700), (1, 0, 0, 3)]
    {
        memory.put(&RAYS, &row(frame, launch, kind, entry));
    }
    let found = rays(&memory).unwrap();
    assert_eq!(found[&(1, 0)], BTreeMap::from([((0, 3), [2, 0]), ((7, 4), [1, 0])]));
    assert_eq!(found[&(1, 1)], BTreeMap::from([((0, 3), [1, 0])]));
    assert_eq!(found[&(2, 0)], BTreeMap::from([((0, 700), [1, 0])]));
    assert!(!QUESTION.answer(&memory).unwrap().notes.is_empty());
    memory.put(&RAYS, &row(1, 0, 13, 3));
    assert!(QUESTION.answer(&memory).unwrap_err().0.contains("kind 13"));
    let mut memory = Memory::default();
    let mut warps = vec![Value::U64(0); WARPS.columns.len()];
    warps[0] = Value::U64(9);
    memory.put(&WARPS, &warps);
    assert!(QUESTION.answer(&memory).unwrap_err().0.contains("frame 9"));
}
