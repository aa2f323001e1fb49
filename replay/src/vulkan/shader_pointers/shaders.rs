//! The shaders that were read, and which of them see the push constants of a layout.

use super::journal::Journal;
use pointers::{Checked, Module};
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use world::{World, objects as made};

/// See the module's header.
#[derive(Default)]
pub struct ShaderPointers {
    /// A device with buffer addresses exists.
    pub(crate) on: bool,
    /// Modules that were read, by where the world has them; none where one is not understood.
    pub(super) modules: HashMap<*const made::Module, (Weak<made::Module>, Option<Rc<Module>>)>,
    /// By pipeline layout, the shaders of every pipeline made with it.
    pub(super) layouts: HashMap<u64, Rc<Shaders>>,
    /// How many pipelines there were when `layouts` was empty.
    pub(super) pipelines: u64,
    /// Some module was not understood, and nobody has been told.
    pub(crate) untold: bool,
    pub(crate) journal: Journal,
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

impl ShaderPointers {
    /// What a module of the world says.
    pub(super) fn read(&mut self, module: &Rc<made::Module>) -> Option<Rc<Module>> {
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
    pub(super) fn add(&mut self, stages: &[made::Stage], to: &mut Shaders) {
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
    pub(super) fn add(&mut self, stage: Stage) {
        let same = |s: &Stage| {
            Rc::ptr_eq(&s.module, &stage.module) && (s.entry, s.flags) == (stage.entry, stage.flags)
        };
        if !self.stages.iter().any(same) {
            self.stages.push(stage);
        }
    }
}
