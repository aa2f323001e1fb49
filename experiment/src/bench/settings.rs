//! What is measured, and how; and what a plan is for one capture, once it is prepared.

use crate::how::How;
use profile::pictures::Tolerance;
use std::path::{Path, PathBuf};
use std::time::Duration;
use trace::plan::{Passes, Plan};

/// What is measured, and how.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Captures, at least one.
    pub captures: Vec<PathBuf>,
    /// The frame that is looped; without one captures are replayed whole.
    pub frame: Option<u64>,
    /// Plans, at least one.
    pub plans: Vec<Plan>,
    /// Processes of each plan, with a budget at most.
    pub processes: Option<u32>,
    /// Timed turns of each process.
    pub iterations: Option<u32>,
    /// Turns at most before times have settled.
    pub warmup: Option<u32>,
    /// Turns with finer timestamps.
    pub detailed: u32,
    /// Milliseconds for which the device is kept busy before each turn.
    pub busy: Option<u64>,
    /// When to stop.
    pub budget: Option<Duration>,
    /// With a budget: how well what it is for has to be known.
    pub tight: f64,
    /// Where random numbers begin.
    pub seed: u64,
    /// Subgroup operations are taken for granted.
    pub assume_subgroups: bool,
    /// By how much pictures may differ that have to be the same.
    pub image_tolerance: Tolerance,
    /// A trace of the frame's rays, instead of recording them.
    pub rays: Option<PathBuf>,
    /// How many plans besides the first have processes alive at once; none: all. Each such group has a process of the first plan.
    pub together: Option<usize>,
    /// Plans are experiments: one that cannot be run is refused by name, and the others are timed; each may show what it likes.
    pub experiments: bool,
    /// How to replay.
    pub run: How,
}

impl Settings {
    /// Of one looped frame, with nothing that is not wanted by everybody.
    pub fn of_frame(capture: &Path, frame: u64, plans: Vec<Plan>, run: &How) -> Settings {
        Settings {
            captures: vec![capture.to_owned()],
            frame: Some(frame),
            plans,
            processes: None,
            iterations: None,
            warmup: None,
            detailed: 0,
            busy: None,
            budget: None,
            tight: 0.0,
            seed: 0,
            assume_subgroups: false,
            image_tolerance: Tolerance::default(),
            rays: None,
            together: None,
            experiments: false,
            run: run.clone(),
        }
    }
}

/// A plan for one capture.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    /// Its passes, with what they read.
    pub passes: Passes,
    /// The swizzles that its method made, by launch.
    pub swizzles: Vec<PathBuf>,
    /// What these would make of SIMT efficiency, in percent.
    pub synthetic: Option<f64>,
}
