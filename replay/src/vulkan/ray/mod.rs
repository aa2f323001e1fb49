//! Ray tracing on a device where addresses and shader-group handles are not the captured ones.
//!
//! Addresses inside structs are relocations and need nothing here. Pointers among push constants, and in what the host
//! writes to memory, are translated as they come (`words.rs`). Instances of top-level builds (`build.rs`) and records of
//! shader binding tables (`trace.rs`) are translated on the GPU, right before they are used, into copies of our own. The
//! translating dispatch takes part in the application's command buffer; what it disturbs (compute pipeline, push
//! constants) is put back (`commands.rs`).
//!
//! Refuses by name: builds and traces whose arguments lie in device memory (indirect builds with instances, indirect2
//! traces).

mod build;
mod commands;
mod groups;
mod own;
mod tables;
mod trace;
mod words;

pub use build::{build, build_sizes, create, destroy, indirect_build};
pub use commands::{begin, bind_pipeline, free, push_constants, push_constants2};
pub use groups::{create_pipelines, group_handles};
pub(crate) use tables::refresh;
pub use trace::{trace, trace_indirect2};
pub use words::update_buffer;
pub(crate) use words::{buffer_written, memory_written};

use super::{DeviceState, Vk, Vulkan};
use crate::error::{Error, Result};
use ash::vk;
use own::Own;
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
    /// Sizes the capture's driver named -> sizes this one wants.
    sizes: HashMap<u64, u64>,
    patchers: HashMap<u64, Patcher>,
    commands: HashMap<u64, commands::CommandState>,
    /// Captured addresses by captured id, to forget them with their structure.
    pub addresses: HashMap<u64, u64>,
    /// Structures whose buffer the application made too small for this device.
    grown: HashMap<u64, Own>,
    /// Some acceleration structure or shader group is not what it was at capture.
    pub moved: bool,
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
    /// Words there that may be addresses or numbers, and were left as they are.
    pub doubtful_addresses: u64,
}

/// One device's shaders and tables.
struct Patcher {
    layout: vk::PipelineLayout,
    instances: vk::Pipeline,
    records: vk::Pipeline,
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
}

const INSTANCES: &[u8] = include_bytes!("shaders/instances.spv");
const RECORDS: &[u8] = include_bytes!("shaders/records.spv");
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
        let properties = Properties {
            handle_bytes: pipeline.shader_group_handle_size,
            handle_alignment: pipeline.shader_group_handle_alignment.max(1),
            base_alignment: pipeline.shader_group_base_alignment.max(64),
            scratch_alignment: structure.min_acceleration_structure_scratch_offset_alignment.max(1),
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
            d.destroy_pipeline(self.instances, None);
            d.destroy_pipeline(self.records, None);
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
    }
}

/// A device is about to go.
pub(crate) fn device_gone(vk: &mut Vulkan, id: u64) -> Result<()> {
    collect(vk)?;
    let states = std::mem::take(&mut vk.ray.commands);
    let (gone, kept): (HashMap<_, _>, HashMap<_, _>) = states.into_iter().partition(|(_, s)| s.device == id);
    vk.ray.commands = kept;
    let grown = std::mem::take(&mut vk.ray.grown);
    let patcher = vk.ray.patchers.remove(&id);
    let d = vk.device(id)?;
    for state in gone.into_values() {
        state.own.into_iter().for_each(|o| o.destroy(&d.ash));
    }
    grown.into_values().for_each(|o| o.destroy(&d.ash));
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
