//! `feedback`: a picture that is made of itself, and a program that leans on everything a frame can leave to the next.
//!
//! For replaying one frame again and again: unless all of this is put back between two runs of a frame, the second gives
//! another picture, hangs, or breaks a rule of Vulkan's.
//!
//! | what a frame leaves to the next | here |
//! |---|---|
//! | contents of an image and a buffer | the canvas and the sums, which each step reads and changes |
//! | a command buffer | `paint` is recorded in one frame and submitted in the next, which then records it anew |
//! | a descriptor set | `paint`'s, which is written over after the submission that used it |
//! | a timeline semaphore | counts frames; the host waits for it |
//! | an event of the host, one of the device | set in odd frames and reset in even ones; set, waited for and reset |
//! | queries | written without a reset; the results are copied, and the query reset, one frame later |
//! | host memory | numbers that are written only in odd frames; others behind a mapping that does not last |
//! | a descriptor pool | reset in each frame, just large enough for what is allocated then |
//!
//! Each frame is two submissions: `paint`, and `count` with the blit to the swapchain.

use std::ffi::CStr;

use ash::vk;

use super::barriers::{Access, Stage, barrier, image_barrier};
use super::{Frame, SLOTS, Scene, Show};
use crate::error::Result;
use crate::gpu::pipeline::{Layout, Resource, Spirv};
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Buffer, Colour, Gpu, Image, ImageUse, Needs};

/// The size of the picture.
const EXTENT: vk::Extent2D = vk::Extent2D { width: 96, height: 64 };
/// Bytes of the host's numbers.
const NUMBER_BYTES: u64 = 16;
/// Queries: two, by the frame's parity.
const QUERIES: u32 = 2;

const PAINT_COLOUR: Colour = [0.9, 0.6, 0.2];
const COUNT_COLOUR: Colour = [0.3, 0.6, 0.9];
const SHOW_COLOUR: Colour = [0.5, 0.8, 0.4];

/// The scene.
pub struct Feedback;

impl Scene for Feedback {
    fn name(&self) -> &'static str {
        "feedback"
    }

    fn about(&self) -> &'static str {
        "a picture made of the one before, with everything that a frame may leave to the next"
    }

    fn frames(&self) -> u32 {
        12
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn image_usage(&self) -> vk::ImageUsageFlags {
        vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_DST
    }

    fn pictured(&self) -> &'static [u32] {
        &[1, 7, 12]
    }

    fn needs(&self) -> Needs {
        const EXTENSIONS: [&CStr; 1] = [ash::khr::timeline_semaphore::NAME];
        Needs { extensions: &EXTENSIONS, timeline_semaphore: true, ..Needs::default() }
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        Ok(Box::new(Running::new(gpu, swapchain)?))
    }
}

/// What each frame in flight has for itself.
struct Slot {
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    sets: vk::DescriptorPool,
}

struct Running {
    slots: Vec<Slot>,
    layout: Layout,
    step: vk::Pipeline,
    canvas: Image,
    sums: Buffer,
    /// What `paint` reads: one of them, by the frame's parity.
    numbers: [Buffer; 2],
    /// What `count` reads.
    mapped: Mapped,
    paint: vk::CommandBuffer,
    paint_pool: vk::CommandPool,
    paint_set: vk::DescriptorSet,
    timeline: vk::Semaphore,
    /// Of the host, and of the device.
    events: [vk::Event; 2],
    queries: vk::QueryPool,
    results: Buffer,
    presented: Vec<vk::Image>,
}

/// A buffer whose memory is mapped for a moment only.
struct Mapped {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
}

impl Mapped {
    fn new(gpu: &Gpu) -> Result<Self> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
        let info = vk::BufferCreateInfo::default().size(NUMBER_BYTES).usage(usage);
        let buffer = gpu.adopt(unsafe { gpu.device.create_buffer(&info, None) }?, "moment");
        let need = unsafe { gpu.device.get_buffer_memory_requirements(buffer) };
        let visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let memory = gpu.allocate("moment", &need, visible)?;
        unsafe { gpu.device.bind_buffer_memory(buffer, memory, 0) }?;
        Ok(Mapped { buffer, memory })
    }

    fn write(&self, gpu: &Gpu, numbers: [u32; 4]) -> Result<()> {
        let flags = vk::MemoryMapFlags::empty();
        let at = unsafe { gpu.device.map_memory(self.memory, 0, vk::WHOLE_SIZE, flags) }?;
        let bytes = bytes(numbers);
        // SAFETY: mapped, and large enough.
        unsafe { at.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        unsafe { gpu.device.unmap_memory(self.memory) };
        Ok(())
    }
}

