//! What frames leave behind: the buffers and linear images that their commands copy to, where the application can read it; of
//! a frame that copies nothing out, the storage buffers, storage images and colour attachments that are others than before it.
//!
//! For captures that show nothing. At each wanted frame's end the device is waited for, and everything that the frame's
//! submissions copied to is read as it is then, uploads left out; of a buffer the bytes from the first that was copied to,
//! to the last. Where an image was copied there, the largest part of it is known as texels of its format. Guarantees: nothing of the application's changes. What no longer exists at the frame's end, or cannot be
//! read, is counted ([`Left::passed_over`]). Where buffers have addresses, storage buffers are passed over: what they hold may
//! be addresses, which are others in each replay.

use super::content::{Area, Content};
use super::follow::{Copy, Follow, Followed, ImageToBuffer, all_names};
use super::format;
use super::read::{self, Read};
use gfxr_parse::ahead::Call;
use replay::ash::vk;
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Needs, Next};
use replay::vulkan::{BufferState, Vulkan};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use world::{Depth, Frame, Outcome};

/// Commands that make what shaders may write to.
const CREATE: [&str; 2] = ["vkCreateBuffer", "vkCreateImage"];

/// Who takes contents: the frame, the captured id of the buffer or image, what is in it.
pub type ContentsTaker = Box<dyn FnMut(u64, u64, Content) -> Result<()>>;

/// What there was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Buffers and images that were read, of all frames.
    pub read: u64,
    /// Those that were gone, or could not be read.
    pub passed_over: u64,
    /// Bytes that were read.
    pub bytes: u64,
}

/// See the module's header.
pub struct LeftHook {
    frames: Vec<(u64, u64)>,
    watchdog_ns: u64,
    take: ContentsTaker,
    follow: Follow,
    /// Of the running frame: buffers with the bytes that were written, images.
    buffers: BTreeMap<u64, (u64, u64)>,
    images: BTreeSet<u64>,
    /// Which of these bytes are texels, as commands wrote them, one after the other; those that are not have no format.
    texels: HashMap<u64, Vec<(u64, Option<Area>)>>,
    /// Buffers and images that were made.
    made: BTreeSet<u64>,
    /// What they held when the last frame ended.
    before: HashMap<u64, blake3::Hash>,
    /// Some buffer may be pointed to.
    addresses: bool,
    left: Rc<RefCell<Left>>,
}

impl LeftHook {
    /// The hook, for these frames, and what it will have seen.
    pub fn new(frames: Vec<(u64, u64)>, watchdog_ns: u64, take: ContentsTaker) -> (Self, Rc<RefCell<Left>>) {
        let left = Rc::new(RefCell::new(Left::default()));
        let hook = LeftHook {
            frames,
            watchdog_ns,
            take,
            follow: Follow::default(),
            buffers: BTreeMap::new(),
            images: BTreeSet::new(),
            texels: HashMap::new(),
            made: BTreeSet::new(),
            before: HashMap::new(),
            addresses: false,
            left: left.clone(),
        };
        (hook, left)
    }

    /// A copy's destination.
    fn note(&mut self, vk: &Vulkan, copy: &Copy) {
        let (id, from, to) = match copy {
            Copy::Image(id) => {
                self.images.insert(*id);
                return;
            }
            Copy::Buffer { buffer, offset, size, .. } => {
                // (what was an image there is none any more)
                self.texels.remove(buffer);
                (*buffer, *offset, offset.saturating_add(*size))
            }
            // (how many bytes a row has is the format's to say; to the end is enough)
            Copy::ImageToBuffer(c) => {
                self.texels.entry(c.buffer).or_default().push((c.offset, area(vk, c)));
                (c.buffer, c.offset, u64::MAX)
            }
        };
        let span = self.buffers.entry(id).or_insert((from, to));
        *span = (span.0.min(from), span.1.max(to));
    }
}

/// The texels that a copy to a buffer writes, from its first byte on, where their format is known.
fn area(vk: &Vulkan, c: &ImageToBuffer) -> Option<Area> {
    let format = format::of_aspect(vk.image(c.image)?.format, c.aspect);
    let row_bytes = c.row_texels as usize * format::texel_bytes(format)?;
    Some(Area { offset: 0, width: c.width, height: c.height, row_bytes, format })
}

/// A buffer's bytes from one on, and the texels in them.
fn shaped(bytes: Vec<u8>, from: u64, texels: Option<Vec<(u64, Option<Area>)>>) -> Content {
    let all = texels.unwrap_or_default();
    if all.iter().any(|t| t.1.is_none()) {
        // (where one of them lies is not known, and so not what it wrote over)
        return Content::new(bytes, []);
    }
    let at = |(offset, area): (u64, Option<Area>)| {
        Some(Area { offset: usize::try_from(offset.checked_sub(from)?).ok()?, ..area? })
    };
    Content::new(bytes, all.into_iter().filter_map(at))
}

