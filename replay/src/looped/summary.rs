//! What a loop leaves behind: how its iterations went, and whether they came to the same.

use std::collections::BTreeMap;

/// What was compared after each iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// The images that the frame presents.
    Presented,
    /// Everything that the frame changes.
    Changed,
}

/// How one iteration went, beside what hooks measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Iteration {
    /// From its first call until the devices were idle.
    pub wall_ns: u64,
    /// What restoring before it took; nothing before the first.
    pub restore_ns: u64,
    /// Buffers, images and acceleration structures that were restored.
    pub resources: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Fences, events, semaphores, queries, descriptors, mappings and recordings that were put back.
    pub objects: u64,
}

/// What a loop leaves behind.
#[derive(Clone, Debug)]
pub struct Looped {
    /// The frame.
    pub frame: u64,
    /// How many untimed iterations there were.
    pub warmup: u32,
    /// The timed ones.
    pub iterations: Vec<Iteration>,
    /// Calls of each iteration, of the first alone, and never made.
    pub calls: [u64; 3],
    /// See [`Compared`].
    pub compared: Compared,
    /// The first iteration's: of each presented image, or of everything that the frame changes.
    pub hashes: Vec<[u8; 32]>,
    /// Timed iterations that differ from the first one.
    pub drifted: u32,
    /// The first of them, from 1.
    pub first_drift: Option<u32>,
    /// Everything that the frame changes was the same after the last iteration as after the first.
    pub changed_same: bool,
    /// What the snapshot took: time and bytes.
    pub snapshot_ns: u64,
    /// See `snapshot_ns`.
    pub snapshot_bytes: u64,
    /// Buffers of the replay's own that it had to make within timed iterations.
    pub made: u64,
    /// What could not be put back, and how often.
    pub not_restored: BTreeMap<String, u64>,
    /// Why the frame ran once, or no more often than it did, where that is no error ([`crate::looped::Loop::or_once`]).
    pub refused: Option<String>,
}

impl Looped {
    /// Of a frame that has not run yet.
    pub fn new(frame: u64, warmup: u32, compared: Compared) -> Self {
        Looped {
            frame,
            warmup,
            iterations: Vec::new(),
            calls: [0; 3],
            compared,
            hashes: Vec::new(),
            drifted: 0,
            first_drift: None,
            changed_same: true,
            made: 0,
            snapshot_ns: 0,
            snapshot_bytes: 0,
            not_restored: BTreeMap::new(),
            refused: None,
        }
    }
}
