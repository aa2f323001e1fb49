//! Real programs, recorded now and replayed: vkcube, vkd3d-gears, taichi, wgpu/pygfx, slangpy (`tests/live/record all`).
//!
//! Each recording must decode to the last byte, re-encode to the same bytes, and replay to its end with nothing said by
//! the validation layer. Where `tests/live/setup` has not run the test is skipped by name; in CI that is a failure.

use crate::device::device;
use crate::support::{Scratch, root, run, skip, text};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// What Debian 12's validation layer (1.3.239) says of slangpy itself, without a replay: it does not know extensions
/// and a SPIR-V source language younger than itself, and wants a buffer behind a table of no bytes.
const OLD_LAYER: [&str; 4] = [
    "VUID_Undefined",
    "VUID-VkDeviceCreateInfo-pNext-pNext",
    "UNASSIGNED-CoreValidation-Shader-InconsistentSpirv",
    "VUID-VkStridedDeviceAddressRegionKHR-size-04631",
];

/// Records everything into `folder`; none if the set-up is missing and not required.
fn record(folder: &Path) -> Option<Vec<std::path::PathBuf>> {
    let out = Command::new("bash")
        .arg(root().join("tests/live/record"))
        .args(["all", folder.to_str().expect("a plain name")])
        .output()
        .expect("bash runs");
    if !out.status.success() {
        let why = text(&out.stderr);
        assert!(
            std::env::var_os("RERAY_REQUIRE_DEVICE").is_none(),
            "recording failed, and is required:\n{why}"
        );
        skip("live recordings", why.trim());
        return None;
    }
    let mut files: Vec<_> = ["vkcube", "vkd3d-gears", "taichi", "pygfx", "slangpy"]
        .map(|n| folder.join(format!("{n}.gfxr")))
        .into();
    files.retain(|f| {
        assert!(f.is_file(), "{} was not recorded", f.display());
        true
    });
    Some(files)
}

/// What the validation layer said of this program's recording, but for what it says of the program itself.
fn said<'r>(r: &'r Value, name: &str) -> Vec<&'r str> {
    let all = r["validation"].as_array().expect("messages").iter().filter_map(Value::as_str);
    all.filter(|m| !(name.ends_with("slangpy.gfxr") && OLD_LAYER.iter().any(|id| m.contains(id)))).collect()
}

/// taichi asks for atomic floats' minima and slangpy for ray queries, because the device had them; no shader of theirs
/// uses them, so that a device without them replays the same.
fn without_what_no_shader_uses(name: &str) {
    let out = run([name, "--json", "--rehearse", "bare", "--validate"]);
    assert!(out.status.success(), "{name}: {}", text(&out.stderr));
    let r: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(said(&r, name), Vec::<&str>::new(), "{name} --rehearse bare");
    // Every other allocation of descriptor sets found its pool full.
    let elsewhere = &r["notes"]["descriptor sets that did not fit into their pools, from pools of our own"];
    assert!(elsewhere.as_u64() > Some(3), "{name}: {:#}", r["notes"]);
    let unused = r["negotiation"].as_array().expect("lines").iter().filter(|l| l["done"] == "unused");
    assert!(unused.count() >= 2, "{name}: {:#}", r["negotiation"]);
    if name.ends_with("slangpy.gfxr") {
        let hash = |more: &[&str]| {
            let folder = Scratch::new("bare");
            let to = folder.path("out");
            let out =
                run([&["screenshot", name, "--hash", "-o", to.to_str().expect("plain")], more].concat());
            assert!(out.status.success(), "{name}: {}", text(&out.stderr));
            text(&out.stdout).split(' ').next().expect("a hash").to_owned()
        };
        assert_eq!(hash(&[]), hash(&["--rehearse", "bare"]));
    }
}

#[test]
fn recordings_of_real_programs_verify_and_replay() {
    if !device("live recordings") {
        return;
    }
    let scratch = Scratch::new("live");
    let Some(files) = record(&scratch.path("")) else { return };
    for file in files {
        let name = file.to_str().expect("a plain name");
        let out = run(["verify", name]);
        assert!(out.status.success(), "{name}: {}{}", text(&out.stdout), text(&out.stderr));
        for memory in ["auto", "rebind"] {
            let out = run([name, "--json", "--validate", "--memory", memory]);
            assert!(out.status.success(), "{name} --memory {memory}: {}", text(&out.stderr));
            let r: Value = serde_json::from_slice(&out.stdout).expect("JSON");
            let said = said(&r, name);
            assert!(said.is_empty(), "{name} --memory {memory}: {said:#?}");
            assert_eq!(
                (&r["undecoded"]["count"], &r["divergences"]["count"]),
                (&0.into(), &0.into()),
                "{name}"
            );
            assert!(r["frames"].as_u64() > Some(10), "{name}: {} frames", r["frames"]);
        }
        if name.ends_with("taichi.gfxr") || name.ends_with("slangpy.gfxr") {
            without_what_no_shader_uses(name);
        }
        if name.ends_with("pygfx.gfxr") {
            // (as many frames as the program draws, of which it presents none)
            let r: Value =
                serde_json::from_slice(&run([name, "--echo", "--json", "--frame-by", "cycle"]).stdout)
                    .expect("JSON");
            assert_eq!((&r["frames"], &r["frame_by"]), (&40.into(), &"cycle".into()));
        }
        if name.ends_with("pygfx.gfxr") || name.ends_with("slangpy.gfxr") {
            crate::screenshot::last_equals(&file, &file.with_extension("png"));
        }
    }
}
