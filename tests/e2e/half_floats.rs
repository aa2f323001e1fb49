//! Pass `half-floats` on a device: a picture of which arithmetic says that 16 bits suffice for it.

use crate::device::device;
use crate::support::{Scratch, root, run, skip, text};
use std::path::Path;
use std::process::Output;

fn profile(passes: &str, to: &Path) -> Output {
    let sample = root().join("captures/samples/effects.gfxr");
    let [sample, to] = [sample.as_path(), to].map(|p| p.to_str().expect("a plain path").to_owned());
    run(["profile", &sample, "--frames", "1", "--passes", passes, "--assume-subgroups", "-o", &to])
}

/// `effects` divides whole numbers up to 255 by 255. With 16 bits they are exact, and a quotient is off by a 2048th part of
/// itself for each half of a unit in its last place: far less than half of a step of a channel of 8 bits, which is what
/// `profile` compares.
#[test]
fn whole_numbers_of_255ths_stay() {
    if !device("half floats") {
        return;
    }
    let scratch = Scratch::new("half-floats");
    let said = |name: &str| {
        let manifest = std::fs::read_to_string(scratch.path(name).join("manifest.json"));
        manifest.expect("it is a trace").matches("half-floats: shader").count()
    };
    let out = profile("half-floats:all+stage=fragment", &scratch.path("all"));
    if text(&out.stderr).contains("shaderFloat16 (for half-floats)") {
        assert!(!out.status.success() && !scratch.path("all").join("manifest.json").exists());
        return skip("pass half-floats", "the device has no 16-bit floats");
    }
    assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
    assert!(said("all") > 0);
    // Its shaders are not decorated.
    let out = profile("half-floats", &scratch.path("decorated"));
    assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
    assert_eq!(said("decorated"), 0);
}
