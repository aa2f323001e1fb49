//! Which images the scene has.

use ash::vk;

use super::images::{About, Image};
use crate::error::Result;
use crate::gpu::Gpu;

pub(super) const CANVAS: vk::Extent2D = vk::Extent2D { width: 128, height: 96 };

/// Formats of the canvas.
pub(super) const CANVAS_COLOUR: vk::Format = vk::Format::R8G8B8A8_UNORM;

pub(super) const CANVAS_DEPTH: vk::Format = vk::Format::D32_SFLOAT_S8_UINT;

pub(super) const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;

pub(super) const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;

pub(super) const TILE: vk::Extent2D = vk::Extent2D { width: 32, height: 32 };

/// What `tiles.frag` writes: two channels of counts, one of signed numbers, colours, numbers without bounds.
pub(super) const TILES: [(&str, vk::Format); 4] = [
    ("counts", vk::Format::R16G16_UINT),
    ("offsets", vk::Format::R32_SINT),
    ("glow", vk::Format::R8G8B8A8_SRGB),
    ("heat", vk::Format::R16G16B16A16_SFLOAT),
];

/// The images.
pub struct Images {
    pub canvas: Image,
    pub relief: Image,
    pub resolved: Image,
    pub tiles: Vec<Image>,
    pub shadow: Image,
    pub stamp: Image,
    pub bricks: Image,
    pub dots: Image,
}

impl Images {
    /// Makes them, and fills those that the host fills.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        use vk::ImageUsageFlags as Usage;
        let about = About {
            format: CANVAS_COLOUR,
            extent: TILE,
            levels: 1,
            layers: 1,
            samples: ONE,
            usage: Usage::COLOR_ATTACHMENT | Usage::SAMPLED,
        };
        let canvas = About { extent: CANVAS, samples: FOUR, usage: Usage::COLOR_ATTACHMENT, ..about };
        let relief = About { format: CANVAS_DEPTH, usage: Usage::DEPTH_STENCIL_ATTACHMENT, ..canvas };
        let shadow = About {
            format: vk::Format::D16_UNORM,
            layers: 2,
            samples: FOUR,
            usage: Usage::DEPTH_STENCIL_ATTACHMENT | Usage::SAMPLED,
            ..about
        };
        let stamp = About { format: vk::Format::R8G8B8A8_UINT, ..about };
        let filled = About { usage: Usage::TRANSFER_DST | Usage::SAMPLED, ..about };
        let bricks = About {
            format: vk::Format::BC1_RGB_UNORM_BLOCK,
            extent: vk::Extent2D { width: 20, height: 12 },
            levels: 3,
            layers: 3,
            ..filled
        };
        let dots = About {
            format: vk::Format::R8_UNORM,
            extent: vk::Extent2D { width: 3, height: 3 },
            levels: 2,
            ..filled
        };
        let tile = |(name, format)| Image::new(gpu, name, About { format, samples: FOUR, ..about });
        let made = Self {
            canvas: Image::new(gpu, "canvas", canvas)?,
            relief: Image::new(gpu, "relief", relief)?,
            resolved: Image::new(gpu, "resolved", About { extent: CANVAS, ..about })?,
            tiles: TILES.into_iter().map(tile).collect::<Result<_>>()?,
            shadow: Image::new(gpu, "shadow", shadow)?,
            stamp: Image::new(gpu, "stamp", stamp)?,
            bricks: Image::new(gpu, "bricks", bricks)?,
            dots: Image::new(gpu, "dots", dots)?,
        };
        // Blocks of 4x4 texels and 8 bytes: 5x3, 3x2 and 2x1 of them, in three layers.
        let levels = [15, 6, 2].map(|blocks: usize| blocks * 8 * 3);
        let bytes: Vec<u8> = (0..levels.iter().sum::<usize>()).map(|i| (i * 37 + i / 8 * 11) as u8).collect();
        made.bricks.fill(gpu, "bricks", &levels, &bytes)?;
        made.dots.fill(gpu, "dots", &[9, 1], &[0, 31, 62, 93, 124, 155, 186, 217, 248, 200])?;
        Ok(made)
    }

    /// The images that shaders read, in the order of `develop.frag`'s bindings.
    pub fn read(&self) -> Vec<&Image> {
        let others = [&self.shadow, &self.stamp, &self.bricks, &self.dots];
        std::iter::once(&self.resolved).chain(&self.tiles).chain(others).collect()
    }
}
