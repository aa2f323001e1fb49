//! What is known of ray tracing across devices and command buffers: structures, shader groups, what this driver said of them,
//! and the objects of our own that translate them.

use super::noted::Noted;
use super::sizes::Sizes;
use super::spare::Own;
use super::stacks::Stacks;
use ash::vk;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What is known across devices and command buffers.
#[derive(Default)]
pub struct Ray {
    /// A device with acceleration structures and buffer addresses exists.
    pub on: bool,
    /// Something is translated in command buffers: what that disturbs is remembered.
    pub translates: bool,
    /// Acceleration structures: captured address -> live one.
    pub references: BTreeMap<u64, u64>,
    /// Shader groups: captured handle -> live one.
    pub handles: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Acceleration structures by captured id.
    pub(crate) structures: HashMap<u64, Structure>,
    /// Their captured ids by live handle.
    pub(super) by_live: HashMap<u64, u64>,
    /// Sizes the capture's driver named -> sizes this one wants.
    pub(super) sizes: Sizes,
    /// Pools of queries about structures, by captured id.
    pub(super) pools: HashMap<u64, Pool>,
    /// What this driver said about structures, by captured id.
    pub(super) answers: HashMap<u64, Answers>,
    /// Structures serialised here, by the captured address.
    pub(super) serials: HashMap<u64, Serial>,
    /// Those serialised to the host, by its pointer.
    pub(super) host_serials: HashMap<u64, Serial>,
    /// This driver said that it cannot read what the captured one had serialised.
    pub(super) incompatible: bool,
    /// A device of another driver than the captured one exists.
    pub(super) another_driver: bool,
    pub(super) snapshot: Snapshot,
    pub(super) inputs: Inputs,
    pub(super) patchers: HashMap<u64, Patcher>,
    pub(super) commands: HashMap<u64, CommandState>,
    /// Some acceleration structure or shader group is not what it was at capture.
    pub moved: bool,
    pub(super) stacks: Stacks,
    /// The tables in device memory lag behind.
    pub(super) dirty: bool,
    /// Totals, by what was translated; see [`Counters`].
    pub totals: Counters,
}

/// What was translated inside buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// References in instances that became live ones, and those nothing was known about.
    pub references: [u64; 2],
    /// Shader-group handles likewise.
    pub handles: [u64; 2],
    /// Addresses in shader records.
    pub record_addresses: u64,
    /// Addresses in push constants.
    pub push_constant_addresses: u64,
    /// Push constants that are pointers for a shader and lie in no known buffer.
    pub push_constant_unknown: u64,
    /// Push constants that look like addresses and are numbers for every shader.
    pub push_constant_numbers: u64,
    /// Addresses in what the host wrote to memory, in updates of buffers and in their initial contents.
    pub written_addresses: u64,
    /// Addresses of those left alone there that shaders said are pointers.
    pub shader_addresses: u64,
    /// Words there that may be addresses or numbers, and were left as they are.
    pub doubtful_addresses: u64,
    /// Descriptors that were written to memory.
    pub descriptors: u64,
}

/// One device's shaders and tables.
pub(super) struct Patcher {
    pub(super) layout: vk::PipelineLayout,
    pub(super) instances: vk::Pipeline,
    pub(super) records: vk::Pipeline,
    pub(super) tables: vk::Pipeline,
    pub(super) serials: vk::Pipeline,
    pub(super) triangles: vk::Pipeline,
    pub(super) boxes: vk::Pipeline,
    pub(super) references: Own,
    pub(super) ranges: Own,
    pub(super) handles: Own,
    pub(super) counters: Own,
    pub(super) properties: Properties,
}

/// What this device says about ray tracing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Properties {
    pub(super) handle_bytes: u32,
    pub(super) handle_alignment: u32,
    pub(super) base_alignment: u32,
    pub(super) scratch_alignment: u32,
    pub(super) indirect_builds: bool,
    pub(super) on_cpu: bool,
}

impl Ray {
    /// Every acceleration structure and shader group so far is what it was at capture.
    pub(crate) fn nothing_moved(&self) -> bool {
        !self.moved
    }
}

/// What has been recorded into a command buffer since it began.
#[derive(Default)]
pub struct CommandState {
    /// Captured id of its device.
    pub device: u64,
    /// Live compute pipeline, or null.
    pub(super) compute: vk::Pipeline,
    /// Push constants: layout, stages, offset, values.
    pub(super) pushed: Vec<(vk::PipelineLayout, vk::ShaderStageFlags, u32, Vec<u8>)>,
    /// Buffers its translations write; they live until it begins anew.
    pub own: Vec<Own>,
}

/// A live acceleration structure.
pub struct Structure {
    /// Its captured id.
    pub id: u64,
    /// Captured id of its device.
    pub device: u64,
    /// Live handle.
    pub live: vk::AccelerationStructureKHR,
    /// Top, bottom or generic.
    pub kind: vk::AccelerationStructureTypeKHR,
    /// Bytes the application made it of.
    pub captured: u64,
    /// Bytes it has here.
    pub size: u64,
    /// Its captured address, once the application asked for it.
    pub address: u64,
    /// Something was built or copied into it, as far as was recorded.
    pub filled: bool,
    /// Captured id of the application's buffer, if it takes up all of that.
    pub storage: Option<u64>,
    /// Where it lives if the application's buffer is too small.
    pub(super) own: Option<Own>,
}

/// What a pool of queries asks about structures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// ACCELERATION_STRUCTURE_COMPACTED_SIZE.
    Compacted,
    /// ACCELERATION_STRUCTURE_SERIALIZATION_SIZE.
    Serialised,
    /// Sizes and counts that nothing is made of.
    Other,
}

/// A pool of such queries.
pub struct Pool {
    pub(super) device: u64,
    pub(super) live: vk::QueryPool,
    pub(super) about: About,
    /// Query -> captured id of the structure it asked about, and whether its answer is known.
    pub(super) asked: HashMap<u32, (u64, bool)>,
}

impl Pool {
    /// Captured id of its device.
    pub fn device(&self) -> u64 {
        self.device
    }
}

/// What this driver answered about a structure.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answers {
    /// Bytes of its compacted copy.
    pub compacted: Option<u64>,
    /// Bytes of its serialised copy.
    pub serialised: Option<u64>,
    /// The same, as the captured driver had answered.
    pub serialised_then: Option<u64>,
}

/// A serialised structure that this replay wrote.
pub struct Serial {
    pub(super) own: Own,
    pub(super) device: u64,
}

impl Serial {
    /// Captured id of its device.
    pub fn device(&self) -> u64 {
        self.device
    }
    /// Destroys it; nothing of it may be in flight.
    pub fn destroy(self, d: &ash::Device) {
        self.own.destroy(d);
    }
}

/// What is known while a snapshot is loaded.
#[derive(Default)]
pub struct Snapshot {
    /// Metadata blocks said how structures are built.
    pub(super) builds: u64,
    /// Temporary structures whose copies are not made yet.
    pub(super) originals: Vec<Structure>,
    /// Captured ids of buffers for structures that were not empty.
    pub(super) used: HashSet<u64>,
}

/// What is noted and copied.
#[derive(Default)]
pub(super) struct Inputs {
    pub(super) on: bool,
    pub(super) next: u64,
    pub(super) noted: Vec<Noted>,
    /// With the captured id of the device.
    pub(super) buffers: HashMap<u64, (u64, Own)>,
}
