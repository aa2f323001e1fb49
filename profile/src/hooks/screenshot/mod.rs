//! Screenshots: what a frame showed, as RGBA, read back from the GPU while the capture replays.
//!
//! What a frame showed is one of three ([`What`]): the images it presented; where nothing is presented, the last image
//! or buffer it copied to where the application can read it; or an image by id or name at the frame's end. Presented
//! images are read where they are presented, after the replay has consumed the present's wait semaphores.
//!
//! Guarantees: bytes are those of the stored texels ([`mod@format`] says how they become 8 bits); reading changes no layout
//! and no contents. Every wanted frame either hands over its shots or leaves a line in [`Seen::problems`].
//! Refuses, by name: images with several samples a texel, transient ones, ones without contents, formats that
//! [`mod@format`] does not know; buffers, unless [`Wish::shape`] says what they hold.
//!
//! Not known: contents that reach the host without a copy (a shader that writes to mapped memory); whose queue family
//! owns an image (it is read by the replay's own queue, without a transfer of ownership).

mod content;
pub(crate) mod follow;
pub mod format;
mod held;
mod left;
pub(crate) mod read;
mod wish;

pub use content::{Area, Content};
pub use format::Shape;
pub use left::{ContentsTaker, Left, LeftHook};
pub use wish::{Seen, Shot, Taker, What, Wish};

use follow::{Copy, Follow, Followed, all_names};
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use held::{Contents, Held, Rank};
use read::{Read, Texels};
use replay::ash::vk;
use replay::error::{Error, Kind, Result};
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Needs, Next};
use replay::vulkan::{Vulkan, presented};
use std::cell::RefCell;
use std::rc::Rc;
use world::{Depth, Frame, Outcome, World};

/// See the module's header.
pub struct ScreenshotHook {
    wish: Wish,
    take: Taker,
    seen: Rc<RefCell<Seen>>,
    held: Vec<Held>,
    /// Why the latest attempt to read something failed.
    refused: Option<String>,
    follow: Follow,
}

impl ScreenshotHook {
    /// The hook, and what it will have seen.
    pub fn new(wish: Wish, take: Taker) -> (Self, Rc<RefCell<Seen>>) {
        let seen = Rc::new(RefCell::new(Seen::default()));
        let hook = ScreenshotHook {
            wish,
            take,
            seen: seen.clone(),
            held: Vec::new(),
            refused: None,
            follow: Follow::default(),
        };
        (hook, seen)
    }

    fn wants_frame(&self, frame: u64) -> bool {
        self.wish.frames.as_ref().is_none_or(|r| r.iter().any(|(a, b)| (*a..=*b).contains(&frame)))
    }

    /// Holds what was read if nothing better is held, or says why it could not be.
    fn hold(&mut self, read: Read<Contents>, rank: Rank, memory: Option<u64>, frame: u64) {
        match read {
            Ok(what) if self.held.iter().all(|h| h.rank <= rank) => {
                self.held = vec![Held { rank, memory, frame, swapchain: 0, what }];
            }
            Ok(_) => {}
            Err(why) => self.refused = Some(why),
        }
    }

    /// vkQueuePresentKHR has consumed its semaphores: the images are complete.
    fn present(&mut self, vk: &mut Vulkan, call: &Call) -> Result<()> {
        let shown = presented(vk, call);
        if shown.is_empty() {
            return Ok(());
        }
        read::settle(vk, call.image.u64(0), self.wish.watchdog_ns)?;
        self.held.clear();
        for (swapchain, image) in shown {
            match read::image(vk, image, vk::ImageLayout::PRESENT_SRC_KHR)? {
                Ok(texels) => {
                    let what = Contents::Texels(texels);
                    self.held.push(Held {
                        rank: Rank::Said,
                        memory: None,
                        frame: call.frame,
                        swapchain,
                        what,
                    });
                }
                Err(why) => self.refused = Some(why),
            }
        }
        Ok(())
    }

