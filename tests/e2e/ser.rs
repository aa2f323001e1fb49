//! Pass `ser`: where a device reorders invocations, frames show what they did (`profile` compares them itself and fails
//! otherwise), with and without the reordering; where it cannot, it is refused before anything runs.

use crate::device::device;
use crate::support::{Scratch, root, run, skip, text};
use std::process::Output;

fn profiled(capture: &str, passes: &str, to: &std::path::Path) -> Output {
    let capture = root().join(format!("captures/samples/{capture}.gfxr"));
    let args = ["profile".as_ref(), capture.as_os_str(), "--passes".as_ref(), passes.as_ref()];
    run(args.into_iter().chain(["--assume-subgroups".as_ref(), "-o".as_ref(), to.as_os_str()]))
}

#[test]
fn it_reorders_or_is_refused_before_anything_runs() {
    if !device("reordering") {
        return;
    }
    let mut refused = 0;
    for (n, passes) in
        ["ser", "paths,ser:reorder=no", "ser:hints=instance:4,timeline"].into_iter().enumerate()
    {
        for capture in ["closed_rays", "rays"] {
            let scratch = Scratch::new(&format!("ser-{n}-{capture}"));
            let to = scratch.path("trace");
            let out = profiled(capture, passes, &to);
            let said = text(&out.stderr);
            if out.status.code() == Some(77) {
                for name in [
                    "VK_NV_ray_tracing_invocation_reorder",
                    "VK_EXT_ray_tracing_invocation_reorder",
                    "for ser",
                ] {
                    assert!(said.contains(name), "{said}");
                }
                assert!(!to.exists(), "it leaves nothing behind");
                refused += 1;
                continue;
            }
            assert!(out.status.success(), "{passes}, {capture}: {}{said}", text(&out.stdout));
        }
    }
    assert!(refused == 0 || refused == 6, "{refused} were refused");
    if refused > 0 {
        skip(
            "that images stay as they are when invocations are reordered",
            "no device at hand reorders them",
        );
    }
}

/// What has no ray generation shader has nothing to reorder, and needs no device that could.
#[test]
fn it_asks_nothing_where_there_are_no_rays() {
    if !device("no reordering") {
        return;
    }
    let scratch = Scratch::new("ser-none");
    let out = profiled("steps", "ser,simt", &scratch.path("trace"));
    assert!(out.status.success(), "{}", text(&out.stderr));
}
