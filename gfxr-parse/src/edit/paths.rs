//! Paths of what is edited: JSON pointers into the print, and files with contents; and what is wrong there.
//!
//! Guarantees: an error names the path. Refuses files that cannot be read.

use crate::error::Error;
use serde_json::Value;
use std::path::Path;

/// Values of a block that can be edited at once.
pub(super) const MOST: usize = 1000;

/// More than that.
pub(super) fn too_many(what: &str, of: &str) -> Error {
    Error::malformed(format!(
        "more than {MOST} {what} of this {of} differ; at most so many can be edited at once"
    ))
}

/// The path of a member.
pub(super) fn below(path: &str, key: &str) -> String {
    format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Bytes from a file.
pub(super) fn contents(folder: &Path, file: &str, path: &str) -> Result<Vec<u8>, Error> {
    let file = folder.join(file);
    std::fs::read(&file).map_err(|e| refused(path, &format!("{}: {e}", file.display())))
}

/// What is wrong with an edit.
pub(super) fn refused(path: &str, why: &str) -> Error {
    Error::malformed(format!("{path} cannot be edited so: {why}"))
}

/// Two edits that want different bytes at one place.
pub(super) fn contradicted(path: &str) -> Error {
    refused(path, "another edit of the same call contradicts it")
}

/// What is printed of what is not there: null, as of arrays without elements.
pub(super) fn is_nothing(v: &Value) -> bool {
    v.as_array().map_or(v.is_null(), Vec::is_empty)
}
