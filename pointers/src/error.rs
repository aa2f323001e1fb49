//! Why a module is not understood.

use std::fmt;

/// Why a module cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Which word.
    pub word: usize,
    /// What is wrong there, and what was expected.
    pub what: String,
}

impl Error {
    #[cold]
    pub(crate) fn new(word: usize, what: impl Into<String>) -> Self {
        Error { word, what: what.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "word {}: {}", self.word, self.what)
    }
}

impl std::error::Error for Error {}
