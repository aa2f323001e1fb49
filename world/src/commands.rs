//! Recorded commands, parsed once: what the device is to do, without the state that only says how.
//!
//! Commands that only set state are not kept; what they set is in the [`Bindings`] of the invocations behind them. Those that
//! are seldom seen, and whose meaning is theirs alone (acceleration-structure builds, queries, video, addresses), are kept as
//! they were decoded ([`Command::Other`]) and read by name. Refuses nothing.

use super::layouts::PipelineLayout;
use super::objects::{BindPoint, Combination, Pipeline, Shader, Subresources};
pub use super::passes::Scopes;
use super::sets::Contents;
use gfxr_parse::image::Image;
use gfxr_parse::schema::CommandDef;
use std::rc::Rc;

/// A command of a recording and where it was recorded.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Its index in the recording: every vkCmd call counts.
    pub index: u32,
    /// The block that recorded it.
    pub block: u64,
    /// It.
    pub command: Command,
}

/// What the device is to do.
#[derive(Clone, Debug)]
pub enum Command {
    /// A draw, a dispatch, a trace.
    Invoke(Box<Invoke>),
    /// A render pass or rendering begins.
    BeginPass(Box<Pass>),
    /// The next subpass.
    NextSubpass,
    /// A render pass or rendering ends.
    EndPass,
    /// vkCmdPipelineBarrier, and 2.
    Barrier(Box<Barrier>),
    /// vkCmdSetEvent, and 2: with the dependency of 2.
    SetEvent {
        /// The event.
        event: u64,
        /// For the older command only its stages.
        barrier: Box<Barrier>,
    },
    /// vkCmdResetEvent, and 2.
    ResetEvent {
        /// The event.
        event: u64,
        /// VkPipelineStageFlags2.
        stages: u64,
    },
    /// vkCmdWaitEvents, and 2.
    WaitEvents {
        /// Events.
        events: Box<[u64]>,
        /// One for all (the older command), or one for each.
        barriers: Box<[Barrier]>,
    },
    /// vkCmdCopyBuffer, and 2.
    CopyBuffer(Box<BufferCopies>),
    /// vkCmdCopyBufferToImage, and 2.
    CopyBufferToImage(Box<BufferImageCopies>),
    /// vkCmdCopyImageToBuffer, and 2.
    CopyImageToBuffer(Box<BufferImageCopies>),
    /// vkCmdCopyImage, vkCmdBlitImage, vkCmdResolveImage, and 2.
    CopyImage(Box<ImageCopies>),
    /// vkCmdUpdateBuffer.
    UpdateBuffer {
        /// The buffer.
        buffer: u64,
        /// First byte.
        offset: u64,
        /// The bytes.
        data: Box<[u8]>,
    },
    /// vkCmdFillBuffer.
    FillBuffer {
        /// The buffer.
        buffer: u64,
        /// First byte.
        offset: u64,
        /// Bytes; `u64::MAX` for all that are left.
        size: u64,
        /// What they are filled with.
        word: u32,
    },
    /// vkCmdClearColorImage, vkCmdClearDepthStencilImage.
    ClearImage {
        /// The image.
        image: u64,
        /// VkImageLayout.
        layout: u32,
        /// Its parts.
        ranges: Box<[Subresources]>,
    },
    /// vkCmdExecuteCommands: told before the commands of the secondaries are.
    Execute(Box<[u64]>),
    /// A debug label or marker.
    Label {
        /// Begin, end or insert.
        what: Label,
        /// Its text; empty where it ends.
        text: Box<str>,
    },
    /// Anything else that does something: read it with `View::call`.
    Other(Box<Image>),
}

/// What a debug label does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// It begins a region.
    Begin,
    /// It ends one.
    End,
    /// It stands for itself.
    Insert,
}

/// A draw, dispatch or trace.
#[derive(Clone, Debug)]
pub struct Invoke {
    /// The command.
    pub command: &'static CommandDef,
    /// Where its pipeline is bound.
    pub bind_point: BindPoint,
    /// How much of it there is.
    pub sizes: Sizes,
    /// What was bound.
    pub bindings: Rc<Bindings>,
    /// Vertex, index and transform-feedback buffers; for draws.
    pub inputs: Option<Rc<Inputs>>,
    /// The shader binding tables of a trace whose size alone comes from memory.
    pub tables: Option<Box<[Table; 4]>>,
}

impl Invoke {
    /// The command, without vkCmd and the suffixes of vendors and versions: Draw, DrawIndexedIndirectCount, TraceRays, ….
    pub fn kind(&self) -> &'static str {
        kind(self.command.canonical)
    }
    /// Its sizes come from memory.
    pub fn is_indirect(&self) -> bool {
        matches!(self.sizes, Sizes::Indirect(_) | Sizes::ByteCount { .. } | Sizes::Generated { .. })
    }
}

