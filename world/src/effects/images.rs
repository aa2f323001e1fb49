//! Texels: copies between buffers and images, and what makes them unknown.
//!
//! Guarantees: images of optimal tiling keep texels by block in a space of their own; those of linear tiling whose layout the
//! program asked for lie in their memory. Refuses nothing: what cannot be laid out (multisampled, unknown formats) is unknown.

use super::super::bytes::texels::{Region, Rows, Shape, Texels, in_buffer, pairs};
use super::super::bytes::{Cause, Reason, Why, Writer};
use super::super::commands::{BufferImageCopies, BufferImageRegion, ImageRegion};
use super::super::objects::Subresources;
use crate::World;
use crate::formats::Plane;
use std::rc::Rc;

/// VK_IMAGE_TILING_LINEAR.
const LINEAR: u32 = 1;

/// Where rows of an image lie: in which space.
pub(super) type InSpace = (u64, Rows);

impl World {
    /// The texels of an image; made when something is first written.
    pub(super) fn texels(&mut self, image: u64) -> Option<Rc<Texels>> {
        if let Some(found) = self.bytes.residents.texels.get(&image) {
            return found.clone();
        }
        let i = self.images.get(&image)?;
        let made = Texels::new(&Shape::of(i)).map(Rc::new);
        if let Some(t) = &made {
            let reason = if i.swapchain != 0 { Reason::Presented } else { Reason::NeverWritten };
            self.bytes.lay_out(image, t.size, Why::new(reason, 0));
        }
        self.bytes.residents.texels.insert(image, made.clone());
        made
    }

    /// The image lies in its memory as the program was told.
    fn is_linear(&self, image: u64) -> bool {
        self.bytes.residents.linear.contains_key(&image)
            && self.images.get(&image).is_some_and(|i| i.tiling == LINEAR && i.bound.len() == 1)
    }

    /// Where a box of an image lies, and what a block of it is.
    pub(super) fn rows(&mut self, image: u64, r: &Region) -> Option<(InSpace, Plane)> {
        if !self.is_linear(image) {
            let t = self.texels(image)?;
            return Some(((image, t.rows(r)?), *t.plane(r.aspect)?));
        }
        let i = &self.images[&image];
        let t = Texels::new(&Shape::of(i))?;
        let (plane, packed) = (*t.plane(r.aspect)?, t.rows(r)?);
        let aspect = if r.aspect == 0 { plane.aspect } else { r.aspect };
        let layouts = &self.bytes.residents.linear[&image];
        let (l, layers) = match layouts.get(&(aspect, r.level, r.layer)) {
            Some(l) => (l, 0),
            None => (layouts.get(&(aspect, r.level, 0))?, r.layer),
        };
        let [offset, _, row, layer, slice] = *l;
        let begin = |n: usize, size: u32| u64::from(r.offset[n] / size);
        let steps = [
            (u64::from(layers), layer),
            (begin(2, 1), slice),
            (begin(1, plane.block.1), row),
            (begin(0, plane.block.0), plane.block_bytes.into()),
        ];
        // What the capture says of the layout may be anything.
        let first = i.bound[0].offset.saturating_add(offset);
        let at = steps.iter().fold(first, |at, (n, bytes)| at.saturating_add(n.saturating_mul(*bytes)));
        Some(((i.bound[0].memory, Rows { at, stride: (row, slice), ..packed }), plane))
    }

    /// Single layers and aspects of a part of an image, as boxes.
    pub(super) fn boxes(
        &self,
        image: u64,
        part: &Subresources,
        at: [i32; 3],
        extent: [u32; 3],
    ) -> Vec<Region> {
        let Some(i) = self.images.get(&image) else { return Vec::new() };
        let offset = at.map(|n| n.max(0) as u32);
        let layers = part.layers.min(i.layers.saturating_sub(part.layer));
        let aspects = (0..32).map(|bit| 1 << bit).filter(|bit| part.aspects & bit != 0);
        let of = |aspect: u32| {
            (0..layers).map(move |n| Region {
                aspect,
                level: part.level,
                layer: part.layer + n,
                offset,
                extent,
            })
        };
        aspects.flat_map(of).collect()
    }

