//! Which pictures of a replay are taken, and the hook that takes them.
//!
//! Guarantees: a picture is kept as its hash and size, so that frames may be many. Refuses nothing by itself.

use crate::hooks::screenshot::{Content, LeftHook, ScreenshotHook, Shot, What, Wish};
use gfxr_parse::container::Capture;
use gfxr_parse::schema::command_named;
use replay::hook::Hook;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Bytes of contents that are held for a comparison.
pub const MOST_BYTES: u64 = 1 << 30;

/// A picture: its frame, and its swapchain where there are several, or the buffer or image that it was left in.
pub type At = (u64, Option<u64>);

/// What is kept of each picture: a hash, and its size in bytes.
pub type Pictures = BTreeMap<At, (blake3::Hash, u64)>;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// What frames present.
    Shown,
    /// What they leave behind in memory.
    Left,
}

impl Compare {
    /// What there is to be compared of a capture.
    pub fn of(capture: &Capture) -> Compare {
        let present = command_named("vkQueuePresentKHR").map(|c| c.id);
        let presents = capture.blocks().any(|b| present.is_some() && b.call_id() == present);
        if presents { Compare::Shown } else { Compare::Left }
    }
}

/// Which pictures are taken, and how.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What they are of.
    pub compare: Compare,
    /// The frames, as ranges.
    pub frames: Vec<(u64, u64)>,
    /// How long to wait for the GPU.
    pub watchdog_ns: u64,
}

/// Who takes contents.
type Taker = Box<dyn FnMut(At, Content)>;

impl Asked {
    /// The hook that hands over each content.
    pub(super) fn hook(&self, mut take: Taker) -> Box<dyn Hook> {
        let (frames, watchdog_ns) = (self.frames.clone(), self.watchdog_ns);
        match self.compare {
            Compare::Left => {
                let take = Box::new(move |frame, id, content| {
                    take((frame, Some(id)), content);
                    Ok(())
                });
                Box::new(LeftHook::new(frames, watchdog_ns, take).0)
            }
            Compare::Shown => {
                let wish = Wish { what: What::Presented, frames: Some(frames), shape: None, watchdog_ns };
                let take = Box::new(move |shot: Shot| {
                    take((shot.frame, shot.swapchain), shot.stored);
                    Ok(())
                });
                Box::new(ScreenshotHook::new(wish, take).0)
            }
        }
    }

    /// The hook that takes all of them, and where they will be.
    pub fn taker(&self) -> (Box<dyn Hook>, Rc<RefCell<Pictures>>) {
        let pictures = Rc::new(RefCell::new(Pictures::new()));
        let into = pictures.clone();
        let take = move |at, content: Content| {
            into.borrow_mut().insert(at, (content.hash(), content.bytes.len() as u64));
        };
        (self.hook(Box::new(take)), pictures)
    }
}
