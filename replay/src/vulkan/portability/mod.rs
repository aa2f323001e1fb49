//! What differs between the device that a capture was recorded on and this one: a file a difference, with what was asked for,
//! what is here, how that is bridged, and when it is refused.
//!
//! One table says it ([`Line`]): [`check`] prints it without making a device, a replay makes it before the first one and refuses
//! what it refuses. Guarantees: whatever is refused, everything that is refused is in the table, and nothing of the capture has
//! run on the device yet.

pub(super) mod aligned;
mod alignment;
pub(super) mod binaries;
mod compare;
pub(super) mod descriptor_buffers;
mod exchange;
mod extensions;
mod features;
mod formats;
mod held;
mod limits;
pub mod line;
mod link;
mod memory_types;
pub(super) mod outside;
pub(super) mod queues;
pub(super) mod samples;
pub(super) mod sparse;
pub(super) mod stand_ins;
mod strip;
mod submitted;
mod table;
pub(super) mod unused;
mod versions;
pub(super) mod waiting;

use crate::vulkan::linked_call::{Subscription::After, Subscription::Before, Subscriptions};
pub(super) use aligned::Realigned;
pub(crate) use alignment::refresh as refresh_aligned;
pub(super) use alignment::{memory_written, written as buffer_written};
pub(super) use binaries::create as create_binaries;
pub(super) use extensions::{droppable, extensions};
pub(super) use features::{asks_for_buffer_addresses, compare as features};
pub(super) use held::{signalled, submit};
pub(super) use line::refuse;
pub use line::{Done, Line, Sort};
pub(super) use link::link;
pub(crate) use queues::Folding;
pub(super) use samples::Samples;
pub use table::{Verdict, check, compare};
pub(super) use versions::of_instance as instance_version;

/// What bridges take part in; `link` is the rest.
pub(super) const SUBSCRIPTIONS: Subscriptions = &[
    (&["vkSignalSemaphore"], After(held::signal)),
    (
        &[
            "vkAllocateMemory",
            "vkCreateBuffer",
            "vkCreateImage",
            "vkCreateSemaphore",
            "vkCreateFence",
            "vkCreateShaderModule",
        ],
        Before(outside::made_here),
    ),
    (&["vkCreateSemaphore"], After(outside::semaphore_made)),
    (&["vkDestroySemaphore"], Before(outside::semaphore_gone)),
    (&["vkQueueSubmit", "vkQueueSubmit2"], Before(outside::before_submit)),
    (
        &["vkQueueSubmit", "vkQueueSubmit2", "vkQueueBindSparse", "vkSignalSemaphore"],
        Before(submitted::before_submit),
    ),
    (&["vkCmdCopyBufferToImage", "vkCmdCopyBufferToImage2"], Before(stand_ins::copy)),
    (&["vkCopyMemoryToImage", "vkCopyImageToMemory"], Before(stand_ins::host_copy)),
    (&["vkCmdCopyImageToBuffer", "vkCmdCopyImageToBuffer2"], Before(stand_ins::copy_out)),
    (&["vkCmdCopyImageToBuffer", "vkCmdCopyImageToBuffer2"], After(stand_ins::copied_out)),
    (&["vkCreateImageView"], Before(stand_ins::view)),
    (&["vkCmdClearColorImage"], Before(stand_ins::clear)),
    (
        &["vkCreateGraphicsPipelines", "vkCmdSetDepthBias", "vkCmdSetDepthBias2"],
        Before(stand_ins::depth_bias),
    ),
    (&["vkCreateBuffer"], After(alignment::buffer_made)),
    (&["vkDestroyBuffer"], Before(alignment::buffer_gone)),
    (&["vkCreateDevice"], After(descriptor_buffers::device_made)),
    (&["vkCreateBuffer"], After(descriptor_buffers::buffer_made)),
    (&["vkDestroyBuffer"], Before(descriptor_buffers::buffer_gone)),
    (&["vkCreatePipelineLayout"], Before(descriptor_buffers::pipeline_layout)),
    (&["vkCmdBindDescriptorBuffers"], Before(descriptor_buffers::bind)),
    (
        &["vkCmdSetDescriptorBufferOffsets", "vkCmdSetDescriptorBufferOffsets2"],
        Before(descriptor_buffers::offsets),
    ),
    (
        &["vkCmdCopyBuffer", "vkCmdCopyBuffer2", "vkCmdUpdateBuffer", "vkCmdFillBuffer"],
        After(alignment::recorded),
    ),
    (
        &[
            "vkBeginCommandBuffer",
            "vkCmdPipelineBarrier",
            "vkCmdPipelineBarrier2",
            "vkCmdWaitEvents",
            "vkCmdWaitEvents2",
            "vkCmdCopyImageToBuffer",
            "vkCmdCopyImageToBuffer2",
            "vkCmdCopyQueryPoolResults",
        ],
        After(alignment::waited),
    ),
    (
        &["vkCmdBeginRenderPass", "vkCmdBeginRenderPass2", "vkCmdBeginRendering"],
        Before(alignment::pass_begins),
    ),
    (WRITES, Before(alignment::writes_begin)),
    (WRITES, After(alignment::writes_end)),
    (
        &["vkCmdEndRenderPass", "vkCmdEndRenderPass2", "vkCmdEndRendering", "vkCmdEndRendering2"],
        After(alignment::writes_end),
    ),
];

/// Commands outside of render passes whose shaders write.
const WRITES: &[&str] = &[
    "vkCmdDispatch",
    "vkCmdDispatchBase",
    "vkCmdDispatchIndirect",
    "vkCmdTraceRays",
    "vkCmdTraceRaysIndirect",
    "vkCmdTraceRaysIndirect2",
    "vkCmdExecuteGeneratedCommands",
];
