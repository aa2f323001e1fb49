//! What is kept of images with a stand-in: which formats have one, the copies that are recorded, and what it all took.

use crate::texels::Packing;
use crate::vulkan::memory::Alloc;
use ash::vk;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use world::bytes::texels::Rows;

/// By captured format: that here.
pub type StandIns = BTreeMap<u32, u32>;

/// See the module's header; without stand-ins nothing is kept.
#[derive(Default)]
pub struct StandInImages {
    pub(in super::super) formats: StandIns,
    /// Images of such formats are copied to buffers.
    pub(in crate::vulkan) packs: bool,
    /// Copies that are recorded: by the recording's number, and the command's index in it.
    pub(super) copies: HashMap<(u64, u32), Copy>,
    /// What the host copies in the call under way.
    pub(super) host: Vec<Vec<u8>>,
    /// What makes texels captured ones again, by device.
    pub(super) packers: HashMap<u64, Packer>,
    /// The copy out of an image that is being recorded.
    pub(super) out: Option<Out>,
    /// Submissions and signals so far.
    pub(super) calls: u64,
    pub(super) cost: Cost,
}

/// What it took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) images: u64,
    /// Bytes of images beyond those of their blocks.
    pub(super) more_bytes: u64,
    pub(super) texels: u64,
    pub(super) decoding: Duration,
    /// Bytes that hold texels for copies, now and at most.
    pub(super) staged: u64,
    pub(super) most_staged: u64,
    pub(super) read_back: u64,
    /// Regions that are copied out of images.
    pub(super) copied_out: u64,
}

impl StandInImages {
    /// With these; `packs`: images of such formats are copied to buffers.
    pub(in super::super) fn new(formats: StandIns, packs: bool) -> Self {
        StandInImages { formats, packs, ..StandInImages::default() }
    }
    /// No format has a stand-in.
    pub fn is_empty(&self) -> bool {
        self.formats.is_empty()
    }
}

/// A copy that is recorded.
pub(super) struct Copy {
    pub(super) device: u64,
    /// The command buffer that holds it.
    pub(super) holder: u64,
    pub(super) buffer: vk::Buffer,
    pub(super) alloc: Alloc,
    pub(super) size: u64,
    /// Where each region's texels begin.
    pub(super) places: Vec<u64>,
    pub(super) filled: Option<Filled>,
}

/// What the texels of a copy to an image were made of.
#[derive(Clone, Copy)]
pub(super) struct Filled {
    /// The world's stamp of the captured texels then; none where some were not known.
    pub(super) stamp: Option<u64>,
    pub(super) hash: [u8; 32],
    /// Which call it was made for.
    pub(super) call: u64,
}

/// One device's shader.
pub(super) struct Packer {
    pub(super) layout: vk::PipelineLayout,
    pub(super) pipeline: vk::Pipeline,
}

/// A copy that is being recorded.
pub(super) struct Out {
    pub(super) device: u64,
    /// Ours, and its address.
    pub(super) buffer: vk::Buffer,
    pub(super) address: u64,
    /// The captured one, live, and its bytes.
    pub(super) to: (vk::Buffer, u64),
    pub(super) regions: Vec<OutRegion>,
}

/// A region of it.
pub(super) struct OutRegion {
    /// How its texels become captured ones; none if they are already.
    pub(super) packing: Option<Packing>,
    /// Texels in a row, and rows of all slices and layers.
    pub(super) size: [u32; 2],
    /// Where the stand-in's texels are, and where captured ones go, in our buffer.
    pub(super) places: [u64; 2],
    /// What is copied from there, and where in the captured buffer.
    pub(super) rows: [Rows; 2],
}
