//! What commands access.

use super::bits::*;
use super::lists::{ANYTHING, QUIET};
use super::rows::{How, Rows};
use super::shaders::Programs;
use gfxr_parse::image::Image;
use gfxr_parse::view::View;
use std::rc::Rc;
use world::commands::{
    Attachment, BufferImageRegion, Command, ImageCopyKind, Invoke, Pass, Place, Sizes, Use,
};
use world::formats::planes;
use world::generated::{Layout, Token};
use world::objects::Subresources;
use world::passes::RenderPass;
use world::{At, World};

/// Where attachments are said to be accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// The pass begins.
    Begins,
    /// A barrier comes, or the end of a subpass: if something was drawn.
    Drawn,
    /// The next subpass begins.
    Next,
    /// The pass ends.
    Ends,
}

/// VK_ATTACHMENT_LOAD_OP_LOAD; CLEAR and DONT_CARE follow.
const LOAD_OP_LOAD: u32 = 0;

/// A pass that runs.
pub struct Running {
    /// Its subpasses and dependencies.
    pub made_of: Option<Rc<RenderPass>>,
    attachments: Vec<Attachment>,
    /// The subpass that runs.
    pub subpass: u32,
    /// Something was drawn since attachments were said to be accessed.
    pub drawn: bool,
}

impl Running {
    pub fn of(p: &Pass) -> Self {
        Running { made_of: p.made_of.clone(), attachments: p.attachments.clone(), subpass: 0, drawn: false }
    }

    /// The attachments of the running subpass: if something was drawn since, or of the whole pass where it begins and ends.
    pub fn attachments(&mut self, rows: &mut Rows, world: &World, at: &At, when: When) {
        let drawn = std::mem::take(&mut self.drawn);
        if !drawn && when == When::Drawn {
            return;
        }
        let mut uses = self.uses();
        if when != When::Drawn && self.made_of.is_some() {
            // (loads, stores and layouts of all of them, wherever they happen)
            let what = |view: u64| uses.iter().find(|u| u.0 == view).map(|u| u.1);
            let others: Vec<(u64, Use)> = self
                .attachments
                .iter()
                .filter(|a| what(a.view).is_none())
                .map(|a| (a.view, if is_depth(world, a.view) { Use::Depth } else { Use::Colour }))
                .collect();
            uses.extend(others);
        }
        // (what is loaded is read; what is cleared, or may be anything, is written)
        let loaded = |view: u64| {
            // (of what has no stencil, the operation for stencil means nothing, and may say anything)
            let aspects = aspects_of(world, view);
            let loads = |a: &&Attachment| {
                let of = |op: u32| op == LOAD_OP_LOAD || op > 2;
                // (outside of render passes each aspect is an attachment of its own)
                let stencil = a.what == Use::Subpasses && aspects & STENCIL != 0 && of(a.stencil_load);
                let other = a.what != Use::Subpasses || aspects & !STENCIL != 0;
                a.view == view && (stencil || other && of(a.load))
            };
            self.attachments.iter().any(|a| loads(&a)) || self.attachments.iter().all(|a| a.view != view)
        };
        let begins = when == When::Begins && self.made_of.as_ref().is_none_or(|m| m.subpasses.len() < 2);
        let uses: Vec<(u64, Use, bool)> =
            uses.into_iter().map(|(view, what)| (view, what, begins && !loaded(view))).collect();
        rows.next(at.queue);
        for (view, what, cleared) in uses {
            let how = match (what, cleared) {
                (Use::Colour | Use::Subpasses, true) => {
                    how(COLOR_ATTACHMENT_OUTPUT, COLOR_ATTACHMENT_WRITE, true)
                }
                (Use::Colour | Use::Subpasses, false) => {
                    how(COLOR_ATTACHMENT_OUTPUT, COLOR_ATTACHMENT_READ | COLOR_ATTACHMENT_WRITE, true)
                }
                // (loads happen with the early tests)
                (Use::Depth | Use::Stencil, true) => {
                    how(EARLY_FRAGMENT_TESTS, DEPTH_STENCIL_ATTACHMENT_WRITE, true)
                }
                (Use::Depth | Use::Stencil, false) => how(
                    EARLY_FRAGMENT_TESTS | LATE_FRAGMENT_TESTS,
                    DEPTH_STENCIL_ATTACHMENT_READ | DEPTH_STENCIL_ATTACHMENT_WRITE,
                    true,
                ),
                (Use::Rate, _) => {
                    how(FRAGMENT_SHADING_RATE_ATTACHMENT, FRAGMENT_SHADING_RATE_ATTACHMENT_READ, false)
                }
            };
            rows.view(world, view, how);
        }
    }

