//! Descriptors: pools that hold enough (`pools.rs`), the data of update templates (`template.rs`), and the driver's own bytes
//! in descriptor buffers (`buffers.rs`).

mod buffers;
mod pools;
pub(super) mod state;
mod table;
mod template;
pub(super) mod usage;

use crate::vulkan::linked_call::{Subscription::After, Subscription::Before, Subscriptions};
pub use buffers::get;
pub(crate) use buffers::{loaded, updated, written};
pub use pools::allocate;
pub(crate) use table::Piece;

/// Pools, templates, and buffers that hold descriptors.
pub(super) const SUBSCRIPTIONS: Subscriptions = &[
    (&["vkCreateDescriptorPool"], After(pools::create)),
    (&["vkFreeDescriptorSets"], Before(pools::free)),
    (&["vkResetDescriptorPool", "vkDestroyDescriptorPool"], Before(pools::empty)),
    (&["vkCreateDescriptorUpdateTemplate"], Before(template::create)),
    (&["vkUpdateDescriptorSetWithTemplate", "vkCmdPushDescriptorSetWithTemplate"], Before(template::update)),
    (&["vkCmdPushDescriptorSetWithTemplate2"], Before(template::push2)),
    (&["vkCmdCopyBuffer", "vkCmdCopyBuffer2"], Before(buffers::copy)),
    (&["vkGetDescriptorSetLayoutSize", "vkGetDescriptorSetLayoutBindingOffset"], After(buffers::layout)),
    (&["vkCreateBuffer"], After(buffers::buffer_made)),
    (&["vkDestroyBuffer"], Before(buffers::buffer_gone)),
];
