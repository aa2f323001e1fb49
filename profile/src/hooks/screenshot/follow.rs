//! What submissions do to images and buffers, as far as those who read them have to know: copies, layouts, mapped memory.
//!
//! Command buffers and what they name are the executor's [`World`]'s; here they are gone through at each submission
//! ([`world::walk`]). Of an image the layout of one subresource is kept, the one that is read: mip level 0 of layer 0. Images
//! nobody has moved are where the replay left them when it made or loaded them. Refuses nothing.

use super::held::Rank;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use replay::ash::vk;
use replay::vulkan::{BufferState, Vulkan};
use std::collections::{HashMap, HashSet};
use world::World;
use world::commands::{Barrier, BufferImageCopies, Command, Pass, Use};
use world::objects::Subresources;
use world::walk::{Step, submitted};

/// Commands that submit.
pub const SUBMITS: &[&str] = &["vkQueueSubmit", "vkQueueSubmit2", "vkFrameBoundaryANDROID"];
const MAPS: &[&str] = &["vkMapMemory", "vkMapMemory2"];
/// Commands that move an image at once, or make it anew.
const AT_ONCE: &[&str] = &["vkCreateImage", "vkTransitionImageLayout"];

/// Wider or higher than this is no image of any device.
const MOST_TEXELS: u32 = 1 << 16;

/// Something copied to where the application may read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copy {
    /// Part of an image into a buffer.
    ImageToBuffer(ImageToBuffer),
    /// Between buffers.
    Buffer {
        /// Where from.
        from: u64,
        /// Where to.
        buffer: u64,
        /// First byte written there.
        offset: u64,
        /// Bytes up to the last one written.
        size: u64,
    },
    /// Between images; the destination.
    Image(u64),
}

/// A region of vkCmdCopyImageToBuffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageToBuffer {
    /// Where from.
    pub image: u64,
    /// Which aspect of it.
    pub aspect: vk::ImageAspectFlags,
    /// Where to.
    pub buffer: u64,
    /// First byte written.
    pub offset: u64,
    /// Texels from row to row in the buffer.
    pub row_texels: u32,
    /// Texels.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// What a call came to.
pub enum Followed {
    /// Nothing that anybody has to act on.
    Nothing,
    /// What a submission copies, in order.
    Submitted(Vec<Copy>),
    /// Memory that was mapped.
    Mapped(Option<u64>),
}

/// See the module's header.
#[derive(Default)]
pub struct Follow {
    layouts: HashMap<u64, vk::ImageLayout>,
    /// Memory that was mapped at some time.
    pub mapped: HashSet<u64>,
    /// Queues that something was submitted to.
    pub queues: HashSet<u64>,
}

/// These commands under all of their names.
pub fn all_names(wanted: &[&str]) -> Vec<&'static str> {
    let of = COMMANDS.iter().filter(|c| wanted.contains(&c.canonical) || wanted.contains(&c.name));
    of.map(|c| c.name).collect()
}

