//! Every recommendation: where it is to be made, and where not.

use super::*;
use crate::bindings::resources::sample::{Sample, row};
use trace::tables::{RESOURCE_BUFFERS, RESOURCE_SLOTS, RESOURCE_STAGES, UPLOADS};

fn advice(s: &Sample) -> Vec<Advice> {
    all(&Model::read(&s.memory).unwrap())
}

fn of<'a>(all: &'a [Advice], what: &str) -> Vec<&'a Advice> {
    all.iter().filter(|a| a.what == what).collect()
}

fn buffer(s: &mut Sample, id: u64, usage: &str, flags: &str) {
    row(
        &mut s.memory,
        &RESOURCE_BUFFERS,
        &[("buffer", id), ("bytes", 65536)],
        &[("usage", usage), ("memory_flags", flags)],
    );
}

/// A pipeline with one block of `bytes` bytes: a matrix that is read, and what the caller adds.
fn matrix(s: &mut Sample, bytes: u64) {
    s.pipeline(1, 2, "a");
    s.block([1, 0, 0, 1, bytes], ["uniform buffer", "", "object"]);
    s.member([1, 0, 0, 0, 64], ["model", "mat4", "vertex"]);
}

/// Draws of two frames; the matrix is `f(n)`, then come these words.
fn draws(s: &mut Sample, n: u64, f: impl Fn(u64) -> u32, more: &[u32]) {
    for n in 0..n {
        (s.frame, s.recording) = (n / 4, n / 4);
        s.draw(1);
        s.set(0, 10 + n, &[(0, &[1 + n])]);
        let words = vec![Some(f(n)); 16].into_iter().chain(more.iter().map(|w| Some(*w)));
        s.bytes([0, 0, 40, 256 * n], &words.collect::<Vec<_>>());
        s.descriptor(1 + n, 40, 256 * n, 256);
    }
}

#[test]
fn what_changes_with_each_draw_is_pushed() {
    let mut s = Sample::default();
    matrix(&mut s, 64);
    draws(&mut s, 8, |n| 1 + n as u32, &[]);
    let all = advice(&s);
    let push = of(&all, "push constants");
    assert_eq!(push.len(), 1, "{all:#?}");
    assert_eq!((push[0].descriptors, push[0].binds, push[0].bytes), (Some(4.0), Some(3.0), Some(0.0)));
    assert!(push[0].evidence.contains("64 bytes") && push[0].limits.contains("128"), "{:?}", push[0]);
    // And the other way to have it: one set with offsets.
    let dynamic = of(&all, "dynamic offsets");
    assert_eq!((dynamic.len(), dynamic[0].descriptors), (1, Some(3.5)));
    assert!(of(&all, "inline uniform block").is_empty() && of(&all, "specialization constants").is_empty());
    assert!(of(&all, "merge duplicates").is_empty() && of(&all, "split by update rate").is_empty());
}

#[test]
fn what_does_not_fit_or_is_not_known_is_not_pushed() {
    let mut s = Sample::default();
    matrix(&mut s, 144);
    s.member([1, 0, 0, 64, 80], ["more", "vec4[5]", "vertex"]);
    draws(&mut s, 8, |n| 1 + n as u32, &[7; 20]);
    assert!(of(&advice(&s), "push constants").is_empty());
    // A word that a shader wrote.
    let mut s = Sample::default();
    matrix(&mut s, 64);
    draws(&mut s, 8, |n| 1 + n as u32, &[]);
    s.draw(1);
    s.set(0, 99, &[(0, &[1])]);
    s.bytes([0, 0, 40, 0], &[None; 16]);
    let all = advice(&s);
    assert!(of(&all, "push constants").is_empty() && of(&all, "inline uniform block").is_empty(), "{all:#?}");
    // A set that is pushed already.
    let mut s = Sample::default();
    s.pipeline(1, 2, "a");
    s.block([1, 0, 0, 1, 64], ["uniform buffer", "push", "object"]);
    s.member([1, 0, 0, 0, 64], ["model", "mat4", "vertex"]);
    draws(&mut s, 8, |n| 1 + n as u32, &[]);
    let all = advice(&s);
    assert!(of(&all, "push constants").is_empty() && of(&all, "dynamic offsets").is_empty(), "{all:#?}");
}

