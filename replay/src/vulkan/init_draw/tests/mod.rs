//! The shaders are compiled and valid; what is drawn arrives (see `bits.rs`).

mod bits;

use std::path::{Path, PathBuf};
use std::process::Command;

fn shaders() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/vulkan/init_draw/shaders");
    let files = folder.read_dir().expect("the folder is there").map(|f| f.expect("readable").path());
    files.filter(|f| f.extension().is_some_and(|e| e == "frag" || e == "vert")).collect()
}

/// Without spirv-val on the machine this says so and passes.
#[test]
fn every_shader_is_compiled_and_valid() {
    let shaders = shaders();
    assert_eq!(shaders.len(), 6);
    for source in shaders {
        let module = source.with_added_extension("spv");
        assert!(module.is_file(), "{} is not compiled", source.display());
        let Ok(out) = Command::new("spirv-val").args(["--target-env", "vulkan1.0"]).arg(&module).output()
        else {
            eprintln!("spirv-val is not installed; nothing was checked");
            return;
        };
        assert!(out.status.success(), "{}: {}", module.display(), String::from_utf8_lossy(&out.stderr));
    }
}
