//! The scene `rays`: pointers wherever an application may put them, procedural geometry, callables, indirect traces,
//! updates and compaction, against the images that the scene itself read back.
//!
//! That the validation layer is silent about it, in every memory mode, the test of every capture in `replay.rs` says.
//! Buffers lie elsewhere in each run of the driver, so that a pointer that was not translated is a wrong image or a crash.

use crate::device::device;
use crate::support::{Scratch, root, run, text};
use serde_json::Value;
use std::path::{Path, PathBuf};

const FRAMES: [u32; 3] = [1, 4, 8];

pub(crate) fn sample(name: &str) -> PathBuf {
    root().join("captures/samples").join(name)
}

/// Width, height and RGB of a PNG.
pub(crate) fn rgb(file: &Path) -> (u32, u32, Vec<u8>) {
    let decoder =
        png::Decoder::new(std::io::BufReader::new(std::fs::File::open(file).expect("the PNG is there")));
    let mut reader = decoder.read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    let samples = info.color_type.samples();
    let rgb = pixels[..info.buffer_size()].chunks_exact(samples).flat_map(|p| [p[0], p[1], p[2]]).collect();
    (info.width, info.height, rgb)
}

/// The share of values that may differ by more than 2: none on the driver the sample was taken on. Elsewhere rays pass
/// edges on the other side of the last bit; 64-bit floats on the CPU (a test of the scene) differ in 0.03 %.
fn allowed() -> f64 {
    if taken_here() { 0.0 } else { 0.005 }
}

/// Whether this is the driver the sample was taken on.
fn taken_here() -> bool {
    text(&run(["devices"]).stdout).contains("llvmpipe")
}

#[test]
fn rays_gives_the_images_that_the_scene_presented() {
    if !device("rays_gives_the_images") {
        return;
    }
    let allowed = allowed();
    let capture = sample("rays.gfxr");
    let guessed = ["auto", "remap", "rebind"].map(|m| (m, "auto"));
    // Also where nothing but what shaders say is translated: behind records, too.
    for (memory, addresses) in guessed.into_iter().chain([("auto", "known"), ("rebind", "known")]) {
        let scratch = Scratch::new(&format!("rays-{memory}-{addresses}"));
        let folder = scratch.path("shots");
        let frames = FRAMES.map(|n| n.to_string()).join(",");
        let file = capture.to_str().expect("a path");
        let into = folder.to_str().expect("a path");
        let how = ["--memory", memory, "--addresses", addresses];
        let out = run([&["screenshot", file][..], &how, &["--frames", &frames, "-o", into]].concat());
        assert!(out.status.success(), "--memory {memory}: {}", text(&out.stderr));
        let written: Vec<String> = text(&out.stdout).lines().map(str::to_owned).collect();
        assert_eq!(written.len(), FRAMES.len(), "--memory {memory}: {written:?}");
        for (frame, shot) in FRAMES.iter().zip(&written) {
            let expected = rgb(&sample(&format!("rays_frame_{frame}.png")));
            let got = rgb(Path::new(shot));
            assert_eq!((got.0, got.1), (expected.0, expected.1), "--memory {memory}: frame {frame}");
            let least = if allowed == 0.0 { 0 } else { 2 };
            let off = got.2.iter().zip(&expected.2).filter(|(a, b)| a.abs_diff(**b) > least).count();
            let share = off as f64 / expected.2.len() as f64;
            assert!(share <= allowed, "--memory {memory}: {share:.4} of frame {frame}'s values differ");
        }
    }
}

#[test]
fn every_pointer_of_rays_is_translated_and_counted() {
    if !device("every_pointer_of_rays") {
        return;
    }
    let capture = sample("rays.gfxr");
    let file = capture.to_str().expect("a path");
    for memory in ["auto", "rebind"] {
        let out = run([file, "--memory", memory, "--json"]);
        assert!(out.status.success(), "--memory {memory}: {}", text(&out.stderr));
        let v: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        let t = &v["translated"];
        // 8 frames of 8 instances, of 9 records with 8 pointers, of two pushes with one pointer each.
        assert_eq!(t["instance_references"], 64, "{t}");
        assert_eq!(t["instance_references_unknown"], 0, "{t}");
        assert_eq!(t["shader_group_handles"], 72, "{t}");
        assert_eq!(t["shader_group_handles_unknown"], 0, "{t}");
        assert_eq!(t["addresses_in_shader_records"], 64, "{t}");
        assert_eq!(t["addresses_in_push_constants"], 16, "{t}");
        // A ring of 6 materials, 2 meshes with 2 pointers, a heap with one, and where the compute shader writes.
        assert_eq!(t["addresses_in_written_memory"], 13, "{t}");
        assert_eq!(v["unknown_addresses"], 0, "{v}");
        assert_eq!(v["divergences"]["count"], 0, "{v}");
    }
}

#[test]
fn exact_addresses_are_given_or_refused_by_name() {
    if !device("exact_addresses") {
        return;
    }
    let capture = sample("rays.gfxr");
    let file = capture.to_str().expect("a path");
    let out = run([file, "--addresses", "exact", "--json"]);
    let said = text(&out.stderr);
    if out.status.success() {
        let v: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        assert_eq!(v["addresses"], "exact");
    } else {
        assert_eq!(out.status.code(), Some(77), "{said}");
        assert!(said.contains("has no bufferDeviceAddressCaptureReplay"), "{said}");
        assert!(said.contains("--addresses translate"), "{said}");
        assert!(out.stdout.is_empty(), "{}", text(&out.stdout));
    }
    let out = run([file, "--addresses", "exact", "--memory", "rebind"]);
    assert_eq!(out.status.code(), Some(77));
    assert!(text(&out.stderr).contains("--memory none or remap"), "{}", text(&out.stderr));
    let out = run([file, "--addresses", "translate", "--json"]);
    let v: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(v["addresses"], "translate");
    assert_eq!(v["as_captured"]["addresses"], 0);
    // A capture that asks for no address has nothing to be exact about.
    let out = run([sample("cubes.gfxr").to_str().expect("a path"), "--addresses", "exact", "--json"]);
    assert!(out.status.success(), "{}", text(&out.stderr));
}