#[test]
fn what_is_constant_becomes_a_constant() {
    let mut s = Sample::default();
    matrix(&mut s, 80);
    s.member([1, 0, 0, 64, 4], ["gamma", "float", "fragment"]);
    s.member([1, 0, 0, 68, 4], ["spare", "float", ""]);
    buffer(&mut s, 40, "UNIFORM_BUFFER TRANSFER_DST", "DEVICE_LOCAL");
    draws(&mut s, 8, |n| 1 + n as u32, &[2.5f32.to_bits(), 0, 0, 0]);
    let all = advice(&s);
    let constants = of(&all, "specialization constants");
    assert_eq!(constants.len(), 1);
    assert!(constants[0].evidence.contains("gamma = 2.5"), "{:?}", constants[0]);
    assert!(!constants[0].evidence.contains("spare") && !constants[0].evidence.contains("model"));
    assert_eq!(constants[0].bytes, Some(16.0));
    let unused = of(&all, "drop unused members");
    assert_eq!((unused.len(), unused[0].bytes), (1, Some(16.0)));
    assert!(unused[0].evidence.contains("spare"));
    let said = report(&Model::read(&s.memory).unwrap(), all.clone()).headlines;
    // Four draws a frame, of which each needs a descriptor less, and 68 bytes instead of 80.
    let push = "push constants (block object (0.0) of pipeline 1).";
    let [bytes, descriptors] = [("bytes", 48), ("descriptors", 4)]
        .map(|(what, n)| format!("What saves most {what}, {n}.0 a frame: {push}"));
    assert_eq!(said, [bytes, descriptors]);
    // A buffer that a storage descriptor may be of, and a shader that could not be read.
    for storage in [true, false] {
        let mut s = Sample::default();
        matrix(&mut s, 80);
        s.member([1, 0, 0, 68, 4], ["spare", "float", ""]);
        buffer(&mut s, 40, if storage { "UNIFORM_BUFFER STORAGE_BUFFER" } else { "UNIFORM_BUFFER" }, "");
        if !storage {
            row(&mut s.memory, &RESOURCE_STAGES, &[("pipeline", 1), ("unreadable", 1)], &[]);
        }
        draws(&mut s, 8, |n| 1 + n as u32, &[0; 4]);
        let all = advice(&s);
        assert!(of(&all, "drop unused members").is_empty(), "{all:#?}");
    }
}

#[test]
fn one_draw_proves_nothing() {
    let mut s = Sample::default();
    matrix(&mut s, 64);
    draws(&mut s, 1, |_| 0, &[]);
    assert_eq!(advice(&s), []);
}

#[test]
fn zeros_that_are_mostly_there() {
    let mut s = Sample::default();
    matrix(&mut s, 64);
    draws(&mut s, 8, |n| u32::from(n == 3), &[]);
    let all = advice(&s);
    assert_eq!(of(&all, "zero specialization").len(), 1);
    assert!(of(&all, "zero specialization")[0].evidence.contains("model in 88 %"));
    let mut s = Sample::default();
    matrix(&mut s, 64);
    draws(&mut s, 8, |n| u32::from(n % 4 != 0), &[]);
    assert!(of(&advice(&s), "zero specialization").is_empty());
}

#[test]
fn slow_members_go_into_a_block_of_their_own() {
    let mut s = Sample::default();
    matrix(&mut s, 144);
    s.member([1, 0, 0, 64, 64], ["view", "mat4", "vertex"]);
    s.member([1, 0, 0, 128, 16], ["fog", "vec4", "fragment"]);
    draws(&mut s, 8, |n| 1 + n as u32, &[5; 20]);
    let all = advice(&s);
    let split = of(&all, "split by update rate");
    // Four places a frame have 80 bytes that one place could have.
    assert_eq!((split.len(), split[0].bytes), (1, Some(240.0)), "{all:#?}");
}

#[test]
fn small_blocks_that_seldom_change_go_inline() {
    let mut s = Sample::default();
    matrix(&mut s, 64);
    draws(&mut s, 8, |n| 1 + n as u32 / 4, &[]);
    let all = advice(&s);
    assert_eq!(of(&all, "inline uniform block").len(), 1);
    assert!(of(&all, "push constants").is_empty());
    // The same bytes lie in four places in each frame.
    let copies = of(&all, "merge duplicates");
    assert_eq!(copies.len(), 2);
    assert_eq!((copies[0].bytes, copies[0].descriptors), (Some(96.0), Some(1.5)));
    let mut s = Sample::default();
    matrix(&mut s, 512);
    draws(&mut s, 8, |n| 1 + n as u32 / 4, &[]);
    assert!(of(&advice(&s), "inline uniform block").is_empty());
}

