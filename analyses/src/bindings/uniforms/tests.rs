//! Members whose values are known beforehand; what must not be called constant is not.

use super::*;
use crate::bindings::resources::Model;
use crate::bindings::resources::sample::{Sample, row};
use crate::report::text;
use members::Rate;
use trace::tables::{RESOURCE_BUFFERS, UPLOADS};

fn f(v: f32) -> Option<u32> {
    Some(v.to_bits())
}

/// A pipeline with a block of nine words: one of each kind.
fn declare(s: &mut Sample, pipeline: u64) {
    s.pipeline(pipeline, 100, "a");
    s.block([pipeline, 0, 0, 1, 48], ["uniform buffer", "", "scene"]);
    let members = [
        (0, 4, "far", "float", "fragment"),
        (4, 4, "spare", "float", ""),
        (8, 4, "time", "float", "vertex"),
        (12, 4, "layer", "int", "vertex"),
        (16, 4, "object", "uint", "vertex"),
        (20, 4, "feedback", "float", "fragment"),
        (24, 4, "material", "float", "fragment"),
        (32, 16, "fog", "vec4", "fragment"),
    ];
    for (offset, bytes, name, kind, used) in members {
        s.member([pipeline, 0, 0, offset, bytes], [name, kind, used]);
    }
}

/// Two frames of two passes of two draws, by two pipelines each.
fn known() -> Sample {
    let mut s = Sample::default();
    declare(&mut s, 1);
    declare(&mut s, 2);
    for n in 0..16u64 {
        (s.frame, s.recording, s.pass) = (1 + n / 8, n / 8, 1 + n / 4);
        let pipeline = 1 + n / 2 % 2;
        s.draw(pipeline);
        let feedback = (n != 5).then_some(0);
        let object = Some(n as u32 % 2);
        let fog = if n < 12 { f(0.0) } else { f(0.5) };
        let words = [
            f(100.0),
            f(n as f32),
            f(s.frame as f32),
            Some(s.pass as u32),
            object,
            feedback,
            f(pipeline as f32),
            Some(7),
            fog,
            fog,
            fog,
            fog,
        ];
        s.bytes([0, 0, 40, 256 * (n % 2)], &words);
    }
    row(
        &mut s.memory,
        &RESOURCE_BUFFERS,
        &[("buffer", 40), ("bytes", 512)],
        &[("memory_flags", "HOST_VISIBLE")],
    );
    for frame in [1, 2] {
        let numbers = [("frame", frame), ("buffer", 40), ("writes", 2), ("bytes", 96), ("same_bytes", 40)];
        row(&mut s.memory, &UPLOADS, &numbers, &[("cause", "mapped")]);
    }
    s
}

fn measured(s: &Sample) -> (Model, Members) {
    let model = Model::read(&s.memory).unwrap();
    let members = Members::of(&model);
    (model, members)
}

#[test]
fn rates_are_told_apart() {
    let (_, members) = measured(&known());
    let rates: Vec<Rate> = members.all.iter().take(8).map(|m| m.rate).collect();
    use Rate::*;
    assert_eq!(rates, [Capture, Invocation, Frame, Pass, Invocation, Unknown, Pipeline, Pass]);
    let far = &members.all[0];
    assert_eq!((far.executions, far.pairs, far.changes, far.values.len()), (8, 4, 0, 1));
    let object = &members.all[4];
    assert_eq!((object.zeros, object.pairs, object.changes), (4, 4, 4));
    let feedback = members.all.iter().find(|m| m.pipeline == 0 && m.unknown == 1);
    assert!(feedback.is_some_and(|m| m.rate == Unknown && m.values.len() == 1));
    // The same block in the other pipeline: never unknown there, and still not constant over the capture.
    assert_eq!(members.all[8 + 5].rate, Pipeline);
    let fog = &members.all[7];
    assert_eq!((fog.bytes, fog.zeros, fog.values.len()), (16, 6, 2));
}

