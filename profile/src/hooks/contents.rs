//! What buffers and images hold when a frame has ended, for a capture that begins there.
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

/// Layouts of images, by captured id.
pub type LayoutsOf = Rc<RefCell<BTreeMap<u64, u32>>>;

/// See the module's header.
pub struct ContentsHook {
    frame: u64,
    buffers: Vec<u64>,
    images: Vec<u64>,
    tracking: Tracking,
    layouts: LayoutsOf,
    take: HeldTaker,
}

impl ContentsHook {
    /// Hooks for the end of a frame: what follows layouts, and what reads these buffers and images; and where the layouts
    /// of `layouts_of` will be, which come before any contents.
    pub fn hooks(
        frame: u64,
        (buffers, images): (Vec<u64>, Vec<u64>),
        layouts_of: &[u64],
        take: HeldTaker,
    ) -> (Vec<Box<dyn Hook>>, LayoutsOf) {
        let (tracker, tracking) = Tracker::new();
        let layouts: LayoutsOf = Rc::new(RefCell::new(layouts_of.iter().map(|id| (*id, 0)).collect()));
        let hook = ContentsHook { frame, buffers, images, tracking, layouts: layouts.clone(), take };
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
        if frame.number != self.frame {
            return Ok(());
        }
        if let Some(vk) = cx.backend.vulkan() {
            for (id, found) in self.layouts.borrow_mut().iter_mut() {
                *found = layout(vk, &self.tracking, *id).unwrap_or(0);
            }
        }
        export(cx, &self.tracking, (&self.buffers, &self.images), &mut self.take)
    }
}
