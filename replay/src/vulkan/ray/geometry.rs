//! Builds as a call describes them: read out of linked memory, and written back; how large corners, indices and instances are.

use crate::error::{Error, Kind, Result};
use crate::link::Linked;
use ash::vk;
use gfxr_parse::ahead::Call;
use gfxr_parse::image::Ptr;
use gfxr_parse::{argument, member, param, size_of_struct};

/// Bytes of a VkAccelerationStructureInstanceKHR.
pub(super) const INSTANCE_BYTES: u64 = size_of_struct!("VkAccelerationStructureInstanceKHR") as u64;

/// A translation to be recorded before a build.
pub(super) struct Step {
    /// Its shader.
    pub pipeline: vk::Pipeline,
    /// Its push constants.
    pub arguments: Vec<u8>,
    /// Invocations.
    pub count: u32,
}

/// A build, copied out of a linked call.
pub(super) struct LinkedBuild {
    pub(super) info: vk::AccelerationStructureBuildGeometryInfoKHR<'static>,
    /// As many as the build says.
    pub geometries: Vec<vk::AccelerationStructureGeometryKHR<'static>>,
    /// One of each, where the host knows them.
    pub ranges: Vec<vk::AccelerationStructureBuildRangeInfoKHR>,
    /// What extends the triangles of each geometry.
    pub extended: Vec<Option<&'static str>>,
}

impl LinkedBuild {
    /// The build at an address of a linked call; its ranges are at another.
    pub fn read(linked: &Linked, info: u64, ranges: Option<u64>) -> Result<Self> {
        let short = || Error::new(Kind::Capture, "a build with fewer geometries or ranges than it says");
        let info = *linked
            .one(info as *const vk::AccelerationStructureBuildGeometryInfoKHR<'_>)
            .ok_or_else(short)?;
        let n = info.geometry_count;
        // One of the two arrays is there.
        let geometries = if info.p_geometries.is_null() {
            let pointers = linked.all(info.pp_geometries.cast::<*const _>(), n).ok_or_else(short)?;
            pointers.iter().map(|p| linked.one(*p).copied()).collect::<Option<_>>()
        } else {
            linked.all(info.p_geometries, n).map(<[_]>::to_vec)
        };
        let geometries: Vec<vk::AccelerationStructureGeometryKHR<'_>> = geometries.ok_or_else(short)?;
        let ranges = match ranges {
            Some(at) => linked.all(at as *const _, n).ok_or_else(short)?.to_vec(),
            None => Vec::new(),
        };
        let extended = geometries.iter().map(|g| extended(linked, g)).collect();
        Ok(LinkedBuild { info, geometries, ranges, extended })
    }

    /// What the driver is told: valid as long as this is there, and the call that it was read from.
    pub fn info(&self) -> vk::AccelerationStructureBuildGeometryInfoKHR<'_> {
        vk::AccelerationStructureBuildGeometryInfoKHR {
            p_geometries: self.geometries.as_ptr(),
            pp_geometries: std::ptr::null(),
            geometry_count: self.geometries.len() as u32,
            ..self.info
        }
    }
    /// To change what is built and where.
    pub fn info_mut(&mut self) -> &mut vk::AccelerationStructureBuildGeometryInfoKHR<'static> {
        &mut self.info
    }

    /// Puts what was changed back to where it was read from.
    pub fn put_back(&self, linked: &mut Linked, info: u64, ranges: Option<u64>) {
        let n = self.geometries.len() as u32;
        if let Some(i) = linked.one_mut(info as *const vk::AccelerationStructureBuildGeometryInfoKHR<'_>) {
            *i = self.info;
        }
        if self.info.p_geometries.is_null() {
            let pointers: Vec<*const _> =
                linked.all(self.info.pp_geometries.cast(), n).unwrap_or_default().to_vec();
            for (p, g) in pointers.into_iter().zip(&self.geometries) {
                if let Some(to) = linked.one_mut(p) {
                    *to = *g;
                }
            }
        } else if let Some(to) = linked.all_mut(self.info.p_geometries, n) {
            to.copy_from_slice(&self.geometries);
        }
        if let Some(to) = ranges.and_then(|at| linked.all_mut(at as *const _, n)) {
            to.copy_from_slice(&self.ranges);
        }
    }
}

/// Where the builds of a call are: the address of each info, and of its ranges in the array of arrays in slot `inner`.
pub(super) fn places(call: &Call, linked: &Linked, inner: usize) -> Result<Vec<(u64, u64)>> {
    // (indirect builds have these parameters at the same places)
    const COUNT: usize = argument!("vkCmdBuildAccelerationStructuresKHR", "infoCount");
    const INFOS: usize = argument!("vkCmdBuildAccelerationStructuresKHR", "pInfos");
    let n = linked.arg(COUNT) as u32;
    let short = || Error::new(Kind::Capture, format!("fewer builds than the {n} that the call says"));
    let infos = linked.params::<vk::AccelerationStructureBuildGeometryInfoKHR<'_>>(INFOS, COUNT);
    let infos = infos.ok_or_else(short)?;
    let outer = linked.all(linked.arg(inner) as *const u64, n).ok_or_else(short)?;
    let inner = call.image.ptr(call.command.params[inner].at).filter(|p| p.has_data());
    for (i, info) in (0..).zip(infos) {
        // No count member governs these arrays.
        let slot = |p: &Ptr| p.to + i * size_of::<u64>() as u32;
        let have = inner.and_then(|p| call.image.ptr(slot(p))).filter(|p| p.has_data()).map_or(0, |p| p.len);
        if have < info.geometry_count.into() {
            return Err(Error::new(
                Kind::Capture,
                format!(
                    "build {i} has {} geometries and numbers of primitives for {have}",
                    info.geometry_count
                ),
            ));
        }
    }
    Ok(infos.iter().zip(outer).map(|(info, at)| ((&raw const *info) as u64, *at)).collect())
}

