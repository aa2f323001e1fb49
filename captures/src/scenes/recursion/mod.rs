//! `recursion`: rays that are traced on by what they meet, four deep, in two launches of two pipelines and a ray query.
//!
//! Closest-hit and miss shaders trace, shadow rays skip closest-hit shaders, callable shaders call each other; the discs are
//! boxes with an intersection shader that reports up to two hits, of which an any-hit shader ignores some and ends rays at
//! others; in the one of their instances that is forced to be opaque it is not asked. The wall and the mirror are two opaque
//! geometries. The picture is of three parts: the first launch, 32x16, above;
//! the second, by a pipeline of its own, and the query, 32x8 each. Every number of every ray is a multiple of 1/32 and no
//! edge passes through one: what each ray meets is known beforehand (tests/ray_events).

use std::ffi::CStr;

use ash::vk;

use super::tracing::{self, Groups, HitGroup, IDENTITY, Instance, Painting, Traced};
use super::{Scene, Show};
use crate::error::Result;
use crate::gpu::pipeline::Resource;
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Colour, Gpu, Needs};

const EXTENT: vk::Extent2D = vk::Extent2D { width: 32, height: 32 };

const COLOUR: Colour = [0.6, 0.4, 0.8];

/// Centre and radius; the radii are such that no ray that may come near an edge does.
const DISCS: [[f32; 4]; 3] = [[8.0, 8.0, -2.0, 2.8628], [12.0, 6.0, -4.0, 4.0783], [5.0, 3.0, -1.25, 2.5657]];

/// Half of a disc's box's depth: more than half of the disc's.
const DEPTH: f32 = 0.75;

/// The wall behind everything, whose upper edge passes between rays, and the mirror behind the camera, likewise on the right.
const WALL: [f32; 9] = [-200.0, 12.03, -8.0, 264.0, 12.03, -8.0, 32.0, -400.0, -8.0];
const MIRROR: [f32; 9] = [20.03, -400.0, 4.0, 20.03, 400.0, 4.0, -600.0, 7.0, 4.0];

/// Where the discs are once more.
const MOVED: [f32; 12] = [1.0, 0.0, 0.0, 14.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, -0.5];

/// The scene.
pub struct Recursion;

impl Scene for Recursion {
    fn name(&self) -> &'static str {
        "recursion"
    }

    fn about(&self) -> &'static str {
        "traces four deep from all stages that may, two launches of two pipelines, a ray query"
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
        const EXTENSIONS: [&CStr; 5] = [
            ash::khr::acceleration_structure::NAME,
            ash::khr::ray_tracing_pipeline::NAME,
            ash::khr::deferred_host_operations::NAME,
            ash::khr::ray_query::NAME,
            ash::khr::ray_tracing_maintenance1::NAME,
        ];
        Needs { extensions: &EXTENSIONS, ray_queries: true, ..tracing::needs() }
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        use vk::{DescriptorType as Kind, ShaderStageFlags as Who};
        let traces = Who::RAYGEN_KHR | Who::CLOSEST_HIT_KHR | Who::MISS_KHR | Who::COMPUTE;
        let bindings = [
            (Kind::ACCELERATION_STRUCTURE_KHR, traces),
            (Kind::STORAGE_IMAGE, Who::RAYGEN_KHR | Who::COMPUTE),
            (Kind::STORAGE_BUFFER, Who::INTERSECTION_KHR | Who::COMPUTE),
        ];
        let layout = gpu.layout("recursion", &bindings, None)?;
        let (picture, target) = tracing::picture(gpu, EXTENT)?;
        let discs = tracing::stored(gpu, "discs", &DISCS.concat())?;
        let set = tracing::only_set(gpu, &layout, &[Resource::Structure(world(gpu)?), target, discs])?;

        let disc = HitGroup {
            closest: Some(spirv!("disc.rchit")),
            any: Some(spirv!("disc.rahit")),
            intersection: Some(spirv!("disc.rint")),
        };
        let opaque = |closest| HitGroup { closest: Some(closest), ..HitGroup::default() };
        let groups = Groups {
            raygen: Some(spirv!("camera.rgen")),
            miss: vec![spirv!("sky.rmiss"), spirv!("light.rmiss")],
            callable: vec![spirv!("even.rcall"), spirv!("odd.rcall")],
            hit: vec![opaque(spirv!("wall.rchit")), opaque(spirv!("mirror.rchit")), disc],
            recursion: 4,
        };
        let first = Traced::new(gpu, "recursion", &layout, &groups)?;
        let met = HitGroup {
            closest: Some(spirv!("map.rchit")),
            any: Some(spirv!("map.rahit")),
            intersection: None,
        };
        let solid = HitGroup { intersection: Some(spirv!("disc.rint")), ..met };
        let groups = Groups {
            raygen: Some(spirv!("map.rgen")),
            miss: vec![spirv!("map.rmiss")],
            hit: vec![met, met, solid],
            recursion: 1,
            ..Groups::default()
        };
        let second = Traced::new(gpu, "map", &layout, &groups)?;
        let query = gpu.compute_pipeline("query", spirv!("query.comp"), &layout)?;

        let stage = vk::PipelineStageFlags::RAY_TRACING_SHADER_KHR | vk::PipelineStageFlags::COMPUTE_SHADER;
        let painting = Painting::new(gpu, swapchain, picture, stage, move |gpu, commands| {
            gpu.labelled(commands, "recursion", COLOUR, || first.launch(gpu, commands, set, [32, 16]));
            gpu.labelled(commands, "map", COLOUR, || second.launch(gpu, commands, set, [32, 8]));
            gpu.labelled(commands, "query", COLOUR, || unsafe {
                let point = vk::PipelineBindPoint::COMPUTE;
                gpu.device.cmd_bind_pipeline(commands, point, query);
                gpu.device.cmd_bind_descriptor_sets(commands, point, layout.pipeline, 0, &[set], &[]);
                gpu.device.cmd_dispatch(commands, 4, 1, 1);
            });
        })?;
        Ok(Box::new(painting))
    }
}

/// Wall and mirror, and the discs twice.
fn world(gpu: &Gpu) -> Result<vk::AccelerationStructureKHR> {
    let wall = tracing::triangles(gpu, "wall", &WALL, true)?;
    let mirror = tracing::triangles(gpu, "mirror", &MIRROR, true)?;
    let flat = tracing::bottom(gpu, "wall and mirror", &[wall, mirror])?;
    let half = |[.., radius]: [f32; 4]| [radius, radius, DEPTH];
    let boxes: Vec<f32> = DISCS
        .iter()
        .flat_map(|disc| {
            let half = half(*disc);
            let end = move |side: f32| (0..3).map(move |axis| disc[axis] + side * half[axis]);
            end(-1.0).chain(end(1.0))
        })
        .collect();
    let discs = tracing::bottom(gpu, "discs", &[tracing::aabbs(gpu, "discs", &boxes, false)?])?;
    let instance = |structure, rows, custom_index, record, opaque| Instance {
        structure,
        rows,
        custom_index,
        record,
        opaque,
    };
    let instances = [
        instance(flat, IDENTITY, 1, 0, false),
        instance(discs, IDENTITY, 5, 2, false),
        instance(discs, MOVED, 9, 2, true),
    ];
    tracing::top(gpu, "world", &instances)
}