#[test]
fn buffers_that_are_seldom_written_go_to_the_device() {
    let make = |flags: &str, frames: &[u64], same: u64| {
        let mut s = Sample::default();
        matrix(&mut s, 64);
        buffer(&mut s, 40, "UNIFORM_BUFFER", flags);
        draws(&mut s, 40, |n| 1 + n as u32, &[]);
        for frame in frames {
            let numbers =
                [("frame", *frame), ("buffer", 40), ("writes", 4), ("bytes", 256), ("same_bytes", same)];
            row(&mut s.memory, &UPLOADS, &numbers, &[("cause", "mapped")]);
        }
        advice(&s)
    };
    let all = make("HOST_VISIBLE HOST_COHERENT", &[0], 0);
    assert_eq!(of(&all, "device-local memory").len(), 1);
    assert_eq!(of(&all, "device-local memory")[0].bytes, Some(256.0));
    assert!(of(&all, "skip writes").is_empty());
    for all in
        [make("HOST_VISIBLE DEVICE_LOCAL", &[0], 0), make("", &[0], 0), make("HOST_VISIBLE", &[0, 1, 2], 0)]
    {
        assert!(of(&all, "device-local memory").is_empty());
    }
    let all = make("HOST_VISIBLE", &[0, 1, 2], 192);
    assert_eq!(of(&all, "skip writes")[0].bytes, Some(57.6));
}

#[test]
fn offsets_in_one_buffer_only_and_sets_that_would_be_one() {
    let make = |other: bool, range: bool, flags: &str| {
        let mut s = Sample::default();
        s.pipeline(1, 2, "a");
        s.slot([1, 0, 0, 1], ["uniform buffer", flags, "object"]);
        s.slot([1, 0, 1, 1], ["combined image sampler", "", "albedo"]);
        for n in 0..6 {
            s.draw(1);
            s.set(0, 10 + n, &[(0, &[1 + n]), (1, &[if other { 50 + n } else { 50 }])]);
            s.descriptor(1 + n, 40, 256 * n, if range { 64 + n } else { 64 });
        }
        of(&advice(&s), "dynamic offsets").into_iter().cloned().collect::<Vec<_>>()
    };
    let all = make(false, false, "");
    assert_eq!((all.len(), all[0].descriptors), (1, Some(10.0)));
    assert!(all[0].evidence.contains("6 different sets would be 1"), "{all:?}");
    assert_eq!(make(true, false, ""), []);
    assert_eq!(make(false, true, ""), []);
    assert_eq!(make(false, false, "update-after-bind"), []);
}

#[test]
fn slots_that_no_shader_uses() {
    for used in ["", "fragment"] {
        let mut s = Sample::default();
        s.pipeline(1, 2, "a");
        s.slot([1, 0, 0, 1], ["uniform buffer", "", "object"]);
        let numbers = [("pipeline", 1), ("binding", 1), ("count", 3)];
        row(&mut s.memory, &RESOURCE_SLOTS, &numbers, &[("type", "sampled image"), ("used", used)]);
        for n in 0..4 {
            s.draw(1);
            s.set(0, 10 + n, &[(0, &[1]), (1, &[2, 3, 4])]);
        }
        let all = advice(&s);
        let unused = of(&all, "drop unused slots");
        assert_eq!(unused.len(), usize::from(used.is_empty()));
        assert!(unused.iter().all(|a| a.descriptors == Some(12.0)), "{unused:?}");
    }
}

#[test]
fn every_kind_is_shown() {
    let mut s = Sample::default();
    matrix(&mut s, 64);
    draws(&mut s, 80, |n| 1 + n as u32 / 2, &[]);
    let report = QUESTION.answer(&s.memory).unwrap();
    let kinds: Vec<_> = report.tables[0].rows.iter().map(|r| r[0].clone()).collect();
    let listed: std::collections::BTreeSet<String> =
        report.tables[1].rows.iter().map(|r| format!("{:?}", r[0])).collect();
    assert_eq!(kinds.len(), listed.len());
    assert!(report.tables[1].rows.len() <= LISTED * kinds.len());
    assert!(report.notes.iter().any(|n| n.contains("are listed")), "{:?}", report.notes);
}