impl Follow {
    /// The calls that it has to see, once they have been made.
    pub fn wants() -> Vec<&'static str> {
        [AT_ONCE, SUBMITS, MAPS].concat()
    }

    /// Looks at a call that went well.
    pub fn see(&mut self, call: &Call, world: &World) -> Followed {
        let (name, v) = (call.command.canonical, View::call(&call.image));
        if SUBMITS.contains(&name) {
            self.queues.extend(v.u64("queue"));
            let mut copies = Vec::new();
            self.executes(world, &submitted(call), &mut copies);
            return Followed::Submitted(copies);
        }
        match name {
            // The id may have come again.
            "vkCreateImage" => drop(v.u64("pImage").and_then(|id| self.layouts.remove(&id))),
            "vkTransitionImageLayout" => {
                for t in v.structs("pTransitions") {
                    let n = |v: View<'_>, name| v.u32(name).unwrap_or(0);
                    let range = t.one("subresourceRange").map(|r| Subresources {
                        aspects: n(r, "aspectMask"),
                        level: n(r, "baseMipLevel"),
                        layer: n(r, "baseArrayLayer"),
                        ..Subresources::default()
                    });
                    let image = t.u64("image").unwrap_or(0);
                    self.moved(image, range.unwrap_or_default(), n(t, "newLayout"));
                }
            }
            name if MAPS.contains(&name) => {
                let memory = v.u64("memory").or_else(|| v.one("pMemoryMapInfo")?.u64("memory"));
                self.mapped.extend(memory);
                return Followed::Mapped(memory);
            }
            _ => {}
        }
        Followed::Nothing
    }

    /// Command buffers execute.
    fn executes(&mut self, world: &World, buffers: &[u64], copies: &mut Vec<Copy>) {
        world.walk(buffers, &mut |_, step| {
            let Step::Command(recorded) = step else { return };
            match &recorded.command {
                Command::Barrier(b) => self.barrier(b),
                Command::WaitEvents { barriers, .. } => barriers.iter().for_each(|b| self.barrier(b)),
                Command::BeginPass(pass) => self.pass(world, pass),
                Command::CopyImageToBuffer(c) => copies.extend(largest(c).map(Copy::ImageToBuffer)),
                Command::CopyBuffer(c) => {
                    let spans = c.regions.iter().filter_map(|r| Some((r.1, r.1.checked_add(r.2)?)));
                    let span = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
                    copies.extend(span.map(|(from, to)| Copy::Buffer {
                        from: c.src,
                        buffer: c.dst,
                        offset: from,
                        size: to - from,
                    }));
                }
                Command::CopyImage(c) => copies.push(Copy::Image(c.dst)),
                _ => {}
            }
        });
    }

    fn barrier(&mut self, barrier: &Barrier) {
        barrier.images.iter().for_each(|i| self.moved(i.image, i.range, i.new_layout));
    }

    /// Where a render pass leaves its attachments.
    fn pass(&mut self, world: &World, pass: &Pass) {
        for a in pass.attachments.iter().filter(|a| a.what == Use::Subpasses) {
            if let Some(view) = world.image_views.get(&a.view) {
                self.moved(view.image, view.range, a.final_layout);
            }
        }
    }

    fn moved(&mut self, image: u64, range: Subresources, to: u32) {
        let first =
            range.level == 0 && range.layer == 0 && range.aspects != vk::ImageAspectFlags::STENCIL.as_raw();
        let to = vk::ImageLayout::from_raw(to as i32);
        if first && to != vk::ImageLayout::UNDEFINED {
            self.layouts.insert(image, to);
        }
    }

    /// The layout of an image.
    pub fn layout(&self, vk: &Vulkan, image: u64) -> vk::ImageLayout {
        let made = || vk.image(image).map_or(vk::ImageLayout::UNDEFINED, |i| i.layout);
        self.layouts.get(&image).copied().unwrap_or_else(made)
    }

    /// How much a copy looks like the application reading a result; not at all if it is an upload.
    pub fn rank(&self, vk: &Vulkan, copy: &Copy) -> Option<Rank> {
        let (memory, rank) = match copy {
            Copy::Buffer { from, buffer, .. } => {
                let (from, to) = (vk.buffer(*from)?, vk.buffer(*buffer)?);
                match (for_copies_alone(from), for_copies_alone(to)) {
                    (true, false) => return None,
                    (false, false) => (None, Rank::Buffer),
                    (_, true) => (to.memory, Rank::Buffer),
                }
            }
            Copy::ImageToBuffer(c) => (vk.buffer(c.buffer)?.memory, Rank::Image),
            // Only a linear image can be read by the application itself.
            Copy::Image(id) => {
                let image = vk.image(*id).filter(|i| i.tiling == vk::ImageTiling::LINEAR)?;
                (image.memory, Rank::Image)
            }
        };
        Some(if memory.is_some_and(|m| self.mapped.contains(&m.0)) { rank.mapped() } else { rank })
    }
}

