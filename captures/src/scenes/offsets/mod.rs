//! `offsets`: storage and texel buffers that begin in steps of 272 bytes, and what shaders write there.
//!
//! One buffer holds a row of numbers and, step by step, rows that shaders make of the one before: each number doubled, and one
//! more. Their descriptors come from sets, dynamic offsets, pushes and views; one step reads parts of two rows at once, one is
//! two dispatches side by side that write parts of a row, and one is a render pass. 272 is a multiple of 16, which llvmpipe
//! wants, and of no more, as most devices want. The picture shows the buffer, a row for each.
//!
//! `offsets_twice` does one thing more: a dispatch that writes bytes which it also sees from another offset.

use ash::vk;

use super::barriers::{Access, Stage, barrier, image_barrier, show};
use super::{Frame, Scene, Show, Slot, frame_slots};
use crate::error::Result;
use crate::gpu::pipeline::{Graphics, Layout, Resource, cover};
use crate::gpu::sets::slot;
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Buffer, Gpu, Image, ImageUse, Needs};

/// Numbers in a row.
const WORDS: u32 = 64;
/// Bytes of a row, and from row to row.
const ROW: u64 = WORDS as u64 * 4;
const STEP: u64 = ROW + 16;
/// Rows.
const ROWS: u32 = 8;

const EXTENT: vk::Extent2D = vk::Extent2D { width: WORDS, height: ROWS };

const COMPUTE: vk::ShaderStageFlags = vk::ShaderStageFlags::COMPUTE;
const STORAGE: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER;
const DYNAMIC: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER_DYNAMIC;

/// What a dispatch does: from and to (bytes), first number, how many.
type Part = (u64, u64, u32, u32);

/// Of the fifth row: half of it each, the second from and to 16 bytes further on.
const HALVES: [Part; 2] = [(5 * STEP, 6 * STEP, 0, 32), (5 * STEP + 16, 6 * STEP + 16, 28, 32)];
/// A dispatch that writes what it sees twice.
const TWICE: Part = (0, 16, 48, 4);
/// Where the row begins that is made of parts of two others.
const BETWEEN: u64 = STEP + 64;

/// The numbers that a frame begins with.
fn numbers(frame: u32) -> Vec<u8> {
    (0..WORDS).flat_map(|n| (n + 7 * frame).to_le_bytes()).collect()
}

/// The scene.
pub struct Offsets {
    /// See the module's header.
    pub twice: bool,
}

impl Scene for Offsets {
    fn name(&self) -> &'static str {
        if self.twice { "offsets_twice" } else { "offsets" }
    }

    fn about(&self) -> &'static str {
        match self.twice {
            true => "the same, with a dispatch that writes bytes which it also sees from another offset",
            false => {
                "storage and texel buffers that begin in steps of 272 bytes, and what shaders write there"
            }
        }
    }

    fn frames(&self) -> u32 {
        2
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn image_usage(&self) -> vk::ImageUsageFlags {
        vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_DST
    }

    fn pictured(&self) -> &'static [u32] {
        if self.twice { &[] } else { &[1, 2] }
    }

    fn needs(&self) -> Needs {
        Needs {
            extensions: &[ash::khr::push_descriptor::NAME],
            features: vk::PhysicalDeviceFeatures {
                fragment_stores_and_atomics: vk::TRUE,
                ..Default::default()
            },
            ..Needs::default()
        }
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        Ok(Box::new(Running::new(gpu, swapchain, self.twice)?))
    }
}

/// A pipeline, its layout and a set.
struct Stepping {
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
}

/// What all steps are made with.
struct Maker<'g> {
    gpu: &'g Gpu,
    buffer: Buffer,
    pool: vk::DescriptorPool,
}

