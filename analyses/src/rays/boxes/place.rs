//! Rays, boxes and triangles: where the one enters or meets the others.
//!
//! All in 64 bits, of what the device had in 32. Boxes are widened by [`ROUNDING`] of the numbers that are compared, so that
//! what a device finds with its 24 bits is found here, too.

/// Of a number, what a calculation with 24 bits may be off.
pub const ROUNDING: f64 = 1.0 / (1u64 << 20) as f64;

/// A point or direction.
pub type V = [f64; 3];

/// A ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Where it begins.
    pub origin: V,
    /// Where it goes; distances are in its lengths.
    pub direction: V,
    /// The least distance.
    pub tmin: f64,
    /// The greatest.
    pub tmax: f64,
    /// Ray flags, as a call has them.
    pub flags: u32,
    /// Of instances' masks.
    pub mask: u32,
}

/// A ray in the space of some boxes.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub origin: V,
    pub direction: V,
    inverse: V,
    /// How large the numbers are that the origin came from.
    scale: V,
    pub tmin: f64,
}

/// Where a ray enters a box, at or behind its own begin.
pub type Entry = f64;

impl Line {
    /// The ray as it is.
    pub fn new(ray: &Ray) -> Line {
        Line {
            origin: ray.origin,
            direction: ray.direction,
            inverse: ray.direction.map(|d| 1.0 / d),
            scale: ray.origin.map(f64::abs),
            tmin: ray.tmin,
        }
    }

    /// The ray in another space: the inverse of its transform, and what that moves by.
    pub fn moved(ray: &Ray, inverse: &[V; 3], by: &V) -> Line {
        let row = |r: &V, v: &V| r[0] * v[0] + r[1] * v[1] + r[2] * v[2];
        let from: V = std::array::from_fn(|k| ray.origin[k] - by[k]);
        let size: V = std::array::from_fn(|k| ray.origin[k].abs() + by[k].abs());
        let direction = inverse.map(|r| row(&r, &ray.direction));
        Line {
            origin: inverse.map(|r| row(&r, &from)),
            direction,
            inverse: direction.map(|d| 1.0 / d),
            scale: inverse.map(|r| row(&r.map(f64::abs), &size)),
            tmin: ray.tmin,
        }
    }

    /// Where it enters a box before `most`; `rounding`: see [`ROUNDING`].
    #[inline]
    pub fn enters(&self, low: &V, high: &V, most: f64, rounding: f64) -> Option<Entry> {
        let (mut near, mut far) = (self.tmin, most);
        for k in 0..3 {
            let pad = rounding * (low[k].abs().max(high[k].abs()) + self.scale[k]);
            let (a, b) = (low[k] - pad - self.origin[k], high[k] + pad - self.origin[k]);
            if self.direction[k] == 0.0 {
                if a > 0.0 || b < 0.0 {
                    return None;
                }
                continue;
            }
            let (a, b) = (a * self.inverse[k], b * self.inverse[k]);
            near = near.max(a.min(b));
            far = far.min(a.max(b));
        }
        (near <= far).then_some(near)
    }

    /// Where it meets a triangle that is wider by this share, and whether from its front (its corners clockwise, in a
    /// left-handed space).
    pub fn meets(&self, corners: &[V; 3], off: f64) -> Option<(f64, bool)> {
        let minus = |a: &V, b: &V| -> V { std::array::from_fn(|k| a[k] - b[k]) };
        let cross =
            |a: &V, b: &V| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
        let dot = |a: &V, b: &V| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let (ab, ac) = (minus(&corners[1], &corners[0]), minus(&corners[2], &corners[0]));
        let p = cross(&self.direction, &ac);
        let det = dot(&ab, &p);
        if det == 0.0 || !det.is_finite() {
            return None;
        }
        let s = minus(&self.origin, &corners[0]);
        let u = dot(&s, &p) / det;
        let q = cross(&s, &ab);
        let v = dot(&self.direction, &q) / det;
        // (an edge belongs to both of its triangles, and a device finds it in one of them at least)
        if u < -off || v < -off || u + v > 1.0 + off {
            return None;
        }
        let normal = cross(&ab, &ac);
        Some((dot(&ac, &q) / det, dot(&normal, &self.direction) < 0.0))
    }
}