    /// A submission: the best of what it copies out.
    fn submit(&mut self, vk: &mut Vulkan, call: &Call, copies: &[Copy]) -> Result<()> {
        let v = View::call(&call.image);
        let queue = v.u64("queue");
        if self.wish.what != What::CopiedOut {
            return Ok(());
        }
        // The image an application without a window calls its frame.
        let frame_image = v.u64("image").or_else(|| {
            let boundaries = v.structs("pSubmits").filter_map(|s| s.next("VkFrameBoundaryEXT"));
            boundaries.filter_map(|b| b.u64s("pImages").last().copied()).last()
        });
        let ranked = copies.iter().filter_map(|c| Some((self.follow.rank(vk, c)?, c)));
        let best = ranked.max_by_key(|(rank, _)| *rank).map(|(rank, c)| (rank, *c));
        if best.is_none() && frame_image.is_none() {
            return Ok(());
        }
        self.seen.borrow_mut().copies_out(call.frame);
        if !self.wants_frame(call.frame) {
            return Ok(());
        }
        let queues = if queue.is_some() {
            vec![call.image.u64(0)]
        } else {
            self.follow.queues.iter().copied().collect()
        };
        queues.into_iter().try_for_each(|q| read::settle(vk, q, self.wish.watchdog_ns))?;
        if let Some(id) = frame_image {
            let read = read::image(vk, id, self.follow.layout(vk, id))?.map(Contents::Texels);
            self.hold(read, Rank::Said, None, call.frame);
        } else if let Some((rank, copy)) = best {
            let (read, memory) = self.copied(vk, copy)?;
            self.hold(read, rank, memory, call.frame);
        }
        Ok(())
    }

    /// Reads the destination of a copy that has been made; says in which memory it lies.
    fn copied(&self, vk: &mut Vulkan, copy: Copy) -> Result<(Read<Contents>, Option<u64>)> {
        let memory = |m: Option<(u64, u64)>| m.map(|m| m.0);
        Ok(match copy {
            Copy::Image(id) => {
                let lies = vk.image(id).and_then(|i| memory(i.memory));
                (read::image(vk, id, self.follow.layout(vk, id))?.map(Contents::Texels), lies)
            }
            Copy::Buffer { buffer, offset, size, .. } => {
                let lies = vk.buffer(buffer).and_then(|b| memory(b.memory));
                (read::buffer(vk, buffer, offset, size)?.map(|bytes| Contents::Bytes { buffer, bytes }), lies)
            }
            Copy::ImageToBuffer(c) => {
                let lies = vk.buffer(c.buffer).and_then(|b| memory(b.memory));
                let Some(source) = vk.image(c.image) else {
                    return Ok((Err(format!("VkImage {} does not exist", c.image)), None));
                };
                let format = format::of_aspect(source.format, c.aspect);
                let Some(texel) = format::texel_bytes(format) else {
                    return Ok((Err(format!("VkImage {}: {}", c.image, format::refusal(format))), None));
                };
                let row_bytes = c.row_texels as usize * texel;
                let read = read::buffer(
                    vk,
                    c.buffer,
                    c.offset,
                    (row_bytes as u64).saturating_mul(u64::from(c.height)),
                )?;
                let (width, height) = (c.width, c.height);
                (read.map(|bytes| Contents::Texels(Texels { width, height, format, row_bytes, bytes })), lies)
            }
        })
    }

    /// Reads the image (or buffer) of an id or name.
    fn named(&mut self, vk: &mut Vulkan, world: &World, name: &str, frame: u64) -> Result<()> {
        let ids = match name.parse::<u64>() {
            Ok(id) => vec![id],
            Err(_) => {
                let mut ids: Vec<u64> = world.names.iter().filter(|n| **n.1 == *name).map(|n| *n.0).collect();
                ids.sort_unstable();
                ids
            }
        };
        let shaped = self.wish.shape.is_some();
        let there: Vec<u64> = ids
            .into_iter()
            .filter(|id| vk.image(*id).is_some() || shaped && vk.buffer(*id).is_some())
            .collect();
        let &[id] = &there[..] else {
            self.refused = Some(match &there[..] {
                [] => format!("no image {name} exists then"),
                many => {
                    format!("\"{name}\" is the name of {} images; choose one by id: {many:?}", many.len())
                }
            });
            return Ok(());
        };
        for q in self.follow.queues.clone() {
            read::settle(vk, q, self.wish.watchdog_ns)?;
        }
        let read = if vk.image(id).is_some() {
            read::image(vk, id, self.follow.layout(vk, id))?.map(Contents::Texels)
        } else {
            let all = read::buffer(vk, id, 0, self.wish.shape.map_or(0, |s| s.bytes()))?;
            all.map(|bytes| Contents::Bytes { buffer: id, bytes })
        };
        self.hold(read, Rank::Said, None, frame);
        Ok(())
    }

