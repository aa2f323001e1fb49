//! `rewrites`: a uniform block that is written again and again between the invocations of one submission that read it, by
//! commands and by shaders.
//!
//! A frame submits four command buffers at once; `v` is the block, `keep` a dispatch that appends it to a list:
//!
//! | command buffer | recorded | what | v, in frame `f` |
//! |---|---|---|---|
//! | `front` | each frame | written by a command, `keep` | f |
//! | | | a dispatch: v = 2v + 7, `keep` | 2f + 7 |
//! | | | written by a command, `keep` | 100 |
//! | | | executes `again`, and in another command `again` twice | 201, 403, 807 |
//! | `again` | once, secondary | a dispatch: v = 2v + 1, `keep` | |
//! | `twice`, submitted twice | once | a dispatch: v = 2v + 3, `keep` | 1617, 3237 |
//! | `show` | each frame | a pass: the first subpass shows v and writes v + 1 into a buffer, the second shows the list, and that buffer as a uniform block | 3237 |

use ash::vk;

use super::barriers::{Access, Stage, barrier};
use super::{Frame, Scene, Show, frame_slots};
use crate::error::Result;
use crate::gpu::pipeline::{Graphics, Layout, Resource, cover};
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Buffer, Gpu, Needs};
use crate::scenes::tracing::only_set;

/// The size of a tile; each value has one, so has the mark, and the last shows what the first subpass drew.
const TILE: u32 = 16;
/// Values that are kept in a frame.
const KEPT: u32 = 8;
const EXTENT: vk::Extent2D = vk::Extent2D { width: TILE * (KEPT + 2), height: TILE };

const COMPUTE: Stage = Stage::COMPUTE_SHADER;
/// What shaders do with the block and the list.
const ALL: Access = Access::from_raw(
    Access::SHADER_READ.as_raw() | Access::SHADER_WRITE.as_raw() | Access::UNIFORM_READ.as_raw(),
);

/// The scene.
pub struct Rewrites;

impl Scene for Rewrites {
    fn name(&self) -> &'static str {
        "rewrites"
    }

    fn about(&self) -> &'static str {
        "a uniform block that is written again and again within one submission"
    }

    fn frames(&self) -> u32 {
        2
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn pictured(&self) -> &'static [u32] {
        &[2]
    }

    fn needs(&self) -> Needs {
        Needs {
            features: vk::PhysicalDeviceFeatures {
                fragment_stores_and_atomics: vk::TRUE,
                ..Default::default()
            },
            ..Needs::default()
        }
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        let (compute, fragment) = (vk::ShaderStageFlags::COMPUTE, vk::ShaderStageFlags::FRAGMENT);
        let (uniform, storage) = (vk::DescriptorType::UNIFORM_BUFFER, vk::DescriptorType::STORAGE_BUFFER);
        let both = vk::BufferUsageFlags::UNIFORM_BUFFER | vk::BufferUsageFlags::STORAGE_BUFFER;
        let target = vk::BufferUsageFlags::TRANSFER_DST;
        let value = gpu.device_buffer("value", 16, both | target)?;
        let kept = gpu.device_buffer("kept", 64, vk::BufferUsageFlags::STORAGE_BUFFER | target)?;
        let mark = gpu.device_buffer("mark", 16, both)?;
        let whole = |b: &Buffer| Resource::Buffer(b.whole());

        let push = vk::PushConstantRange { stage_flags: compute, offset: 0, size: 4 };
        let work =
            gpu.layout("work", &[(uniform, compute), (storage, compute), (storage, compute)], Some(push))?;
        let draw = gpu.layout(
            "draw",
            &[(uniform, fragment), (storage, fragment), (uniform, fragment), (storage, fragment)],
            None,
        )?;
        let pass = pass(gpu, swapchain)?;
        let about = |shader| Graphics {
            vertex: spirv!("all.vert"),
            fragment: shader,
            vertices: None,
            depth: false,
            layout: &draw,
            pass,
        };
        let (marks, tiles) = (about(spirv!("mark.frag")), about(spirv!("tile.frag")));
        let work = Work {
            step: gpu.compute_pipeline("step", spirv!("step.comp"), &work)?,
            keep: gpu.compute_pipeline("keep", spirv!("keep.comp"), &work)?,
            set: only_set(gpu, &work, &[whole(&value), whole(&kept), whole(&value)])?,
            layout: work.pipeline,
        };
        let again = secondary(gpu, &work)?;
        let (_, [twice]) = gpu.command_buffers("twice pool", ["twice"])?;
        gpu.record(twice, vk::CommandBufferUsageFlags::SIMULTANEOUS_USE, |device| {
            work.record(device, twice, 3)
        })?;
        Ok(Box::new(Running {
            front: frame_slots(gpu)?,
            show: frame_slots(gpu)?,
            again,
            twice,
            work,
            marks: gpu.subpass_pipeline("marks", &marks, 0)?,
            tiles: gpu.subpass_pipeline("tiles", &tiles, 1)?,
            set: only_set(gpu, &draw, &[whole(&value), whole(&mark), whole(&mark), whole(&kept)])?,
            draw,
            framebuffers: gpu.present_framebuffers(swapchain, pass, "framebuffer")?,
            pass,
            value,
            kept,
        }))
    }
}

