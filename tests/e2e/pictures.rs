//! `profile --verify-image`: a pass that changes what frames show, or leave in memory, is found and named. Pass `wrong`, which is
//! not listed, has shaders do nothing.

use crate::device::device;
use crate::rays::sample;
use crate::support::{Scratch, reray, shared_capture, text};
use std::path::Path;
use std::process::Output;

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
    assert!(!scratch.path("trace").exists(), "what is not right is not kept");
    let kept = ["--passes", "simt,wrong", "--frames", "2-3", "--no-verify-image"];
    let out = profile(&scratch, cubes.as_ref(), &kept);
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert!(scratch.path("trace/manifest.json").is_file());
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
    assert!(said.contains("because of pass wrong;"), "{said}");
    assert!(!scratch.path("trace").exists(), "what is not right is not kept");
    // A frame that does nothing has nothing to be compared, which is said.
    let out = profile(&scratch, &taichi, &["--passes", "simt", "--frames", "8-9"]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("images were not verified"), "{}", text(&out.stderr));
}
