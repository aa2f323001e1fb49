//! `ordering`: barriers and submissions, some of which do nothing, or more than is needed, and some that are as they should be.
//!
//! | label | what it is |
//! |---|---|
//! | (no label) | `early` and `later`, two submissions of one queue with nothing between them: they could be one |
//! | `orders nothing` | a barrier for a buffer that nobody uses |
//! | `too wide` | all commands, all memory, where one compute shader writes and the next reads |
//! | `needed` | compute to compute, as it should be; likewise transfer to compute in `later` |
//! | `there` and `back` | two changes of an image's layout with nothing between them |
//! | `execution only` | a barrier without memory, where the one behind it does all |
//! | `memory again` | the same memory barrier a second time |
//! | `too many accesses` | UNIFORM_READ where storage buffers alone are accessed |
//! | `host wrote before` | what the host wrote before the submission is seen by it anyway |
//! | `event for nothing` | an event is waited for, with a barrier for a buffer that nobody uses |
//! | `for a copy`, `for the event`, `for the host` | needed ones: an execution and memory barrier, an event, what the host reads |
//!
//! What is presented, or read by the host, needs all of the others.

use ash::vk;

use super::barriers::{Access, Stage, barrier, image_barrier, show};
use super::{Frame, Scene, Show, Slot, frame_slots, tracing};
use crate::error::Result;
use crate::gpu::pipeline::Resource;
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Buffer, Colour, Gpu, Image, ImageUse};

const EXTENT: vk::Extent2D = vk::Extent2D { width: 16, height: 16 };
const COLOUR: Colour = [0.7, 0.3, 0.3];
/// What the first buffer is filled with.
const FILL: u32 = 5;

const COMPUTE: Stage = Stage::COMPUTE_SHADER;

/// The scene.
pub struct Ordering;

impl Scene for Ordering {
    fn name(&self) -> &'static str {
        "ordering"
    }

    fn about(&self) -> &'static str {
        "barriers and submissions: too many, too wide, and as they should be"
    }

    fn frames(&self) -> u32 {
        2
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn image_usage(&self) -> vk::ImageUsageFlags {
        tracing::image_usage()
    }

    fn pictured(&self) -> &'static [u32] {
        &[2]
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        let compute = vk::ShaderStageFlags::COMPUTE;
        let storage = vk::DescriptorType::STORAGE_BUFFER;
        let push = vk::PushConstantRange { stage_flags: compute, offset: 0, size: 8 };
        let step = gpu.layout("step", &[(storage, compute), (storage, compute)], Some(push))?;
        let image = vk::DescriptorType::STORAGE_IMAGE;
        let paint = gpu.layout("paint", &[(storage, compute), (image, compute)], None)?;
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
        let first = gpu.device_buffer("first", 4, usage)?;
        let second = gpu.device_buffer("second", 4, usage)?;
        let usage = vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC;
        let (format, aspect) = (vk::Format::R8G8B8A8_UNORM, vk::ImageAspectFlags::COLOR);
        let picture = gpu.image("picture", &ImageUse { format, extent: EXTENT, usage, aspect })?;
        let target = vk::DescriptorImageInfo::default().image_view(picture.view);
        let target = Resource::Image(target.image_layout(vk::ImageLayout::GENERAL));
        let (a, b) = (Resource::Buffer(first.whole()), Resource::Buffer(second.whole()));
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::TRANSFER_SRC;
        let third = gpu.device_buffer("third", 4, usage)?;
        let fourth = gpu.device_buffer("fourth", 4, usage)?;
        let (c, d) = (Resource::Buffer(third.whole()), Resource::Buffer(fourth.whole()));
        let event = || -> Result<vk::Event> {
            let made = unsafe { gpu.device.create_event(&vk::EventCreateInfo::default(), None) }?;
            Ok(gpu.adopt(made, "event"))
        };
        let (pool, [early, later]) = gpu.command_buffers("before pool", ["early", "later"])?;
        Ok(Box::new(Running {
            commands: frame_slots(gpu)?,
            pool,
            early,
            later,
            step: Work {
                pipeline: gpu.compute_pipeline("step", spirv!("step.comp"), &step)?,
                set: tracing::only_set(gpu, &step, &[a, b])?,
                layout: step.pipeline,
            },
            side: Work {
                pipeline: gpu.compute_pipeline("side", spirv!("step.comp"), &step)?,
                set: tracing::only_set(gpu, &step, &[c, d])?,
                layout: step.pipeline,
            },
            third,
            copied: gpu.host_buffer("copied", 4, vk::BufferUsageFlags::TRANSFER_DST)?,
            events: [event()?, event()?],
            paint: Work {
                pipeline: gpu.compute_pipeline("paint", spirv!("paint.comp"), &paint)?,
                set: tracing::only_set(gpu, &paint, &[a, target])?,
                layout: paint.pipeline,
            },
            first,
            unused: gpu.device_buffer("unused", 256, vk::BufferUsageFlags::STORAGE_BUFFER)?,
            picture,
            presented: swapchain.images.clone(),
        }))
    }
}

