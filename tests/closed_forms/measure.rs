//! Runs the built program on a scene and checks the trace that it leaves.

use super::{Verdict, check};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use trace::dir::Dir;

/// What a run of the program came to.
pub enum Measured<T = Verdict> {
    /// A trace, compared.
    Compared(T),
    /// The device or the build cannot: what the program said.
    Refused(String),
}

/// The program's exit codes for a device that cannot, and for what it cannot itself.
const NO_DEVICE: i32 = 77;
const USAGE: i32 = 2;

/// Where the captures are and where to write.
pub struct Places {
    pub program: PathBuf,
    pub captures: PathBuf,
    pub scratch: PathBuf,
}

impl Places {
    /// Measures a scene with these passes and options.
    pub fn measure(&self, scene: &str, passes: &str, options: &[String]) -> Result<Measured, String> {
        self.compared(scene, passes, options, |dir| check(scene, dir))
    }

    /// The same; what is known of the trace is the caller's affair.
    pub fn compared<T>(
        &self,
        scene: &str,
        passes: &str,
        options: &[String],
        check: impl FnOnce(&Dir) -> Result<T, String>,
    ) -> Result<Measured<T>, String> {
        let plain: String = passes.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let folder = self.scratch.join(format!("{scene}-{plain}"));
        let out = self.profile(&self.captures.join(format!("{scene}.gfxr")), passes, options, &folder)?;
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        match out.status.code() {
            Some(0) => {}
            Some(NO_DEVICE | USAGE) => return Ok(Measured::Refused(said)),
            code => return Err(format!("{scene}, passes {passes}: ended with {code:?}: {said}")),
        }
        let dir = Dir::open(&folder).map_err(|e| e.to_string())?;
        check(&dir).map(Measured::Compared)
    }

    /// The program's `profile` of a capture, into a folder that is new.
    pub fn profile(
        &self,
        capture: &Path,
        passes: &str,
        options: &[String],
        folder: &Path,
    ) -> Result<Output, String> {
        let _ = std::fs::remove_dir_all(folder);
        Command::new(&self.program)
            .arg("profile")
            .arg(capture)
            .args(["--passes", passes, "-o"])
            .arg(folder)
            .args(options)
            .output()
            .map_err(|e| format!("{}: {e}", self.program.display()))
    }

    /// The passes that the program has.
    pub fn passes(&self) -> Result<Vec<String>, String> {
        let out = Command::new(&self.program).args(["profile", "--list"]).output();
        let out = out.map_err(|e| format!("{}: {e}", self.program.display()))?;
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let names = text.lines().filter_map(|l| l.split_whitespace().next().map(str::to_owned));
        let names: Vec<String> = names.collect();
        if names.is_empty() { Err("the program has no passes".to_owned()) } else { Ok(names) }
    }
}
