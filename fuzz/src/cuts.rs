//! Truncation: a capture cut off after every byte, each time read whole.
//!
//! Guarantees: every cut is tried; what stands whole before the cut is read as it is without it. Refuses captures larger
//! than [`LARGEST`], whose first part is cut instead: the effort grows with the square.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use crate::targets::Targets;

/// Cuts are made in so many bytes of a file.
pub const LARGEST: usize = 200 << 10;
/// A file that is cut after every byte is read whole this often; in between only its last blocks are.
const LAST_BYTES: usize = 4 << 10;

/// Cuts every capture in these folders; the exit status says whether all was well (a panic ends it).
pub fn files(folders: &[PathBuf]) -> ExitCode {
    let mut paths: Vec<PathBuf> = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flat_map(|entries| entries.filter_map(|e| Some(e.ok()?.path())))
        .filter(|p| p.extension().is_some_and(|e| e == "gfxr"))
        .collect();
    paths.sort();
    for path in paths {
        let Ok(file) = std::fs::read(&path) else { continue };
        let start = Instant::now();
        let cuts = everywhere(&file[..file.len().min(LARGEST)]);
        println!(
            "{}: cut off after each of {cuts} bytes, {:.1} s",
            path.display(),
            start.elapsed().as_secs_f64()
        );
    }
    ExitCode::SUCCESS
}

/// Cuts `file` after every byte; how many cuts were made.
///
/// Blocks that lie whole before the cut are the same from cut to cut: they are read again only up to 4 KiB back, so
/// that the effort stays with what changes. The header stands in front of every piece.
pub fn everywhere(file: &[u8]) -> usize {
    let mut targets = Targets::default();
    let starts = block_starts(file);
    for end in 0..=file.len() {
        let from = match starts.partition_point(|&s| s + LAST_BYTES < end) {
            0 => 0,
            n => starts[n - 1],
        };
        match starts.first() {
            Some(&first) if from > first => {
                targets.container(&[&file[..first], &file[from..end]].concat(), false)
            }
            _ => targets.container(&file[..end], false),
        };
    }
    file.len() + 1
}

/// Where blocks begin.
fn block_starts(file: &[u8]) -> Vec<usize> {
    match gfxr_parse::container::Capture::new(file.to_vec()) {
        Ok(capture) => capture.blocks().map(|b| b.offset as usize).collect(),
        Err(_) => vec![],
    }
}
