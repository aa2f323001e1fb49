//! Where `analyze`'s results go: stdout, one file, or a folder with a file for each.
//!
//! Guarantees: a file is there whole or not at all; a folder is made when the first file is written to it. Refuses several
//! results for one file, and names that would leave the folder.

use crate::exit::Failure;
use crate::output::Output;
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// See the module's header.
pub enum Target {
    /// Results follow each other.
    Stdout,
    /// For one result.
    File(PathBuf, Cell<bool>),
    /// A file a result.
    Folder(PathBuf),
}

impl Target {
    /// What `-o` says: a folder if it is one, or if its name has no ending.
    pub fn new(output: Option<&Path>) -> Target {
        match output {
            None => Target::Stdout,
            Some(path) if path.is_dir() || path.extension().is_none() && !path.exists() => {
                Target::Folder(path.to_owned())
            }
            Some(path) => Target::File(path.to_owned(), Cell::new(false)),
        }
    }

    /// Whether results get files of their own.
    pub fn is_folder(&self) -> bool {
        matches!(self, Target::Folder(_))
    }

    /// Whether it is a stream of text.
    #[cfg(any(feature = "parquet", test))]
    pub fn is_stdout(&self) -> bool {
        matches!(self, Target::Stdout)
    }

    /// Where the result of this name goes.
    pub fn open(&self, name: &str) -> Result<Output, Failure> {
        match self {
            Target::Stdout => Output::create(None),
            Target::File(path, used) => {
                if used.replace(true) {
                    return Err(Failure::usage(format_args!(
                        "{}: there is more than one result; name a folder with -o, or one question or table",
                        path.display()
                    )));
                }
                Output::create(Some(path))
            }
            Target::Folder(folder) => {
                crate::output::folder(folder)?;
                Output::create(Some(&folder.join(sound(name))))
            }
        }
    }

    /// A whole result.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = self.open(name)?;
        out.write(bytes)?;
        out.finish()
    }
}

/// A file's name from whatever a capture's names hold.
fn sound(name: &str) -> String {
    let keep = |c: char| if c.is_alphanumeric() || "._-+".contains(c) { c } else { '_' };
    let name: String = name.chars().map(keep).collect();
    name.trim_start_matches('.').to_owned()
}

/// An output for libraries that write to `Write`.
#[cfg(feature = "parquet")]
pub struct Stream(pub Output, pub Option<Failure>);

#[cfg(feature = "parquet")]
impl std::io::Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.0.write(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(e) => {
                self.1 = Some(e);
                Err(std::io::Error::other("the file cannot be written"))
            }
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_the_folder() {
        assert_eq!(sound("simt.blocks.csv"), "simt.blocks.csv");
        assert_eq!(sound("../../etc/a b"), "_.._etc_a_b");
        assert_eq!(sound("src\\sky.frag"), "src_sky.frag");
    }

    #[test]
    fn a_name_with_an_ending_is_a_file() {
        assert!(Target::new(None).is_stdout());
        assert!(Target::new(Some(Path::new("/no/such/place"))).is_folder());
        assert!(Target::new(Some(&std::env::temp_dir())).is_folder());
        assert!(!Target::new(Some(Path::new("a.csv"))).is_folder());
    }
}
