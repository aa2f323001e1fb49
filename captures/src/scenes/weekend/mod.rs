//! `weekend` and `weekend_anyhit`: the last picture of "Ray Tracing in One Weekend", by a loop in ray generation.
//!
//! About 480 spheres are boxes with an intersection shader, of matt stuff, metal and glass; a path goes on from hit to hit in
//! a loop, up to sixteen times. Nothing is accumulated and a path's random numbers follow from its pixel and sample alone, so
//! that all frames are equal. `weekend_anyhit` is the same with an any-hit shader that is asked about every hit.
//! In the size and with the samples that the command line says; what is committed is small.

mod spheres;

use ash::vk;

use super::tracing::paths::{Content, Paths};
use super::tracing::{self, Groups, HitGroup, IDENTITY, Instance};
use crate::error::Result;
use crate::gpu::Gpu;

/// The scene.
pub const WEEKEND: Paths = Paths {
    name: "weekend",
    about: "spheres of matt stuff, metal and glass, traced in a loop of 16 bounces; --size, --samples",
    frames: 3,
    extent: vk::Extent2D { width: 96, height: 54 },
    samples: 2,
    bounces: 16,
    content: |gpu| content(gpu, false),
};

/// The same with any-hit shaders.
pub const WEEKEND_ANYHIT: Paths = Paths {
    name: "weekend_anyhit",
    about: "the same, each hit asked about by an any-hit shader",
    content: |gpu| content(gpu, true),
    ..WEEKEND
};

fn content(gpu: &Gpu, any_hit: bool) -> Result<Content> {
    let all = spheres::spheres();
    let (mut places, mut boxes, mut surfaces) = (Vec::new(), Vec::new(), Vec::new());
    for sphere in &all {
        places.extend(sphere.centre.iter().chain([&sphere.radius]));
        boxes.extend(sphere.centre.iter().map(|c| c - sphere.radius));
        boxes.extend(sphere.centre.iter().map(|c| c + sphere.radius));
        surfaces.extend(sphere.surface.iter().chain(&[0.0; 3]));
    }
    let field = [tracing::aabbs(gpu, "spheres", &boxes, !any_hit)?];
    let field = tracing::bottom(gpu, "spheres", &field)?;
    let instance = Instance { structure: field, rows: IDENTITY, custom_index: 0, record: 0, opaque: false };
    let hit = vk::ShaderStageFlags::CLOSEST_HIT_KHR;
    let sphere = HitGroup {
        closest: Some(spirv!("sphere.rchit")),
        any: any_hit.then_some(spirv!("sphere.rahit")),
        intersection: Some(spirv!("sphere.rint")),
    };
    Ok(Content {
        world: tracing::top(gpu, "world", &[instance])?,
        buffers: vec![
            (tracing::stored(gpu, "places", &places)?, hit | vk::ShaderStageFlags::INTERSECTION_KHR),
            (tracing::stored(gpu, "surfaces", &surfaces)?, hit),
        ],
        groups: Groups {
            raygen: Some(spirv!("camera.rgen")),
            miss: vec![spirv!("sky.rmiss")],
            hit: vec![sphere],
            recursion: 1,
            ..Groups::default()
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is asked about each hit never says no, so that nothing of the picture changes.
    #[test]
    fn any_hit_shaders_do_not_show() {
        let of = |name: &str| {
            let path = format!("{}/samples/{name}_frame_1.png", env!("CARGO_MANIFEST_DIR"));
            crate::picture::read_png(&path)
        };
        let (extent, pixels) = of("weekend");
        assert_eq!(extent, WEEKEND.extent);
        assert!(pixels == of("weekend_anyhit").1);
        // The sky is above, spheres of many colours are below.
        let distinct: std::collections::HashSet<_> = pixels.chunks_exact(3).collect();
        assert!(distinct.len() > 1000, "{}", distinct.len());
    }
}
