//! What frames leave behind: the buffers and linear images that their commands copy to, where the application can read it; of
//! a frame that copies nothing out, the storage buffers, storage images and colour attachments that are others than before it.
//!
//! For captures that show nothing. At each wanted frame's end the device is waited for, and everything that the frame's
//! submissions copied to is read as it is then, uploads left out; of a buffer the bytes from the first that was copied to,
//! to the last. Guarantees: nothing of the application's changes. What no longer exists at the frame's end, or cannot be
//! read, is counted ([`Left::passed_over`]). Where buffers have addresses, storage buffers are passed over: what they hold may
//! be addresses, which are others in each replay.

use super::follow::{Copy, Follow, Followed, all_names};
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
pub type ContentsTaker = Box<dyn FnMut(u64, u64, &[u8]) -> Result<()>>;

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
            made: BTreeSet::new(),
            before: HashMap::new(),
            addresses: false,
            left: left.clone(),
        };
        (hook, left)
    }

    /// A copy's destination.
    fn note(&mut self, copy: &Copy) {
        let (id, from, to) = match copy {
            Copy::Image(id) => {
                self.images.insert(*id);
                return;
            }
            Copy::Buffer { buffer, offset, size, .. } => (*buffer, *offset, offset.saturating_add(*size)),
            // (how many bytes a row has is the format's to say; to the end is enough)
            Copy::ImageToBuffer(c) => (c.buffer, c.offset, u64::MAX),
        };
        let span = self.buffers.entry(id).or_insert((from, to));
        *span = (span.0.min(from), span.1.max(to));
    }
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
    fn image(&self, vk: &mut Vulkan, id: u64) -> Result<Read<Vec<u8>>> {
        let layout = self.follow.layout(vk, id);
        Ok(read::image(vk, id, layout)?.map(|t| t.bytes))
    }

    /// Everything that shaders write to and that is another than when the last frame ended.
    fn changed(&mut self, vk: &mut Vulkan) -> Result<Vec<(u64, Read<Vec<u8>>)>> {
        let mut all = Vec::new();
        for id in self.made.clone() {
            let read = match vk.buffer(id) {
                Some(b) if self.addresses || b.size > MOST_BYTES => Err("it may hold addresses".to_owned()),
                Some(_) => read::buffer(vk, id, 0, u64::MAX)?,
                None => self.image(vk, id)?,
            };
            let now = read.as_ref().ok().map(|bytes| blake3::hash(bytes));
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
            read.iter().for_each(|c| self.note(c));
        }
        Ok(outcome)
    }

    fn frame(&mut self, cx: &mut Executor, frame: Frame) -> Result<()> {
        let (buffers, images) = (std::mem::take(&mut self.buffers), std::mem::take(&mut self.images));
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
            all.push((id, read::buffer(vk, id, from, to.saturating_sub(from))?));
        }
        for id in images {
            all.push((id, self.image(vk, id)?));
        }
        let mut left = self.left.borrow_mut();
        for (id, read) in all {
            match read {
                Ok(bytes) => {
                    left.read += 1;
                    left.bytes += bytes.len() as u64;
                    (self.take)(frame.number, id, &bytes)?;
                }
                Err(_) => left.passed_over += 1,
            }
        }
        Ok(())
    }
}
