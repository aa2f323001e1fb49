//! What render passes leave in their attachments: pictures of these, copied behind the passes of one frame.
//!
//! Behind the command that ends a pass each attachment is copied to a buffer of ours, which is read once the frame has ended. So the
//! passes themselves, their order and what comes behind them stay as they are; but what they would not store, they store.
//!
//! Guarantees: layouts and contents are those that the pass has left. Level and first layer of the view are what is seen. Refuses, by name and with the
//! reason: attachments of several samples, transient ones, depth and stencil in layouts of their own, and formats that [`mod@format`] does not know. Stencil is not seen. Where a
//! recording runs several times in the frame, its last run is what is seen.
#![allow(unsafe_code)]

use crate::changes::{edit, memory::barrier};
use crate::hooks::readable::Readable;
use crate::hooks::screenshot::follow::{SUBMITS, all_names};
use crate::hooks::screenshot::read::{Read, Texels, readable, settle, shown};
use crate::hooks::screenshot::{Content, Shot, format};
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use replay::ash::vk::{self, Handle, ImageAspectFlags as Aspect};
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Needs, Next};
use replay::vulkan::Vulkan;
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;
use world::commands::{Command, Pass, RENDERING_SUSPENDING, Use};
use world::objects::{ImageView, Subresources};
use world::passes::RenderPass;
use world::{Depth, Frame, Outcome, World};

/// An attachment behind a pass.
#[derive(Debug)]
pub struct AttachmentShot {
    /// The block of the command that ended the pass.
    pub end: u64,
    /// What it is in the pass: `color0`, `depth`, `resolve0`, …
    pub attachment: String,
    /// The captured id of the image, and its debug name.
    pub image: (u64, String),
    /// Its contents, or why there are none.
    pub shot: Read<Shot>,
}

/// Who takes them, in the order in which the passes were recorded.
pub type AttachmentTaker = Box<dyn FnMut(AttachmentShot) -> Result<()>>;

/// What was recorded of one attachment.
struct Recorded {
    name: String,
    image: u64,
    made: Read<Copied>,
}

/// A copy that the device makes.
struct Copied {
    device: u64,
    to: Readable,
    format: vk::Format,
    extent: [u32; 2],
    row_bytes: usize,
}

/// See the module's header.
pub struct AttachmentsHook {
    frame: u64,
    /// Blocks that end the passes to be seen.
    ends: HashSet<u64>,
    watchdog_ns: u64,
    take: AttachmentTaker,
    recorded: BTreeMap<u64, Vec<Recorded>>,
    queues: HashSet<u64>,
}

impl AttachmentsHook {
    /// For these passes of a frame, by the blocks of the commands that end them.
    pub fn new(frame: u64, ends: HashSet<u64>, watchdog_ns: u64, take: AttachmentTaker) -> Self {
        Self { frame, ends, watchdog_ns, take, recorded: BTreeMap::new(), queues: HashSet::new() }
    }

    /// Records the copies behind a pass.
    fn copy(&mut self, cx: &mut Executor, call: &Call) -> Result<()> {
        let world = cx.objects.world();
        let buffer = call.image.u64(0);
        let Some(pass) = ended(world, buffer).filter(|p| p.flags & RENDERING_SUSPENDING == 0) else {
            return Ok(());
        };
        let views = seen(world, &pass);
        let commands = vk::CommandBuffer::from_raw(cx.objects.live(buffer));
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        let mut all = vec![];
        for InPass { name, view, layout, apart } in views {
            let layout = vk::ImageLayout::from_raw(layout as i32);
            let made = match apart || APART.contains(&layout) && has_both(vk, view.image) {
                true => Err("has depth and stencil in layouts of their own".to_owned()),
                false => record(vk, commands, &view, layout)?,
            };
            all.push(Recorded { name, image: view.image, made });
        }
        let before = self.recorded.insert(call.block, all);
        // (recorded anew, for another time)
        before.into_iter().flatten().for_each(|r| destroy(vk, r));
        Ok(())
    }
}

/// Layouts of depth alone.
const APART: [vk::ImageLayout; 2] =
    [vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL, vk::ImageLayout::DEPTH_READ_ONLY_OPTIMAL];

/// Whether an image has depth and stencil.
fn has_both(vk: &Vulkan, image: u64) -> bool {
    vk.image(image).is_some_and(|i| i.aspects().contains(Aspect::DEPTH | Aspect::STENCIL))
}

fn destroy(vk: &Vulkan, recorded: Recorded) {
    if let Ok(made) = recorded.made
        && let Ok(d) = vk.device(made.device)
    {
        made.to.destroy(&d.ash);
    }
}