/// A command's name without vkCmd and without suffixes.
pub fn kind(name: &'static str) -> &'static str {
    let name = name.strip_prefix("vkCmd").unwrap_or(name);
    let base = name.trim_end_matches(|c: char| c.is_ascii_uppercase());
    // One capital letter at the end belongs to a word; none of the suffixes is that short.
    let name = if name.len() - base.len() > 1 { base } else { name };
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// Where words come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A buffer.
    Buffer {
        /// It.
        buffer: u64,
        /// First byte.
        offset: u64,
    },
    /// An address.
    Address(u64),
}

/// How much of an invocation there is.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizes {
    /// A draw.
    Draw {
        /// Vertices.
        vertices: u32,
        /// Instances.
        instances: u32,
        /// The first vertex.
        first_vertex: u32,
        /// The first instance.
        first_instance: u32,
    },
    /// An indexed draw.
    DrawIndexed {
        /// Indices.
        indices: u32,
        /// Instances.
        instances: u32,
        /// The first index.
        first_index: u32,
        /// Added to every index.
        vertex_offset: i32,
        /// The first instance.
        first_instance: u32,
    },
    /// vkCmdDrawMultiEXT, vkCmdDrawMultiIndexedEXT.
    Multi {
        /// First vertex (index), how many, vertex offset: by draw.
        draws: Box<[(u32, u32, i32)]>,
        /// Instances of each.
        instances: u32,
        /// The first instance.
        first_instance: u32,
    },
    /// Workgroups: dispatches, mesh draws.
    Groups {
        /// The first.
        base: [u32; 3],
        /// How many.
        count: [u32; 3],
    },
    /// A trace.
    Trace {
        /// Width, height, depth.
        size: [u32; 3],
        /// The shader binding tables: ray generation, miss, hit, callable.
        tables: [Table; 4],
    },
    /// From memory.
    Indirect(Indirect),
    /// vkCmdDrawIndirectByteCountEXT.
    ByteCount {
        /// The counter.
        counter: Place,
        /// Subtracted from it.
        offset: u32,
        /// Bytes of a vertex.
        stride: u32,
        /// Instances.
        instances: u32,
        /// The first instance.
        first_instance: u32,
    },
    /// vkCmdExecuteGeneratedCommands: the device says what is run.
    Generated {
        /// VkIndirectCommandsLayout.
        layout: u64,
        /// At most so many sequences.
        sequences: u32,
        /// What they do; none if the layout is not known.
        made_of: Option<Rc<super::generated::Layout>>,
    },
    /// An invocation whose sizes are not followed.
    Unknown,
}

/// A shader binding table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// Where it begins.
    pub place: Place,
    /// Bytes between records.
    pub stride: u64,
    /// Bytes; 0 where the command does not say.
    pub size: u64,
}

/// Sizes from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indirect {
    /// Where they are.
    pub place: Place,
    /// How many there are; with `counter` at most.
    pub draws: u32,
    /// Bytes between them.
    pub stride: u64,
    /// Bytes of one.
    pub size: u64,
    /// Where it says how many there are.
    pub counter: Option<Place>,
}

/// What is bound when an invocation is recorded.
#[derive(Debug)]
pub struct Bindings {
    /// What is run.
    pub program: Program,
    /// By set number. A set counts only if its layout is compatible with that of what is run.
    pub sets: Box<[BoundSet]>,
    /// Push constants.
    pub push: Rc<Push>,
    /// Changes with everything above: equal numbers, equal bindings.
    pub number: u64,
}

/// What is run.
#[derive(Clone, Debug, Default)]
pub enum Program {
    /// Nothing is bound, or what the capture does not know.
    #[default]
    None,
    /// A pipeline.
    Pipeline(Rc<Pipeline>),
    /// Shader objects.
    Shaders(Rc<Combination>),
}

