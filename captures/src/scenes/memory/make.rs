//! The resources of `memory`, and the memory each way of having it takes.

use ash::vk;

use super::SLOTS;
use crate::error::Result;
use crate::gpu::Gpu;

const DEVICE: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::DEVICE_LOCAL;
/// The largest nonCoherentAtomSize that Vulkan allows.
const ATOM: u64 = 256;

/// An image for copies, without memory.
pub fn image(
    gpu: &Gpu,
    name: &str,
    format: vk::Format,
    (width, height): (u32, u32),
    flags: vk::ImageCreateFlags,
) -> Result<vk::Image> {
    let info = plain(format, (width, height)).flags(flags);
    Ok(gpu.adopt(unsafe { gpu.device.create_image(&info, None) }?, name))
}

fn plain(format: vk::Format, (width, height): (u32, u32)) -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D { width, height, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST)
}

/// A buffer for copies, without memory.
pub fn buffer(gpu: &Gpu, name: &str, size: u64) -> Result<vk::Buffer> {
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    let info = vk::BufferCreateInfo::default().size(size).usage(usage);
    Ok(gpu.adopt(unsafe { gpu.device.create_buffer(&info, None) }?, name))
}

/// One allocation for all of these, bound in their order, the images at its beginning and the buffers where they want.
pub fn share(gpu: &Gpu, images: &[vk::Image], buffers: &[(vk::Buffer, u64)]) -> Result<()> {
    let device = &gpu.device;
    let mut all = vk::MemoryRequirements { memory_type_bits: u32::MAX, ..Default::default() };
    let mut add = |need: vk::MemoryRequirements, offset: u64| {
        all.size = all.size.max(offset + need.size);
        all.memory_type_bits &= need.memory_type_bits;
    };
    for image in images {
        add(unsafe { device.get_image_memory_requirements(*image) }, 0);
    }
    for (buffer, offset) in buffers {
        add(unsafe { device.get_buffer_memory_requirements(*buffer) }, *offset);
    }
    let memory = gpu.allocate("shared", &all, DEVICE)?;
    for image in images {
        unsafe { device.bind_image_memory(*image, memory, 0) }?;
    }
    for (buffer, offset) in buffers {
        unsafe { device.bind_buffer_memory(*buffer, memory, *offset) }?;
    }
    Ok(())
}

/// An image with memory that is its alone, and says so.
pub fn dedicated_image(gpu: &Gpu, name: &str, format: vk::Format, extent: (u32, u32)) -> Result<vk::Image> {
    let image = image(gpu, name, format, extent, vk::ImageCreateFlags::empty())?;
    let need = unsafe { gpu.device.get_image_memory_requirements(image) };
    let only = vk::MemoryDedicatedAllocateInfo::default().image(image);
    let memory = gpu.allocate_dedicated(name, &need, DEVICE, only)?;
    unsafe { gpu.device.bind_image_memory(image, memory, 0) }?;
    Ok(image)
}

/// The same of a buffer.
pub fn dedicated_buffer(gpu: &Gpu, name: &str, size: u64) -> Result<vk::Buffer> {
    let buffer = buffer(gpu, name, size)?;
    let need = unsafe { gpu.device.get_buffer_memory_requirements(buffer) };
    let only = vk::MemoryDedicatedAllocateInfo::default().buffer(buffer);
    let memory = gpu.allocate_dedicated(name, &need, DEVICE, only)?;
    unsafe { gpu.device.bind_buffer_memory(buffer, memory, 0) }?;
    Ok(buffer)
}

/// A linear image and where the host sees its rows.
pub struct Rows {
    pub image: vk::Image,
    first: *mut u8,
    pitch: usize,
    extent: (u32, u32),
}

impl Rows {
    /// Writes its texels, and nothing between its rows. The device must have finished reading them.
    pub fn write(&self, texel: impl Fn(u32, u32) -> u32) {
        for y in 0..self.extent.1 {
            let row: Vec<u8> = (0..self.extent.0).flat_map(|x| texel(y, x).to_le_bytes()).collect();
            // SAFETY: the mapping covers the image's rows, and each of them these bytes.
            unsafe {
                self.first.add(y as usize * self.pitch).copy_from_nonoverlapping(row.as_ptr(), row.len())
            };
        }
    }
}

