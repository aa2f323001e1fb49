//! Where functions and blocks of the original are in a module that changes: remembered, and looked for again after a
//! change.

use crate::spirv::{Function, Module};
use std::collections::HashMap;
use std::sync::Mutex;

/// See the module's header.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    functions: Mutex<HashMap<u32, usize>>,
    blocks: Mutex<HashMap<u32, usize>>,
}

impl Clone for Lookup {
    fn clone(&self) -> Self {
        Lookup::default()
    }
}

/// Where it is, by what was remembered; everything is remembered anew if that is not so any more.
fn find(
    known: &Mutex<HashMap<u32, usize>>,
    id: u32,
    is: impl Fn(usize) -> bool,
    all: impl Iterator<Item = (usize, u32)>,
) -> Option<usize> {
    let mut known = known.lock().unwrap_or_else(|e| e.into_inner());
    if let Some(&at) = known.get(&id).filter(|&&at| is(at)) {
        return Some(at);
    }
    known.extend(all.map(|(at, id)| (id, at)));
    known.get(&id).copied().filter(|&at| is(at))
}

impl Lookup {
    pub fn function(&self, m: &Module, id: u32) -> Option<usize> {
        let is = |at: usize| m.functions.get(at).is_some_and(|f| f.id() == id);
        find(&self.functions, id, is, m.functions.iter().map(Function::id).enumerate())
    }

    pub fn block(&self, f: &Function, label: u32) -> Option<usize> {
        let is = |at: usize| f.blocks.get(at).is_some_and(|b| b.label == label);
        find(&self.blocks, label, is, f.blocks.iter().map(|b| b.label).enumerate())
    }
}