impl Program {
    /// The pipeline's id, or the combination's number; 0 for none.
    pub fn id(&self) -> u64 {
        match self {
            Program::None => 0,
            Program::Pipeline(p) => p.id,
            Program::Shaders(c) => c.id,
        }
    }
    /// The object that it is called by: the pipeline; of shader objects the one that [`Shader::of_all`] says; 0 for none.
    pub fn called(&self) -> u64 {
        match self {
            Program::Shaders(c) => Shader::of_all(c.shaders.iter().map(|s| &**s)).unwrap_or(0),
            _ => self.id(),
        }
    }
    /// The shader objects; none of a pipeline.
    pub fn shader_objects(&self) -> Vec<u64> {
        match self {
            Program::Shaders(c) => c.shaders.iter().map(|s| s.id).collect(),
            _ => vec![],
        }
    }
    /// Its layout.
    pub fn layout(&self) -> Option<&Rc<PipelineLayout>> {
        match self {
            Program::None => None,
            Program::Pipeline(p) => p.layout.as_ref(),
            Program::Shaders(c) => c.layout.as_ref(),
        }
    }
    /// Its stages.
    pub fn stages(&self) -> &[super::objects::Stage] {
        match self {
            Program::None => &[],
            Program::Pipeline(p) => &p.stages,
            Program::Shaders(c) => &c.stages,
        }
    }
    /// graphics, mesh, compute, ray tracing, other.
    pub fn kind(&self) -> &'static str {
        match self {
            Program::None => "other",
            Program::Pipeline(p) => p.kind(),
            Program::Shaders(c) => super::objects::kind_of(c.bind_point, &c.stages),
        }
    }
}

/// What is bound as a set.
#[derive(Clone, Debug, Default)]
pub enum BoundSet {
    /// Nothing, or what was bound there was disturbed since.
    #[default]
    Nothing,
    /// A descriptor set.
    Set {
        /// It.
        set: u64,
        /// The layout it was bound with.
        layout: Rc<PipelineLayout>,
        /// Its dynamic offsets, by binding and element.
        offsets: Rc<[u32]>,
    },
    /// Push descriptors.
    Push {
        /// As they are at the invocation.
        contents: Rc<Contents>,
        /// The layout they were pushed with.
        layout: Rc<PipelineLayout>,
    },
    /// Part of a descriptor buffer.
    Buffer {
        /// The address of its first byte.
        address: u64,
        /// The layout it was bound with.
        layout: Rc<PipelineLayout>,
    },
    /// Embedded immutable samplers.
    Embedded {
        /// The layout they are in.
        layout: Rc<PipelineLayout>,
    },
}

impl BoundSet {
    /// The layout it was bound with.
    pub fn layout(&self) -> Option<&Rc<PipelineLayout>> {
        match self {
            BoundSet::Nothing => None,
            BoundSet::Set { layout, .. }
            | BoundSet::Push { layout, .. }
            | BoundSet::Buffer { layout, .. }
            | BoundSet::Embedded { layout } => Some(layout),
        }
    }
}

/// Push constants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Push {
    /// The bytes, as far as any was pushed.
    pub bytes: Vec<u8>,
    /// Which of them were.
    pub pushed: Vec<bool>,
    /// The push-constant class of the layout they were pushed with last; 0 if none was.
    pub class: u32,
    /// Changes whenever the bytes do.
    pub version: u64,
}

/// A range of a buffer that an invocation reads or writes beside its descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Where it begins.
    pub place: Place,
    /// Bytes; `u64::MAX` for all that are left.
    pub size: u64,
}

/// Vertex, index and transform-feedback buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// By binding.
    pub vertices: Vec<Option<Stream>>,
    /// With its VkIndexType.
    pub indices: Option<(Stream, u32)>,
    /// By binding; only while transform feedback is on.
    pub feedback: Vec<Option<Stream>>,
}

/// A render pass or rendering.
#[derive(Clone, Debug, Default)]
pub struct Pass {
    /// VkRenderPass; 0 for dynamic rendering.
    pub render_pass: u64,
    /// VkFramebuffer; 0 for dynamic rendering.
    pub framebuffer: u64,
    /// Its subpasses and dependencies; none for dynamic rendering.
    pub made_of: Option<Rc<super::passes::RenderPass>>,
    /// VkRenderingFlags.
    pub flags: u32,
    /// x, y, width, height.
    pub area: [i64; 4],
    /// Layers, for dynamic rendering.
    pub layers: u32,
    /// View mask, for dynamic rendering.
    pub view_mask: u32,
    /// Its attachments; for render passes those of all subpasses, by index.
    pub attachments: Vec<Attachment>,
}

/// VK_RENDERING_SUSPENDING_BIT.
pub const RENDERING_SUSPENDING: u32 = 2;
/// VK_RENDERING_RESUMING_BIT.
pub const RENDERING_RESUMING: u32 = 4;

/// What an attachment is for. Those of render passes say it by subpass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Use {
    /// As the render pass says.
    #[default]
    Subpasses,
    /// Colour.
    Colour,
    /// Depth.
    Depth,
    /// Stencil.
    Stencil,
    /// Read for the rate of shading or the density of fragments.
    Rate,
}

impl Use {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Use::Subpasses => "by subpass",
            Use::Colour => "colour",
            Use::Depth => "depth",
            Use::Stencil => "stencil",
            Use::Rate => "rate",
        }
    }
}

