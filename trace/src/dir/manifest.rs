//! What a trace is of: `manifest.json`; and what its files are called.
//!
//! Fields that a reader does not know are passed over, so that more may come; one that changes its meaning or goes raises
//! the schema's version.

use super::limits;
use crate::note::{self, Kind};
use crate::{Nanos, Unreadable};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the manifest's shape.
pub const MANIFEST_VERSION: u32 = 1;

/// The manifest's file.
pub const MANIFEST: &str = "manifest.json";
/// What a table's file ends in.
pub const TABLE_SUFFIX: &str = ".table";
/// What a file ends in while it is written.
pub const PARTIAL: &str = ".partial";

/// See the module's header.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`MANIFEST_VERSION`] of the program that wrote it.
    pub schema_version: u32,
    /// The program and its version.
    pub program: String,
    /// What was replayed.
    pub capture: Capture,
    /// Where.
    pub device: Device,
    /// What measured.
    pub passes: Vec<PassNote>,
    /// The frames that were measured, by the capture's numbers.
    pub frames: Vec<u64>,
    /// What measuring cost a frame, where that was measured as well.
    pub cost: Option<CostNote>,
    /// What else it cost.
    #[serde(default)]
    pub other_costs: Vec<CostNote>,
    /// What a reader has to know to read the records rightly; a sentence each.
    pub notes: Vec<String>,
    /// The tables; filled in when the trace is finished.
    pub tables: Vec<TableNote>,
    /// Whether the trace was finished. If not, tables go up to their last whole chunk.
    pub complete: bool,
}

/// A capture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Capture {
    /// Its file's name, without folders.
    pub name: String,
    /// Its size.
    pub size_bytes: u64,
    /// BLAKE3 of its bytes, in hexadecimal.
    pub blake3: String,
}

/// A device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Its driver's name and version.
    pub driver: String,
    /// Invocations in a full subgroup.
    pub subgroup_size: u32,
}

/// A pass of the plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PassNote {
    /// Its name.
    pub name: String,
    /// All that its rewrite depends on.
    pub key: String,
    /// Its options, as they were given.
    pub options: String,
}

/// What measuring cost: the same work with and without.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CostNote {
    /// What took these times.
    pub of: String,
    /// Without measuring.
    pub without: Nanos,
    /// With it.
    pub with: Nanos,
}

/// A table of the trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableNote {
    /// Its name; its file is `NAME.table`.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// Its rows.
    pub rows: u64,
    /// Its file's size.
    pub size_bytes: u64,
}

impl Manifest {
    /// As JSON, with a line end.
    pub fn render(&self) -> String {
        note::render(self)
    }

    /// Reads one; `path` is for messages.
    pub fn parse(json: &[u8], path: &Path) -> Result<Manifest, Unreadable> {
        let kind = Kind {
            version: MANIFEST_VERSION,
            most: limits::MANIFEST as usize,
            who: "a manifest",
            wrong: "is no trace's manifest",
            what: "the trace",
        };
        note::parse(json, path, &kind)
    }
}
