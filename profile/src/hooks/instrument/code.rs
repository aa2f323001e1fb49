//! Shader modules by captured id, and their rewriting ahead of the pipelines that use them.
//!
//! Guarantees: a pipeline waits only for what is not rewritten yet. A pass that fails says so where the pipeline is made.

use crate::rewrite::{Key, Variants, entries};
use crate::{ShaderHash, Stage};
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
    pub fn key(&self, stage: Stage, name: &str, actions: bool) -> Option<Key> {
        let (model, name, _) = self.entries.iter().find(|(_, n, s)| *s == stage && n == name)?;
        Some(Key { shader: self.hash, model: *model, name: name.clone(), actions })
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
    pub fn made(&mut self, id: u64, code: Code, variants: &Arc<Variants>, wanted: impl Fn(Stage) -> bool) {
        for (model, name, _) in code.entries.iter().filter(|e| wanted(e.2)) {
            // (few layouts leave no room)
            let key = Key { shader: code.hash, model: *model, name: name.clone(), actions: true };
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
