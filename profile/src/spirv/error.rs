//! Why SPIR-V is refused: in words, for who reads the message.

use std::fmt;

/// Why a module cannot be rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Malformed {}

/// What the library answers with.
pub type Result<T> = std::result::Result<T, Malformed>;

/// Refuses, saying why.
pub(crate) fn malformed<T>(why: impl Into<String>) -> Result<T> {
    Err(Malformed(why.into()))
}
