//! The shape of a summary; what `info --json` writes.
//!
//! Guarantees: members are only ever added; a change of meaning raises [`SCHEMA_VERSION`]. Sizes are in bytes and say
//! so in their names.

use crate::cycle::Cycle;
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the shape.
pub const SCHEMA_VERSION: u32 = 1;

/// See the module's header.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The file.
    pub file: FileInfo,
    /// Who wrote it.
    pub encoder: Option<Encoder>,
    /// Texts in it, that of the encoder included.
    pub annotations: Vec<AnnotationInfo>,
    /// The captured program's file.
    pub executable: Option<Executable>,
    /// What the capture says of the driver as a whole.
    pub driver_info: Option<String>,
    /// Environment variables it recorded.
    pub environment: Vec<Variable>,
    /// One for each instance.
    pub applications: Vec<Application>,
    /// Physical devices, in order of first mention.
    pub devices: Vec<Device>,
    /// Frames.
    pub frames: Frames,
    /// Blocks.
    pub blocks: Blocks,
    /// Calls.
    pub calls: Calls,
    /// Pipelines created.
    pub pipelines: Pipelines,
    /// Shaders created.
    pub shaders: Shaders,
    /// Device memory.
    pub memory: Memory,
    /// What of it this build can decode.
    pub decodable: Decodable,
    /// What is odd about it.
    pub warnings: Vec<String>,
}

/// The file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FileInfo {
    /// As given.
    pub path: String,
    /// Its size.
    pub size_bytes: u64,
    /// Format version, `0.1`.
    pub version: String,
    /// What compressed blocks are compressed with: none, lz4, zlib, zstd.
    pub compression: &'static str,
    /// What is missing at its end, if it ends inside a block.
    pub truncated: Option<String>,
    /// What files beside it could not be read whose blocks it runs, or not to their end; the first of them.
    pub unread: Vec<String>,
}

/// Who wrote it, from the `operation` annotation.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Encoder {
    /// `capture`, `optimize`, …
    pub tool: Option<String>,
    /// When.
    pub timestamp: Option<String>,
    /// Its version.
    pub gfxrecon_version: Option<String>,
    /// The Vulkan headers it was built with.
    pub vulkan_version: Option<String>,
}

/// A text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnnotationInfo {
    /// Block index.
    pub block: u64,
    /// text, json, xml or other.
    pub kind: &'static str,
    /// What it is about.
    pub label: String,
    /// The text.
    pub data: String,
}

/// The captured program's file; empty where the capture does not know.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Executable {
    /// Its name.
    pub name: String,
    /// Its version, four numbers.
    pub version: String,
    /// Who made it.
    pub company: String,
    /// What it belongs to.
    pub product: String,
    /// Version of that.
    pub product_version: String,
    /// What it is.
    pub description: String,
}

/// An environment variable.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A version of Vulkan, or one packed like it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Version(pub u32);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let v = self.0;
        write!(f, "{}.{}.{}", v >> 22 & 0x7F, v >> 12 & 0x3FF, v & 0xFFF)
    }
}

impl Serialize for Version {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

/// What an instance was created for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Application {
    /// Handle id of the instance; 0 if it could not be created.
    pub instance: u64,
    /// The application's name.
    pub name: String,
    /// Its version, as it packs it.
    pub version: u32,
    /// The engine's name.
    pub engine: String,
    /// Its version, as it packs it.
    pub engine_version: u32,
    /// The Vulkan version asked for.
    pub api_version: Version,
    /// Layers enabled.
    pub layers: Vec<String>,
    /// Instance extensions enabled.
    pub extensions: Vec<String>,
}

