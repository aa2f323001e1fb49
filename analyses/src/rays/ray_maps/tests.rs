use super::*;
use crate::context::Context;
use crate::rays::events::model::Model;
use crate::rays::events::read;
use crate::rays::events::text;
use crate::report::{png, text as report_text};
use trace::Source;

#[test]
fn the_report_is_printed_as_it_was() {
    let made = Model { width: 16, height: 8, ..Model::SMALL }.trace(true);
    let text = report_text::render(&QUESTION.answer(&made.memory()).unwrap());
    crate::report::printed::hold("rays/ray_maps/printed.txt", &text);
}

/// Maps add up to what the model counted; pictures can be drawn, and files have their size.
#[test]
fn maps_add_up() {
    let made = Model::SMALL.trace(true);
    let report = QUESTION.answer(&made.memory()).unwrap();
    let sum = |name: &str| {
        let i = report.images.iter().find(|i| i.name == format!("{name}_frame1_launch0")).unwrap();
        i.pixels.iter().map(|v| *v as u64).sum::<u64>()
    };
    let c = made.counts.events;
    assert_eq!([sum("rays"), sum("intersections"), sum("any_hits")], [c[0] + c[1], c[2], c[4]]);
    assert!(sum("unnecessary") > 0 && sum("unnecessary") < c[4]);
    assert_eq!(report.images.len(), report.files.len());
    assert!(report.images.iter().all(|i| png::render(i).is_ok() && !i.name.starts_with("time")));
    assert!(report.files.iter().all(|f| f.content.len() == 128 + 48 * 32 * 4));
}

/// Where an invocation's last event ran, where the device says it: on multiprocessor 0, too.
#[test]
fn multiprocessors_have_maps() {
    let made = Model { width: 16, height: 8, ..Model::SMALL }.trace(true).memory();
    let names = |m: &trace::Memory| -> Vec<String> {
        let report = QUESTION.answer(m).unwrap();
        report
            .images
            .into_iter()
            .map(|i| i.name)
            .filter(|n| n.starts_with("sm") || n.starts_with("warp"))
            .collect()
    };
    assert!(names(&made).is_empty());
    // The same rows, with places: an invocation's first events on another multiprocessor than its last.
    let rays = made.read(&RAYS).unwrap();
    let mut events = vec![0u64; 16 * 8];
    rays.u64("invocation").iter().for_each(|i| events[*i as usize] += 1);
    let mut left = events.clone();
    let mut placed = trace::Memory::default();
    for table in trace::tables::TABLES {
        let rows = made.read(table).unwrap();
        for row in 0..rows.len() {
            let invocation = if table.name == RAYS.name { rays.u64("invocation")[row] } else { 0 };
            left[invocation as usize] -= u64::from(table.name == RAYS.name);
            let sm = if left[invocation as usize] == 0 { invocation % 3 } else { 77 };
            let columns = rows.columns().iter().zip(table.columns);
            let values = columns.map(|(data, column)| match (column.name, data) {
                ("sm", _) => trace::Value::U64(sm),
                ("warp", _) => trace::Value::U64(5),
                (_, trace::ColumnData::U64(v)) => trace::Value::U64(v[row]),
                (_, trace::ColumnData::F64(v)) => trace::Value::F64(v[row]),
                (_, trace::ColumnData::Text(v)) => trace::Value::Text(&v[row]),
            });
            placed.put(table, &values.collect::<Vec<_>>());
        }
    }
    assert_eq!(names(&placed), ["sm_frame1_launch0", "warp_frame1_launch0"]);
    let report = QUESTION.answer(&placed).unwrap();
    let of = |name: &str| report.images.iter().find(|i| i.name == name).unwrap();
    let (sm, warp) = (of("sm_frame1_launch0"), of("warp_frame1_launch0"));
    for i in (0..16 * 8).filter(|i| events[*i] > 0) {
        assert_eq!((sm.pixels[i], warp.pixels[i]), ((i % 3) as f32, 5.0));
    }
}

/// Farther objects that were met first are unnecessary; nearer ones, and those of rays that may end at once, are not.
#[test]
fn unnecessary_by_hand() {
    let count = |line: &str, distances: &[(usize, f32)]| {
        let mut events = text::events(line, 1);
        distances.iter().for_each(|(at, t)| events.launches[0].t[*at] = *t);
        counts(&events, &events.launches[0])[0].unnecessary
    };
    // 9, 7, then 3: two were for nothing.
    let line = "begin, ahit, ahit, ahit, chit";
    assert_eq!(count(line, &[(1, 9.0), (2, 7.0), (3, 3.0), (4, 3.0)]), 2);
    // In order, only the first is met.
    assert_eq!(count("begin, ahit, chit", &[(1, 3.0), (2, 3.0)]), 0);
    // A nearer one that was ignored had to be looked at.
    assert_eq!(count("begin, ahit, ignore, ahit, chit", &[(1, 1.0), (3, 3.0), (4, 3.0)]), 0);
    // Reports count where no any-hit shader follows, once where one does.
    assert_eq!(count("begin, int1, repint, int1, repint, chit", &[(2, 9.0), (4, 3.0), (5, 3.0)]), 1);
    assert_eq!(
        count(
            "begin, int1, repint, ahit, int1, repint, ahit, chit",
            &[(2, 9.0), (3, 9.0), (5, 3.0), (6, 3.0), (7, 3.0)]
        ),
        1
    );
    assert_eq!(count("obegin, ahit, ahit", &[(1, 9.0), (2, 3.0)]), 0);
    assert_eq!(count("begin, ahit, ignore, miss", &[(1, 9.0)]), 0);
}

/// Where the trace holds geometry, classes have maps, whose sums are those of the question.
#[test]
fn classes_have_maps() {
    let mut memory = Model::SMALL.trace(true).memory();
    let names = |m: &trace::Memory| {
        let report = QUESTION.answer(m).unwrap();
        let of = report.images.into_iter().filter(|i| i.name.starts_with("unnecessary_r"));
        of.map(|i| (i.name, i.pixels.iter().map(|v| *v as u64).sum::<u64>())).collect::<Vec<_>>()
    };
    assert!(names(&memory).is_empty());
    Model::SMALL.geometry(&mut |table, row| memory.put(table, row));
    let context = Context::read(&memory).unwrap();
    let events = read(&memory, &context, Wants::default()).unwrap();
    let sums = crate::rays::boxes::judge(&memory, &events).unwrap().launches[0].sums;
    let [a, b] = ["r1", "r2r3"].map(|n| format!("unnecessary_{n}_frame1_launch0"));
    assert_eq!(names(&memory), [(a, sums.r1()), (b, sums.r23())]);
    assert!(sums.r1() > sums.r23() && sums.r23() > 0);
}
