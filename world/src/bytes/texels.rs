//! Texels of an image as bytes in a space of its own: planes, in them levels, layers, slices, rows of blocks, tightly packed.
//!
//! That is how metadata blocks hold images; how the device lays out images of optimal tiling nobody says. Guarantees: a
//! block has the same place for all copies to and from the image. Refuses (by `None`) multisampled images and formats
//! whose blocks are not known.

use crate::formats::{self, Plane};
use crate::objects::Image;

/// A mip level of a plane.
#[derive(Clone, Copy, Debug)]
struct Level {
    at: u64,
    /// Blocks a row, rows of blocks a slice, slices.
    blocks: (u64, u64, u64),
}

/// See the module's header.
#[derive(Clone, Debug)]
pub struct Texels {
    planes: Vec<(Plane, Vec<Level>)>,
    layers: u64,
    /// Bytes of all.
    pub size: u64,
}

/// What an image is made of.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// VkFormat.
    pub format: i32,
    /// In texels.
    pub extent: [u32; 3],
    /// Mip levels.
    pub levels: u32,
    /// Array layers.
    pub layers: u32,
    /// Samples a texel.
    pub samples: u32,
}

impl Shape {
    /// What an image was made of.
    pub fn of(i: &Image) -> Shape {
        let Image { extent, levels, layers, samples, .. } = *i;
        Shape { format: i.format as i32, extent, levels, layers, samples }
    }
}

/// Rows of bytes: `count` rows of `bytes`, one every `stride`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The first byte.
    pub at: u64,
    /// Bytes of a row.
    pub bytes: u64,
    /// From row to row, from slice to slice.
    pub stride: (u64, u64),
    /// Rows a slice, slices.
    pub count: (u64, u64),
}

/// A box of one subresource, in texels of the plane.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// One aspect.
    pub aspect: u32,
    /// Mip level.
    pub level: u32,
    /// Array layer.
    pub layer: u32,
    /// Where it begins.
    pub offset: [u32; 3],
    /// How large it is.
    pub extent: [u32; 3],
}

impl Texels {
    /// Lays an image out.
    pub fn new(s: &Shape) -> Option<Self> {
        let planes = formats::planes(s.format).filter(|_| s.samples <= 1)?;
        let layers = u64::from(s.layers.max(1));
        let mut at = 0u64;
        let mut all = Vec::new();
        for p in planes {
            let mut levels = Vec::new();
            for l in 0..s.levels.clamp(1, 32) {
                let side = |n: u32, divided: u32, block: u32| {
                    u64::from(formats::level_size(n.max(1).div_ceil(divided), l).div_ceil(block))
                };
                let blocks = (
                    side(s.extent[0], p.divided.0, p.block.0),
                    side(s.extent[1], p.divided.1, p.block.1),
                    side(s.extent[2], 1, 1),
                );
                levels.push(Level { at, blocks });
                let slice = blocks.0.checked_mul(blocks.1)?.checked_mul(p.block_bytes.into())?;
                at = at.checked_add(slice.checked_mul(blocks.2)?.checked_mul(layers)?)?;
            }
            all.push((p, levels));
        }
        Some(Texels { planes: all, layers, size: at })
    }

    /// The plane of an aspect: COLOR is the first plane, too.
    pub fn plane(&self, aspect: u32) -> Option<&Plane> {
        self.find(aspect).map(|(p, _)| p)
    }
    fn find(&self, aspect: u32) -> Option<&(Plane, Vec<Level>)> {
        let exact = self.planes.iter().find(|(p, _)| p.aspect & aspect != 0);
        exact.or_else(|| self.planes.first().filter(|_| self.planes.len() == 1))
    }

    /// All bytes of a level of a plane, all layers: where, how many.
    pub fn level(&self, aspect: u32, level: u32) -> Option<(u64, u64)> {
        let (p, levels) = self.find(aspect)?;
        let l = levels.get(level as usize)?;
        Some((l.at, l.blocks.0 * l.blocks.1 * l.blocks.2 * self.layers * u64::from(p.block_bytes)))
    }

