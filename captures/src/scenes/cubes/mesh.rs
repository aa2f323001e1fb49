//! The one mesh of the scene: a cube of edge 1 around the origin.
//!
//! Four vertices a side, so that each side has its own normal; counter-clockwise seen from outside.

use ash::vk;

/// How many indices draw the cube.
pub const INDICES: u32 = 36;

/// The bytes of a vertex: position, then normal.
pub const VERTEX_BYTES: u32 = 24;

/// Format and offset of position and normal.
pub const ATTRIBUTES: [(vk::Format, u32); 2] =
    [(vk::Format::R32G32B32_SFLOAT, 0), (vk::Format::R32G32B32_SFLOAT, 12)];

/// The 24 vertices and 36 indices, as bytes.
pub fn cube() -> (Vec<u8>, Vec<u8>) {
    let (mut vertices, mut indices) = (Vec::new(), Vec::new());
    for side in 0..6u16 {
        let axis = usize::from(side / 2);
        let sign = if side % 2 == 0 { 1.0f32 } else { -1.0 };
        for (u, v) in [(-0.5f32, -0.5f32), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
            let mut position = [0.0f32; 3];
            position[axis] = 0.5 * sign;
            // The next two axes in turn are right-handed about this one; the far side is mirrored.
            position[(axis + 1) % 3] = u * sign;
            position[(axis + 2) % 3] = v;
            let mut normal = [0.0f32; 3];
            normal[axis] = sign;
            vertices.extend(position.into_iter().chain(normal).flat_map(f32::to_le_bytes));
        }
        indices
            .extend([0, 1, 2, 2, 3, 0].into_iter().flat_map(|corner: u16| (side * 4 + corner).to_le_bytes()));
    }
    (vertices, indices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Vec3, cross, dot, sub};

    fn floats(bytes: &[u8]) -> Vec<f32> {
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    }

    #[test]
    fn every_triangle_faces_its_normal() {
        let (vertices, indices) = cube();
        assert_eq!(vertices.len(), 24 * VERTEX_BYTES as usize);
        assert_eq!(indices.len(), 2 * INDICES as usize);
        let vertices: Vec<[Vec3; 2]> =
            floats(&vertices).chunks_exact(6).map(|v| [[v[0], v[1], v[2]], [v[3], v[4], v[5]]]).collect();
        let indices: Vec<_> =
            indices.chunks_exact(2).map(|b| usize::from(u16::from_le_bytes(b.try_into().unwrap()))).collect();
        for triangle in indices.chunks_exact(3) {
            let [[a, normal], [b, _], [c, _]] = [0, 1, 2].map(|corner| vertices[triangle[corner]]);
            assert_eq!(cross(sub(b, a), sub(c, a)), normal, "{triangle:?}");
            assert_eq!(dot(a, normal), 0.5);
        }
    }
}