/// A pass of two subpasses, the second of which reads what shaders of the first wrote.
fn pass(gpu: &Gpu, swapchain: &Swapchain) -> Result<vk::RenderPass> {
    let attachments = [vk::AttachmentDescription::default()
        .format(swapchain.format)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::DONT_CARE)
        .store_op(vk::AttachmentStoreOp::STORE)
        .final_layout(vk::ImageLayout::PRESENT_SRC_KHR)];
    let layout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
    let colour = [vk::AttachmentReference { attachment: 0, layout }];
    let subpass = vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colour);
    let (output, write) = (Stage::COLOR_ATTACHMENT_OUTPUT, Access::COLOR_ATTACHMENT_WRITE);
    let dependency = vk::SubpassDependency::default().src_stage_mask(output).dst_stage_mask(output);
    let fragment = Stage::FRAGMENT_SHADER;
    let dependencies = [
        dependency.src_subpass(vk::SUBPASS_EXTERNAL).dst_access_mask(write),
        vk::SubpassDependency::default()
            .src_subpass(0)
            .dst_subpass(1)
            .src_stage_mask(output | fragment)
            .dst_stage_mask(output | fragment)
            .src_access_mask(write | Access::SHADER_WRITE)
            .dst_access_mask(write | Access::COLOR_ATTACHMENT_READ | ALL),
        dependency.src_subpass(1).dst_subpass(vk::SUBPASS_EXTERNAL).src_access_mask(write),
    ];
    let subpasses = [subpass, subpass];
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    Ok(gpu.adopt(unsafe { gpu.device.create_render_pass(&info, None) }?, "pass"))
}

/// The secondary command buffer.
fn secondary(gpu: &Gpu, work: &Work) -> Result<vk::CommandBuffer> {
    let device = &gpu.device;
    let info = vk::CommandPoolCreateInfo::default().queue_family_index(gpu.family);
    let pool = gpu.adopt(unsafe { device.create_command_pool(&info, None) }?, "secondary pool");
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(pool)
        .level(vk::CommandBufferLevel::SECONDARY)
        .command_buffer_count(1);
    let again = unsafe { device.allocate_command_buffers(&info) }?[0];
    gpu.name(again, "again");
    let inherits = vk::CommandBufferInheritanceInfo::default();
    let begin = vk::CommandBufferBeginInfo::default()
        .flags(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE)
        .inheritance_info(&inherits);
    unsafe { device.begin_command_buffer(again, &begin) }?;
    work.record(device, again, 1);
    unsafe { device.end_command_buffer(again) }?;
    Ok(again)
}

/// The dispatches.
struct Work {
    step: vk::Pipeline,
    keep: vk::Pipeline,
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
}

impl Work {
    fn dispatch(&self, device: &ash::Device, commands: vk::CommandBuffer, pipeline: vk::Pipeline) {
        let point = vk::PipelineBindPoint::COMPUTE;
        unsafe {
            device.cmd_bind_pipeline(commands, point, pipeline);
            device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[self.set], &[]);
            device.cmd_dispatch(commands, 1, 1, 1);
        }
    }

    /// The value moves on, once all dispatches before have run, and is kept.
    fn record(&self, device: &ash::Device, commands: vk::CommandBuffer, add: u32) {
        barrier(device, commands, (COMPUTE, ALL), (COMPUTE, ALL));
        let bytes = add.to_le_bytes();
        unsafe {
            device.cmd_push_constants(commands, self.layout, vk::ShaderStageFlags::COMPUTE, 0, &bytes);
        }
        self.dispatch(device, commands, self.step);
        barrier(device, commands, (COMPUTE, ALL), (COMPUTE, ALL));
        self.dispatch(device, commands, self.keep);
    }
}

