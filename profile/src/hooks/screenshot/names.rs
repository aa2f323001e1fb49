//! Names that the application gave to images and buffers, to find one again.
//!
//! Guarantees: a new name replaces the old one. Knows nothing of what still exists; whoever asks filters.

use super::super::debug_names;
use gfxr_parse::image::Image;
use std::collections::HashMap;

/// Commands that name something.
pub use super::super::debug_names::COMMANDS;

/// VkObjectType, and the older VkDebugReportObjectTypeEXT, of buffers and images: the numbers are the same.
const TYPES: [u32; 2] = [9, 10];

/// See the module's header.
#[derive(Debug, Default)]
pub struct Names(HashMap<u64, String>);

impl Names {
    /// Looks at one of [`COMMANDS`].
    pub fn see(&mut self, image: &Image) {
        let Some(n) = debug_names::named(image).filter(|n| TYPES.contains(&n.kind)) else { return };
        if n.name.is_empty() {
            self.0.remove(&n.object);
        } else {
            self.0.insert(n.object, n.name);
        }
    }

    /// Everything of this name, by id.
    pub fn ids(&self, name: &str) -> Vec<u64> {
        let mut ids: Vec<u64> = self.0.iter().filter(|(_, n)| *n == name).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids
    }
}
