//! Uses that resources get at their creation so that they can be put back.
//!
//! Guarantees: an image is widened only where the device says that it can still be made, and, where captured memory is
//! used as it is, only if it takes no more of it. Leaves alone what cannot be put back: transient, protected, sparse.

use crate::error::Result;
use crate::link::Linked;
use crate::options::MemoryMode;
use crate::vulkan::Vulkan;
use ash::vk;

/// Both ways.
pub(crate) const COPIES: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::TRANSFER_SRC.as_raw() | vk::ImageUsageFlags::TRANSFER_DST.as_raw(),
);

/// A buffer is copied from and to. `info`: the create info of a linked call.
pub(crate) fn widen_buffer(linked: &mut Linked, info: &mut vk::BufferCreateInfo<'_>) {
    if info.flags.contains(vk::BufferCreateFlags::PROTECTED) {
        return;
    }
    info.usage |= vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    // Its usage is in force instead of the older one.
    if let Some(more) = linked.in_chain::<vk::BufferUsageFlags2CreateInfoKHR<'_>>(info.p_next) {
        more.usage |= vk::BufferUsageFlags2KHR::TRANSFER_SRC | vk::BufferUsageFlags2KHR::TRANSFER_DST;
    }
}

/// An image is copied from and to.
pub(crate) fn widen_image(vk: &Vulkan, device: u64, info: &mut vk::ImageCreateInfo<'_>) -> Result<()> {
    let asked = info.usage;
    let hopeless = vk::ImageCreateFlags::PROTECTED | vk::ImageCreateFlags::SPARSE_BINDING;
    let wanted = asked | COPIES;
    if wanted == asked
        || asked.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT)
        || info.flags.intersects(hopeless)
        || !matches!(info.tiling, vk::ImageTiling::OPTIMAL | vk::ImageTiling::LINEAR)
    {
        return Ok(());
    }
    let d = vk.device(device)?;
    let Some(instance) = vk.instances.get(&d.instance_id) else { return Ok(()) };
    // SAFETY: queries about a live physical device.
    let able = unsafe {
        instance.ash.get_physical_device_image_format_properties(
            d.gpu.handle,
            info.format,
            info.image_type,
            info.tiling,
            wanted,
            info.flags,
        )
    };
    let able = able.is_ok_and(|p| {
        let (e, most) = (info.extent, p.max_extent);
        p.sample_counts.contains(info.samples)
            && e.width <= most.width
            && e.height <= most.height
            && e.depth <= most.depth
            && info.mip_levels <= p.max_mip_levels
            && info.array_layers <= p.max_array_layers
    });
    if !able {
        return Ok(());
    }
    // Captured memory has room for what the captured image needed.
    if vk.memory.mode != MemoryMode::Rebind && !info.flags.contains(vk::ImageCreateFlags::DISJOINT) {
        let need = |usage| {
            let info = vk::ImageCreateInfo { usage, ..*info };
            // SAFETY: linked create infos with uses that the device has; the image is never bound.
            unsafe {
                let image = d.ash.create_image(&info, None).ok()?;
                let need = d.ash.get_image_memory_requirements(image);
                d.ash.destroy_image(image, None);
                Some(need)
            }
        };
        let fits = match (need(asked), need(wanted)) {
            (Some(before), Some(after)) => {
                after.size <= before.size
                    && after.alignment <= before.alignment
                    && after.memory_type_bits & before.memory_type_bits == before.memory_type_bits
            }
            _ => false,
        };
        if !fits {
            return Ok(());
        }
    }
    info.usage = wanted;
    Ok(())
}