struct Running {
    front: Vec<super::Slot>,
    show: Vec<super::Slot>,
    again: vk::CommandBuffer,
    twice: vk::CommandBuffer,
    work: Work,
    marks: vk::Pipeline,
    tiles: vk::Pipeline,
    draw: Layout,
    set: vk::DescriptorSet,
    pass: vk::RenderPass,
    framebuffers: Vec<vk::Framebuffer>,
    value: Buffer,
    kept: Buffer,
}

impl Running {
    /// A command writes the value, and it is kept.
    fn write(&self, device: &ash::Device, commands: vk::CommandBuffer, value: u32) {
        let transfer = (Stage::TRANSFER, Access::TRANSFER_WRITE);
        barrier(device, commands, (COMPUTE, ALL), transfer);
        unsafe { device.cmd_update_buffer(commands, self.value.handle, 0, &value.to_le_bytes()) };
        barrier(device, commands, transfer, (COMPUTE, ALL));
        self.work.dispatch(device, commands, self.work.keep);
    }
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let ((pool, front), (other, show)) = (self.front[frame.slot], self.show[frame.slot]);
        unsafe {
            gpu.device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty())?;
            gpu.device.reset_command_pool(other, vk::CommandPoolResetFlags::empty())?;
        }
        let once = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
        gpu.record(front, once, |device| unsafe {
            let (all, memory) = (Stage::ALL_COMMANDS, Access::MEMORY_READ | Access::MEMORY_WRITE);
            barrier(device, front, (all, memory), (all, memory));
            device.cmd_fill_buffer(front, self.kept.handle, 0, 64, 0);
            barrier(device, front, (Stage::TRANSFER, Access::TRANSFER_WRITE), (COMPUTE, ALL));
            self.write(device, front, frame.number);
            self.work.record(device, front, 7);
            self.write(device, front, 100);
            device.cmd_execute_commands(front, &[self.again]);
            device.cmd_execute_commands(front, &[self.again, self.again]);
        })?;
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass)
            .framebuffer(self.framebuffers[frame.image])
            .render_area(EXTENT.into());
        let point = vk::PipelineBindPoint::GRAPHICS;
        gpu.record(show, once, |device| unsafe {
            let fragment = (Stage::FRAGMENT_SHADER, ALL);
            barrier(device, show, (COMPUTE | Stage::FRAGMENT_SHADER, ALL), fragment);
            device.cmd_begin_render_pass(show, &begin, vk::SubpassContents::INLINE);
            cover(device, show, EXTENT);
            device.cmd_bind_descriptor_sets(show, point, self.draw.pipeline, 0, &[self.set], &[]);
            device.cmd_bind_pipeline(show, point, self.marks);
            device.cmd_draw(show, 3, 1, 0, 0);
            device.cmd_next_subpass(show, vk::SubpassContents::INLINE);
            device.cmd_bind_pipeline(show, point, self.tiles);
            let most = vk::Extent2D { width: EXTENT.width - TILE, ..EXTENT };
            device.cmd_set_scissor(show, 0, &[most.into()]);
            device.cmd_draw(show, 3, 1, 0, 0);
            device.cmd_end_render_pass(show);
        })?;
        Ok(vec![front, self.twice, self.twice, show])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pictures_are_right() {
        for frame in Rewrites.pictured() {
            let path = format!("{}/samples/rewrites_frame_{frame}.png", env!("CARGO_MANIFEST_DIR"));
            let (extent, pixels) = crate::picture::read_png(&path);
            assert_eq!(extent, EXTENT);
            let values = [*frame, 2 * frame + 7, 100, 201, 403, 807, 1617, 3237, 3238, 3237];
            for (at, rgb) in (0..).zip(pixels.chunks_exact(3)) {
                let value = values[(at % EXTENT.width / TILE) as usize];
                assert_eq!(rgb, [41, 23, 7].map(|factor| (value * factor) as u8), "tile of {value}");
            }
        }
    }
}
