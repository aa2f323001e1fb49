//! `closed_compute`: compute shaders about which every number is known beforehand.
//!
//! How many invocations of a subgroup of N take which way, how often they go round, what they load: all of it follows from
//! the sources by arithmetic, for N = 8 as for N = 32. Workgroups have one dimension and 64 invocations. What depends on N
//! is not in the picture, so that it is the same on every device.
//!
//! Each frame dispatches each shader once, `loads` four times, each time with another part of the uniform buffer; then
//! `show` draws a row of 64 pixels for each of these dispatches, from the results of its first workgroup.

use ash::vk;

use super::barriers::{Access, Stage, barrier, image_barrier, show};
use super::{Frame, SLOTS, Scene, Show, frame_slot};
use crate::error::Result;
use crate::gpu::pipeline::{Layout, Resource, Spirv};
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Buffer, Colour, Gpu, Image, ImageUse};

const EXTENT: vk::Extent2D = vk::Extent2D { width: 64, height: DISPATCHES };

/// Workgroups of a dispatch, and invocations of each.
const GROUPS: u32 = 4;
const LOCAL: u32 = 64;

/// Dispatches of `loads` in a frame.
const TIMES: u32 = 4;
/// Dispatches in a frame, without `show`.
const DISPATCHES: u32 = SHADERS.len() as u32 - 1 + TIMES;

/// What a dynamic offset is a multiple of, on every device.
const PART: u32 = 256;

const COLOUR: Colour = [0.3, 0.5, 0.7];

/// In the order of their dispatches; the last is the one that is dispatched more than once.
const SHADERS: [(&str, Spirv); 10] = [
    ("half", spirv!("half.comp")),
    ("quarter", spirv!("quarter.comp")),
    ("one", spirv!("one.comp")),
    ("loops", spirv!("loops.comp")),
    ("returns", spirv!("returns.comp")),
    ("cases", spirv!("cases.comp")),
    ("calls", spirv!("calls.comp")),
    ("jumps", spirv!("jumps.comp")),
    ("branches", spirv!("branches.comp")),
    ("loads", spirv!("loads.comp")),
];

/// The scene.
pub struct ClosedCompute;

impl Scene for ClosedCompute {
    fn name(&self) -> &'static str {
        "closed_compute"
    }

    fn about(&self) -> &'static str {
        "compute shaders whose divergence, loops, loads and values are known beforehand"
    }

    fn frames(&self) -> u32 {
        3
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn image_usage(&self) -> vk::ImageUsageFlags {
        vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_DST
    }

    fn pictured(&self) -> &'static [u32] {
        &[1, 3]
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        Ok(Box::new(Running::new(gpu, swapchain)?))
    }
}

