//! What the scene is made of, as bytes: meshes, boxes, materials, the camera, the host's instances.

use std::f32::consts::TAU;

use crate::math::{cross, normalize, sub};

/// Steps around a torus, and around its tube.
const RING: u32 = 40;
const TUBE: u32 = 20;

/// The spheres of a heap.
pub const SPHERES: u32 = 5;

/// The bytes of a material; `Material` in `shared.glsl`.
pub const MATERIAL_BYTES: u64 = 48;

/// The materials, each with the colour and gloss, the pattern, its scale, and how much of a sphere it cuts out.
/// Each is linked to the next, and the last to the first.
pub const MATERIALS: [([f32; 4], [f32; 3]); 6] = [
    ([0.72, 0.68, 0.60, 0.08], [0.0, 1.0, 0.0]),
    ([0.10, 0.13, 0.20, 0.22], [1.0, 1.6, 0.02]),
    ([0.92, 0.50, 0.12, 0.20], [1.0, 1.6, 0.06]),
    ([0.05, 0.36, 0.45, 0.12], [1.0, 2.6, 0.07]),
    ([0.70, 0.08, 0.12, 0.15], [1.0, 1.7, 0.10]),
    ([0.93, 0.86, 0.74, 0.10], [0.0, 4.0, 0.08]),
];

/// The material with which each record's walk begins: ground, torus, two kinds of heap.
pub const GROUND_MATERIAL: u64 = 0;
pub const TORUS_MATERIAL: u64 = 2;
pub const HEAP_MATERIALS: [u64; 2] = [2, 3];

/// A mesh: corners of position and normal, and triangles.
pub struct Mesh {
    pub corners: Vec<f32>,
    pub triangles: Vec<u32>,
}

/// Little-endian bytes.
pub fn bytes<const N: usize, T: Copy>(values: &[T], to: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|value| to(*value)).collect()
}

/// Bytes of floats.
pub fn floats(values: &[f32]) -> Vec<u8> {
    bytes(values, f32::to_le_bytes)
}

/// The ground: a square at height zero.
pub fn ground() -> Mesh {
    let at = [[-14.0, -14.0], [14.0, -14.0], [14.0, 14.0], [-14.0, 14.0f32]];
    let corners = at.iter().flat_map(|[x, z]| [*x, 0.0, *z, 0.0, 1.0, 0.0]).collect();
    Mesh { corners, triangles: vec![0, 2, 1, 0, 3, 2] }
}

/// A torus around the axis z, of radius 1 and a tube of a third of that.
pub fn torus() -> Mesh {
    let mut corners = Vec::new();
    for i in 0..RING {
        let (sin, cos) = (i as f32 / RING as f32 * TAU).sin_cos();
        for j in 0..TUBE {
            let (up, out) = (j as f32 / TUBE as f32 * TAU).sin_cos();
            let radius = 1.0 + 0.34 * out;
            corners.extend([cos * radius, sin * radius, 0.34 * up, cos * out, sin * out, up]);
        }
    }
    let corner = |i: u32, j: u32| i % RING * TUBE + j % TUBE;
    let triangles = (0..RING * TUBE)
        .flat_map(|n| {
            let (i, j) = (n / TUBE, n % TUBE);
            let [a, b, c, d] = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
            [a, b, c, a, c, d]
        })
        .collect();
    Mesh { corners, triangles }
}

/// A large sphere and four small ones around it, each as its box.
pub fn boxes() -> Vec<f32> {
    let mut boxes = Vec::new();
    let mut sphere = |at: [f32; 3], radius: f32| {
        boxes.extend(at.map(|x| x - radius));
        boxes.extend(at.map(|x| x + radius));
    };
    sphere([0.0; 3], 0.8);
    for i in 1..SPHERES {
        let (sin, cos) = (i as f32 / (SPHERES - 1) as f32 * TAU).sin_cos();
        sphere([1.0 * cos, 0.0, 1.0 * sin], 0.2);
    }
    boxes
}

/// The ring of materials, in a buffer at `address`.
pub fn materials(address: u64) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, (colour, pattern)) in (1..).zip(MATERIALS) {
        out.extend(floats(&colour));
        out.extend(floats(&pattern));
        out.extend([0; 4]);
        let next = index % MATERIALS.len() as u64;
        out.extend((address + next * MATERIAL_BYTES).to_le_bytes());
        out.extend([0; 8]);
    }
    out
}

/// The camera's bytes at a moment; `Camera` in `camera.rgen`.
pub fn camera(seconds: f32, aspect: f32) -> Vec<u8> {
    let around = 0.55 + 0.12 * seconds;
    let eye = [6.0 * around.sin(), 2.5, 6.0 * around.cos()];
    let forward = normalize(sub([0.0, 0.88, 0.0], eye));
    let right = normalize(cross(forward, [0.0, 1.0, 0.0]));
    let up = cross(right, forward);
    let half = 0.40;
    let sun = normalize([0.75, 0.85, 0.35]);
    let rows = [eye, right.map(|x| x * half * aspect), up.map(|x| x * half), forward, sun];
    rows.iter().flat_map(|row| floats(&[row[0], row[1], row[2], 0.0])).collect()
}

/// One instance: rows of its transform, custom index, record and reference.
pub fn instance(rows: [[f32; 4]; 3], custom: u32, record: u32, reference: u64) -> Vec<u8> {
    let mut out = floats(&rows.concat());
    out.extend((custom | 0xFF00_0000).to_le_bytes());
    out.extend(record.to_le_bytes());
    out.extend(reference.to_le_bytes());
    out
}

/// The instances that the host writes: the ground, and two tori that turn through each other.
pub const HOST_INSTANCES: u32 = 3;

/// Their bytes at a moment.
pub fn instances(seconds: f32, ground: u64, torus: u64) -> Vec<u8> {
    let (sin, cos) = (0.8 * seconds).sin_cos();
    let still = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
    let upright = [[cos, 0.0, sin, 0.0], [0.0, 1.0, 0.0, 1.34], [-sin, 0.0, cos, 0.0]];
    let k = 0.5;
    let across = [[-k * sin, 0.0, k * cos, cos], [k * cos, 0.0, k * sin, 1.34 + 0.0], [0.0, k, 0.0, -sin]];
    let mut out = instance(still, 0, 0, ground);
    out.extend(instance(upright, 0, 1, torus));
    out.extend(instance(across, 2, 1, torus));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn materials_form_a_ring() {
        let all = materials(0x1000);
        assert_eq!(all.len() as u64, MATERIALS.len() as u64 * MATERIAL_BYTES);
        let next =
            |i: usize| u64::from_le_bytes(all[i * MATERIAL_BYTES as usize + 32..][..8].try_into().unwrap());
        assert_eq!(next(0), 0x1000 + MATERIAL_BYTES);
        assert_eq!(next(MATERIALS.len() - 1), 0x1000);
    }

    #[test]
    fn instances_are_as_many_as_said() {
        assert_eq!(instances(0.3, 1, 2).len(), 64 * HOST_INSTANCES as usize);
        assert_eq!(boxes().len() as u32, 6 * SPHERES);
    }

    #[test]
    fn a_torus_points_outwards() {
        let torus = torus();
        assert!(torus.triangles.iter().all(|i| *i < RING * TUBE));
        for corner in torus.corners.chunks_exact(6) {
            let length: f32 = corner[3..].iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() < 1e-5);
        }
    }
}
