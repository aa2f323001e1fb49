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
    /// Whether frames show what they show without measuring, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pictures: Option<PicturesNote>,
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

/// What came of comparing pictures with those of a replay in which nothing is measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PicturesNote {
    /// Pictures (or contents of buffers and images) that were compared.
    pub compared: u64,
    /// Those that could not be, as they are others in each replay.
    pub unsteady: u64,
    /// How far values could be off: `exact`, or units in the last place of 32-bit floats.
    pub tolerance: String,
    /// Something is further off: the records may be of other work than the application's.
    pub failed: bool,
    /// What differs, in the order of frames.
    pub differing: Vec<PictureNote>,
}

/// How a picture differs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PictureNote {
    /// The frame.
    pub frame: u64,
    /// The captured id of the swapchain, where there are several, or of the buffer or image.
    pub of: Option<u64>,
    /// Values that were compared.
    pub values: u64,
    /// Those that differ.
    pub differing: u64,
    /// Those of them that are further off than the tolerance lets one be.
    pub beyond: u64,
    /// How far the worst is off, in steps of its format; none where there are no steps.
    pub steps: Option<f64>,
    /// That format.
    pub format: Option<String>,
    /// Whether all of it is within the tolerance.
    pub within: bool,
    /// As a sentence: where it begins, how much, how far.
    pub text: String,
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
