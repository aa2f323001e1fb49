//! Ray tracing on a device where addresses and shader-group handles are not the captured ones.
//!
//! Addresses inside structs are relocations and need nothing here. Pointers among push constants, and in what the host
//! writes to memory, are translated as they come (`words.rs`). Instances of top-level builds (`build.rs`) and records of
//! shader binding tables (`trace.rs`) are translated on the GPU, right before they are used, into copies of our own. The
//! translating dispatch takes part in the application's command buffer; what it disturbs (compute pipeline, push
//! constants) is put back (`commands.rs`).
//!
//! Structures are made as large as this device wants them (`structures.rs`, `sizes.rs`, `queries.rs`), copies and
//! serialised ones follow (`copies.rs`), and a snapshot's are built again (`snapshot.rs`). What builds read can be copied for
//! hooks (`inputs.rs`).
//!
//! Refuses by name: host builds, whose input no capture holds; and what the older and the special extensions keep
//! references and addresses in (`refused.rs`).

mod build;
mod commands;
mod copies;
mod data_pointers;
mod groups;
mod indirect;
pub mod inputs;
mod own;
mod queries;
mod refused;
mod sizes;
mod snapshot;
mod stack;
mod structures;
mod tables;
mod trace;

pub use build::build;
pub use commands::{begin, bind_pipeline, free, push_constants, push_constants2};
pub use copies::{
    compatibility, copy, deserialise, host_build, host_copy, host_deserialise, host_properties,
    host_serialise, serialise,
};
pub use groups::{create_pipelines, group_handles};
pub use indirect::indirect_build;

pub use data_pointers::update_buffer;
pub(crate) use data_pointers::{buffer_written, memory_written};
pub(crate) use queries::learn;
pub use queries::{ask, create_pool, destroy_pool};
pub(crate) use refused::is_refused;
pub use refused::refused;
pub(crate) use snapshot::{ends, loads, meta};
pub use stack::{group_stack_size, set_stack_size};
#[cfg(test)]
pub(crate) use structures::Structure;
pub(crate) use structures::foresee;
pub use structures::{address, build_sizes, create, destroy};
pub(crate) use tables::refresh;
pub(crate) use trace::captured_handle_bytes;
pub use trace::{trace, trace_indirect2};

use super::{DeviceState, Vk, Vulkan};
use crate::error::{Error, Result};
use ash::vk;
use own::Own;
pub(crate) use own::Spare;
use std::collections::{BTreeMap, HashMap};

