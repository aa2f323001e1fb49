//! What buffers and images hold when a frame begins, for a capture that begins there.
//!
//! Guarantees: nothing of the application's changes. Refuses nothing: what cannot be read is told with the reason.

use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Hook, Needs};
use replay::looped::{Held, Tracker, Tracking, export, layout};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use world::{Depth, Frame};

/// Takes contents.
pub type HeldTaker = Box<dyn FnMut(Held) -> Result<()>>;

/// Layouts of images, by captured id; none before the frame has ended.
pub type LayoutsOf = Rc<RefCell<Option<BTreeMap<u64, u32>>>>;

/// See the module's header.
pub struct ContentsHook {
    before: u64,
    buffers: Vec<u64>,
    images: Vec<u64>,
    layouts_of: Vec<u64>,
    tracking: Tracking,
    layouts: LayoutsOf,
    take: HeldTaker,
}

impl ContentsHook {
    /// Hooks for the end of what comes before a frame: what follows layouts, and what reads these buffers and images; and where the layouts
    /// of `layouts_of` will be, which come before any contents.
    pub fn hooks(
        before: u64,
        (buffers, images): (Vec<u64>, Vec<u64>),
        layouts_of: &[u64],
        take: HeldTaker,
    ) -> (Vec<Box<dyn Hook>>, LayoutsOf) {
        let (tracker, tracking) = Tracker::new();
        let layouts = LayoutsOf::default();
        let layouts_of = layouts_of.to_vec();
        let hook =
            ContentsHook { before, buffers, images, layouts_of, tracking, layouts: layouts.clone(), take };
        (vec![Box::new(tracker), Box::new(hook)], layouts)
    }
}

impl Hook for ContentsHook {
    fn name(&self) -> &'static str {
        "contents"
    }

    fn needs(&self) -> Needs {
        Needs { transfer_src: true, ..Needs::default() }
    }

    // (layouts are found in what was recorded)
    fn follows(&self) -> Depth {
        Depth::Commands
    }

    fn frame(&mut self, cx: &mut Executor, frame: Frame) -> Result<()> {
        // (a file that somebody cut frames out of has gaps)
        if frame.number >= self.before || frame.next < self.before || self.layouts.borrow().is_some() {
            return Ok(());
        }
        let mut found = BTreeMap::new();
        if let Some(vk) = cx.backend.vulkan() {
            let layout = |id: &u64| (*id, layout(vk, &self.tracking, *id).unwrap_or(0));
            found = self.layouts_of.iter().map(layout).collect();
        }
        *self.layouts.borrow_mut() = Some(found);
        export(cx, &self.tracking, (&self.buffers, &self.images), &mut self.take)
    }
}