fn bytes(numbers: [u32; 4]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

impl Running {
    fn new(gpu: &Gpu, swapchain: &Swapchain) -> Result<Self> {
        let compute = vk::ShaderStageFlags::COMPUTE;
        let storage = vk::DescriptorType::STORAGE_BUFFER;
        let bindings = [(vk::DescriptorType::STORAGE_IMAGE, compute), (storage, compute), (storage, compute)];
        let push = vk::PushConstantRange { stage_flags: compute, offset: 0, size: 8 };
        let layout = gpu.layout("step", &bindings, Some(push))?;
        let shader = Spirv { name: "feedback.comp", bytes: include_bytes!("feedback.comp.spv") };
        let step = gpu.compute_pipeline("step", shader, &layout)?;

        let usage = vk::ImageUsageFlags::STORAGE
            | vk::ImageUsageFlags::TRANSFER_SRC
            | vk::ImageUsageFlags::TRANSFER_DST;
        let (format, aspect) = (vk::Format::R8G8B8A8_UNORM, vk::ImageAspectFlags::COLOR);
        let canvas = gpu.image("canvas", &ImageUse { format, extent: EXTENT, usage, aspect })?;
        let sums: Vec<u8> = (0..EXTENT.height).flat_map(|y| (y * y).to_le_bytes()).collect();
        let sums = gpu.filled_buffer("sums", &sums, vk::BufferUsageFlags::STORAGE_BUFFER)?;
        let numbers = [
            gpu.host_buffer("even numbers", NUMBER_BYTES, vk::BufferUsageFlags::STORAGE_BUFFER)?,
            gpu.host_buffer("odd numbers", NUMBER_BYTES, vk::BufferUsageFlags::STORAGE_BUFFER)?,
        ];
        numbers[0].write(&bytes([2, 3, 5, 7]));
        numbers[1].write(&bytes([3, 2, 11, 0]));
        gpu.run_once("clear", |device, commands| {
            let range =
                vk::ImageSubresourceRange::default().aspect_mask(aspect).level_count(1).layer_count(1);
            let colour = vk::ClearColorValue { float32: [64.0 / 255.0, 128.0 / 255.0, 191.0 / 255.0, 1.0] };
            let general = vk::ImageLayout::GENERAL;
            let from = (vk::ImageLayout::UNDEFINED, Stage::TOP_OF_PIPE, Access::empty());
            image_barrier(
                device,
                commands,
                canvas.handle,
                from,
                (general, Stage::TRANSFER, Access::TRANSFER_WRITE),
            );
            unsafe { device.cmd_clear_color_image(commands, canvas.handle, general, &colour, &[range]) };
        })?;

        let pool = gpu.descriptor_pool("paint sets", 1, &[&layout])?;
        let (paint_pool, [paint]) = gpu.command_buffers("paint pool", ["paint"])?;
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        let timeline = gpu.adopt(unsafe { gpu.device.create_semaphore(&info, None) }?, "frames");
        let event = |name| -> Result<vk::Event> {
            let made = unsafe { gpu.device.create_event(&vk::EventCreateInfo::default(), None) }?;
            Ok(gpu.adopt(made, name))
        };
        let events = [event("odd")?, event("counted")?];
        unsafe { gpu.device.set_event(events[1]) }?;
        let info =
            vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(QUERIES);
        let queries = gpu.adopt(unsafe { gpu.device.create_query_pool(&info, None) }?, "queries");
        gpu.run_once("first query", |device, commands| unsafe {
            device.cmd_reset_query_pool(commands, queries, 0, QUERIES);
            device.cmd_begin_query(commands, queries, 0, vk::QueryControlFlags::empty());
            device.cmd_end_query(commands, queries, 0);
        })?;
        let results =
            gpu.device_buffer("results", 8 * u64::from(QUERIES), vk::BufferUsageFlags::TRANSFER_DST)?;

        let image = canvas_info(&canvas);
        let resources =
            [Resource::Image(image), Resource::Buffer(sums.whole()), Resource::Buffer(numbers[1].whole())];
        let paint_set = gpu.descriptor_set("paint set", pool, &layout, &resources)?;
        let running = Running {
            slots: (0..SLOTS).map(|index| slot(gpu, index, &layout)).collect::<Result<_>>()?,
            layout,
            step,
            canvas,
            sums,
            numbers,
            mapped: Mapped::new(gpu)?,
            paint,
            paint_pool,
            paint_set,
            timeline,
            events,
            queries,
            results,
            presented: swapchain.images.clone(),
        };
        running.record_paint(gpu, 1)?;
        Ok(running)
    }

    /// Paints, in the frame of this number.
    fn record_paint(&self, gpu: &Gpu, number: u32) -> Result<()> {
        let commands = self.paint;
        unsafe { gpu.device.reset_command_pool(self.paint_pool, vk::CommandPoolResetFlags::empty()) }?;
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| {
            gpu.labelled(commands, "paint", PAINT_COLOUR, || {
                let before = (Stage::COMPUTE_SHADER | Stage::TRANSFER, Access::SHADER_WRITE);
                let here = (Stage::COMPUTE_SHADER, Access::SHADER_READ | Access::SHADER_WRITE);
                barrier(device, commands, before, here);
                self.dispatch(device, commands, self.paint_set, number, 0);
            });
        })
    }

    fn dispatch(
        &self,
        device: &ash::Device,
        commands: vk::CommandBuffer,
        set: vk::DescriptorSet,
        number: u32,
        counts: u32,
    ) {
        let (point, layout) = (vk::PipelineBindPoint::COMPUTE, self.layout.pipeline);
        let push: Vec<u8> = [number, counts].iter().flat_map(|n| n.to_le_bytes()).collect();
        unsafe {
            device.cmd_bind_pipeline(commands, point, self.step);
            device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
            device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::COMPUTE, 0, &push);
            device.cmd_dispatch(commands, EXTENT.width.div_ceil(8), EXTENT.height.div_ceil(8), 1);
        }
    }

    /// Submits what was recorded in the frame before, and makes the next one ready.
    fn paint(&self, gpu: &Gpu, number: u32) -> Result<()> {
        let (waits, values) = ([self.timeline], [u64::from(number) - 1]);
        let signals = [u64::from(number)];
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&values)
            .signal_semaphore_values(&signals);
        let (commands, stages) = ([self.paint], [Stage::COMPUTE_SHADER]);
        let submit = vk::SubmitInfo::default()
            .wait_semaphores(&waits)
            .wait_dst_stage_mask(&stages)
            .command_buffers(&commands)
            .signal_semaphores(&waits)
            .push_next(&mut timeline);
        unsafe { gpu.device.queue_submit(gpu.queue, &[submit], vk::Fence::null()) }?;
        let info = vk::SemaphoreWaitInfo::default().semaphores(&waits).values(&signals);
        unsafe { gpu.timeline().wait_semaphores(&info, u64::MAX) }?;

        let next = (number as usize + 1) % 2;
        if next == 1 {
            self.numbers[1].write(&bytes([number % 5 + 1, number % 3 + 1, number * number, 0]));
        }
        let buffers = [self.numbers[next].whole()];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(self.paint_set)
            .dst_binding(2)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .buffer_info(&buffers);
        unsafe { gpu.device.update_descriptor_sets(&[write], &[]) };
        self.record_paint(gpu, number + 1)
    }

    /// Counts, looks at the query of the frame before, and shows the canvas.
    fn record_count(&self, gpu: &Gpu, slot: &Slot, frame: Frame, set: vk::DescriptorSet) -> Result<()> {
        let (commands, image) = (slot.commands, self.presented[frame.image]);
        let (old, new) = ((frame.number + 1) % QUERIES, frame.number % QUERIES);
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| {
            gpu.labelled(commands, "count", COUNT_COLOUR, || unsafe {
                let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
                let (to, at) = (self.results.handle, u64::from(old) * 8);
                barrier(
                    device,
                    commands,
                    (Stage::TRANSFER, Access::TRANSFER_WRITE),
                    (Stage::TRANSFER, Access::TRANSFER_WRITE),
                );
                device.cmd_copy_query_pool_results(commands, self.queries, old, 1, to, at, 8, flags);
                device.cmd_reset_query_pool(commands, self.queries, old, 1);
                device.cmd_begin_query(commands, self.queries, new, vk::QueryControlFlags::empty());
                device.cmd_end_query(commands, self.queries, new);
                let compute = Stage::COMPUTE_SHADER;
                // Set by the host before the first frame, then by the frame before.
                let from = if frame.number == 1 { Stage::HOST } else { compute };
                device.cmd_wait_events(commands, &[self.events[1]], from, compute, &[], &[], &[]);
                let nothing = (Stage::ALL_COMMANDS, Access::empty());
                barrier(device, commands, nothing, nothing);
                device.cmd_reset_event(commands, self.events[1], compute);
                barrier(device, commands, nothing, nothing);
                let written = (compute, Access::SHADER_WRITE);
                barrier(device, commands, written, (compute, Access::SHADER_READ | Access::SHADER_WRITE));
                self.dispatch(device, commands, set, frame.number, 1);
                barrier(device, commands, nothing, nothing);
                device.cmd_set_event(commands, self.events[1], compute);
            });
            gpu.labelled(commands, "show", SHOW_COLOUR, || self.show(device, commands, image));
        })
    }

    fn show(&self, device: &ash::Device, commands: vk::CommandBuffer, image: vk::Image) {
        let (general, target) = (vk::ImageLayout::GENERAL, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
        let layers =
            vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
        let far = vk::Offset3D { x: EXTENT.width as i32, y: EXTENT.height as i32, z: 1 };
        let region = vk::ImageBlit::default()
            .src_subresource(layers)
            .dst_subresource(layers)
            .src_offsets([vk::Offset3D::default(), far])
            .dst_offsets([vk::Offset3D::default(), far]);
        let output = Stage::COLOR_ATTACHMENT_OUTPUT;
        let painted = (Stage::COMPUTE_SHADER, Access::SHADER_WRITE);
        barrier(device, commands, painted, (Stage::TRANSFER, Access::TRANSFER_READ));
        // The submission waits for the image at the stage of colour output.
        let from = (vk::ImageLayout::UNDEFINED, output, Access::empty());
        image_barrier(device, commands, image, from, (target, Stage::TRANSFER, Access::TRANSFER_WRITE));
        let (canvas, filter) = (self.canvas.handle, vk::Filter::NEAREST);
        unsafe { device.cmd_blit_image(commands, canvas, general, image, target, &[region], filter) };
        let from = (target, Stage::TRANSFER, Access::TRANSFER_WRITE);
        let to = (vk::ImageLayout::PRESENT_SRC_KHR, output, Access::COLOR_ATTACHMENT_WRITE);
        image_barrier(device, commands, image, from, to);
    }
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        self.paint(gpu, frame.number)?;
        let odd = unsafe { gpu.device.get_event_status(self.events[0]) }?;
        match odd {
            true => unsafe { gpu.device.reset_event(self.events[0]) }?,
            false => unsafe { gpu.device.set_event(self.events[0]) }?,
        }
        // The frame before reads it until it is finished, and only `paint`, which comes after it, was waited for.
        gpu.wait()?;
        self.mapped.write(gpu, [0, 0, 0, frame.number % 7])?;
        let slot = &self.slots[frame.slot];
        unsafe {
            gpu.device.reset_command_pool(slot.pool, vk::CommandPoolResetFlags::empty())?;
            gpu.device.reset_descriptor_pool(slot.sets, vk::DescriptorPoolResetFlags::empty())?;
        }
        let numbers = vk::DescriptorBufferInfo { buffer: self.mapped.buffer, offset: 0, range: NUMBER_BYTES };
        let resources = [
            Resource::Image(canvas_info(&self.canvas)),
            Resource::Buffer(self.sums.whole()),
            Resource::Buffer(numbers),
        ];
        let set = gpu.descriptor_set("count set", slot.sets, &self.layout, &resources)?;
        self.record_count(gpu, slot, frame, set)?;
        Ok(vec![slot.commands])
    }
}

fn canvas_info(canvas: &Image) -> vk::DescriptorImageInfo {
    vk::DescriptorImageInfo::default().image_view(canvas.view).image_layout(vk::ImageLayout::GENERAL)
}

fn slot(gpu: &Gpu, index: usize, layout: &Layout) -> Result<Slot> {
    let (pool, [commands]) =
        gpu.command_buffers(&format!("count pool {index}"), [&format!("count {index}")])?;
    let sets = gpu.descriptor_pool(&format!("count sets {index}"), 1, &[layout])?;
    Ok(Slot { pool, commands, sets })
}
