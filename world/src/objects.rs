//! What the capture's handles stand for, as far as following descriptors and memory needs it.
//!
//! Everything is known by its captured id. Objects that outlive the handle they were made from (a pipeline its layout and
//! modules) share it by reference count. Refuses nothing.

use super::layouts::{PipelineLayout, SetLayout};
use std::rc::Rc;

/// A VkDevice.
#[derive(Clone, Debug, Default)]
pub struct Device {
    /// Its physical device.
    pub gpu: u64,
    /// The queues that it was made with: family, and how many.
    pub queues: Vec<(u32, u32)>,
}

/// What the capture says of a physical device.
#[derive(Clone, Debug, Default)]
pub struct Gpu {
    /// maxBoundDescriptorSets; 0 if the program never asked.
    pub max_sets: u32,
    /// maxPushConstantsSize; 0 if the program never asked.
    pub max_push_bytes: u32,
    /// VkMemoryPropertyFlags by memory type.
    pub memory_flags: Vec<u32>,
    /// VkQueueFlags by queue family, where the program asked.
    pub families: Vec<u32>,
}

/// A VkQueue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queue {
    /// Its device.
    pub device: u64,
    /// Its family.
    pub family: u32,
    /// Its index in the family.
    pub index: u32,
}

/// Where a resource's memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The memory object.
    pub memory: u64,
    /// The first byte in it.
    pub offset: u64,
}

/// A VkDeviceMemory.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Its device.
    pub device: u64,
    /// Its size in bytes.
    pub size: u64,
    /// The memory type, as at capture.
    pub type_index: u32,
    /// VkMemoryPropertyFlags of that type at capture, if known.
    pub flags: Option<u32>,
    /// It comes from outside of the process.
    pub imported: bool,
    /// Where it is mapped: the mapping's first byte; none if it is not.
    pub mapped: Option<u64>,
    /// The frame that allocated it.
    pub frame: u64,
}

/// A VkBuffer.
#[derive(Clone, Debug, Default)]
pub struct Buffer {
    /// Its size in bytes.
    pub size: u64,
    /// VkBufferUsageFlags2.
    pub usage: u64,
    /// VkBufferCreateFlags; bit 0 stands for sparse binding.
    pub flags: u32,
    /// Its memory; none before it is bound, and for sparse ones.
    pub bound: Option<Bound>,
    /// Its device address; 0 if the program never asked.
    pub address: u64,
    /// The frame that created it.
    pub frame: u64,
}

/// A VkBufferView.
#[derive(Clone, Copy, Debug, Default)]
pub struct BufferView {
    /// Its buffer.
    pub buffer: u64,
    /// VkFormat.
    pub format: u32,
    /// First byte in the buffer.
    pub offset: u64,
    /// Bytes; resolved where it said all that is left.
    pub range: u64,
}

/// A VkImage.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// VkImageType.
    pub kind: u32,
    /// VkFormat.
    pub format: u32,
    /// Width, height, depth.
    pub extent: [u32; 3],
    /// Mip levels.
    pub levels: u32,
    /// Array layers.
    pub layers: u32,
    /// VkSampleCountFlagBits.
    pub samples: u32,
    /// VkImageTiling.
    pub tiling: u32,
    /// VkImageUsageFlags.
    pub usage: u32,
    /// VkImageCreateFlags; bit 0 stands for sparse binding, bit 9 for planes in memory of their own.
    pub flags: u32,
    /// VkImageLayout at its creation.
    pub initial_layout: u32,
    /// Its memory: one, or one for each plane; empty before it is bound, for sparse images and those of swapchains.
    pub bound: Vec<Bound>,
    /// The swapchain that it belongs to; 0 if none.
    pub swapchain: u64,
    /// The frame that created it.
    pub frame: u64,
}

/// Which part of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Subresources {
    /// VkImageAspectFlags.
    pub aspects: u32,
    /// First mip level.
    pub level: u32,
    /// How many; `u32::MAX` for all that are left.
    pub levels: u32,
    /// First array layer.
    pub layer: u32,
    /// How many; `u32::MAX` for all that are left.
    pub layers: u32,
}

impl Subresources {
    /// All of an image.
    pub const ALL: Self =
        Subresources { aspects: u32::MAX, level: 0, levels: u32::MAX, layer: 0, layers: u32::MAX };
}

