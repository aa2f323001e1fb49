//! Ray tracing on a device where addresses and shader-group handles are not the captured ones.
//!
//! Addresses inside structs are relocations and need nothing here. Pointers among push constants, and in what the host
//! writes to memory, are translated as they come (`words.rs`). Instances of top-level builds (`build.rs`) and records of
//! shader binding tables (`trace.rs`) are translated on the GPU, right before they are used, into copies of our own. The
//! translating dispatch takes part in the application's command buffer; what it disturbs (compute pipeline, push
//! constants) is put back (`commands.rs`).
//!
//! Structures are made as large as this device wants them (`structures.rs`, `sizes.rs`, `queries.rs`), copies and
//! serialised ones follow (`copies.rs`), and a snapshot's are built again (`snapshot.rs`). What builds read can be copied for
//! hooks (`inputs.rs`).
//!
//! Refuses by name: host builds, whose input no capture holds; and what the older and the special extensions keep
//! references and addresses in (`refused.rs`).

mod build;
mod commands;
mod copies;
mod data_pointers;
mod device;
mod geometry;
mod groups;
mod indirect;
pub mod inputs;
mod noted;
mod own;
mod patcher;
mod queries;
mod recording;
mod refused;
mod sizes;
mod snapshot;
pub(super) mod spare;
mod stacks;
pub(super) mod state;
mod structures;
mod tables;
mod trace;

use crate::vulkan::linked_call::{Subscription::After, Subscription::Before, Subscriptions};
pub use commands::build;
pub use copies::{
    copy, deserialise, host_build, host_copy, host_deserialise, host_properties, host_serialise, serialise,
};
pub(crate) use data_pointers::{buffer_written, memory_written};
pub(crate) use device::{collect, device_gone};
pub use groups::{create_pipelines, group_handles};
pub use indirect::indirect_build;
pub(crate) use patcher::{arguments, dispatch, translation};
pub use recording::wait_for_all;
pub(crate) use recording::{keep, put_back};
pub(crate) use refused::is_refused;
pub use refused::refused;
pub(crate) use snapshot::{ends, loads, meta};
pub(crate) use spare::{Own, Spare};
pub use state::{Counters, Structure};
pub(crate) use structures::foresee;
pub use structures::{create, destroy};
pub(crate) use tables::refresh;
pub(crate) use trace::captured_handle_bytes;

/// What is translated in commands, and what is learnt from answers.
pub(super) const SUBSCRIPTIONS: Subscriptions = &[
    (&["vkCreateDevice"], After(device::device_made)),
    (&["vkBeginCommandBuffer"], Before(commands::begin)),
    (&["vkFreeCommandBuffers"], Before(commands::free)),
    (&["vkCmdBindPipeline"], Before(commands::bind_pipeline)),
    (&["vkCmdUpdateBuffer"], Before(data_pointers::update_buffer)),
    (&["vkCmdPushConstants"], Before(commands::push_constants)),
    (&["vkCmdPushConstants2"], Before(commands::push_constants2)),
    (&["vkGetAccelerationStructureBuildSizes"], After(structures::build_sizes)),
    (&["vkGetAccelerationStructureDeviceAddress"], After(structures::address)),
    (&["vkCreateQueryPool"], After(queries::create_pool)),
    (&["vkDestroyQueryPool"], Before(queries::destroy_pool)),
    (&["vkCmdWriteAccelerationStructuresProperties"], Before(queries::ask)),
    (&["vkGetQueryPoolResults"], After(queries::learn)),
    (&["vkGetRayTracingShaderGroupStackSize"], After(groups::group_stack_size)),
    (&["vkCmdSetRayTracingPipelineStackSize"], Before(groups::set_stack_size)),
    (&["vkGetDeviceAccelerationStructureCompatibility"], After(copies::compatibility)),
    (&["vkCmdTraceRays", "vkCmdTraceRaysIndirect"], Before(trace::trace)),
    (&["vkCmdTraceRaysIndirect2"], Before(trace::trace_indirect2)),
];