    /// All bytes of some layers of a level of all planes among these aspects: where, how many.
    pub fn subresources(&self, aspects: u32, level: u32, layer: u32, layers: u32) -> Vec<(u64, u64)> {
        let of = |(p, levels): &(Plane, Vec<Level>)| {
            let l = levels.get(level as usize)?;
            let bytes = l.blocks.0 * l.blocks.1 * l.blocks.2 * u64::from(p.block_bytes);
            let first = u64::from(layer).min(self.layers);
            let count = u64::from(layers).min(self.layers - first);
            Some((l.at + first * bytes, count * bytes))
        };
        self.planes
            .iter()
            .filter(|(p, _)| p.aspect & aspects != 0 || self.planes.len() == 1)
            .filter_map(of)
            .collect()
    }

    /// Where a box lies. Whatever reaches out of the image is cut off.
    pub fn rows(&self, r: &Region) -> Option<Rows> {
        let (p, levels) = self.find(r.aspect)?;
        let l = levels.get(r.level as usize).filter(|_| u64::from(r.layer) < self.layers)?;
        let block = u64::from(p.block_bytes);
        let begin = |i: usize, size: u32| u64::from(r.offset[i] / size);
        let end = |i: usize, size: u32, most: u64| {
            u64::from(r.offset[i].saturating_add(r.extent[i]).div_ceil(size)).min(most)
        };
        let (x, y, z) = (begin(0, p.block.0), begin(1, p.block.1), begin(2, 1));
        let count = (
            end(0, p.block.0, l.blocks.0).checked_sub(x)?,
            end(1, p.block.1, l.blocks.1).checked_sub(y)?,
            end(2, 1, l.blocks.2).checked_sub(z)?,
        );
        let row = l.blocks.0 * block;
        let slice = row * l.blocks.1;
        let layer = slice * l.blocks.2;
        Some(Rows {
            at: l.at + u64::from(r.layer) * layer + z * slice + y * row + x * block,
            bytes: count.0 * block,
            stride: (row, slice),
            count: (count.1, count.2),
        })
    }
}

/// Where a buffer holds such a box: rows of `row_length` texels, slices of `image_height` (0: as the box is).
pub fn in_buffer(p: &Plane, at: u64, row_length: u32, image_height: u32, extent: [u32; 3]) -> Rows {
    let or = |n: u32, otherwise: u32| if n == 0 { otherwise } else { n };
    let blocks = |n: u32, size: u32| u64::from(n.div_ceil(size));
    let block = u64::from(p.block_bytes);
    let row = blocks(or(row_length, extent[0]), p.block.0) * block;
    let slice = blocks(or(image_height, extent[1]), p.block.1).saturating_mul(row);
    Rows {
        at,
        bytes: blocks(extent[0], p.block.0) * block,
        stride: (row, slice),
        count: (blocks(extent[1], p.block.1), extent[2].into()),
    }
}

