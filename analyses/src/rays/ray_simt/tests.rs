use super::*;
use crate::rays::events::model::Model;
use crate::report::text;

#[test]
fn the_report_is_printed_as_it_was() {
    let made = Model { width: 8, height: 8, samples: 1, ..Model::SMALL }.trace(true);
    let text = text::render(&QUESTION.answer(&made.memory()).unwrap());
    crate::report::printed::hold("rays/ray_simt/printed.txt", &text);
}

/// By hand: a full subgroup of 32 begins, half of it misses; the rest is lost.
#[test]
fn by_hand() {
    let made = Model { width: 8, height: 4, samples: 1, ..Model::SMALL }.trace(true);
    let mut memory = trace::Memory::default();
    made.rows(&mut |table, row| {
        if table.name != "warps" {
            memory.put(table, row);
        }
    });
    let none = QUESTION.answer(&memory).unwrap();
    assert_eq!(none.tables[0].rows[0][3], Cell::Missing);
    assert_eq!(none.notes, ["No event of a subgroup was recorded."]);
    let mut put = |kind: RayEvent, entry, mask| {
        let row = [1, 0, 0, kind as u64, entry, 0, mask, 0, 0, 0, 0].map(trace::Value::U64);
        memory.put(&WARPS, &row);
    };
    put(RayEvent::Begin, 0, u64::from(u32::MAX));
    put(RayEvent::Miss, 3, 0xffff);
    // A callable is in a row of its own, and in nothing else.
    put(RayEvent::Callable, 9, 0xff);
    let report = QUESTION.answer(&memory).unwrap();
    let callable = [Cell::from("callable"), Cell::Count(1), Cell::Count(8), Cell::Number(25.0)];
    assert_eq!(report.tables[0].rows[1][..4], callable);
    assert_eq!(report.tables[0].rows[0][1..4], [Cell::Count(2), Cell::Count(48), Cell::Number(75.0)]);
    assert_eq!(report.tables[2].rows[0][3..], [Cell::Count(2), Cell::Count(48), Cell::Number(75.0)]);
    assert_eq!(report.series[1].points, [(Cell::Count(75), Cell::Count(1))]);
}

/// The same events in full subgroups: fewer than the recorded ones have in any order. The model's own are not.
#[test]
fn a_device_that_moves_invocations_is_found_out() {
    let made = Model::SMALL.trace(true);
    let mut memory = made.memory();
    let note =
        |m: &trace::Memory| QUESTION.answer(m).unwrap().notes.iter().any(|n| n.contains("other subgroups"));
    assert!(!note(&memory));
    let mut moved = trace::Memory::default();
    made.rows(&mut |table, row| {
        if table.name != "warps" {
            moved.put(table, row);
        }
    });
    let warps = trace::Source::read(&memory, &WARPS).unwrap();
    let mut sums = BTreeMap::<Shader, u32>::new();
    for row in 0..warps.len() {
        let kind = RayEvent::of(warps.u64("kind")[row]).unwrap();
        *sums.entry((kind, warps.u64("entry")[row])).or_default() += warps.u64("mask")[row].count_ones();
    }
    for ((kind, entry), mut left) in sums {
        while left > 0 {
            let mask = u64::from(u32::MAX >> (32 - left.min(32)));
            let row = [1, 0, 0, kind as u64, entry, 0, mask, 0, 0, 0, 0].map(trace::Value::U64);
            moved.put(&WARPS, &row);
            left -= left.min(32);
        }
    }
    assert!(note(&moved));
    // Where some events were not recorded, nothing is said.
    memory.put(&WARPS, &[1, 0, 0, 7, 3, 0, 1, 0, 0, 0, 0].map(trace::Value::U64));
    assert!(!note(&memory));
}

/// The model's subgroups keep Replayer's rules: actual is synthetic.
#[test]
fn the_model_s_actual_is_synthetic() {
    let report = QUESTION.answer(&Model::SMALL.trace(true).memory()).unwrap();
    for row in report.tables[0].rows.iter().chain(&report.tables[1].rows) {
        let n = row.len();
        assert_eq!(row[n - 8..n - 5], row[n - 5..n - 2]);
    }
    assert_eq!(report.tables[1].rows.len(), 8);
}
