//! Descriptor buffers (VK_EXT_descriptor_buffer) of a driver whose descriptors have other sizes than this one's.
//!
//! Asked for: a device with descriptor buffers, where the program was told other sizes of descriptors or another alignment than
//! this device has. Bridged: beside each descriptor buffer lies another one, larger by one factor for all of them, that this
//! device reads in its stead: bindings name its address, offsets are multiplied (`calls.rs`). Before a submission, and as its
//! copies are followed ([`world::Follow::before`]), each set that an invocation finds is written there as this device lays it
//! out: where the capture's bindings lie is what vkGetDescriptorSetLayoutBindingOffsetEXT said, what their bytes mean what
//! vkGetDescriptorEXT was asked (`submitted.rs`). Costs: memory, following what memory contains, and a look at each set.
//!
//! Refused by name: a set that is larger here than the factor has room for, and, as everywhere, descriptors in a snapshot.
//! Left out and counted: bytes that no descriptor was got for, as those that a program leaves behind are. Not translated:
//! addresses in inline uniform blocks. In a repeated frame a set is what it was when the frame was followed last; a frame that
//! changes a set behind its use shows another picture then, which repeating finds.

mod calls;
mod negotiate;
mod state;
mod submitted;

pub(super) use calls::{bind, buffer_gone, buffer_made, device_made, offsets, pipeline_layout};
pub(in crate::vulkan) use calls::{device_gone, get, set_size};
pub(in crate::vulkan) use state::{DescriptorBuffers, Sizes};
pub(super) use submitted::invoked;
pub(in crate::vulkan) use submitted::tell;