/// A linear image for each slot, one behind the other in one mapped memory, in the layout GENERAL.
pub fn rows(gpu: &Gpu, format: vk::Format, extent: (u32, u32)) -> Result<Vec<Rows>> {
    let device = &gpu.device;
    let info = plain(format, extent)
        .tiling(vk::ImageTiling::LINEAR)
        .usage(vk::ImageUsageFlags::TRANSFER_SRC)
        .initial_layout(vk::ImageLayout::PREINITIALIZED);
    let made: Vec<vk::Image> = (0..SLOTS)
        .map(|slot| Ok(gpu.adopt(unsafe { device.create_image(&info, None) }?, &format!("rows {slot}"))))
        .collect::<Result<_>>()?;
    let mut need = unsafe { device.get_image_memory_requirements(made[0]) };
    let step = need.size.next_multiple_of(need.alignment);
    need.size = step * SLOTS as u64;
    let visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let memory = gpu.allocate("rows", &need, visible)?;
    for (image, offset) in made.iter().zip((0..).step_by(step as usize)) {
        unsafe { device.bind_image_memory(*image, memory, offset) }?;
    }
    let mapped = unsafe { device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) }?;
    gpu.run_once("rows to general", |device, commands| {
        use super::{Access, Stage};
        for image in &made {
            let from = (vk::ImageLayout::PREINITIALIZED, Stage::HOST, Access::HOST_WRITE);
            let to = (vk::ImageLayout::GENERAL, Stage::TRANSFER, Access::TRANSFER_READ);
            super::image_barrier(device, commands, *image, from, to);
        }
    })?;
    let what =
        vk::ImageSubresource { aspect_mask: vk::ImageAspectFlags::COLOR, mip_level: 0, array_layer: 0 };
    let one = |(slot, image): (usize, vk::Image)| {
        let layout = unsafe { device.get_image_subresource_layout(image, what) };
        let at = slot * step as usize + layout.offset as usize;
        // SAFETY: the mapping covers the images.
        let first = unsafe { mapped.cast::<u8>().add(at) };
        Rows { image, first, pitch: layout.row_pitch as usize, extent }
    };
    Ok(made.into_iter().enumerate().map(one).collect())
}

/// A buffer that begins behind the beginning of its mapping, which begins behind the memory's.
pub struct Flushed {
    pub buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    first: *mut u8,
    size: u64,
}

/// Where the mapping begins, and where the buffer does.
const MAPPED_AT: u64 = ATOM;
const BOUND_AT: u64 = 16 * ATOM;

impl Flushed {
    /// Writes its words and flushes them. The device must have finished reading them.
    pub fn write(&self, gpu: &Gpu, word: impl Fn(u32) -> u32) -> Result<()> {
        let bytes: Vec<u8> = (0..self.size as u32 / 4).flat_map(|i| word(i).to_le_bytes()).collect();
        // SAFETY: the mapping covers the buffer, which is this large.
        unsafe { self.first.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        let range = vk::MappedMemoryRange::default().memory(self.memory).offset(BOUND_AT).size(self.size);
        Ok(unsafe { gpu.device.flush_mapped_memory_ranges(&[range]) }?)
    }
}

/// See [`Flushed`]. `size` is a multiple of [`ATOM`].
pub fn flushed(gpu: &Gpu, name: &str, size: u64) -> Result<Flushed> {
    let buffer = buffer(gpu, name, size)?;
    let mut need = unsafe { gpu.device.get_buffer_memory_requirements(buffer) };
    need.size += BOUND_AT;
    let memory = gpu.allocate(name, &need, vk::MemoryPropertyFlags::HOST_VISIBLE)?;
    unsafe { gpu.device.bind_buffer_memory(buffer, memory, BOUND_AT) }?;
    let mapped =
        unsafe { gpu.device.map_memory(memory, MAPPED_AT, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) }?;
    // SAFETY: the buffer lies in the mapping.
    let first = unsafe { mapped.cast::<u8>().add((BOUND_AT - MAPPED_AT) as usize) };
    Ok(Flushed { buffer, memory, first, size })
}