    /// vkCmdCopyBufferToImage.
    pub(super) fn buffer_to_image(&mut self, c: &BufferImageCopies, r: &BufferImageRegion, block: u64) {
        self.touched(c.image, block);
        let cause = Cause::new(Writer::CopyBufferToImage, block, 0);
        let mut at = r.offset;
        for region in self.boxes(c.image, &r.part, r.at, r.extent) {
            let Some(((space, rows), plane)) = self.rows(c.image, &region) else {
                return self.forget_image(c.image, &r.part, Why::new(Reason::Format, block));
            };
            let there = in_buffer(&plane, at, r.row_length, r.image_height, r.extent);
            for (from, to, bytes) in pairs(&there, &rows) {
                self.copy_into((c.buffer, from), (space, to), bytes, cause);
            }
            at = at.saturating_add(there.stride.1.saturating_mul(there.count.1));
        }
    }

    /// vkCmdCopyImageToBuffer.
    pub(super) fn image_to_buffer(&mut self, c: &BufferImageCopies, r: &BufferImageRegion, block: u64) {
        let cause = Cause::new(Writer::CopyImageToBuffer, block, c.buffer);
        let mut at = r.offset;
        for region in self.boxes(c.image, &r.part, r.at, r.extent) {
            let Some(((space, rows), plane)) = self.rows(c.image, &region) else {
                // How much it is, nobody knows.
                return self.forget_buffer(c.buffer, r.offset, u64::MAX, Why::new(Reason::Format, block));
            };
            let there = in_buffer(&plane, at, r.row_length, r.image_height, r.extent);
            for (from, to, bytes) in pairs(&rows, &there) {
                for (memory, place, part, done) in self.spans(c.buffer, to, bytes) {
                    self.bytes.copy((space, from.saturating_add(done)), (memory, place), part, cause);
                    self.overwritten(memory, place, part, block);
                }
            }
            at = at.saturating_add(there.stride.1.saturating_mul(there.count.1));
        }
    }

    /// From a buffer into a space.
    fn copy_into(&mut self, from: (u64, u64), to: (u64, u64), bytes: u64, cause: Cause) {
        let spans = self.spans(from.0, from.1, bytes);
        if spans.iter().map(|s| s.2).fold(0, u64::saturating_add) < bytes {
            self.bytes.forget(to.0, to.1, bytes, Why::new(Reason::NoMemory, cause.block));
        }
        for (memory, at, part, done) in spans {
            self.bytes.copy((memory, at), (to.0, to.1.saturating_add(done)), part, cause);
        }
    }

    /// vkCmdCopyImage: block by block, also between formats whose blocks are as large.
    pub(super) fn image_to_image(&mut self, src: u64, dst: u64, r: &ImageRegion, by: Writer, block: u64) {
        self.touched(dst, block);
        let cause = Cause::new(by, block, 0);
        let unknown = |w: &mut World| w.forget_image(dst, &r.dst, Why::new(Reason::Format, block));
        // Slices of one are layers of the other where the kinds differ.
        let depth = |w: &World, id: u64| w.images.get(&id).is_some_and(|i| i.kind == 2);
        if depth(self, src) != depth(self, dst) {
            return unknown(self);
        }
        let from = self.boxes(src, &r.src, r.src_at[0], r.extent);
        // The extent is the source's texels: as many blocks there as here.
        let planes =
            |w: &mut World, id: u64, aspect: u32| w.texels(id).and_then(|t| t.plane(aspect).copied());
        let (Some(a), Some(b)) = (planes(self, src, r.src.aspects), planes(self, dst, r.dst.aspects)) else {
            return unknown(self);
        };
        let blocks = |n: u32, from: u32, to: u32| n.div_ceil(from).saturating_mul(to);
        let extent = [
            blocks(r.extent[0], a.block.0, b.block.0),
            blocks(r.extent[1], a.block.1, b.block.1),
            r.extent[2],
        ];
        let to = self.boxes(dst, &r.dst, r.dst_at[0], extent);
        if from.len() != to.len() || a.block_bytes != b.block_bytes {
            return unknown(self);
        }
        for (from, to) in from.iter().zip(&to) {
            let (Some(((a, from), _)), Some(((b, to), _))) = (self.rows(src, from), self.rows(dst, to))
            else {
                return unknown(self);
            };
            for (x, y, bytes) in pairs(&from, &to) {
                self.bytes.copy((a, x), (b, y), bytes, cause);
            }
        }
    }