impl Maker<'_> {
    fn seen(&self, offset: u64) -> vk::DescriptorBufferInfo {
        vk::DescriptorBufferInfo { buffer: self.buffer.handle, offset, range: ROW }
    }

    /// A layout of two bindings of a type, and of what `double.comp` is told.
    fn layout(
        &self,
        name: &str,
        kinds: [vk::DescriptorType; 2],
        stages: vk::ShaderStageFlags,
        flags: vk::DescriptorSetLayoutCreateFlags,
    ) -> Result<Layout> {
        let bindings = [slot(0, kinds[0], 1, stages), slot(1, kinds[1], 1, stages)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings).flags(flags);
        let set = self.gpu.set_layout_of(name, info)?;
        let push = [vk::PushConstantRange::default().stage_flags(COMPUTE).size(8)];
        Ok(Layout::of(set, self.gpu.pipeline_layout(name, &[set], &push)?))
    }

    /// `double.comp` with a set that sees these places.
    fn double(&self, name: &str, kind: vk::DescriptorType, from: u64, to: u64) -> Result<Stepping> {
        let layout = self.layout(name, [kind; 2], COMPUTE, vk::DescriptorSetLayoutCreateFlags::empty())?;
        let set = self.gpu.empty_set(name, self.pool, layout.set)?;
        for (binding, offset) in [(0, from), (1, to)] {
            self.gpu.write_set(set, (binding, 0), kind, &[Resource::Buffer(self.seen(offset))]);
        }
        let pipeline = self.gpu.compute_pipeline(name, spirv!("double.comp"), &layout)?;
        Ok(Stepping { pipeline, layout: layout.pipeline, set })
    }

    /// `texels.comp` with views of these rows.
    fn texels(&self, from: u64, to: u64) -> Result<Stepping> {
        let kinds = [vk::DescriptorType::UNIFORM_TEXEL_BUFFER, vk::DescriptorType::STORAGE_TEXEL_BUFFER];
        let none = vk::DescriptorSetLayoutCreateFlags::empty();
        let layout = self.layout("texels", kinds, COMPUTE, none)?;
        let set = self.gpu.empty_set("texels", self.pool, layout.set)?;
        for ((binding, kind), offset) in (0..).zip(kinds).zip([from, to]) {
            let info = vk::BufferViewCreateInfo::default()
                .buffer(self.buffer.handle)
                .format(vk::Format::R32_UINT)
                .offset(offset)
                .range(ROW);
            let view = unsafe { self.gpu.device.create_buffer_view(&info, None) }?;
            let views = [self.gpu.adopt(view, "row")];
            let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding);
            let write = write.descriptor_type(kind).texel_buffer_view(&views);
            unsafe { self.gpu.device.update_descriptor_sets(&[write], &[]) };
        }
        let pipeline = self.gpu.compute_pipeline("texels", spirv!("texels.comp"), &layout)?;
        Ok(Stepping { pipeline, layout: layout.pipeline, set })
    }
}

struct Running {
    commands: Vec<Slot>,
    buffer: Buffer,
    picture: Image,
    pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    push: ash::khr::push_descriptor::Device,
    twice: Option<Stepping>,
    plain: Stepping,
    dynamic: Stepping,
    pushed: Stepping,
    texels: Stepping,
    between: Stepping,
    halves: [Stepping; 2],
    drawn: Stepping,
    shown: Stepping,
    presented: Vec<vk::Image>,
}

