//! Actual SIMT efficiency of rays' events, with swizzles in force.

use crate::bench::{Settings, traces::recorded};
use crate::failure::Failure;
use crate::files::mmap;
use std::path::{Path, PathBuf};
use trace::dir::Dir;
use trace::plan::Use;

/// In percent; and what is to be said of it.
pub fn actual(
    settings: &Settings,
    frame: u64,
    swizzles: &[PathBuf],
    to: &Path,
) -> Result<(Option<f64>, Vec<String>), Failure> {
    let swizzle = Use::new("swizzle", swizzles.iter().map(|f| f.display().to_string()));
    let passes: Vec<Use> =
        (!swizzles.is_empty()).then_some(swizzle).into_iter().chain([Use::new("simt", [""; 0])]).collect();
    let file = &settings.captures[0];
    let mut notes = recorded(settings, file, &passes, (frame, frame), to, "that count actual efficiency")?;
    let dir = Dir::open_with(to, mmap::open_plain).map_err(Failure::new)?;
    let missing = |n: &&String| n.contains("without pass simt");
    notes.extend(
        dir.manifest().notes.iter().filter(missing).map(|n| format!("Not in actual efficiency: {n}.")),
    );
    Ok((analyses::times::bench::actual(&dir, frame).map_err(Failure::new)?, notes))
}
