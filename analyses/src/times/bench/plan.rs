//! Plans: what ran, how long, and how its times lie.
//!
//! Guarantees: turns are in the order in which they ran; a turn without a time stays a turn.

use crate::report::Cost;
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

/// Quartiles, and who is an outlier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// p25, median, p75.
    pub at: [f64; 3],
    /// The least and the greatest time that is no outlier.
    pub whiskers: [f64; 2],
}

impl Quartiles {
    /// Of a sample; none of nothing.
    pub fn of(sample: &Sample) -> Option<Quartiles> {
        let [a, b, c] = [25.0, 50.0, 75.0].map(|p| sample.percentile(p));
        let at = [a?, b?, c?];
        let reach = 1.5 * (at[2] - at[0]);
        let inside = |v: &&u64| (at[0] - reach..=at[2] + reach).contains(&(**v as f64));
        let first = sample.values().iter().find(inside)?;
        let last = sample.values().iter().rfind(inside)?;
        Some(Quartiles { at, whiskers: [*first as f64, *last as f64] })
    }

    /// The outliers.
    pub fn outliers<'s>(&self, sample: &'s Sample) -> impl Iterator<Item = f64> + 's {
        let [low, high] = self.whiskers;
        sample.values().iter().map(|v| *v as f64).filter(move |v| *v < low || *v > high)
    }
}
