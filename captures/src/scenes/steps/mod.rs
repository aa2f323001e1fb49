//! `steps`: a program whose work can be made as long as one likes.
//!
//! Each frame walks a sequence of numbers twice, under the labels `light` and `heavy`, in one invocation each, by as many
//! steps as a push constant says, and then shows a colour. A capture of it with one of these constants changed is a
//! program that hangs, or nearly: what a replayer's watchdog is tested with.

use ash::vk;

use super::{Frame, Scene, Show, frame_slots};
use crate::error::Result;
use crate::gpu::pipeline::{Layout, Resource, Spirv};
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Colour, Gpu};

/// Steps under the label `light`.
const LIGHT: u32 = 101;

/// Steps under the label `heavy`.
const HEAVY: u32 = 100_003;

/// The size of the swapchain.
const EXTENT: vk::Extent2D = vk::Extent2D { width: 64, height: 36 };

const LIGHT_COLOUR: Colour = [0.8, 0.8, 0.4];
const HEAVY_COLOUR: Colour = [0.9, 0.3, 0.2];
const SHOW_COLOUR: Colour = [0.5, 0.8, 0.4];

/// The scene, before it runs.
pub struct Steps;

impl Scene for Steps {
    fn name(&self) -> &'static str {
        "steps"
    }

    fn about(&self) -> &'static str {
        "two compute loops a frame, as long as their push constants say"
    }

    fn frames(&self) -> u32 {
        6
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn image_usage(&self) -> vk::ImageUsageFlags {
        // The views that a swapchain comes with want a use of their own.
        vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::COLOR_ATTACHMENT
    }

    fn pictured(&self) -> &'static [u32] {
        &[]
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        Ok(Box::new(Running::new(gpu, swapchain)?))
    }
}

/// The scene with its objects.
struct Running {
    slots: Vec<(vk::CommandPool, vk::CommandBuffer)>,
    layout: Layout,
    walk: vk::Pipeline,
    set: vk::DescriptorSet,
    presented: Vec<vk::Image>,
}

impl Running {
    fn new(gpu: &Gpu, swapchain: &Swapchain) -> Result<Self> {
        let push = vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(4);
        let bindings = [(vk::DescriptorType::STORAGE_BUFFER, vk::ShaderStageFlags::COMPUTE)];
        let layout = gpu.layout("walk", &bindings, Some(push))?;
        let shader = Spirv { name: "walk.comp", bytes: include_bytes!("walk.comp.spv") };
        let walk = gpu.compute_pipeline("walk", shader, &layout)?;
        let result = gpu.filled_buffer("result", &[0; 4], vk::BufferUsageFlags::STORAGE_BUFFER)?;
        let pool = gpu.descriptor_pool("descriptors", 1, &[&layout])?;
        let set = gpu.descriptor_set("walk set", pool, &layout, &[Resource::Buffer(result.whole())])?;
        let slots = frame_slots(gpu)?;
        Ok(Self { slots, layout, walk, set, presented: swapchain.images.clone() })
    }

    fn walk(&self, gpu: &Gpu, commands: vk::CommandBuffer, steps: u32) {
        let (device, layout) = (&gpu.device, self.layout.pipeline);
        let (stage, access) = (vk::PipelineStageFlags::COMPUTE_SHADER, vk::AccessFlags::SHADER_WRITE);
        let barrier = vk::MemoryBarrier::default()
            .src_access_mask(access)
            .dst_access_mask(access | vk::AccessFlags::SHADER_READ);
        let none = vk::DependencyFlags::empty();
        let point = vk::PipelineBindPoint::COMPUTE;
        unsafe {
            device.cmd_pipeline_barrier(commands, stage, stage, none, &[barrier], &[], &[]);
            device.cmd_bind_pipeline(commands, point, self.walk);
            device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[self.set], &[]);
            let push = steps.to_le_bytes();
            device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::COMPUTE, 0, &push);
            device.cmd_dispatch(commands, 1, 1, 1);
        }
    }

    /// Fills an image of the swapchain with a frame's colour.
    fn show(&self, gpu: &Gpu, commands: vk::CommandBuffer, frame: Frame) {
        let (output, transfer) =
            (vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT, vk::PipelineStageFlags::TRANSFER);
        let (before, during, after) = (
            vk::ImageLayout::UNDEFINED,
            vk::ImageLayout::TRANSFER_DST_OPTIMAL,
            vk::ImageLayout::PRESENT_SRC_KHR,
        );
        let range = vk::ImageSubresourceRange::default()
            .aspect_mask(vk::ImageAspectFlags::COLOR)
            .level_count(1)
            .layer_count(1);
        let write = vk::AccessFlags::TRANSFER_WRITE;
        let barrier = |old, new, from, to| {
            vk::ImageMemoryBarrier::default()
                .image(self.presented[frame.image])
                .old_layout(old)
                .new_layout(new)
                .src_access_mask(from)
                .dst_access_mask(to)
                .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .subresource_range(range)
        };
        let none = vk::DependencyFlags::empty();
        let empty = vk::AccessFlags::empty();
        let colour = vk::ClearColorValue { float32: [frame.number as f32 / 6.0, 0.5, 0.25, 1.0] };
        let device = &gpu.device;
        unsafe {
            let first = [barrier(before, during, empty, write)];
            device.cmd_pipeline_barrier(commands, output, transfer, none, &[], &[], &first);
            device.cmd_clear_color_image(commands, self.presented[frame.image], during, &colour, &[range]);
            let last = [barrier(during, after, write, vk::AccessFlags::COLOR_ATTACHMENT_WRITE)];
            device.cmd_pipeline_barrier(commands, transfer, output, none, &[], &[], &last);
        }
    }
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let (pool, commands) = self.slots[frame.slot];
        unsafe { gpu.device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty()) }?;
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |_| {
            gpu.labelled(commands, "light", LIGHT_COLOUR, || self.walk(gpu, commands, LIGHT));
            gpu.labelled(commands, "heavy", HEAVY_COLOUR, || self.walk(gpu, commands, HEAVY));
            gpu.labelled(commands, "show", SHOW_COLOUR, || self.show(gpu, commands, frame));
        })?;
        Ok(vec![commands])
    }
}
