//! `effects`: a material with a dear effect whose weight is mostly zero.
//!
//! The example of Neubauer's thesis on profile-guided optimization of shaders, 3.2.4: a shader computes effects of a material and
//! blends them by weights, of which most are zero, so that most of what it computes is multiplied by nothing. Twelve tiles of
//! 16x16 pixels; one has the effect. What was seen of the weights says that a way without the effect is the usual one. The
//! pipeline and what is recorded are `vm`'s, with other shaders and another block.

use ash::vk;

use super::vm::{EXTENT, Running};
use super::{Scene, Show};
use crate::error::Result;
use crate::gpu::Gpu;
use crate::gpu::swapchain::Swapchain;

/// Tiles in a row, and in all.
const ROW: u32 = 4;
const TILES: usize = 12;

/// The tile that has the effect.
const WOVEN: usize = 6;

/// What lies in the uniform buffer: of each tile a colour and a weight.
fn tiles() -> [[u32; 4]; TILES] {
    std::array::from_fn(|n| {
        let k = n as u32;
        [40 + 12 * k, 160 - 9 * k, 30 + 40 * (k % ROW), u32::from(n == WOVEN)]
    })
}

/// The scene, before it runs.
pub struct Effects;

impl Scene for Effects {
    fn name(&self) -> &'static str {
        "effects"
    }

    fn about(&self) -> &'static str {
        "a material with a dear effect, whose weight is zero in eleven tiles of twelve"
    }

    fn frames(&self) -> u32 {
        2
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn pictured(&self) -> &'static [u32] {
        &[1]
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        let bytes: Vec<u8> = tiles().iter().flatten().flat_map(|w| w.to_le_bytes()).collect();
        let shaders = [spirv!("screen.vert"), spirv!("effects.frag")];
        Ok(Box::new(Running::new(gpu, swapchain, "effects", shaders, &bytes)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The effect of a pixel, as the shader has it.
    fn cloth(x: u32, y: u32) -> u32 {
        (0..256).fold(x.wrapping_mul(40503).wrapping_add(y), |thread, n| {
            (thread ^ thread >> 15).wrapping_mul(739_982_445).wrapping_add(n)
        })
    }

    #[test]
    fn the_picture_is_what_the_tiles_say() {
        let path = format!("{}/samples/effects_frame_1.png", env!("CARGO_MANIFEST_DIR"));
        let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels.len() as u32, EXTENT.width * EXTENT.height * 3);
        let mut woven = 0;
        for (i, rgb) in (0..).zip(pixels.chunks_exact(3)) {
            let (x, y) = (i % EXTENT.width, i / EXTENT.width);
            let [r, g, b, weight] = tiles()[(y / 16 * ROW + x / 16) as usize];
            let thread = cloth(x, y);
            let sum = [(r, 8), (g, 16), (b, 24)].map(|(c, by)| (c + (thread >> by & 63) * weight) as u8);
            assert_eq!(rgb, sum, "pixel {x}, {y}");
            woven += weight;
        }
        assert_eq!(woven, 256);
    }
}
