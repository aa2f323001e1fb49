//! What a folder's JSON file is read and written by: `manifest.json`, `run.json`, `suite.json`.
//!
//! Guarantees: fields that a reader does not know are passed over. Refuses, before anything else is read of it, a file that is too
//! large or of another `schema_version`.

use crate::Unreadable;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A kind of file, for those who read it and for messages.
pub struct Kind {
    /// The version that is read.
    pub version: u32,
    /// Most bytes.
    pub most: usize,
    /// Who has them at most.
    pub who: &'static str,
    /// What one that cannot be read is, after `it`.
    pub wrong: &'static str,
    /// What is to be read with the program that wrote it.
    pub what: &'static str,
}

/// As JSON, with a line end.
pub fn render(note: &impl Serialize) -> String {
    // (text keys and plain values only: nothing in it can fail to be written)
    let mut json = serde_json::to_string_pretty(note).unwrap_or_default();
    json.push('\n');
    json
}

/// Reads one; `path` is for messages.
pub fn parse<T: DeserializeOwned>(json: &[u8], path: &Path, kind: &Kind) -> Result<T, Unreadable> {
    let (path, Kind { version: wanted, most, who, wrong, what }) = (path.display(), kind);
    if json.len() > *most {
        return Err(Unreadable(format!("{path}: {} bytes; {who} has {most} at most", json.len())));
    }
    // (first the version alone: another version's fields may be others)
    #[derive(Deserialize)]
    struct Version {
        schema_version: u32,
    }
    let wrong = |e: serde_json::Error| Unreadable(format!("{path}: {e}; it {wrong}"));
    let Version { schema_version: version } = serde_json::from_slice(json).map_err(wrong)?;
    if version != *wanted {
        return Err(Unreadable(format!(
            "{path}: schema_version {version}; this program reads {wanted}: read {what} with the program that wrote it"
        )));
    }
    serde_json::from_slice(json).map_err(wrong)
}