    /// What each view is used for in the running subpass.
    fn uses(&self) -> Vec<(u64, Use)> {
        let Some(subpass) = self.made_of.as_ref().and_then(|m| m.subpasses.get(self.subpass as usize)) else {
            let resolved = |a: &Attachment| [(a.view, a.what), (a.resolve_view, a.what)];
            return self.attachments.iter().flat_map(resolved).collect();
        };
        let view = |r: &(u32, u32)| self.attachments.get(r.0 as usize).map_or(0, |a| a.view);
        let of = |all: &[(u32, u32)], what: Use| all.iter().map(|r| (view(r), what)).collect::<Vec<_>>();
        let depth: Vec<_> = subpass.depth.iter().chain(&subpass.depth_resolve).copied().collect();
        let mut uses = of(&subpass.colours, Use::Colour);
        uses.extend(of(&subpass.resolves, Use::Colour));
        uses.extend(of(&depth, Use::Depth));
        uses.extend(of(subpass.rate.as_slice(), Use::Rate));
        // (input attachments are read by shaders, through descriptors)
        uses
    }
}

fn how(stages: u64, access: u64, write: bool) -> How {
    How { stages, access, write }
}

const COPIED_FROM: How = How { stages: COPY, access: TRANSFER_READ, write: false };
const COPIED_TO: How = How { stages: COPY, access: TRANSFER_WRITE, write: true };

impl Rows {
    fn place(&mut self, world: &World, place: Place, size: u64, how: How) {
        match place {
            Place::Buffer { buffer, offset } => self.buffer(world, buffer, offset, size, how),
            Place::Address(0) => {}
            Place::Address(a) => match world.at_address(a) {
                Some((buffer, offset)) => self.buffer(world, buffer, offset, size, how),
                None => self.addressed(world, how),
            },
        }
    }

    /// A draw, dispatch or trace.
    pub fn invoke(&mut self, programs: &mut Programs, world: &World, invoke: &Invoke) {
        let indirect = how(DRAW_INDIRECT, INDIRECT_COMMAND_READ, false);
        match &invoke.sizes {
            Sizes::Draw { .. } | Sizes::DrawIndexed { .. } | Sizes::Multi { .. } | Sizes::Groups { .. } => {}
            Sizes::Trace { tables, .. } => {
                for t in tables {
                    let size = if t.size == 0 { u64::MAX } else { t.size };
                    self.place(
                        world,
                        t.place,
                        size,
                        how(RAY_TRACING_SHADER, SHADER_BINDING_TABLE_READ, false),
                    );
                }
            }
            Sizes::Indirect(i) => {
                let size = u64::from(i.draws.max(1) - 1).saturating_mul(i.stride).saturating_add(i.size);
                self.place(world, i.place, size, indirect);
                if let Some(counter) = i.counter {
                    self.place(world, counter, 4, indirect);
                }
            }
            Sizes::ByteCount { counter, .. } => self.place(world, *counter, 4, indirect),
            Sizes::Generated { made_of, .. } => match made_of.clone() {
                Some(layout) if invoke.command.canonical.ends_with("EXT") => self.generated(world, &layout),
                _ => self.anything(world),
            },
            Sizes::Unknown => self.anything(world),
        }
        if let Some(inputs) = &invoke.inputs {
            let vertices = how(VERTEX_ATTRIBUTE_INPUT, VERTEX_ATTRIBUTE_READ, false);
            for s in inputs.vertices.iter().flatten() {
                self.place(world, s.place, s.size, vertices);
            }
            if let Some((s, _)) = &inputs.indices {
                self.place(world, s.place, s.size, how(INDEX_INPUT, INDEX_READ, false));
            }
            for s in inputs.feedback.iter().flatten() {
                self.place(world, s.place, s.size, how(TRANSFORM_FEEDBACK, TRANSFORM_FEEDBACK_WRITE, true));
            }
        }
        programs.accesses(self, world, invoke);
    }

