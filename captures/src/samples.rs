//! Checks of what is committed beside the code: the captures, their images and the compiled shaders.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The largest capture that is committed.
const LARGEST_SAMPLE_BYTES: usize = 300_000;

/// The first word of a SPIR-V module.
const SPIRV_MAGIC: u32 = 0x0723_0203;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files of `dir`, sorted.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// Every compiled shader of every scene.
fn modules() -> Vec<PathBuf> {
    let folders = files(&here().join("src/scenes"));
    let inside = folders.iter().filter(|path| path.is_dir()).flat_map(|folder| files(folder));
    inside.filter(|path| has_extension(path, "spv")).collect()
}

fn word(bytes: &[u8], index: usize) -> u32 {
    u32::from_le_bytes(bytes[index * 4..][..4].try_into().unwrap())
}

#[test]
fn captures_are_small_and_described() {
    let readme = fs::read_to_string(here().join("README.md")).unwrap();
    let samples = files(&here().join("samples"));
    let captures: Vec<_> = samples.iter().filter(|path| has_extension(path, "gfxr")).collect();
    assert!(captures.iter().any(|path| path.ends_with("cubes.gfxr")));
    for path in captures {
        let bytes = fs::read(path).unwrap();
        assert_eq!(&bytes[..4], b"GFXR", "{}", path.display());
        assert!(bytes.len() <= LARGEST_SAMPLE_BYTES, "{}: {} bytes", path.display(), bytes.len());
    }
    for path in samples {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(readme.contains(name), "README.md does not say what {name} is");
    }
}

#[test]
fn cubes_is_compressed_with_lz4() {
    let bytes = fs::read(here().join("samples/cubes.gfxr")).unwrap();
    // Magic, two words of version, the number of options, then pairs of key and value: 1 is compression.
    let options = word(&bytes, 3) as usize;
    let mut pairs = (0..options).map(|index| (word(&bytes, 4 + 2 * index), word(&bytes, 5 + 2 * index)));
    assert!(pairs.any(|pair| pair == (1, 1)));
}

#[test]
fn every_shader_is_compiled() {
    let modules = modules();
    assert!(!modules.is_empty());
    for path in modules {
        let bytes = fs::read(&path).unwrap();
        assert_eq!(bytes.len() % 4, 0, "{}", path.display());
        assert_eq!(word(&bytes, 0), SPIRV_MAGIC, "{}", path.display());
        assert!(path.with_extension("").is_file(), "{} has no source", path.display());
    }
}

/// Without spirv-val on the machine this says so and passes; `captures/shaders --check` needs it.
#[test]
fn every_module_is_valid() {
    for path in modules() {
        let target = fs::read_to_string(path.with_file_name("target-env"));
        let target = target.as_deref().unwrap_or("vulkan1.1").trim();
        let Ok(output) = Command::new("spirv-val").args(["--target-env", target]).arg(&path).output() else {
            eprintln!("spirv-val is not installed; nothing was checked");
            return;
        };
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}", path.display());
    }
}
