//! Every pass on every capture at hand: each is measured to the end, what frames show stays as it was (`profile` compares that
//! itself and fails by name otherwise), and every rewritten module is valid.
//!
//! All passes go into one plan; `closed_forms` runs them alone, too. Modules are checked as they come and as they go to the
//! driver; where spirv-val is older than what a capture uses, it would say so of both.

use crate::device::device;
use crate::support::{Scratch, captures, root, run, skip, text};
use std::path::Path;
use std::process::Command;

/// Frames to measure; where a capture is long or its frames are heavy, one of them does.
const FRAMES: [(&str, &str); 18] = [
    ("causes", "2"),
    ("compressed_textures_frames", "3"),
    ("compressed_textures", "1"),
    ("closed_compute", "2"),
    ("cornell", "1"),
    ("cubes", "2"),
    ("feedback", "3"),
    ("mesh", "1"),
    ("msaa", "11"),
    ("rays_frames", "4"),
    ("rays", "2"),
    ("recursion", "1"),
    ("taichi", "8"),
    ("vkcube_trim", "11"),
    ("vkcube", "2"),
    ("vkd3d", "41"),
    ("vm", "1"),
    ("weekend", "1"),
];

/// On software: passes that write down every event of path tracers, or every value of so many or so long shaders, take it minutes. And
/// trimmed captures of what has all passes as a whole one are here for their state, not for their shaders.
const HEAVY: [(&str, &str); 8] = [
    ("compressed_textures_frames", "simt,blocks"),
    ("formats_frames", "simt,blocks"),
    ("msaa_frames_10_12_no_depth", "simt,blocks"),
    ("rays_frames", "simt,blocks,rays"),
    ("compressed_textures", "simt,divergence,lifetimes,counters,blocks,timeline"),
    ("recursion", "simt,divergence,its,paths,lifetimes,blocks,timeline,rays"),
    ("sapien", "simt,blocks"),
    ("weekend", "simt,divergence,lifetimes,blocks,rays"),
];

/// The captures that are left out, and why.
const LEFT_OUT: [(&str, &str); 3] = [
    ("cubes_z", "the capture cubes, compressed otherwise"),
    ("h200", "memory and structures of another device"),
    ("_105", "the capture without it in its name, by an older layer"),
];

fn passes() -> String {
    let out = run(["profile", "--list"]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let mut names: Vec<String> =
        text(&out.stdout).lines().filter_map(|l| l.split_whitespace().next().map(str::to_owned)).collect();
    // The passes that this device may have to refuse: the layer in `counters` tests the second.
    let refused = |name: &str| {
        let scratch = Scratch::new(&format!("passes-{name}"));
        // (ray tracing asks for more than computing does)
        let sample = if name == "ser" { "closed_rays" } else { "steps" };
        let (capture, to) = (root().join(format!("captures/samples/{sample}.gfxr")), scratch.path("trace"));
        let out = run([
            "profile".as_ref(),
            capture.as_os_str(),
            "--passes".as_ref(),
            name.as_ref(),
            "-o".as_ref(),
            to.as_os_str(),
        ]);
        matches!(out.status.code(), Some(2 | 77))
    };
    for pass in ["counters", "registers", "ser"] {
        if names.iter().any(|n| n == pass) && refused(pass) {
            eprintln!("pass {pass} is left out: it is refused here");
            names.retain(|n| n != pass);
        }
    }
    // (they change pictures by intention; the first stands alone, as what others count in its shader would be lost, and not every device has
    // the last one's 16-bit floats: `changes` and `half_floats` test them)
    names.retain(|n| !["trivial", "no-recursion", "half-floats"].contains(&n.as_str()));
    assert!(names.len() >= 6, "{names:?}");
    names.join(",")
}

/// The modules in a folder that are not valid, with what spirv-val says of them; none if there is no spirv-val.
fn invalid(folder: &Path) -> Option<(usize, Vec<String>)> {
    let files = folder.read_dir().expect("the folder is there").filter_map(Result::ok).map(|e| e.path());
    let modules: Vec<_> = files.filter(|f| f.extension().is_some_and(|e| e == "spv")).collect();
    let mut wrong = vec![];
    for module in &modules {
        // Storage buffers of packed scalars are what the captures' own devices allowed.
        let out = Command::new("spirv-val")
            .args(["--target-env", "spv1.6", "--scalar-block-layout"])
            .arg(module)
            .output();
        let out = out.ok()?;
        if !out.status.success() {
            wrong.push(format!("{}: {}", module.display(), text(&out.stderr).trim()));
        }
    }
    Some((modules.len(), wrong))
}

#[test]
fn every_pass_measures_every_capture_with_valid_modules() {
    if !device("all passes on all captures") {
        return;
    }
    let passes = passes();
    let mut done = 0;
    for capture in captures() {
        let name = capture.file_stem().and_then(|n| n.to_str()).expect("plain").to_owned();
        if let Some((_, why)) = LEFT_OUT.iter().find(|(part, _)| name.contains(part)) {
            skip(&name, why);
            continue;
        }
        let scratch = Scratch::new(&format!("passes-{name}"));
        let (trace, shaders) = (scratch.path("trace"), scratch.path("shaders"));
        let mut args = vec!["profile".into(), capture.clone().into_os_string()];
        let passes = HEAVY.iter().find(|(begin, _)| name.starts_with(begin)).map_or(&*passes, |h| h.1);
        let text_args = ["--passes", passes, "--assume-subgroups", "--no-cache", "--dump-shaders"];
        args.extend(text_args.iter().map(Into::into));
        args.push(shaders.clone().into());
        if let Some((_, frames)) = FRAMES.iter().find(|(begin, _)| name.starts_with(begin)) {
            args.extend(["--frames".into(), (*frames).into()]);
        }
        args.extend(["-o".into(), trace.into()]);
        let out = run(&args);
        assert!(out.status.success(), "{name}, {args:?}: {}{}", text(&out.stdout), text(&out.stderr));
        match shaders.is_dir().then(|| invalid(&shaders)) {
            // Captures without shaders have nothing to rewrite.
            None => assert!(name == "memory" || name == "nested", "{name}: no shader was written"),
            Some(None) => skip("modules of instrumented shaders", "spirv-val is not installed"),
            Some(Some((count, wrong))) => {
                assert!(count > 0 && wrong.is_empty(), "{name}: {count} modules; {wrong:#?}");
            }
        }
        done += 1;
    }
    assert!(done >= 12, "{done} captures");
}
