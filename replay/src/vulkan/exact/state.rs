//! What is known of exact addresses and handles: what the driver is told next, and what came of it.

use super::features::Features;
use std::collections::HashMap;

/// See the module's header.
#[derive(Default)]
pub struct Exact {
    /// What is turned on, by captured id of the device.
    pub(super) devices: HashMap<u64, Features>,
    /// Opaque addresses of objects that are made next, by captured id.
    pub(super) addresses: HashMap<u64, u64>,
    /// Replay handles of shader groups of pipelines that are made next.
    pub(super) groups: HashMap<u64, Vec<u8>>,
    /// What came of it.
    pub counts: Counts,
}

/// What came of exact addresses and handles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Addresses of buffers and acceleration structures: as captured, and not.
    pub addresses: [u64; 2],
    /// Shader-group handles likewise.
    pub handles: [u64; 2],
    /// Objects that the driver would not make at their address or with their handles.
    pub refused: u64,
}
