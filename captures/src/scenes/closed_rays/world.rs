//! What the rays meet: a triangle across the upper half, and a box in a quarter of the lower.

use ash::vk;

use crate::error::{Doing, Result};
use crate::gpu::Gpu;

type Usage = vk::BufferUsageFlags;
type Kind = vk::AccelerationStructureTypeKHR;

const ADDRESS: Usage = Usage::SHADER_DEVICE_ADDRESS;

/// Reaches far beyond the picture on three sides; its edge at y = 16 passes between two rows of rays.
const TRIANGLE: [f32; 9] = [-200.0, 16.0, -1.0, 264.0, 16.0, -1.0, 32.0, -400.0, -1.0];

/// From, to: its sides pass between rays.
const BOX: [f32; 6] = [-1.0, 16.0, -3.0, 32.0, 33.0, -2.0];

/// Builds all of it; gives the structure at the top.
pub fn world(gpu: &Gpu) -> Result<vk::AccelerationStructureKHR> {
    let input = ADDRESS | Usage::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR;
    let filled = |name: &str, floats: &[f32]| -> Result<vk::DeviceOrHostAddressConstKHR> {
        let bytes: Vec<u8> = floats.iter().flat_map(|f| f.to_le_bytes()).collect();
        let buffer = gpu.filled_buffer(name, &bytes, input)?;
        Ok(vk::DeviceOrHostAddressConstKHR { device_address: gpu.address(&buffer) })
    };
    let triangles = vk::AccelerationStructureGeometryTrianglesDataKHR::default()
        .vertex_format(vk::Format::R32G32B32_SFLOAT)
        .vertex_data(filled("corners", &TRIANGLE)?)
        .vertex_stride(12)
        .max_vertex(2)
        .index_type(vk::IndexType::NONE_KHR);
    let triangles = vk::AccelerationStructureGeometryKHR::default()
        .geometry_type(vk::GeometryTypeKHR::TRIANGLES)
        .geometry(vk::AccelerationStructureGeometryDataKHR { triangles })
        // Without it a driver may ask the any-hit shader twice about one hit.
        .flags(vk::GeometryFlagsKHR::NO_DUPLICATE_ANY_HIT_INVOCATION);
    let aabbs =
        vk::AccelerationStructureGeometryAabbsDataKHR::default().data(filled("boxes", &BOX)?).stride(24);
    let aabbs = vk::AccelerationStructureGeometryKHR::default()
        .geometry_type(vk::GeometryTypeKHR::AABBS)
        .geometry(vk::AccelerationStructureGeometryDataKHR { aabbs })
        .flags(vk::GeometryFlagsKHR::OPAQUE);
    let plane = built(gpu, "plane", Kind::BOTTOM_LEVEL, triangles, 1)?;
    let heap = built(gpu, "box", Kind::BOTTOM_LEVEL, aabbs, 1)?;

    let mut instances = Vec::new();
    for (n, structure) in (0u32..).zip([plane, heap]) {
        let info = vk::AccelerationStructureDeviceAddressInfoKHR::default().acceleration_structure(structure);
        let reference = unsafe { gpu.ray().structures.get_acceleration_structure_device_address(&info) };
        let rows: [f32; 12] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
        instances.extend(rows.iter().flat_map(|f| f.to_le_bytes()));
        // Custom index and mask, place in the table and flags.
        instances.extend(0xFF00_0000u32.to_le_bytes());
        instances.extend(n.to_le_bytes());
        instances.extend(reference.to_le_bytes());
    }
    let instances = gpu.filled_buffer("instances", &instances, input)?;
    let data = vk::AccelerationStructureGeometryInstancesDataKHR::default()
        .data(vk::DeviceOrHostAddressConstKHR { device_address: gpu.address(&instances) });
    let instances = vk::AccelerationStructureGeometryKHR::default()
        .geometry_type(vk::GeometryTypeKHR::INSTANCES)
        .geometry(vk::AccelerationStructureGeometryDataKHR { instances: data });
    built(gpu, "world", Kind::TOP_LEVEL, instances, 2)
}

/// A structure of one geometry, built.
fn built(
    gpu: &Gpu,
    name: &str,
    kind: Kind,
    geometry: vk::AccelerationStructureGeometryKHR<'static>,
    count: u32,
) -> Result<vk::AccelerationStructureKHR> {
    let ray = gpu.ray();
    let geometries = [geometry];
    let info = vk::AccelerationStructureBuildGeometryInfoKHR::default()
        .ty(kind)
        .flags(vk::BuildAccelerationStructureFlagsKHR::PREFER_FAST_TRACE)
        .geometries(&geometries);
    let mut sizes = vk::AccelerationStructureBuildSizesInfoKHR::default();
    let on = vk::AccelerationStructureBuildTypeKHR::DEVICE;
    unsafe { ray.structures.get_acceleration_structure_build_sizes(on, &info, &[count], &mut sizes) };
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
    let range = [vk::AccelerationStructureBuildRangeInfoKHR::default().primitive_count(count)];
    gpu.run_once(&format!("build {name}"), |_, commands| unsafe {
        ray.structures.cmd_build_acceleration_structures(commands, &[info], &[&range]);
    })?;
    Ok(gpu.adopt(made, name))
}
