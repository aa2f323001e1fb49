//! What mutations start from: the blocks and calls of real captures.
//!
//! Guarantees: the same files give the same seeds in the same order, so an index names the same input as long as the
//! files are the same. Refuses nothing: what does not decode is left out.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use gfxr_parse::container::{BlockKind, Capture, Compression, Scratch, read_file};
use gfxr_parse::decode::decode_call;
use gfxr_parse::image::Image;
use gfxr_parse::schema::{CommandDef, command};

use super::calls::LONGEST;

/// Most calls kept of one command and file.
const SAME: usize = 24;
/// Largest block kept: one that is longer costs more than it finds.
const LARGEST_BLOCK: usize = LONGEST;

/// A call that decodes.
pub struct Call {
    /// Its command.
    pub command: &'static CommandDef,
    /// Its parameters.
    pub params: Vec<u8>,
}

/// A capture in pieces.
pub struct File {
    /// What its data are compressed with.
    pub codec: Compression,
    /// Its file header.
    pub header: Vec<u8>,
    /// Its blocks, headers included.
    pub blocks: Vec<Vec<u8>>,
}

/// See the module's header.
#[derive(Default)]
pub struct Seeds {
    /// Captures.
    pub files: Vec<File>,
    /// Calls, no more than [`SAME`] of one command and file.
    pub calls: Vec<Call>,
    /// The captures' names, for reports.
    pub names: Vec<String>,
}

impl Seeds {
    /// Those of the captures in these folders, by name; folders that are not there are passed over.
    pub fn of_folders(folders: &[PathBuf]) -> Self {
        let mut paths: Vec<PathBuf> = folders
            .iter()
            .filter_map(|folder| std::fs::read_dir(folder).ok())
            .flat_map(|entries| entries.filter_map(|e| Some(e.ok()?.path())))
            .filter(|p| p.extension().is_some_and(|e| e == "gfxr"))
            .collect();
        paths.sort();
        let mut seeds = Seeds::default();
        for path in paths {
            if let Ok(capture) = Capture::open(&path, read_file) {
                seeds.add(&path, &capture);
            }
        }
        seeds
    }

    fn add(&mut self, path: &Path, capture: &Capture) {
        let mut header = vec![];
        capture.header().write(&mut header);
        let mut file = File { codec: capture.header().compression(), header, blocks: vec![] };
        let (mut scratch, mut image) = (Scratch::new(), Image::default());
        let mut kept: HashMap<u32, Vec<u64>> = HashMap::new();
        for block in capture.blocks() {
            if block.raw().len() <= LARGEST_BLOCK {
                file.blocks.push(block.raw().to_vec());
            }
            let Ok(BlockKind::Call(call)) = block.kind() else { continue };
            let Some(command) = command(call.call_id) else { continue };
            let Ok(params) = call.payload.bytes(&mut scratch) else { continue };
            let same = kept.entry(call.call_id).or_default();
            let shape = shape(params);
            if params.len() <= LARGEST_BLOCK
                && same.len() < SAME
                && !same.contains(&shape)
                && decode_call(command, params, &mut image).is_ok()
            {
                same.push(shape);
                self.calls.push(Call { command, params: params.to_vec() });
            }
        }
        self.names.push(path.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned()));
        self.files.push(file);
    }
}

/// Tells calls apart by their length, so that a thousand equal ones count once.
fn shape(params: &[u8]) -> u64 {
    params.len() as u64
}
