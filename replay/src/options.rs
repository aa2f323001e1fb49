//! What the user may choose about a replay.

use crate::texels::{Codec, stand_ins};
use gfxr_parse::cycle::Cycle;
use std::time::Duration;

/// How captured memory objects become memory here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MemoryMode {
    /// `None` on the driver the capture was taken on, `Remap` where only memory types differ, else `Rebind`.
    #[default]
    Auto,
    /// Exactly as captured.
    None,
    /// As captured, with memory type indices translated.
    Remap,
    /// Each resource gets memory of its own; captured memory objects become shadows.
    Rebind,
}

impl MemoryMode {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            MemoryMode::Auto => "auto",
            MemoryMode::None => "none",
            MemoryMode::Remap => "remap",
            MemoryMode::Rebind => "rebind",
        }
    }
}

/// How device addresses and shader-group handles of the capture become those of this device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AddressMode {
    /// `Exact` on the driver the capture was taken on where it has the captureReplay features, else `Translate`.
    #[default]
    Auto,
    /// The driver is told which addresses and handles to give.
    Exact,
    /// The driver's own; whatever held a captured one is rewritten.
    Translate,
    /// The same, but only what structs and shaders say is an address: nothing is guessed from what words look like.
    Known,
}

impl AddressMode {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            AddressMode::Auto => "auto",
            AddressMode::Exact => "exact",
            AddressMode::Translate => "translate",
            AddressMode::Known => "known",
        }
    }
}

/// What ends a frame.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum FrameBy {
    /// Presents, or frame markers where the capture has them; if it never presents, submits, or the whole file.
    #[default]
    Auto,
    /// Presents or frame markers.
    Present,
    /// VK_EXT_frame_boundary's FRAME_END.
    Boundary,
    /// Every queue submission.
    Submit,
    /// The last submission of each cycle that they repeat in (`gfxr_parse::cycle`); which, once that is known.
    Cycle(Option<Cycle>),
    /// A debug label with this name begins.
    Label(String),
    /// The whole file is one frame.
    File,
}

impl std::fmt::Display for FrameBy {
    /// As `--frame-by` takes it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FrameBy::Auto => "auto",
            FrameBy::Present => "present",
            FrameBy::Boundary => "boundary",
            FrameBy::Submit => "submit",
            FrameBy::Cycle(_) => "cycle",
            FrameBy::Label(name) => return write!(f, "label:{name}"),
            FrameBy::File => "file",
        })
    }
}

/// Ways that a driver unlike the captured one makes necessary, taken on any driver: so that tests go them everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rehearse {
    /// Acceleration structures, their scratch memory and their copies take more bytes than the driver says.
    pub growth: bool,
    /// Builds are done as indirect ones on a device that has none.
    pub indirect: bool,
    /// The device lacks what only shaders use of ray queries and of atomic floats' minima.
    pub bare: bool,
    /// Uniform, storage and texel buffers have to be aligned to 1024 bytes.
    pub alignment: bool,
    /// The device has no compressed formats.
    pub compression: bool,
    /// The device has no images of the other formats that something can stand in for, but depth as floats.
    pub formats: bool,
    /// Descriptor buffers have to be twice as large.
    pub descriptors: bool,
}

impl Rehearse {
    /// Whether the device has no images of a format (VkFormat).
    pub fn lacks(self, format: u32) -> bool {
        // VK_FORMAT_D32_SFLOAT and VK_FORMAT_D32_SFLOAT_S8_UINT.
        let floats = [126, 130];
        match Codec::compressed(format) {
            Some(_) => self.compression,
            None => self.formats && !floats.contains(&format) && !stand_ins(format).is_empty(),
        }
    }
    /// What a size that the driver named counts as.
    pub fn larger(self, size: u64) -> u64 {
        if self.growth { size + size / 4 + 256 } else { size }
    }
    /// How much is made where the driver wants `size`; a rehearsed indirect build has room for one primitive more.
    pub fn made(self, size: u64) -> u64 {
        let size = if self.indirect { size * 2 + (16 << 10) } else { size };
        self.larger(size)
    }
}

