//! What the replay did on the CPU, and how the device's clock and the CPU's belong together.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// A call of the replay into the driver, or a frame of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuSpan {
    /// The frame, by the capture's own count.
    pub frame: u64,
    /// Which repetition of that frame, from 0.
    pub repeat: u32,
    /// The command's name; `frame` for a frame.
    pub name: String,
    /// For a submission, its number as in [`crate::CommandTime`].
    pub submit: Option<u64>,
    /// When it began, on the CPU's clock from the run's begin on.
    pub begin: Nanos,
    /// When it had ended, on the same clock.
    pub end: Nanos,
}

/// One moment on two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibration {
    /// The device, by the capture's id.
    pub device: u64,
    /// The moment on the device's clock, as in [`crate::CommandTime`].
    pub gpu: Nanos,
    /// The same moment on the CPU's, as in [`CpuSpan`].
    pub cpu: Nanos,
    /// How far apart the two readings may have been.
    pub deviation: Nanos,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_json() {
        let span = CpuSpan {
            frame: 2,
            repeat: 0,
            name: "vkQueueSubmit".into(),
            submit: Some(4),
            begin: Nanos(10),
            end: Nanos(30),
        };
        let json = serde_json::to_string(&span).unwrap();
        assert_eq!(json, r#"{"frame":2,"repeat":0,"name":"vkQueueSubmit","submit":4,"begin":10,"end":30}"#);
        assert_eq!(serde_json::from_str::<CpuSpan>(&json).unwrap(), span);
        let c = Calibration { device: 3, gpu: Nanos(5), cpu: Nanos(6), deviation: Nanos(1) };
        let json = serde_json::to_string(&c).unwrap();
        assert_eq!(serde_json::from_str::<Calibration>(&json).unwrap(), c);
    }
}