/// A dispatch of one workgroup.
struct Work {
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
}

impl Work {
    fn record(&self, device: &ash::Device, commands: vk::CommandBuffer, push: &[u32]) {
        let point = vk::PipelineBindPoint::COMPUTE;
        let bytes: Vec<u8> = push.iter().flat_map(|word| word.to_le_bytes()).collect();
        unsafe {
            device.cmd_bind_pipeline(commands, point, self.pipeline);
            device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[self.set], &[]);
            if !push.is_empty() {
                let stage = vk::ShaderStageFlags::COMPUTE;
                device.cmd_push_constants(commands, self.layout, stage, 0, &bytes);
            }
            device.cmd_dispatch(commands, 1, 1, 1);
        }
    }
}

struct Running {
    commands: Vec<Slot>,
    pool: vk::CommandPool,
    early: vk::CommandBuffer,
    later: vk::CommandBuffer,
    step: Work,
    paint: Work,
    /// The same steps with other buffers, which are no part of the picture.
    side: Work,
    third: Buffer,
    copied: Buffer,
    events: [vk::Event; 2],
    first: Buffer,
    unused: Buffer,
    picture: Image,
    presented: Vec<vk::Image>,
}

impl Running {
    /// Two submissions, one right after the other.
    fn before(&self, gpu: &Gpu, frame: u32) -> Result<()> {
        let once = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
        gpu.record(self.early, once, |device| unsafe {
            device.cmd_fill_buffer(self.early, self.first.handle, 0, 4, FILL);
        })?;
        gpu.record(self.later, once, |device| {
            let read = Access::SHADER_READ | Access::SHADER_WRITE;
            gpu.labelled(self.later, "needed", COLOUR, || {
                barrier(device, self.later, (Stage::TRANSFER, Access::TRANSFER_WRITE), (COMPUTE, read));
            });
            self.step.record(device, self.later, &[0, frame]);
        })?;
        for commands in [[self.early], [self.later]] {
            let submit = vk::SubmitInfo::default().command_buffers(&commands);
            unsafe { gpu.device.queue_submit(gpu.queue, &[submit], vk::Fence::null()) }?;
        }
        Ok(())
    }

    /// Steps beside the picture, whose result is copied to where the host could read it.
    fn beside(&self, gpu: &Gpu, commands: vk::CommandBuffer, frame: u32) {
        let device = &gpu.device;
        let label = |name: &str, body: &dyn Fn()| gpu.labelled(commands, name, COLOUR, body);
        let (read, write) = (Access::SHADER_READ, Access::SHADER_WRITE);
        let (copy, none) = (Stage::TRANSFER, vk::DependencyFlags::empty());
        let [idle, used] = self.events;
        label("host wrote before", &|| {
            barrier(device, commands, (Stage::HOST, Access::HOST_WRITE), (COMPUTE, read));
        });
        unsafe { device.cmd_fill_buffer(commands, self.third.handle, 0, 4, FILL) };
        label("for a copy", &|| {
            barrier(device, commands, (copy, Access::TRANSFER_WRITE), (COMPUTE, read | write));
        });
        self.side.record(device, commands, &[0, frame]);
        label("execution only", &|| unsafe {
            device.cmd_pipeline_barrier(commands, COMPUTE, COMPUTE, none, &[], &[], &[]);
        });
        label("too many accesses", &|| {
            let more = Access::UNIFORM_READ;
            barrier(device, commands, (COMPUTE, write), (COMPUTE, read | write | more));
        });
        label("memory again", &|| barrier(device, commands, (COMPUTE, write), (COMPUTE, read | write)));
        self.side.record(device, commands, &[1, frame]);
        label("event for nothing", &|| unsafe {
            device.cmd_set_event(commands, idle, COMPUTE);
            let unused = [self.unused(write, read)];
            device.cmd_wait_events(commands, &[idle], COMPUTE, COMPUTE, &[], &unused, &[]);
        });
        label("for the event", &|| unsafe {
            device.cmd_set_event(commands, used, COMPUTE);
            let memory =
                [vk::MemoryBarrier::default().src_access_mask(write).dst_access_mask(Access::TRANSFER_READ)];
            device.cmd_wait_events(commands, &[used], COMPUTE, copy, &memory, &[], &[]);
        });
        let all = [vk::BufferCopy::default().size(4)];
        unsafe { device.cmd_copy_buffer(commands, self.third.handle, self.copied.handle, &all) };
        label("for the host", &|| {
            barrier(device, commands, (copy, Access::TRANSFER_WRITE), (Stage::HOST, Access::HOST_READ));
        });
    }

