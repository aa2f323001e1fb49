//! The second half of `verify`: a replay on Echo, the backend that answers with what the capture recorded.
//!
//! It runs the whole chain without a GPU: every handle a call names must be one the capture made before, every array
//! as long as its count says. Guarantees: divergences are counted, not just the first. Refuses nothing.

use gfxr_parse::container::Capture;
use replay::options::Options;
use replay::session::{On, replay};
use serde::Serialize;

/// What came of it.
#[derive(Debug, Default, Serialize)]
pub struct Echo {
    /// Calls run.
    pub calls: u64,
    /// Frames that ended.
    pub frames: u64,
    /// Calls that do not fit what came before.
    pub divergences: u64,
    /// The first of them.
    pub first: Vec<String>,
    /// What ended it early.
    pub error: Option<String>,
}

impl Echo {
    /// Nothing was wrong.
    pub fn is_good(&self) -> bool {
        self.divergences == 0 && self.error.is_none()
    }
}

/// Runs it.
pub fn run(capture: &Capture) -> Echo {
    let options = Options { keep_going: true, ..Options::default() };
    match replay(capture, &options, On::Echo, Vec::new(), 0, &mut ()) {
        Ok(summary) => Echo {
            calls: summary.report.calls,
            frames: summary.frames,
            divergences: summary.report.divergences.count,
            first: summary.report.divergences.first,
            error: None,
        },
        Err(e) => Echo { error: Some(e.to_string()), ..Echo::default() },
    }
}