/// The pass that a command buffer has ended last.
fn ended(world: &World, buffer: u64) -> Option<Pass> {
    let begun = |c: &Command| if let Command::BeginPass(pass) = c { Some((**pass).clone()) } else { None };
    world.recording(buffer)?.commands.iter().rev().find_map(|r| begun(&r.command))
}

/// What an attachment of a render pass is, in the first subpass that writes it.
fn role(of: &RenderPass, attachment: u32) -> Option<String> {
    of.subpasses.iter().find_map(|s| {
        let at = |all: &[(u32, u32)]| all.iter().position(|r| r.0 == attachment);
        let is = |one: &Option<(u32, u32)>| one.is_some_and(|r| r.0 == attachment);
        at(&s.colours)
            .map(|n| format!("color{n}"))
            .or_else(|| at(&s.resolves).map(|n| format!("resolve{n}")))
            .or_else(|| is(&s.depth).then(|| "depth".to_owned()))
            .or_else(|| is(&s.depth_resolve).then(|| "depth-resolve".to_owned()))
    })
}

/// An attachment as the pass leaves it.
struct InPass {
    name: String,
    view: ImageView,
    layout: u32,
    /// Its stencil is left in another layout.
    apart: bool,
}

/// What is to be seen of a pass, by names that are different.
fn seen(world: &World, pass: &Pass) -> Vec<InPass> {
    let mut all: Vec<(String, u64, u32, bool)> = vec![];
    let stencil = pass.attachments.iter().find(|a| a.what == Use::Stencil && a.view != 0);
    let mut colours = 0;
    for (n, a) in pass.attachments.iter().enumerate() {
        let resolved =
            |what: String| (a.resolve_view != 0).then_some((what, a.resolve_view, a.resolve_layout, false));
        match a.what {
            Use::Subpasses => {
                let role = pass.made_of.as_ref().and_then(|p: &Rc<RenderPass>| role(p, n as u32));
                let apart = a.stencil_final_layout != a.final_layout;
                // (what no subpass writes is not the pass's)
                all.extend(role.map(|role| (role, a.view, a.final_layout, apart)));
            }
            Use::Colour => {
                all.push((format!("color{colours}"), a.view, a.layout, false));
                all.extend(resolved(format!("resolve{colours}")));
                colours += 1;
            }
            Use::Depth => {
                let apart = stencil.is_some_and(|s| s.view == a.view && s.layout != a.layout);
                all.push(("depth".to_owned(), a.view, a.layout, apart));
                all.extend(resolved("depth-resolve".to_owned()));
            }
            Use::Stencil | Use::Rate => {}
        }
    }
    let mut named: Vec<InPass> = vec![];
    for (name, id, layout, apart) in all {
        let Some(&view) = world.image_views.get(&id) else { continue };
        // (of several subpasses, the first has the plain name)
        let taken = |name: &str| named.iter().any(|n| n.name == name);
        let other = || (2..).map(|n| format!("{name}-{n}")).find(|name| !taken(name)).unwrap_or_default();
        let name = if taken(&name) { other() } else { name.clone() };
        named.push(InPass { name, view, layout, apart });
    }
    named
}

/// Copies the first layer of a view to a buffer of ours.
fn record(
    vk: &Vulkan,
    commands: vk::CommandBuffer,
    view: &ImageView,
    layout: vk::ImageLayout,
) -> Result<Read<Copied>> {
    let Some(image) = vk.image(view.image) else { return Ok(Err("its image does not exist".into())) };
    let (aspect, format, texel) = match readable(image, layout).and_then(|()| shown(image)) {
        Ok(of) => of,
        Err(why) => return Ok(Err(why)),
    };
    let Subresources { level, layer, .. } = view.range;
    let size = |n: u32| (n >> level.min(31)).max(1);
    let [width, height] = [size(image.extent.width), size(image.extent.height)];
    let row_bytes = width as usize * texel;
    let d = vk.device(image.device)?;
    let to = match Readable::new(&d.ash, &d.gpu.memory, row_bytes as u64 * u64::from(height)) {
        Ok(to) => to,
        Err(why) => return Ok(Err(format!("there is no memory to copy it to: {why}"))),
    };
    // (a 3D image has one layer; a slice of it is seen where the view begins)
    let flat = image.kind != vk::ImageType::TYPE_3D;
    let (layer, slice) = if flat { (layer, 0) } else { (0, layer) };
    let range = vk::ImageSubresourceRange {
        aspect_mask: image.aspects(),
        base_mip_level: level,
        level_count: 1,
        base_array_layer: layer,
        layer_count: 1,
    };
    let region = vk::BufferImageCopy {
        image_subresource: vk::ImageSubresourceLayers {
            aspect_mask: aspect,
            mip_level: level,
            base_array_layer: layer,
            layer_count: 1,
        },
        image_offset: vk::Offset3D { x: 0, y: 0, z: slice as i32 },
        image_extent: vk::Extent3D { width, height, depth: 1 },
        ..Default::default()
    };
    let copied = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
    barrier(&d.ash, commands, (image.live, range), layout, copied);
    let host = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ);
    let [from, until] = [vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST];
    // SAFETY: a command buffer that is being recorded, outside of render passes; a live image in this layout, and a buffer that is large enough.
    unsafe {
        d.ash.cmd_copy_image_to_buffer(commands, image.live, copied, to.buffer, &[region]);
        d.ash.cmd_pipeline_barrier(commands, from, until, vk::DependencyFlags::empty(), &[host], &[], &[]);
    }
    barrier(&d.ash, commands, (image.live, range), copied, layout);
    Ok(Ok(Copied { device: image.device, to, format, extent: [width, height], row_bytes }))
}

