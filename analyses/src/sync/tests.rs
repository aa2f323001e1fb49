//! Each finding where it is to be made, and where not.

use super::*;
use crate::resources::sample::row;
use trace::Memory;
use trace::tables::{SYNC_BARRIERS, SYNC_OBJECTS};

const COMPUTE: u64 = 0x800;
const FRAGMENT: u64 = 0x80;
const COPY: u64 = 1 << 32;
const READ: u64 = 1 << 33;
const WRITE: u64 = 1 << 34;
const ALL: u64 = 0x1_0000;
const MEMORY: u64 = 0x8000 | 0x1_0000;

/// Tables being made: two frames at least, so that the first may be judged.
#[derive(Default)]
struct Made {
    m: Memory,
    sequence: u64,
    submission: u64,
    label: &'static str,
}

impl Made {
    fn new() -> Made {
        let mut made = Made::default();
        for (id, kind, memory) in [(1, "buffer", 91), (2, "buffer", 92), (3, "image", 93)] {
            row(
                &mut made.m,
                &SYNC_OBJECTS,
                &[("object", id), ("memory", memory), ("bytes", 64)],
                &[("kind", kind)],
            );
        }
        made.submit(1, [0; 4]);
        made
    }

    /// Waits, signals, fence, host.
    fn submit(&mut self, frame: u64, [waits, signals, fence, host]: [u64; 4]) {
        self.sequence += 1;
        self.submission += 1;
        let numbers = [
            ("submission", self.submission),
            ("call", 100 + self.submission),
            ("frame", frame),
            ("queue", 7),
            ("sequence", self.sequence),
            ("waits", waits),
            ("signals", signals),
            ("fence", fence),
            ("host", host),
        ];
        row(&mut self.m, &SYNC_SUBMISSIONS, &numbers, &[]);
    }

    fn access(&mut self, object: u64, stages: u64, access: u64) {
        self.sequence += 1;
        let aspects = u64::from(object == 3);
        let last = if object == 3 { 0 } else { 63 };
        let numbers = [
            ("sequence", self.sequence),
            ("queue", 7),
            ("stages", stages),
            ("access", access),
            ("write", u64::from(access & scopes::WRITES != 0)),
            ("object", object),
            ("last", last),
            ("aspects", aspects),
        ];
        row(&mut self.m, &SYNC_ACCESSES, &numbers, &[]);
    }

    fn barrier(&mut self, object: u64, masks: [u64; 4]) {
        self.part(object, masks, [0; 2]);
    }

    fn part(&mut self, object: u64, [a, b, c, d]: [u64; 4], [old, new]: [u64; 2]) {
        self.sequence += 1;
        let last = match object {
            0 => u64::MAX,
            3 => 0,
            _ => 63,
        };
        let numbers = [
            ("sequence", self.sequence),
            ("submission", self.submission),
            ("src_stages", a),
            ("src_access", b),
            ("dst_stages", c),
            ("dst_access", d),
            ("object", object),
            ("last", last),
            ("aspects", u64::from(object == 3)),
            ("old_layout", old),
            ("new_layout", new),
        ];
        row(&mut self.m, &SYNC_BARRIERS, &numbers, &[("kind", "barrier"), ("label", self.label)]);
    }

    /// Labels of what orders nothing, of what is too wide, of layouts; and submissions too many.
    fn found(mut self) -> (Vec<String>, Vec<String>, Vec<String>, u64) {
        self.submit(9, [1, 0, 0, 1]);
        let model = Model::read(&self.m).unwrap();
        let needed = credit::needed(&model);
        let labels = |f: Vec<Found>| f.iter().map(|f| f.label.to_string()).collect();
        let submits = super::submits(&model).iter().map(|s| s.2 - 1).sum();
        (labels(nothing(&model, &needed)), labels(wide(&model, &needed)), labels(layouts(&model)), submits)
    }
}

const NONE: [String; 0] = [];

#[test]
fn what_orders_a_write_and_a_read_is_needed() {
    let mut s = Made::new();
    s.access(1, COMPUTE, WRITE);
    s.barrier(0, [COMPUTE, 0x40, COMPUTE, 0x20]);
    s.access(1, COMPUTE, READ);
    // And a write after that, which only has to wait.
    s.barrier(0, [COMPUTE, 0, COMPUTE, 0]);
    s.access(1, COMPUTE, WRITE);
    let (nothing, wide, layouts, submits) = s.found();
    assert_eq!((nothing, wide, layouts, submits), (NONE.to_vec(), NONE.to_vec(), NONE.to_vec(), 0));
}

#[test]
fn what_orders_no_conflict_is_found() {
    let mut s = Made::new();
    s.access(1, COMPUTE, READ);
    s.label = "two reads";
    s.barrier(1, [COMPUTE, 0x40, COMPUTE, 0x20]);
    s.access(1, COMPUTE, READ);
    s.label = "nobody";
    s.barrier(5, [COMPUTE, 0x40, COMPUTE, 0x20]);
    s.access(2, COPY, 0x1000);
    s.label = "needed";
    s.barrier(0, [COPY, 0x1000, COMPUTE, 0x20]);
    s.label = "again";
    s.barrier(0, [COPY, 0x1000, COMPUTE, 0x20]);
    s.access(2, COMPUTE, READ);
    let (mut nothing, wide, ..) = s.found();
    nothing.sort();
    assert_eq!(nothing, ["again", "nobody", "two reads"]);
    assert_eq!(wide, NONE);
}

