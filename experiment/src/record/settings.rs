//! What a profile is asked for.

use crate::how::How;
use profile::Stage;
use profile::pictures::Tolerance;
use std::path::PathBuf;
use trace::plan::{Passes, Use};
use trace::select::{Glob, Ranges};

/// What is measured, of what, and where it goes.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The capture.
    pub file: PathBuf,
    /// The folder of the trace.
    pub output: PathBuf,
    /// What is measured.
    pub passes: Passes,
    /// Questions to answer, whose passes are added.
    pub ask: Vec<String>,
    /// Only these frames; nothing after the last is replayed.
    pub frames: Option<Ranges>,
    /// Only shaders of these stages.
    pub stages: Vec<Stage>,
    /// Only these pipelines and shader objects, by captured id or debug name.
    pub pipelines: Vec<Glob>,
    /// Only shaders whose hash begins so.
    pub shaders: Vec<String>,
    /// Only what runs in render passes with this captured id or debug name.
    pub render_passes: Vec<Glob>,
    /// Only what runs in render passes with these numbers, counted from 1 in each frame.
    pub render_pass_numbers: Option<Ranges>,
    /// Only what runs within debug labels of this name.
    pub labels: Vec<Glob>,
    /// Who counts for pass counters.
    pub counters: Counted,
    /// Only work with these ids, from the first to before the second.
    pub window: Option<(u32, u32)>,
    /// Bytes of the log that probes append to.
    pub log_bytes: u64,
    /// Most bytes of it when frames that it did not hold run again.
    pub max_log_bytes: Option<u64>,
    /// Acceleration structures are read back.
    pub geometry: bool,
    /// Pictures are not compared.
    pub no_verify_image: bool,
    /// By how much pictures may differ.
    pub image_tolerance: Tolerance,
    /// Subgroup operations are taken for granted.
    pub assume_subgroups: bool,
    /// One subgroup in so many counts.
    pub sample: u32,
    /// Which work is in the sample.
    pub sample_seed: u32,
    /// Over how many replays places that count are spread.
    pub replays: Option<u32>,
    /// The driver's compiler is asked not to inline what probes call.
    pub keep_calls: bool,
    /// Counting is with 32-bit atomics even where the device has wider ones.
    pub narrow: bool,
    /// Rewritten shaders are not kept, and none that were are used.
    pub no_cache: bool,
    /// Where every shader is written before and after.
    pub dump_shaders: Option<PathBuf>,
    /// Changes to calls, in every replay.
    pub changes: Vec<Use>,
    /// How to replay.
    pub run: How,
}

/// Bytes of the log where nobody says how many.
pub const LOG_BYTES: u64 = 64 << 20;

impl Settings {
    /// Everything, by these passes, with nothing that is not wanted by everybody.
    pub fn of(file: PathBuf, passes: Passes, output: PathBuf, run: How) -> Settings {
        Settings {
            file,
            output,
            passes,
            ask: vec![],
            frames: None,
            stages: vec![],
            pipelines: vec![],
            shaders: vec![],
            render_passes: vec![],
            render_pass_numbers: None,
            labels: vec![],
            counters: Counted::Auto,
            window: None,
            log_bytes: LOG_BYTES,
            max_log_bytes: None,
            geometry: false,
            no_verify_image: false,
            image_tolerance: Tolerance::default(),
            assume_subgroups: false,
            sample: 1,
            sample_seed: 0,
            replays: None,
            keep_calls: false,
            narrow: false,
            no_cache: false,
            dump_shaders: None,
            changes: vec![],
            run,
        }
    }
}

/// Who counts for pass `counters`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// The driver where it can.
    Auto,
    /// Shaders of our own.
    Portable,
    /// The driver.
    Arm,
}
