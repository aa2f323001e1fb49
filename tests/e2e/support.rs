//! What the end-to-end tests share: where captures are, and how programs are run.
//!
//! Guarantees: a skip is printed with what is skipped and why.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// One of the project's own captures.
pub fn sample(name: &str) -> PathBuf {
    root().join("captures/samples").join(name)
}

/// The folder of captures of others, if it is there.
pub fn shared_captures() -> Option<PathBuf> {
    let folder = root().join("../shared/captures");
    folder.is_dir().then_some(folder)
}

/// One of them; none (said so) if the folder is absent.
pub fn shared_capture(name: &str) -> Option<PathBuf> {
    let file = shared_captures().map(|f| f.join(name)).filter(|f| f.is_file());
    if file.is_none() {
        skip(name, "../shared/captures is absent");
    }
    file
}

/// What takes software too long for tests of every capture, and has a test of its own: GPU work of milliseconds, and 128 MiB of texture.
const DEAR: [&str; 1] = ["causes.gfxr"];

/// All captures at hand but those in [`DEAR`]: one at least.
pub fn captures() -> Vec<PathBuf> {
    let mut folders = vec![root().join("captures/samples")];
    match shared_captures() {
        Some(folder) => folders.push(folder),
        None => skip("the captures of others", "../shared/captures is absent"),
    }
    folders.extend(std::env::var_os("RERAY_EXTRA_CAPTURES").map(PathBuf::from));
    let files =
        folders.iter().filter_map(|f| f.read_dir().ok()).flatten().filter_map(Result::ok).map(|e| e.path());
    let mut captures: Vec<PathBuf> = files.filter(|f| f.extension() == Some(OsStr::new("gfxr"))).collect();
    captures.retain(|f| !DEAR.iter().any(|name| f.ends_with(name)));
    assert!(!captures.is_empty(), "captures/samples is committed, and holds captures");
    captures.sort();
    captures
}

/// Says that something is not tested.
pub fn skip(what: &str, why: &str) {
    eprintln!("skipped: {what}: {why}");
}

/// Our program. Software's compiler keeps what it has compiled: tests compile the same shaders again and again.
pub fn reray() -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_reray-replay"));
    program.env("MESA_SHADER_CACHE_DISABLE", "false");
    program
}

/// Runs our program with these arguments.
pub fn run<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Output {
    reray().args(arguments).output().expect("the program starts")
}

/// The output as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An empty folder of this test's own, removed at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("reray-e2e-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder for this test");
        Scratch(folder)
    }
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Where SwiftShader's manifest lies, by package.
const SWIFTSHADER: [&str; 3] = [
    "/usr/lib/chromium/vk_swiftshader_icd.json",
    "/usr/lib64/chromium-browser/vk_swiftshader_icd.json",
    "/opt/google/chrome/vk_swiftshader_icd.json",
];

/// SwiftShader, another Vulkan in software, comes with Debian's Chromium: its manifest, where it is installed.
pub fn swiftshader() -> Option<&'static str> {
    SWIFTSHADER.iter().copied().find(|f| Path::new(f).is_file())
}
