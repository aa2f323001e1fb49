//! The same frame again and again: [`Loop`] in the options, [`Looped`] in the summary.
//!
//! The frames before it are replayed once. Then its calls are kept, a snapshot is taken on the device, and they run as
//! often as asked; before each iteration but the first everything that the frame changes is put back: contents, layouts,
//! semaphores, fences, events, queries, descriptors, recordings, mappings. Restoring is outside of the timed span; a timed
//! iteration begins on an idle device.
//!
//! Guarantees: every iteration makes the same calls but the first, which also creates what the frame creates (see
//! `policy.rs`) and is never timed. What cannot be put back is counted by name. After each iteration the images that it
//! presented (or, if it presents none, everything that it changed) are hashed and compared with the first one's.
//! Refuses: frames that the capture does not have, the snapshot of a trimmed capture, and frames that wait for a later one.

mod contents;
mod iterate;
mod plan;
mod policy;
mod preinitialized;
mod state;
mod summary;

pub use crate::options::Loop;
pub use contents::{Held, Tracker, Tracking, export, layout};
pub use iterate::Looping;
pub use summary::{Compared, Iteration, Looped};