/// What is known across devices and command buffers.
#[derive(Default)]
pub struct Ray {
    /// A device with acceleration structures and buffer addresses exists.
    pub on: bool,
    /// Acceleration structures: captured address -> live one.
    pub references: BTreeMap<u64, u64>,
    /// Shader groups: captured handle -> live one.
    pub handles: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Acceleration structures by captured id.
    pub(super) structures: HashMap<u64, structures::Structure>,
    /// Their captured ids by live handle.
    by_live: HashMap<u64, u64>,
    /// Sizes the capture's driver named -> sizes this one wants.
    sizes: sizes::Sizes,
    /// Pools of queries about structures, by captured id.
    pools: HashMap<u64, queries::Pool>,
    /// What this driver said about structures, by captured id.
    answers: HashMap<u64, queries::Answers>,
    /// Structures serialised here, by the captured address.
    serials: HashMap<u64, copies::Serial>,
    /// Those serialised to the host, by its pointer.
    host_serials: HashMap<u64, copies::Serial>,
    /// This driver said that it cannot read what the captured one had serialised.
    incompatible: bool,
    /// A device of another driver than the captured one exists.
    another_driver: bool,
    snapshot: snapshot::Snapshot,
    inputs: inputs::Inputs,
    patchers: HashMap<u64, Patcher>,
    commands: HashMap<u64, commands::CommandState>,
    /// Some acceleration structure or shader group is not what it was at capture.
    pub moved: bool,
    stacks: stack::Stacks,
    /// The tables in device memory lag behind.
    dirty: bool,
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
struct Patcher {
    layout: vk::PipelineLayout,
    instances: vk::Pipeline,
    records: vk::Pipeline,
    tables: vk::Pipeline,
    serials: vk::Pipeline,
    triangles: vk::Pipeline,
    boxes: vk::Pipeline,
    references: Own,
    ranges: Own,
    handles: Own,
    counters: Own,
    properties: Properties,
}

/// What this device says about ray tracing.
#[derive(Clone, Copy, Debug)]
struct Properties {
    handle_bytes: u32,
    handle_alignment: u32,
    base_alignment: u32,
    scratch_alignment: u32,
    indirect_builds: bool,
    on_cpu: bool,
}

const INSTANCES: &[u8] = include_bytes!("shaders/instances.spv");
const RECORDS: &[u8] = include_bytes!("shaders/records.spv");
const TABLES: &[u8] = include_bytes!("shaders/tables.spv");
const SERIALS: &[u8] = include_bytes!("shaders/serials.spv");
const TRIANGLES: &[u8] = include_bytes!("shaders/triangles.spv");
const BOXES: &[u8] = include_bytes!("shaders/boxes.spv");
/// Bytes of push constants the shaders take at most.
const ARGUMENT_BYTES: u32 = 64;

impl Patcher {
    fn new(d: &mut DeviceState, instance: &ash::Instance, entry: &ash::Entry) -> Result<Self> {
        let mut pipeline = vk::PhysicalDeviceRayTracingPipelinePropertiesKHR::default();
        let mut structure = vk::PhysicalDeviceAccelerationStructurePropertiesKHR::default();
        let mut all =
            vk::PhysicalDeviceProperties2::default().push_next(&mut pipeline).push_next(&mut structure);
        let query = ash::khr::get_physical_device_properties2::Instance::new(entry, instance);
        // SAFETY: a chain of known structs; a device without the extension leaves its struct alone.
        unsafe { query.get_physical_device_properties2(d.gpu.handle, &mut all) };
        let mut features = vk::PhysicalDeviceAccelerationStructureFeaturesKHR::default();
        let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut features);
        // SAFETY: as above.
        unsafe { query.get_physical_device_features2(d.gpu.handle, &mut all) };
        let properties = Properties {
            handle_bytes: pipeline.shader_group_handle_size,
            handle_alignment: pipeline.shader_group_handle_alignment.max(1),
            base_alignment: pipeline.shader_group_base_alignment.max(64),
            scratch_alignment: structure.min_acceleration_structure_scratch_offset_alignment.max(1),
            indirect_builds: features.acceleration_structure_indirect_build != 0,
            on_cpu: d.gpu.properties.device_type == vk::PhysicalDeviceType::CPU,
        };
        let ranges = [vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
            .size(ARGUMENT_BYTES)];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&ranges);
        // SAFETY: a plain creation on a live device.
        let layout = unsafe { d.ash.create_pipeline_layout(&info, None) }.what("vkCreatePipelineLayout")?;
        Ok(Patcher {
            layout,
            instances: compute(&d.ash, layout, INSTANCES)?,
            records: compute(&d.ash, layout, RECORDS)?,
            tables: compute(&d.ash, layout, TABLES)?,
            serials: compute(&d.ash, layout, SERIALS)?,
            triangles: compute(&d.ash, layout, TRIANGLES)?,
            boxes: compute(&d.ash, layout, BOXES)?,
            references: Own::visible(d, tables::REFERENCE_BYTES)?,
            ranges: Own::visible(d, tables::RANGE_BYTES)?,
            handles: Own::visible(d, tables::HANDLE_BYTES)?,
            counters: Own::visible(d, 64)?,
            properties,
        })
    }

    fn destroy(self, d: &ash::Device) {
        // SAFETY: ours, and idle.
        unsafe {
            for p in [self.instances, self.records, self.tables, self.serials, self.triangles, self.boxes] {
                d.destroy_pipeline(p, None);
            }
            d.destroy_pipeline_layout(self.layout, None);
        }
        for own in [self.references, self.ranges, self.handles, self.counters] {
            own.destroy(d);
        }
    }
}

