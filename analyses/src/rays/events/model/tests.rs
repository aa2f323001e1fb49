use super::*;
use crate::context::Context;
use crate::rays::events::{Wants, laws, read};
use trace::Memory;
use trace::tables::RAYS;

/// What is written can be read: the same events, and hits where they were.
#[test]
fn rows_are_the_events() {
    for nested in [false, true] {
        let made = Model { nested, ..Model::SMALL }.trace(true);
        let memory = made.memory();
        let context = Context::read(&memory).unwrap();
        let events = read(&memory, &context, Wants { places: true, ticks: false }).unwrap();
        assert_eq!(events.codes, made.events.codes);
        assert_eq!(events.objects, made.events.objects);
        assert_eq!(events.launches[0], made.events.launches[0]);
    }
}

/// Rows of invocations mixed as a device writes them: the same events.
#[test]
fn rows_may_be_mixed() {
    let made = Model { width: 8, height: 4, ..Model::SMALL }.trace(true);
    let mut rows: Vec<Vec<Value<'static>>> = vec![];
    let mut memory = Memory::default();
    made.rows(&mut |table, row| match table.name {
        "rays" => rows.push(
            row.iter()
                .map(|v| match v {
                    Value::U64(n) => Value::U64(*n),
                    Value::F64(x) => Value::F64(*x),
                    Value::Text(_) => unreachable!(),
                })
                .collect(),
        ),
        _ => memory.put(table, row),
    });
    // Round and round the invocations, an event of each.
    let mut queues: Vec<std::collections::VecDeque<_>> = vec![Default::default(); 32];
    for row in rows {
        let Value::U64(thread) = row[2] else { unreachable!() };
        queues[thread as usize].push_back(row);
    }
    while queues.iter().any(|q| !q.is_empty()) {
        for row in queues.iter_mut().filter_map(std::collections::VecDeque::pop_front) {
            memory.put(&RAYS, &row);
        }
    }
    let context = Context::read(&memory).unwrap();
    let events = read(&memory, &context, Wants { places: true, ticks: false }).unwrap();
    assert_eq!(events, made.events);
}

use trace::Value;

#[test]
fn the_model_keeps_every_law() {
    for (nested, any_hit) in [(false, true), (true, true), (false, false)] {
        let made = Model { nested, any_hit, ..Model::SMALL }.trace(true);
        let laws = laws(&made.events, &made.memory()).unwrap();
        assert!(laws.len() > 9);
        for law in laws {
            assert!(law.holds(), "{}", law.words());
        }
        // What was counted while it was traced is what lies there.
        let mut counts = [0; 13];
        let l = &made.events.launches[0];
        l.code.iter().for_each(|c| counts[made.events.codes[usize::from(*c)].kind as usize] += 1);
        assert_eq!(counts, made.counts.events);
        assert_eq!(made.counts.events[10], made.counts.depths.iter().sum::<u64>());
    }
}

#[test]
fn equal_models_make_equal_events() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let a = one.install(|| Model::SMALL.trace(false)).events;
    assert_eq!(a, Model::SMALL.trace(false).events);
    assert_ne!(a, Model { seed: 2, ..Model::SMALL }.trace(false).events);
}