    /// Texels of a part are known no longer.
    pub fn forget_image(&mut self, image: u64, part: &Subresources, why: Why) {
        let Some(i) = self.images.get(&image) else { return };
        if self.is_linear(image) {
            // Rows may lie among one another's: all of it.
            let bound = i.bound[0];
            let size = self.image_bytes(image);
            self.bytes.forget(bound.memory, bound.offset, size, why);
            return self.overwritten_by_image(image, bound.memory, bound.offset, size, why.block.into());
        }
        let (all, layers, swapchain) = (i.levels, i.layers, i.swapchain != 0);
        self.touched(image, why.block.into());
        // What was never written need not be laid out to be unknown.
        let Some(t) = self.bytes.residents.texels.get(&image).cloned().flatten().filter(|_| !swapchain)
        else {
            return;
        };
        let levels = part.levels.min(all.saturating_sub(part.level));
        let layers = part.layers.min(layers.saturating_sub(part.layer));
        for level in part.level..part.level.saturating_add(levels) {
            for (at, bytes) in t.subresources(part.aspects, level, part.layer, layers) {
                self.bytes.forget(image, at, bytes, why);
            }
        }
    }

    /// Texels of a view are known no longer.
    pub(super) fn forget_view(&mut self, view: u64, why: Why) {
        let Some(v) = self.image_views.get(&view).copied() else { return };
        let slices = self.images.get(&v.image).is_some_and(|i| i.kind == 2);
        // Layers of a view of a 3D image are its slices.
        let range = if slices { Subresources { layer: 0, layers: 1, ..v.range } } else { v.range };
        // Views of depth or of a plane may name only one of the aspects that a shader writes.
        self.forget_image(v.image, &Subresources { aspects: Subresources::ALL.aspects, ..range }, why);
    }

    /// An image is written: whatever else lies in its memory is known no longer.
    pub(super) fn touched(&mut self, image: u64, block: u64) {
        if self.is_linear(image) {
            return;
        }
        let Some(i) = self.images.get(&image) else { return };
        if let [bound] = i.bound[..] {
            let size = self.image_bytes(image);
            self.overwritten_by_image(image, bound.memory, bound.offset, size, block);
        } else {
            for bound in i.bound.clone() {
                let size = self.image_bytes(image);
                self.overwritten_by_image(image, bound.memory, bound.offset, size, block);
            }
        }
    }

    fn overwritten_by_image(&mut self, image: u64, memory: u64, at: u64, size: u64, block: u64) {
        let found = self.bytes.residents.on(memory, at, at.saturating_add(size));
        let others: Vec<_> = found.filter(|r| r.id != image).collect();
        let why = Why::new(Reason::Image, block);
        for r in others {
            if !r.image || self.is_linear(r.id) {
                let (from, to) = (r.from.max(at), r.to.min(at.saturating_add(size)));
                self.bytes.forget(memory, from, to - from, why);
            } else if let Some(Some(t)) = self.bytes.residents.texels.get(&r.id) {
                let size = t.size;
                self.bytes.forget(r.id, 0, size, why);
            }
        }
    }

    /// Bytes of an image in its memory: as the driver said, or at least its texels.
    pub fn image_bytes(&self, image: u64) -> u64 {
        let said = self.bytes.residents.image_bytes.get(&image).copied();
        said.or_else(|| self.images.get(&image).and_then(|i| Texels::new(&Shape::of(i))).map(|t| t.size))
            .unwrap_or(1)
    }
}
