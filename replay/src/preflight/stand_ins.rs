//! What a capture does with images that images of another format could not do in their stead ([`crate::texels`]), and which
//! images it copies out of.
//!
//! One pass, made only where a device lacks such a format. Looks at images and their views, at swapchains, and at copies. Guarantees:
//! a call that failed at capture does nothing. Refuses nothing: who compares with a device does.

use super::used::First;
use crate::texels::{Codec, channels, family, stand_ins};
use gfxr_parse::container::{BlockKind, Capture, Scratch};
use gfxr_parse::decode::decode_found;
use gfxr_parse::image::Image;
use gfxr_parse::schema::command;
use gfxr_parse::view::View;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use world::formats::COLOR;

/// What is done with images of formats that something can stand in for.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// By format: what cannot be done without it, and the first call that does it.
    pub needed: BTreeMap<u32, (&'static str, First)>,
    /// Formats of images that commands copy to buffers.
    pub copied_out: BTreeSet<u32>,
}

/// Calls that are looked at, by canonical name.
const LOOKED_AT: &[&str] = &[
    "vkCreateImage",
    "vkCreateImageView",
    "vkCreateSwapchainKHR",
    "vkCmdBlitImage",
    "vkCmdBlitImage2",
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
/// VkImageUsageFlagBits: COLOR_ATTACHMENT and INPUT_ATTACHMENT; STORAGE.
const DRAWN: u32 = 0x90;
const STORED: u32 = 8;
/// VK_HOST_IMAGE_COPY_MEMCPY_BIT.
const AS_IN_MEMORY: u32 = 1;

/// Looks through a capture.
pub fn scan(capture: &Capture) -> Uses {
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
    found.uses
}

#[derive(Default)]
struct Scan {
    /// Formats of images.
    formats: HashMap<u64, u32>,
    uses: Uses,
}

impl Scan {
    fn needs(&mut self, format: u32, what: &'static str, first: First) {
        if !stand_ins(format).is_empty() {
            self.uses.needed.entry(format).or_insert((what, first));
        }
    }

    fn format(&self, info: View<'_>, image: &str) -> u32 {
        info.u64(image).and_then(|i| self.formats.get(&i)).copied().unwrap_or(0)
    }

    fn call(&mut self, name: &str, image: &Image, first: First) {
        let v = View::call(image);
        match name {
            "vkCreateImage" => {
                let Some(info) = v.one("pCreateInfo") else { return };
                let (format, id) = (info.u32("format").unwrap_or(0), image.handles.iter().find(|h| h.out));
                self.formats.insert(id.map_or(0, |h| image.u64(h.at)), format);
                if info.u32("tiling") != Some(OPTIMAL) {
                    let what = "images whose memory holds the texels (not of optimal tiling)";
                    self.needs(format, what, first);
                }
                self.drawn(format, info.u32("usage").unwrap_or(0), first);
            }
            "vkCreateSwapchainKHR" => {
                let format = v.one("pCreateInfo").and_then(|i| i.u32("imageFormat")).unwrap_or(0);
                self.needs(format, "images of swapchains", first);
            }
            "vkCreateImageView" => {
                let Some(info) = v.one("pCreateInfo") else { return };
                let of = self.format(info, "image");
                if info.u32("format").is_some_and(|f| family(f) != family(of)) {
                    self.needs(of, "views of its texels in another format", first);
                }
            }
            "vkCmdBlitImage" | "vkCmdBlitImage2" => {
                let info = v.one("pBlitImageInfo").unwrap_or(v);
                let [from, to] = ["srcImage", "dstImage"].map(|n| self.format(info, n));
                // They would write what is to stay one, or nothing.
                if channels(to) != [true; 4] && family(from) != family(to) {
                    self.needs(to, "blits from images with more channels", first);
                }
            }
            "vkCmdCopyImage" | "vkCmdCopyImage2" | "vkCopyImageToImage" => {
                let info = v.one("pCopyImageInfo").or_else(|| v.one("pCopyImageToImageInfo")).unwrap_or(v);
                let [from, to] = ["srcImage", "dstImage"].map(|n| self.format(info, n));
                if family(from) != family(to) {
                    let what = "copies of texels between images of different formats";
                    [from, to].into_iter().for_each(|f| self.needs(f, what, first));
                }
                self.as_in_memory(info, [from, to], first);
            }
            "vkCmdCopyImageToBuffer" | "vkCmdCopyImageToBuffer2" | "vkCopyImageToMemory" => {
                let info = v.one("pCopyImageToBufferInfo").or_else(|| v.one("pCopyImageToMemoryInfo"));
                let info = info.unwrap_or(v);
                let format = self.format(info, "srcImage");
                if Codec::compressed(format).is_some() {
                    self.needs(format, "copies of blocks out of images", first);
                } else if name != "vkCopyImageToMemory" && Codec::of(format, COLOR).is_some() {
                    self.uses.copied_out.insert(format);
                }
                self.as_in_memory(info, [format; 2], first);
            }
            "vkCopyMemoryToImage" => {
                let Some(info) = v.one("pCopyMemoryToImageInfo") else { return };
                self.as_in_memory(info, [self.format(info, "dstImage"); 2], first);
            }
            // By addresses: structs, or the oldest command's parameters.
            _ => {
                let info = v.one("pCopyMemoryToImageIndirectInfo").or_else(|| v.one("pCopyMemoryInfo"));
                let info = info.unwrap_or(v);
                for name in ["dstImage", "srcImage", "image"] {
                    self.needs(self.format(info, name), "copies of texels by addresses", first);
                }
            }
        }
    }

    /// An image is made for these uses.
    fn drawn(&mut self, format: u32, usage: u32, first: First) {
        if usage & DRAWN != 0 && channels(format) != [true; 4] {
            self.needs(format, "images with fewer channels that are rendered to", first);
        }
        if usage & STORED != 0 {
            self.needs(format, "images that shaders store to", first);
        }
    }

    /// The host copies images, perhaps as they lie in memory.
    fn as_in_memory(&mut self, info: View<'_>, formats: [u32; 2], first: First) {
        if info.u32("flags").unwrap_or(0) & AS_IN_MEMORY != 0 {
            let what = "copies of images as they lie in memory";
            formats.into_iter().for_each(|f| self.needs(f, what, first));
        }
    }
}
