//! What a tile of the scene does, when; and what all tiles are made with.

use ash::vk;

use crate::error::Result;
use crate::gpu::pipeline::{Graphics, Layout, Resource, Spirv};
use crate::gpu::sets::slot;
use crate::gpu::{Buffer, Gpu, Image};

/// The size of a tile.
pub const TILE: u32 = 16;
/// The width of a strip: a tile has four, one for each draw.
const STRIP: u32 = 4;

/// The types of descriptors, shortly.
pub const UNIFORM: vk::DescriptorType = vk::DescriptorType::UNIFORM_BUFFER;
/// A combined image sampler.
pub const SAMPLED: vk::DescriptorType = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
/// The stage that most blocks are read in.
pub const FRAGMENT: vk::ShaderStageFlags = vk::ShaderStageFlags::FRAGMENT;

/// Where the scene is when a tile's turn comes.
#[derive(Clone, Copy)]
pub struct At {
    /// What is recorded into.
    pub commands: vk::CommandBuffer,
    /// The frame, from 1.
    pub frame: u32,
    /// The tile.
    pub tile: u32,
}

impl At {
    /// Sets viewport and scissor to the tile and a strip of it; none: all of it.
    pub fn aim(&self, gpu: &Gpu, strip: Option<u32>) {
        let (x, size) = ((self.tile * TILE) as f32, TILE as f32);
        let viewport = vk::Viewport { x, y: 0.0, width: size, height: size, min_depth: 0.0, max_depth: 1.0 };
        let (left, width) = strip.map_or((0, TILE), |strip| (strip * STRIP, STRIP));
        let area = vk::Rect2D {
            offset: vk::Offset2D { x: (self.tile * TILE + left) as i32, y: 0 },
            extent: vk::Extent2D { width, height: TILE },
        };
        unsafe {
            gpu.device.cmd_set_viewport(self.commands, 0, &[viewport]);
            gpu.device.cmd_set_scissor(self.commands, 0, &[area]);
        }
    }

    /// Binds sets from a number on.
    pub fn sets(
        &self,
        gpu: &Gpu,
        layout: vk::PipelineLayout,
        first: u32,
        sets: &[vk::DescriptorSet],
        offsets: &[u32],
    ) {
        let point = vk::PipelineBindPoint::GRAPHICS;
        unsafe { gpu.device.cmd_bind_descriptor_sets(self.commands, point, layout, first, sets, offsets) };
    }

    /// Binds a graphics pipeline.
    pub fn pipeline(&self, gpu: &Gpu, pipeline: vk::Pipeline) {
        unsafe { gpu.device.cmd_bind_pipeline(self.commands, vk::PipelineBindPoint::GRAPHICS, pipeline) };
    }

    /// Draws a strip of the tile, or all of it.
    pub fn draw(&self, gpu: &Gpu, strip: Option<u32>) {
        self.aim(gpu, strip);
        unsafe { gpu.device.cmd_draw(self.commands, 3, 1, 0, 0) };
    }
}

/// Something to do.
pub type Step = Box<dyn Fn(&Gpu, At)>;

/// A tile: what it does in a frame, in this order.
#[derive(Default)]
pub struct Station {
    /// By the host, while the device does nothing; nothing is being recorded.
    pub host: Option<Step>,
    /// Recorded before all passes.
    pub before: Option<Step>,
    /// Recorded in the first pass.
    pub first: Option<Step>,
    /// Recorded in the second.
    pub second: Option<Step>,
    /// Recorded in the third, which has only secondary command buffers.
    pub third: Option<Step>,
    /// Recorded behind the passes.
    pub after: Option<Step>,
    /// By the host, when all is recorded and nothing is submitted.
    pub late: Option<Step>,
}

/// What tiles are made with.
pub struct Maker<'a> {
    /// The device.
    pub gpu: &'a Gpu,
    /// Every pass is like this one.
    pub pass: vk::RenderPass,
    /// What passes draw into.
    pub framebuffer: vk::Framebuffer,
    /// What tiles make together.
    pub picture: Image,
    /// Has room for all of their sets.
    pub pool: vk::DescriptorPool,
    /// Reads the nearest texel.
    pub sampler: vk::Sampler,
}

impl Maker<'_> {
    /// A buffer of uniforms that the host writes, beginning with these words.
    pub fn block(&self, name: &str, content: &[u32]) -> Result<Buffer> {
        let bytes = bytes(content);
        let usage = vk::BufferUsageFlags::UNIFORM_BUFFER;
        let buffer = self.gpu.host_buffer(name, bytes.len() as u64, usage)?;
        buffer.write(&bytes);
        Ok(buffer)
    }

    /// The same, with one number and three zeros.
    pub fn number(&self, name: &str, number: u32) -> Result<Buffer> {
        self.block(name, &[number, 0, 0, 0])
    }

    /// A layout of so many uniform buffers that fragment shaders read, and a pipeline layout of this set.
    pub fn uniforms(&self, name: &str, count: u32) -> Result<Layout> {
        let bindings: Vec<_> = (0..count).map(|binding| slot(binding, UNIFORM, 1, FRAGMENT)).collect();
        let set = self.gpu.set_layout(name, &bindings)?;
        Ok(Layout::of(set, self.gpu.pipeline_layout(name, &[set], &[])?))
    }

    /// A set whose bindings 0, 1, … are all of these buffers.
    pub fn uniform_set(
        &self,
        name: &str,
        layout: vk::DescriptorSetLayout,
        buffers: &[Buffer],
    ) -> Result<vk::DescriptorSet> {
        let set = self.gpu.empty_set(name, self.pool, layout)?;
        for (binding, buffer) in (0..).zip(buffers) {
            self.gpu.write_set(set, (binding, 0), UNIFORM, &[Resource::Buffer(buffer.whole())]);
        }
        Ok(set)
    }

    /// A pipeline that fills what is aimed at.
    pub fn pipeline(&self, name: &str, fragment: Spirv, layout: vk::PipelineLayout) -> Result<vk::Pipeline> {
        self.pipeline_of(name, spirv!("tile.vert"), fragment, layout)
    }

    /// A pipeline of these shaders.
    pub fn pipeline_of(
        &self,
        name: &str,
        vertex: Spirv,
        fragment: Spirv,
        layout: vk::PipelineLayout,
    ) -> Result<vk::Pipeline> {
        let layout = &Layout::of(vk::DescriptorSetLayout::null(), layout);
        let about = Graphics { vertex, fragment, vertices: None, depth: false, layout, pass: self.pass };
        self.gpu.graphics_pipeline(name, &about)
    }

    /// What compute shaders and rays write the picture through.
    pub fn target(&self) -> Resource {
        let view = vk::DescriptorImageInfo::default().image_view(self.picture.view);
        Resource::Image(view.image_layout(vk::ImageLayout::GENERAL))
    }
}

/// Words as bytes.
pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
