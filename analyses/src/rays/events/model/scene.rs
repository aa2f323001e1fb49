//! Spheres in boxes over a ground, and rays through a hierarchy of the boxes.
//!
//! Nothing here is taken from a device: a box is entered if the ray meets it before the closest hit so far, nearer children
//! first, and its sphere is then tested exactly.

use crate::rays::events::hash;

/// A point or direction.
pub type V = [f32; 3];

pub fn add(a: V, b: V, by: f32) -> V {
    [a[0] + b[0] * by, a[1] + b[1] * by, a[2] + b[2] * by]
}

pub fn dot(a: V, b: V) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn unit(a: V) -> V {
    add([0.0; 3], a, 1.0 / dot(a, a).sqrt().max(1e-12))
}

/// What a sphere is made of; its number is the instance's, and that of its closest-hit shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Material {
    Matt,
    Metal,
    Glass,
}

/// A sphere; its box is as large as it is.
#[derive(Clone, Copy, Debug)]
pub struct Sphere {
    pub centre: V,
    pub radius: f32,
    pub material: Material,
    /// Which of its instance's primitives.
    pub primitive: u32,
}

impl Sphere {
    /// The nearer distance between these at which a ray meets it.
    pub fn hit(&self, origin: V, direction: V, tmin: f32, tmax: f32) -> Option<f32> {
        let oc = add(origin, self.centre, -1.0);
        let (a, half, c) =
            (dot(direction, direction), dot(oc, direction), dot(oc, oc) - self.radius * self.radius);
        let d = half * half - a * c;
        if d < 0.0 {
            return None;
        }
        let root = d.sqrt();
        [(-half - root) / a, (-half + root) / a].into_iter().find(|t| *t > tmin && *t < tmax)
    }
}

/// From 0 to 1.
pub fn chance(seed: u64, of: u64) -> f32 {
    (hash(seed, of) >> 40) as f32 / (1u64 << 24) as f32
}

struct Node {
    low: V,
    high: V,
    /// Spheres, or the two children.
    from: u32,
    count: u32,
}

/// Spheres and the hierarchy of their boxes.
pub struct Scene {
    pub spheres: Vec<Sphere>,
    nodes: Vec<Node>,
}

impl Scene {
    /// A ground, three large spheres, and small ones on a grid of this side.
    pub fn new(side: i32, seed: u64) -> Scene {
        let mut spheres: Vec<Sphere> = vec![];
        let mut counts = [0; 3];
        let mut put = |centre: V, radius: f32, material: Material| {
            let primitive = counts[material as usize];
            counts[material as usize] += 1;
            spheres.push(Sphere { centre, radius, material, primitive });
        };
        put([0.0, -1000.0, 0.0], 1000.0, Material::Matt);
        for a in -side / 2..side - side / 2 {
            for b in -side / 2..side - side / 2 {
                let at = |n: u64| chance(seed, ((a + 5000) as u64 * 10_000 + (b + 5000) as u64) * 4 + n);
                let material = match at(0) {
                    m if m < 0.6 => Material::Matt,
                    m if m < 0.85 => Material::Metal,
                    _ => Material::Glass,
                };
                put([a as f32 + 0.9 * at(1), 0.2, b as f32 + 0.9 * at(2)], 0.2, material);
            }
        }
        put([0.0, 1.0, 0.0], 1.0, Material::Glass);
        put([-4.0, 1.0, 0.0], 1.0, Material::Matt);
        put([4.0, 1.0, 0.0], 1.0, Material::Metal);
        let mut scene = Scene { spheres, nodes: vec![] };
        scene.nodes.push(Node { low: [0.0; 3], high: [0.0; 3], from: 0, count: 0 });
        let count = scene.spheres.len();
        scene.build(0, 0, count);
        scene
    }

    fn build(&mut self, node: usize, from: usize, to: usize) {
        let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for s in &self.spheres[from..to] {
            for k in 0..3 {
                low[k] = low[k].min(s.centre[k] - s.radius);
                high[k] = high[k].max(s.centre[k] + s.radius);
            }
        }
        if to - from <= 2 {
            self.nodes[node] = Node { low, high, from: from as u32, count: (to - from) as u32 };
            return;
        }
        let axis = (0..3).max_by(|&a, &b| (high[a] - low[a]).total_cmp(&(high[b] - low[b]))).unwrap_or(0);
        self.spheres[from..to].sort_by(|a, b| a.centre[axis].total_cmp(&b.centre[axis]));
        let middle = (from + to) / 2;
        let children = self.nodes.len();
        let empty = || Node { low: [0.0; 3], high: [0.0; 3], from: 0, count: 0 };
        self.nodes.extend([empty(), empty()]);
        self.nodes[node] = Node { low, high, from: children as u32, count: 0 };
        self.build(children, from, middle);
        self.build(children + 1, middle, to);
    }

    /// Goes along a ray: `test` is told each sphere whose box the ray meets before `tmax`, and says the new `tmax`; none ends
    /// the ray.
    pub fn along(
        &self,
        origin: V,
        direction: V,
        tmin: f32,
        tmax: f32,
        mut test: impl FnMut(u32, f32) -> Option<f32>,
    ) {
        let inverse = direction.map(|d| 1.0 / d);
        let enters = |low: V, high: V, tmax: f32| {
            let (mut near, mut far) = (tmin, tmax);
            for k in 0..3 {
                let (a, b) = ((low[k] - origin[k]) * inverse[k], (high[k] - origin[k]) * inverse[k]);
                near = near.max(a.min(b));
                far = far.min(a.max(b));
            }
            (near <= far).then_some(near)
        };
        let mut tmax = tmax;
        let mut stack = [0u32; 64];
        let mut depth = 1;
        while depth > 0 {
            depth -= 1;
            let node = &self.nodes[stack[depth] as usize];
            if enters(node.low, node.high, tmax).is_none() {
                continue;
            }
            if node.count > 0 {
                for number in node.from..node.from + node.count {
                    let s = &self.spheres[number as usize];
                    let (low, high) = (add(s.centre, [1.0; 3], -s.radius), add(s.centre, [1.0; 3], s.radius));
                    if enters(low, high, tmax).is_some() {
                        match test(number, tmax) {
                            Some(t) => tmax = t,
                            None => return,
                        }
                    }
                }
                continue;
            }
            let [a, b] = [node.from, node.from + 1];
            let at = |n: u32| {
                let n = &self.nodes[n as usize];
                enters(n.low, n.high, tmax).unwrap_or(f32::INFINITY)
            };
            // (the nearer one comes off the stack first)
            let [far, near] = if at(a) <= at(b) { [b, a] } else { [a, b] };
            (stack[depth], stack[depth + 1]) = (far, near);
            depth += 2;
        }
    }
}