    /// Hands over what is held.
    fn hand_over(&mut self) -> Result<()> {
        let several = self.held.len() > 1;
        for h in std::mem::take(&mut self.held) {
            let frame = h.frame;
            let shot = h.shot(self.wish.shape, several);
            (self.take)(shot.map_err(|why| Error::new(Kind::Internal, format!("frame {frame}: {why}")))?)?;
        }
        Ok(())
    }

    /// A wanted frame has ended: its shots, or why there are none.
    fn settle_frame(&mut self, frame: Option<u64>) -> Result<()> {
        let refused = self.refused.take();
        if !self.held.is_empty() {
            self.hand_over()?;
            // One of several swapchains may have been refused; other copies of a frame may be of no interest.
            if self.wish.what != What::Presented || refused.is_none() {
                return Ok(());
            }
        }
        let why = refused.unwrap_or_else(|| match &self.wish.what {
            What::Presented => "nothing was presented".to_string(),
            What::CopiedOut => "nothing was copied out".to_string(),
            What::Named(name) => format!("no image {name} exists then"),
        });
        self.seen.borrow_mut().problem(frame.map_or_else(|| why.clone(), |f| format!("frame {f}: {why}")));
        Ok(())
    }
}

impl Hook for ScreenshotHook {
    fn name(&self) -> &'static str {
        "screenshot"
    }

    fn needs(&self) -> Needs {
        // Swapchain images can be copied from as it is.
        Needs { transfer_src: self.wish.what != What::Presented, ..Needs::default() }
    }

    fn wants(&self) -> Commands {
        let follow = Follow::wants();
        let wanted = match self.wish.what {
            What::Presented => vec!["vkQueuePresentKHR"],
            What::CopiedOut | What::Named(_) => follow,
        };
        Commands::named(&all_names(&wanted))
    }

    fn follows(&self) -> Depth {
        if self.wish.what == What::Presented { Depth::Objects } else { Depth::Commands }
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let outcome = next.run(cx, call)?;
        if call.command.ret.is_some() && outcome.result() < 0 {
            return Ok(outcome);
        }
        let name = call.command.canonical;
        let Some(vk) = cx.backend.vulkan() else { return Ok(outcome) };
        if name == "vkQueuePresentKHR" {
            if self.wants_frame(call.frame) {
                self.present(vk, call)?;
            }
            return Ok(outcome);
        }
        match self.follow.see(call, cx.objects.world()) {
            Followed::Submitted(copies) => self.submit(vk, call, &copies)?,
            // What was copied there before is now about to be read.
            Followed::Mapped(memory) => {
                self.held.iter_mut().filter(|h| h.memory == memory).for_each(|h| h.rank = h.rank.mapped());
            }
            Followed::Nothing => {}
        }
        Ok(outcome)
    }

    fn frame(&mut self, cx: &mut Executor, frame: Frame) -> Result<()> {
        self.seen.borrow_mut().last_frame = frame.number;
        if !self.wants_frame(frame.number) {
            return Ok(());
        }
        if let (What::Named(name), Some(vk)) = (self.wish.what.clone(), cx.backend.vulkan()) {
            self.named(vk, cx.objects.world(), &name, frame.number)?;
        }
        if self.wish.frames.is_some() { self.settle_frame(Some(frame.number)) } else { Ok(()) }
    }

    fn finish(&mut self, _: &mut Executor) -> Result<()> {
        if self.wish.frames.is_none() { self.settle_frame(None) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;