fn compute(d: &ash::Device, layout: vk::PipelineLayout, spirv: &[u8]) -> Result<vk::Pipeline> {
    let code: Vec<u32> =
        spirv.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("4 bytes"))).collect();
    // SAFETY: plain creations; the module is valid SPIR-V (a test says so).
    unsafe {
        let module = d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None);
        let module = module.what("vkCreateShaderModule")?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
        let made = d.create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
        d.destroy_shader_module(module, None);
        Ok(made.map_err(|e| Error::driver("vkCreateComputePipelines", e.1))?[0])
    }
}

/// A device was made: whether it needs any of this.
pub(crate) fn device_made(vk: &mut Vulkan, id: u64) {
    if let Some(d) = vk.devices.get(&id) {
        let has = |n: &str| d.extensions.iter().any(|e| e == n);
        vk.ray.on |= d.buffer_addresses && has("VK_KHR_acceleration_structure");
        let gpu = d.gpu_id;
        copies::device_made(vk, gpu);
    }
}

/// A device is about to go.
pub(crate) fn device_gone(vk: &mut Vulkan, id: u64) -> Result<()> {
    collect(vk)?;
    let states = std::mem::take(&mut vk.ray.commands);
    let (gone, kept): (HashMap<_, _>, HashMap<_, _>) = states.into_iter().partition(|(_, s)| s.device == id);
    vk.ray.commands = kept;
    structures::forget(vk, id)?;
    inputs::forget(vk, id)?;
    vk.ray.pools.retain(|_, p| p.device() != id);
    let serials = [std::mem::take(&mut vk.ray.serials), std::mem::take(&mut vk.ray.host_serials)];
    let [serials, host_serials] = serials.map(|all| all.into_iter().partition(|(_, s)| s.device() == id));
    let (gone_serials, kept): (HashMap<_, _>, HashMap<_, _>) = serials;
    vk.ray.serials = kept;
    let (gone_host_serials, kept): (HashMap<_, _>, HashMap<_, _>) = host_serials;
    vk.ray.host_serials = kept;
    let patcher = vk.ray.patchers.remove(&id);
    let d = vk.device_mut(id)?;
    d.spare.drain().for_each(|o| o.destroy(&d.ash));
    for state in gone.into_values() {
        state.own.into_iter().for_each(|o| o.destroy(&d.ash));
    }
    gone_serials.into_values().chain(gone_host_serials.into_values()).for_each(|s| s.destroy(&d.ash));
    if let Some(p) = patcher {
        p.destroy(&d.ash);
    }
    Ok(())
}

/// Brings the counters home; the devices are idle.
pub(crate) fn collect(vk: &mut Vulkan) -> Result<()> {
    for p in vk.ray.patchers.values_mut() {
        let n = p.counters.take_words::<8>();
        let t = &mut vk.ray.totals;
        t.references[0] += u64::from(n[0]);
        t.references[1] += u64::from(n[1]);
        t.handles[0] += u64::from(n[2]);
        t.handles[1] += u64::from(n[3]);
        t.record_addresses += u64::from(n[4]);
    }
    Ok(())
}

/// The device's patcher, made when first needed.
fn with_patcher<R>(
    vk: &mut Vulkan,
    device: u64,
    f: impl FnOnce(&mut Vulkan, &mut Patcher) -> Result<R>,
) -> Result<R> {
    let mut p = match vk.ray.patchers.remove(&device) {
        Some(p) => p,
        None => {
            let d = vk
                .devices
                .get_mut(&device)
                .ok_or_else(|| Error::divergence(format!("VkDevice {device} is gone")))?;
            let instance =
                vk.instances.get(&d.instance_id).ok_or_else(|| Error::divergence("the instance is gone"))?;
            vk.ray.dirty = true;
            Patcher::new(d, &instance.ash, &vk.entry)?
        }
    };
    let r = f(vk, &mut p);
    vk.ray.patchers.insert(device, p);
    r
}

impl Ray {
    /// Every acceleration structure and shader group so far is what it was at capture.
    pub(crate) fn nothing_moved(&self) -> bool {
        !self.moved
    }
}

impl Vulkan {
    /// What was translated inside buffers so far.
    pub fn translated(&self) -> Counters {
        self.ray.totals
    }
}