#[test]
fn the_report_is_printed_as_it_was() {
    let text = text::render(&QUESTION.answer(&known().memory).unwrap());
    crate::report::printed::hold("bindings/uniforms/printed.txt", &text);
}

#[test]
fn padding_does_not_vary() {
    let mut s = Sample::default();
    s.pipeline(1, 2, "a");
    s.block([1, 0, 0, 1, 32], ["uniform buffer", "", "b"]);
    s.member([1, 0, 0, 0, 20], ["weights", "float[2]", "fragment"]);
    for n in 0..3 {
        s.draw(1);
        s.bytes([0, 0, 9, 0], &[f(1.0), Some(n), None, Some(n), f(2.0)]);
    }
    let (_, members) = measured(&s);
    assert_eq!(members.all[0].rate, Rate::Capture);
    assert_eq!((members.all[0].bytes, members.layouts[0].used_bytes()), (8, 8));
}

#[test]
fn the_same_bytes_elsewhere() {
    let mut s = Sample::default();
    s.pipeline(1, 2, "a");
    s.block([1, 0, 0, 1, 8], ["uniform buffer", "", "b"]);
    s.member([1, 0, 0, 0, 4], ["used", "float", "fragment"]);
    s.member([1, 0, 0, 4, 4], ["spare", "float", ""]);
    // Places A, B (the same bytes), B again, C (others), D (as C, but not all known).
    for (buffer, offset, words) in [
        (5, 0, [f(1.0), f(2.0)]),
        (6, 64, [f(1.0), f(2.0)]),
        (6, 64, [f(1.0), f(2.0)]),
        (5, 64, [f(3.0), f(2.0)]),
        (6, 0, [f(3.0), None]),
    ] {
        s.draw(1);
        s.bytes([0, 0, buffer, offset], &words);
    }
    let (model, members) = measured(&s);
    let places = Places::of(&model, &members);
    let r = places.replaced[&(0, 0, 0)];
    assert_eq!((r.pairs, r.moved, r.same, r.bytes), (3, 2, 1, 8));
    assert_eq!(places.copies.len(), 1);
    let c = &places.copies[0];
    assert_eq!((c.places, c.buffers, c.more, c.bytes, c.frames), (2, 2, 1, 8, 1));
    let [five, six] = [5, 6].map(|b| places.traffic[&b].clone());
    assert_eq!((five.read, five.bound, six.read, six.bound), (8, 16, 8, 16));
    assert_eq!(places.places_of, [4]);
}

/// Whole draws of a large frame, in well under a second.
#[test]
fn a_hundred_thousand_invocations_are_quick() {
    let mut s = Sample::default();
    declare(&mut s, 1);
    s.slot([1, 1, 0, 1], ["uniform buffer", "", "object"]);
    for n in 0..100_000u64 {
        (s.frame, s.recording, s.pass) = (n / 1000, n / 1000, n / 100);
        s.draw(1);
        s.set(0, 7, &[(0, &[1])]);
        s.set(1, 8 + n % 5000, &[(0, &[2 + n % 5000])]);
        let words: Vec<_> = (0..12).map(|w| Some(if w == 4 { (n % 5000) as u32 } else { w })).collect();
        s.bytes([0, 0, 40, 256 * (n % 5000)], &words);
    }
    let begin = std::time::Instant::now();
    let model = Model::read(&s.memory).unwrap();
    let read = begin.elapsed();
    let members = Members::of(&model);
    let places = Places::of(&model, &members);
    let uniforms = begin.elapsed();
    let bindings = crate::bindings::descriptors::Answer::of(&model);
    let all = begin.elapsed();
    eprintln!("read {read:?}, uniforms {uniforms:?}, bindings {all:?}");
    assert_eq!(members.all[4].values.len(), 5000);
    assert_eq!(places.places_of, [100_000]);
    assert_eq!(bindings.redundancy.pipelines[0].invocations, 100_000);
    // (debug builds of a busy machine are given ten times what it takes)
    assert!(all.as_secs() < 10, "{all:?}");
}