/// A staging buffer: whatever moves through it comes from somewhere and goes somewhere else.
fn for_copies_alone(b: &BufferState) -> bool {
    (vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST).contains(b.usage)
}

/// The largest region of a copy.
fn largest(c: &BufferImageCopies) -> Option<ImageToBuffer> {
    let regions = c.regions.iter().filter(|r| r.extent[0] <= MOST_TEXELS && r.extent[1] <= MOST_TEXELS);
    let r = regions.max_by_key(|r| u64::from(r.extent[0]) * u64::from(r.extent[1]))?;
    Some(ImageToBuffer {
        image: c.image,
        aspect: vk::ImageAspectFlags::from_raw(r.part.aspects),
        buffer: c.buffer,
        offset: r.offset,
        row_texels: if r.row_length == 0 { r.extent[0] } else { r.row_length },
        width: r.extent[0],
        height: r.extent[1],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfxr_parse::ahead::{self, What};
    use gfxr_parse::container::{Capture, FrameCounter, Scratch, read_file};
    use std::path::Path;
    use std::rc::Rc;
    use world::commands::{ImageBarrier, Recorded};
    use world::recording::{CommandBuffer, Recording};
    use world::{Outcome, bench::Bench};

    /// Follows a capture to the end of a frame.
    fn followed(file: &str, frame: u64) -> Follow {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/samples").join(file);
        let capture = Capture::open(&path, read_file).expect("it is committed");
        let (mut follow, mut world) = (Follow::default(), world::Follow::new());
        let (mut frames, mut scratch) = (FrameCounter::new(capture.header()), Scratch::new());
        for block in capture.blocks() {
            let place = frames.feed(&block);
            if place.frame > frame {
                break;
            }
            if let Ok(What::Call(call)) = ahead::read(&block, place, None, &mut scratch) {
                follow.see(&call, world.world());
                world.call(&call, Outcome::captured(&call), &mut ());
            }
        }
        follow
    }

    #[test]
    fn render_passes_leave_attachments_in_their_final_layouts() {
        let l = followed("cubes.gfxr", 2);
        let of = |image: u64| l.layouts.get(&image).copied();
        // The ids of the sample: a swapchain image that is presented, one that never is, colour and depth.
        assert_eq!(of(7), Some(vk::ImageLayout::PRESENT_SRC_KHR));
        assert_eq!(of(8), None);
        assert_eq!(of(38), Some(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL));
        assert_eq!(of(41), Some(vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL));
        assert_eq!(followed("cubes.gfxr", 0).layouts.len(), 0);
    }

    #[test]
    fn secondary_command_buffers_run_where_they_are_executed() {
        let mut b = Bench::new();
        let recorded = |command| Recorded { index: 0, block: 0, command };
        let to = |new_layout| {
            let image = ImageBarrier { image: 10, new_layout, ..ImageBarrier::default() };
            recorded(Command::Barrier(Box::new(Barrier { images: vec![image], ..Barrier::default() })))
        };
        let execute = |ids: &[u64]| recorded(Command::Execute(ids.into()));
        let mut hold = |id, commands| {
            let recording = Some(Rc::new(Recording { commands, ..Recording::default() }));
            let buffer = CommandBuffer { recording, ..CommandBuffer::default() };
            b.follow.world_mut().command_buffers.insert(id, buffer);
        };
        hold(1, vec![to(7), execute(&[2])]);
        hold(2, vec![to(6)]);
        // One that executes itself ends all the same.
        hold(3, vec![execute(&[3]), to(1)]);
        let after = |id| {
            let mut f = Follow::default();
            f.executes(b.follow.world(), &[id], &mut Vec::new());
            f.layouts.get(&10).map(|l| l.as_raw())
        };
        assert_eq!([after(1), after(3), after(9)], [Some(6), Some(1), None]);
    }
}
