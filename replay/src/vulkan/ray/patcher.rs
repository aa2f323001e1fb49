//! The shaders that translate in command buffers, and the tables that they look things up in: made when a device first needs
//! them.

use super::spare::Own;
use super::state::{CommandState, Patcher, Properties};
use crate::error::{Error, Result, Vk};
use crate::vulkan::live::DeviceState;
use crate::vulkan::state::Vulkan;
use ash::vk;

/// Room for 16,384 acceleration structures.
pub const REFERENCE_BYTES: u64 = 8 + 24 * 16_384;

/// Room for 65,536 buffers.
pub const RANGE_BYTES: u64 = 8 + 24 * 65_536;

/// Room for 8,192 shader groups with handles of up to 64 bytes.
pub const HANDLE_BYTES: u64 = 8 + 128 * 8_192;

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
        let (layout, instances) = translation(&d.ash, INSTANCES, ARGUMENT_BYTES)?;
        Ok(Patcher {
            layout,
            instances,
            records: compute(&d.ash, layout, RECORDS)?,
            tables: compute(&d.ash, layout, TABLES)?,
            serials: compute(&d.ash, layout, SERIALS)?,
            triangles: compute(&d.ash, layout, TRIANGLES)?,
            boxes: compute(&d.ash, layout, BOXES)?,
            references: Own::visible(d, REFERENCE_BYTES)?,
            ranges: Own::visible(d, RANGE_BYTES)?,
            handles: Own::visible(d, HANDLE_BYTES)?,
            counters: Own::visible(d, 64)?,
            properties,
        })
    }

    pub(super) fn destroy(self, d: &ash::Device) {
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

/// A translating shader that takes its arguments as push constants of so many bytes, and their layout.
pub(crate) fn translation(
    d: &ash::Device,
    spirv: &[u8],
    argument_bytes: u32,
) -> Result<(vk::PipelineLayout, vk::Pipeline)> {
    let ranges =
        [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(argument_bytes)];
    let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&ranges);
    // SAFETY: a plain creation on a live device.
    let layout = unsafe { d.create_pipeline_layout(&info, None) }.what("vkCreatePipelineLayout")?;
    Ok((layout, compute(d, layout, spirv)?))
}

fn compute(d: &ash::Device, layout: vk::PipelineLayout, spirv: &[u8]) -> Result<vk::Pipeline> {
    let code: Vec<u32> =
        spirv.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("4 bytes"))).collect();
    // SAFETY: plain creations; the module is valid SPIR-V (`own_shaders.rs` tests it).
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

/// The device's patcher, made when first needed.
pub(super) fn with_patcher<R>(
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

impl Patcher {
    /// Records one translation into the application's command buffer and puts back what that disturbs.
    pub(super) fn record(
        &self,
        d: &ash::Device,
        cmd: vk::CommandBuffer,
        pipeline: vk::Pipeline,
        arguments: &[u8],
        count: u32,
        state: &CommandState,
    ) {
        let before = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE);
        let after = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE);
        let (all, here) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::PipelineStageFlags::COMPUTE_SHADER);
        // SAFETY: recording into a command buffer that the application is recording; all handles are alive.
        unsafe {
            d.cmd_pipeline_barrier(cmd, all, here, vk::DependencyFlags::empty(), &[before], &[], &[]);
            dispatch(d, cmd, (self.layout, pipeline), arguments, count.div_ceil(64));
            d.cmd_pipeline_barrier(cmd, here, all, vk::DependencyFlags::empty(), &[after], &[], &[]);
        }
        state.put_back(d, cmd);
    }
}

/// Runs a translating shader in a command buffer that the application is recording.
pub(crate) fn dispatch(
    d: &ash::Device,
    cmd: vk::CommandBuffer,
    (layout, pipeline): (vk::PipelineLayout, vk::Pipeline),
    arguments: &[u8],
    groups: u32,
) {
    // SAFETY: recording into a command buffer that the application is recording; all handles are alive.
    unsafe {
        d.cmd_bind_pipeline(cmd, vk::PipelineBindPoint::COMPUTE, pipeline);
        d.cmd_push_constants(cmd, layout, vk::ShaderStageFlags::COMPUTE, 0, arguments);
        d.cmd_dispatch(cmd, groups, 1, 1);
    }
}

impl CommandState {
    /// Puts back what translations disturb.
    pub(super) fn put_back(&self, d: &ash::Device, cmd: vk::CommandBuffer) {
        // SAFETY: recording into a command buffer that the application is recording; what it bound and pushed there is alive.
        unsafe {
            if self.compute != vk::Pipeline::null() {
                d.cmd_bind_pipeline(cmd, vk::PipelineBindPoint::COMPUTE, self.compute);
            }
            for (layout, stages, offset, values) in &self.pushed {
                d.cmd_push_constants(cmd, *layout, *stages, *offset, values);
            }
        }
    }
}

/// Push-constant bytes of a translation shader: addresses, then 32-bit values.
pub(crate) fn arguments(addresses: &[u64], values: &[u32]) -> Vec<u8> {
    let mut bytes: Vec<u8> = addresses.iter().flat_map(|a| a.to_le_bytes()).collect();
    bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    bytes
}
