//! What gfxrecon-replay's own flags ask of a replay: screenshots beside it, and frames a second of a range.
//!
//! Guarantees: screenshots are whole or not at all, and named as there (PREFIX_frame_N.png); the measurement file has the
//! names that theirs has, and is written only if a frame of the range ran. Refuses frames that the capture has not.

use super::frames;
use super::screenshot::{encode, watched};
use crate::cli::UpstreamArgs;
use crate::exit::{Exit, Failure, complain, note};
use crate::output;
use crate::select::Ranges;
use gfxr_parse::container::Capture;
use profile::hooks::measurement::{Measurement, MeasurementHook};
use profile::hooks::screenshot::{ScreenshotHook, Seen, Shot, Wish};
use replay::error::{Error, Kind};
use replay::hook::Hook;
use replay::options::Options;
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Where the measurement goes, if nothing else is said.
const FILE: &str = "gfxrecon-measurements.json";

/// What was asked for, and what came of it.
pub struct Upstream<'a> {
    args: &'a UpstreamArgs,
    wish: Option<Wish>,
    seen: Option<Rc<RefCell<Seen>>>,
    shots: Rc<Cell<u64>>,
    measured: Option<Rc<RefCell<Measurement>>>,
}

impl<'a> Upstream<'a> {
    /// Looks at the flags; may say that nothing after the measured range is replayed.
    pub fn new(args: &'a UpstreamArgs, capture: &Capture, options: &mut Options) -> Result<Self, Failure> {
        if let (Some((first, end)), true) = (args.measurement_frame_range, args.quit_after_measurement_range)
        {
            options.frames = Some((first, end - 1));
        }
        let wanted: Option<Ranges> = match (&args.screenshots, args.screenshot_all) {
            (_, true) => "0-".parse().ok(),
            (some, false) => some.clone(),
        };
        let wish = wanted.map(|f| wish(&f, args.screenshot_all, capture, options)).transpose()?;
        if wish.is_some() {
            let folder = &args.screenshot_dir;
            fs::create_dir_all(folder)
                .map_err(|e| Failure::new(format_args!("{}: {e}{}", folder.display(), output::advice(&e))))?;
        }
        Ok(Upstream { args, wish, seen: None, shots: Rc::default(), measured: None })
    }

    /// The hooks of one replay, outside of `hooks`.
    pub fn before(&mut self, hooks: &mut Vec<Box<dyn Hook>>) {
        if let Some(wish) = &self.wish {
            let (folder, prefix, count) =
                (self.args.screenshot_dir.clone(), self.args.screenshot_prefix.clone(), self.shots.clone());
            let take = move |shot: Shot| {
                write(&folder, &prefix, &shot).map_err(|e| Error::new(Kind::Internal, e))?;
                count.set(count.get() + 1);
                Ok(())
            };
            let (hook, seen) = ScreenshotHook::new(wish.clone(), Box::new(take));
            self.seen = Some(seen);
            hooks.insert(0, Box::new(hook));
        }
        if let Some(range) = self.args.measurement_frame_range {
            let (hook, out) = MeasurementHook::new(range);
            self.measured = Some(out);
            hooks.push(Box::new(hook));
        }
    }

    /// Writes the measurement, says what was written and what could not be, and how that ends.
    pub fn finish(&self) -> Result<Exit, Failure> {
        let mut exit = Exit::Done;
        if let Some(seen) = &self.seen {
            seen.borrow().problems.iter().for_each(complain);
            note(format_args!(
                "{} screenshots written to {}",
                self.shots.get(),
                self.args.screenshot_dir.display()
            ));
            if !seen.borrow().problems.is_empty() {
                exit = Exit::Failed;
            }
        }
        if let (Some(out), Some((first, end))) = (&self.measured, self.args.measurement_frame_range) {
            let m = *out.borrow();
            let file = self.args.measurement_file.clone().unwrap_or_else(|| PathBuf::from(FILE));
            let json = measurement(&m).ok_or_else(|| {
                Failure::new(format_args!("no frame from {first} to before {end} ran: nothing was measured"))
            })?;
            output::write_file(&file, format!("{json:#}\n").as_bytes())?;
            if let Some((frames, seconds, fps)) = m.speed() {
                note(format_args!(
                    "{fps:.3} fps: {frames} frames from {} in {seconds:.6} s; written to {}",
                    m.start_frame,
                    file.display()
                ));
            }
        }
        Ok(exit)
    }
}

/// As `screenshot` would, of these frames.
fn wish(wanted: &Ranges, all: bool, capture: &Capture, options: &Options) -> Result<Wish, Failure> {
    if !all
        && let Some(there) = frames::there(capture, &options.frame_by)
        && let Some(n) = frames::missing(wanted, there)
    {
        return Err(frames::no_such_frame(n, there));
    }
    Ok(Wish {
        what: watched(capture),
        frames: Some(wanted.all().to_vec()),
        shape: None,
        watchdog_ns: options.watchdog_ns(),
    })
}

fn write(folder: &Path, prefix: &str, shot: &Shot) -> Result<(), String> {
    let swapchain = shot.swapchain.map_or(String::new(), |id| format!("_swapchain_{id}"));
    let path = folder.join(format!("{prefix}_frame_{}{swapchain}.png", shot.frame));
    let png = encode(shot, false).map_err(|e| format!("{}: {e}", path.display()))?;
    output::write_file(&path, &png).map_err(|e| e.to_string())
}

/// The file that gfxrecon-replay writes: seconds on the monotonic clock, nanoseconds on the others.
fn measurement(m: &Measurement) -> Option<serde_json::Value> {
    let ((frames, seconds, fps), began, ended) = (m.speed()?, m.began?, m.ended?);
    Some(json!({ "frame_range": {
        "start_frame": m.start_frame,
        "end_frame": m.end_frame,
        "frame_count": frames,
        "start_time_boot": began.boot,
        "start_time_process": began.process,
        "start_time_monotonic": began.monotonic as f64 / 1e9,
        "end_time_boot": ended.boot,
        "end_time_process": ended.process,
        "end_time_monotonic": ended.monotonic as f64 / 1e9,
        "duration": seconds,
        "fps": fps,
        "frame_durations": [],
    }}))
}
