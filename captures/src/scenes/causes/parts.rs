//! What the parts of the frame are made of: targets, and what draws and dispatches need to write them.
//!
//! Full-screen draws are of [`Screen`], triangles of one pixel of [`Dots`], dispatches of [`Rows`]. All render passes are of one kind:
//! they clear, and leave the target ready to be copied from, whatever wrote or read it before.

use ash::vk;

use super::super::barriers::{Access, Stage};
use super::super::tracing::only_set;
use super::textures::textures;
use super::work::{
    CLEARED, DEAR_ROUNDS, DISPATCHES, DOT_ROUNDS, LARGE, PASS_ROUNDS, PLAIN_ROUNDS, ROW_ROUNDS, ROWS, SCREEN,
    SEED, SMALL, TEXELS, TILE,
};
use crate::error::Result;
use crate::gpu::pipeline::{Graphics, Layout, Resource, Spirv, cover};
use crate::gpu::{Buffer, Gpu, Image, ImageUse};

const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// What a dispatch writes, in bytes: what storage buffers are aligned to at most, on any device.
const ROWS_BYTES: u64 = (TILE * ROWS * 4) as u64;
const _: () = assert!(ROWS_BYTES == 256);

/// All of them.
pub struct Parts {
    pub large: Screen,
    pub small: Screen,
    pub dear: Screen,
    pub plain: Screen,
    pub pass: Screen,
    pub ordered: Rows,
    pub free: Rows,
    pub many: Dots,
    pub one: Dots,
    pub nothing: Dots,
}

impl Parts {
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let (compute, fragment) = (vk::ShaderStageFlags::COMPUTE, vk::ShaderStageFlags::FRAGMENT);
        let push = |stage| vk::PushConstantRange { stage_flags: stage, offset: 0, size: 16 };
        let rows =
            gpu.layout("rows", &[(vk::DescriptorType::STORAGE_BUFFER, compute)], Some(push(compute)))?;
        let textured = [(vk::DescriptorType::COMBINED_IMAGE_SAMPLER, fragment)];
        let sampled = gpu.layout("sampled", &textured, Some(push(fragment)))?;
        let drawn = gpu.layout("drawn", &[], Some(push(fragment)))?;
        let pass = pass(gpu)?;
        let [large, small] = textures(gpu, &rows)?;
        let texels = |name: &str, texture: Resource, of: vk::Extent2D| {
            let set = only_set(gpu, &sampled, &[texture])?;
            let made = Screen::new(gpu, pass, name, spirv!("texture.frag"), &sampled, TEXELS)?;
            Result::Ok(Screen { set: Some(set), last: [of.width - 1, of.height - 1], ..made })
        };
        let shade =
            |name: &str, rounds: u32| Screen::new(gpu, pass, name, spirv!("shade.frag"), &drawn, rounds);
        let dot = |name: &str| {
            let (vertex, fragment) = (spirv!("dots.vert"), spirv!("dots.frag"));
            let about = Graphics { vertex, fragment, vertices: None, depth: false, layout: &drawn, pass };
            gpu.graphics_pipeline(name, &about)
        };
        let pipelines = [dot("even dots")?, dot("odd dots")?];
        let dots = |name: &str| {
            let target = Target::drawn(gpu, pass, name, vk::Extent2D { width: TILE, height: TILE })?;
            Result::Ok(Dots { target, pass, pipelines, layout: drawn.pipeline })
        };
        Ok(Self {
            large: texels("texture large", large, LARGE)?,
            small: texels("texture small", small, SMALL)?,
            dear: shade("shading dear", DEAR_ROUNDS)?,
            plain: shade("shading plain", PLAIN_ROUNDS)?,
            pass: shade("pass", PASS_ROUNDS)?,
            ordered: Rows::new(gpu, "barriers pointless", &rows)?,
            free: Rows::new(gpu, "barriers none", &rows)?,
            many: dots("draws many")?,
            one: dots("draws one")?,
            nothing: dots("nothing")?,
        })
    }

    /// The targets in the order of tiles.
    pub fn targets(&self) -> [&Target; 10] {
        let screens = [&self.large, &self.small, &self.dear, &self.plain, &self.pass].map(|s| &s.target);
        let rows = [&self.ordered.target, &self.free.target];
        let dots = [&self.many, &self.one, &self.nothing].map(|d| &d.target);
        let [a, b, c, d, e] = screens;
        let [f, g] = rows;
        let [h, i, j] = dots;
        [a, b, c, d, e, f, g, h, i, j]
    }
}

