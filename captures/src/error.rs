//! The one error of this program: a sentence for the person who ran it.
//!
//! A scene cannot recover from anything, so an error carries no kind to match on, only what was being
//! done and what went wrong.

use std::fmt;

use ash::vk;

/// What went wrong, in words.
pub struct Error(Box<str>);

/// A result whose error is a sentence.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error from a sentence.
    #[cold]
    pub fn new(what: impl Into<String>) -> Self {
        Self(what.into().into_boxed_str())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<vk::Result> for Error {
    #[cold]
    fn from(result: vk::Result) -> Self {
        Self::new(format!("Vulkan answered {result:?}"))
    }
}

/// Says what was being done when something failed.
pub trait Doing<T> {
    /// On failure, the error becomes `what: error`.
    fn doing(self, what: impl fmt::Display) -> Result<T>;
}

impl<T, E: fmt::Display> Doing<T> for std::result::Result<T, E> {
    fn doing(self, what: impl fmt::Display) -> Result<T> {
        self.map_err(|error| Error::new(format!("{what}: {error}")))
    }
}
