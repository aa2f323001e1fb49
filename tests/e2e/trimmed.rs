//! Trimmed captures: what a snapshot holds of images comes back, also of those that no copy can fill.
//!
//! The samples are of the scene `msaa` (captures/README.md): what it presented depends on the contents of a dozen images,
//! most of them multisampled. Pixels are compared with what the scene itself read back: exactly on the driver that the
//! samples were made with; elsewhere a channel may be a few steps off, because what decodes sRGB and block-compressed
//! colours is not exact.
//!
//! Refuses to pass for want of a device when `RERAY_REQUIRE_DEVICE` is set (as in CI).

use crate::device::device;
use crate::support::{Scratch, run, sample, text};
use gfxr_parse::container::{BlockKind, Capture};
use gfxr_parse::meta::Meta;
use serde_json::{Value, json};
use std::path::Path;

const FRAMES: [u32; 3] = [10, 11, 12];
const WIDTH: usize = 192;

/// Red, green and blue of each pixel.
fn pixels(file: &Path) -> Vec<[u8; 3]> {
    let bytes = std::fs::File::open(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut reader = png::Decoder::new(std::io::BufReader::new(bytes)).read_info().expect("a PNG");
    let mut data = vec![0; reader.output_buffer_size().expect("it is small")];
    let info = reader.next_frame(&mut data).expect("whole");
    assert_eq!((info.width as usize, info.color_type), (WIDTH, png::ColorType::Rgb), "{}", file.display());
    data.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect()
}

/// What the scene presented in a frame.
fn presented(frame: u32) -> Vec<[u8; 3]> {
    pixels(&sample(&format!("msaa_frame_{frame}.png")))
}

/// What a replay shows in the frames; an empty picture for each if it fails.
fn shown(file: &Path, to: &Path, flags: &[&str]) -> Vec<Vec<[u8; 3]>> {
    let mut arguments = vec!["screenshot", file.to_str().expect("plain"), "--frames", "10-12", "-o"];
    arguments.push(to.to_str().expect("plain"));
    arguments.extend(flags);
    let out = run(&arguments);
    assert!(out.status.success(), "{arguments:?}: {}", text(&out.stderr));
    FRAMES.iter().map(|f| pixels(&to.join(format!("frame_{f}.png")))).collect()
}

/// What a replay says of itself.
fn replay(file: &Path, flags: &[&str]) -> Value {
    let mut arguments = vec![file.to_str().expect("plain"), "--json"];
    arguments.extend(flags);
    let out = run(&arguments);
    assert!(out.status.success(), "{arguments:?}: {}", text(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("JSON")
}

/// How far a channel may be off on this device.
fn tolerance(report: &Value) -> u8 {
    let name = report["device"].as_str().expect("a device has a name");
    if name.contains("llvmpipe") { 0 } else { 4 }
}

/// Pixels (x, y) that differ by more than the tolerance.
fn differing(a: &[[u8; 3]], b: &[[u8; 3]], tolerance: u8) -> Vec<(usize, usize)> {
    assert_eq!(a.len(), b.len());
    let off = |(p, q): (&[u8; 3], &[u8; 3])| p.iter().zip(q).any(|(c, d)| c.abs_diff(*d) > tolerance);
    let pairs = a.iter().zip(b).enumerate();
    pairs.filter(|(_, pair)| off(*pair)).map(|(at, _)| (at % WIDTH, at / WIDTH)).collect()
}

#[test]
fn contents_of_multisampled_images_come_back() {
    if !device("contents_of_multisampled_images") {
        return;
    }
    let file = sample("msaa_frames_10_12.gfxr");
    let scratch = Scratch::new("trimmed");
    for memory in ["none", "remap", "rebind"] {
        let report = replay(&file, &["--memory", memory]);
        assert_eq!(report["notes"], json!({}), "--memory {memory}");
        let pictures = shown(&file, &scratch.path(memory), &["--memory", memory]);
        for (frame, picture) in FRAMES.into_iter().zip(pictures) {
            let off = differing(&presented(frame), &picture, tolerance(&report));
            assert!(off.is_empty(), "--memory {memory}, frame {frame}: {} pixels, {:?}", off.len(), off[0]);
        }
    }
}

/// The capture without one of its blocks.
fn without(capture: &Capture, index: u64) -> Vec<u8> {
    let blocks: Vec<&[u8]> = capture.blocks().filter(|b| b.index != index).map(|b| b.raw()).collect();
    let all: usize = capture.blocks().map(|b| b.raw().len()).sum();
    let mut bytes = capture.bytes()[..capture.bytes().len() - all].to_vec();
    blocks.iter().for_each(|b| bytes.extend_from_slice(b));
    bytes
}

/// That the pictures are right proves that contents came back only if they are wrong without: one block of contents
/// after the other is taken away.
#[test]
fn every_content_in_the_sample_shows() {
    if !device("every_content_in_the_sample") {
        return;
    }
    let scratch = Scratch::new("trimmed-without");
    let capture = Capture::new(std::fs::read(sample("msaa_frames_10_12.gfxr")).expect("the sample is there"));
    let capture = capture.expect("it is a capture");
    let contents = |kind| match kind {
        Ok(BlockKind::Meta(m)) => match m.meta {
            Meta::InitImage(i) => Some((i.image, i.aspect)),
            _ => None,
        },
        _ => None,
    };
    let blocks: Vec<_> =
        capture.blocks().filter_map(|b| contents(b.kind()).map(|image| (b.index, image))).collect();
    assert_eq!(blocks.len(), 12);
    let mut unseen = Vec::new();
    for (index, image) in blocks {
        let file = scratch.path("without.gfxr");
        std::fs::write(&file, without(&capture, index)).expect("written");
        let picture = &shown(&file, &scratch.path("without"), &[])[0];
        if differing(&presented(10), picture, 4).is_empty() {
            unseen.push(image);
        }
    }
    // What the canvas is resolved to is written anew in each frame.
    assert_eq!(unseen.len(), 1, "{unseen:?}");
}

#[test]
fn what_a_capture_does_not_hold_is_noted_and_the_rest_is_right() {
    if !device("what_a_capture_does_not_hold") {
        return;
    }
    let file = sample("msaa_frames_10_12_no_depth.gfxr");
    let report = replay(&file, &[]);
    let notes = json!({
        "the capture holds no contents of an image that was in use: D16_UNORM, multisampled": 1,
        "the capture holds no contents of an image that was in use: D32_SFLOAT_S8_UINT, multisampled": 2,
    });
    assert_eq!(report["notes"], notes);
    let scratch = Scratch::new("trimmed-no-depth");
    let pictures = shown(&file, &scratch.path("shots"), &[]);
    for (frame, picture) in FRAMES.into_iter().zip(pictures) {
        let off = differing(&presented(frame), &picture, tolerance(&report));
        assert!(!off.is_empty(), "frame {frame} cannot be right");
        // The canvas, drawn on where its depth and stencil let it, and the two layers of the depth image.
        let depends = |(x, y): &(usize, usize)| (*x < 128 && *y < 96) || (*x >= 128 && (64..96).contains(y));
        assert!(off.iter().all(depends), "frame {frame}: {:?}", off.iter().find(|p| !depends(p)));
    }
}
