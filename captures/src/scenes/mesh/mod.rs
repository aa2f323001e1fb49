//! `mesh`: leaves of triangles with squares cut out by an any-hit shader, in two instances whose boxes overlap.
//!
//! Leaves of the one instance lie between those of the other, so that a traversal that takes one instance after the other
//! meets them out of order. One geometry is opaque though its hit group has an any-hit shader, and one hit group has none
//! though its geometry is not opaque. Every number of every ray is a multiple of 1/32 and no edge passes through one: what
//! each ray meets is known beforehand (tests/ray_events).

use ash::vk;

use super::tracing::{self, Groups, HitGroup, IDENTITY, Instance, Painting, Traced};
use super::{Scene, Show};
use crate::error::Result;
use crate::gpu::pipeline::Resource;
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Colour, Gpu, Needs};

const EXTENT: vk::Extent2D = vk::Extent2D { width: 48, height: 32 };

const COLOUR: Colour = [0.4, 0.8, 0.3];

/// How deep each of the four leaves lies.
const LEAVES: [f32; 4] = [0.0, -1.0, -2.0, -3.0];

/// The other instance: turned over from left to right, so that triangles' faces are seen from the other side.
const TURNED: [f32; 12] = [-1.0, 0.0, 0.0, 47.0, 0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 1.0, -0.25];

/// The scene.
pub struct Mesh;

/// A rectangle's two triangles.
fn quad([x0, y0, x1, y1]: [f32; 4], z: f32) -> [f32; 18] {
    [x0, y0, z, x1, y0, z, x1, y1, z, x0, y0, z, x1, y1, z, x0, y1, z]
}

impl Scene for Mesh {
    fn name(&self) -> &'static str {
        "mesh"
    }

    fn about(&self) -> &'static str {
        "triangles with holes by any-hit shaders, in two instances that overlap"
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
        &[1]
    }

    fn needs(&self) -> Needs {
        tracing::needs()
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        use vk::DescriptorType as Kind;
        let raygen = vk::ShaderStageFlags::RAYGEN_KHR;
        let bindings = [(Kind::ACCELERATION_STRUCTURE_KHR, raygen), (Kind::STORAGE_IMAGE, raygen)];
        let layout = gpu.layout("mesh", &bindings, None)?;

        let leaves: Vec<f32> = LEAVES.iter().flat_map(|z| quad([4.01, 3.02, 36.01, 27.02], *z)).collect();
        let trunk = quad([17.01, 6.02, 21.01, 30.02], -1.5);
        let plant = [
            tracing::triangles(gpu, "leaves", &leaves, false)?,
            tracing::triangles(gpu, "trunk", &trunk, true)?,
        ];
        let plant = tracing::bottom(gpu, "plant", &plant)?;
        // One triangle; beyond its edge there is sky.
        let ground = [-200.0, 29.02, -6.0, 264.0, 29.02, -6.0, 32.0, -400.0, -6.0];
        let ground = tracing::bottom(gpu, "ground", &[tracing::triangles(gpu, "ground", &ground, false)?])?;
        let instance = |structure, rows, custom_index, record| Instance {
            structure,
            rows,
            custom_index,
            record,
            opaque: false,
        };
        let instances = [
            instance(plant, IDENTITY, 3, 0),
            instance(plant, TURNED, 4, 0),
            instance(ground, IDENTITY, 5, 2),
        ];
        let world = tracing::top(gpu, "world", &instances)?;
        let (picture, target) = tracing::picture(gpu, EXTENT)?;
        let set = tracing::only_set(gpu, &layout, &[Resource::Structure(world), target])?;

        let hit = |closest, any| HitGroup { closest: Some(closest), any, intersection: None };
        let holes = Some(spirv!("leaf.rahit"));
        let groups = Groups {
            raygen: Some(spirv!("camera.rgen")),
            miss: vec![spirv!("sky.rmiss"), spirv!("light.rmiss")],
            hit: vec![
                hit(spirv!("leaf.rchit"), holes),
                hit(spirv!("trunk.rchit"), holes),
                hit(spirv!("ground.rchit"), None),
            ],
            recursion: 1,
            ..Groups::default()
        };
        let traced = Traced::new(gpu, "mesh", &layout, &groups)?;
        let stage = vk::PipelineStageFlags::RAY_TRACING_SHADER_KHR;
        let painting = Painting::new(gpu, swapchain, picture, stage, move |gpu, commands| {
            gpu.labelled(commands, "trace", COLOUR, || {
                traced.launch(gpu, commands, set, [EXTENT.width, EXTENT.height]);
            });
        })?;
        Ok(Box::new(painting))
    }
}
