//! The scene `pointers`: what shaders say is a pointer is translated, what they say is a number is left alone.
//!
//! The scene's images are what arithmetic says, a test of its own checks that. Buffers lie elsewhere in each run of the
//! driver, and the counts say that they did: a pointer that was missed is a wrong band of the image, or a crash.

use crate::device::device;
use crate::rays::{rgb, sample};
use crate::support::{Scratch, run, text};
use serde_json::Value;
use std::path::Path;

#[test]
fn pointers_are_followed_and_numbers_are_not() {
    if !device("pointers_are_followed") {
        return;
    }
    let capture = sample("pointers.gfxr");
    let file = capture.to_str().expect("a path");
    let modes = ["auto", "remap", "rebind"].into_iter().flat_map(|m| [(m, "translate"), (m, "known")]);
    for (memory, addresses) in modes {
        let scratch = Scratch::new(&format!("pointers-{memory}-{addresses}"));
        let into = scratch.path("shots");
        let into = into.to_str().expect("a path");
        let how = ["--memory", memory, "--addresses", addresses];
        let out = run([&["screenshot", file][..], &how, &["--frames", "1,2,3", "-o", into]].concat());
        assert!(out.status.success(), "{how:?}: {}", text(&out.stderr));
        let written: Vec<String> = text(&out.stdout).lines().map(str::to_owned).collect();
        assert_eq!(written.len(), 3, "{how:?}: {written:?}");
        for (frame, shot) in (1..).zip(&written) {
            let expected = rgb(&sample(&format!("pointers_frame_{frame}.png")));
            assert!(rgb(Path::new(shot)) == expected, "{how:?}: frame {frame} differs");
        }
        let out = run([&[file][..], &how, &["--json"]].concat());
        assert!(out.status.success(), "{how:?}: {}", text(&out.stderr));
        let v: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        let t = &v["translated"];
        // In each of three frames a pair, a palette and a list, and the number that looks like an address.
        assert_eq!(t["addresses_in_push_constants"], 9, "{t}");
        assert_eq!(t["numbers_in_push_constants"], 3, "{t}");
        assert_eq!(t["addresses_in_push_constants_unknown"], 0, "{t}");
        assert_eq!(v["addresses"], addresses);
        // Two in the pair, two nodes with a next one, three rows, and the one in the uniform buffer.
        let (looks, said) = if addresses == "known" { (0, 8) } else { (8, 0) };
        assert_eq!(t["addresses_in_written_memory"], looks, "{t}");
        assert_eq!(t["pointers_of_shaders_in_written_memory"], said, "{t}");
        assert_eq!(v["divergences"]["count"], 0, "{v}");
    }
}