/// A word as bytes, for many of them.
fn bytes(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// The uniform buffer's contents in a frame.
fn numbers(frame: u32) -> Vec<u8> {
    let part = |n: u32| {
        let mut part =
            bytes([0, 42, if n.is_multiple_of(2) { 11 } else { 22 }, 100 + (frame - 1) * TIMES + n]);
        part.resize(PART as usize, 0);
        part
    };
    (0..TIMES).flat_map(part).collect()
}

/// What each frame in flight has for itself.
struct Slot {
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    numbers: Buffer,
    set: vk::DescriptorSet,
}

/// The scene with its objects.
struct Running {
    slots: Vec<Slot>,
    layout: Layout,
    pipelines: Vec<vk::Pipeline>,
    show_layout: Layout,
    show: vk::Pipeline,
    show_set: vk::DescriptorSet,
    picture: Image,
    presented: Vec<vk::Image>,
}

impl Running {
    fn new(gpu: &Gpu, swapchain: &Swapchain) -> Result<Self> {
        let compute = vk::ShaderStageFlags::COMPUTE;
        let storage = (vk::DescriptorType::STORAGE_BUFFER, compute);
        let push = vk::PushConstantRange::default().stage_flags(compute).size(12);
        let bindings = [
            storage,
            storage,
            (vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC, compute),
            (vk::DescriptorType::COMBINED_IMAGE_SAMPLER, compute),
        ];
        let layout = gpu.layout("closed", &bindings, Some(push))?;
        let pipelines = SHADERS.iter().map(|(name, spirv)| gpu.compute_pipeline(name, *spirv, &layout));
        let pipelines = pipelines.collect::<Result<Vec<_>>>()?;

        let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
        let size = u64::from(DISPATCHES * GROUPS * LOCAL) * 4;
        let results = gpu.device_buffer("results", size, usage)?;
        let given = (0..LOCAL).map(|_| 7).chain(0..LOCAL).chain((0..LOCAL).rev()).chain([0]);
        let given = gpu.filled_buffer("given", &bytes(given), usage)?;
        let texels = texels(gpu)?;

        let show_bindings = [storage, (vk::DescriptorType::STORAGE_IMAGE, compute)];
        let show_layout = gpu.layout("show", &show_bindings, None)?;
        let usage = vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC;
        let (format, aspect) = (vk::Format::R8G8B8A8_UNORM, vk::ImageAspectFlags::COLOR);
        let picture = gpu.image("picture", &ImageUse { format, extent: EXTENT, usage, aspect })?;
        let view = vk::DescriptorImageInfo::default()
            .image_view(picture.view)
            .image_layout(vk::ImageLayout::GENERAL);

        let pool = gpu.descriptor_pool("descriptors", SLOTS as u32, &[&layout, &show_layout])?;
        let slot = |index: usize| -> Result<Slot> {
            let (commands_pool, commands) = frame_slot(gpu, index)?;
            let uniform = vk::BufferUsageFlags::UNIFORM_BUFFER;
            let numbers = gpu.host_buffer(&format!("numbers {index}"), u64::from(TIMES * PART), uniform)?;
            let resources = [
                Resource::Buffer(results.whole()),
                Resource::Buffer(given.whole()),
                Resource::Buffer(numbers.range(16)),
                Resource::Image(texels),
            ];
            let set = gpu.descriptor_set(&format!("closed set {index}"), pool, &layout, &resources)?;
            Ok(Slot { pool: commands_pool, commands, numbers, set })
        };
        let resources = [Resource::Buffer(results.whole()), Resource::Image(view)];
        Ok(Self {
            slots: (0..SLOTS).map(slot).collect::<Result<_>>()?,
            show: gpu.compute_pipeline("show", spirv!("show.comp"), &show_layout)?,
            show_set: gpu.descriptor_set("show set", pool, &show_layout, &resources)?,
            layout,
            pipelines,
            show_layout,
            picture,
            presented: swapchain.images.clone(),
        })
    }

    /// All dispatches of a frame.
    fn dispatch(&self, gpu: &Gpu, slot: &Slot) {
        let (device, commands) = (&gpu.device, slot.commands);
        let (point, stages) = (vk::PipelineBindPoint::COMPUTE, vk::ShaderStageFlags::COMPUTE);
        let layout = self.layout.pipeline;
        let once = (0..SHADERS.len() - 1).map(|shader| (shader, 0));
        let all = once.chain((0..TIMES).map(|part| (SHADERS.len() - 1, part)));
        for (row, (shader, part)) in (0u32..).zip(all) {
            gpu.labelled(commands, SHADERS[shader].0, COLOUR, || unsafe {
                device.cmd_bind_pipeline(commands, point, self.pipelines[shader]);
                device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[slot.set], &[part * PART]);
                let push = bytes([5, 0, row * GROUPS * LOCAL]);
                device.cmd_push_constants(commands, layout, stages, 0, &push);
                device.cmd_dispatch(commands, GROUPS, 1, 1);
            });
        }
    }
}

