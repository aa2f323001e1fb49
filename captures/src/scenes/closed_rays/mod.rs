//! `closed_rays`: ray-tracing shaders of all six stages about which every number is known beforehand.
//!
//! Rays run straight on from every place of a picture of 64x32; what each meets, which shaders that calls and what these do
//! follows from the place. Which invocations share a subgroup is the driver's affair; how many take which way is not.
//! Every group's record stands alone at a multiple of what a table's address is a multiple of, so that tables are plain.

use ash::vk;

use super::tracing::{self, Groups, HitGroup, IDENTITY, Instance, Painting, Traced};
use super::{Scene, Show};
use crate::error::Result;
use crate::gpu::pipeline::Resource;
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Colour, Gpu, Needs};

const EXTENT: vk::Extent2D = vk::Extent2D { width: 64, height: 32 };

const COLOUR: Colour = [0.5, 0.3, 0.7];

/// Reaches far beyond the picture on three sides; its edge at y = 16 passes between two rows of rays.
const TRIANGLE: [f32; 9] = [-200.0, 16.0, -1.0, 264.0, 16.0, -1.0, 32.0, -400.0, -1.0];

/// From, to: its sides pass between rays.
const BOX: [f32; 6] = [-1.0, 16.0, -3.0, 32.0, 33.0, -2.0];

/// The scene.
pub struct ClosedRays;

impl Scene for ClosedRays {
    fn name(&self) -> &'static str {
        "closed_rays"
    }

    fn about(&self) -> &'static str {
        "ray-tracing shaders of all stages whose calls and divergence are known beforehand"
    }

    fn frames(&self) -> u32 {
        2
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn image_usage(&self) -> vk::ImageUsageFlags {
        tracing::image_usage()
    }

    fn pictured(&self) -> &'static [u32] {
        &[1, 2]
    }

    fn needs(&self) -> Needs {
        tracing::needs()
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        let both = vk::ShaderStageFlags::RAYGEN_KHR | vk::ShaderStageFlags::CLOSEST_HIT_KHR;
        let bindings = [
            (vk::DescriptorType::ACCELERATION_STRUCTURE_KHR, both),
            (vk::DescriptorType::STORAGE_IMAGE, vk::ShaderStageFlags::RAYGEN_KHR),
        ];
        let layout = gpu.layout("closed", &bindings, None)?;
        let (picture, target) = tracing::picture(gpu, EXTENT)?;
        let set = tracing::only_set(gpu, &layout, &[Resource::Structure(world(gpu)?), target])?;
        let plane = HitGroup {
            closest: Some(spirv!("plane.rchit")),
            any: Some(spirv!("plane.rahit")),
            intersection: None,
        };
        let solid = HitGroup {
            closest: Some(spirv!("box.rchit")),
            any: None,
            intersection: Some(spirv!("box.rint")),
        };
        let groups = Groups {
            raygen: Some(spirv!("camera.rgen")),
            miss: vec![spirv!("sky.rmiss"), spirv!("shadow.rmiss"), spirv!("behind.rmiss")],
            callable: vec![spirv!("even.rcall"), spirv!("odd.rcall")],
            hit: vec![plane, solid],
            recursion: 2,
        };
        let traced = Traced::new(gpu, "closed", &layout, &groups)?;
        let stage = vk::PipelineStageFlags::RAY_TRACING_SHADER_KHR;
        let painting = Painting::new(gpu, swapchain, picture, stage, move |gpu, commands| {
            gpu.labelled(commands, "trace", COLOUR, || {
                traced.launch(gpu, commands, set, [EXTENT.width, EXTENT.height]);
            });
        })?;
        Ok(Box::new(painting))
    }
}

/// What the rays meet: a triangle across the upper half, and a box in a quarter of the lower.
fn world(gpu: &Gpu) -> Result<vk::AccelerationStructureKHR> {
    let plane = tracing::bottom(gpu, "plane", &[tracing::triangles(gpu, "plane", &TRIANGLE, false)?])?;
    let solid = tracing::bottom(gpu, "box", &[tracing::aabbs(gpu, "box", &BOX, true)?])?;
    let instance = |structure, record| {
        let (rows, custom_index, opaque) = (IDENTITY, 0, false);
        Instance { structure, rows, custom_index, record, opaque }
    };
    tracing::top(gpu, "world", &[instance(plane, 0), instance(solid, 1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a place's ray generation computes: the sources once more, in Rust.
    fn sum(x: u32, y: u32) -> u32 {
        if y >= 28 {
            return 2;
        }
        let (plane, solid) = (y < 16, x < 32 && x % 8 < 4);
        let again = if y < 4 { 5 } else { 0 };
        let first = match x % 4 {
            0 if plane => 11,
            1 if plane => 21 + again,
            _ if plane => 23 + again,
            _ if solid => 40,
            _ => 10,
        };
        let second = match x % 4 {
            1 | 3 => 0,
            2 if plane => 63,
            _ if !plane && solid => 60,
            _ => 70,
        };
        let called = match x % 4 {
            _ if y >= 8 => 1,
            0 | 1 => 100,
            2 => 110,
            _ => 115,
        };
        first + second + called
    }

    #[test]
    fn the_pictures_are_right() {
        for frame in ClosedRays.pictured() {
            let path = format!("{}/samples/closed_rays_frame_{frame}.png", env!("CARGO_MANIFEST_DIR"));
            let (extent, pixels) = crate::picture::read_png(&path);
            assert_eq!(extent, EXTENT);
            for (at, rgb) in (0..).zip(pixels.chunks_exact(3)) {
                let (x, y) = (at % EXTENT.width, at / EXTENT.width);
                let want = [41, 23, 7].map(|factor| (sum(x, y) * factor) as u8);
                assert_eq!(rgb, want, "frame {frame}, pixel {x}, {y}");
            }
        }
    }
}
