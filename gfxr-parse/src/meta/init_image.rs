//! Type 8: one aspect of an image's contents at the start of a trimmed capture, or only its layout.
//!
//! Data of no size mean: there is nothing to copy, only a transition to `layout`. Refuses nothing beyond missing bytes;
//! whether the level sizes add up to the data is the replayer's to check.

use crate::container::fields::{Fields, Put};
use crate::container::payload::Payload;
use crate::error::Result;

/// Type 8.
#[derive(Clone, Debug, PartialEq)]
pub struct InitImage<'a> {
    /// VkDevice.
    pub device: u64,
    /// VkImage.
    pub image: u64,
    /// VkImageAspectFlagBits: which one the data are.
    pub aspect: u32,
    /// VkImageLayout the image was in.
    pub layout: u32,
    /// Size of each mip level's data (all layers), in bytes; never compressed.
    pub level_bytes: Vec<u64>,
    /// The levels' texels, tightly packed, level after level.
    pub data: Payload<'a>,
}

impl<'a> InitImage<'a> {
    pub(crate) fn read(f: &mut Fields<'a>) -> Result<Self> {
        let (device, image) = (f.u64("device")?, f.u64("image")?);
        let size = f.u64("data size")?;
        let (aspect, layout) = (f.u32("aspect")?, f.u32("layout")?);
        let levels = f.u32("level count")?;
        let level_bytes = f.records(levels, 8, "level sizes", |f| f.u64("level size"))?;
        Ok(InitImage { device, image, aspect, layout, level_bytes, data: f.payload(size, "image contents")? })
    }
    /// Writes the fields.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.put_u64(self.device);
        out.put_u64(self.image);
        out.put_u64(self.data.size());
        out.put_u32(self.aspect);
        out.put_u32(self.layout);
        out.put_u32(self.level_bytes.len() as u32);
        self.level_bytes.iter().for_each(|&n| out.put_u64(n));
        out.put(self.data.raw());
    }
}
