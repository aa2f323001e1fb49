//! A message for the user is all that can go wrong.

/// See the module's header.
pub type Result<T> = std::result::Result<T, String>;
