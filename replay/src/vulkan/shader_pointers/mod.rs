//! What shaders say about pointers: which bytes of their push constants, buffers and records are pointers, and which are
//! numbers, whatever they look like.
//!
//! Shader modules are read by the crate `pointers` when the world's pipelines first need it. Push constants (`push.rs`) are then
//! no guess. Words that the host wrote and that were left alone, because they may be numbers, are kept in a journal
//! (`journal.rs`); what a submission's shaders find there as pointers (`walk.rs`, by what the world says of the recordings) is
//! translated before it. A device without buffer addresses costs nothing here.
//!
//! Not known, and left to what words look like (`ray/data_pointers.rs`): push constants of shader objects, shaders given by
//! identifier, layouts that no pipeline was made with.

mod journal;
mod push;
#[cfg(test)]
mod tests;
mod walk;

pub(crate) use journal::Word;
pub(crate) use push::Verdict;
pub(crate) use walk::before_submit;

use crate::objects::Objects;
use crate::vulkan::Vulkan;
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use pointers::{Checked, Module};
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use world::{Depth, World, objects as made};

/// See the module's header.
#[derive(Default)]
pub struct ShaderPointers {
    /// A device with buffer addresses exists.
    on: bool,
    /// Modules that were read, by where the world has them; none where one is not understood.
    modules: HashMap<*const made::Module, (Weak<made::Module>, Option<Rc<Module>>)>,
    /// By pipeline layout, the shaders of every pipeline made with it.
    layouts: HashMap<u64, Rc<Shaders>>,
    /// How many pipelines there were when `layouts` was empty.
    pipelines: u64,
    /// Some module was not understood, and nobody has been told.
    pub(crate) untold: bool,
    pub(crate) journal: journal::Journal,
}

/// The shaders of what is run, or of everything with one layout.
#[derive(Clone, Default)]
pub(crate) struct Shaders {
    pub stages: Vec<Stage>,
    /// Some shader is not known.
    pub open: bool,
}

/// A shader that was read.
#[derive(Clone)]
pub(crate) struct Stage {
    pub flags: u32,
    pub module: Rc<Module>,
    pub entry: usize,
}

/// A device with buffer addresses was made.
pub(crate) fn device_made(vk: &mut Vulkan, objects: &mut Objects, call: &Call) {
    vk.shader_pointers.on = true;
    let info = View::call(&call.image).one("pCreateInfo");
    let buffers = info.and_then(|i| i.next("VkPhysicalDeviceDescriptorBufferFeaturesEXT"));
    let buffers = buffers.is_some_and(|b| b.u32("descriptorBuffer") == Some(1));
    // What descriptor buffers hold are bytes of memory.
    objects.follow_to(if buffers { Depth::Execution } else { Depth::Commands });
}

impl ShaderPointers {
    /// What a module of the world says.
    fn read(&mut self, module: &Rc<made::Module>) -> Option<Rc<Module>> {
        if let Some((_, read)) = self.modules.get(&Rc::as_ptr(module)) {
            return read.clone();
        }
        let read = Checked::new(&module.words).map(|words| Rc::new(Module::read(words)));
        if let Err(e) = &read {
            tracing::debug!("a shader module: {e}");
            self.untold |= !module.words.is_empty();
        }
        let read = read.ok();
        // (a place is not used again while somebody still points to it)
        if self.modules.len().is_power_of_two() {
            self.modules.retain(|_, m| m.0.strong_count() > 0);
        }
        self.modules.insert(Rc::as_ptr(module), (Rc::downgrade(module), read.clone()));
        read
    }

    /// Adds the shaders of something that is run.
    fn add(&mut self, stages: &[made::Stage], to: &mut Shaders) {
        for s in stages {
            let found = self.read(&s.module).and_then(|module| {
                let entry = module.entries.iter().position(|e| e.name == *s.entry)?;
                Some(Stage { flags: s.stage, module, entry })
            });
            match found {
                Some(stage) => to.add(stage),
                None => to.open = true,
            }
        }
    }

    /// The shaders of every pipeline that was made with a layout.
    pub(crate) fn of_layout(&mut self, world: &World, layout: u64) -> Rc<Shaders> {
        if self.pipelines != world.pipelines_made {
            self.layouts.clear();
            self.pipelines = world.pipelines_made;
        }
        if let Some(known) = self.layouts.get(&layout) {
            return Rc::clone(known);
        }
        let mut shaders = Shaders::default();
        if self.on {
            let with = |p: &&Rc<made::Pipeline>| p.layout.as_ref().is_some_and(|l| l.id == layout);
            for p in world.pipelines.values().filter(with) {
                self.add(&p.stages, &mut shaders);
            }
        }
        let shaders = Rc::new(shaders);
        self.layouts.insert(layout, Rc::clone(&shaders));
        shaders
    }
}

impl Shaders {
    fn add(&mut self, stage: Stage) {
        let same = |s: &Stage| {
            Rc::ptr_eq(&s.module, &stage.module) && (s.entry, s.flags) == (stage.entry, stage.flags)
        };
        if !self.stages.iter().any(same) {
            self.stages.push(stage);
        }
    }
}
