//! Tiles whose uniforms the device moved or wrote, and one whose draws' sizes are in memory.

use ash::vk;

use super::plain::only;
use super::station::{At, Maker, Station, UNIFORM, bytes};
use crate::error::Result;
use crate::gpu::pipeline::Resource;
use crate::gpu::{Buffer, Gpu, Image, ImageUse};
use crate::scenes::barriers::{Access, Stage, barrier, image_barrier};

type Usage = vk::BufferUsageFlags;

/// What each of the tile's six buffers says in a frame; the first and the third change.
pub fn uploaded(frame: u32) -> [u32; 6] {
    [190 + frame, 200, 201 + frame, 5, 210, 211]
}

/// What `uploads` copies between.
#[derive(Clone, Copy)]
struct Moved {
    /// Of the host.
    staging: Buffer,
    chain: Buffer,
    texels: Buffer,
    /// Of the device.
    middle: Buffer,
    image: Image,
    /// What the draw reads: its bindings but the last.
    blocks: [Buffer; 5],
    /// Lies where the last binding's buffer lies.
    alias: vk::Buffer,
}

/// The bytes of the staging buffer; 16 are read.
const STAGED_BYTES: u64 = 256;

/// Six buffers whose bytes come in six ways, in each frame.
pub fn uploads(maker: &Maker) -> Result<Station> {
    let gpu = maker.gpu;
    let layout = maker.uniforms("uploads", 6)?;
    let pipeline = maker.pipeline("uploads", spirv!("uploads.frag"), layout.pipeline)?;
    let device = |name, size| gpu.device_buffer(name, size, Usage::UNIFORM_BUFFER | Usage::TRANSFER_DST);
    let host = |name, size| gpu.host_buffer(name, size, Usage::TRANSFER_SRC);
    let (format, aspect) = (vk::Format::R32_UINT, vk::ImageAspectFlags::COLOR);
    // Sampled by nobody; but an image that is only copied may have no view.
    let usage =
        vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::SAMPLED;
    let extent = vk::Extent2D { width: 4, height: 1 };
    let (read, alias) = aliased(gpu)?;
    let moved = Moved {
        staging: host("staged staging", STAGED_BYTES)?,
        chain: host("chained staging", 16)?,
        texels: host("imaged staging", 16)?,
        middle: gpu.device_buffer("chained middle", 16, Usage::TRANSFER_SRC | Usage::TRANSFER_DST)?,
        image: gpu.image("imaged", &ImageUse { format, extent, usage, aspect })?,
        blocks: [
            device("staged", STAGED_BYTES)?,
            device("chained", 16)?,
            device("updated", 16)?,
            device("filled", 16)?,
            device("imaged", 16)?,
        ],
        alias,
    };
    let set = maker.uniform_set("uploads", layout.set, &moved.blocks)?;
    let last = [vk::DescriptorBufferInfo { buffer: read, offset: 0, range: 16 }];
    let write = vk::WriteDescriptorSet::default()
        .dst_set(set)
        .dst_binding(5)
        .descriptor_type(UNIFORM)
        .buffer_info(&last);
    unsafe { gpu.device.update_descriptor_sets(&[write], &[]) };
    let mut station = only(pipeline, layout.pipeline, vec![set]);
    station.host = Some(Box::new(move |_, at| {
        let values = uploaded(at.frame);
        let rest = (1..STAGED_BYTES as u32 / 4).map(|n| 1000 * at.frame + n);
        let staged: Vec<_> = std::iter::once(values[0]).chain(rest).collect();
        moved.staging.write(&bytes(&staged));
        moved.chain.write(&bytes(&[values[1], 1, 2, 3]));
        moved.texels.write(&bytes(&[values[4], 4, 5, 6]));
    }));
    station.before = Some(Box::new(move |gpu, at| record(gpu, at, &moved)));
    Ok(station)
}

/// Two buffers in one memory: one to read uniforms from, one to write to.
fn aliased(gpu: &Gpu) -> Result<(vk::Buffer, vk::Buffer)> {
    let make = |name: &str, usage| -> Result<vk::Buffer> {
        let info = vk::BufferCreateInfo::default().size(16).usage(usage);
        Ok(gpu.adopt(unsafe { gpu.device.create_buffer(&info, None) }?, name))
    };
    let read = make("alias read", Usage::UNIFORM_BUFFER)?;
    let written = make("alias written", Usage::TRANSFER_DST)?;
    let mut need = unsafe { gpu.device.get_buffer_memory_requirements(read) };
    let other = unsafe { gpu.device.get_buffer_memory_requirements(written) };
    need.size = need.size.max(other.size);
    need.memory_type_bits &= other.memory_type_bits;
    let memory = gpu.allocate("alias", &need, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
    unsafe {
        gpu.device.bind_buffer_memory(read, memory, 0)?;
        gpu.device.bind_buffer_memory(written, memory, 0)?;
    }
    Ok((read, written))
}

/// The copies of a frame. The queue is idle when it begins, so that nothing is waited for before.
fn record(gpu: &Gpu, At { commands, frame, .. }: At, moved: &Moved) {
    let (device, values) = (&gpu.device, uploaded(frame));
    let [staged, chained, updated, filled, imaged] = moved.blocks.map(|block| block.handle);
    let (general, image) = (vk::ImageLayout::GENERAL, moved.image.handle);
    let (copy, read, write) = (Stage::TRANSFER, Access::TRANSFER_READ, Access::TRANSFER_WRITE);
    let small = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: 16 }];
    let large = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: STAGED_BYTES }];
    let layers =
        vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
    let texels = vk::BufferImageCopy::default().image_subresource(layers).image_extent(vk::Extent3D {
        width: 4,
        height: 1,
        depth: 1,
    });
    unsafe {
        let from = (vk::ImageLayout::UNDEFINED, Stage::TOP_OF_PIPE, Access::empty());
        image_barrier(device, commands, image, from, (general, copy, write));
        device.cmd_copy_buffer(commands, moved.staging.handle, staged, &large);
        device.cmd_copy_buffer(commands, moved.chain.handle, moved.middle.handle, &small);
        device.cmd_copy_buffer_to_image(commands, moved.texels.handle, image, general, &[texels]);
        device.cmd_update_buffer(commands, updated, 0, &bytes(&[values[2], 7, 8, 9]));
        device.cmd_fill_buffer(commands, filled, 0, 16, values[3]);
        device.cmd_update_buffer(commands, moved.alias, 0, &bytes(&[values[5], 10, 11, 12]));
        barrier(device, commands, (copy, write), (copy, read));
        device.cmd_copy_buffer(commands, moved.middle.handle, chained, &small);
        device.cmd_copy_image_to_buffer(commands, image, general, imaged, &[texels]);
        barrier(device, commands, (copy, write), (Stage::FRAGMENT_SHADER, Access::UNIFORM_READ));
    }
}

