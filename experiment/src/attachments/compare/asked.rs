//! What is compared with what.
//!
//! Refuses paths that are not there.

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
        Ok(match (path.is_dir(), path.is_file()) {
            (true, _) => Other::Folder(path),
            (_, true) => Other::Driver(std::path::absolute(path).map_err(|e| e.to_string())?),
            _ if text.contains('/') => return Err(format!("there is no {text}")),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_side_is_a_device_a_driver_or_a_folder() {
        assert_eq!("llvmpipe".parse(), Ok(Other::Device("llvmpipe".into())));
        assert_eq!("src".parse(), Ok(Other::Folder("src".into())));
        let file = std::path::absolute("src/lib.rs").expect("a folder");
        assert_eq!("src/lib.rs".parse(), Ok(Other::Driver(file)));
        assert_eq!("no/such.json".parse::<Other>(), Err("there is no no/such.json".into()));
    }
}
