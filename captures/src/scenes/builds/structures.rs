//! The structures and how each comes about: built, compacted, cloned, serialised and read again, updated into another.

use ash::vk;

use super::content;
use crate::error::{Doing, Result};
use crate::gpu::{Buffer, Gpu};

type Usage = vk::BufferUsageFlags;
type Flags = vk::BuildAccelerationStructureFlagsKHR;
type Kind = vk::AccelerationStructureTypeKHR;
type Mode = vk::CopyAccelerationStructureModeKHR;
type Query = vk::QueryType;

const ADDRESS: Usage = Usage::SHADER_DEVICE_ADDRESS;
/// Serialised structures begin at multiples of this.
const SERIAL_ALIGN: u64 = 256;

/// A build: of one geometry.
pub struct Build {
    kind: Kind,
    geometry: vk::AccelerationStructureGeometryKHR<'static>,
    count: u32,
    flags: Flags,
    /// Bytes of the structure.
    pub size: u64,
    scratch: u64,
}

impl Build {
    fn new(
        gpu: &Gpu,
        name: &str,
        kind: Kind,
        geometry: vk::AccelerationStructureGeometryKHR<'static>,
        count: u32,
        flags: Flags,
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
        let scratch =
            gpu.device_buffer(&format!("{name} scratch"), bytes, ADDRESS | Usage::STORAGE_BUFFER)?;
        let scratch = gpu.address(&scratch).next_multiple_of(ray.scratch_alignment);
        Ok(Self { kind, geometry, count, flags, size: sizes.acceleration_structure_size, scratch })
    }

    /// Of the triangles of a mesh.
    pub fn mesh(gpu: &Gpu, mesh: usize) -> Result<Self> {
        let name = format!("mesh {mesh}");
        let bytes: Vec<u8> = content::corners(mesh).iter().flat_map(|f| f.to_le_bytes()).collect();
        let input = ADDRESS | Usage::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR;
        let corners = gpu.filled_buffer(&format!("{name} corners"), &bytes, input)?;
        let triangles = vk::AccelerationStructureGeometryTrianglesDataKHR::default()
            .vertex_format(vk::Format::R32G32B32_SFLOAT)
            .vertex_data(vk::DeviceOrHostAddressConstKHR { device_address: gpu.address(&corners) })
            .vertex_stride(12)
            .max_vertex(content::SQUARES * 6 - 1)
            .index_type(vk::IndexType::NONE_KHR);
        let geometry = vk::AccelerationStructureGeometryKHR::default()
            .geometry_type(vk::GeometryTypeKHR::TRIANGLES)
            .geometry(vk::AccelerationStructureGeometryDataKHR { triangles })
            .flags(vk::GeometryFlagsKHR::OPAQUE);
        let flags = Flags::PREFER_FAST_TRACE | Flags::ALLOW_COMPACTION;
        Self::new(gpu, &name, Kind::BOTTOM_LEVEL, geometry, content::SQUARES * 2, flags)
    }

    /// Of the two instances in a buffer.
    pub fn top(gpu: &Gpu, name: &str, instances: &Buffer) -> Result<Self> {
        let data = vk::AccelerationStructureGeometryInstancesDataKHR::default()
            .data(vk::DeviceOrHostAddressConstKHR { device_address: gpu.address(instances) });
        let geometry = vk::AccelerationStructureGeometryKHR::default()
            .geometry_type(vk::GeometryTypeKHR::INSTANCES)
            .geometry(vk::AccelerationStructureGeometryDataKHR { instances: data });
        Self::new(gpu, name, Kind::TOP_LEVEL, geometry, 2, Flags::ALLOW_UPDATE)
    }

    /// A structure as large as this build needs.
    pub fn target(&self, gpu: &Gpu, name: &str) -> Result<vk::AccelerationStructureKHR> {
        create(gpu, name, self.kind, self.size)
    }

    /// Records the build, or with `from` the update of another structure into `to`.
    pub fn record(
        &self,
        gpu: &Gpu,
        commands: vk::CommandBuffer,
        to: vk::AccelerationStructureKHR,
        from: Option<vk::AccelerationStructureKHR>,
    ) {
        let geometries = [self.geometry];
        let mut info = vk::AccelerationStructureBuildGeometryInfoKHR::default()
            .ty(self.kind)
            .flags(self.flags)
            .geometries(&geometries)
            .dst_acceleration_structure(to)
            .scratch_data(vk::DeviceOrHostAddressKHR { device_address: self.scratch });
        if let Some(from) = from {
            info = info.mode(vk::BuildAccelerationStructureModeKHR::UPDATE).src_acceleration_structure(from);
        }
        let range = [vk::AccelerationStructureBuildRangeInfoKHR::default().primitive_count(self.count)];
        unsafe { gpu.ray().structures.cmd_build_acceleration_structures(commands, &[info], &[&range]) };
    }

    /// Builds now.
    pub fn now(&self, gpu: &Gpu, name: &str) -> Result<vk::AccelerationStructureKHR> {
        let built = self.target(gpu, name)?;
        gpu.run_once(&format!("build {name}"), |_, commands| self.record(gpu, commands, built, None))?;
        Ok(built)
    }
}

/// The usage of a buffer of instances.
pub fn instance_usage() -> Usage {
    ADDRESS | Usage::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR
}

fn create(gpu: &Gpu, name: &str, kind: Kind, size: u64) -> Result<vk::AccelerationStructureKHR> {
    let usage = ADDRESS | Usage::ACCELERATION_STRUCTURE_STORAGE_KHR;
    let buffer = gpu.device_buffer(&format!("{name} storage"), size, usage)?;
    let info = vk::AccelerationStructureCreateInfoKHR::default().buffer(buffer.handle).size(size).ty(kind);
    let made = unsafe { gpu.ray().structures.create_acceleration_structure(&info, None) }
        .doing(format!("making the acceleration structure '{name}'"))?;
    Ok(gpu.adopt(made, name))
}

