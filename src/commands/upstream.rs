//! What gfxrecon-replay's own flags ask of a replay: screenshots beside it, and frames a second of a range.
//!
//! Guarantees: screenshots are whole or not at all, and named and numbered as there (PREFIX_frame_N.bmp, from 1); the
//! measurement file has the names that theirs has, and is written only if a frame of the range ran. Refuses frames that
//! the capture has not.

use crate::cli::{ShotFormat, UpstreamArgs};
use crate::exit::{Exit, Failure, complain, note};
use crate::output;
use crate::select::Ranges;
use experiment::frames;
use experiment::shots::encode;
use gfxr_parse::container::Capture;
use profile::hooks::measurement::{Measurement, MeasurementHook};
use profile::hooks::screenshot::{ScreenshotHook, Seen, Shot, Wish};
use replay::error::{Error, Kind};
use replay::hook::Hook;
use replay::options::Options;
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Where the measurement goes, if nothing else is said.
const FILE: &str = "gfxrecon-measurements.json";

/// What was asked for, and what came of it.
pub struct Upstream<'a> {
    args: &'a UpstreamArgs,
    /// What is added to their number of a frame to make it the capture's.
    more: u64,
    wish: Option<Wish>,
    /// Frames that are measured, as the capture counts them: from the first to before the second.
    range: Option<(u64, u64)>,
    seen: Option<Rc<RefCell<Seen>>>,
    shots: Rc<Cell<u64>>,
    measured: Option<Rc<RefCell<Measurement>>>,
}

impl<'a> Upstream<'a> {
    /// Looks at the flags; may say that nothing after the measured range is replayed.
    pub fn new(args: &'a UpstreamArgs, capture: &Capture, options: &mut Options) -> Result<Self, Failure> {
        let asked =
            args.screenshots.is_some() || args.screenshot_all || args.measurement_frame_range.is_some();
        let there = if asked { frames::there(capture, &options.frame_by) } else { None };
        let more = there.map_or(0, |(first, _)| first.saturating_sub(1));
        let range = args.measurement_frame_range.map(|(a, b)| (a + more, b + more));
        if let (Some((first, end)), true) = (range, args.quit_after_measurement_range) {
            options.frames = Some((first, end - 1));
        }
        let wanted = match (&args.screenshots, args.screenshot_all) {
            (_, true) => Some(vec![(0, u64::MAX)]),
            (Some(f), false) => Some(counted(f, more, there)?),
            (None, false) => None,
        };
        let wish = wanted.map(|frames| Wish {
            what: experiment::shots::watched(capture),
            frames: Some(frames),
            shape: None,
            watchdog_ns: options.watchdog_ns(),
        });
        if wish.is_some() {
            output::folder(&args.screenshot_dir)?;
        }
        Ok(Upstream { args, more, wish, range, seen: None, shots: Rc::default(), measured: None })
    }

    /// The hooks of one replay, outside of `hooks`.
    pub fn before(&mut self, hooks: &mut Vec<Box<dyn Hook>>) {
        if let Some(wish) = &self.wish {
            let (begin, count) =
                (self.args.screenshot_dir.join(&self.args.screenshot_prefix), self.shots.clone());
            let (format, more) = (self.args.screenshot_format, self.more);
            let take = move |shot: Shot| {
                write(&begin, format, more, &shot).map_err(|e| Error::new(Kind::Internal, e))?;
                count.set(count.get() + 1);
                Ok(())
            };
            let (hook, seen) = ScreenshotHook::new(wish.clone(), Box::new(take));
            self.seen = Some(seen);
            hooks.insert(0, Box::new(hook));
        }
        if let Some(range) = self.range {
            let (hook, out) = MeasurementHook::new(range, self.args.flush_measurement_range);
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
            let m = out.borrow();
            let file = self.args.measurement_file.clone().unwrap_or_else(|| PathBuf::from(FILE));
            let json = measurement(&m, self.more).ok_or_else(|| {
                Failure::new(format_args!("no frame from {first} to before {end} ran: nothing was measured"))
            })?;
            output::write_file(&file, format!("{json:#}\n").as_bytes())?;
            if let Some((frames, seconds, fps)) = m.speed() {
                note(format_args!(
                    "{fps:.3} fps: {frames} frames from {} in {seconds:.6} s; written to {}",
                    m.start_frame - self.more,
                    file.display()
                ));
            }
        }
        Ok(exit)
    }
}

/// The frames, as the capture counts them.
fn counted(wanted: &Ranges, more: u64, there: Option<(u64, u64)>) -> Result<Vec<(u64, u64)>, Failure> {
    if let Some((first, last)) = there {
        let theirs = (1, last - first + 1);
        frames::missing(wanted, theirs).map_or(Ok(()), |n| Err(frames::no_such_frame(n, theirs)))?;
    }
    Ok(wanted.all().iter().map(|&(a, b)| (a.saturating_add(more), b.saturating_add(more))).collect())
}

fn write(begin: &Path, format: ShotFormat, more: u64, shot: &Shot) -> Result<(), String> {
    let swapchain = shot.swapchain.map_or(String::new(), |id| format!("_swapchain_{id}"));
    let end = if format == ShotFormat::Png { "png" } else { "bmp" };
    let mut path = begin.as_os_str().to_owned();
    path.push(format!("_frame_{}{swapchain}.{end}", shot.frame - more));
    let path = PathBuf::from(path);
    let bytes = match format {
        ShotFormat::Png => encode(shot, false).map_err(|e| format!("{}: {e}", path.display()))?,
        ShotFormat::Bmp => bitmap(shot),
    };
    output::write_file(&path, &bytes).map_err(|e| e.to_string())
}

/// As a bitmap of 32 bits a pixel (blue, green, red, alpha), the last row first.
fn bitmap(shot: &Shot) -> Vec<u8> {
    const HEADERS: u32 = 14 + 40;
    let size = shot.rgba.len() as u32;
    let mut bytes = b"BM".to_vec();
    // (0: reserved, compression, resolution, palette)
    for word in [HEADERS + size, 0, HEADERS, 40, shot.width, shot.height, 1 | 32 << 16, 0, 0, 0, 0, 0, 0] {
        bytes.extend(u32::to_le_bytes(word));
    }
    for row in shot.rgba.chunks_exact((shot.width as usize * 4).max(4)).rev() {
        bytes.extend(row.chunks_exact(4).flat_map(|t| [t[2], t[1], t[0], t[3]]));
    }
    bytes
}

/// The file that gfxrecon-replay writes: seconds on the monotonic clock, nanoseconds on the others and of each frame.
fn measurement(m: &Measurement, more: u64) -> Option<serde_json::Value> {
    let ((frames, seconds, fps), began, ended) = (m.speed()?, m.began?, m.ended?);
    Some(json!({ "frame_range": {
        "start_frame": m.start_frame - more,
        "end_frame": m.end_frame - more,
        "frame_count": frames,
        "start_time_boot": began.boot,
        "start_time_process": began.process,
        "start_time_monotonic": began.monotonic as f64 / 1e9,
        "end_time_boot": ended.boot,
        "end_time_process": ended.process,
        "end_time_monotonic": ended.monotonic as f64 / 1e9,
        "duration": seconds,
        "fps": fps,
        "frame_durations": m.frames,
    }}))
}
