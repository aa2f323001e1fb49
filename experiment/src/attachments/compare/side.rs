//! One side of a comparison: a process of this program, with a device or a driver of its own.
//!
//! Guarantees: an index that was there before is not taken for what the process wrote. A side whose replay diverged, or that shows only some of
//! what was asked for, is compared all the same. Refuses a side that wrote no index, with what its process said last.

use super::asked::Comparison;
use crate::attachments::After;
use crate::attachments::index::{self, Index};
use crate::failure::Failure;
use crate::how::{DRIVER, How};
use crate::itself::{ended, program};
use std::path::{Path, PathBuf};
use trace::plan::Use;

/// See the module's header.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// What is asked.
    pub of: &'a Comparison<'a>,
    /// Its name, and its folder's.
    pub name: &'static str,
    /// A device of its own.
    pub gpu: Option<&'a str>,
    /// A driver of its own, by its manifest.
    pub driver: Option<&'a Path>,
    /// Changes to calls.
    pub changes: &'a [Use],
}

impl Side<'_> {
    /// Where it writes to.
    pub fn folder(&self) -> PathBuf {
        self.of.output.join(self.name)
    }

    /// Runs this program on this side; why it failed, if it did.
    pub fn run(&self, command: &str, words: &[String]) -> Result<Option<Failure>, Failure> {
        let mut process = program()?;
        process.arg(command).args(words).arg("--quiet");
        process.args(self.changes.iter().map(|c| format!("--change={c}")));
        // (another driver has other devices)
        let gpu = self.of.run.gpu.clone().filter(|_| self.driver.is_none());
        process.args(How { gpu, ..self.of.run.clone() }.arguments(self.gpu)).arg("--").arg(self.of.file);
        if let Some(driver) = self.driver {
            process.envs(DRIVER.map(|name| (name, driver)));
        }
        let done = ended(&mut process)?;
        Ok((done.code != Some(0)).then(|| done.failure(self.name)))
    }

    /// Its attachments behind something.
    pub fn look(&self, after: &After) -> Result<Index, Failure> {
        let (frame, folder) = (self.of.frame, self.folder());
        let alpha = self.of.alpha.then(|| "--alpha".to_owned());
        let words = [
            format!("--frames={frame}"),
            format!("--after={after}"),
            "--texels".to_owned(),
            format!("--output={}", folder.display()),
        ];
        // (the index of what was looked at before is none of this)
        let _ = std::fs::remove_file(index::file(&folder, frame));
        let failed = self.run("screenshot", &words.into_iter().chain(alpha).collect::<Vec<_>>())?;
        match (index::read(&folder, frame), failed) {
            (Ok(index), _) => Ok(index),
            (Err(_), Some(why)) => Err(why),
            (Err(e), None) => Err(e),
        }
    }
}
