//! One iteration of a frame that is run again and again.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// One timed iteration of a looped frame, and what was put back before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Iteration {
    /// As [`FrameTime::gpu`](crate::FrameTime::gpu).
    pub gpu: Option<Nanos>,
    /// As [`FrameTime::cpu`](crate::FrameTime::cpu).
    pub cpu: Nanos,
    /// From the first call on an idle device until the device is idle again, on the CPU's clock.
    pub whole: Nanos,
    /// What putting everything back took before it, outside of the other times.
    pub restore: Nanos,
    /// Buffers, images and acceleration structures that were written anew.
    pub resources: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Other objects that were put back: fences, semaphores, descriptors and the like.
    pub objects: u64,
}
