//! Each finding where it is to be made, and where not.

use super::*;
use crate::bindings::resources::sample::row;
use trace::Memory;
use trace::tables::{SYNC_BARRIERS, SYNC_OBJECTS, SYNC_WAITS};

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
    /// The block that records the next barriers, if it is not one of its own.
    block: Option<u64>,
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
            ("block", self.block.unwrap_or(1000 + self.sequence)),
            ("aspects", u64::from(object == 3)),
            ("old_layout", old),
            ("new_layout", new),
        ];
        row(&mut self.m, &SYNC_BARRIERS, &numbers, &[("kind", "barrier"), ("label", self.label)]);
    }

    /// A frame behind the first one.
    fn second() -> Made {
        let mut made = Made::new();
        made.submit(5, [0; 4]);
        made
    }

    /// Blocks of barriers of this frame that can be left out.
    fn unneeded(mut self, frame: u64) -> Vec<u64> {
        self.submit(9, [1, 0, 0, 1]);
        unneeded(&self.m, frame).unwrap()
    }

    /// Labels of what orders nothing, of what is too wide, of layouts; and submissions too many.
    fn found(mut self) -> (Vec<String>, Vec<String>, Vec<String>, u64) {
        self.submit(9, [1, 0, 0, 1]);
        let model = Model::read(&self.m).unwrap();
        let needed = credit::needed(&model).needed;
        let labels = |f: Vec<Found>| f.iter().map(|f| f.label.to_string()).collect();
        let submits = submits(&model).iter().map(|s| s.2 - 1).sum();
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
fn blocks_whose_barriers_order_nothing_each_time_can_be_left_out() {
    let mut s = Made::second();
    s.access(1, COMPUTE, READ);
    // Two reads: in vain (block 1004).
    s.barrier(1, [COMPUTE, 0x40, COMPUTE, 0x20]);
    s.access(1, COMPUTE, READ);
    // A write and a read: needed, and of two that do the same one is.
    s.access(2, COMPUTE, WRITE);
    s.barrier(2, [COMPUTE, 0x40, COMPUTE, 0x20]);
    s.barrier(2, [COMPUTE, 0x40, COMPUTE, 0x20]);
    s.access(2, COMPUTE, READ);
    // A layout changes: kept.
    s.part(3, [COMPUTE, 0x20, COMPUTE, 0x20], [1, 2]);
    // What changes nothing between reads, but is wanted later by a write (the host may not know: another object of all memory).
    s.access(1, COMPUTE, READ);
    s.barrier(0, [COMPUTE, 0, COMPUTE, 0]);
    s.access(1, COMPUTE, WRITE);
    let found = s.unneeded(5);
    assert!(found.contains(&1004), "{found:?}");
    assert_eq!(found.len(), 2, "one of the two that order the same: {found:?}");
    assert!(found[1] == 1007 || found[1] == 1008, "{found:?}");
}

#[test]
fn a_command_that_is_wanted_once_stays() {
    // The same command, executed twice: between two reads, then between a write and a read.
    let twice = |between: u64| {
        let mut s = Made { block: Some(77), ..Made::second() };
        s.access(1, COMPUTE, READ);
        s.barrier(1, [COMPUTE, 0x40, COMPUTE, 0x20]);
        s.access(1, COMPUTE, between);
        s.barrier(1, [COMPUTE, 0x40, COMPUTE, 0x20]);
        s.access(1, COMPUTE, READ);
        s.unneeded(5)
    };
    assert_eq!(twice(READ), [77]);
    assert_eq!(twice(WRITE), [0; 0]);
}

#[test]
fn what_was_not_captured_may_want_a_barrier() {
    // Of the first frame, of the last, and of what nothing in the capture accesses before.
    let between_reads = |mut s: Made, frame| {
        s.access(1, COMPUTE, READ);
        s.barrier(1, [COMPUTE, 0x40, COMPUTE, 0x20]);
        s.access(1, COMPUTE, READ);
        if frame == 9 { unneeded(&s.m, 9).unwrap() } else { s.unneeded(frame) }
    };
    assert_eq!(between_reads(Made::second(), 5), [1004]);
    assert_eq!(between_reads(Made::new(), 1), [0; 0]);
    let mut last = Made::new();
    last.submit(9, [0; 4]);
    assert_eq!(between_reads(last, 9), [0; 0]);
    let mut s = Made::second();
    s.barrier(1, [COMPUTE, 0x40, COMPUTE, 0x20]);
    s.access(1, COMPUTE, READ);
    assert_eq!(s.unneeded(5), [0; 0]);
}

/// One of two barriers orders nothing: a buffer's two reads; the other is needed.
#[test]
fn the_report_begins_with_what_is_in_vain() {
    let mut s = Made::new();
    s.access(1, COMPUTE, READ);
    s.barrier(1, [COMPUTE, 0x40, COMPUTE, 0x20]);
    s.access(1, COMPUTE, READ);
    s.access(2, COMPUTE, WRITE);
    s.barrier(2, [COMPUTE, 0x40, COMPUTE, 0x20]);
    s.access(2, COMPUTE, READ);
    s.submit(9, [1, 0, 0, 1]);
    let said = [
        "Possibly in vain: 1 of 2 parts of barriers order nothing, 0 are too wide; changes of layout: 0; submissions: 0 of 2.",
        "Executed most of these, 1 time: buffer 1: COMPUTE_SHADER SHADER_WRITE → COMPUTE_SHADER SHADER_READ (before it is read by \
         COMPUTE_SHADER, then read by COMPUTE_SHADER: no conflict).",
    ];
    assert_eq!(QUESTION.answer(&s.m).unwrap().headlines, said);
    let mut idle = Made::new();
    idle.submit(9, [1, 0, 0, 1]);
    let said = "Nothing was found to be in vain; parts of barriers: 0, submissions: 2.";
    assert_eq!(QUESTION.answer(&idle.m).unwrap().headlines, [said]);
    assert!(QUESTION.answer(&Memory::default()).unwrap().headlines.is_empty());
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
fn around_what_may_access_anything_all_is_needed_up_to_what_orders_everything() {
    let mut s = Made::new();
    for label in ["before everything", "before", "behind", "behind everything"] {
        s.label = label;
        s.barrier(1, [COMPUTE, 0x40, COMPUTE, 0x20]);
        s.access(1, COMPUTE, READ);
        s.label = "";
        match label {
            "before" => s.access(0, ALL, MEMORY),
            "behind everything" => {}
            _ => s.barrier(0, [ALL, MEMORY, ALL, MEMORY]),
        }
    }
    let (nothing, wide, ..) = s.found();
    assert_eq!(nothing, ["before everything", "behind everything"]);
    assert_eq!(wide, NONE);
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
    // Where no barrier alone does it, each is as wide as its part in the chain.
    let mut s = Made::new();
    s.access(1, COMPUTE, WRITE);
    s.barrier(0, [ALL, 0x40, ALL, 0]);
    s.barrier(0, [COMPUTE, 0, COMPUTE, 0x20]);
    s.access(1, COMPUTE, READ);
    let (nothing, wide, ..) = s.found();
    assert_eq!((nothing, wide), (NONE.to_vec(), vec![String::new()]));
    // Chains have as many links as they need.
    let mut s = Made::new();
    s.access(1, COMPUTE, WRITE);
    s.label = "gives";
    s.barrier(0, [COMPUTE, 0x40, FRAGMENT, 0]);
    s.label = "between";
    s.barrier(0, [FRAGMENT, 0, COPY, 0]);
    s.label = "no link";
    s.barrier(0, [1 << 34, 0, COPY, 0x800]);
    s.label = "shows";
    s.barrier(0, [COPY, 0, COMPUTE, 0x20]);
    s.access(1, COMPUTE, READ);
    let (nothing, wide, ..) = s.found();
    assert_eq!((nothing, wide), (vec!["no link".to_owned()], NONE.to_vec()));
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

impl Made {
    /// A part with these columns; scopes are `given`.
    fn other(&mut self, kind: &str, [a, b, c, d]: [u64; 4], columns: &[(&str, u64)]) {
        self.sequence += 1;
        let all = [("last", u64::MAX), ("sequence", self.sequence), ("submission", self.submission)];
        let scopes = [("src_stages", a), ("src_access", b), ("dst_stages", c), ("dst_access", d)];
        let numbers = [columns, &scopes, &all].concat();
        row(&mut self.m, &SYNC_BARRIERS, &numbers, &[("kind", kind), ("label", self.label)]);
    }

    /// An access of a part of an object, by a queue.
    fn accessed(&mut self, queue: u64, object: u64, [stages, access]: [u64; 2], [first, last]: [u64; 2]) {
        self.sequence += 1;
        let numbers = [
            ("sequence", self.sequence),
            ("queue", queue),
            ("stages", stages),
            ("access", access),
            ("write", u64::from(access & scopes::WRITES != 0)),
            ("object", object),
            ("first", first),
            ("last", last),
        ];
        row(&mut self.m, &SYNC_ACCESSES, &numbers, &[]);
    }

    /// A buffer in memory 91: where, how long, and when it went.
    fn buffer(&mut self, id: u64, offset: u64, bytes: u64, gone: u64) {
        let numbers = [("object", id), ("memory", 91), ("offset", offset), ("bytes", bytes), ("gone", gone)];
        row(&mut self.m, &SYNC_OBJECTS, &numbers, &[("kind", "buffer")]);
    }

    /// The submission that runs waits: stages, by whom, its queue, up to which command.
    fn waits(&mut self, stages: u64, by: &str, [queue, sequence]: [u64; 2]) {
        let numbers = [
            ("submission", self.submission),
            ("queue", 7),
            ("sequence", self.sequence),
            ("stages", stages),
            ("from_queue", queue),
            ("from_sequence", sequence),
        ];
        row(&mut self.m, &SYNC_WAITS, &numbers, &[("by", by)]);
    }

    fn nothing(self) -> Vec<String> {
        let mut labels = self.found().0;
        labels.sort();
        labels
    }
}

const WRITE_TO_READ: [u64; 4] = [COMPUTE, 0x40, COMPUTE, 0x20];

#[test]
fn two_that_chain_are_needed_and_a_third_is_not() {
    let mut s = Made::new();
    s.access(1, COMPUTE, WRITE);
    s.label = "gives";
    s.barrier(1, [COMPUTE, 0x40, FRAGMENT, 0x20]);
    s.label = "shows";
    s.barrier(1, [FRAGMENT, 0, COPY, 0x800]);
    s.label = "neither";
    s.barrier(1, [COMPUTE, 0, FRAGMENT, 0x20]);
    s.access(1, COPY, 0x800);
    let (nothing, wide, ..) = s.found();
    assert_eq!((nothing, wide), (vec!["neither".to_owned()], NONE.to_vec()));
}

#[test]
fn a_barrier_for_a_part_is_not_all() {
    let make = |held: [u64; 2]| {
        let mut s = Made::new();
        s.access(1, COMPUTE, WRITE);
        s.label = "part";
        s.other("barrier", WRITE_TO_READ, &[("object", 1), ("first", held[0]), ("last", held[1])]);
        s.label = "rest";
        s.barrier(0, WRITE_TO_READ);
        s.accessed(7, 1, [COMPUTE, READ], [16, 31]);
        s.nothing()
    };
    assert_eq!(make([0, 20]), ["part"], "the other one is the only one for all that is read");
    assert_eq!(make([16, 31]), ["rest"]);
}

#[test]
fn a_write_behind_reads_is_behind_the_write_before_them() {
    let make = |read: bool| {
        let mut s = Made::new();
        s.access(1, COMPUTE, WRITE);
        s.label = "to the read";
        s.barrier(1, WRITE_TO_READ);
        if read {
            s.access(1, COMPUTE, READ);
        }
        s.label = "to the write";
        s.barrier(1, [COMPUTE, 0, COPY, 0]);
        s.label = "more";
        s.barrier(1, [COMPUTE, 0x40, COPY, 0x1000]);
        s.access(1, COPY, 0x1000);
        s.nothing()
    };
    assert_eq!(make(true), ["more"]);
    assert_eq!(make(false), ["to the read", "to the write"]);
}

#[test]
fn a_change_of_layout_is_an_access() {
    // What waits for the change, by another barrier behind it, is needed for that.
    let mut s = Made::new();
    s.access(3, COPY, 0x1000);
    s.label = "before";
    s.barrier(0, [COPY, 0x1000, FRAGMENT, 0x20]);
    s.label = "change";
    s.part(3, [FRAGMENT, 0, FRAGMENT, 0], [7, 5]);
    s.label = "behind";
    s.barrier(0, [FRAGMENT, 0, FRAGMENT, 0x20]);
    s.label = "too many";
    s.barrier(0, [FRAGMENT, 0, FRAGMENT, 0x20]);
    s.access(3, FRAGMENT, 1 << 32);
    assert_eq!(s.nothing(), ["too many"]);
    // Where it does all itself, nothing else is.
    let mut s = Made::new();
    s.access(3, COPY, 0x1000);
    s.label = "before";
    s.barrier(0, [COPY, 0x1000, FRAGMENT, 0x20]);
    s.part(3, [COPY, 0x1000, FRAGMENT, 0x20], [7, 5]);
    s.access(3, FRAGMENT, 1 << 32);
    assert_eq!(s.nothing(), ["before"]);
}

#[test]
fn memory_of_what_is_gone_is_free() {
    let make = |gone: u64, offset: u64| {
        let mut s = Made::new();
        s.buffer(11, 128, 64, gone);
        s.buffer(12, offset, 64, 0);
        s.accessed(7, 11, [COMPUTE, WRITE], [0, 63]);
        s.label = "between";
        s.barrier(0, [COMPUTE, 0x40, COPY, 0x1000]);
        s.accessed(7, 12, [COPY, 0x1000], [0, 31]);
        s.nothing()
    };
    // (the write is command 2, the other 4)
    assert_eq!(make(0, 160), NONE, "they share bytes");
    assert_eq!(make(0, 192), ["between"]);
    assert_eq!(make(3, 160), ["between"]);
    assert_eq!(make(0, 97), NONE, "the last byte of the range");
    assert_eq!(make(0, 96), ["between"], "only what is accessed counts");
}

#[test]
fn events_order_what_was_before_they_were_set() {
    let make = |since: u64, other: bool| {
        let mut s = Made::new();
        s.access(1, COMPUTE, WRITE);
        s.sequence = 5;
        s.label = "event";
        s.other("event", WRITE_TO_READ, &[("since", since)]);
        if other {
            s.label = "barrier";
            s.barrier(0, WRITE_TO_READ);
        }
        s.access(1, COMPUTE, READ);
        s.nothing()
    };
    assert_eq!(make(4, false), NONE);
    assert_eq!(make(4, true), ["barrier"]);
    // Set before the write, it orders nothing of it; set by the host, it is not known what for.
    assert_eq!(make(1, true), ["event"]);
    assert_eq!(make(0, true), NONE);
}

#[test]
fn dependencies_of_passes_are_judged_where_no_layout_changes() {
    let make = |changes: u64, conflict: bool| {
        let mut s = Made::new();
        s.access(3, 0x400, 0x100);
        s.label = "dependency";
        s.other("subpass", [0x400, 0x100, FRAGMENT, 0x10], &[("changes", changes)]);
        if conflict {
            s.access(3, FRAGMENT, 0x10);
        }
        s.nothing()
    };
    assert_eq!(make(0, true), NONE);
    assert_eq!(make(0, false), ["dependency"]);
    assert_eq!(make(1, false), NONE);
}

#[test]
fn semaphores_order_queues_and_barriers_take_over_from_them() {
    let make = |stages: u64, by: &str, from: [u64; 2]| {
        let mut s = Made::new();
        s.accessed(8, 1, [COMPUTE, WRITE], [0, 63]);
        s.submit(1, [1, 0, 0, 0]);
        s.waits(stages, by, from);
        s.label = "takes over";
        s.barrier(0, [COPY, 0, COMPUTE, 0x20]);
        s.label = "other";
        s.barrier(0, [FRAGMENT, 0, FRAGMENT, 0]);
        s.access(1, COMPUTE, READ);
        s.nothing()
    };
    assert_eq!(make(ALL, "queue", [8, 2]), ["other", "takes over"]);
    assert_eq!(make(COPY, "queue", [8, 2]), ["other"], "it waits with copies only");
    assert_eq!(make(ALL, "queue", [8, 1]), NONE, "that was signalled before");
    assert_eq!(make(ALL, "queue", [9, 2]), NONE, "a third queue's");
    assert_eq!(make(ALL, "", [0, 0]), NONE);
}

#[test]
fn what_is_acquired_is_handed_to_its_change_of_layout() {
    let make = |waited: u64| {
        let mut s = Made::new();
        s.accessed(0, 3, [ALL, MEMORY], [0, 0]);
        s.submit(1, [1, 0, 0, 0]);
        s.waits(waited, "presentation", [0, 2]);
        s.label = "other";
        s.barrier(0, [ALL, MEMORY, ALL, MEMORY]);
        s.label = "change";
        s.part(3, [0x400, 0, COPY, 0x1000], [0, 7]);
        s.access(3, COPY, 0x1000);
        s.nothing()
    };
    assert_eq!(make(0x400), ["other"]);
    // (where the change does not wait for it, all on the way may have a part in it)
    assert_eq!(make(COMPUTE), NONE);
}

#[test]
fn what_the_host_wrote_before_is_seen() {
    let make = |signals: bool| {
        let mut s = Made::new();
        if signals {
            s.submit(1, [1, 0, 0, 0]);
            s.waits(ALL, "host", [0, 0]);
        }
        s.label = "host";
        s.barrier(0, [0x4000, 0x4000, COMPUTE, 0x20]);
        s.access(1, COMPUTE, READ);
        s.nothing()
    };
    assert_eq!(make(false), ["host"]);
    assert_eq!(make(true), NONE, "it may write while the device runs");
}

#[test]
fn accesses_that_nobody_wants() {
    let make = |src: u64, dst: u64| {
        let mut s = Made::new();
        s.access(1, COMPUTE, WRITE);
        s.label = "accesses";
        s.barrier(0, [COMPUTE, src, COMPUTE, dst]);
        s.access(1, COMPUTE, READ);
        s.found().1
    };
    // SHADER_READ is sampling, too; to make reads available is nothing.
    assert_eq!(make(0x40, 0x20), NONE);
    assert_eq!(make(0x60, 0x20), NONE);
    assert_eq!(make(0x40, 0x28), ["accesses"]);
    assert_eq!(make(0x40, 0x60), ["accesses"]);
    assert_eq!(make(0x1_0000, 0x20), ["accesses"]);
}

#[test]
fn frames_that_were_not_asked_for_are_followed_and_not_reported() {
    let make = |aside: u64| {
        let mut s = Made::new();
        s.submission += 1;
        let n = [("submission", s.submission), ("queue", 7), ("frame", 1), ("sequence", 1), ("aside", aside)];
        row(&mut s.m, &SYNC_SUBMISSIONS, &n, &[]);
        s.access(1, COMPUTE, WRITE);
        s.label = "first";
        s.barrier(5, WRITE_TO_READ);
        s.submit(2, [1, 0, 0, 1]);
        s.label = "second";
        s.barrier(5, WRITE_TO_READ);
        s.label = "needed";
        s.barrier(0, WRITE_TO_READ);
        s.access(1, COMPUTE, READ);
        s.nothing()
    };
    assert_eq!(make(0), ["first", "second"]);
    assert_eq!(make(1), ["second"]);
}