/// A VkImageView.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImageView {
    /// Its image.
    pub image: u64,
    /// VkImageViewType.
    pub kind: u32,
    /// VkFormat.
    pub format: u32,
    /// What of the image.
    pub range: Subresources,
}

/// A VkAccelerationStructureKHR or NV.
#[derive(Clone, Copy, Debug, Default)]
pub struct Structure {
    /// The buffer that it lies in; 0 for NV's.
    pub buffer: u64,
    /// Where in it.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// VkAccelerationStructureTypeKHR.
    pub kind: u32,
    /// Its device address; 0 if the program never asked.
    pub address: u64,
}

/// SPIR-V as the program gave it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// The module's id; 0 where it was given with a stage or a shader object.
    pub id: u64,
    /// Its words; empty where the capture has none (a shader given by identifier, a binary).
    pub words: Vec<u32>,
}

/// Values for specialization constants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Specialization {
    /// Constant id, first byte in the data, bytes.
    pub entries: Vec<(u32, u32, u32)>,
    /// The data.
    pub data: Vec<u8>,
}

/// A stage of a pipeline, or a shader object.
#[derive(Clone, Debug)]
pub struct Stage {
    /// VkShaderStageFlagBits.
    pub stage: u32,
    /// Its SPIR-V.
    pub module: Rc<Module>,
    /// The entry point's name.
    pub entry: Rc<str>,
    /// Specialization constants.
    pub specialization: Option<Rc<Specialization>>,
}

/// Where a pipeline is bound. Also an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum BindPoint {
    /// Draws.
    Graphics,
    /// Dispatches.
    Compute,
    /// Traces.
    RayTracing,
    /// Any other (data graphs, subpass shading, execution graphs).
    Other,
}

/// How many there are.
pub const BIND_POINTS: usize = 4;

impl BindPoint {
    /// Of a VkPipelineBindPoint.
    pub fn of(raw: u32) -> Self {
        match raw {
            0 => BindPoint::Graphics,
            1 => BindPoint::Compute,
            1_000_165_000 => BindPoint::RayTracing,
            _ => BindPoint::Other,
        }
    }

    /// Those that stages (VkShaderStageFlags) run at.
    pub fn of_stages(stages: u32) -> impl Iterator<Item = BindPoint> {
        // Vertex to fragment, task and mesh; compute; rays.
        [(0x1F | 0xC0, BindPoint::Graphics), (0x20, BindPoint::Compute), (0x3F00, BindPoint::RayTracing)]
            .into_iter()
            .filter(move |(mask, _)| stages & mask != 0)
            .map(|(_, point)| point)
    }
}

/// A VkPipeline.
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// Its id.
    pub id: u64,
    /// Where it is bound.
    pub bind_point: BindPoint,
    /// Its layout; none where it has none (a library without shaders).
    pub layout: Option<Rc<PipelineLayout>>,
    /// Its stages, those of its libraries among them.
    pub stages: Vec<Stage>,
    /// VkPipelineCreateFlags2.
    pub flags: u64,
    /// The render pass it was made for; 0 for dynamic rendering.
    pub render_pass: u64,
    /// The libraries it was made of.
    pub libraries: Vec<u64>,
    /// The frame that created it.
    pub frame: u64,
}

/// VK_PIPELINE_CREATE_DESCRIPTOR_BUFFER_BIT_EXT.
pub const PIPELINE_DESCRIPTOR_BUFFER: u64 = 1 << 29;
/// Task and mesh stages.
pub const MESH_STAGES: u32 = 0xC0;

impl Pipeline {
    /// It takes its descriptors from descriptor buffers.
    pub fn descriptor_buffer(&self) -> bool {
        self.flags & PIPELINE_DESCRIPTOR_BUFFER != 0
    }
    /// graphics, mesh, compute, ray tracing.
    pub fn kind(&self) -> &'static str {
        kind_of(self.bind_point, &self.stages)
    }
}

/// graphics, mesh, compute, ray tracing, other.
pub fn kind_of(point: BindPoint, stages: &[Stage]) -> &'static str {
    match point {
        BindPoint::Graphics if stages.iter().any(|s| s.stage & MESH_STAGES != 0) => "mesh",
        BindPoint::Graphics => "graphics",
        BindPoint::Compute => "compute",
        BindPoint::RayTracing => "ray tracing",
        BindPoint::Other => "other",
    }
}