/// A physical device.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Device {
    /// Handle id.
    pub physical_device: u64,
    /// Its name.
    pub name: String,
    /// VkPhysicalDeviceType.
    pub kind: String,
    /// PCI vendor, or a Khronos vendor id.
    pub vendor_id: u32,
    /// PCI device.
    pub device_id: u32,
    /// As the vendor packs it.
    pub driver_version: u32,
    /// The Vulkan version it has.
    pub api_version: Version,
    /// Pipeline cache UUID, hexadecimal.
    pub pipeline_cache_uuid: String,
    /// How many logical devices were created on it.
    pub logical_devices: u64,
    /// Device extensions enabled, over all of them.
    pub extensions: Vec<String>,
    /// Memory heaps.
    pub heaps: Vec<Heap>,
    /// Memory types.
    pub memory_types: Vec<MemoryTypeInfo>,
}

/// A memory heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Heap {
    /// Its size.
    pub size_bytes: u64,
    /// VkMemoryHeapFlags.
    pub flags: u32,
}

/// A memory type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryTypeInfo {
    /// VkMemoryPropertyFlags.
    pub flags: u32,
    /// Its heap's index.
    pub heap: u32,
}

/// Frames.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Frames {
    /// How many end in this capture.
    pub count: u64,
    /// The first one's number in the application, from 1.
    pub first: u64,
    /// The last one's.
    pub last: u64,
    /// What ends a frame: presents, markers, or, where none of these is there, submissions.
    pub ended_by: &'static str,
    /// Where nothing ends one: submissions, each of which ends one at a replay; those of a snapshot of the state do not.
    pub submissions: Option<u64>,
    /// Where nothing ends one: what submissions repeat in.
    pub cycle: Option<Cycle>,
    /// It begins with a snapshot of the state instead of the application's start.
    pub trimmed: bool,
    /// Blocks of that snapshot.
    pub state_blocks: u64,
    /// Calls after the last frame's end.
    pub calls_after_last: u64,
}

/// Blocks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Blocks {
    /// All of them.
    pub total: u64,
    /// By type.
    pub by_type: BTreeMap<&'static str, BlockStats>,
}

/// Blocks of one type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BlockStats {
    /// How many.
    pub count: u64,
    /// What they take in the file, headers included.
    pub stored_bytes: u64,
    /// How many of them hold compressed data.
    pub compressed: u64,
    /// Those data in the file.
    pub compressed_bytes: u64,
    /// The same, decompressed.
    pub uncompressed_bytes: u64,
}

/// Calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Calls {
    /// All of them.
    pub total: u64,
    /// Threads that made them.
    pub threads: u64,
    /// Draw commands recorded.
    pub draws: u64,
    /// Dispatch commands recorded.
    pub dispatches: u64,
    /// Trace-rays commands recorded.
    pub trace_rays: u64,
    /// Acceleration structure builds recorded.
    pub acceleration_builds: u64,
    /// Queue submissions.
    pub submits: u64,
    /// Presents.
    pub presents: u64,
    /// By command.
    pub by_command: BTreeMap<String, u64>,
}

/// Pipelines created (create infos, not calls).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pipelines {
    /// Graphics.
    pub graphics: u64,
    /// Compute.
    pub compute: u64,
    /// Ray tracing.
    pub ray_tracing: u64,
}

/// Shaders created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Shaders {
    /// By vkCreateShaderModule.
    pub modules: u64,
    /// Inside pipeline stages.
    pub in_stages: u64,
    /// By vkCreateShadersEXT.
    pub objects: u64,
    /// All their SPIR-V.
    pub code_bytes: u64,
}

/// Device memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// Successful allocations.
    pub allocations: u64,
    /// All of them together.
    pub total_bytes: u64,
    /// The smallest.
    pub smallest_bytes: u64,
    /// The largest.
    pub largest_bytes: u64,
    /// The most that was allocated at one time.
    pub peak_bytes: u64,
}

/// What of it this build can decode, judged by call ids; `verify` judges every byte.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Decodable {
    /// Calls whose command is known.
    pub calls: u64,
    /// Calls (and metadata) that are not, and why.
    pub undecodable: Vec<Undecodable>,
}

/// See [`Decodable`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Undecodable {
    /// Name or id.
    pub what: String,
    /// How many.
    pub count: u64,
    /// Why.
    pub reason: String,
}
