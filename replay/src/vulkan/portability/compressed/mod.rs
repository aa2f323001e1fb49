//! Images of compressed formats (BC, ETC2, EAC, ASTC LDR) that this device does not have.
//!
//! Asked for: images of such a format. Bridged: they are made in an uncompressed format ([`crate::texels::stand_ins`] says which),
//! wherever the capture names the format; what is uploaded to them is decoded when it is uploaded: copies from buffers when they
//! are submitted (`copies.rs`, `submitted.rs`), copies from the host's memory and a snapshot's contents at once (`host.rs`).
//! Filters work on the decoded values, as they do with the blocks. Costs: the memory of the images, four to eight times that
//! of their blocks; that of the decoded texels until their command buffer is recorded anew; the time of decoding; and, only in
//! such replays, following what memory contains. Told in the report's notes (`images.rs`).
//!
//! Refused by name (`negotiate.rs`), with the first call that does it: whatever needs the blocks themselves, which are copies
//! out of such images, copies between them and others, views in another format, linear tiling; HDR profiles of ASTC; and memory
//! modes in which an image has to lie where it lay.

mod copies;
mod host;
mod images;
mod negotiate;
pub(in crate::vulkan) mod state;
mod submitted;

pub(super) use copies::copy;
pub(in crate::vulkan) use copies::device_gone;
pub(super) use host::host_copy;
pub(in crate::vulkan) use host::snapshot;
pub(in crate::vulkan) use images::{flags, made, tell};
pub(super) use negotiate::{bridge_features, replaced};
pub use state::{Compressed, StandIns};
pub(super) use submitted::{Decoding, begins};