    /// Sequences lie at addresses, and what they bind as well; what is chosen in them is not known ([`Programs::accesses`]).
    fn generated(&mut self, world: &World, layout: &Layout) {
        let preprocess = COMMAND_PREPROCESS_READ | COMMAND_PREPROCESS_WRITE;
        self.addressed(world, how(COMMAND_PREPROCESS, preprocess, true));
        self.addressed(world, how(DRAW_INDIRECT, INDIRECT_COMMAND_READ, false));
        for (token, how) in [
            (Token::Vertices, how(VERTEX_ATTRIBUTE_INPUT, VERTEX_ATTRIBUTE_READ, false)),
            (Token::Indices, how(INDEX_INPUT, INDEX_READ, false)),
            (Token::Trace, how(RAY_TRACING_SHADER, SHADER_BINDING_TABLE_READ, false)),
        ] {
            if layout.does(token) {
                self.addressed(world, how);
            }
        }
    }

    /// Any command that is neither an invocation nor there to order others.
    pub fn accesses(&mut self, world: &World, command: &Command) {
        match command {
            Command::CopyBuffer(c) => {
                for &(from, to, size) in &c.regions {
                    self.buffer(world, c.src, from, size, COPIED_FROM);
                    self.buffer(world, c.dst, to, size, COPIED_TO);
                }
            }
            Command::CopyBufferToImage(c) => {
                for r in &c.regions {
                    let size = bytes_of(world, c.image, r);
                    self.buffer(world, c.buffer, r.offset, size, COPIED_FROM);
                    self.image(world, c.image, &r.part, COPIED_TO);
                }
            }
            Command::CopyImageToBuffer(c) => {
                for r in &c.regions {
                    self.image(world, c.image, &r.part, COPIED_FROM);
                    let size = bytes_of(world, c.image, r);
                    self.buffer(world, c.buffer, r.offset, size, COPIED_TO);
                }
            }
            Command::CopyImage(c) => {
                let stage = match c.kind {
                    ImageCopyKind::Copy => COPY,
                    ImageCopyKind::Blit => BLIT,
                    ImageCopyKind::Resolve => RESOLVE,
                };
                for r in &c.regions {
                    self.image(world, c.src, &r.src, How { stages: stage, ..COPIED_FROM });
                    self.image(world, c.dst, &r.dst, How { stages: stage, ..COPIED_TO });
                }
            }
            Command::UpdateBuffer { buffer, offset, data } => {
                self.buffer(world, *buffer, *offset, data.len() as u64, COPIED_TO);
            }
            // (vkCmdFillBuffer is of the stage that clears)
            Command::FillBuffer { buffer, offset, size, .. } => {
                self.buffer(world, *buffer, *offset, *size, How { stages: CLEAR, ..COPIED_TO });
            }
            Command::ClearImage { image, ranges, .. } => {
                for r in ranges {
                    self.image(world, *image, r, How { stages: CLEAR, ..COPIED_TO });
                }
            }
            Command::Other(image) => self.other(world, image),
            _ => {}
        }
    }