impl Running {
    fn new(gpu: &Gpu, swapchain: &Swapchain, twice: bool) -> Result<Self> {
        use vk::BufferUsageFlags as Use;
        let usage = Use::STORAGE_BUFFER
            | Use::UNIFORM_TEXEL_BUFFER
            | Use::STORAGE_TEXEL_BUFFER
            | Use::TRANSFER_SRC
            | Use::TRANSFER_DST;
        let buffer = gpu.device_buffer("rows", u64::from(ROWS) * STEP, usage)?;
        let sizes = [
            (STORAGE, 32),
            (DYNAMIC, 4),
            (vk::DescriptorType::UNIFORM_TEXEL_BUFFER, 1),
            (vk::DescriptorType::STORAGE_TEXEL_BUFFER, 1),
            (vk::DescriptorType::STORAGE_IMAGE, 1),
        ];
        let maker = Maker { gpu, buffer, pool: gpu.pool_of("sets", 16, &sizes)? };
        let usage = vk::ImageUsageFlags::STORAGE
            | vk::ImageUsageFlags::COLOR_ATTACHMENT
            | vk::ImageUsageFlags::TRANSFER_SRC;
        let (format, aspect) = (vk::Format::R8G8B8A8_UNORM, vk::ImageAspectFlags::COLOR);
        let picture = gpu.image("picture", &ImageUse { format, extent: EXTENT, usage, aspect })?;
        let pass = pass(gpu, format)?;
        let views = [picture.view];
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(&views)
            .width(EXTENT.width)
            .height(EXTENT.height)
            .layers(1);
        let framebuffer = gpu.adopt(unsafe { gpu.device.create_framebuffer(&info, None) }?, "framebuffer");
        let none = vk::DescriptorSetLayoutCreateFlags::empty();
        let pushing = vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR;
        let layout = maker.layout("pushed", [STORAGE; 2], COMPUTE, pushing)?;
        let pipeline = gpu.compute_pipeline("pushed", spirv!("double.comp"), &layout)?;
        let pushed = Stepping { pipeline, layout: layout.pipeline, set: vk::DescriptorSet::null() };

        let layout = maker.layout("drawn", [STORAGE; 2], vk::ShaderStageFlags::FRAGMENT, none)?;
        let set = gpu.empty_set("drawn", maker.pool, layout.set)?;
        for (binding, row) in [(0, 6), (1, 7)] {
            gpu.write_set(set, (binding, 0), STORAGE, &[Resource::Buffer(maker.seen(row * STEP))]);
        }
        let about = Graphics {
            vertex: spirv!("screen.vert"),
            fragment: spirv!("double.frag"),
            vertices: None,
            depth: false,
            layout: &layout,
            pass,
        };
        let pipeline = gpu.graphics_pipeline("drawn", &about)?;
        let drawn = Stepping { pipeline, layout: layout.pipeline, set };

        let kinds = [STORAGE, vk::DescriptorType::STORAGE_IMAGE];
        let layout = maker.layout("shown", kinds, COMPUTE, none)?;
        let set = gpu.empty_set("shown", maker.pool, layout.set)?;
        let view = vk::DescriptorImageInfo::default().image_view(picture.view);
        let image = Resource::Image(view.image_layout(vk::ImageLayout::GENERAL));
        gpu.write_set(set, (0, 0), kinds[0], &[Resource::Buffer(buffer.whole())]);
        gpu.write_set(set, (1, 0), kinds[1], &[image]);
        let pipeline = gpu.compute_pipeline("shown", spirv!("show.comp"), &layout)?;
        let shown = Stepping { pipeline, layout: layout.pipeline, set };
        let [near, far] = HALVES;
        Ok(Self {
            commands: frame_slots(gpu)?,
            buffer,
            picture,
            pass,
            framebuffer,
            push: gpu.extension(ash::khr::push_descriptor::Device::new),
            twice: twice.then(|| maker.double("twice", STORAGE, TWICE.0, TWICE.1)).transpose()?,
            plain: maker.double("plain", STORAGE, 0, STEP)?,
            dynamic: maker.double("dynamic", DYNAMIC, 0, 0)?,
            pushed,
            texels: maker.texels(3 * STEP, 4 * STEP)?,
            between: maker.double("between", STORAGE, BETWEEN, 5 * STEP)?,
            halves: [
                maker.double("near", STORAGE, near.0, near.1)?,
                maker.double("far", STORAGE, far.0, far.1)?,
            ],
            drawn,
            shown,
            presented: swapchain.images.clone(),
        })
    }

    /// A dispatch of some numbers; descriptors are pushed where there is no set.
    fn step(
        &self,
        gpu: &Gpu,
        commands: vk::CommandBuffer,
        s: &Stepping,
        offsets: &[u32],
        (first, count): (u32, u32),
    ) {
        let (device, point) = (&gpu.device, vk::PipelineBindPoint::COMPUTE);
        let told: Vec<u8> = [first, count].iter().flat_map(|n| n.to_le_bytes()).collect();
        let seen = [2, 3].map(|row| {
            [vk::DescriptorBufferInfo { buffer: self.buffer.handle, offset: row * STEP, range: ROW }]
        });
        let write = vk::WriteDescriptorSet::default().descriptor_type(STORAGE);
        let writes = [write.buffer_info(&seen[0]), write.dst_binding(1).buffer_info(&seen[1])];
        unsafe {
            device.cmd_bind_pipeline(commands, point, s.pipeline);
            match s.set == vk::DescriptorSet::null() {
                true => self.push.cmd_push_descriptor_set(commands, point, s.layout, 0, &writes),
                false => device.cmd_bind_descriptor_sets(commands, point, s.layout, 0, &[s.set], offsets),
            }
            device.cmd_push_constants(commands, s.layout, COMPUTE, 0, &told);
            device.cmd_dispatch(commands, 1, 1, 1);
        }
    }

    /// The step that is a render pass.
    fn draw(&self, gpu: &Gpu, commands: vk::CommandBuffer) {
        let (device, point) = (&gpu.device, vk::PipelineBindPoint::GRAPHICS);
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass)
            .framebuffer(self.framebuffer)
            .render_area(EXTENT.into());
        unsafe {
            device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            device.cmd_bind_pipeline(commands, point, self.drawn.pipeline);
            cover(device, commands, vk::Extent2D { height: 1, ..EXTENT });
            device.cmd_bind_descriptor_sets(commands, point, self.drawn.layout, 0, &[self.drawn.set], &[]);
            device.cmd_draw(commands, 3, 1, 0, 0);
            device.cmd_end_render_pass(commands);
        }
    }
}

