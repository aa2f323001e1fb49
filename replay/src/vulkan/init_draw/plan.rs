//! Which shader draws which contents, and where it reads them. Pure: no device is asked.

use crate::vulkan::ImageState;
use ash::vk;

/// The fragment shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shader {
    /// Colours read and written as floats.
    Float,
    /// Colours that are signed integers.
    Int,
    /// Colours that are unsigned integers.
    Uint,
    /// Depths.
    Depth,
    /// One bit of stencil values.
    Stencil,
}

/// Where a shader reads the contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A single-sample image of our own, of this format.
    Image(vk::Format),
    /// The staging buffer itself, with so many bytes a texel.
    Buffer(u32),
}

/// How the contents of one aspect of an image are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub shader: Shader,
    pub source: Source,
    /// `Part::encoding` for the shader.
    pub encoding: u32,
}

/// Encodings that the shaders know, as they number them.
const PLAIN: u32 = 0;
const SRGB: u32 = 1;
const D16: u32 = 0;
const D24: u32 = 1;
const D32: u32 = 2;

impl Plan {
    /// For this aspect of an image; or why it cannot be drawn.
    pub fn new(image: &ImageState, aspect: vk::ImageAspectFlags) -> Result<Self, &'static str> {
        use vk::Format as F;
        use vk::ImageAspectFlags as A;
        if image.kind == vk::ImageType::TYPE_3D {
            return Err("three-dimensional");
        }
        if !image.usage.contains(attachment_usage(image.aspects())) {
            return Err("cannot be drawn to");
        }
        match aspect {
            A::COLOR => Ok(colour(image.format)),
            A::DEPTH => {
                let (texel, encoding) = match image.format {
                    F::D16_UNORM | F::D16_UNORM_S8_UINT => (2, D16),
                    F::X8_D24_UNORM_PACK32 | F::D24_UNORM_S8_UINT => (4, D24),
                    F::D32_SFLOAT | F::D32_SFLOAT_S8_UINT => (4, D32),
                    _ => return Err("of an unknown depth format"),
                };
                Ok(Plan { shader: Shader::Depth, source: Source::Buffer(texel), encoding })
            }
            A::STENCIL => Ok(Plan { shader: Shader::Stencil, source: Source::Buffer(1), encoding: PLAIN }),
            _ => Err("of several planes"),
        }
    }
}

/// The use that drawing to these aspects takes.
pub(super) fn attachment_usage(aspects: vk::ImageAspectFlags) -> vk::ImageUsageFlags {
    if aspects.contains(vk::ImageAspectFlags::COLOR) {
        vk::ImageUsageFlags::COLOR_ATTACHMENT
    } else {
        vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
    }
}

