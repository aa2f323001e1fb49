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
pub(super) mod shaders;
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
use world::Depth;

/// A device with buffer addresses was made.
pub(crate) fn device_made(vk: &mut Vulkan, objects: &mut Objects, call: &Call) {
    vk.shader_pointers.on = true;
    let info = View::call(&call.image).one("pCreateInfo");
    let buffers = info.and_then(|i| i.next("VkPhysicalDeviceDescriptorBufferFeaturesEXT"));
    let buffers = buffers.is_some_and(|b| b.u32("descriptorBuffer") == Some(1));
    // What descriptor buffers hold are bytes of memory.
    objects.follow_to(if buffers { Depth::Execution } else { Depth::Commands });
}
