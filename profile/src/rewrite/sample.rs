//! How much of the work counts: what is asked for, and what an entry point does then (`sampling.rs` has it done).
//!
//! Guarantees: what was not asked to be a sample counts everything where that is cheap. Refuses nothing.

use serde::{Deserialize, Serialize};

/// How many groups a sample is in.
pub const GROUPS: u32 = 16;

/// An entry point that nothing was said of counts a sample if it has more places to count at than this, one in
/// [`USUAL`]: what the measurements in `held.rs` found too dear to count everywhere.
pub const MOST_PLACES: usize = 32;

/// One in so many, where nothing else was asked for.
pub const USUAL: u32 = 16;

/// What is to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sampling {
    /// One in so many; 1: all; none: all, but in shaders with more than [`MOST_PLACES`] places one in [`USUAL`].
    pub every: Option<u32>,
    /// What the choice is seeded with.
    pub seed: u32,
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling { every: Some(1), seed: 0 }
    }
}

impl Sampling {
    /// One in how many an entry point with so many places counts.
    pub fn of(self, places: usize) -> u32 {
        self.every.unwrap_or(if places > MOST_PLACES { USUAL } else { 1 })
    }
}

/// The sample that an entry point counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// One unit in so many.
    pub every: u32,
    /// How many groups these are in.
    pub groups: u32,
}
