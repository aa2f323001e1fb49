//! What rays meet: triangles and boxes in instances, by 64-bit floats.
//!
//! Every decision (inside or outside, nearer or farther, before or after an end of the ray) leaves behind by how much it was
//! made: [`Margin`]. A scene whose least margin is far above the error of 32-bit floats is met alike by every driver.

use std::cell::Cell;

pub type V3 = [f64; 3];

pub fn add(a: V3, b: V3) -> V3 {
    std::array::from_fn(|i| a[i] + b[i])
}
pub fn sub(a: V3, b: V3) -> V3 {
    std::array::from_fn(|i| a[i] - b[i])
}
pub fn scaled(a: V3, k: f64) -> V3 {
    a.map(|x| x * k)
}
pub fn dot(a: V3, b: V3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
pub fn cross(a: V3, b: V3) -> V3 {
    std::array::from_fn(|i| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3])
}

/// The least margin by which anything was decided.
#[derive(Debug)]
pub struct Margin(Cell<f64>);

impl Default for Margin {
    fn default() -> Self {
        Margin(Cell::new(f64::INFINITY))
    }
}

impl Margin {
    /// Something was decided by this much.
    pub fn by(&self, how_much: f64) {
        self.0.set(self.0.get().min(how_much.abs()));
    }
    pub fn least(&self) -> f64 {
        self.0.get()
    }
    /// Whether `a` is less than `b`.
    pub fn less(&self, a: f64, b: f64) -> bool {
        self.by(a - b);
        a < b
    }
}

/// What an object is.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    Triangle([V3; 3]),
    Box(V3, V3),
}

/// A geometry of a structure at the bottom.
#[derive(Clone, Debug)]
pub struct Geometry {
    pub opaque: bool,
    pub shapes: Vec<Shape>,
}

/// A structure at the bottom, somewhere: `at` + `scale` × the object's place.
#[derive(Clone, Debug)]
pub struct Instance {
    pub geometries: Vec<Geometry>,
    pub scale: V3,
    pub at: V3,
    pub custom_index: u64,
    pub record: u64,
    /// Whatever its geometries say.
    pub opaque: bool,
}

/// A primitive by its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    pub instance: u64,
    pub custom_index: u64,
    pub geometry: u64,
    pub primitive: u64,
}

/// A ray.
#[derive(Clone, Copy, Debug)]
pub struct Ray {
    pub origin: V3,
    pub direction: V3,
    pub tmin: f64,
    pub tmax: f64,
    pub flags: u64,
}

impl Ray {
    pub fn at(&self, t: f64) -> V3 {
        add(self.origin, scaled(self.direction, t))
    }
}

/// What a ray may meet.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    pub object: Object,
    /// The ray as the object sees it.
    pub ray: Ray,
    pub opaque: bool,
    /// The record of its instance and geometry, with a stride of 1.
    pub record: u64,
    pub met: Met,
}

/// How it is met.
#[derive(Clone, Copy, Debug)]
pub enum Met {
    /// A triangle, with the kind of hit.
    Triangle(f64, u64),
    /// A box, from when on.
    Box(f64),
}

impl Candidate {
    /// From when on.
    pub fn from(&self) -> f64 {
        match self.met {
            Met::Triangle(t, _) | Met::Box(t) => t,
        }
    }
}

/// Kinds of hits of triangles.
const FRONT: u64 = 0xFE;
const BACK: u64 = 0xFF;

/// Everything that this ray meets between its ends.
pub fn met(instances: &[Instance], ray: &Ray, margin: &Margin) -> Vec<Candidate> {
    let mut all = vec![];
    for (i, instance) in (0..).zip(instances) {
        let origin = sub(ray.origin, instance.at);
        let seen = Ray {
            origin: std::array::from_fn(|k| origin[k] / instance.scale[k]),
            direction: std::array::from_fn(|k| ray.direction[k] / instance.scale[k]),
            ..*ray
        };
        for (g, geometry) in (0..).zip(&instance.geometries) {
            for (p, shape) in (0..).zip(&geometry.shapes) {
                let met = match shape {
                    Shape::Triangle(corners) => triangle(corners, &seen, margin),
                    Shape::Box(from, to) => cuboid(from, to, &seen, margin),
                };
                let custom_index = instance.custom_index;
                let object = Object { instance: i, custom_index, geometry: g, primitive: p };
                let record = instance.record + g;
                let opaque = instance.opaque || geometry.opaque;
                all.extend(met.map(|met| Candidate { object, ray: seen, opaque, record, met }));
            }
        }
    }
    all
}

