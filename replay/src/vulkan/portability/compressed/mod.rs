//! Images of compressed formats (BC, ETC2, EAC, ASTC LDR) that this device does not have.
//!
//! Asked for: images of such a format. Bridged: they are made in an uncompressed format ([`crate::texels::stand_ins`] says which),
//! wherever the capture names the format; what is uploaded to them is decoded when it is uploaded: copies from buffers when they
//! are submitted (`copies.rs`, `submitted.rs`), copies from the host's memory and a snapshot's contents at once (`host.rs`).
//! Filters work on the decoded values, as they do with the blocks. Costs: the memory of the images, four to eight times that
//! of their blocks; that of the decoded texels until their command buffer is recorded anew; the time of decoding; and, only in
//! such replays, following what memory contains. Told in the report's notes ([`tell`]).
//!
//! Refused by name (`negotiate.rs`), with the first call that does it: whatever needs the blocks themselves, which are copies
//! out of such images, copies between them and others, views in another format, linear tiling; HDR profiles of ASTC; and memory
//! modes in which an image has to lie where it lay.

mod copies;
mod host;
mod negotiate;
mod submitted;

use crate::report::Report;
use crate::vulkan::{ImageState, Vulkan};
use ash::vk;
pub(super) use copies::copy;
pub(in crate::vulkan) use copies::device_gone;
pub(super) use host::host_copy;
pub(in crate::vulkan) use host::snapshot;
pub(super) use negotiate::{bridge_features, replaced};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
pub(super) use submitted::before_submit;
use world::bytes::texels::{Shape, Texels};

/// By captured format: that here.
pub type StandIns = BTreeMap<u32, u32>;

/// See the module's header.
#[derive(Default)]
pub struct Compressed {
    pub(super) stand_ins: StandIns,
    /// Copies that are recorded: by the recording's number, and the command's index in it.
    copies: HashMap<(u64, u32), copies::Copy>,
    /// What the host copies in the call under way.
    host: Vec<Vec<u8>>,
    cost: Cost,
}

/// What it took.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    images: u64,
    /// Bytes of images beyond those of their blocks.
    more_bytes: u64,
    texels: u64,
    decoding: Duration,
    /// Bytes that hold decoded texels for copies, now and at most.
    staged: u64,
    most_staged: u64,
    read_back: u64,
}

impl Compressed {
    /// With these.
    pub(super) fn new(stand_ins: StandIns) -> Self {
        Compressed { stand_ins, ..Compressed::default() }
    }
    /// No format has a stand-in.
    pub fn is_empty(&self) -> bool {
        self.stand_ins.is_empty()
    }
}

/// Flags of an image: its blocks are nothing to look at any more. Called for images with a stand-in.
pub(in crate::vulkan) fn flags(flags: vk::ImageCreateFlags) -> vk::ImageCreateFlags {
    flags & !vk::ImageCreateFlags::BLOCK_TEXEL_VIEW_COMPATIBLE
}

/// An image of a format with a stand-in was made.
pub(in crate::vulkan) fn made(vk: &mut Vulkan, image: &ImageState) {
    let blocks = Texels::new(&shape(image)).map_or(0, |t| t.size);
    let cost = &mut vk.compressed.cost;
    cost.images += 1;
    cost.more_bytes = cost.more_bytes.saturating_add(image.size.saturating_sub(blocks));
}

/// As it was captured.
fn shape(i: &ImageState) -> Shape {
    Shape {
        format: i.captured_format.as_raw(),
        extent: [i.extent.width, i.extent.height, i.extent.depth],
        levels: i.levels,
        layers: i.layers,
        samples: 1,
    }
}

/// What it took, for the report.
pub(in crate::vulkan) fn tell(vk: &Vulkan, report: &mut Report) {
    let c = &vk.compressed.cost;
    for (what, n) in [
        ("images of compressed formats made in uncompressed ones", c.images),
        ("bytes that these take beyond their blocks", c.more_bytes),
        ("texels decoded", c.texels),
        ("microseconds of decoding texels", c.decoding.as_micros() as u64),
        ("bytes of decoded texels kept for copies, at most", c.most_staged),
        ("copies whose blocks were read back from the device", c.read_back),
    ] {
        if n > 0 {
            report.notes.insert(what.to_owned(), n);
        }
    }
}
