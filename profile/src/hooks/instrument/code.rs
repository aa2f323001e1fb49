//! Shader modules by captured id, their rewriting ahead of the pipelines that use them, and the modules of ours that a call which
//! makes pipelines is given.
//!
//! Guarantees: a pipeline waits only for what is not rewritten yet. A pass that fails says so where the pipeline is made.

use crate::rewrite::{Key, Variant, Variants, entries};
use crate::{ShaderHash, Stage};
use replay::ash::vk;
use replay::error::{Error, Result};
use replay::vulkan::Vulkan;
use rspirv::spirv::ExecutionModel;
use std::collections::HashMap;
use std::sync::Arc;

/// A module.
#[derive(Clone, Debug)]
pub struct Code {
    /// As the application made it.
    pub words: Arc<[u32]>,
    /// Its hash.
    pub hash: ShaderHash,
    entries: Vec<(ExecutionModel, String, Stage)>,
}

impl Code {
    /// Of SPIR-V as bytes.
    pub fn new(bytes: &[u8]) -> Self {
        let words: Arc<[u32]> =
            bytes.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().expect("4 bytes"))).collect();
        Code { hash: ShaderHash::of(&words), entries: entries(&words), words }
    }

    /// The entry point of this name and stage, for a pipeline before whose actions something can be pushed, or not.
    pub fn key(&self, stage: Stage, name: &str, actions: bool, replay: u32) -> Option<Key> {
        let (model, name, _) = self.entries.iter().find(|(_, n, s)| *s == stage && n == name)?;
        Some(Key { shader: self.hash, model: *model, name: name.clone(), actions, replay })
    }

    /// The stages that it has entry points for.
    pub fn stages(&self) -> impl Iterator<Item = Stage> + '_ {
        self.entries.iter().map(|e| e.2)
    }
}

/// See the module's header.
#[derive(Default)]
pub struct Modules(HashMap<u64, Code>);

impl Modules {
    /// A module is made: its entry points that are `wanted` are rewritten meanwhile.
    pub fn made(
        &mut self,
        id: u64,
        code: Code,
        variants: &Arc<Variants>,
        replay: u32,
        wanted: impl Fn(Stage) -> bool,
    ) {
        for (model, name, _) in code.entries.iter().filter(|e| wanted(e.2)) {
            // (few layouts leave no room)
            let key = Key { shader: code.hash, model: *model, name: name.clone(), actions: true, replay };
            let (variants, words) = (variants.clone(), code.words.clone());
            rayon::spawn(move || {
                // A pass that panics does so again on the thread that waits for its result, where it is reported.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| variants.get(&key, &words)));
            });
        }
        self.0.insert(id, code);
    }

    /// One that was made.
    pub fn get(&self, id: u64) -> Option<&Code> {
        self.0.get(&id)
    }

    /// A module is gone.
    pub fn gone(&mut self, id: u64) {
        self.0.remove(&id);
    }
}

/// What a call's changed arguments point to.
#[derive(Default)]
pub struct Kept {
    /// The captured device of the call.
    pub device: u64,
    /// Where the device has actions pushed.
    pub action_offset: Option<u32>,
    modules: Vec<(u32, vk::ShaderModule)>,
    words: Vec<Arc<Vec<u32>>>,
}

impl Kept {
    /// The call was made.
    pub fn give_back(&mut self, vk: &Vulkan) {
        if let Ok(d) = vk.device(self.device) {
            for (_, m) in self.modules.drain(..) {
                // SAFETY: ours; a module may go once the pipeline is made.
                unsafe { d.ash.destroy_shader_module(m, None) };
            }
        }
        *self = Kept::default();
    }

    /// The module of a variant, made once a call.
    pub fn module(&mut self, vk: &Vulkan, number: u32, variant: &Variant) -> Result<vk::ShaderModule> {
        if let Some((_, m)) = self.modules.iter().find(|m| m.0 == number) {
            return Ok(*m);
        }
        let words = self.own_words(variant);
        let stripped = vk.without_unused(&words);
        let info = vk::ShaderModuleCreateInfo::default().code(stripped.as_deref().unwrap_or(&words));
        // SAFETY: a plain creation; the words are SPIR-V that this device can run, as the plan made sure.
        let made = unsafe { vk.device(self.device)?.ash.create_shader_module(&info, None) };
        let module = made.map_err(|e| Error::driver("vkCreateShaderModule", e))?;
        self.modules.push((number, module));
        Ok(module)
    }

    /// A variant's words for this device.
    fn own_words<'v>(&self, variant: &'v Variant) -> std::borrow::Cow<'v, [u32]> {
        match self.action_offset {
            Some(offset) if variant.action_offset.is_some() || variant.given_offset.is_some() => {
                let mut words = variant.words.clone();
                variant.set_offsets(&mut words, offset);
                words.into()
            }
            _ => variant.words.as_slice().into(),
        }
    }

    /// Words that a struct of the call will point to.
    pub fn words(&mut self, vk: &Vulkan, variant: &Variant) -> &[u32] {
        let own = self.own_words(variant);
        let words = vk.without_unused(&own).unwrap_or_else(|| own.into_owned());
        self.words.push(Arc::new(words));
        self.words.last().expect("just pushed")
    }
}
