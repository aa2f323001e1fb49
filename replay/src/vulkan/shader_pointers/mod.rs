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

use crate::error::Result;
use crate::vulkan::arguments::new_object;
use crate::vulkan::linked_call::{LinkedCall, Subscription::After, Subscription::Before, Subscriptions};
use gfxr_parse::param;
use gfxr_parse::view::View;
use world::{Depth, Outcome};

/// Devices with addresses, and buffers whose words are no longer of interest.
pub(super) const SUBSCRIPTIONS: Subscriptions =
    &[(&["vkCreateDevice"], After(device_made)), (&["vkDestroyBuffer"], Before(buffer_gone))];

/// A device with buffer addresses was made.
fn device_made(c: &mut LinkedCall<'_>, outcome: Outcome) -> Result<()> {
    let LinkedCall { vk, objects, call, .. } = c;
    let made = || vk.devices.get(&new_object(call).ok()?.0);
    if outcome.result() < 0 || !made().is_some_and(|d| d.buffer_addresses) {
        return Ok(());
    }
    vk.shader_pointers.on = true;
    let info = View::call(&call.image).one("pCreateInfo");
    let buffers = info.and_then(|i| i.next("VkPhysicalDeviceDescriptorBufferFeaturesEXT"));
    let buffers = buffers.is_some_and(|b| b.u32("descriptorBuffer") == Some(1));
    // What descriptor buffers hold are bytes of memory.
    objects.follow_to(if buffers { Depth::Execution } else { Depth::Commands });
    Ok(())
}

/// A buffer goes.
fn buffer_gone(c: &mut LinkedCall<'_>) -> Result<()> {
    c.vk.shader_pointers.journal.forget(c.call.image.u64(param!("vkDestroyBuffer", "buffer")));
    Ok(())
}
