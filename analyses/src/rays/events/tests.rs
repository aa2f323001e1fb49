use super::*;
use crate::context::{Context, sample};
use trace::tables::{NOT_KNOWN, RAY_LAUNCHES, RAYS, RayEvent, WARPS};
use trace::{Memory, Value};

/// A trace of one launch of 8 × 1, entry 1, with these events: invocation, subgroup, kind, shader.
fn trace(rows: &[(u64, u64, RayEvent, u64)], no_closest_hit: u64) -> Memory {
    let mut m = sample::trace();
    let numbers = [1, 0, 8, 0, 8, 1, 1, 1, no_closest_hit, 0].map(Value::U64);
    m.put(&RAY_LAUNCHES, &numbers.into_iter().chain([Value::Text("")]).collect::<Vec<_>>());
    for &(thread, subgroup, kind, entry) in rows {
        let row: Vec<_> = [1, 0, thread, subgroup, 0, kind as u64, entry, 0]
            .map(Value::U64)
            .into_iter()
            .chain([0.0; 8].map(Value::F64))
            .chain([0; 5].map(Value::U64))
            .chain([NOT_KNOWN; 4].map(Value::U64))
            .chain([NOT_KNOWN, NOT_KNOWN, 0, NOT_KNOWN, NOT_KNOWN].map(Value::U64))
            .collect();
        m.put(&RAYS, &row);
    }
    m
}

fn broken(m: &Memory) -> Vec<(&'static str, u64, u64)> {
    let events = read(m, &Context::read(m).unwrap(), Wants::default()).unwrap();
    let broken = |l: Law| (!l.holds()).then_some((l.name, l.left, l.right));
    laws(&events, m).unwrap().into_iter().filter_map(broken).collect()
}

use RayEvent::*;

/// Every law is broken by something, and by that alone.
#[test]
fn each_law_can_be_broken() {
    let sound = [(0, 0, Begin, 0), (0, 0, Intersection, 1), (0, 0, ReportIntersection, 1)];
    let with = |more: &[(u64, u64, RayEvent, u64)]| trace(&[&sound[..], more].concat(), 0);
    assert_eq!(broken(&with(&[(0, 0, ClosestHit, 2), (0, 0, End, 0)])), []);
    assert_eq!(broken(&with(&[(0, 0, End, 0)])), [("each ray ends once", 1, 0)]);
    assert_eq!(broken(&with(&[(0, 0, Miss, 2)])), [("each call returns", 1, 0)]);
    assert_eq!(
        broken(&with(&[(0, 0, Miss, 2), (0, 0, ClosestHit, 2), (0, 0, End, 0)])),
        [("shaders belong to a ray", 3, 2)]
    );
    assert_eq!(
        broken(&with(&[(0, 0, Miss, 2), (0, 0, End, 0), (0, 0, End, 0)])),
        [("no call returns twice", 2, 1)]
    );
    assert_eq!(
        broken(&with(&[(0, 0, IgnoreIntersection, 3), (0, 0, Miss, 2), (0, 0, End, 0)])),
        [("ignoring is an any-hit's", 1, 0)]
    );
    let report = [(0, 0, Begin, 0), (0, 0, ReportIntersection, 1), (0, 0, Miss, 2), (0, 0, End, 0)];
    assert_eq!(broken(&trace(&report, 0)), [("reports are an intersection's", 1, 0)]);
    assert_eq!(broken(&trace(&[(0, 0, QueryCommitted, 0)], 0)), [("queries begin", 1, 0)]);
    assert_eq!(broken(&trace(&[(0, 0, QueryBegin, 0), (0, 0, QueryCommitted, 0)], 0)), []);
    assert_eq!(broken(&with(&[(0, 5, Miss, 2), (0, 0, End, 0)])), [("subgroups stay", 5, 4)]);
}

/// Hits that no shader says are hits where that may be.
#[test]
fn implicit_hits() {
    let rows = [(0, 0, OcclusionBegin, 0), (0, 0, End, 0)];
    assert_eq!(broken(&trace(&rows, 0)), []);
    let rows = [(0, 0, Begin, 0), (0, 0, End, 0)];
    assert_eq!(broken(&trace(&rows, 0)), [("each ray ends once", 1, 0)]);
    assert_eq!(broken(&trace(&rows, 1)), []);
}

