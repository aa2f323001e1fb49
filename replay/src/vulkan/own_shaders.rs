//! The shaders that the replay brings with it, which pipelines are made of without asking again: each is compiled, and valid.
//!
//! Where spirv-val is absent this says so and passes, unless `RERAY_REQUIRE_DEVICE` is set.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders with shaders, how their modules' names end, and the environment that they are compiled for.
const FOLDERS: [(&str, &str, &str); 3] = [
    ("init_draw/shaders", "frag.spv", "vulkan1.0"),
    ("ray/shaders", "spv", "vulkan1.1"),
    ("portability/stand_ins/shaders", "spv", "vulkan1.1"),
];

/// The modules that the sources of a folder are compiled to.
fn modules(folder: &Path, ending: &str) -> BTreeSet<PathBuf> {
    let files = folder.read_dir().expect("the folder is there").map(|f| f.expect("readable").path());
    let of = |f: PathBuf| match f.extension().and_then(OsStr::to_str)? {
        stage @ ("comp" | "frag" | "vert") => Some(f.with_extension(ending.replace("frag", stage))),
        _ => None,
    };
    files.filter_map(of).collect()
}

#[test]
fn every_shader_is_compiled_and_valid() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/vulkan");
    for (name, ending, environment) in FOLDERS {
        let folder = here.join(name);
        let compiled: BTreeSet<PathBuf> = folder
            .read_dir()
            .expect("the folder is there")
            .map(|f| f.expect("readable").path())
            .filter(|f| f.extension().is_some_and(|e| e == "spv"))
            .collect();
        assert_eq!(compiled, modules(&folder, ending), "{name}: modules, and what sources are compiled to");
        assert!(!compiled.is_empty(), "{name}");
        for module in compiled {
            let out = Command::new("spirv-val").args(["--target-env", environment]).arg(&module).output();
            let Ok(out) = out else {
                assert!(std::env::var_os("RERAY_REQUIRE_DEVICE").is_none(), "spirv-val is required");
                eprintln!("skipped: spirv-val is not installed");
                return;
            };
            assert!(out.status.success(), "{}: {}", module.display(), String::from_utf8_lossy(&out.stderr));
        }
    }
}
