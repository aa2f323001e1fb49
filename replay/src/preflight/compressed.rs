//! What a capture does with images of compressed formats that images of an uncompressed one could not do in their stead.
//!
//! One pass, made only where the capture has such images. Looks at images and their views, and at copies in which blocks
//! themselves are read or written. Guarantees: a call that failed at capture does nothing. Refuses nothing: who compares with a
//! device does.

use super::used::First;
use crate::texels::Codec;
use gfxr_parse::container::{BlockKind, Capture, Scratch};
use gfxr_parse::decode::decode_found;
use gfxr_parse::image::Image;
use gfxr_parse::schema::command;
use gfxr_parse::view::View;
use std::collections::{BTreeMap, HashMap};

/// By format: what cannot be done without its blocks, and the first call that does it.
pub type Blocks = BTreeMap<u32, (&'static str, First)>;

/// Calls that are looked at, by canonical name.
const LOOKED_AT: &[&str] = &[
    "vkCreateImage",
    "vkCreateImageView",
    "vkCmdCopyImage",
    "vkCmdCopyImage2",
    "vkCmdCopyImageToBuffer",
    "vkCmdCopyImageToBuffer2",
    "vkCmdCopyMemoryToImageIndirectNV",
    "vkCmdCopyMemoryToImageIndirectKHR",
    "vkCmdCopyMemoryToImageKHR",
    "vkCmdCopyImageToMemoryKHR",
    "vkCopyMemoryToImage",
    "vkCopyImageToMemory",
    "vkCopyImageToImage",
];

/// VK_IMAGE_TILING_OPTIMAL.
const OPTIMAL: u32 = 0;
/// VK_HOST_IMAGE_COPY_MEMCPY_BIT.
const AS_IN_MEMORY: u32 = 1;

/// Looks through a capture.
pub fn scan(capture: &Capture) -> Blocks {
    let (mut found, mut scratch, mut image) = (Scan::default(), Scratch::new(), Image::default());
    for block in capture.blocks() {
        let Some(c) = block.call_id().and_then(command).filter(|c| LOOKED_AT.contains(&c.canonical)) else {
            continue;
        };
        let Ok(BlockKind::Call(call)) = block.kind() else { continue };
        if decode_found(c, &block, &call, &mut scratch, &mut image).is_ok()
            && image.ret().is_none_or(|r| r >= 0)
        {
            found.call(c.canonical, &image, (block.index, c.name));
        }
    }
    found.blocks
}

#[derive(Default)]
struct Scan {
    /// Formats of images.
    formats: HashMap<u64, u32>,
    blocks: Blocks,
}

impl Scan {
    fn needs(&mut self, format: u32, what: &'static str, first: First) {
        if Codec::of(format).is_some() {
            self.blocks.entry(format).or_insert((what, first));
        }
    }

    fn image(&mut self, id: Option<u64>, what: &'static str, first: First) {
        if let Some(format) = id.and_then(|i| self.formats.get(&i)).copied() {
            self.needs(format, what, first);
        }
    }

    fn call(&mut self, name: &str, image: &Image, first: First) {
        let v = View::call(image);
        match name {
            "vkCreateImage" => {
                let Some(info) = v.one("pCreateInfo") else { return };
                let (format, id) = (info.u32("format").unwrap_or(0), image.handles.iter().find(|h| h.out));
                self.formats.insert(id.map_or(0, |h| image.u64(h.at)), format);
                if info.u32("tiling") != Some(OPTIMAL) {
                    self.needs(format, "images whose memory holds the blocks (not of optimal tiling)", first);
                }
            }
            "vkCreateImageView" => {
                let Some(info) = v.one("pCreateInfo") else { return };
                let of = info.u64("image").and_then(|i| self.formats.get(&i)).copied().unwrap_or(0);
                if Codec::of(of) != info.u32("format").and_then(Codec::of) {
                    self.needs(of, "views of blocks in another format", first);
                }
            }
            "vkCmdCopyImage" | "vkCmdCopyImage2" | "vkCopyImageToImage" => {
                let info = v.one("pCopyImageInfo").or_else(|| v.one("pCopyImageToImageInfo")).unwrap_or(v);
                let [from, to] = ["srcImage", "dstImage"]
                    .map(|n| info.u64(n).and_then(|i| self.formats.get(&i)).copied().unwrap_or(0));
                if Codec::of(from) != Codec::of(to) {
                    let what = "copies of blocks between images of different formats";
                    [from, to].into_iter().for_each(|f| self.needs(f, what, first));
                }
            }
            "vkCmdCopyImageToBuffer" | "vkCmdCopyImageToBuffer2" | "vkCopyImageToMemory" => {
                let info = v.one("pCopyImageToBufferInfo").or_else(|| v.one("pCopyImageToMemoryInfo"));
                self.image(info.unwrap_or(v).u64("srcImage"), "copies of blocks out of images", first);
            }
            "vkCopyMemoryToImage" => {
                let Some(info) = v.one("pCopyMemoryToImageInfo") else { return };
                if info.u32("flags").unwrap_or(0) & AS_IN_MEMORY != 0 {
                    self.image(info.u64("dstImage"), "copies of images as they lie in memory", first);
                }
            }
            // By addresses: structs, or the oldest command's parameters.
            _ => {
                let info = v.one("pCopyMemoryToImageIndirectInfo").or_else(|| v.one("pCopyMemoryInfo"));
                let info = info.unwrap_or(v);
                let image = info.u64("dstImage").or_else(|| info.u64("image"));
                self.image(image, "copies of blocks by addresses", first);
            }
        }
    }
}
