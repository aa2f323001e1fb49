//! `profile --verify-image`: a pass that changes what frames show, or leave in memory, is found and named. Pass `wrong`, which is
//! not listed, has shaders do nothing.

use crate::device::device;
use crate::rays::sample;
use crate::support::{Scratch, reray, shared_capture, text};
use std::path::Path;
use std::process::Output;
use trace::dir::Dir;

fn profile(scratch: &Scratch, capture: &Path, arguments: &[&str]) -> Output {
    let to = scratch.path("trace");
    let _ = std::fs::remove_dir_all(&to);
    reray()
        .arg("profile")
        .arg(capture)
        .args(["--assume-subgroups", "--no-cache"])
        .args(arguments)
        .arg("-o")
        .arg(to)
        .output()
        .expect("the program starts")
}

#[test]
fn a_pass_that_changes_what_is_shown_is_named() {
    if !device("a_pass_that_changes_what_is_shown") {
        return;
    }
    let scratch = Scratch::new("pictures-shown");
    let cubes = sample("cubes.gfxr");
    let out = profile(&scratch, cubes.as_ref(), &["--passes", "simt,its,wrong", "--frames", "2-3"]);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(5), "{said}");
    assert!(
        said.contains(
            "frame 2 shows another picture than without probes, because of pass wrong, first at pixel (0, 0): ["
        ),
        "{said}"
    );
    assert!(
        said.contains("beyond the tolerance, 64") && said.contains("the trace is kept, and marked"),
        "{said}"
    );
    let manifest = || Dir::open(&scratch.path("trace")).expect("a trace").manifest().clone();
    let m = manifest();
    let pictures = m.pictures.expect("pictures were compared");
    assert!(m.complete && pictures.failed && pictures.tolerance == "64", "{pictures:?}");
    // Neither frame shows anything that its shaders would have drawn.
    assert_eq!(pictures.differing.iter().map(|d| d.frame).collect::<Vec<_>>(), [2, 3]);
    for d in &pictures.differing {
        assert!(!d.within && d.beyond > 0 && d.beyond <= d.differing && d.differing <= d.values, "{d:?}");
        assert!(d.steps.is_some_and(|s| s > 1.0 && s <= 255.0), "{d:?}");
    }
    assert!(
        m.notes.iter().any(|n| n.starts_with("NOT VERIFIED: frame 2 shows another picture")),
        "{:?}",
        m.notes
    );
    let asked = reray().arg("analyze").arg(scratch.path("trace")).output().expect("the program starts");
    assert!(
        text(&asked.stdout).contains("NOT VERIFIED: frame 2 shows another picture"),
        "{}",
        text(&asked.stdout)
    );
    // 255 steps of 8 bits are 255 * 2^16 units of a 32-bit float: no picture is further off than that.
    let far = (255u32 << 16).to_string();
    let near = ["--passes", "simt,wrong", "--frames", "2-3", "--image-tolerance", &far];
    let out = profile(&scratch, cubes.as_ref(), &near);
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert!(
        text(&out.stdout)
            .contains("Not bit for bit what it is without probes: frame 2 shows another picture")
    );
    assert!(text(&out.stdout).contains(&format!("(within the tolerance, {far})")), "{}", text(&out.stdout));
    let pictures = manifest().pictures.expect("pictures were compared");
    assert!(!pictures.failed && pictures.differing.iter().all(|d| d.within && d.beyond == 0), "{pictures:?}");
    let kept = ["--passes", "simt,wrong", "--frames", "2-3", "--no-verify-image"];
    let out = profile(&scratch, cubes.as_ref(), &kept);
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert!(manifest().pictures.is_none());
    let out = profile(&scratch, cubes.as_ref(), &["--passes", "simt", "--image-tolerance", "0"]);
    assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
}

#[test]
fn a_pass_that_changes_what_is_left_in_memory_is_named() {
    if !device("a_pass_that_changes_what_is_left") {
        return;
    }
    let Some(taichi) = shared_capture("taichi_julia.gfxr") else { return };
    let scratch = Scratch::new("pictures-left");
    let out = profile(&scratch, &taichi, &["--passes", "simt,blocks"]);
    let said = text(&out.stderr);
    assert!(out.status.success(), "{said}");
    assert!(
        said.contains("nothing is presented: what 4 frames leave in memory was compared instead"),
        "{said}"
    );
    let out = profile(&scratch, &taichi, &["--passes", "blocks,wrong"]);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(5), "{said}");
    assert!(said.contains("leaves something else in the buffer or image"), "{said}");
    // (what it makes of the buffer is what was there before the frame, so that the frame leaves nothing there)
    assert!(said.contains("because of pass wrong, "), "{said}");
    let pictures = Dir::open(&scratch.path("trace")).expect("a trace").manifest().pictures.clone();
    assert!(pictures.is_some_and(|p| p.failed && !p.differing.is_empty()));
    // A frame that does nothing has nothing to be compared, which is said.
    let out = profile(&scratch, &taichi, &["--passes", "simt", "--frames", "8-9"]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("images were not verified"), "{}", text(&out.stderr));
}