fn colour(format: vk::Format) -> Plan {
    use vk::Format as F;
    let shader = match format {
        F::R8_SINT
        | F::R8G8_SINT
        | F::R8G8B8_SINT
        | F::B8G8R8_SINT
        | F::R8G8B8A8_SINT
        | F::B8G8R8A8_SINT
        | F::A8B8G8R8_SINT_PACK32
        | F::A2R10G10B10_SINT_PACK32
        | F::A2B10G10R10_SINT_PACK32
        | F::R16_SINT
        | F::R16G16_SINT
        | F::R16G16B16_SINT
        | F::R16G16B16A16_SINT
        | F::R32_SINT
        | F::R32G32_SINT
        | F::R32G32B32_SINT
        | F::R32G32B32A32_SINT => Shader::Int,
        F::R8_UINT
        | F::R8G8_UINT
        | F::R8G8B8_UINT
        | F::B8G8R8_UINT
        | F::R8G8B8A8_UINT
        | F::B8G8R8A8_UINT
        | F::A8B8G8R8_UINT_PACK32
        | F::A2R10G10B10_UINT_PACK32
        | F::A2B10G10R10_UINT_PACK32
        | F::R16_UINT
        | F::R16G16_UINT
        | F::R16G16B16_UINT
        | F::R16G16B16A16_UINT
        | F::R32_UINT
        | F::R32G32_UINT
        | F::R32G32B32_UINT
        | F::R32G32B32A32_UINT => Shader::Uint,
        _ => Shader::Float,
    };
    // The target encodes what it is given; the bytes themselves are read through a format that does not decode.
    let linear = match format {
        F::R8_SRGB => Some(F::R8_UNORM),
        F::R8G8_SRGB => Some(F::R8G8_UNORM),
        F::R8G8B8_SRGB => Some(F::R8G8B8_UNORM),
        F::B8G8R8_SRGB => Some(F::B8G8R8_UNORM),
        F::R8G8B8A8_SRGB => Some(F::R8G8B8A8_UNORM),
        F::B8G8R8A8_SRGB => Some(F::B8G8R8A8_UNORM),
        F::A8B8G8R8_SRGB_PACK32 => Some(F::A8B8G8R8_UNORM_PACK32),
        _ => None,
    };
    let encoding = if linear.is_some() { SRGB } else { PLAIN };
    Plan { shader, source: Source::Image(linear.unwrap_or(format)), encoding }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ash::vk::Handle;

    fn image(format: vk::Format, kind: vk::ImageType, usage: vk::ImageUsageFlags) -> ImageState {
        let info = vk::ImageCreateInfo {
            image_type: kind,
            format,
            usage,
            extent: vk::Extent3D { width: 4, height: 4, depth: 1 },
            mip_levels: 1,
            array_layers: 1,
            samples: vk::SampleCountFlags::TYPE_4,
            ..Default::default()
        };
        ImageState::new(1, vk::Image::from_raw(1), &info, 0)
    }

    fn plan(format: vk::Format, aspect: vk::ImageAspectFlags) -> Plan {
        let i = image(format, vk::ImageType::TYPE_2D, vk::ImageUsageFlags::empty());
        let usage = attachment_usage(i.aspects());
        Plan::new(&image(format, vk::ImageType::TYPE_2D, usage), aspect).expect("it can be drawn")
    }

    #[test]
    fn each_kind_of_format_has_its_shader() {
        use vk::{Format as F, ImageAspectFlags as A};
        let shader = |f, a| plan(f, a).shader;
        assert_eq!(shader(F::R16G16B16A16_SFLOAT, A::COLOR), Shader::Float);
        assert_eq!(shader(F::R16_SINT, A::COLOR), Shader::Int);
        assert_eq!(shader(F::R32G32_UINT, A::COLOR), Shader::Uint);
        assert_eq!(shader(F::D24_UNORM_S8_UINT, A::STENCIL), Shader::Stencil);
        assert_eq!(plan(F::D24_UNORM_S8_UINT, A::DEPTH).source, Source::Buffer(4));
        assert_eq!(plan(F::D16_UNORM_S8_UINT, A::DEPTH).source, Source::Buffer(2));
        assert_eq!(plan(F::B8G8R8A8_SRGB, A::COLOR).source, Source::Image(F::B8G8R8A8_UNORM));
    }

    /// The lists above hold every integer format that its name says is one, but for those of 64 bits a channel, which
    /// no device draws to.
    #[test]
    fn the_lists_of_integer_formats_are_whole() {
        for raw in 0..=184 {
            let format = vk::Format::from_raw(raw);
            let name = format!("{format:?}");
            if name.starts_with("R64") || name == "S8_UINT" || name.starts_with('D') {
                continue;
            }
            let expected = match () {
                () if name.contains("SINT") => Shader::Int,
                () if name.contains("UINT") => Shader::Uint,
                () => Shader::Float,
            };
            assert_eq!(colour(format).shader, expected, "{name}");
        }
    }

    #[test]
    fn what_cannot_be_drawn_says_why() {
        use vk::{Format as F, ImageAspectFlags as A, ImageType as T, ImageUsageFlags as U};
        let why = |f, k, u, a| Plan::new(&image(f, k, u), a).expect_err("it cannot be drawn");
        assert_eq!(why(F::R8_UNORM, T::TYPE_3D, U::COLOR_ATTACHMENT, A::COLOR), "three-dimensional");
        assert_eq!(why(F::R8_UNORM, T::TYPE_2D, U::SAMPLED, A::COLOR), "cannot be drawn to");
        assert_eq!(why(F::D16_UNORM, T::TYPE_2D, U::COLOR_ATTACHMENT, A::DEPTH), "cannot be drawn to");
        assert_eq!(why(F::R8_UNORM, T::TYPE_2D, U::COLOR_ATTACHMENT, A::PLANE_1), "of several planes");
    }
}
