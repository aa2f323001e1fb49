//! Names that the application gave to images and buffers, to find one again.
//!
//! Guarantees: a new name replaces the old one. Knows nothing of what still exists; whoever asks filters.

use gfxr_parse::image::Image;
use gfxr_parse::view::View;
use std::collections::HashMap;

/// Commands that name something.
pub const COMMANDS: &[&str] = &["vkSetDebugUtilsObjectNameEXT", "vkDebugMarkerSetObjectNameEXT"];

/// VkObjectType, and the older VkDebugReportObjectTypeEXT, of buffers and images: the numbers are the same.
const TYPES: [u32; 2] = [9, 10];

/// See the module's header.
#[derive(Debug, Default)]
pub struct Names(HashMap<u64, String>);

impl Names {
    /// Looks at one of [`COMMANDS`].
    pub fn see(&mut self, image: &Image) {
        let Some(info) = View::call(image).one("pNameInfo") else { return };
        let id = info.u64("objectHandle").or_else(|| info.u64("object"));
        let (Some(ty), Some(id)) = (info.u32("objectType"), id) else { return };
        if !TYPES.contains(&ty) {
            return;
        }
        match info.text("pObjectName") {
            Some(name) if !name.is_empty() => {
                self.0.insert(id, name.into_owned());
            }
            _ => {
                self.0.remove(&id);
            }
        }
    }

    /// Everything of this name, by id.
    pub fn ids(&self, name: &str) -> Vec<u64> {
        let mut ids: Vec<u64> = self.0.iter().filter(|(_, n)| *n == name).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids
    }
}
