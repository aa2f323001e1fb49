//! What is compared with what.
//!
//! A file is a driver's manifest where its name ends in `.json`: devices may be called like other files, and have `/` in their names.
//! Refuses manifests that are not there.

use crate::attachments::After;
use crate::how::How;
use profile::pictures::Tolerance;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use trace::plan::Use;

/// What a device is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Other {
    /// A device of this driver: its number, or part of its name.
    Device(String),
    /// Another driver, by its manifest.
    Driver(PathBuf),
    /// What `screenshot --after` wrote elsewhere, or before.
    Folder(PathBuf),
}

impl FromStr for Other {
    type Err = String;

    fn from_str(text: &str) -> Result<Other, String> {
        let path = PathBuf::from(text);
        let manifest = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
        Ok(match (path.is_dir(), manifest) {
            (true, _) => Other::Folder(path),
            (_, true) if !path.is_file() => return Err(format!("there is no {text}")),
            // (a folder beside it is there: that is no device's name)
            (false, false)
                if text.contains('/') && path.parent().is_some_and(|p| p.is_dir()) && !path.is_file() =>
            {
                return Err(format!("there is no {text}"));
            }
            (_, true) => Other::Driver(std::path::absolute(path).map_err(|e| e.to_string())?),
            _ => Other::Device(text.to_owned()),
        })
    }
}

/// What is asked.
pub struct Comparison<'a> {
    /// The capture's file.
    pub file: &'a Path,
    /// The frame.
    pub frame: u64,
    /// Behind what attachments are looked at; if nothing is said, behind passes, and then behind the draws of the one that differs.
    pub after: Option<&'a After>,
    /// Changes to calls, on this side.
    pub changes: &'a [Use],
    /// What may differ.
    pub tolerance: Tolerance,
    /// PNGs keep their alpha channel.
    pub alpha: bool,
    /// How to replay.
    pub run: &'a How,
    /// The other side.
    pub other: &'a Other,
    /// The folder that is written; new or empty.
    pub output: &'a Path,
}

impl Comparison<'_> {
    /// The folder of the other side's files.
    pub fn there(&self) -> PathBuf {
        if let Other::Folder(folder) = self.other { folder.clone() } else { self.output.join("there") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_side_is_a_device_a_driver_or_a_folder() {
        assert_eq!("llvmpipe".parse(), Ok(Other::Device("llvmpipe".into())));
        assert_eq!("src".parse(), Ok(Other::Folder("src".into())));
        let made = tempfile::tempdir().expect("a folder");
        let manifest = made.path().join("driver.json");
        std::fs::write(&manifest, "{}").expect("a file");
        assert_eq!(manifest.to_str().expect("text").parse(), Ok(Other::Driver(manifest)));
        assert_eq!("src/lib.rs".parse(), Ok(Other::Device("src/lib.rs".into())));
        assert_eq!("GPU/PCIe/SSE2".parse(), Ok(Other::Device("GPU/PCIe/SSE2".into())));
        assert_eq!("src/no-such-folder".parse::<Other>(), Err("there is no src/no-such-folder".into()));
        assert_eq!("no/such.json".parse::<Other>(), Err("there is no no/such.json".into()));
    }
}
