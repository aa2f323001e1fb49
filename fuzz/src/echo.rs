//! Target "echo": a whole session, from blocks to summary, in which the capture answers its own calls.
//!
//! Tracking, descriptors, memory and frames run as in a replay; there is no driver. What must hold: it ends, in a
//! summary or in an error. The session's own threads are watched as well, so memory is counted over all threads.

use gfxr_parse::container::Capture;
use replay::options::Options;
use replay::session::{On, replay};

use crate::targets::Ran;

/// Runs a file; `index` chooses the options.
pub fn run(file: &[u8], index: u64) -> Ran {
    let mut ran = Ran { largest: file.len() as u64, ..Ran::default() };
    let Ok(capture) = Capture::new(file.to_vec()) else {
        ran.refused = 1;
        return ran;
    };
    for block in capture.blocks() {
        let size = block.kind().ok().and_then(|mut k| k.payload_mut().map(|p| p.size()));
        // What a block declares is allocated only where it is true or small: see `Scratch`.
        ran.largest = ran.largest.max(size.unwrap_or(0).min(1 << 26));
    }
    let options = Options { keep_going: !index.is_multiple_of(4), ..Options::default() };
    match replay(&capture, &options, On::Echo, vec![], 1, &mut ()) {
        Ok(summary) => {
            ran.read = summary.report.calls;
            ran.round_trips = summary.frames;
        }
        Err(e) => {
            ran.refused = 1;
            assert!(!e.to_string().is_empty());
        }
    }
    ran
}