fn pass(gpu: &Gpu, format: vk::Format) -> Result<vk::RenderPass> {
    let general = vk::ImageLayout::GENERAL;
    let attachments = [vk::AttachmentDescription::default()
        .format(format)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::DONT_CARE)
        .store_op(vk::AttachmentStoreOp::STORE)
        .initial_layout(general)
        .final_layout(general)];
    let colour = [vk::AttachmentReference { attachment: 0, layout: general }];
    let subpasses = [vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colour)];
    let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
    Ok(gpu.adopt(unsafe { gpu.device.create_render_pass(&info, None) }?, "pass"))
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let (pool, commands) = self.commands[frame.slot];
        unsafe { gpu.device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty()) }?;
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| {
            let (all, copies) = (Stage::ALL_COMMANDS, Stage::TRANSFER);
            let (any, copied) = (Access::MEMORY_READ | Access::MEMORY_WRITE, Access::TRANSFER_WRITE);
            let wait = || barrier(device, commands, (all, any), (all, any));
            let (buffer, whole) = (self.buffer.handle, (0, WORDS));
            let step = |s, offsets: &[u32], part| self.step(gpu, commands, s, offsets, part);
            // The frame before reads the same rows.
            wait();
            unsafe { device.cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, 0) };
            barrier(device, commands, (copies, copied), (copies, copied));
            unsafe { device.cmd_update_buffer(commands, buffer, 0, &numbers(frame.number)) };
            wait();
            if let Some(twice) = &self.twice {
                step(twice, &[], (TWICE.2, TWICE.3));
                wait();
            }
            step(&self.plain, &[], whole);
            wait();
            step(&self.dynamic, &[STEP as u32, 2 * STEP as u32], whole);
            wait();
            step(&self.pushed, &[], whole);
            wait();
            step(&self.texels, &[], whole);
            step(&self.between, &[], whole);
            wait();
            for (half, part) in self.halves.iter().zip(HALVES) {
                step(half, &[], (part.2, part.3));
            }
            let from = (vk::ImageLayout::UNDEFINED, all, Access::empty());
            image_barrier(device, commands, self.picture.handle, from, (vk::ImageLayout::GENERAL, all, any));
            wait();
            self.draw(gpu, commands);
            wait();
            let (point, shown) = (vk::PipelineBindPoint::COMPUTE, &self.shown);
            unsafe {
                device.cmd_bind_pipeline(commands, point, shown.pipeline);
                device.cmd_bind_descriptor_sets(commands, point, shown.layout, 0, &[shown.set], &[]);
                device.cmd_dispatch(commands, ROWS, 1, 1);
            }
            let stage = Stage::COMPUTE_SHADER;
            show(device, commands, (self.picture.handle, stage), self.presented[frame.image], EXTENT);
        })?;
        Ok(vec![commands])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the buffer holds in the end.
    fn rows(frame: u32) -> Vec<u32> {
        let mut words = vec![0; (u64::from(ROWS) * STEP / 4) as usize];
        let first = numbers(frame);
        for (word, bytes) in words.iter_mut().zip(first.chunks_exact(4)) {
            *word = u32::from_le_bytes(bytes.try_into().expect("four"));
        }
        let row = |from, to| (from * STEP, to * STEP, 0, WORDS);
        let between = (BETWEEN, 5 * STEP, 0, WORDS);
        let [near, far] = HALVES;
        for (from, to, first, count) in
            [row(0, 1), row(1, 2), row(2, 3), row(3, 4), between, near, far, row(6, 7)]
        {
            for n in first..first + count {
                let at = |place: u64| (place / 4) as usize + n as usize;
                words[at(to)] = 2 * words[at(from)] + 1;
            }
        }
        words
    }

    #[test]
    fn the_pictures_are_right() {
        for frame in (Offsets { twice: false }).pictured() {
            let path = format!("{}/samples/offsets_frame_{frame}.png", env!("CARGO_MANIFEST_DIR"));
            let (extent, pixels) = crate::picture::read_png(&path);
            assert_eq!(extent, EXTENT);
            let words = rows(*frame);
            for (at, rgb) in (0..).zip(pixels.chunks_exact(3)) {
                let (row, column) = (at / WORDS, at % WORDS);
                let n = words[(u64::from(row) * STEP / 4) as usize + column as usize];
                let want = [n, n >> 8, n * 7].map(|part| part as u8);
                assert_eq!(rgb, want, "frame {frame}, row {row}, column {column}");
            }
        }
    }
}
