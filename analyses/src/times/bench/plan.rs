//! Plans: what ran, how long, and how its times lie.
//!
//! Guarantees: turns are in the order in which they ran; a turn without a time stays a turn.

use crate::report::Cost;
use crate::report::summary::{Summary, summary};
use crate::stats::Sample;
use trace::Nanos;

/// Calls of one turn, and their time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Those that manage, bind or push descriptors.
    pub descriptors: (u64, Nanos),
    /// The others that record commands, manage command buffers, or submit.
    pub recording: (u64, Nanos),
}

impl Calls {
    /// By kind.
    pub fn kinds(&self) -> [(&'static str, (u64, Nanos)); 2] {
        [("descriptors", self.descriptors), ("recording", self.recording)]
    }

    /// Both together.
    pub fn and(self, other: Calls) -> Calls {
        let sum = |a: (u64, Nanos), b: (u64, Nanos)| (a.0 + b.0, Nanos(a.1.0 + b.1.0));
        Calls {
            descriptors: sum(self.descriptors, other.descriptors),
            recording: sum(self.recording, other.recording),
        }
    }
}

/// What ran, and how long.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// By turn.
    pub times: Vec<Option<Nanos>>,
    /// Synthetic SIMT efficiency, in percent.
    pub synthetic: Option<f64>,
    /// Actual SIMT efficiency, in percent.
    pub actual: Option<f64>,
}

impl Plan {
    /// Its times.
    pub fn sample(&self) -> Sample {
        Sample::new(self.times.iter().flatten().map(|n| n.0).collect())
    }

    /// The same, described; none of nothing.
    pub fn summary(&self) -> Option<Summary> {
        summary(self.times.iter().flatten().map(|n| n.0 as f64))
    }
}

/// What is known beside the times.
#[derive(Clone, Debug)]
pub struct About {
    /// The frame's number.
    pub frame: u64,
    /// Sentences on what was done.
    pub notes: Vec<String>,
    /// What measuring cost.
    pub cost: Cost,
}
