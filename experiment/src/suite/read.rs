//! A suite file, read: its units, and the shard of each. Refuses folders, files that are too long, and what is no text.

use super::file::{self, Suite};
use super::shard::{self, Shard};
use super::units::{self, Unit, Words};
use crate::failure::Failure;
use std::path::{Path, PathBuf};

/// A suite, the folder that its names are seen from, its units, and the shard of each.
pub struct Read {
    /// What the file says.
    pub suite: Suite,
    /// Where its names are seen from.
    pub folder: PathBuf,
    /// Its units.
    pub units: Vec<Unit>,
    /// The shard of each.
    pub shards: Vec<u32>,
}

/// Reads a suite file; `words` reads what its units say to `bench`.
pub fn read(path: &Path, shard: Option<Shard>, words: Words) -> Result<Read, Failure> {
    let name = path.display().to_string();
    let fail = |e: &dyn std::fmt::Display| Failure::new(format_args!("{name}: {e}"));
    let meta = std::fs::metadata(path).map_err(|e| fail(&e))?;
    if meta.is_dir() {
        return Err(fail(&"a folder; name a suite file (docs/suites.md)"));
    }
    if meta.len() > file::MOST_BYTES {
        return Err(fail(&format_args!(
            "{} bytes; a suite file has {} at most",
            meta.len(),
            file::MOST_BYTES
        )));
    }
    let text = std::fs::read(path).map_err(|e| fail(&e))?;
    let text = String::from_utf8(text).map_err(|e| fail(&format_args!("no text in UTF-8: {e}")))?;
    let suite = file::parse(&text, &name).map_err(Failure::new)?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let units = units::units(&suite, &folder, words).map_err(Failure::new)?;
    let costs: Vec<f64> = units.iter().map(|u| u.cost).collect();
    let shards = shard::split(&costs, shard.map_or(1, |s| s.of));
    Ok(Read { suite, folder, units, shards })
}