/// A VkShaderEXT.
#[derive(Clone, Debug)]
pub struct Shader {
    /// Its id.
    pub id: u64,
    /// What it runs.
    pub stage: Stage,
    /// Its set layouts and push constants, as a layout of its own.
    pub layout: Rc<PipelineLayout>,
    /// The frame that created it.
    pub frame: u64,
}

/// Stages whose shader object names what is bound together, the first that is there.
/// (VkShaderStageFlagBits: fragment, mesh, vertex)
const NAMING: [u32; 3] = [0x10, 0x80, 1];

impl Shader {
    /// The id by which shader objects that are bound together are called: that of fragments, else of meshes, of vertices, of what there is.
    pub fn of_all<'s>(all: impl Iterator<Item = &'s Shader> + Clone) -> Option<u64> {
        let is = |stage: &u32| all.clone().find(|s| s.stage.stage == *stage);
        NAMING.iter().find_map(is).or_else(|| all.clone().next()).map(|s| s.id)
    }
}

/// Ids from here on stand for combinations of shader objects.
pub const FIRST_COMBINATION: u64 = 1 << 48;

/// Shader objects that were bound together.
#[derive(Clone, Debug)]
pub struct Combination {
    /// Its number, from [`FIRST_COMBINATION`] on.
    pub id: u64,
    /// Where they are bound.
    pub bind_point: BindPoint,
    /// The shaders, by stage.
    pub shaders: Vec<Rc<Shader>>,
    /// What a pipeline made of them would have.
    pub layout: Option<Rc<PipelineLayout>>,
    /// Their stages.
    pub stages: Vec<Stage>,
}

/// A VkSwapchainKHR.
#[derive(Clone, Debug, Default)]
pub struct Swapchain {
    /// What its images are like.
    pub image: Image,
    /// Its images, once the program asked.
    pub images: Vec<u64>,
}

/// A VkFramebuffer.
#[derive(Clone, Debug, Default)]
pub struct Framebuffer {
    /// Its views; empty for imageless ones.
    pub views: Vec<u64>,
    /// Width, height, layers.
    pub extent: [u32; 3],
}

/// A semaphore, fence or event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// A binary semaphore.
    Binary,
    /// A timeline semaphore, and the value that it began with.
    Timeline(u64),
    /// A fence, and whether it began signalled.
    Fence(bool),
    /// An event, and whether only the device can see it.
    Event(bool),
}

impl Sync {
    /// It is a timeline semaphore.
    pub fn is_timeline(&self) -> bool {
        matches!(self, Sync::Timeline(_))
    }
}

/// A VkCommandPool's part in its command buffers.
#[derive(Clone, Debug, Default)]
pub struct CommandPool {
    /// Its queue family.
    pub family: u32,
    /// Command buffers allocated from it, freed ones perhaps among them.
    pub buffers: Vec<u64>,
}

/// A VkDescriptorUpdateTemplate.
#[derive(Clone, Debug, Default)]
pub struct Template {
    /// What it writes, in order.
    pub entries: Vec<TemplateEntry>,
    /// For push descriptors: where it pushes.
    pub bind_point: u32,
    /// The set layout, 0 for push descriptors.
    pub set_layout: u64,
}

/// A line of a template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TemplateEntry {
    /// First binding.
    pub binding: u32,
    /// First element (byte for inline blocks).
    pub element: u32,
    /// Descriptors (bytes for inline blocks).
    pub count: u32,
    /// VkDescriptorType.
    pub ty: u32,
}

/// A VkDescriptorPool.
#[derive(Clone, Debug, Default)]
pub struct DescriptorPool {
    /// Sets allocated from it, freed ones perhaps among them.
    pub sets: Vec<u64>,
}

/// A VkDescriptorSet.
#[derive(Clone, Debug)]
pub struct Set {
    /// Its pool.
    pub pool: u64,
    /// What it is made of.
    pub layout: Rc<SetLayout>,
    /// What it holds.
    pub contents: super::sets::Contents,
    /// Told apart from every set that had this id before it, and from every version of contents.
    pub born: u64,
}

/// A VkQueryPool.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queries {
    /// VkQueryType.
    pub ty: u32,
    /// How many.
    pub count: u32,
}