/// What the device has copied.
fn shot(frame: u64, copied: &Copied) -> Read<Shot> {
    let n = copied.row_bytes * copied.extent[1] as usize;
    // SAFETY: mapped, of this size, and the device has written it.
    let bytes = unsafe { std::slice::from_raw_parts(copied.to.map, n) }.to_vec();
    let ([width, height], format, row_bytes) = (copied.extent, copied.format, copied.row_bytes);
    let texels = Texels { width, height, format, row_bytes, bytes };
    let rgba = format::to_rgba8(format, &texels.bytes, width, height, row_bytes)?;
    Ok(Shot { frame, swapchain: None, width, height, rgba, stored: Content::from(texels) })
}

/// VkAttachmentStoreOp.
const STORE: u32 = 0;
const DONT_CARE: u32 = 1;

/// Has attachments stored that would not be.
fn stored(call: &mut Call) {
    let v = View::call(&call.image);
    let mut edits = vec![];
    let mut all = |a: View<'_>| {
        let ops = ["storeOp", "stencilStoreOp"].into_iter().filter(|op| a.u32(op) == Some(DONT_CARE));
        edits.extend(ops.filter_map(|op| edit::set(a, op, STORE)));
    };
    if let Some(info) = v.one("pCreateInfo") {
        info.structs("pAttachments").for_each(&mut all);
    }
    if let Some(info) = v.one("pRenderingInfo") {
        info.structs("pColorAttachments").for_each(&mut all);
        ["pDepthAttachment", "pStencilAttachment"].into_iter().filter_map(|n| info.one(n)).for_each(all);
    }
    edit::apply(&mut call.image, &edits);
}

const MAKES: [&str; 3] = ["vkCreateRenderPass", "vkCreateRenderPass2", "vkCmdBeginRendering"];

fn ends(canonical: &str) -> bool {
    canonical.starts_with("vkCmdEndRenderPass") || canonical.starts_with("vkCmdEndRendering")
}

impl Hook for AttachmentsHook {
    fn name(&self) -> &'static str {
        "attachments"
    }

    fn needs(&self) -> Needs {
        Needs { transfer_src: true, ..Needs::default() }
    }

    fn follows(&self) -> Depth {
        Depth::Commands
    }

    fn wants(&self) -> Commands {
        let ends = COMMANDS.iter().filter(|c| ends(c.canonical)).map(|c| c.name);
        let all: Vec<&str> = all_names(&[&MAKES[..], SUBMITS].concat()).into_iter().chain(ends).collect();
        Commands::named(&all)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let name = call.command.canonical;
        if MAKES.contains(&name) {
            // (what is followed stays what the capture says)
            let mut edited = call.clone();
            stored(&mut edited);
            return next.run(cx, &mut edited);
        }
        let outcome = next.run(cx, call)?;
        if SUBMITS.contains(&name) {
            self.queues.extend(View::call(&call.image).u64("queue"));
        } else if ends(name) && self.ends.contains(&call.block) {
            self.copy(cx, call)?;
        }
        Ok(outcome)
    }

    fn frame(&mut self, cx: &mut Executor, frame: Frame) -> Result<()> {
        if frame.number != self.frame {
            return Ok(());
        }
        let recorded = std::mem::take(&mut self.recorded);
        let world = cx.objects.world();
        let names: Vec<String> =
            recorded.values().flatten().map(|r| world.name(r.image).to_owned()).collect();
        let Some(vk) = cx.backend.vulkan() else { return Ok(()) };
        for queue in &self.queues {
            settle(vk, *queue, self.watchdog_ns)?;
        }
        let all = recorded.into_iter().flat_map(|(end, all)| all.into_iter().map(move |r| (end, r)));
        for ((end, r), name) in all.zip(names) {
            let shot = r.made.as_ref().map_err(Clone::clone).and_then(|copied| shot(frame.number, copied));
            let left = AttachmentShot { end, attachment: r.name.clone(), image: (r.image, name), shot };
            destroy(vk, r);
            (self.take)(left)?;
        }
        Ok(())
    }
}