/// What is drawn to, or copied to, and comes to be seen.
pub struct Target {
    pub image: Image,
    pub extent: vk::Extent2D,
    framebuffer: vk::Framebuffer,
}

impl Target {
    /// Of the render pass.
    fn drawn(gpu: &Gpu, pass: vk::RenderPass, name: &str, extent: vk::Extent2D) -> Result<Self> {
        let target = Self::of(gpu, name, extent, vk::ImageUsageFlags::empty())?;
        let views = [target.image.view];
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(&views)
            .width(extent.width)
            .height(extent.height)
            .layers(1);
        let framebuffer = unsafe { gpu.device.create_framebuffer(&info, None) }?;
        Ok(Self { framebuffer: gpu.adopt(framebuffer, &format!("{name} framebuffer")), ..target })
    }

    /// Of none. An image with a view has a use for it, too.
    fn of(gpu: &Gpu, name: &str, extent: vk::Extent2D, more: vk::ImageUsageFlags) -> Result<Self> {
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC | more;
        let aspect = vk::ImageAspectFlags::COLOR;
        let image =
            gpu.image(&format!("{name} target"), &ImageUse { format: FORMAT, extent, usage, aspect })?;
        Ok(Self { image, extent, framebuffer: vk::Framebuffer::null() })
    }

    /// Clears it, and draws.
    fn draw(
        &self,
        device: &ash::Device,
        commands: vk::CommandBuffer,
        pass: vk::RenderPass,
        body: impl FnOnce(),
    ) {
        let clear = [vk::ClearValue { color: vk::ClearColorValue { float32: CLEARED } }];
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(pass)
            .framebuffer(self.framebuffer)
            .render_area(self.extent.into())
            .clear_values(&clear);
        unsafe { device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE) };
        cover(device, commands, self.extent);
        body();
        unsafe { device.cmd_end_render_pass(commands) };
    }
}

/// Draws that cover their target.
pub struct Screen {
    pub target: Target,
    pass: vk::RenderPass,
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    set: Option<vk::DescriptorSet>,
    rounds: u32,
    last: [u32; 2],
}

impl Screen {
    fn new(
        gpu: &Gpu,
        pass: vk::RenderPass,
        name: &str,
        fragment: Spirv,
        layout: &Layout,
        rounds: u32,
    ) -> Result<Self> {
        let vertex = spirv!("screen.vert");
        let about = Graphics { vertex, fragment, vertices: None, depth: false, layout, pass };
        Ok(Self {
            target: Target::drawn(gpu, pass, name, SCREEN)?,
            pass,
            pipeline: gpu.graphics_pipeline(name, &about)?,
            layout: layout.pipeline,
            set: None,
            rounds,
            last: [0; 2],
        })
    }

    /// Draws it so often.
    pub fn record(&self, device: &ash::Device, commands: vk::CommandBuffer, seed: u32, draws: u32) {
        let point = vk::PipelineBindPoint::GRAPHICS;
        self.target.draw(device, commands, self.pass, || unsafe {
            device.cmd_bind_pipeline(commands, point, self.pipeline);
            if let Some(set) = self.set {
                device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[set], &[]);
            }
            let words = [seed, self.rounds, self.last[0], self.last[1]];
            give(device, commands, self.layout, vk::ShaderStageFlags::FRAGMENT, words);
            (0..draws).for_each(|_| device.cmd_draw(commands, 3, 1, 0, 0));
        });
    }
}

/// Tells shaders what is in their push constants.
fn give(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    layout: vk::PipelineLayout,
    stage: vk::ShaderStageFlags,
    words: [u32; 4],
) {
    let bytes = words.map(u32::to_le_bytes);
    unsafe { device.cmd_push_constants(commands, layout, stage, 0, bytes.as_flattened()) };
}

/// Triangles of one pixel, with two pipelines that do the same.
pub struct Dots {
    pub target: Target,
    pass: vk::RenderPass,
    pipelines: [vk::Pipeline; 2],
    layout: vk::PipelineLayout,
}

