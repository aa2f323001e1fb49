//! How long one frame took.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// How long one frame took, once. A frame that is replayed n times leaves n records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameTime {
    /// The frame's number in the capture, by the capture's own count.
    pub frame: u64,
    /// The GPU's time: the sum over the frame's submits of the time between a timestamp before its first command
    /// and one after its last. Submits that overlap on two queues count twice. `None` where the device or the
    /// queue has no timestamps, or the frame submitted nothing.
    pub gpu: Option<Nanos>,
    /// The replay's own time on the CPU's clock, from the frame's first call to the return of its last. It
    /// includes every wait of the replay for the GPU, and not the reading of the capture, which runs ahead.
    pub cpu: Nanos,
}

#[cfg(test)]
mod tests {
    use super::FrameTime;
    use crate::Nanos;

    #[test]
    fn as_json() {
        let record = FrameTime { frame: 7, gpu: None, cpu: Nanos(1_500) };
        let json = serde_json::to_string(&record).unwrap();
        assert_eq!(json, r#"{"frame":7,"gpu":null,"cpu":1500}"#);
        assert_eq!(serde_json::from_str::<FrameTime>(&json).unwrap(), record);
    }
}