/// A difference between the captured device and this one that is bridged unless the user says no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bridge {
    /// Offsets of descriptors that are not multiples of what this device wants.
    Alignment,
    /// Families and queues that are not here.
    Queues,
    /// Numbers of samples that are not here.
    Samples,
    /// Sparse resources that have all of their memory at once.
    Sparse,
    /// Memory from outside of the process.
    Imports,
    /// Extensions that this device's Vulkan has taken in.
    Core,
    /// Builds of acceleration structures on the host, and indirect ones.
    Builds,
    /// Images of formats that are not here as images of others, their texels translated where they are copied.
    Texels,
    /// Descriptor buffers that this device lays out otherwise.
    Descriptors,
    /// What is turned on and not used.
    Unused,
}

impl Bridge {
    /// All of them.
    pub const ALL: [Bridge; 10] = [
        Bridge::Alignment,
        Bridge::Queues,
        Bridge::Samples,
        Bridge::Sparse,
        Bridge::Imports,
        Bridge::Core,
        Bridge::Builds,
        Bridge::Texels,
        Bridge::Descriptors,
        Bridge::Unused,
    ];

    /// Its name in flags and reports.
    pub fn name(self) -> &'static str {
        match self {
            Bridge::Alignment => "alignment",
            Bridge::Queues => "queues",
            Bridge::Samples => "samples",
            Bridge::Sparse => "sparse",
            Bridge::Imports => "imports",
            Bridge::Core => "core",
            Bridge::Builds => "builds",
            Bridge::Texels => "texels",
            Bridge::Descriptors => "descriptors",
            Bridge::Unused => "unused",
        }
    }
}

/// What to run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The frame's number.
    pub frame: u64,
    /// Timed iterations.
    pub iterations: u32,
    /// Iterations before these, at least one: the first creates what the frame creates.
    pub warmup: u32,
    /// An iteration whose image differs is counted instead of ending the replay.
    pub allow_drift: bool,
    /// Leave contents as the iteration before left them. For tests: what restoring is worth.
    pub leave_contents: bool,
    /// A frame that cannot run again runs once, as it does without a loop, and why is in the summary ([`Looped::refused`]).
    /// What cannot be put back, or differs, is then no error either. Frames before it are measured, too.
    ///
    /// [`Looped::refused`]: crate::looped::Looped::refused
    pub or_once: bool,
}

/// See the module's header.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which physical device: its index, or part of its name.
    pub gpu: Option<String>,
    /// See [`MemoryMode`].
    pub memory: MemoryMode,
    /// See [`AddressMode`].
    pub addresses: AddressMode,
    /// Go on after divergences, counting them.
    pub keep_going: bool,
    /// Make calls whose values break the specification's rules; what memory safety rests on is checked all the same.
    pub trust_capture: bool,
    /// Drop features and extensions that the device lacks instead of refusing.
    pub remove_unsupported: bool,
    /// Turn the Khronos validation layer on and collect what it says.
    pub validate: bool,
    /// How long to wait for the GPU before giving up; 120 s if it is not said.
    pub watchdog: Option<Duration>,
    /// Compare all that the capture asks for with the device, also where the driver is the one it was taken on.
    pub whole_table: bool,
    /// Fill new memory with zeros, so that what nobody wrote is the same in every replay.
    pub zero_memory: bool,
    /// See [`FrameBy`].
    pub frame_by: FrameBy,
    /// First and last frame to run hooks' measurements on; frames after the last are not replayed.
    pub frames: Option<(u64, u64)>,
    /// Differences that are refused although they could be bridged.
    pub no_bridges: Vec<Bridge>,
    /// See [`Rehearse`].
    pub rehearse: Rehearse,
    /// Run one frame again and again; nothing after it is replayed.
    pub looped: Option<Loop>,
}

impl Options {
    /// Whether a bridge may be taken.
    pub fn bridges(&self, bridge: Bridge) -> bool {
        !self.no_bridges.contains(&bridge)
    }
    /// The watchdog in nanoseconds.
    pub fn watchdog_ns(&self) -> u64 {
        self.watchdog.map_or(120_000_000_000, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
    }
}
