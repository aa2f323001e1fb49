//! The crate's one error: a sentence.

use std::fmt;

/// Why a database was not made, or a question not answered.
#[derive(Debug, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    /// With these words.
    pub fn new(why: String) -> Error {
        Error(why)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
