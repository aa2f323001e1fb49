//! How captures are replayed: what every experiment is told of it, and the same as the arguments of a worker process, which is this
//! program again.
//!
//! Guarantees: a worker that is started with [`How::arguments`] replays as it was said here. Refuses nothing: words are read, and
//! refused, where the replay's options are made (`crate::replaying`).

use crate::files::memory::Memory;
use replay::options::Bridge;
use std::time::Duration;

/// Environment variables that name a driver's manifest: loaders before 1.3.207 know the second alone, later ones prefer the first.
pub const DRIVER: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

/// How to replay.
#[derive(Clone, Debug)]
pub struct How {
    /// The device: its number, or part of its name.
    pub gpu: Option<String>,
    /// Captured memory: none, remap, rebind, auto.
    pub memory: String,
    /// Device addresses and shader-group handles: exact, translate, known, auto.
    pub addresses: String,
    /// What ends a frame: present, boundary, submit, cycle, label:NAME, file, auto.
    pub frame_by: String,
    /// Go on when the replay diverges from the capture.
    pub keep_going: bool,
    /// Make calls whose values break Vulkan's rules.
    pub trust_capture: bool,
    /// Drop features and extensions that the device lacks.
    pub remove_unsupported: bool,
    /// Fill new memory with zeros.
    pub zero_memory: bool,
    /// Run under the Khronos validation layer.
    pub validate: bool,
    /// For how long the GPU is waited for.
    pub watchdog: Duration,
    /// Say what the capture asks of the device.
    pub negotiation: bool,
    /// Mark each command on the GPU.
    pub breadcrumbs: bool,
    /// How much memory reading may take.
    pub reading: Memory,
    /// Differences between devices that are refused.
    pub no_bridge: Vec<Bridge>,
    /// For tests: ways that another driver would make necessary.
    pub rehearse: Vec<Way>,
}

/// Ways that another driver would make necessary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Acceleration structures take more bytes than the driver says
    Growth,
    /// Builds are done as indirect ones on a device that has none
    Indirect,
    /// The device lacks ray queries and atomic floats' minima
    Bare,
    /// Uniform, storage and texel buffers have to be aligned to 1024 bytes
    Alignment,
    /// The device has no compressed formats
    Compression,
    /// The device has none of the other formats that something can stand in for, but depth as floats
    Formats,
    /// Descriptor buffers have to be twice as large
    Descriptors,
}

impl Default for How {
    fn default() -> How {
        let auto = || "auto".to_owned();
        How {
            gpu: None,
            memory: auto(),
            addresses: auto(),
            frame_by: auto(),
            keep_going: false,
            trust_capture: false,
            remove_unsupported: false,
            zero_memory: false,
            validate: false,
            watchdog: Duration::from_secs(120),
            negotiation: false,
            breadcrumbs: false,
            reading: Memory::default(),
            no_bridge: vec![],
            rehearse: vec![],
        }
    }
}

impl Way {
    /// All of them.
    pub const ALL: [Way; 7] = [
        Way::Growth,
        Way::Indirect,
        Way::Bare,
        Way::Alignment,
        Way::Compression,
        Way::Formats,
        Way::Descriptors,
    ];

    /// Its name, as a flag's value.
    pub fn name(self) -> &'static str {
        match self {
            Way::Growth => "growth",
            Way::Indirect => "indirect",
            Way::Bare => "bare",
            Way::Alignment => "alignment",
            Way::Compression => "compression",
            Way::Formats => "formats",
            Way::Descriptors => "descriptors",
        }
    }

    /// What it is.
    pub fn about(self) -> &'static str {
        match self {
            Way::Growth => "Acceleration structures take more bytes than the driver says",
            Way::Indirect => "Builds are done as indirect ones on a device that has none",
            Way::Bare => "The device lacks ray queries and atomic floats' minima",
            Way::Alignment => "Uniform, storage and texel buffers have to be aligned to 1024 bytes",
            Way::Compression => "The device has no compressed formats",
            Way::Formats => {
                "The device has none of the other formats that something can stand in for, but depth as floats"
            }
            Way::Descriptors => "Descriptor buffers have to be twice as large",
        }
    }
}

impl How {
    /// The flags that say all of this again; of another device, if one is named.
    pub fn arguments(&self, gpu: Option<&str>) -> Vec<String> {
        let mut all: Vec<String> = vec![];
        if let Some(gpu) = gpu.or(self.gpu.as_deref()) {
            all.push(format!("--gpu={gpu}"));
        }
        all.push(format!("--memory={}", self.memory));
        all.push(format!("--addresses={}", self.addresses));
        all.push(format!("--frame-by={}", self.frame_by));
        all.push(format!("--watchdog={}", self.watchdog.as_secs_f64()));
        if let Some(bytes) = self.reading.most {
            all.push(format!("--max-memory={bytes}"));
        }
        for (there, flag) in [
            (self.keep_going, "--keep-going"),
            (self.trust_capture, "--trust-capture"),
            (self.remove_unsupported, "--remove-unsupported"),
            (self.zero_memory, "--zero-memory"),
            (self.validate, "--validate"),
            (self.negotiation, "--negotiation"),
            (self.breadcrumbs, "--breadcrumbs"),
        ] {
            if there {
                all.push(flag.to_owned());
            }
        }
        all.extend(self.rehearse.iter().map(|w| format!("--rehearse={}", w.name())));
        all.extend(self.no_bridge.iter().map(|b| format!("--no-bridge={}", b.name())));
        all
    }
}