/// Where runs of bytes of one lie in the other: from, to, bytes; as few as there can be. What the smaller one lacks is
/// left out.
pub fn pairs(from: &Rows, to: &Rows) -> impl Iterator<Item = (u64, u64, u64)> + use<> {
    let (from, to) = (*from, *to);
    let bytes = from.bytes.min(to.bytes);
    let (rows, slices) = (from.count.0.min(to.count.0), from.count.1.min(to.count.1));
    let tight = |r: &Rows| r.stride.0 == bytes;
    let (bytes, rows) =
        if tight(&from) && tight(&to) { (bytes.saturating_mul(rows), rows.min(1)) } else { (bytes, rows) };
    let whole = |r: &Rows| rows == 1 && r.stride.1 == bytes;
    let (bytes, slices) = if whole(&from) && whole(&to) {
        (bytes.saturating_mul(slices), slices.min(1))
    } else {
        (bytes, slices)
    };
    (0..slices).flat_map(move |z| {
        (0..rows).map(move |y| {
            // (a place beyond all numbers is beyond every buffer)
            let stride = |n: u64, bytes: u64| n.saturating_mul(bytes);
            let place =
                |r: &Rows| r.at.saturating_add(stride(z, r.stride.1)).saturating_add(stride(y, r.stride.0));
            (place(&from), place(&to), bytes)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(format: i32, extent: [u32; 3], levels: u32, layers: u32) -> Texels {
        Texels::new(&Shape { format, extent, levels, layers, samples: 1 }).expect("a known format")
    }

    #[test]
    fn levels_and_layers_follow_one_another() {
        let t = shape(37, [8, 4, 1], 3, 2); // R8G8B8A8
        assert_eq!(
            (t.level(1, 0), t.level(1, 1), t.level(1, 2)),
            (Some((0, 256)), Some((256, 64)), Some((320, 16)))
        );
        assert_eq!(t.size, 336);
        assert_eq!(t.subresources(1, 1, 1, 1), [(288, 32)]);
        let r = Region { aspect: 1, level: 1, layer: 1, offset: [1, 1, 0], extent: [2, 1, 1] };
        assert_eq!(
            t.rows(&r),
            Some(Rows { at: 256 + 32 + 16 + 4, bytes: 8, stride: (16, 32), count: (1, 1) })
        );
        let beyond = Region { offset: [3, 0, 0], extent: [9, 9, 9], ..r };
        assert_eq!(t.rows(&beyond).map(|r| (r.bytes, r.count)), Some((4, (2, 1))));
        assert_eq!(t.rows(&Region { layer: 2, ..r }), None);
    }

    #[test]
    fn blocks_and_planes() {
        let t = shape(145, [10, 10, 1], 1, 1); // BC7: 3 x 3 blocks of 16 bytes
        assert_eq!(t.size, 144);
        let r = Region { aspect: 1, level: 0, layer: 0, offset: [4, 8, 0], extent: [6, 2, 1] };
        assert_eq!(t.rows(&r), Some(Rows { at: 2 * 48 + 16, bytes: 32, stride: (48, 144), count: (1, 1) }));
        let t = shape(1_000_156_003, [6, 4, 1], 1, 1); // G8_B8R8_2PLANE_420
        assert_eq!((t.level(0x10, 0), t.level(0x20, 0)), (Some((0, 24)), Some((24, 12))));
        let t = shape(130, [2, 2, 1], 1, 1); // D32_SFLOAT_S8_UINT
        assert_eq!((t.level(2, 0), t.level(4, 0)), (Some((0, 16)), Some((16, 4))));
        let multi = Shape { format: 37, extent: [1; 3], levels: 1, layers: 1, samples: 4 };
        assert!(Texels::new(&multi).is_none());
        assert!(Texels::new(&Shape { format: 0, samples: 1, ..multi }).is_none());
    }

    #[test]
    fn runs_are_as_long_as_they_can_be() {
        let t = shape(37, [4, 4, 2], 1, 1);
        let p = *t.plane(1).expect("colour");
        let whole = Region { aspect: 1, level: 0, layer: 0, offset: [0; 3], extent: [4, 4, 2] };
        let image = t.rows(&whole).expect("inside");
        let tight = in_buffer(&p, 100, 0, 0, whole.extent);
        assert_eq!(pairs(&tight, &image).collect::<Vec<_>>(), [(100, 0, 128)]);
        let high = in_buffer(&p, 100, 0, 8, whole.extent);
        assert_eq!(pairs(&high, &image).collect::<Vec<_>>(), [(100, 0, 64), (228, 64, 64)]);
        let part = Region { offset: [1, 1, 0], extent: [2, 2, 1], ..whole };
        let image = t.rows(&part).expect("inside");
        let wide = in_buffer(&p, 0, 3, 0, part.extent);
        assert_eq!(pairs(&image, &wide).collect::<Vec<_>>(), [(20, 0, 8), (36, 12, 8)]);
    }
}
