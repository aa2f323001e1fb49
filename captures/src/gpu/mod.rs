//! What every scene needs of Vulkan, and nothing that only one scene needs.
//!
//! [`Gpu`] is the instance, a headless surface, one device and its one queue, and the list of everything
//! made on that device. The modules beside it add to it what their names say. Scenes call ash directly for
//! the rest: a sample should show the calls it makes.
//!
//! Guarantees: a handle that was adopted has a debug name where VK_EXT_debug_utils exists, and is destroyed
//! once, after the device is idle. Refuses: more than one device, queue or thread.

mod context;
mod debug;
mod device;
mod memory;
mod owned;
pub mod pipeline;
mod present;
pub mod ray;
pub mod readback;
pub mod sets;
pub mod swapchain;

pub use context::Gpu;
pub use debug::Colour;
pub use device::Needs;
pub use memory::{Buffer, Image, ImageUse};
