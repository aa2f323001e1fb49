//! Memory and objects for copies: as large as what they copy, on the device, else in the host's memory.
//!
//! Guarantees: what is made is counted, by where it lies. Refuses, with the bytes that were wanted, when neither memory
//! has room.

use crate::error::{Error, Kind, Result, Vk};
use crate::vulkan::copyable::COPIES;
use crate::vulkan::memory::{Alloc, AllocKind, best_type};
use crate::vulkan::{DeviceState, ImageState, format};
use ash::vk;

/// What the copies take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Bytes of all copies.
    pub bytes: u64,
    /// Of these, in memory that is not the device's.
    pub host_bytes: u64,
    /// Buffers copied.
    pub buffers: u64,
    /// Images copied.
    pub images: u64,
    /// Acceleration structures cloned.
    pub structures: u64,
}

/// A buffer of ours.
pub(super) struct BackupBuffer {
    pub live: vk::Buffer,
    pub alloc: Alloc,
}

/// An image of ours.
pub(super) struct BackupImage {
    pub live: vk::Image,
    /// Holds the memory.
    _alloc: Alloc,
}

/// Memory of ours for a resource: on the device, else anywhere the resource may lie.
pub(super) fn memory(
    d: &mut DeviceState,
    need: vk::MemoryRequirements,
    kind: AllocKind,
    addresses: bool,
    cost: &mut Cost,
) -> Result<Alloc> {
    let (none, local) = (vk::MemoryPropertyFlags::empty(), vk::MemoryPropertyFlags::DEVICE_LOCAL);
    let props = d.gpu.memory;
    let on_device = best_type(&props, need.memory_type_bits, none, local);
    match d.alloc(need, (none, local), kind, addresses) {
        Err(e) if !e.is_gone() => {}
        got => {
            cost.bytes += need.size;
            return got;
        }
    }
    // Types that are not the device's own, or not only.
    let elsewhere = (0..props.memory_type_count)
        .filter(|t| Some(*t) != on_device && !props.memory_types[*t as usize].property_flags.contains(local))
        .fold(0, |bits, t| bits | 1 << t);
    let need_elsewhere =
        vk::MemoryRequirements { memory_type_bits: need.memory_type_bits & elsewhere, ..need };
    let a = d.alloc(need_elsewhere, (none, none), kind, addresses).map_err(|_| {
        Error::new(
            Kind::Memory,
            format!(
                "no memory for the copies that a repeated frame is put back from: {} bytes are taken, {} more are \
                 wanted",
                cost.bytes, need.size
            ),
        )
    })?;
    cost.bytes += need.size;
    cost.host_bytes += need.size;
    Ok(a)
}

/// A buffer for copies.
pub(super) fn buffer(
    d: &mut DeviceState,
    size: u64,
    more: vk::BufferUsageFlags,
    cost: &mut Cost,
) -> Result<BackupBuffer> {
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST | more;
    let addresses = usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS);
    let info = vk::BufferCreateInfo::default().size(size).usage(usage);
    // SAFETY: plain creations on a live device, in order.
    unsafe {
        let live = d.ash.create_buffer(&info, None).what("vkCreateBuffer (contents)")?;
        let need = d.ash.get_buffer_memory_requirements(live);
        let alloc = match memory(d, need, AllocKind::Linear, addresses, cost) {
            Ok(a) => a,
            Err(e) => {
                d.ash.destroy_buffer(live, None);
                return Err(e);
            }
        };
        let bound = d.ash.bind_buffer_memory(live, alloc.memory(), alloc.offset());
        bound.what("vkBindBufferMemory (contents)")?;
        Ok(BackupBuffer { live, alloc })
    }
}

/// A buffer that the host reads.
pub(super) fn staging(d: &mut DeviceState, size: u64) -> Result<BackupBuffer> {
    let info = vk::BufferCreateInfo::default().size(size).usage(vk::BufferUsageFlags::TRANSFER_DST);
    let visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    // SAFETY: as above.
    unsafe {
        let live = d.ash.create_buffer(&info, None).what("vkCreateBuffer (contents)")?;
        let need = d.ash.get_buffer_memory_requirements(live);
        let flags = (visible, vk::MemoryPropertyFlags::HOST_CACHED);
        let alloc = d.alloc(need, flags, AllocKind::Linear, false)?;
        let bound = d.ash.bind_buffer_memory(live, alloc.memory(), alloc.offset());
        bound.what("vkBindBufferMemory (contents)")?;
        Ok(BackupBuffer { live, alloc })
    }
}

/// An image that another can be copied into, subresource by subresource.
pub(super) fn image(
    d: &mut DeviceState,
    instance: &ash::Instance,
    of: &ImageState,
    cost: &mut Cost,
) -> Result<BackupImage> {
    use vk::ImageUsageFlags as U;
    // Sample counts go by use.
    let attachment = match of.samples {
        vk::SampleCountFlags::TYPE_1 => U::empty(),
        _ => of.usage & (U::COLOR_ATTACHMENT | U::DEPTH_STENCIL_ATTACHMENT | U::SAMPLED),
    };
    let info = |tiling, flags, usage| {
        vk::ImageCreateInfo::default()
            .flags(flags)
            .image_type(of.kind)
            .format(of.format)
            .extent(of.extent)
            .mip_levels(of.levels)
            .array_layers(of.layers)
            .samples(of.samples)
            .tiling(tiling)
            .usage(usage)
    };
    let plain = info(vk::ImageTiling::OPTIMAL, vk::ImageCreateFlags::empty(), COPIES | attachment);
    // SAFETY: a query about a live physical device.
    let able = unsafe {
        instance.get_physical_device_image_format_properties(
            d.gpu.handle,
            plain.format,
            plain.image_type,
            plain.tiling,
            plain.usage,
            plain.flags,
        )
    };
    let able = able.is_ok_and(|p| {
        p.sample_counts.contains(of.samples)
            && of.levels <= p.max_mip_levels
            && of.layers <= p.max_array_layers
            && of.extent.width <= p.max_extent.width
            && of.extent.height <= p.max_extent.height
            && of.extent.depth <= p.max_extent.depth
    });
    let planar = format::aspects(of.format).len() > 1 && of.flags.contains(vk::ImageCreateFlags::DISJOINT);
    let info = if able || planar { plain } else { info(of.tiling, of.flags, of.usage) };
    // SAFETY: plain creations on a live device, in order.
    unsafe {
        let live = d.ash.create_image(&info, None).what("vkCreateImage (contents)")?;
        let need = d.ash.get_image_memory_requirements(live);
        let kind = match info.tiling {
            vk::ImageTiling::LINEAR => AllocKind::Linear,
            _ => AllocKind::Optimal,
        };
        let alloc = match memory(d, need, kind, false, cost) {
            Ok(a) => a,
            Err(e) => {
                d.ash.destroy_image(live, None);
                return Err(e);
            }
        };
        let bound = d.ash.bind_image_memory(live, alloc.memory(), alloc.offset());
        bound.what("vkBindImageMemory (contents)")?;
        Ok(BackupImage { live, _alloc: alloc })
    }
}
