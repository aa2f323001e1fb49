//! Objects and their lives: from the call that made them, or found them first, to the one that ended them.
//!
//! Guarantees: what a pool, a swapchain or a device held ends with it. An id that is made again while it lives is another life.
//! Calls that failed make and end nothing. Refuses nothing.

use crate::error::Error;
use crate::schema;
use crate::table::{Value, id};
use crate::writer::Writer;
use gfxr_parse::ahead::Call;
use gfxr_parse::meta::Meta;
use gfxr_parse::schema::generated::HANDLES;
use gfxr_parse::schema::{HandleId, Ty, handle_named};
use gfxr_parse::view::View;
use std::collections::HashMap;

struct Object {
    handle: u64,
    ty: HandleId,
    name: Option<Box<str>>,
    parent: u64,
    created: (u64, u64, u64),
    destroyed: Option<(u64, u64)>,
}

/// All of them.
#[derive(Default)]
pub(super) struct Objects {
    all: Vec<Object>,
    /// Those that live, by id.
    alive: HashMap<u64, usize>,
    /// By id of their parent.
    children: HashMap<u64, Vec<usize>>,
}

impl Objects {
    /// A call.
    pub fn call(&mut self, call: &Call) {
        if matches!(call.command.ret, Some(Ty::Enum(_))) && call.image.ret() < Some(0) {
            return;
        }
        let name = call.command.canonical;
        if call.image.handles.iter().any(|h| h.out) {
            self.made(call);
        }
        if name.starts_with("vkDestroy") || name.starts_with("vkFree") {
            self.ended(call);
        } else if name == "vkResetDescriptorPool" {
            // (its second parameter, as that of what destroys it)
            self.end_children(world::destroyed(call), (call.block, call.frame));
        } else if name.ends_with("ObjectNameEXT") {
            self.named(call);
        }
    }

    /// A metadata block: it may name the images of a swapchain.
    pub fn meta(&mut self, meta: &Meta<'_>, block: u64, frame: u64) {
        let (Meta::SwapchainImages(s), Some(ty)) = (meta, handle_named("VkImage")) else { return };
        for (i, image) in (0..).zip(&s.images) {
            if !self.alive.contains_key(&image.image) {
                self.begin(image.image, ty, s.swapchain, (block, i, frame));
            }
        }
    }

    fn made(&mut self, call: &Call) {
        let finds = ["vkGet", "vkEnumerate"].iter().any(|p| call.command.canonical.starts_with(p));
        let mut last = (HandleId::MAX, 0);
        for h in call.image.handles.iter().filter(|h| h.out) {
            let handle = call.image.u64(h.at);
            last = if last.0 == h.ty { (h.ty, last.1 + 1) } else { (h.ty, 0) };
            if handle == 0 || (finds && self.alive.contains_key(&handle)) {
                continue;
            }
            let wanted = match call.command.canonical {
                "vkGetSwapchainImagesKHR" => handle_named("VkSwapchainKHR"),
                _ => HANDLES[h.ty as usize].parent,
            };
            let parent = call.image.handles.iter().find(|p| !p.out && Some(p.ty) == wanted);
            // (surfaces and the like name a parent that the call may not have: its own object then)
            let parent = parent.or_else(|| call.image.handles.iter().find(|p| !p.out && p.at == 0));
            let parent = parent.map_or(0, |p| call.image.u64(p.at));
            self.begin(handle, h.ty, parent, (call.block, last.1, call.frame));
        }
    }

    fn begin(&mut self, handle: u64, ty: HandleId, parent: u64, created: (u64, u64, u64)) {
        let index = self.all.len();
        self.all.push(Object { handle, ty, name: None, parent, created, destroyed: None });
        self.alive.insert(handle, index);
        if parent != 0 {
            self.children.entry(parent).or_default().push(index);
        }
    }

    fn ended(&mut self, call: &Call) {
        let at = (call.block, call.frame);
        match call.command.canonical {
            "vkDestroyInstance" | "vkDestroyDevice" => self.end(call.image.u64(0), at),
            "vkFreeCommandBuffers" => self.end_all(&View::call(&call.image).u64s("pCommandBuffers"), at),
            "vkFreeDescriptorSets" => self.end_all(&View::call(&call.image).u64s("pDescriptorSets"), at),
            _ => self.end(world::destroyed(call), at),
        }
    }

    fn end_all(&mut self, handles: &[u64], at: (u64, u64)) {
        handles.iter().for_each(|h| self.end(*h, at));
    }

    fn end(&mut self, handle: u64, at: (u64, u64)) {
        if let Some(index) = self.alive.remove(&handle) {
            self.all[index].destroyed = Some(at);
            self.end_children(handle, at);
        }
    }

    fn end_children(&mut self, parent: u64, at: (u64, u64)) {
        // (as a list: a damaged capture's may be as deep as it likes)
        let mut next = vec![parent];
        while let Some(parent) = next.pop() {
            for index in self.children.remove(&parent).unwrap_or_default() {
                let o = &mut self.all[index];
                if o.destroyed.is_none() {
                    o.destroyed = Some(at);
                    // (its id may be another's by now)
                    if self.alive.get(&o.handle) == Some(&index) {
                        self.alive.remove(&o.handle);
                        next.push(o.handle);
                    }
                }
            }
        }
    }

    fn named(&mut self, call: &Call) {
        let info = View::call(&call.image).one("pNameInfo");
        let Some((handle, text)) = info.and_then(|i| {
            let handle = i.u64("objectHandle").or_else(|| i.u64("object"))?;
            Some((handle, i.text("pObjectName")?))
        }) else {
            return;
        };
        if let Some(&index) = self.alive.get(&handle) {
            self.all[index].name = Some((&*text).into());
        }
    }

    /// Writes them down.
    pub fn finish(self, writer: &mut Writer) -> Result<(), Error> {
        let table = writer.table(schema::objects())?;
        for (number, o) in (1u64..).zip(self.all) {
            writer.row(
                table,
                [
                    number.into(),
                    o.handle.into(),
                    Value::Word(HANDLES[o.ty as usize].name),
                    o.name.map_or(Value::Null, Value::Text),
                    id(o.parent),
                    o.created.0.into(),
                    o.created.1.into(),
                    o.created.2.into(),
                    o.destroyed.map(|d| d.0).into(),
                    o.destroyed.map(|d| d.1).into(),
                ],
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> HandleId {
        handle_named(name).expect("a type")
    }

    #[test]
    fn what_a_pool_holds_ends_with_it_and_an_id_may_live_again() {
        let mut all = Objects::default();
        all.begin(1, of("VkDevice"), 0, (10, 0, 0));
        all.begin(2, of("VkDescriptorPool"), 1, (11, 0, 0));
        all.begin(3, of("VkDescriptorSet"), 2, (12, 0, 0));
        all.end_children(2, (13, 1));
        assert_eq!(
            (all.all[1].destroyed, all.all[2].destroyed),
            (None, Some((13, 1))),
            "the pool is only reset"
        );
        all.begin(3, of("VkDescriptorSet"), 2, (14, 0, 1));
        all.end(1, (15, 2));
        let ended: Vec<_> = all.all.iter().map(|o| o.destroyed.map(|d| d.0)).collect();
        assert_eq!(ended, [Some(15), Some(15), Some(13), Some(15)]);
        assert!(all.alive.is_empty());
    }

    #[test]
    fn an_object_that_is_its_own_parent_ends() {
        let mut all = Objects::default();
        all.begin(1, of("VkDevice"), 1, (10, 0, 0));
        all.end(1, (11, 0));
        assert_eq!(all.all[0].destroyed, Some((11, 0)));
    }
}