/// An attachment of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attachment {
    /// What it is for.
    pub what: Use,
    /// The view; 0 if there is none.
    pub view: u64,
    /// The layout in the pass (of dynamic rendering).
    pub layout: u32,
    /// The layout before the pass (of render passes).
    pub initial_layout: u32,
    /// The layout behind the pass (of render passes).
    pub final_layout: u32,
    /// The same for the stencil, of render passes.
    pub stencil_final_layout: u32,
    /// VkAttachmentLoadOp.
    pub load: u32,
    /// VkAttachmentStoreOp.
    pub store: u32,
    /// The same for the stencil, of render passes.
    pub stencil_load: u32,
    /// The same for the stencil, of render passes.
    pub stencil_store: u32,
    /// The view it is resolved to (of dynamic rendering); 0 if there is none.
    pub resolve_view: u64,
    /// Its layout.
    pub resolve_layout: u32,
    /// VkResolveModeFlagBits.
    pub resolve_mode: u32,
}

/// A dependency. The older commands' stages are given to each of its parts; where they have none, to a memory barrier
/// without accesses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Barrier {
    /// VkDependencyFlags.
    pub flags: u32,
    /// Of all memory.
    pub memory: Vec<Scopes>,
    /// Of buffers.
    pub buffers: Vec<BufferBarrier>,
    /// Of images.
    pub images: Vec<ImageBarrier>,
}

/// VkBufferMemoryBarrier2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferBarrier {
    /// What waits for what.
    pub scopes: Scopes,
    /// Queue families from and to; equal ones mean no transfer.
    pub families: [u32; 2],
    /// The buffer.
    pub buffer: u64,
    /// First byte.
    pub offset: u64,
    /// Bytes; `u64::MAX` for all that are left.
    pub size: u64,
}

/// VkImageMemoryBarrier2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageBarrier {
    /// What waits for what.
    pub scopes: Scopes,
    /// Queue families from and to; equal ones mean no transfer.
    pub families: [u32; 2],
    /// The image.
    pub image: u64,
    /// VkImageLayout before.
    pub old_layout: u32,
    /// VkImageLayout behind.
    pub new_layout: u32,
    /// Which part.
    pub range: Subresources,
}

/// Copies between buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferCopies {
    /// From.
    pub src: u64,
    /// To.
    pub dst: u64,
    /// First byte there, first byte here, bytes.
    pub regions: Box<[(u64, u64, u64)]>,
}

/// Copies between a buffer and an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferImageCopies {
    /// The buffer.
    pub buffer: u64,
    /// The image.
    pub image: u64,
    /// Its VkImageLayout.
    pub layout: u32,
    /// What is copied.
    pub regions: Box<[BufferImageRegion]>,
}

/// VkBufferImageCopy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferImageRegion {
    /// First byte in the buffer.
    pub offset: u64,
    /// Texels of a row in the buffer; 0 for the extent's.
    pub row_length: u32,
    /// Rows of an image in the buffer; 0 for the extent's.
    pub image_height: u32,
    /// Which part of the image.
    pub part: Subresources,
    /// First texel.
    pub at: [i32; 3],
    /// Texels.
    pub extent: [u32; 3],
}

/// Copies between images.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageCopies {
    /// What kind.
    pub kind: ImageCopyKind,
    /// From.
    pub src: u64,
    /// Its VkImageLayout.
    pub src_layout: u32,
    /// To.
    pub dst: u64,
    /// Its VkImageLayout.
    pub dst_layout: u32,
    /// What is copied.
    pub regions: Box<[ImageRegion]>,
}

/// How images are copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageCopyKind {
    /// Texel by texel.
    #[default]
    Copy,
    /// Scaled and converted.
    Blit,
    /// Samples to one.
    Resolve,
}

/// A region of a copy between images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageRegion {
    /// Which part of the source.
    pub src: Subresources,
    /// Its first texel, and for blits the one behind its last.
    pub src_at: [[i32; 3]; 2],
    /// Which part of the destination.
    pub dst: Subresources,
    /// Its first texel, and for blits the one behind its last.
    pub dst_at: [[i32; 3]; 2],
    /// Texels, but for blits.
    pub extent: [u32; 3],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_no_suffixes() {
        for (name, plain) in [
            ("vkCmdDraw", "Draw"),
            ("vkCmdDrawIndirectCountKHR", "DrawIndirectCount"),
            ("vkCmdDrawMeshTasksIndirect2EXT", "DrawMeshTasksIndirect"),
            ("vkCmdTraceRaysNV", "TraceRays"),
            ("vkCmdDrawClusterHUAWEI", "DrawCluster"),
            ("vkCmdDispatchIndirect2KHR", "DispatchIndirect"),
        ] {
            assert_eq!(kind(name), plain);
        }
    }
}
