//! Commands of acceleration structures that another driver changes: sizes that grow, indirect builds where a device has
//! none, snapshots that build structures again. `--rehearse` takes those ways on this driver; the images must not change.
//!
//! Expected images are those that the scenes themselves read back.

use crate::device::device;
use crate::support::{Scratch, run, sample, text};
use serde_json::Value;
use std::path::Path;

fn rgb(file: &Path) -> (u32, u32, Vec<u8>) {
    let file = std::fs::File::open(file).expect("the PNG is there");
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    let samples = info.color_type.samples();
    let rgb = pixels[..info.buffer_size()].chunks_exact(samples).flat_map(|p| [p[0], p[1], p[2]]).collect();
    (info.width, info.height, rgb)
}

/// The samples are llvmpipe's: elsewhere a ray may pass an edge on the other side, in few pixels.
fn allowed() -> f64 {
    if text(&run(["devices"]).stdout).contains("llvmpipe") { 0.0 } else { 0.005 }
}

/// Replays the frames of a sample of a scene with these flags; they must be what the scene presented.
fn shows(sample_name: &str, scene: &str, frames: &[u32], flags: &[&str]) {
    let scratch = Scratch::new(&format!("builds-{sample_name}-{}", flags.join("-").replace(',', "-")));
    let folder = scratch.path("shots");
    let (file, list) = (sample(sample_name), frames.iter().map(u32::to_string).collect::<Vec<_>>().join(","));
    let (file, into) = (file.to_str().expect("a path"), folder.to_str().expect("a path"));
    let mut arguments = vec!["screenshot", file, "--frames", &list, "-o", into];
    arguments.extend(flags);
    let out = run(&arguments);
    assert!(out.status.success(), "{arguments:?}: {}", text(&out.stderr));
    let allowed = allowed();
    for frame in frames {
        let expected = rgb(&sample(&format!("{scene}_frame_{frame}.png")));
        let got = rgb(&folder.join(format!("frame_{frame}.png")));
        assert_eq!((got.0, got.1), (expected.0, expected.1), "{arguments:?}: frame {frame}");
        let step = if allowed == 0.0 { 0 } else { 2 };
        let off = got.2.iter().zip(&expected.2).filter(|(a, b)| a.abs_diff(**b) > step).count();
        let share = off as f64 / expected.2.len() as f64;
        assert!(share <= allowed, "{arguments:?}: {share:.4} of frame {frame}'s values differ");
    }
}

/// What a replay says of itself, under the validation layer where there is one.
fn report(sample_name: &str, flags: &[&str]) -> Value {
    let file = sample(sample_name);
    let mut arguments = vec![file.to_str().expect("a path"), "--json"];
    if crate::replay::validation_layer() {
        arguments.push("--validate");
    }
    arguments.extend(flags);
    let out = run(&arguments);
    assert!(out.status.success(), "{arguments:?}: {}", text(&out.stderr));
    let report: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(report["validation"], serde_json::json!([]), "{arguments:?}");
    report
}

/// How often a note was made.
fn noted(report: &Value, note: &str) -> u64 {
    let notes = report["notes"].as_object().expect("notes are an object");
    notes.iter().filter(|n| n.0.contains(note)).filter_map(|n| n.1.as_u64()).sum()
}

#[test]
fn structures_that_grow_give_the_same_images() {
    if !device("structures_that_grow") {
        return;
    }
    for flags in [["--memory", "auto"], ["--memory", "rebind"]] {
        shows("rays.gfxr", "rays", &[1, 4, 8], &[&flags[..], &["--rehearse", "growth"]].concat());
    }
    // Three bottom levels, two compacted copies, one top level.
    let r = report("rays.gfxr", &["--rehearse", "growth"]);
    assert_eq!(noted(&r, "moved to larger buffers"), 6, "{}", r["notes"]);
}

#[test]
fn indirect_builds_on_a_device_without_give_the_same_images() {
    if !device("indirect_builds_on_a_device_without") {
        return;
    }
    shows("rays.gfxr", "rays", &[1, 4, 8], &["--rehearse", "indirect"]);
    shows("rays.gfxr", "rays", &[1, 4, 8], &["--rehearse", "indirect,growth"]);
    // Three bottom levels, eight frames' top levels.
    let r = report("rays.gfxr", &["--rehearse", "indirect"]);
    assert_eq!(noted(&r, "rehearsed as indirect"), 11, "{}", r["notes"]);
}

#[test]
fn a_snapshots_structures_are_built_and_compacted_again() {
    if !device("a_snapshots_structures") {
        return;
    }
    let name = "rays_frames_4_5.gfxr";
    shows(name, "rays", &[4], &["--memory", "none"]);
    shows(name, "rays", &[4], &["--memory", "rebind"]);
    shows(name, "rays", &[4], &["--rehearse", "growth"]);
    let r = report(name, &["--rehearse", "growth"]);
    // Pointers that the snapshot loads before it says where they point.
    assert!(r["translated"]["addresses_in_written_memory"].as_u64() >= Some(13), "{}", r["translated"]);
    assert_eq!(r["translated"]["instance_references_unknown"], 0, "{}", r["translated"]);
    assert_eq!(r["unknown_addresses"], 0, "{r}");
}

#[test]
fn copies_of_every_kind_give_the_same_images() {
    if !device("copies_of_every_kind") {
        return;
    }
    for flags in [
        &["--memory", "auto"][..],
        &["--memory", "rebind"],
        &["--rehearse", "growth"],
        &["--rehearse", "indirect"],
    ] {
        shows("builds.gfxr", "builds", &[1, 4], flags);
    }
    let r = report("builds.gfxr", &["--rehearse", "growth"]);
    // Two meshes and two compacted copies of each; six structures over them, and two that are updated from each other.
    assert_eq!(noted(&r, "moved to larger buffers"), 14, "{}", r["notes"]);
    assert_eq!(noted(&r, "kept in larger buffers"), 1, "{}", r["notes"]);
    // Four builds and four updates of two instances; four traces with four records, two of them with a pointer.
    let t = &r["translated"];
    assert_eq!(t["instance_references"], 16, "{t}");
    assert_eq!(t["instance_references_unknown"], 0, "{t}");
    assert_eq!(t["shader_group_handles"], 16, "{t}");
    assert_eq!(t["shader_group_handles_unknown"], 0, "{t}");
    assert_eq!(t["addresses_in_shader_records"], 8, "{t}");
}

#[test]
fn what_the_host_serialised_at_capture_is_read_on_its_own_driver_only() {
    if !device("what_the_host_serialised") {
        return;
    }
    if allowed() > 0.0 {
        let file = sample("serials.gfxr");
        let out = run([file.to_str().expect("a path")]);
        assert!(text(&out.stderr).contains("of another driver"), "{}", text(&out.stderr));
        return;
    }
    for flags in [&["--memory", "auto"][..], &["--memory", "rebind"], &["--rehearse", "growth"]] {
        shows("serials.gfxr", "serials", &[1, 4], flags);
    }
    // As `builds`, and the two references that the host took along.
    let t = &report("serials.gfxr", &[])["translated"];
    assert_eq!(t["instance_references"], 18, "{t}");
}
