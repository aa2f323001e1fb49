//! Writing a frame that was read back as a PNG file.
//!
//! The bytes are written as the swapchain holds them: a UNORM image already contains the sRGB-encoded
//! values that a screen would be sent, so nothing is converted but the order of the channels, and alpha,
//! which means nothing on a screen, is dropped.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use ash::vk;

use crate::error::{Doing, Error, Result};

/// Red, green and blue of each pixel, from four bytes a pixel in the swapchain's order.
///
/// Refuses formats other than the two that [`crate::gpu::swapchain`] chooses from.
pub fn rgb(format: vk::Format, pixels: &[u8]) -> Result<Vec<u8>> {
    let order = match format {
        vk::Format::R8G8B8A8_UNORM => [0, 1, 2],
        vk::Format::B8G8R8A8_UNORM => [2, 1, 0],
        other => return Err(Error::new(format!("no images are written of VkFormat {}", other.as_raw()))),
    };
    Ok(pixels.chunks_exact(4).flat_map(|pixel| order.map(|channel| pixel[channel])).collect())
}

/// Writes `rgb` to `path` as a PNG of 8 bits a channel.
pub fn write_png(path: &Path, extent: vk::Extent2D, rgb: &[u8]) -> Result<()> {
    let writing = format!("writing {}", path.display());
    let file = File::create(path).doing(&writing)?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), extent.width, extent.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    let mut writer = encoder.write_header().doing(&writing)?;
    writer.write_image_data(rgb).doing(&writing)?;
    writer.finish().doing(&writing)
}

/// Size and RGB of an image that [`write_png`] wrote: what tests compare with arithmetic.
#[cfg(test)]
pub fn read_png(path: &str) -> (vk::Extent2D, Vec<u8>) {
    let file = std::io::BufReader::new(File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(pixels.len(), (info.width * info.height * 3) as usize, "{path}");
    (vk::Extent2D { width: info.width, height: info.height }, pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_come_out_as_red_green_blue() {
        let bgra = [3, 2, 1, 255, 6, 5, 4, 0];
        assert_eq!(rgb(vk::Format::B8G8R8A8_UNORM, &bgra).unwrap(), [1, 2, 3, 4, 5, 6]);
        assert_eq!(rgb(vk::Format::R8G8B8A8_UNORM, &bgra).unwrap(), [3, 2, 1, 6, 5, 4]);
    }

    #[test]
    fn other_formats_are_refused_by_name() {
        let error = rgb(vk::Format::R16G16B16A16_SFLOAT, &[]).unwrap_err();
        assert_eq!(error.to_string(), "no images are written of VkFormat 97");
    }
}