#[test]
fn subgroups_events_are_held_against_the_rays() {
    let rows = [
        (0, 0, Begin, 0),
        (0, 0, Miss, 2),
        (0, 0, End, 0),
        (1, 0, Begin, 0),
        (1, 0, Miss, 2),
        (1, 0, End, 0),
    ];
    let mut m = trace(&rows, 0);
    let warp = |m: &mut Memory, kind: RayEvent, entry, mask, high| {
        m.put(&WARPS, &[1, 0, 0, kind as u64, entry, 0, mask, high, 0, 0, 0].map(Value::U64));
    };
    warp(&mut m, Begin, 0, 1, 1);
    assert_eq!(broken(&m), [("of each shader", 0, 2)]);
    warp(&mut m, Miss, 2, 3, 0);
    assert_eq!(broken(&m), []);
    warp(&mut m, Begin, 7, 1, 0);
    assert_eq!(broken(&m), [("subgroups begin as rays do", 3, 2), ("of each shader", 1, 0)]);
}

#[test]
fn what_the_walk_says_of_rays() {
    let events = text::events(
        "begin, int1, repint, ahit, ignore, int1, repint, ahit, chit, nested, int2, miss, end, end, obegin, int1, repint",
        4,
    );
    let mut launch = events.launches[0].clone();
    for (at, t) in [(3, 5.0), (2, 5.0), (7, 3.0), (6, 3.0), (8, 3.0), (16, 2.0)] {
        launch.t[at] = t;
    }
    let mut walk = Walk::default();
    walk.walk(&launch, &events.codes, 0);
    let [first, nested, shadow] = walk.rays[..] else { panic!("{:?}", walk.rays) };
    assert_eq!((first.depth, first.outcome, first.t), (0, Outcome::ClosestHit, Some(3.0)));
    assert_eq!(
        (first.intersections, first.hits, first.reports, first.any_hits, first.ignored),
        (2, 2, 2, 2, 1)
    );
    assert_eq!((nested.depth, nested.outcome, nested.intersections), (1, Outcome::Miss, 1));
    assert_eq!((shadow.occlusion, shadow.outcome, shadow.t), (true, Outcome::ImplicitHit, Some(2.0)));
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |m: &Memory| read(m, &Context::read(m).unwrap(), Wants::default()).unwrap_err().0;
    assert!(refused(&trace(&[(8, 0, Begin, 0)], 0)).contains("invocation 8"));
    assert!(refused(&trace(&[(0, u64::from(NO), Begin, 0)], 0)).contains("lane"));
    let mut m = sample::trace();
    m.put(&RAYS, &trace_row());
    assert!(refused(&m).contains("not in ray_launches"));
}

fn trace_row() -> Vec<Value<'static>> {
    let m = trace(&[(0, 0, Begin, 0)], 0);
    let row = trace::Source::read(&m, &RAYS).unwrap();
    row.columns()
        .iter()
        .map(|c| match c {
            trace::ColumnData::U64(c) => Value::U64(c[0]),
            trace::ColumnData::F64(c) => Value::F64(c[0]),
            trace::ColumnData::Text(_) => unreachable!("rays has no words"),
        })
        .collect()
}

/// A trace that counts how often table `rays` is gone through in parts, as [`read`] does.
struct Counting(Memory, std::sync::atomic::AtomicUsize);

impl trace::Source for Counting {
    fn read(&self, table: &'static trace::Table) -> Result<trace::Columns, trace::Unreadable> {
        trace::Source::read(&self.0, table)
    }
    fn parts(
        &self,
        table: &'static trace::Table,
        columns: &[&str],
    ) -> Result<Box<dyn trace::Parts + '_>, trace::Unreadable> {
        self.1.fetch_add(usize::from(table.name == "rays"), std::sync::atomic::Ordering::Relaxed);
        self.0.parts(table, columns)
    }
}

/// Of several questions in a session, the events are gone through twice, once to count and once to take; of each alone, twice again;
/// the answers are the same.
#[test]
fn events_are_read_once() {
    use crate::{QUESTIONS, Session};
    let memory = super::model::Model::SMALL.trace(true).memory();
    let questions = || QUESTIONS.iter().filter(|q| q.events.is_some());
    assert!(questions().count() >= 6, "{}", questions().count());
    let render = crate::report::text::render;
    let counting = || Counting(memory.clone(), Default::default());
    let (together, alone) = (counting(), counting());
    let session = Session::new(&together, questions().filter_map(|q| q.events));
    let answers: Vec<_> = questions().map(|q| render(&q.ask(&session).unwrap())).collect();
    assert_eq!(answers, questions().map(|q| render(&q.answer(&alone).unwrap())).collect::<Vec<_>>());
    assert_eq!(together.1.into_inner(), 2);
    assert_eq!(alone.1.into_inner(), 2 * questions().count());
}
