//! Acceleration structures: three at the bottom, two of them compacted, and one at the top that is updated.

use ash::vk;

use super::content::{self, Mesh};
use crate::error::{Doing, Result};
use crate::gpu::{Buffer, Gpu};

type BuildFlags = vk::BuildAccelerationStructureFlagsKHR;

const INPUT: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw()
        | vk::BufferUsageFlags::STORAGE_BUFFER.as_raw(),
);
const STORAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);
/// A buffer that shaders reach by its address.
pub const POINTED_TO: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw() | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);

/// A structure at the bottom.
pub struct Bottom {
    /// What instances refer to it by.
    pub reference: u64,
    /// The buffer with the pointers to its data, for shader records.
    pub shape: u64,
}

/// Builds the structure of a mesh and compacts it.
pub fn mesh(gpu: &Gpu, name: &str, mesh: &Mesh) -> Result<Bottom> {
    let corners = gpu.filled_buffer(&format!("{name} corners"), &content::floats(&mesh.corners), INPUT)?;
    let indices = content::bytes(&mesh.triangles, u32::to_le_bytes);
    let indices = gpu.filled_buffer(&format!("{name} triangles"), &indices, INPUT)?;
    let pointers = content::bytes(&[gpu.address(&corners), gpu.address(&indices)], u64::to_le_bytes);
    let shape = gpu.filled_buffer(&format!("{name} pointers"), &pointers, POINTED_TO)?;
    let triangles = vk::AccelerationStructureGeometryTrianglesDataKHR::default()
        .vertex_format(vk::Format::R32G32B32_SFLOAT)
        .vertex_data(vk::DeviceOrHostAddressConstKHR { device_address: gpu.address(&corners) })
        .vertex_stride(24)
        .max_vertex(mesh.corners.len() as u32 / 6 - 1)
        .index_type(vk::IndexType::UINT32)
        .index_data(vk::DeviceOrHostAddressConstKHR { device_address: gpu.address(&indices) });
    let geometry = vk::AccelerationStructureGeometryKHR::default()
        .geometry_type(vk::GeometryTypeKHR::TRIANGLES)
        .geometry(vk::AccelerationStructureGeometryDataKHR { triangles })
        .flags(vk::GeometryFlagsKHR::OPAQUE);
    let count = mesh.triangles.len() as u32 / 3;
    let flags = BuildFlags::PREFER_FAST_TRACE | BuildFlags::ALLOW_COMPACTION;
    let full = Structure::new(gpu, name, Kind::BOTTOM_LEVEL, geometry, count, flags)?;
    let built = compacted(gpu, name, full)?;
    Ok(Bottom { reference: reference(gpu, built), shape: gpu.address(&shape) })
}

/// Builds the structure of the boxes; what is in them, the intersection shader knows.
pub fn heap(gpu: &Gpu, name: &str) -> Result<Bottom> {
    let boxes = gpu.filled_buffer(&format!("{name} boxes"), &content::floats(&content::boxes()), INPUT)?;
    let pointers = gpu.address(&boxes).to_le_bytes();
    let shape = gpu.filled_buffer(&format!("{name} pointers"), &pointers, POINTED_TO)?;
    let aabbs = vk::AccelerationStructureGeometryAabbsDataKHR::default()
        .data(vk::DeviceOrHostAddressConstKHR { device_address: gpu.address(&boxes) })
        .stride(24);
    let geometry = vk::AccelerationStructureGeometryKHR::default()
        .geometry_type(vk::GeometryTypeKHR::AABBS)
        .geometry(vk::AccelerationStructureGeometryDataKHR { aabbs });
    let flags = BuildFlags::PREFER_FAST_TRACE;
    let structure = Structure::new(gpu, name, Kind::BOTTOM_LEVEL, geometry, content::SPHERES, flags)?;
    gpu.run_once(&format!("build {name}"), |_, commands| structure.build(gpu, commands, false))?;
    gpu.adopt(structure.handle, name);
    Ok(Bottom { reference: reference(gpu, structure.handle), shape: gpu.address(&shape) })
}

/// The structure at the top, not built yet.
pub fn top(gpu: &Gpu, instances: u64, count: u32) -> Result<Structure> {
    let data = vk::AccelerationStructureGeometryInstancesDataKHR::default()
        .data(vk::DeviceOrHostAddressConstKHR { device_address: instances });
    let geometry = vk::AccelerationStructureGeometryKHR::default()
        .geometry_type(vk::GeometryTypeKHR::INSTANCES)
        .geometry(vk::AccelerationStructureGeometryDataKHR { instances: data });
    let flags = BuildFlags::PREFER_FAST_TRACE | BuildFlags::ALLOW_UPDATE;
    let top = Structure::new(gpu, "world", Kind::TOP_LEVEL, geometry, count, flags)?;
    gpu.adopt(top.handle, "world");
    Ok(top)
}

/// The buffer of instances that the top is built from: the host's are copied there, a shader writes the others.
pub fn instance_buffer(gpu: &Gpu, count: u32) -> Result<Buffer> {
    let usage = INPUT | vk::BufferUsageFlags::TRANSFER_DST;
    gpu.device_buffer("instances", u64::from(count) * 64, usage)
}

type Kind = vk::AccelerationStructureTypeKHR;

