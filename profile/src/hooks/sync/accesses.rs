//! What commands access.

use super::Told;
use super::bits::*;
use super::rows::{ADDRESSED, How, Part};
use gfxr_parse::image::Image;
use gfxr_parse::view::View;
use replay::follow::commands::{Command, ImageCopyKind, Invoke, Pass, Place, Sizes, Use};
use replay::follow::objects::Subresources;
use replay::follow::passes::RenderPass;
use replay::follow::{At, World};
use std::rc::Rc;

/// A pass that runs.
pub struct Running {
    /// Its subpasses and dependencies.
    pub made_of: Option<Rc<RenderPass>>,
    attachments: Vec<replay::follow::commands::Attachment>,
    /// The subpass that runs.
    pub subpass: u32,
    /// Something was drawn since attachments were said to be accessed.
    pub drawn: bool,
}

impl Running {
    pub fn of(p: &Pass) -> Self {
        Running { made_of: p.made_of.clone(), attachments: p.attachments.clone(), subpass: 0, drawn: false }
    }

    /// What each view is used for in the running subpass.
    fn uses(&self) -> Vec<(u64, Use)> {
        let Some(subpass) = self.made_of.as_ref().and_then(|m| m.subpasses.get(self.subpass as usize)) else {
            let resolved =
                |a: &replay::follow::commands::Attachment| [(a.view, a.what), (a.resolve_view, a.what)];
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

impl Told {
    /// The attachments of the running subpass, if something was drawn since; or anyway.
    pub(super) fn attachments(&mut self, world: &World, at: &At, anyway: bool) {
        let Some(pass) = &mut self.pass else { return };
        if !std::mem::take(&mut pass.drawn) && !anyway {
            return;
        }
        let mut uses = pass.uses();
        if anyway && pass.made_of.is_some() {
            // (loads, stores and layouts of all of them, wherever they happen)
            let what = |view: u64| uses.iter().find(|u| u.0 == view).map(|u| u.1);
            let others: Vec<(u64, Use)> = pass
                .attachments
                .iter()
                .filter(|a| what(a.view).is_none())
                .map(|a| (a.view, if is_depth(world, a.view) { Use::Depth } else { Use::Colour }))
                .collect();
            uses.extend(others);
        }
        self.rows.next(at.queue);
        for (view, what) in uses {
            let how = match what {
                Use::Colour | Use::Subpasses => {
                    how(COLOR_ATTACHMENT_OUTPUT, COLOR_ATTACHMENT_READ | COLOR_ATTACHMENT_WRITE, true)
                }
                Use::Depth | Use::Stencil => how(
                    EARLY_FRAGMENT_TESTS | LATE_FRAGMENT_TESTS,
                    DEPTH_STENCIL_ATTACHMENT_READ | DEPTH_STENCIL_ATTACHMENT_WRITE,
                    true,
                ),
                Use::Rate => {
                    how(FRAGMENT_SHADING_RATE_ATTACHMENT, FRAGMENT_SHADING_RATE_ATTACHMENT_READ, false)
                }
            };
            self.rows.view(world, view, how);
        }
    }

    fn place(&mut self, world: &World, place: Place, size: u64, how: How) {
        match place {
            Place::Buffer { buffer, offset } => self.rows.buffer(world, buffer, offset, size, how),
            Place::Address(0) => {}
            Place::Address(a) => match world.at_address(a) {
                Some((buffer, offset)) => self.rows.buffer(world, buffer, offset, size, how),
                None => self.addressed(world, how),
            },
        }
    }

    /// Whatever has an address.
    pub(super) fn addressed(&mut self, world: &World, how: How) {
        self.rows.access(world, Part { object: ADDRESSED, last: u64::MAX, ..Part::default() }, how);
    }

    pub(super) fn invoke(&mut self, world: &World, invoke: &Invoke) {
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
            Sizes::Generated { .. } | Sizes::Unknown => self.rows.anything(world),
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
        self.shaders(world, invoke);
    }

    /// Any command that is neither an invocation nor there to order others.
    pub(super) fn accesses(&mut self, world: &World, command: &Command) {
        match command {
            Command::CopyBuffer(c) => {
                for &(from, to, size) in &c.regions {
                    self.rows.buffer(world, c.src, from, size, COPIED_FROM);
                    self.rows.buffer(world, c.dst, to, size, COPIED_TO);
                }
            }
            // (how many bytes of the buffer an image takes is more than is asked: from there on, all)
            Command::CopyBufferToImage(c) => {
                for r in &c.regions {
                    self.rows.buffer(world, c.buffer, r.offset, u64::MAX, COPIED_FROM);
                    self.rows.image(world, c.image, &r.part, COPIED_TO);
                }
            }
            Command::CopyImageToBuffer(c) => {
                for r in &c.regions {
                    self.rows.image(world, c.image, &r.part, COPIED_FROM);
                    self.rows.buffer(world, c.buffer, r.offset, u64::MAX, COPIED_TO);
                }
            }
            Command::CopyImage(c) => {
                let stage = match c.kind {
                    ImageCopyKind::Copy => COPY,
                    ImageCopyKind::Blit => BLIT,
                    ImageCopyKind::Resolve => RESOLVE,
                };
                for r in &c.regions {
                    self.rows.image(world, c.src, &r.src, How { stages: stage, ..COPIED_FROM });
                    self.rows.image(world, c.dst, &r.dst, How { stages: stage, ..COPIED_TO });
                }
            }
            Command::UpdateBuffer { buffer, offset, data } => {
                self.rows.buffer(world, *buffer, *offset, data.len() as u64, COPIED_TO);
            }
            // (vkCmdFillBuffer is of the stage that clears)
            Command::FillBuffer { buffer, offset, size, .. } => {
                self.rows.buffer(world, *buffer, *offset, *size, How { stages: CLEAR, ..COPIED_TO });
            }
            Command::ClearImage { image, ranges, .. } => {
                for r in ranges {
                    self.rows.image(world, *image, r, How { stages: CLEAR, ..COPIED_TO });
                }
            }
            Command::Other(image) => self.other(world, image),
            _ => {}
        }
    }

    /// Commands that are kept as they were decoded.
    fn other(&mut self, world: &World, image: &Image) {
        let Some(command) = image.command else { return self.rows.anything(world) };
        let v = View::call(image);
        let n = |name: &str| v.u64(name).unwrap_or(0);
        match command.canonical {
            name if is_quiet(name) => {}
            name if name.contains("AccelerationStructure") || name.contains("Micromap") => {
                let access = ACCELERATION_STRUCTURE_READ
                    | ACCELERATION_STRUCTURE_WRITE
                    | SHADER_STORAGE_READ
                    | TRANSFER_READ
                    | TRANSFER_WRITE
                    | INDIRECT_COMMAND_READ;
                // (older structures lie in memory of their own, and may be built from any buffer)
                if name.ends_with("NV") {
                    return self.rows.anything(world);
                }
                let stages = ACCELERATION_STRUCTURE_BUILD | DRAW_INDIRECT | COPY | 1 << 28 | 1 << 30;
                self.addressed(world, how(stages, access, true));
            }
            "vkCmdCopyQueryPoolResults" => {
                let size = n("queryCount").saturating_mul(n("stride").max(8));
                self.rows.buffer(world, n("dstBuffer"), n("dstOffset"), size, COPIED_TO);
            }
            "vkCmdBeginConditionalRenderingEXT" => {
                let Some(b) = v.one("pConditionalRenderingBegin") else { return };
                let (buffer, offset) = (b.u64("buffer").unwrap_or(0), b.u64("offset").unwrap_or(0));
                let read = how(CONDITIONAL_RENDERING, CONDITIONAL_RENDERING_READ, false);
                self.rows.buffer(world, buffer, offset, 4, read);
            }
            "vkCmdFillMemoryKHR"
            | "vkCmdUpdateMemoryKHR"
            | "vkCmdCopyMemoryKHR"
            | "vkCmdCopyQueryPoolResultsToMemoryKHR"
            | "vkCmdCopyMemoryIndirectKHR" => {
                self.addressed(world, how(COPY | CLEAR, TRANSFER_READ | TRANSFER_WRITE, true));
            }
            "vkCmdPreprocessGeneratedCommandsEXT" => {
                self.addressed(world, how(COMMAND_PREPROCESS, MEMORY_READ | MEMORY_WRITE, true));
            }
            _ => self.rows.anything(world),
        }
    }
}

/// Commands that access no buffer and no image: state, queries (until their results are copied), the beginnings and ends of things, and what
/// clears attachments of the running pass, which are accessed anyway.
pub const QUIET: &[&str] = &[
    "vkCmdBeginCustomResolveEXT",
    "vkCmdBeginPerTileExecutionQCOM",
    "vkCmdBeginQuery",
    "vkCmdBeginQueryIndexedEXT",
    "vkCmdClearAttachments",
    "vkCmdEndConditionalRenderingEXT",
    "vkCmdEndPerTileExecutionQCOM",
    "vkCmdEndQuery",
    "vkCmdEndQueryIndexedEXT",
    "vkCmdResetQueryPool",
    "vkCmdWriteTimestamp",
    "vkCmdWriteTimestamp2",
];

fn is_quiet(name: &str) -> bool {
    QUIET.binary_search(&name).is_ok()
}

/// Whether a view shows depth or stencil.
fn is_depth(world: &World, view: u64) -> bool {
    const DEPTH_STENCIL: u32 = 6;
    let range = world.image_views.get(&view).map_or(Subresources::default(), |v| v.range);
    range.aspects & DEPTH_STENCIL != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_commands_are_in_order_and_of_the_registry() {
        assert!(QUIET.is_sorted());
        for name in QUIET {
            assert!(gfxr_parse::schema::command_named(name).is_some(), "{name}");
        }
    }
}