    /// Commands that are kept as they were decoded.
    fn other(&mut self, world: &World, image: &Image) {
        let Some(command) = image.command else { return self.anything(world) };
        let v = View::call(image);
        let n = |name: &str| v.u64(name).unwrap_or(0);
        let all = |stages: u64, access: u64| how(stages, access, true);
        match command.canonical {
            name if QUIET.binary_search(&name).is_ok() => {}
            name if ANYTHING.iter().any(|a| a.0 == name) => self.anything(world),
            name if name.contains("AccelerationStructure") || name.contains("Micromap") => {
                let access = ACCELERATION_STRUCTURE_READ
                    | ACCELERATION_STRUCTURE_WRITE
                    | SHADER_STORAGE_READ
                    | TRANSFER_READ
                    | TRANSFER_WRITE
                    | INDIRECT_COMMAND_READ
                    | MICROMAP_READ
                    | MICROMAP_WRITE;
                let copies = ACCELERATION_STRUCTURE_COPY | MICROMAP_BUILD;
                self.addressed(
                    world,
                    all(ACCELERATION_STRUCTURE_BUILD | DRAW_INDIRECT | COPY | copies, access),
                );
            }
            "vkCmdCopyQueryPoolResults" => {
                let size = n("queryCount").saturating_mul(n("stride").max(8));
                self.buffer(world, n("dstBuffer"), n("dstOffset"), size, COPIED_TO);
            }
            "vkCmdBeginConditionalRenderingEXT" => {
                let Some(b) = v.one("pConditionalRenderingBegin") else { return };
                let (buffer, offset) = (b.u64("buffer").unwrap_or(0), b.u64("offset").unwrap_or(0));
                let read = how(CONDITIONAL_RENDERING, CONDITIONAL_RENDERING_READ, false);
                self.buffer(world, buffer, offset, 4, read);
            }
            "vkCmdBeginConditionalRendering2EXT" => {
                self.addressed(world, how(CONDITIONAL_RENDERING, CONDITIONAL_RENDERING_READ, false));
            }
            "vkCmdBeginTransformFeedbackEXT" | "vkCmdEndTransformFeedbackEXT" => {
                let offsets = v.u64s("pCounterBufferOffsets");
                for (i, buffer) in v.u64s("pCounterBuffers").into_iter().enumerate() {
                    let at = offsets.get(i).copied().unwrap_or(0);
                    self.buffer(world, buffer, at, 4, COUNTERS);
                }
            }
            "vkCmdBeginTransformFeedback2EXT" | "vkCmdEndTransformFeedback2EXT" => {
                self.addressed(world, COUNTERS)
            }
            // (markers are written by any stage that the command names)
            "vkCmdWriteBufferMarkerAMD" | "vkCmdWriteBufferMarker2AMD" => {
                let marked = all(ALL_COMMANDS, TRANSFER_WRITE);
                self.buffer(world, n("dstBuffer"), n("dstOffset"), 4, marked);
            }
            "vkCmdWriteMarkerToMemoryAMD" => self.addressed(world, all(ALL_COMMANDS, TRANSFER_WRITE)),
            "vkCmdFillMemoryKHR"
            | "vkCmdUpdateMemoryKHR"
            | "vkCmdCopyMemoryKHR"
            | "vkCmdCopyQueryPoolResultsToMemoryKHR" => {
                self.addressed(world, all(COPY | CLEAR, TRANSFER_READ | TRANSFER_WRITE));
            }
            "vkCmdCopyMemoryIndirectKHR" => {
                let access = INDIRECT_COMMAND_READ | TRANSFER_READ | TRANSFER_WRITE;
                self.addressed(world, all(COPY | COPY_INDIRECT, access));
            }
            name @ ("vkCmdCopyMemoryToImageKHR"
            | "vkCmdCopyMemoryToImageIndirectKHR"
            | "vkCmdCopyImageToMemoryKHR") => {
                let to_image = name != "vkCmdCopyImageToMemoryKHR";
                let info = v.one("pCopyMemoryInfo").or_else(|| v.one("pCopyMemoryToImageIndirectInfo"));
                let Some(info) = info else { return };
                let image = info.u64("image").or_else(|| info.u64("dstImage")).unwrap_or(0);
                let indirect =
                    [(0, 0), (COPY_INDIRECT, INDIRECT_COMMAND_READ)][usize::from(name.contains("Indirect"))];
                let (there, here) =
                    if to_image { (COPIED_TO, COPIED_FROM) } else { (COPIED_FROM, COPIED_TO) };
                self.image(world, image, &WHOLE, there);
                let here = How { stages: here.stages | indirect.0, access: here.access | indirect.1, ..here };
                self.addressed(world, here);
            }
            "vkCmdDecompressMemoryEXT" | "vkCmdDecompressMemoryIndirectCountEXT" => {
                let access = MEMORY_DECOMPRESSION_READ | MEMORY_DECOMPRESSION_WRITE | INDIRECT_COMMAND_READ;
                self.addressed(world, all(MEMORY_DECOMPRESSION | DRAW_INDIRECT, access));
            }
            "vkCmdPreprocessGeneratedCommandsEXT" => {
                self.addressed(world, all(COMMAND_PREPROCESS, MEMORY_READ | MEMORY_WRITE));
            }
            // (a command that is in no list: a test says that there is none)
            _ => self.anything(world),
        }
    }
}