/// Instances of another shape than the one that is translated.
pub(super) fn refuse_motion(flags: vk::BuildAccelerationStructureFlagsKHR) -> Result<()> {
    if flags.contains(vk::BuildAccelerationStructureFlagsKHR::MOTION_NV) {
        return Err(Error::new(
            Kind::Unsupported,
            "a top-level build with motion (VK_NV_ray_tracing_motion_blur): references in its instances are not translated",
        ));
    }
    Ok(())
}

/// Where a geometry's instances are.
pub(super) struct Instances {
    /// The live address of the first, or of the first pointer.
    pub address: u64,
    /// They are pointers to instances.
    pub pointers: bool,
}

/// A geometry's instances, if it has any.
pub(super) fn source_of(geometry: &vk::AccelerationStructureGeometryKHR<'_>) -> Option<Instances> {
    // SAFETY: the caller saw that the geometry is one of instances.
    let (address, pointers) = unsafe {
        let i = &geometry.geometry.instances;
        (i.data.device_address, i.array_of_pointers != 0)
    };
    (address != 0).then_some(Instances { address, pointers })
}

/// The captured scratch address of each build.
pub(super) fn captured_scratch(call: &Call, n: usize) -> Vec<u64> {
    const SIZE: u32 = size_of_struct!("VkAccelerationStructureBuildGeometryInfoKHR");
    const SCRATCH: u32 = member!("VkAccelerationStructureBuildGeometryInfoKHR", "scratchData");
    let infos = call.image.ptr(param!("vkCmdBuildAccelerationStructuresKHR", "pInfos"));
    let infos = infos.filter(|p| p.has_data());
    let of = |i: u32| {
        infos.filter(|p| u64::from(i) < p.len).map_or(0, |p| call.image.u64(p.to + i * SIZE + SCRATCH))
    };
    (0..n as u32).map(of).collect()
}

/// What extends triangles, if anything does.
fn extended(linked: &Linked, geometry: &vk::AccelerationStructureGeometryKHR<'_>) -> Option<&'static str> {
    if geometry.geometry_type != vk::GeometryTypeKHR::TRIANGLES {
        return None;
    }
    // SAFETY: the geometry type says which member is meant.
    let next = unsafe { geometry.geometry.triangles.p_next };
    let named = |s| match s {
        vk::StructureType::ACCELERATION_STRUCTURE_TRIANGLES_OPACITY_MICROMAP_EXT => Some("opacity micromaps"),
        vk::StructureType::ACCELERATION_STRUCTURE_TRIANGLES_DISPLACEMENT_MICROMAP_NV => {
            Some("displacement micromaps")
        }
        vk::StructureType::ACCELERATION_STRUCTURE_GEOMETRY_MOTION_TRIANGLES_DATA_NV => Some("motion"),
        _ => None,
    };
    linked.chain(next).find_map(|s| named(s.1))
}

/// Bytes of a corner; formats that hardware builds from.
pub(super) fn corner_bytes(format: vk::Format) -> Result<u32> {
    use vk::Format as F;
    Ok(match format {
        F::R8G8_SNORM | F::R8G8_UNORM => 2,
        F::R8G8B8_SNORM | F::R8G8B8_UNORM => 3,
        F::R16G16_SFLOAT
        | F::R16G16_SNORM
        | F::R16G16_UNORM
        | F::R8G8B8A8_SNORM
        | F::R8G8B8A8_UNORM
        | F::A2B10G10R10_UNORM_PACK32
        | F::A2B10G10R10_SNORM_PACK32 => 4,
        F::R16G16B16_SFLOAT | F::R16G16B16_SNORM | F::R16G16B16_UNORM => 6,
        F::R32G32_SFLOAT | F::R16G16B16A16_SFLOAT | F::R16G16B16A16_SNORM | F::R16G16B16A16_UNORM => 8,
        F::R32G32B32_SFLOAT => 12,
        F::R32G32B32A32_SFLOAT => 16,
        F::R64G64B64_SFLOAT => 24,
        other => {
            return Err(Error::new(
                Kind::Unsupported,
                format!("an indirect build of corners in {other:?}, on a device without indirect builds"),
            ));
        }
    })
}

/// Bytes of an index; 0 where there are none.
pub(super) fn index_bytes(kind: vk::IndexType) -> u32 {
    match kind {
        vk::IndexType::UINT16 => 2,
        vk::IndexType::UINT32 => 4,
        vk::IndexType::UINT8_EXT => 1,
        _ => 0,
    }
}
