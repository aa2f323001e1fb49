//! Acceleration structures: geometries of triangles or boxes, bottom levels of them, a top level of instances.

use ash::vk;

use crate::error::{Doing, Result};
use crate::gpu::Gpu;

type Usage = vk::BufferUsageFlags;
type Kind = vk::AccelerationStructureTypeKHR;
type Flags = vk::GeometryFlagsKHR;

const ADDRESS: Usage = Usage::SHADER_DEVICE_ADDRESS;

/// Rows of a matrix that leaves everything where it is.
pub const IDENTITY: [f32; 12] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];

/// A geometry and how many primitives it has.
pub type Geometry = (vk::AccelerationStructureGeometryKHR<'static>, u32);

/// A structure at the bottom, somewhere in the world.
pub struct Instance {
    /// What is there.
    pub structure: vk::AccelerationStructureKHR,
    /// Three rows: where.
    pub rows: [f32; 12],
    /// A number that shaders read.
    pub custom_index: u32,
    /// Its first record in the table of hit groups.
    pub record: u32,
    /// Whether it is opaque whatever its geometries say.
    pub opaque: bool,
}

/// Their bytes.
pub fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn input() -> Usage {
    ADDRESS | Usage::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR
}

/// Opaque: any-hit shaders are not asked. Otherwise each is asked once about a hit.
fn flags(opaque: bool) -> Flags {
    if opaque { Flags::OPAQUE } else { Flags::NO_DUPLICATE_ANY_HIT_INVOCATION }
}

/// Triangles, nine floats each.
pub fn triangles(gpu: &Gpu, name: &str, corners: &[f32], opaque: bool) -> Result<Geometry> {
    let buffer = gpu.filled_buffer(&format!("{name} corners"), &floats(corners), input())?;
    let triangles = vk::AccelerationStructureGeometryTrianglesDataKHR::default()
        .vertex_format(vk::Format::R32G32B32_SFLOAT)
        .vertex_data(vk::DeviceOrHostAddressConstKHR { device_address: gpu.address(&buffer) })
        .vertex_stride(12)
        .max_vertex(corners.len() as u32 / 3 - 1)
        .index_type(vk::IndexType::NONE_KHR);
    let geometry = vk::AccelerationStructureGeometryKHR::default()
        .geometry_type(vk::GeometryTypeKHR::TRIANGLES)
        .geometry(vk::AccelerationStructureGeometryDataKHR { triangles })
        .flags(flags(opaque));
    Ok((geometry, corners.len() as u32 / 9))
}

/// Boxes, six floats each: from, to.
pub fn aabbs(gpu: &Gpu, name: &str, boxes: &[f32], opaque: bool) -> Result<Geometry> {
    let buffer = gpu.filled_buffer(&format!("{name} boxes"), &floats(boxes), input())?;
    let data = vk::DeviceOrHostAddressConstKHR { device_address: gpu.address(&buffer) };
    let aabbs = vk::AccelerationStructureGeometryAabbsDataKHR::default().data(data).stride(24);
    let geometry = vk::AccelerationStructureGeometryKHR::default()
        .geometry_type(vk::GeometryTypeKHR::AABBS)
        .geometry(vk::AccelerationStructureGeometryDataKHR { aabbs })
        .flags(flags(opaque));
    Ok((geometry, boxes.len() as u32 / 6))
}

/// A structure at the bottom.
pub fn bottom(gpu: &Gpu, name: &str, geometries: &[Geometry]) -> Result<vk::AccelerationStructureKHR> {
    built(gpu, name, Kind::BOTTOM_LEVEL, geometries)
}

/// The structure at the top.
pub fn top(gpu: &Gpu, name: &str, instances: &[Instance]) -> Result<vk::AccelerationStructureKHR> {
    let mut bytes = Vec::new();
    for instance in instances {
        let info = vk::AccelerationStructureDeviceAddressInfoKHR::default()
            .acceleration_structure(instance.structure);
        let reference = unsafe { gpu.ray().structures.get_acceleration_structure_device_address(&info) };
        bytes.extend(floats(&instance.rows));
        let forced = vk::GeometryInstanceFlagsKHR::FORCE_OPAQUE.as_raw() * u32::from(instance.opaque);
        // Custom index and mask, place in the table and flags.
        bytes.extend((instance.custom_index | 0xFF00_0000).to_le_bytes());
        bytes.extend((instance.record | forced << 24).to_le_bytes());
        bytes.extend(reference.to_le_bytes());
    }
    let buffer = gpu.filled_buffer(&format!("{name} instances"), &bytes, input())?;
    let data = vk::AccelerationStructureGeometryInstancesDataKHR::default()
        .data(vk::DeviceOrHostAddressConstKHR { device_address: gpu.address(&buffer) });
    let geometry = vk::AccelerationStructureGeometryKHR::default()
        .geometry_type(vk::GeometryTypeKHR::INSTANCES)
        .geometry(vk::AccelerationStructureGeometryDataKHR { instances: data });
    built(gpu, name, Kind::TOP_LEVEL, &[(geometry, instances.len() as u32)])
}

fn built(gpu: &Gpu, name: &str, kind: Kind, geometries: &[Geometry]) -> Result<vk::AccelerationStructureKHR> {
    let ray = gpu.ray();
    let (geometries, counts): (Vec<_>, Vec<u32>) = geometries.iter().copied().unzip();
    let info = vk::AccelerationStructureBuildGeometryInfoKHR::default()
        .ty(kind)
        .flags(vk::BuildAccelerationStructureFlagsKHR::PREFER_FAST_TRACE)
        .geometries(&geometries);
    let mut sizes = vk::AccelerationStructureBuildSizesInfoKHR::default();
    let on = vk::AccelerationStructureBuildTypeKHR::DEVICE;
    unsafe { ray.structures.get_acceleration_structure_build_sizes(on, &info, &counts, &mut sizes) };
    let bytes = sizes.build_scratch_size.max(1) + ray.scratch_alignment;
    let scratch = gpu.device_buffer(&format!("{name} scratch"), bytes, ADDRESS | Usage::STORAGE_BUFFER)?;
    let scratch = gpu.address(&scratch).next_multiple_of(ray.scratch_alignment);
    let size = sizes.acceleration_structure_size;
    let usage = ADDRESS | Usage::ACCELERATION_STRUCTURE_STORAGE_KHR;
    let buffer = gpu.device_buffer(&format!("{name} storage"), size, usage)?;
    let create = vk::AccelerationStructureCreateInfoKHR::default().buffer(buffer.handle).size(size).ty(kind);
    let made = unsafe { ray.structures.create_acceleration_structure(&create, None) }
        .doing(format!("making the acceleration structure '{name}'"))?;
    let info = info
        .dst_acceleration_structure(made)
        .scratch_data(vk::DeviceOrHostAddressKHR { device_address: scratch });
    let ranges: Vec<_> = counts
        .iter()
        .map(|n| vk::AccelerationStructureBuildRangeInfoKHR::default().primitive_count(*n))
        .collect();
    gpu.run_once(&format!("build {name}"), |_, commands| unsafe {
        ray.structures.cmd_build_acceleration_structures(commands, &[info], &[&ranges]);
    })?;
    Ok(gpu.adopt(made, name))
}
