//! What `suite run` takes beside a unit's times: pictures of its frame under each plan, and a trace of what it counts.
//!
//! Each is a process of its own, called in the suite file's folder as the unit's is. A picture is taken twice; where both differ it is
//! taken once more, kept, and noted as unsteady.
//!
//! Guarantees: what is noted is there, as `units/UNIT/pictures/PLAN/frame_K.png` and the trace `units/UNIT/counts`; a process that
//! fails is said with what it said last, and leaves nothing. Refuses nothing.

use super::units::{Beside, Unit};
use crate::bench::plain;
use crate::failure::Failure;
use crate::files::output;
use crate::itself;
use crate::say::complain;
use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};
use trace::suite::{ShotNote, UnitNote};

/// Pictures are taken at most so often.
const TAKES: usize = 3;

/// Takes it; `folder` is the suite file's, `to` what `suite.json` lies in.
pub fn take(unit: &Unit, note: &mut UnitNote, folder: &Path, to: &Path) -> Result<(), Failure> {
    for of in &unit.pictures {
        note.pictures.extend(pictures(of, note, folder, to)?);
    }
    if let Some(of) = &unit.counts {
        let trace = to.join(note.counts());
        let out = call(of, &trace, folder)?;
        note.counted = out.status.success();
        if !note.counted {
            failed(&note.name, "counts", &out);
            remove(&trace)?;
        }
    }
    Ok(())
}

/// Pictures of a plan.
fn pictures(of: &Beside, unit: &UnitNote, folder: &Path, to: &Path) -> Result<Vec<ShotNote>, Failure> {
    let kept = unit.shots().join(plain(&of.plan));
    let again = unit.shots().join(".again");
    let mut takes: Vec<Vec<(String, String)>> = vec![];
    while takes.len() < 2 || takes.len() < TAKES && takes.iter().any(|t| *t != takes[0]) {
        let into = to.join(if takes.is_empty() { &kept } else { &again });
        output::folder(&into)?;
        let out = call(of, &into, folder)?;
        let shown = shown(&String::from_utf8_lossy(&out.stdout));
        if shown.is_empty() {
            failed(&unit.name, &format!("pictures of plan {}", of.plan), &out);
            remove(&to.join(&kept))?;
            remove(&to.join(&again))?;
            return Ok(vec![]);
        }
        takes.push(shown);
    }
    remove(&to.join(&again))?;
    let notes = takes[0].iter().map(|(blake3, file)| {
        let steady = takes.iter().all(|t| t.iter().any(|s| s.0 == *blake3 && s.1 == *file));
        if !steady {
            complain(format_args!(
                "{}, plan {}: {file} is unsteady: replays show different pictures",
                unit.name, of.plan
            ));
        }
        let (frame, swapchain) = numbers(file);
        ShotNote {
            plan: of.plan.clone(),
            frame,
            swapchain,
            file: kept.join(file).to_string_lossy().into_owned(),
            blake3: blake3.clone(),
            steady,
        }
    });
    Ok(notes.collect())
}

/// What `screenshot --hash` says: hashes, and files' names without their folder.
fn shown(stdout: &str) -> Vec<(String, String)> {
    let line = |line: &str| {
        let (hash, path) = line.split_once("  ")?;
        Some((hash.to_owned(), Path::new(path).file_name()?.to_string_lossy().into_owned()))
    };
    let mut all: Vec<(String, String)> = stdout.lines().filter_map(line).collect();
    all.sort_by(|a, b| a.1.cmp(&b.1));
    all
}

/// `frame_7.png`, `frame_7_swapchain_3.png`.
fn numbers(file: &str) -> (u64, Option<u64>) {
    let stem = file.trim_end_matches(".png").trim_start_matches("frame_");
    match stem.split_once("_swapchain_") {
        Some((frame, swapchain)) => (frame.parse().unwrap_or(0), swapchain.parse().ok()),
        None => (stem.parse().unwrap_or(0), None),
    }
}

fn call(of: &Beside, into: &Path, folder: &Path) -> Result<Output, Failure> {
    let into = std::path::absolute(into).map_err(Failure::new)?;
    itself::program()?
        .args(&of.words)
        .arg("-o")
        .arg(into)
        .envs(of.env.iter().cloned())
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(Failure::new)
}

fn failed(unit: &str, what: &str, out: &Output) {
    let last = itself::last_line(&out.stderr);
    complain(format_args!("{unit}: no {what}: {}", last.as_deref().unwrap_or("it said nothing")));
}

fn remove(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::new(format_args!("{}: {e}", folder.display())))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_screenshot_says() {
        let said = shown("ab  x/y/frame_12.png\ncd  x/y/frame_12_swapchain_3.png\n");
        assert_eq!(said[0], ("ab".into(), "frame_12.png".into()));
        assert_eq!((numbers(&said[0].1), numbers(&said[1].1)), ((12, None), (12, Some(3))));
    }
}
