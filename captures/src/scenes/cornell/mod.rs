//! `cornell`: a closed box with a lamp and two blocks, from which no ray escapes.
//!
//! The camera is inside. A path goes on until it meets the lamp, which is small, so that many go on to the limit: what
//! trapped rays are like. All is opaque triangles without any-hit shaders: a hit leaves a trace where it is the closest one.

use ash::vk;

use super::tracing::paths::{Content, Paths};
use super::tracing::{self, Groups, HitGroup, IDENTITY, Instance};
use crate::error::Result;
use crate::gpu::Gpu;

/// The scene.
pub const CORNELL: Paths = Paths {
    name: "cornell",
    about: "a closed box in which rays are trapped, up to 24 on a path; --size, --samples",
    frames: 2,
    extent: vk::Extent2D { width: 48, height: 48 },
    samples: 2,
    bounces: 24,
    content,
};

/// The twelve triangles of a box, two a side: left, right, below, above, behind, in front.
fn cuboid(from: [f32; 3], to: [f32; 3]) -> Vec<f32> {
    let mut corners = Vec::new();
    for axis in 0..3 {
        for end in [from, to] {
            let corner = |(a, b): (bool, bool)| {
                let mut at = [0.0; 3];
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                at[axis] = end[axis];
                at[u] = if a { to[u] } else { from[u] };
                at[v] = if b { to[v] } else { from[v] };
                at
            };
            let quad =
                [(false, false), (true, false), (true, true), (false, false), (true, true), (false, true)];
            corners.extend(quad.into_iter().flat_map(corner));
        }
    }
    corners
}

/// Turned about the vertical axis, stretched, moved: rows of a matrix.
fn placed(turn: f32, size: [f32; 3], at: [f32; 3]) -> [f32; 12] {
    let (s, c) = turn.sin_cos();
    [
        c * size[0],
        0.0,
        s * size[2],
        at[0], //
        0.0,
        size[1],
        0.0,
        at[1], //
        -s * size[0],
        0.0,
        c * size[2],
        at[2],
    ]
}

fn content(gpu: &Gpu) -> Result<Content> {
    let walls = cuboid([-1.0; 3], [1.0, 1.0, 3.0]);
    let walls = tracing::bottom(gpu, "walls", &[tracing::triangles(gpu, "walls", &walls, true)?])?;
    let block = cuboid([-1.0; 3], [1.0; 3]);
    let block = tracing::bottom(gpu, "block", &[tracing::triangles(gpu, "block", &block, true)?])?;
    let instance = |structure, rows, custom_index, record| Instance {
        structure,
        rows,
        custom_index,
        record,
        opaque: false,
    };
    let small = placed(-0.3, [0.3, 0.3, 0.3], [0.35, -0.69, 0.35]);
    let tall = placed(0.32, [0.3, 0.6, 0.3], [-0.35, -0.39, -0.3]);
    let instances =
        [instance(walls, IDENTITY, 0, 0), instance(block, small, 1, 1), instance(block, tall, 2, 1)];
    let opaque = |closest| HitGroup { closest: Some(closest), ..HitGroup::default() };
    Ok(Content {
        world: tracing::top(gpu, "world", &instances)?,
        buffers: vec![],
        groups: Groups {
            raygen: Some(spirv!("camera.rgen")),
            miss: vec![spirv!("outside.rmiss")],
            hit: vec![opaque(spirv!("wall.rchit")), opaque(spirv!("block.rchit"))],
            recursion: 1,
            ..Groups::default()
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cuboid_is_closed_and_in_the_order_of_its_sides() {
        let corners = cuboid([-1.0; 3], [1.0, 1.0, 3.0]);
        assert_eq!(corners.len(), 12 * 9);
        for (side, of) in corners.chunks_exact(18).enumerate() {
            let (axis, far) = (side / 2, side % 2 == 1);
            let want = if far { [1.0, 1.0, 3.0][axis] } else { -1.0 };
            assert!(of.chunks_exact(3).all(|at| at[axis] == want), "side {side}");
        }
    }

    /// What is missed would be bright blue; a lamp, a red and a green wall are to be seen.
    #[test]
    fn nothing_escapes() {
        let path = format!("{}/samples/cornell_frame_1.png", env!("CARGO_MANIFEST_DIR"));
        let (extent, pixels) = crate::picture::read_png(&path);
        assert_eq!(extent, CORNELL.extent);
        let any = |of: fn(&[u8]) -> bool| pixels.chunks_exact(3).filter(|p| of(p)).count();
        assert_eq!(any(|p| p[0] == 0 && p[1] == 255 && p[2] == 255), 0);
        assert!(any(|p| p == [255; 3]) > 20);
        assert!(any(|p| u32::from(p[0]) > 2 * u32::from(p[1].max(p[2]))) > 50);
        assert!(any(|p| u32::from(p[1]) * 2 > 3 * u32::from(p[0].max(p[2]))) > 50);
    }
}
