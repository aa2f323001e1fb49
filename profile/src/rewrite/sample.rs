//! How much of the work counts: what is asked for, and what an entry point does then (`sampling.rs` has it done).
//!
//! Guarantees: what was not asked to be a sample counts everything. Refuses nothing.

use serde::{Deserialize, Serialize};

/// How many groups a sample is in.
pub const GROUPS: u32 = 16;

/// What is to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sampling {
    /// One unit of work in so many; 1: all.
    pub every: u32,
    /// What the choice is seeded with.
    pub seed: u32,
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling { every: 1, seed: 0 }
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
