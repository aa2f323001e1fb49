//! Ray tracing: captures of a path tracer, on the driver they were taken on and on another, against the image that the
//! application itself read back.
//!
//! The application wrote its PNG by cutting floats off, screenshots round them: one step of 255 is no difference.

use crate::device::device;
use crate::support::{Scratch, run, shared_capture, text};
use std::path::Path;

/// Width, height and RGB of a PNG.
fn rgb(file: &Path) -> (u32, u32, Vec<u8>) {
    let decoder =
        png::Decoder::new(std::io::BufReader::new(std::fs::File::open(file).expect("the PNG is there")));
    let mut reader = decoder.read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    let samples = info.color_type.samples();
    let rgb = pixels[..info.buffer_size()].chunks_exact(samples).flat_map(|p| [p[0], p[1], p[2]]).collect();
    (info.width, info.height, rgb)
}

/// Share of colour values that differ by more than `by`.
fn differing(capture: &str, memory: &str, expected: &str, by: u8) -> Option<f64> {
    let (file, expected) = (shared_capture(capture)?, shared_capture(expected)?);
    let scratch = Scratch::new(&format!("ray-{capture}-{memory}"));
    let folder = scratch.path("shots");
    let flags = ["screenshot", file.to_str()?, "--memory", memory, "-o", folder.to_str()?];
    let out = run(flags);
    assert!(out.status.success(), "{capture} --memory {memory}: {}", text(&out.stderr));
    let shot = text(&out.stdout).lines().next().map(str::to_owned).expect("a file was written");
    let (a, b) = (rgb(Path::new(&shot)), rgb(&expected));
    assert_eq!((a.0, a.1), (b.0, b.1));
    let n = a.2.iter().zip(&b.2).filter(|(x, y)| x.abs_diff(**y) > by).count();
    Some(n as f64 / a.2.len() as f64)
}

#[test]
fn a_path_tracer_replays_on_the_driver_it_was_captured_on() {
    if !device("a_path_tracer_replays") {
        return;
    }
    for capture in ["sapien_rt_llvmpipe.gfxr", "sapien_rt_llvmpipe_105.gfxr"] {
        for memory in ["auto", "rebind"] {
            let Some(share) = differing(capture, memory, "sapien_rt_llvmpipe.expected.png", 1) else {
                return;
            };
            assert_eq!(share, 0.0, "{capture} --memory {memory}");
        }
    }
}

#[test]
fn a_path_tracer_captured_on_a_gpu_replays_here() {
    if !device("a_path_tracer_captured_on_a_gpu") {
        return;
    }
    // Another driver's rays hit edges and shadow boundaries a little differently; nothing else may differ.
    let Some(share) = differing("sapien_rt_h200.gfxr", "auto", "sapien_rt_h200.expected.png", 2) else {
        return;
    };
    assert!(share < 0.001, "{:.4} % of the values differ by more than 2", share * 100.0);
}
