//! The little linear algebra that a scene's camera needs.
//!
//! Right-handed world, y up; clip space is Vulkan's: y down, depth 0 at the near plane and 1 at the far
//! plane. Matrices are columns of columns, as GLSL stores a `mat4`. Angles are radians.

/// A vector of three.
pub type Vec3 = [f32; 3];

/// A matrix of four columns.
pub type Mat4 = [[f32; 4]; 4];

/// `a - b`.
pub fn sub(a: Vec3, b: Vec3) -> Vec3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// The scalar product.
pub fn dot(a: Vec3, b: Vec3) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The vector product.
pub fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// `a` at length one; `a` must not be zero.
pub fn normalize(a: Vec3) -> Vec3 {
    let length = dot(a, a).sqrt();
    a.map(|x| x / length)
}

/// `a * b`: applies `b` first.
pub fn mul(a: &Mat4, b: &Mat4) -> Mat4 {
    b.map(|column| {
        let mut out = [0.0; 4];
        for (a_column, factor) in a.iter().zip(column) {
            for (o, x) in out.iter_mut().zip(a_column) {
                *o += x * factor;
            }
        }
        out
    })
}

/// World to view: from `eye`, towards `at`, with +y up.
pub fn look_at(eye: Vec3, at: Vec3) -> Mat4 {
    let back = normalize(sub(eye, at));
    let right = normalize(cross([0.0, 1.0, 0.0], back));
    let up = cross(back, right);
    [
        [right[0], up[0], back[0], 0.0],
        [right[1], up[1], back[1], 0.0],
        [right[2], up[2], back[2], 0.0],
        [-dot(right, eye), -dot(up, eye), -dot(back, eye), 1.0],
    ]
}

/// View to clip. `fov_y` is the full vertical angle of view; `aspect` is width over height.
pub fn perspective(fov_y: f32, aspect: f32, near: f32, far: f32) -> Mat4 {
    let focal = 1.0 / (fov_y * 0.5).tan();
    let depth = far / (near - far);
    [
        [focal / aspect, 0.0, 0.0, 0.0],
        [0.0, -focal, 0.0, 0.0],
        [0.0, 0.0, depth, -1.0],
        [0.0, 0.0, depth * near, 0.0],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Mat4 =
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];

    /// The image of a point, after the division by w.
    fn project(m: &Mat4, p: Vec3) -> Vec3 {
        let out: [f32; 4] =
            std::array::from_fn(|row| m[0][row] * p[0] + m[1][row] * p[1] + m[2][row] * p[2] + m[3][row]);
        [out[0] / out[3], out[1] / out[3], out[2] / out[3]]
    }

    #[track_caller]
    fn near(a: Vec3, b: Vec3) {
        assert!(a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-5), "{a:?} is not {b:?}");
    }

    #[test]
    fn multiplying_by_one_changes_nothing() {
        let m = perspective(1.0, 1.5, 0.1, 10.0);
        assert_eq!(mul(&m, &ONE), m);
        assert_eq!(mul(&ONE, &m), m);
    }

    #[test]
    fn the_right_factor_is_applied_first() {
        let mut shift = ONE;
        shift[3] = [1.0, 0.0, 0.0, 1.0];
        let mut double = ONE;
        double[0][0] = 2.0;
        near(project(&mul(&double, &shift), [1.0, 0.0, 0.0]), [4.0, 0.0, 0.0]);
        near(project(&mul(&shift, &double), [1.0, 0.0, 0.0]), [3.0, 0.0, 0.0]);
    }

    #[test]
    fn cross_is_right_handed() {
        assert_eq!(cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn looking_at_a_point_puts_it_on_the_axis_in_front() {
        let view = look_at([0.0, 0.0, 5.0], [0.0, 0.0, 0.0]);
        near(project(&view, [0.0, 0.0, 0.0]), [0.0, 0.0, -5.0]);
        near(project(&view, [1.0, 2.0, 0.0]), [1.0, 2.0, -5.0]);
    }

    #[test]
    fn clip_space_is_vulkans() {
        let clip = perspective(std::f32::consts::FRAC_PI_2, 2.0, 1.0, 9.0);
        near(project(&clip, [0.0, 0.0, -1.0]), [0.0, 0.0, 0.0]);
        near(project(&clip, [0.0, 0.0, -9.0]), [0.0, 0.0, 1.0]);
        // Up in the world is towards y = -1, the top of a Vulkan framebuffer.
        near(project(&clip, [2.0, 1.0, -1.0]), [1.0, -1.0, 0.0]);
    }
}