fn triangle(corners: &[V3; 3], ray: &Ray, margin: &Margin) -> Option<Met> {
    let [a, b, c] = *corners;
    let normal = cross(sub(b, a), sub(c, a));
    let facing = dot(normal, ray.direction);
    if facing == 0.0 {
        return None;
    }
    let t = dot(normal, sub(a, ray.origin)) / facing;
    let at = ray.at(t);
    // How far within each edge, in the object's units.
    let length = dot(normal, normal).sqrt();
    let within = [(a, b), (b, c), (c, a)].map(|(from, to)| {
        let edge = sub(to, from);
        dot(cross(edge, sub(at, from)), normal) / length / dot(edge, edge).sqrt()
    });
    let least = within.into_iter().fold(f64::INFINITY, f64::min);
    margin.by(least);
    if least < 0.0 {
        return None;
    }
    margin.by(t - ray.tmin);
    margin.by(t - ray.tmax);
    // A face is a front where the normal, by the order of the corners, points against the ray.
    let kind = if facing < 0.0 { FRONT } else { BACK };
    (t > ray.tmin && t < ray.tmax).then_some(Met::Triangle(t, kind))
}

fn cuboid(from: &V3, to: &V3, ray: &Ray, margin: &Margin) -> Option<Met> {
    let (mut enter, mut leave) = (f64::NEG_INFINITY, f64::INFINITY);
    for axis in 0..3 {
        let (o, d) = (ray.origin[axis], ray.direction[axis]);
        if d == 0.0 {
            let within = (o - from[axis]).min(to[axis] - o);
            margin.by(within);
            if within < 0.0 {
                return None;
            }
            continue;
        }
        let (one, other) = ((from[axis] - o) / d, (to[axis] - o) / d);
        enter = enter.max(one.min(other));
        leave = leave.min(one.max(other));
    }
    if !margin.less(enter, leave) {
        return None;
    }
    let before = margin.less(enter, ray.tmax);
    let after = margin.less(ray.tmin, leave);
    (before && after).then_some(Met::Box(enter.max(ray.tmin)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ray(origin: V3, direction: V3) -> Ray {
        Ray { origin, direction, tmin: 0.5, tmax: 10.0, flags: 0 }
    }

    #[test]
    fn boxes_are_met_from_outside_and_from_inside() {
        let margin = Margin::default();
        let of = |origin, direction| match cuboid(&[0.0; 3], &[1.0; 3], &ray(origin, direction), &margin) {
            Some(Met::Box(from)) => Some(from),
            _ => None,
        };
        assert_eq!(of([0.25, 0.5, 4.0], [0.0, 0.0, -2.0]), Some(1.5));
        assert_eq!(of([0.25, 0.5, 0.75], [0.0, 0.0, -1.0]), Some(0.5));
        assert_eq!(margin.least(), 0.25);
        assert_eq!(of([0.25, 0.5, 0.25], [0.0, 0.0, -1.0]), None, "it has left before the ray begins");
        assert_eq!(of([1.25, 0.5, 4.0], [0.0, 0.0, -1.0]), None);
        assert_eq!(of([0.25, 0.5, 12.0], [0.0, 0.0, -1.0]), None, "the ray ends before");
    }

    #[test]
    fn triangles_are_met_from_both_sides() {
        let margin = Margin::default();
        let corners = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]];
        let of = |z: f64, d| match triangle(&corners, &ray([0.5, 0.25, z], [0.0, 0.0, d]), &margin) {
            Some(Met::Triangle(t, kind)) => Some((t, kind)),
            _ => None,
        };
        // The normal points upwards.
        assert_eq!(of(3.0, -1.0), Some((3.0, FRONT)));
        assert_eq!(of(-3.0, 2.0), Some((1.5, BACK)));
        assert_eq!(of(0.25, -1.0), None);
        assert!((margin.least() - 0.25).abs() < 1e-12);
        assert!(triangle(&corners, &ray([1.5, 1.0, 3.0], [0.0, 0.0, -1.0]), &margin).is_none());
    }
}