/// A buffer that a compute shader writes and a fragment shader reads as uniforms.
pub fn written(maker: &Maker) -> Result<Station> {
    let gpu = maker.gpu;
    let (storage, compute) = (vk::DescriptorType::STORAGE_BUFFER, vk::ShaderStageFlags::COMPUTE);
    let push = vk::PushConstantRange { stage_flags: compute, offset: 0, size: 4 };
    let writes = gpu.layout("writes", &[(storage, compute)], Some(push))?;
    let writer = gpu.compute_pipeline("writer", spirv!("written.comp"), &writes)?;
    let layout = maker.uniforms("written", 1)?;
    let pipeline = maker.pipeline("written", spirv!("written.frag"), layout.pipeline)?;
    let buffer = gpu.device_buffer("written", 16, Usage::UNIFORM_BUFFER | Usage::STORAGE_BUFFER)?;
    let write = gpu.empty_set("writes", maker.pool, writes.set)?;
    gpu.write_set(write, (0, 0), storage, &[Resource::Buffer(buffer.whole())]);
    let set = maker.uniform_set("written", layout.set, &[buffer])?;
    let mut station = only(pipeline, layout.pipeline, vec![set]);
    station.before = Some(Box::new(move |gpu, At { commands, frame, .. }| unsafe {
        let (device, point) = (&gpu.device, vk::PipelineBindPoint::COMPUTE);
        device.cmd_bind_pipeline(commands, point, writer);
        device.cmd_bind_descriptor_sets(commands, point, writes.pipeline, 0, &[write], &[]);
        device.cmd_push_constants(commands, writes.pipeline, compute, 0, &bytes(&[frame]));
        device.cmd_dispatch(commands, 1, 1, 1);
        let wrote = (Stage::COMPUTE_SHADER, Access::SHADER_WRITE);
        barrier(device, commands, wrote, (Stage::FRAGMENT_SHADER, Access::UNIFORM_READ));
    }));
    Ok(station)
}

/// Four draws whose sizes are in memory: indirect, indexed, and both with a count from there.
pub fn indirect(maker: &Maker) -> Result<Station> {
    let gpu = maker.gpu;
    let layout = maker.uniforms("indirect", 1)?;
    let pipeline = maker.pipeline("indirect", spirv!("indirect.frag"), layout.pipeline)?;
    let set = maker.uniform_set("indirect", layout.set, &[maker.number("indirect", 215)?])?;
    let sizes = gpu.host_buffer("sizes", 64, Usage::INDIRECT_BUFFER)?;
    // A draw at 0, an indexed one at 16, a count at 36.
    sizes.write(&bytes(&[3, 1, 0, 0, 3, 1, 0, 0, 0, 1]));
    let indices = gpu.host_buffer("indices", 8, Usage::INDEX_BUFFER)?;
    indices.write(&[0, 0, 1, 0, 2, 0]);
    let counted = gpu.extension(ash::khr::draw_indirect_count::Device::new);
    Ok(Station {
        first: Some(Box::new(move |gpu, at| unsafe {
            let (device, commands, from) = (&gpu.device, at.commands, sizes.handle);
            at.pipeline(gpu, pipeline);
            at.sets(gpu, layout.pipeline, 0, &[set], &[]);
            device.cmd_bind_index_buffer(commands, indices.handle, 0, vk::IndexType::UINT16);
            at.aim(gpu, Some(0));
            device.cmd_draw_indirect(commands, from, 0, 1, 0);
            at.aim(gpu, Some(1));
            device.cmd_draw_indexed_indirect(commands, from, 16, 1, 0);
            at.aim(gpu, Some(2));
            counted.cmd_draw_indirect_count(commands, from, 0, from, 36, 1, 16);
            at.aim(gpu, Some(3));
            counted.cmd_draw_indexed_indirect_count(commands, from, 16, from, 36, 1, 20);
        })),
        ..Station::default()
    })
}