impl Dots {
    /// What `draws` records, of either pipeline.
    pub fn record(
        &self,
        device: &ash::Device,
        commands: vk::CommandBuffer,
        draws: impl FnOnce([vk::Pipeline; 2]),
    ) {
        self.target.draw(device, commands, self.pass, || {
            let stage = vk::ShaderStageFlags::FRAGMENT;
            give(device, commands, self.layout, stage, [SEED, DOT_ROUNDS, 0, 0]);
            draws(self.pipelines);
        });
    }
}

/// Dispatches that write some rows of the target each, into a buffer of which it is a copy.
pub struct Rows {
    pub target: Target,
    buffer: Buffer,
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    sets: Vec<vk::DescriptorSet>,
}

impl Rows {
    fn new(gpu: &Gpu, name: &str, layout: &Layout) -> Result<Self> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_SRC;
        let buffer = gpu.device_buffer(&format!("{name} rows"), u64::from(DISPATCHES) * ROWS_BYTES, usage)?;
        let pool = gpu.descriptor_pool(&format!("{name} descriptors"), DISPATCHES, &[layout])?;
        let set = |row: u32| {
            let offset = u64::from(row) * ROWS_BYTES;
            let part = vk::DescriptorBufferInfo { offset, ..buffer.range(ROWS_BYTES) };
            gpu.descriptor_set(&format!("rows {row}"), pool, layout, &[Resource::Buffer(part)])
        };
        let extent = vk::Extent2D { width: TILE, height: TILE };
        Ok(Self {
            target: Target::of(gpu, name, extent, vk::ImageUsageFlags::TRANSFER_DST)?,
            buffer,
            pipeline: gpu.compute_pipeline(name, spirv!("rows.comp"), layout)?,
            layout: layout.pipeline,
            sets: (0..DISPATCHES).map(set).collect::<Result<_>>()?,
        })
    }

    /// Binds the pipeline.
    pub fn bind(&self, device: &ash::Device, commands: vk::CommandBuffer) {
        unsafe { device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, self.pipeline) };
    }

    /// Writes the rows of a dispatch.
    pub fn dispatch(&self, device: &ash::Device, commands: vk::CommandBuffer, number: u32) {
        let (point, set) = (vk::PipelineBindPoint::COMPUTE, [self.sets[number as usize]]);
        let words = [SEED, ROW_ROUNDS, number * ROWS, 0];
        give(device, commands, self.layout, vk::ShaderStageFlags::COMPUTE, words);
        unsafe {
            device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &set, &[]);
            device.cmd_dispatch(commands, 1, 1, 1);
        }
    }

    /// Copies the rows to the target.
    pub fn copy(&self, device: &ash::Device, commands: vk::CommandBuffer) {
        let layers =
            vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
        let region = [vk::BufferImageCopy::default()
            .image_subresource(layers)
            .image_extent(self.target.extent.into())];
        let (to, layout) = (self.target.image.handle, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
        unsafe { device.cmd_copy_buffer_to_image(commands, self.buffer.handle, to, layout, &region) };
    }
}

/// The render pass of all targets.
fn pass(gpu: &Gpu) -> Result<vk::RenderPass> {
    let attachments = [vk::AttachmentDescription::default()
        .format(FORMAT)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        .initial_layout(vk::ImageLayout::UNDEFINED)
        .final_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)];
    let layout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
    let colour = [vk::AttachmentReference { attachment: 0, layout }];
    let subpasses = [vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colour)];
    let (output, write) = (Stage::COLOR_ATTACHMENT_OUTPUT, Access::COLOR_ATTACHMENT_WRITE);
    let dependencies = [
        // What was copied from it, or drawn to it, before.
        vk::SubpassDependency::default()
            .src_subpass(vk::SUBPASS_EXTERNAL)
            .src_stage_mask(output | Stage::TRANSFER)
            .dst_stage_mask(output)
            .src_access_mask(write)
            .dst_access_mask(write),
        vk::SubpassDependency::default()
            .dst_subpass(vk::SUBPASS_EXTERNAL)
            .src_stage_mask(output)
            .dst_stage_mask(output | Stage::TRANSFER)
            .src_access_mask(write)
            .dst_access_mask(write | Access::TRANSFER_READ),
    ];
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    Ok(gpu.adopt(unsafe { gpu.device.create_render_pass(&info, None) }?, "pass"))
}