/// 8x8 texels of known values, and how they are read.
fn texels(gpu: &Gpu) -> Result<vk::DescriptorImageInfo> {
    let extent = vk::Extent2D { width: 8, height: 8 };
    let staging = gpu.host_buffer("texels staging", 256, vk::BufferUsageFlags::TRANSFER_SRC)?;
    staging.write(&bytes((0..64).map(|n| n / 8 * 64 + n % 8)));
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let (format, aspect) = (vk::Format::R32_UINT, vk::ImageAspectFlags::COLOR);
    let image = gpu.image("texels", &ImageUse { format, extent, usage, aspect })?;
    let layers = vk::ImageSubresourceLayers::default().aspect_mask(aspect).layer_count(1);
    let copy = vk::BufferImageCopy::default().image_subresource(layers).image_extent(extent.into());
    gpu.run_once("upload texels", |device, commands| {
        let target = (vk::ImageLayout::TRANSFER_DST_OPTIMAL, Stage::TRANSFER, Access::TRANSFER_WRITE);
        let from = (vk::ImageLayout::UNDEFINED, Stage::TOP_OF_PIPE, Access::empty());
        let to = (vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL, Stage::COMPUTE_SHADER, Access::SHADER_READ);
        image_barrier(device, commands, image.handle, from, target);
        unsafe {
            device.cmd_copy_buffer_to_image(commands, staging.handle, image.handle, target.0, &[copy]);
        }
        image_barrier(device, commands, image.handle, target, to);
    })?;
    let info = vk::SamplerCreateInfo::default()
        .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE);
    let sampler = gpu.adopt(unsafe { gpu.device.create_sampler(&info, None) }?, "nearest");
    Ok(vk::DescriptorImageInfo::default()
        .sampler(sampler)
        .image_view(image.view)
        .image_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL))
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let slot = &self.slots[frame.slot];
        slot.numbers.write(&numbers(frame.number));
        unsafe { gpu.device.reset_command_pool(slot.pool, vk::CommandPoolResetFlags::empty()) }?;
        let commands = slot.commands;
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| {
            let (read, write) = (Access::SHADER_READ, Access::SHADER_WRITE);
            let compute = Stage::COMPUTE_SHADER;
            // The frame before reads and writes the same results.
            barrier(device, commands, (compute, write), (compute, read | write));
            self.dispatch(gpu, slot);
            barrier(device, commands, (compute, write), (compute, read));
            let from = (vk::ImageLayout::UNDEFINED, Stage::TRANSFER, Access::empty());
            let to = (vk::ImageLayout::GENERAL, compute, write);
            image_barrier(device, commands, self.picture.handle, from, to);
            gpu.labelled(commands, "show", COLOUR, || unsafe {
                let (point, layout) = (vk::PipelineBindPoint::COMPUTE, self.show_layout.pipeline);
                device.cmd_bind_pipeline(commands, point, self.show);
                device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[self.show_set], &[]);
                device.cmd_dispatch(commands, DISPATCHES, 1, 1);
            });
            show(device, commands, (self.picture.handle, compute), self.presented[frame.image], EXTENT);
        })?;
        Ok(vec![commands])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What one invocation of a dispatch computes: the sources once more, in Rust.
    fn result(frame: u32, row: u32, i: u32) -> u32 {
        let odd = i % 2;
        match row {
            0 => [21, 31][odd as usize],
            1 => 1 + if i % 4 == 1 { 20 } else { 0 },
            2 => 3,
            3 => 5 + 10 * (i % 8) + 100 * (3 + 3 * odd),
            4 => [4, 5, 52, 5][i as usize % 4],
            5 => [11, 10, 20, 30, 30, 40][i as usize % 6],
            6 => match i {
                0..32 => 3,
                _ if odd == 1 => 3 + i,
                _ if i > 37 => 40,
                _ => 4 + i,
            },
            7 => (0..i % 4 + 3).filter(|k| k % 2 == 0).sum(),
            8 => 1 + 4 + 8 + if i < 16 { 16 } else { 0 } + if odd == 0 { 32 } else { 0 },
            _ => {
                let n = row - 9;
                let uniform = 42 + [11, 22][n as usize % 2] + 100 + (frame - 1) * TIMES + n;
                uniform + 7 + i + (63 - 5) + 7 + (3 * 64 + i % 8) + (i / 8 * 64 + 2)
            }
        }
    }

    #[test]
    fn the_pictures_are_right() {
        for frame in ClosedCompute.pictured() {
            let path = format!("{}/samples/closed_compute_frame_{frame}.png", env!("CARGO_MANIFEST_DIR"));
            let (extent, pixels) = crate::picture::read_png(&path);
            assert_eq!(extent, EXTENT);
            for (at, rgb) in (0..).zip(pixels.chunks_exact(3)) {
                let n = result(*frame, at / LOCAL, at % LOCAL);
                let want = [41, 23, 7].map(|factor| (n * factor) as u8);
                assert_eq!(rgb, want, "frame {frame}, row {}, column {}", at / LOCAL, at % LOCAL);
            }
        }
    }
}
