//! Frame numbers: all three rules, trimmed files, and what real captures give.

use gfxr_parse::annotation::AnnotationKind;
use gfxr_parse::container::frames::{CALL_FRAME_BOUNDARY_ANDROID, CALL_QUEUE_PRESENT};
use gfxr_parse::container::{Capture, FileHeader, FrameCounter, FrameRule, MarkerKind, read_file};
use gfxr_parse::schema;
use gfxr_parse::writer::{Writer, frame_block};

use crate::common::{capture, captures, version};

const DRAW: u32 = 0x1_1085;

/// A file in shorthand: `p` present, `a` Android's boundary, `d` another call, a digit a frame end with that number,
/// `[n` and `]n` state begin and end, `o` / `O` an operation annotation of 1.0.0 / 1.0.1, `b` a broken frame marker.
fn file(header: &FileHeader, what: &str) -> Vec<u8> {
    let mut w = Writer::new(vec![], header).unwrap();
    let mut chars = what.chars();
    while let Some(c) = chars.next() {
        let mut digit = || chars.next().unwrap().to_digit(10).unwrap().into();
        match c {
            'p' => w.call(CALL_QUEUE_PRESENT, 1, &[]).unwrap(),
            'a' => w.call(CALL_FRAME_BOUNDARY_ANDROID, 1, &[]).unwrap(),
            'd' => w.call(DRAW, 1, &[]).unwrap(),
            '[' => w.state(MarkerKind::Begin, digit()).unwrap(),
            ']' => w.state(MarkerKind::End, digit()).unwrap(),
            'o' | 'O' => {
                let json = format!(r#"{{"gfxrecon-version": "1.0.{}-dev (x:1)"}}"#, u8::from(c == 'O'));
                w.annotation(AnnotationKind::Json, "operation", &json).unwrap();
            }
            'b' => w.bytes(&frame_block(1, &[2, 0])).unwrap(),
            n => w.frame_end(n.to_digit(10).unwrap().into()).unwrap(),
        }
    }
    w.finish().unwrap()
}

/// Each block's frame, `s` appended in the state snapshot, `!` where a frame ends.
fn places(capture: &Capture, counter: &mut FrameCounter) -> String {
    let one = |block| {
        let p = counter.feed(&block);
        format!("{}{}{}", p.frame, if p.state { "s" } else { "" }, if p.ends_frame { "!" } else { "" })
    };
    capture.blocks().map(one).collect::<Vec<_>>().join(" ")
}

fn check(header: FileHeader, what: &str, rule: FrameRule, want: &str) {
    let capture = capture(file(&header, what));
    let mut counter = FrameCounter::new(&header);
    assert_eq!(places(&capture, &mut counter), want, "{what}");
    assert_eq!(counter.rule(), rule, "{what}");
    assert_eq!(FrameRule::detect(&capture), rule, "{what}");
}

#[test]
fn the_schema_agrees_about_the_two_calls() {
    assert_eq!(schema::command_named("vkQueuePresentKHR").unwrap().id, CALL_QUEUE_PRESENT);
    assert_eq!(schema::command_named("vkFrameBoundaryANDROID").unwrap().id, CALL_FRAME_BOUNDARY_ANDROID);
}

#[test]
fn presents() {
    check(version(0, 0), "dpddad", FrameRule::Presents, "1 1! 2 2 2! 3");
    check(version(0, 0), "opd", FrameRule::Presents, "1 1! 2");
    check(version(0, 0), "", FrameRule::Presents, "");
}

#[test]
fn markers_by_version() {
    // Two presents in one frame; presents do not count.
    check(version(0, 1), "dpp1dp2d", FrameRule::Markers, "1 1 1 1! 2 2 2! 3");
    // Frames cut out of the middle: the markers' numbers hold.
    check(version(0, 1), "d1d7d", FrameRule::Markers, "1 1! 2 7! 8");
}

#[test]
fn markers_by_annotation() {
    check(version(0, 0), "Odp1dp2", FrameRule::Markers, "1 1 1 1! 2 2 2!");
}

#[test]
fn markers_unannounced() {
    // The present has ended frame 1 already: its marker does not end it again.
    check(version(0, 0), "dp1dp2d", FrameRule::Markers, "1 1! 1 2 2 2! 3");
    // A frame that ended without a present.
    check(version(0, 0), "dd1dp2", FrameRule::Markers, "1 1 1! 2 2 2!");
}

#[test]
fn unannounced_markers_seen_in_time() {
    let header = version(0, 0);
    let capture = capture(file(&header, "dpp1dpp2d"));
    let rule = FrameRule::detect(&capture);
    assert_eq!(places(&capture, &mut FrameCounter::with_rule(rule)), "1 1 1 1! 2 2 2 2! 3");
    // Without looking ahead the first frame's second present counts, until the marker says otherwise.
    assert_eq!(places(&capture, &mut FrameCounter::new(&header)), "1 1! 2! 1! 2 2 2 2! 3");
}

#[test]
fn trimmed() {
    check(version(0, 0), "d[4dd]4dpdp", FrameRule::Presents, "1 4s 4s 4s 4s 4 4! 5 5!");
    check(version(0, 1), "[4d]4dp4d5", FrameRule::Markers, "4s 4s 4s 4 4 4! 5 5!");
}

#[test]
fn a_broken_marker_changes_nothing() {
    check(version(0, 0), "dbp", FrameRule::Presents, "1 1 1!");
    check(version(0, 1), "db1", FrameRule::Markers, "1 1 1!");
}

#[test]
fn numbers_do_not_overflow() {
    let header = version(0, 1);
    let mut w = Writer::new(vec![], &header).unwrap();
    w.frame_end(u64::MAX).unwrap();
    w.frame_end(0).unwrap();
    let capture = capture(w.finish().unwrap());
    assert_eq!(places(&capture, &mut FrameCounter::new(&header)), format!("{}! 0!", u64::MAX));
}

#[test]
fn real_captures() {
    // name, rule, first frame, last frame that ends, blocks of the snapshot
    let want = [
        ("vkcube.gfxr", FrameRule::Presents, 1, 100, false),
        ("vkcube_105.gfxr", FrameRule::Markers, 1, 60, false),
        ("vkcube_trim_10_19.gfxr", FrameRule::Presents, 10, 19, true),
        ("vkd3d_gears_trim_40_59.gfxr", FrameRule::Presents, 40, 59, true),
        ("taichi_julia.gfxr", FrameRule::Presents, 0, 0, false),
        ("sapien_rt_llvmpipe_105.gfxr", FrameRule::Markers, 0, 0, false),
    ];
    for path in captures("frames::real_captures") {
        let name = path.file_name().unwrap().to_str().unwrap();
        let Some((_, rule, first, last, trimmed)) = want.iter().find(|w| w.0 == name) else { continue };
        let capture = Capture::open(&path, read_file).unwrap();
        let mut counter = FrameCounter::new(capture.header());
        let mut ended = vec![];
        let mut state = 0;
        for block in capture.blocks() {
            let place = counter.feed(&block);
            state += u32::from(place.state);
            if place.ends_frame {
                ended.push(place.frame);
            }
        }
        assert_eq!(counter.rule(), *rule, "{name}");
        assert_eq!(state > 0, *trimmed, "{name}");
        let all: Vec<u64> = if *last == 0 { vec![] } else { (*first..=*last).collect() };
        assert_eq!(ended, all, "{name}");
    }
}