/// Shaders write to such buffers and images.
fn is_written(vk: &Vulkan, id: u64) -> bool {
    let images = vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::COLOR_ATTACHMENT;
    vk.buffer(id).is_some_and(|b| b.usage.contains(vk::BufferUsageFlags::STORAGE_BUFFER))
        || vk.image(id).is_some_and(|i| i.usage.intersects(images))
}

/// More bytes than this are not read for a comparison.
const MOST_BYTES: u64 = 1 << 30;

impl LeftHook {
    fn wanted(&self, frame: u64) -> bool {
        self.frames.iter().any(|(a, b)| (*a..=*b).contains(&frame))
    }

    /// An image, as it is now.
    fn image(&self, vk: &mut Vulkan, id: u64) -> Result<Read<Content>> {
        let layout = self.follow.layout(vk, id);
        Ok(read::image(vk, id, layout)?.map(Content::from))
    }

    /// Everything that shaders write to and that is another than when the last frame ended.
    fn changed(&mut self, vk: &mut Vulkan) -> Result<Vec<(u64, Read<Content>)>> {
        let mut all = Vec::new();
        for id in self.made.clone() {
            let read = match vk.buffer(id) {
                Some(b) if self.addresses || b.size > MOST_BYTES => Err("it may hold addresses".to_owned()),
                Some(_) => read::buffer(vk, id, 0, u64::MAX)?.map(|bytes| Content::new(bytes, [])),
                None => self.image(vk, id)?,
            };
            let now = read.as_ref().ok().map(|c| blake3::hash(&c.bytes));
            let before = now.and_then(|n| self.before.insert(id, n));
            if before.is_some() && before != now {
                all.push((id, read));
            }
        }
        Ok(all)
    }
}

impl Hook for LeftHook {
    fn name(&self) -> &'static str {
        "left"
    }

    fn needs(&self) -> Needs {
        Needs { transfer_src: true, ..Needs::default() }
    }

    fn wants(&self) -> Commands {
        Commands::named(&all_names(&[&Follow::wants()[..], &CREATE].concat()))
    }

    fn follows(&self) -> Depth {
        Depth::Commands
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let outcome = next.run(cx, call)?;
        if call.command.ret.is_some() && outcome.result() < 0 {
            return Ok(outcome);
        }
        if CREATE.contains(&call.command.name) {
            let made = call.image.handles.iter().filter(|h| h.out).map(|h| call.image.u64(h.at));
            let Some(vk) = cx.backend.vulkan() else { return Ok(outcome) };
            for id in made {
                let pointed = |b: &BufferState| b.usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS);
                self.addresses |= vk.buffer(id).is_some_and(pointed);
                if is_written(vk, id) {
                    self.made.insert(id);
                }
            }
        }
        if let Followed::Submitted(copies) = self.follow.see(call, cx.objects.world())
            && let Some(vk) = cx.backend.vulkan()
        {
            let read: Vec<Copy> = copies.into_iter().filter(|c| self.follow.rank(vk, c).is_some()).collect();
            read.iter().for_each(|c| self.note(vk, c));
        }
        Ok(outcome)
    }

    fn frame(&mut self, cx: &mut Executor, frame: Frame) -> Result<()> {
        let (buffers, images) = (std::mem::take(&mut self.buffers), std::mem::take(&mut self.images));
        let mut texels = std::mem::take(&mut self.texels);
        let (wanted, next) = (self.wanted(frame.number), self.wanted(frame.next));
        let Some(vk) = cx.backend.vulkan().filter(|_| wanted || next) else { return Ok(()) };
        for q in &self.follow.queues {
            read::settle(vk, *q, self.watchdog_ns)?;
        }
        self.made.retain(|id| vk.buffer(*id).is_some() || vk.image(*id).is_some());
        let changed = self.changed(vk)?;
        if !wanted {
            return Ok(());
        }
        let mut all = Vec::new();
        if buffers.is_empty() && images.is_empty() {
            all = changed;
        }
        for (id, (from, to)) in buffers {
            let read = read::buffer(vk, id, from, to.saturating_sub(from))?;
            all.push((id, read.map(|bytes| shaped(bytes, from, texels.remove(&id)))));
        }
        for id in images {
            all.push((id, self.image(vk, id)?));
        }
        let mut left = self.left.borrow_mut();
        for (id, read) in all {
            match read {
                Ok(content) => {
                    left.read += 1;
                    left.bytes += content.bytes.len() as u64;
                    (self.take)(frame.number, id, content)?;
                }
                Err(_) => left.passed_over += 1,
            }
        }
        Ok(())
    }
}
