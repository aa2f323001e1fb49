//! Where members lie, how they are printed, and what follows what.

use super::sample::Sample;
use super::*;

fn member(kind: &str, offset: u64, bytes: u64, array_stride: u64, matrix_stride: u64) -> Member {
    Member {
        push: false,
        set: 0,
        binding: 0,
        name: "m".into(),
        kind: kind.into(),
        offset,
        bytes,
        array_stride,
        matrix_stride,
        row_major: false,
        used: "fragment".into(),
    }
}

#[test]
fn padding_is_no_part_of_a_value() {
    let words = |m: &Member| Lanes::of(m).words;
    let all = u32::MAX;
    assert_eq!(words(&member("vec3", 16, 12, 0, 0)), [(16, all), (20, all), (24, all)]);
    assert_eq!(words(&member("float[3]", 32, 36, 16, 0)), [(32, all), (48, all), (64, all)]);
    let mat = member("mat2x3", 0, 28, 0, 16);
    assert_eq!(words(&mat), [0, 4, 8, 16, 20, 24].map(|o| (o, all)));
    let mat = Member { row_major: true, bytes: 40, ..mat };
    assert_eq!(words(&mat), [0, 4, 16, 20, 32, 36].map(|o| (o, all)));
    assert_eq!(words(&member("float[2][2]", 0, 52, 32, 0)), [0, 16, 32, 48].map(|o| (o, all)));
    assert_eq!(words(&member("uint8_t", 5, 1, 0, 0)), [(4, 0xff00)]);
    assert_eq!(words(&member("f16vec2", 6, 4, 0, 0)), [(4, 0xffff_0000), (8, 0xffff)]);
    assert_eq!(words(&member("double", 8, 8, 0, 0)), [(8, all), (12, all)]);
    assert_eq!(words(&member("mystery", 2, 5, 0, 0)), [(0, 0xffff_0000), (4, 0x00ff_ffff)]);
    assert_eq!(Lanes::of(&member("float[3]", 32, 36, 16, 0)).bytes(), 12);
}

#[test]
fn values_are_printed_by_their_type() {
    let mut s = Sample::default();
    s.draw(1);
    let words = [1.5f32.to_bits(), (-2i32) as u32, 0x3c00_bc00, 0, 0x4009_21fb];
    s.bytes([0, 0, 9, 0], &words.map(Some));
    let m = Model::read(&s.memory).unwrap();
    let print = |kind: &str, offset, bytes| {
        Lanes::of(&member(kind, offset, bytes, 0, 0)).printer().words(&m.words, m.blocks[0].contents)
    };
    assert_eq!(print("float", 0, 4).as_deref(), Some("1.5"));
    assert_eq!(print("int", 4, 4).as_deref(), Some("-2"));
    assert_eq!(print("f16vec2", 8, 4).as_deref(), Some("(-1.0, 1.0)"));
    assert_eq!(print("vec2", 12, 8).as_deref(), Some("(0.0, 2.142699)"));
    assert_eq!(print("uint", 20, 4), None);
    assert_eq!(print("thing", 0, 8).as_deref(), Some("(0x3fc00000, 0xfffffffe)"));
}

#[test]
fn executions_begin_where_recordings_do() {
    let mut s = Sample::default();
    s.pipeline(1, 2, "a");
    s.pipeline(3, 2, "a");
    [1, 1, 3].into_iter().for_each(|p| _ = s.draw(p));
    s.recording = 1;
    [3, 9].into_iter().for_each(|p| _ = s.draw(p));
    let m = Model::read(&s.memory).unwrap();
    assert_eq!(m.invocations.iter().map(|i| i.execution).collect::<Vec<_>>(), [0, 0, 0, 1, 1]);
    assert_eq!((0..5).map(|r| m.consecutive(r)).collect::<Vec<_>>(), [true, false, false, false, false]);
    assert_eq!(m.invocations[4].pipeline, NOTHING);
    let session = crate::Session::new(&s.memory, None);
    assert!(std::ptr::eq(session.resources().unwrap(), session.resources().unwrap()));
}