#[test]
fn what_may_serve_others_is_not_found() {
    // In the last frame, of an object that is not accessed again, the host, and where anything may be accessed.
    let mut s = Made::new();
    s.access(1, COMPUTE, WRITE);
    s.barrier(1, [COMPUTE, 0x40, COMPUTE, 0x20]);
    s.barrier(0, [COMPUTE, 0x40, 0x4000, 0x2000]);
    s.submit(9, [0, 0, 0, 1]);
    s.barrier(0, [COMPUTE, 0x40, COMPUTE, 0x20]);
    assert_eq!(s.found().0, NONE);
    let mut s = Made::new();
    s.access(0, ALL, MEMORY);
    s.barrier(0, [COMPUTE, 0x40, COMPUTE, 0x20]);
    s.access(1, COMPUTE, READ);
    assert_eq!(s.found().0, NONE);
}

#[test]
fn masks_that_are_too_wide() {
    let mut s = Made::new();
    s.access(1, COMPUTE, WRITE);
    s.label = "wide";
    s.barrier(0, [ALL, MEMORY, ALL, MEMORY]);
    s.access(1, COMPUTE, READ);
    s.access(2, COPY, 0x1000);
    s.label = "exact";
    s.barrier(0, [0x1000, 0x1000, FRAGMENT, 0x20]);
    s.access(2, FRAGMENT, READ);
    let (nothing, wide, ..) = s.found();
    assert_eq!(nothing, NONE);
    // (TRANSFER is COPY and more, and has no smaller name in the older masks)
    assert_eq!(wide, ["wide"]);
    // Where two conflicts of different stages want it, it is as wide as they are.
    let mut s = Made::new();
    for stage in [COMPUTE, FRAGMENT] {
        s.access(1, stage, WRITE);
        s.label = "both";
        s.barrier(0, [COMPUTE | FRAGMENT, 0x40, COMPUTE | FRAGMENT, 0x20]);
        s.access(1, stage, READ);
    }
    assert_eq!(s.found().1, NONE);
    // Where no barrier alone does it, it is not said what is wanted of any.
    let mut s = Made::new();
    s.access(1, COMPUTE, WRITE);
    s.barrier(0, [ALL, 0x40, ALL, 0]);
    s.barrier(0, [ALL, 0, ALL, 0x20]);
    s.access(1, COMPUTE, READ);
    let (nothing, wide, ..) = s.found();
    assert_eq!((nothing, wide), (NONE.to_vec(), NONE.to_vec()));
}

#[test]
fn stages_beside_a_buffer_are_not_judged_by_themselves() {
    let mut s = Made::new();
    s.access(1, COMPUTE, READ);
    s.label = "buffer";
    s.barrier(5, [COMPUTE, 0x40, COMPUTE, 0x20]);
    s.label = "its stages";
    s.sequence -= 1;
    s.barrier(0, [COMPUTE, 0, COMPUTE, 0]);
    s.access(1, COMPUTE, READ);
    assert_eq!(s.found().0, ["buffer"]);
}

#[test]
fn objects_in_one_memory_are_one() {
    let mut s = Made::new();
    row(&mut s.m, &SYNC_OBJECTS, &[("object", 4), ("memory", 91), ("offset", 32), ("bytes", 64)], &[]);
    s.access(1, COMPUTE, WRITE);
    s.label = "aliased";
    s.barrier(1, [COMPUTE, 0x40, COMPUTE, 0x20]);
    s.access(4, COMPUTE, READ);
    assert_eq!(s.found().0, NONE);
}

#[test]
fn layouts_that_nothing_uses() {
    let masks = [COMPUTE, 0x40, COPY, 0x800];
    let (general, source) = (1, 6);
    let make = |used: bool| {
        let mut s = Made::new();
        s.access(3, COMPUTE, WRITE);
        s.label = "there";
        s.part(3, masks, [general, source]);
        if used {
            s.access(3, COPY, 0x800);
        }
        s.label = "back";
        s.part(3, [COPY, 0x800, COMPUTE, 0x20], [source, general]);
        s.access(3, COMPUTE, READ);
        s.found()
    };
    assert_eq!(make(false).2, ["there, back"]);
    assert_eq!(make(true).2, NONE);
    assert_eq!(make(false).0, NONE);
}

#[test]
fn submissions_that_could_be_one() {
    let make = |first: [u64; 4], second: [u64; 4], frame: u64| {
        let mut s = Made::new();
        s.submit(2, first);
        s.submit(frame, second);
        s.found().3
    };
    assert_eq!(make([1, 0, 0, 1], [0, 1, 5, 0], 2), 1);
    assert_eq!(make([1, 1, 0, 1], [0; 4], 2), 0);
    assert_eq!(make([1, 0, 5, 1], [0; 4], 2), 0);
    assert_eq!(make([1, 0, 0, 1], [1, 0, 0, 0], 2), 0);
    assert_eq!(make([1, 0, 0, 1], [0, 0, 0, 1], 2), 0);
    assert_eq!(make([1, 0, 0, 1], [0; 4], 3), 0);
}
