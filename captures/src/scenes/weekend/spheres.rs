//! The spheres of the last picture in "Ray Tracing in One Weekend": a field of small ones, three large, the ground.
//!
//! Where the book asks for a random number, a hash of whole numbers answers: the same field in every run.

/// A sphere: centre, radius, and what it is made of.
pub struct Sphere {
    /// Its centre.
    pub centre: [f32; 3],
    /// Its radius.
    pub radius: f32,
    /// As `Surface` in shared.glsl: albedo, kind, detail.
    pub surface: [f32; 5],
}

const LAMBERT: f32 = 0.0;
const METAL: f32 = 1.0;
const GLASS: f32 = 2.0;

/// Numbers in 0 ≤ n < 1, one after the other (PCG, as in shared.glsl).
struct Chance(u32);

impl Chance {
    fn next(&mut self) -> f32 {
        let state = self.0;
        self.0 = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
        (((word >> 22) ^ word) >> 8) as f32 / 16_777_216.0
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.next()
    }
}

/// All of them; the ground is the first.
pub fn spheres() -> Vec<Sphere> {
    let sphere = |centre, radius, surface| Sphere { centre, radius, surface };
    let glass = [1.0, 1.0, 1.0, GLASS, 1.5];
    let mut all = vec![sphere([0.0, -1000.0, 0.0], 1000.0, [0.5, 0.5, 0.5, LAMBERT, 0.0])];
    let mut chance = Chance(1);
    for column in -11..11 {
        for row in -11..11 {
            let kind = chance.next();
            let centre = [column as f32 + 0.9 * chance.next(), 0.2, row as f32 + 0.9 * chance.next()];
            let surface = if kind < 0.8 {
                let [r, g, b] = [(); 3].map(|()| chance.next() * chance.next());
                [r, g, b, LAMBERT, 0.0]
            } else if kind < 0.95 {
                let [r, g, b] = [(); 3].map(|()| chance.between(0.5, 1.0));
                [r, g, b, METAL, chance.between(0.0, 0.5)]
            } else {
                glass
            };
            let (x, z) = (centre[0] - 4.0, centre[2]);
            if x * x + z * z > 0.9 * 0.9 {
                all.push(sphere(centre, 0.2, surface));
            }
        }
    }
    all.push(sphere([0.0, 1.0, 0.0], 1.0, glass));
    all.push(sphere([-4.0, 1.0, 0.0], 1.0, [0.4, 0.2, 0.1, LAMBERT, 0.0]));
    all.push(sphere([4.0, 1.0, 0.0], 1.0, [0.7, 0.6, 0.5, METAL, 0.0]));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_about_480_of_all_three_kinds() {
        let all = spheres();
        assert!((470..=488).contains(&all.len()), "{}", all.len());
        let of = |kind: f32| all.iter().filter(|s| s.surface[3] == kind).count();
        let (lambert, metal, glass) = (of(LAMBERT), of(METAL), of(GLASS));
        assert_eq!(lambert + metal + glass, all.len());
        assert!((360..=410).contains(&lambert), "{lambert}");
        assert!((55..=90).contains(&metal), "{metal}");
        assert!((15..=40).contains(&glass), "{glass}");
        assert!(all.iter().all(|s| s.surface[..3].iter().all(|c| (0.0..=1.0).contains(c))));
    }
}
