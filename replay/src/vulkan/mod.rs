//! The Vulkan backend: calls the driver, with the few commands that mean something of their own handled by name.
//!
//! Most calls are linked and invoked through the function table and nothing else. A table of handlers (`handlers.rs`), built once from
//! names, says for each command whether it is answered from the capture, has a typed handler, or is plain (`invoke.rs`). What they all
//! know is in `state.rs`.
#![allow(unsafe_code)]

mod addresses;
mod answered;
mod arguments;
mod cleanup;
mod clocks;
pub(crate) mod copyable;
pub mod crash;
pub(crate) mod debug;
mod debug_names;
mod descriptors;
mod device;
pub mod driver;
mod exact;
pub mod fault;
mod features;
pub(crate) mod format;
pub(crate) mod gpu;
mod handlers;
mod init;
mod init_draw;
pub mod inspect;
mod instance;
mod invoke;
mod linked_call;
pub(crate) mod live;
pub mod memory;
mod multi_draw;
mod order;
#[cfg(test)]
mod own_shaders;
mod patience;
#[cfg(target_os = "linux")]
mod pin;
mod pipeline;
pub mod portability;
mod presenting;
mod queue;
pub(crate) mod ray;
pub(crate) mod region;
mod resources;
mod shader_pointers;
mod staging;
mod state;
mod statistics;
mod surface;
mod swapchain;
mod table;
mod upload;
mod wait;
mod watch;
pub mod watchdog;

pub(crate) use arguments::{new_object, require_handles};
pub use clocks::{Clocks, Reading};
pub use exact::Counts as ExactCounts;
pub use gpu::{Gpu, list_gpus};
pub use invoke::Driver;
pub use live::{BufferState, DeviceState, ImageState, QueueState, SwapchainState};
pub(crate) use order::was_reset;
pub use ray::{Counters, Structure, inputs, wait_for_all};
pub use state::Vulkan;
pub use statistics::Statistics;
pub use swapchain::presented;
