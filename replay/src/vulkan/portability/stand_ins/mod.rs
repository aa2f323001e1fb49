//! Images of formats that this device does not have, or not for what they are used for.
//!
//! Asked for: images of a compressed format (BC, ETC2, EAC, ASTC LDR), of depth with or without stencil, of three channels, of
//! channels of a few bits. Bridged: they are made in another format ([`crate::texels::stand_ins`] says which), wherever the
//! capture names the format of an image; what is uploaded to them is translated when it is uploaded: copies from buffers when
//! they are submitted (`copies.rs`, `submitted.rs`), copies from the host's memory and a snapshot's contents at once
//! (`host.rs`). What is copied out of them is translated back on the device, where the captured bits follow from what stands in
//! (`packs.rs`). Channels that the captured format lacks are shown as if they were missing (`images.rs`). Costs: the memory of
//! the images; that of the translated texels until their command buffer is recorded anew; the time of translating; and, only in
//! such replays, following what memory contains. Told in the report's notes (`images.rs`).
//!
//! Not the same: values that are rendered are kept as finely as the stand-in does, floats of depth compare with what is beyond
//! 0 and 1 as it is, and the constant part of a depth bias is in units of the stand-in, which is said.
//!
//! Refused by name (`negotiate.rs`), with the first call that does it: copies out of compressed images, copies between images
//! in different formats, views in another format, linear tiling, swapchains; of images with fewer channels whatever renders to
//! them or blits from others, and of all of these storing from shaders; HDR profiles of ASTC; stencil alone; and memory modes
//! in which an image has to lie where it lay.

mod copies;
mod host;
mod images;
mod negotiate;
mod packs;
pub(in crate::vulkan) mod state;
mod submitted;

use crate::vulkan::Vulkan;
pub(super) use copies::copy;
pub(super) use host::host_copy;
pub(in crate::vulkan) use host::snapshot;
pub(super) use images::{clear, depth_bias, view};
pub(in crate::vulkan) use images::{flags, made, tell};
pub(super) use negotiate::{bridge_features, how, replaced};
pub(super) use packs::{copied_out, copy_out, packing_needs};
pub use state::{StandInImages, StandIns};
pub(super) use submitted::{Decoding, begins};

/// A device is about to go, and idle.
pub(in crate::vulkan) fn device_gone(vk: &mut Vulkan, device: u64) {
    copies::device_gone(vk, device);
    packs::device_gone(vk, device);
}