/// A structure of one geometry, with what building it takes.
pub struct Structure {
    /// The structure.
    pub handle: vk::AccelerationStructureKHR,
    kind: Kind,
    geometry: vk::AccelerationStructureGeometryKHR<'static>,
    count: u32,
    flags: BuildFlags,
    scratch: u64,
}

impl Structure {
    fn new(
        gpu: &Gpu,
        name: &str,
        kind: Kind,
        geometry: vk::AccelerationStructureGeometryKHR<'static>,
        count: u32,
        flags: BuildFlags,
    ) -> Result<Self> {
        let geometries = [geometry];
        let info = vk::AccelerationStructureBuildGeometryInfoKHR::default()
            .ty(kind)
            .flags(flags)
            .geometries(&geometries);
        let mut sizes = vk::AccelerationStructureBuildSizesInfoKHR::default();
        let on = vk::AccelerationStructureBuildTypeKHR::DEVICE;
        let ray = gpu.ray();
        unsafe { ray.structures.get_acceleration_structure_build_sizes(on, &info, &[count], &mut sizes) };
        let bytes = sizes.build_scratch_size.max(sizes.update_scratch_size).max(1) + ray.scratch_alignment;
        let scratch = gpu.device_buffer(&format!("{name} scratch"), bytes, POINTED_TO)?;
        let scratch = gpu.address(&scratch).next_multiple_of(ray.scratch_alignment);
        let handle = create(gpu, name, kind, sizes.acceleration_structure_size)?;
        Ok(Self { handle, kind, geometry, count, flags, scratch })
    }

    /// Records the build, or the update of what was built before.
    pub fn build(&self, gpu: &Gpu, commands: vk::CommandBuffer, update: bool) {
        let geometries = [self.geometry];
        let mut info = vk::AccelerationStructureBuildGeometryInfoKHR::default()
            .ty(self.kind)
            .flags(self.flags)
            .geometries(&geometries)
            .dst_acceleration_structure(self.handle)
            .scratch_data(vk::DeviceOrHostAddressKHR { device_address: self.scratch });
        if update {
            info = info
                .mode(vk::BuildAccelerationStructureModeKHR::UPDATE)
                .src_acceleration_structure(self.handle);
        }
        let range = [vk::AccelerationStructureBuildRangeInfoKHR::default().primitive_count(self.count)];
        let structures = &gpu.ray().structures;
        unsafe { structures.cmd_build_acceleration_structures(commands, &[info], &[&range]) };
    }
}

/// A structure in a buffer of its own.
fn create(gpu: &Gpu, name: &str, kind: Kind, size: u64) -> Result<vk::AccelerationStructureKHR> {
    let buffer = gpu.device_buffer(&format!("{name} storage"), size, STORAGE)?;
    let info = vk::AccelerationStructureCreateInfoKHR::default().buffer(buffer.handle).size(size).ty(kind);
    unsafe { gpu.ray().structures.create_acceleration_structure(&info, None) }
        .doing(format!("making the acceleration structure '{name}'"))
}

/// Builds a structure, copies it to as little room as it takes, and destroys the one that took more.
fn compacted(gpu: &Gpu, name: &str, full: Structure) -> Result<vk::AccelerationStructureKHR> {
    let kind = vk::QueryType::ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR;
    let pool_info = vk::QueryPoolCreateInfo::default().query_type(kind).query_count(1);
    let pool = unsafe { gpu.device.create_query_pool(&pool_info, None) }?;
    gpu.adopt(pool, &format!("{name} compacted size"));
    gpu.name(full.handle, &format!("{name} as built"));
    let structures = &gpu.ray().structures;
    let stage = vk::PipelineStageFlags::ACCELERATION_STRUCTURE_BUILD_KHR;
    let built = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::ACCELERATION_STRUCTURE_WRITE_KHR)
        .dst_access_mask(vk::AccessFlags::ACCELERATION_STRUCTURE_READ_KHR);
    gpu.run_once(&format!("build {name}"), |device, commands| unsafe {
        device.cmd_reset_query_pool(commands, pool, 0, 1);
        full.build(gpu, commands, false);
        device.cmd_pipeline_barrier(commands, stage, stage, vk::DependencyFlags::empty(), &[built], &[], &[]);
        structures.cmd_write_acceleration_structures_properties(commands, &[full.handle], kind, pool, 0);
    })?;
    let mut size = [0u64];
    let wait = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
    unsafe { gpu.device.get_query_pool_results(pool, 0, &mut size, wait) }?;
    let compact = create(gpu, &format!("{name} compacted"), full.kind, size[0])?;
    gpu.adopt(compact, name);
    gpu.run_once(&format!("compact {name}"), |_, commands| {
        let info = vk::CopyAccelerationStructureInfoKHR::default()
            .src(full.handle)
            .dst(compact)
            .mode(vk::CopyAccelerationStructureModeKHR::COMPACT);
        unsafe { structures.cmd_copy_acceleration_structure(commands, &info) };
    })?;
    unsafe { structures.destroy_acceleration_structure(full.handle, None) };
    Ok(compact)
}

fn reference(gpu: &Gpu, structure: vk::AccelerationStructureKHR) -> u64 {
    let info = vk::AccelerationStructureDeviceAddressInfoKHR::default().acceleration_structure(structure);
    unsafe { gpu.ray().structures.get_acceleration_structure_device_address(&info) }
}