/// How many bytes of a buffer a region of a copy takes, from its first to its last; all that are left where the format is not known.
fn bytes_of(world: &World, image: u64, r: &BufferImageRegion) -> u64 {
    let Some(i) = world.images.get(&image) else { return u64::MAX };
    let planes = planes(i.format as i32).unwrap_or_default();
    let Some(p) = planes.iter().find(|p| p.aspect & r.part.aspects != 0) else { return u64::MAX };
    let blocks = |n: u32, size: u32| u64::from(n.div_ceil(size.max(1)));
    let or = |n: u32, otherwise: u32| if n == 0 { otherwise } else { n };
    let block = u64::from(p.block_bytes);
    let row = blocks(or(r.row_length, r.extent[0]), p.block.0) * block;
    let slice = blocks(or(r.image_height, r.extent[1]), p.block.1).saturating_mul(row);
    let layers =
        if r.part.layers == u32::MAX { i.layers.saturating_sub(r.part.layer) } else { r.part.layers };
    let slices = u64::from(r.extent[2]) * u64::from(layers);
    let [width, rows] = [blocks(r.extent[0], p.block.0), blocks(r.extent[1], p.block.1)];
    if [width, rows, slices].contains(&0) {
        return 0;
    }
    (slices - 1)
        .saturating_mul(slice)
        .saturating_add((rows - 1).saturating_mul(row))
        .saturating_add(width * block)
}

/// Counters of transform feedback.
const COUNTERS: How = How {
    stages: TRANSFORM_FEEDBACK | DRAW_INDIRECT,
    access: TRANSFORM_FEEDBACK_COUNTER_READ | TRANSFORM_FEEDBACK_COUNTER_WRITE,
    write: true,
};

/// All of an image.
const WHOLE: Subresources =
    Subresources { aspects: u32::MAX, level: 0, levels: u32::MAX, layer: 0, layers: u32::MAX };

/// Whether a view shows depth or stencil.
fn is_depth(world: &World, view: u64) -> bool {
    const DEPTH_STENCIL: u32 = 6;
    aspects_of(world, view) & DEPTH_STENCIL != 0
}

/// VK_IMAGE_ASPECT_STENCIL_BIT.
const STENCIL: u32 = 4;

/// The aspects that a view shows; none of one that does not exist.
fn aspects_of(world: &World, view: u64) -> u32 {
    world.image_views.get(&view).map_or(0, |v| v.range.aspects)
}