/// What instances refer to a structure by.
pub fn reference(gpu: &Gpu, structure: vk::AccelerationStructureKHR) -> u64 {
    let info = vk::AccelerationStructureDeviceAddressInfoKHR::default().acceleration_structure(structure);
    unsafe { gpu.ray().structures.get_acceleration_structure_device_address(&info) }
}

/// How the answer to a query comes to the host.
#[derive(Clone, Copy)]
pub enum Answer {
    /// vkGetQueryPoolResults.
    Read,
    /// A copy to a buffer that the host reads.
    Copied,
}

fn ask(
    gpu: &Gpu,
    name: &str,
    structure: vk::AccelerationStructureKHR,
    kind: Query,
    how: Answer,
) -> Result<u64> {
    let info = vk::QueryPoolCreateInfo::default().query_type(kind).query_count(1);
    let pool = gpu.adopt(unsafe { gpu.device.create_query_pool(&info, None) }?, &format!("{name} size"));
    let answer = gpu.host_buffer(&format!("{name} answer"), 8, Usage::TRANSFER_DST)?;
    let structures = &gpu.ray().structures;
    gpu.run_once(&format!("ask {name}"), |device, commands| unsafe {
        device.cmd_reset_query_pool(commands, pool, 0, 1);
        structures.cmd_write_acceleration_structures_properties(commands, &[structure], kind, pool, 0);
        if let Answer::Copied = how {
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
            device.cmd_copy_query_pool_results(commands, pool, 0, 1, answer.handle, 0, 8, flags);
        }
    })?;
    let mut size = [0u64];
    match how {
        Answer::Copied => size[0] = u64::from_le_bytes(answer.read().try_into().expect("8 bytes")),
        Answer::Read => {
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
            unsafe { gpu.device.get_query_pool_results(pool, 0, &mut size, flags) }?;
        }
    }
    Ok(size[0])
}

/// A copy with as little room as it takes.
pub fn compacted(
    gpu: &Gpu,
    name: &str,
    full: vk::AccelerationStructureKHR,
    how: Answer,
) -> Result<vk::AccelerationStructureKHR> {
    let size = ask(gpu, name, full, Query::ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR, how)?;
    let small = create(gpu, name, Kind::BOTTOM_LEVEL, size)?;
    copy(gpu, name, full, small, Mode::COMPACT)?;
    Ok(small)
}

/// A clone, as large as what it is of.
pub fn cloned(
    gpu: &Gpu,
    name: &str,
    of: vk::AccelerationStructureKHR,
    build: &Build,
) -> Result<vk::AccelerationStructureKHR> {
    let clone = build.target(gpu, name)?;
    copy(gpu, name, of, clone, Mode::CLONE)?;
    Ok(clone)
}

fn copy(
    gpu: &Gpu,
    name: &str,
    from: vk::AccelerationStructureKHR,
    to: vk::AccelerationStructureKHR,
    mode: Mode,
) -> Result<()> {
    let info = vk::CopyAccelerationStructureInfoKHR::default().src(from).dst(to).mode(mode);
    gpu.run_once(&format!("copy {name}"), |_, commands| unsafe {
        gpu.ray().structures.cmd_copy_acceleration_structure(commands, &info);
    })
}

/// Serialises a top level and reads it again; `by_host`: out of a buffer to which the host took the bytes.
pub fn serialised(
    gpu: &Gpu,
    name: &str,
    of: vk::AccelerationStructureKHR,
    by_host: bool,
) -> Result<vk::AccelerationStructureKHR> {
    let query = Query::ACCELERATION_STRUCTURE_SERIALIZATION_SIZE_KHR;
    let size = ask(gpu, name, of, query, Answer::Read)?;
    let usage = ADDRESS | Usage::TRANSFER_SRC | Usage::TRANSFER_DST;
    let bytes = gpu.host_buffer(&format!("{name} bytes"), size + SERIAL_ALIGN, usage)?;
    let address = gpu.address(&bytes).next_multiple_of(SERIAL_ALIGN);
    let begin = (address - gpu.address(&bytes)) as usize;
    let structures = &gpu.ray().structures;
    let info = vk::CopyAccelerationStructureToMemoryInfoKHR::default()
        .src(of)
        .dst(vk::DeviceOrHostAddressKHR { device_address: address })
        .mode(Mode::SERIALIZE);
    gpu.run_once(&format!("serialise {name}"), |_, commands| unsafe {
        structures.cmd_copy_acceleration_structure_to_memory(commands, &info);
    })?;
    let content = bytes.read()[begin..].to_vec();
    // Two UUIDs, then the size of this and that of the structure.
    let room = u64::from_le_bytes(content[40..48].try_into().expect("8 bytes"));
    let mut source = address;
    if by_host {
        let taken = gpu.host_buffer(&format!("{name} taken"), size + 2 * SERIAL_ALIGN, usage)?;
        source = gpu.address(&taken).next_multiple_of(SERIAL_ALIGN);
        let mut all = vec![0; (source - gpu.address(&taken)) as usize];
        all.extend(&content[..size as usize]);
        taken.write(&all);
    }
    let again = create(gpu, name, Kind::TOP_LEVEL, room)?;
    let info = vk::CopyMemoryToAccelerationStructureInfoKHR::default()
        .src(vk::DeviceOrHostAddressConstKHR { device_address: source })
        .dst(again)
        .mode(Mode::DESERIALIZE);
    gpu.run_once(&format!("deserialise {name}"), |_, commands| unsafe {
        structures.cmd_copy_memory_to_acceleration_structure(commands, &info);
    })?;
    Ok(again)
}
