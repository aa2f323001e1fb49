//! Whether frames show with changed shaders, or with descriptors elsewhere, what they show as captured; of a capture that
//! presents nothing: whether they leave the same in memory.
//!
//! Whoever replays hands over what both replays took (each picture as a hash, so that frames may be many), and a way to replay
//! again: what is another one is looked at again, content by content, and measured against a [`Tolerance`]. There is one
//! comparison, [`Difference`], for all who change a replay.
//!
//! Guarantees: what two replays as captured do not have alike is left out, and counted; everything else that differs is a
//! [`Difference`], with its place and its size. No more than [`MOST_BYTES`] of contents are held at a time (but for a single
//! content that is larger).

mod apart;
mod asked;
mod difference;
mod judge;
mod verdict;

pub use asked::{Asked, At, Compare, MOST_BYTES, Pictures};
pub use difference::{Difference, First};
pub use judge::{Judge, Side};
pub use trace::tolerance::{Tolerance, USUAL_ULPS};
pub use verdict::{Differs, Verdict};
