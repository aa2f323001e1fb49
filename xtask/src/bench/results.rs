//! What was found out: the runs of each comparison, the instructions, and what was skipped.

use super::instructions::Counted;
use super::peers::Comparison;
use super::sample::Sample;

/// One comparison's runs: by side, in the order they were made.
pub struct Measured {
    pub comparison: Comparison,
    pub samples: Vec<Vec<Sample>>,
}

/// Everything that a run of this command found out.
pub struct Results {
    pub measured: Vec<Measured>,
    pub instructions: Option<Counted>,
    pub skipped: Vec<(String, String)>,
}