    /// A barrier for a buffer that nobody uses.
    fn unused(&self, from: Access, to: Access) -> vk::BufferMemoryBarrier<'static> {
        vk::BufferMemoryBarrier::default()
            .src_access_mask(from)
            .dst_access_mask(to)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .buffer(self.unused.handle)
            .size(vk::WHOLE_SIZE)
    }

    fn nothing(&self, device: &ash::Device, commands: vk::CommandBuffer) {
        let barrier = [self.unused(Access::SHADER_WRITE, Access::SHADER_READ)];
        let none = vk::DependencyFlags::empty();
        unsafe { device.cmd_pipeline_barrier(commands, COMPUTE, COMPUTE, none, &[], &barrier, &[]) };
    }
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let (pool, commands) = self.commands[frame.slot];
        unsafe {
            gpu.device.queue_wait_idle(gpu.queue)?;
            gpu.device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty())?;
            gpu.device.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty())?;
            for event in self.events {
                gpu.device.reset_event(event)?;
            }
        }
        self.before(gpu, frame.number)?;
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| {
            let label = |name: &str, body: &dyn Fn()| gpu.labelled(commands, name, COLOUR, body);
            let (all, memory) = (Stage::ALL_COMMANDS, Access::MEMORY_READ | Access::MEMORY_WRITE);
            let (read, write) = (Access::SHADER_READ, Access::SHADER_WRITE);
            let (general, source) = (vk::ImageLayout::GENERAL, vk::ImageLayout::TRANSFER_SRC_OPTIMAL);
            let picture = self.picture.handle;
            let (here, away) = ((general, COMPUTE, write), (source, Stage::TRANSFER, Access::TRANSFER_READ));
            label("orders nothing", &|| self.nothing(device, commands));
            label("too wide", &|| barrier(device, commands, (all, memory), (all, memory)));
            self.step.record(device, commands, &[1, frame.number]);
            label("needed", &|| barrier(device, commands, (COMPUTE, write), (COMPUTE, read)));
            let made = (vk::ImageLayout::UNDEFINED, COMPUTE, Access::empty());
            image_barrier(device, commands, picture, made, here);
            self.paint.record(device, commands, &[]);
            self.beside(gpu, commands, frame.number);
            label("there", &|| image_barrier(device, commands, picture, here, away));
            label("back", &|| image_barrier(device, commands, picture, away, here));
            show(device, commands, (picture, COMPUTE), self.presented[frame.image], EXTENT);
        })?;
        Ok(vec![commands])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pictures_are_right() {
        for frame in Ordering.pictured() {
            let path = format!("{}/samples/ordering_frame_{frame}.png", env!("CARGO_MANIFEST_DIR"));
            let (extent, pixels) = crate::picture::read_png(&path);
            assert_eq!(extent, EXTENT);
            let want = [41, 23, 7].map(|factor| ((FILL + frame) * 2 * factor) as u8);
            assert!(pixels.chunks_exact(3).all(|rgb| rgb == want), "frame {frame}");
        }
    }
}
