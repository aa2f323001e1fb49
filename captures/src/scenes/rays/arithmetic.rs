//! The same picture by arithmetic: what the shaders say, in 64-bit floats and without any driver.
//!
//! A driver that gets attributes, records, pointers or any-hit shaders wrong shows it here; rounding does not.

use super::content::{self, MATERIALS, Mesh};

type V = [f64; 3];

fn add(a: V, b: V) -> V {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}
fn scale(a: V, k: f64) -> V {
    a.map(|x| x * k)
}
fn sub(a: V, b: V) -> V {
    add(a, scale(b, -1.0))
}
fn times(a: V, b: V) -> V {
    [a[0] * b[0], a[1] * b[1], a[2] * b[2]]
}
fn dot(a: V, b: V) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
fn cross(a: V, b: V) -> V {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
fn unit(a: V) -> V {
    scale(a, 1.0 / dot(a, a).sqrt())
}
fn mix(a: V, b: V, k: f64) -> V {
    add(scale(a, 1.0 - k), scale(b, k))
}

fn floats(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(4).map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap()))).collect()
}

/// An instance: object to world, and back.
struct Placed {
    columns: [V; 3],
    inverse: [V; 3],
    at: V,
    custom: usize,
    record: usize,
}

impl Placed {
    fn new(rows: &[f64], custom: usize, record: usize) -> Self {
        let columns = [0, 1, 2].map(|c| [rows[c], rows[4 + c], rows[8 + c]]);
        let [a, b, c] = columns;
        let whole = dot(a, cross(b, c));
        // Rows of the inverse.
        let inverse = [cross(b, c), cross(c, a), cross(a, b)].map(|r| scale(r, 1.0 / whole));
        Placed { columns, inverse, at: [rows[3], rows[7], rows[11]], custom, record }
    }
    fn inside(&self, v: V) -> V {
        self.inverse.map(|r| dot(r, v))
    }
    fn outside(&self, v: V) -> V {
        let [a, b, c] = self.columns;
        add(add(scale(a, v[0]), scale(b, v[1])), scale(c, v[2]))
    }
}

struct Found {
    colour: V,
    distance: f64,
    normal: V,
    gloss: f64,
}

struct World {
    placed: Vec<Placed>,
    meshes: [(Mesh, f64); 2],
    boxes: Vec<f64>,
    camera: Vec<V>,
}

/// What lies nearest.
enum Nearest {
    Nothing,
    Triangle { placed: usize, of: usize, weights: [f64; 2] },
    Sphere { placed: usize, of: usize },
}

impl World {
    fn new(seconds: f32) -> Self {
        let host = content::instances(seconds, 0, 0);
        let mut placed: Vec<Placed> = host
            .chunks_exact(64)
            .map(|i| {
                let word = |at: usize| u32::from_le_bytes(i[at..at + 4].try_into().unwrap()) & 0xFF_FFFF;
                Placed::new(&floats(&i[..48]), word(48) as usize, word(52) as usize)
            })
            .collect();
        let seconds = f64::from(seconds);
        for i in 0..super::HEAPS as usize {
            let n = i as f64;
            let round = std::f64::consts::TAU * n / f64::from(super::HEAPS) + 0.9 * seconds;
            let size = if i % 2 == 0 { 0.80 } else { 0.62 };
            let (s, c) = (1.3 * seconds + n).sin_cos();
            let height = 0.85 * size + 0.35 * (2.0 * seconds + 1.7 * n).sin().abs();
            let (x, z) = (2.5 * round.cos(), 2.5 * round.sin());
            let rows = [c * size, 0.0, s * size, x, 0.0, size, 0.0, height, -s * size, 0.0, c * size, z];
            placed.push(Placed::new(&rows, i % 4, 2 + i % 2));
        }
        let aspect = super::EXTENT.width as f32 / super::EXTENT.height as f32;
        let camera = floats(&content::camera(seconds as f32, aspect));
        World {
            placed,
            meshes: [(content::ground(), 30.0), (content::torus(), 1.35)],
            boxes: content::boxes().iter().map(|x| f64::from(*x)).collect(),
            camera: camera.chunks_exact(4).map(|r| [r[0], r[1], r[2]]).collect(),
        }
    }

    /// The nearest thing along a ray, and how far it is.
    fn nearest(&self, from: V, along: V, any: bool) -> (Nearest, f64) {
        let (mut nearest, mut far) = (Nearest::Nothing, 60.0);
        for (index, placed) in self.placed.iter().enumerate() {
            let (o, d) = (placed.inside(sub(from, placed.at)), placed.inside(along));
            if placed.record < 2 {
                let (mesh, radius) = &self.meshes[placed.record];
                if sphere(o, d, *radius).is_none() {
                    continue;
                }
                for of in 0..mesh.triangles.len() / 3 {
                    let [a, b, c] = [0, 1, 2].map(|i| corner(mesh, 3 * of + i).0);
                    let Some((t, weights)) = triangle(o, d, a, b, c) else { continue };
                    if t > 0.001 && t < far {
                        (nearest, far) = (Nearest::Triangle { placed: index, of, weights }, t);
                    }
                }
            } else {
                for of in 0..content::SPHERES as usize {
                    let (middle, radius) = self.sphere(of);
                    let Some(both) = sphere(sub(o, middle), d, radius) else { continue };
                    for t in both {
                        let outward = scale(sub(add(o, scale(d, t)), middle), 1.0 / radius);
                        if t > 0.001 && t < far && !cut(placed, outward) {
                            (nearest, far) = (Nearest::Sphere { placed: index, of }, t);
                        }
                    }
                }
            }
            if any && !matches!(nearest, Nearest::Nothing) {
                break;
            }
        }
        (nearest, far)
    }

    fn sphere(&self, of: usize) -> (V, f64) {
        let b = &self.boxes[6 * of..6 * of + 6];
        (scale([b[0] + b[3], b[1] + b[4], b[2] + b[5]], 0.5), 0.5 * (b[3] - b[0]))
    }

    /// What the closest-hit and miss shaders bring home.
    fn look(&self, from: V, along: V) -> Found {
        let (nearest, distance) = self.nearest(from, along, false);
        match nearest {
            Nearest::Nothing => {
                let height = along[1].clamp(0.0, 1.0).powf(0.55);
                let colour = mix([1.0, 0.86, 0.70], [0.20, 0.42, 0.78], height);
                Found { colour, distance: -1.0, normal: [0.0; 3], gloss: 0.0 }
            }
            Nearest::Triangle { placed, of, weights: [u, v] } => {
                let placed = &self.placed[placed];
                let mesh = &self.meshes[placed.record].0;
                let (mut at, mut normal) = ([0.0; 3], [0.0; 3]);
                for (i, w) in [1.0 - u - v, u, v].into_iter().enumerate() {
                    let (a, n) = corner(mesh, 3 * of + i);
                    (at, normal) = (add(at, scale(a, w)), add(normal, scale(n, w)));
                }
                let normal = unit(placed.outside(normal));
                let (colour, gloss) = surface(placed, at);
                let tint = if placed.record == 0 { [1.0, 0.98, 0.94] } else { [1.0; 3] };
                let normal = if dot(along, normal) < 0.0 { normal } else { scale(normal, -1.0) };
                Found { colour: times(colour, tint), distance, normal, gloss }
            }
            Nearest::Sphere { placed, of } => {
                let placed = &self.placed[placed];
                let (o, d) = (placed.inside(sub(from, placed.at)), placed.inside(along));
                let outward = unit(sub(add(o, scale(d, distance)), self.sphere(of).0));
                let outside = dot(outward, d) < 0.0;
                let (colour, gloss) = surface(placed, outward);
                let normal = unit(placed.outside(outward));
                let tint = if placed.record == 2 { [1.0, 0.55, 0.25] } else { [0.3, 0.65, 1.0] };
                match outside {
                    true => Found { colour, distance, normal, gloss },
                    false => {
                        let (colour, normal) = (times(colour, tint), scale(normal, -1.0));
                        Found { colour, distance, normal, gloss: 0.0 }
                    }
                }
            }
        }
    }

    /// The ray-generation shader, for one ray.
    fn follow(&self, mut origin: V, mut direction: V) -> V {
        let (mut sum, mut share) = ([0.0; 3], [1.0; 3]);
        let sun = self.camera[4];
        for _ in 0..3 {
            let here = self.look(origin, direction);
            if here.distance < 0.0 {
                return add(sum, times(share, here.colour));
            }
            let at = add(add(origin, scale(direction, here.distance)), scale(here.normal, 0.002));
            let facing = dot(here.normal, sun);
            let lit = facing > 0.0 && matches!(self.nearest(at, sun, true).0, Nearest::Nothing);
            let lit = if lit { 1.0 } else { 0.0 };
            let away = (1.0 + dot(here.normal, direction)).min(1.0);
            let mirror = here.gloss + (1.0 - here.gloss) * 0.5 * away.powi(5);
            let mut light = scale([1.75, 1.55, 1.2], lit * facing.max(0.0));
            let up = 0.5 + 0.5 * here.normal[1];
            light = add(light, mix([0.10, 0.09, 0.12], [0.20, 0.27, 0.44], up));
            sum = add(sum, scale(times(times(share, here.colour), light), 1.0 - mirror));
            let halfway = unit(sub(sun, direction));
            let shine = lit * here.gloss * 6.0 * dot(here.normal, halfway).max(0.0).powi(120);
            sum = add(sum, scale(share, shine));
            share = times(share, scale(mix([1.0; 3], here.colour, 0.4), mirror));
            if share.iter().all(|s| *s < 0.02) {
                break;
            }
            direction = sub(direction, scale(here.normal, 2.0 * dot(here.normal, direction)));
            origin = at;
        }
        sum
    }

    fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        let [eye, right, up, forward, _] = self.camera[..] else { unreachable!() };
        let mut sum = [0.0; 3];
        for [dx, dy] in [[0.375, 0.125], [0.875, 0.375], [0.125, 0.625], [0.625, 0.875]] {
            let across = (f64::from(x) + dx) / f64::from(super::EXTENT.width) * 2.0 - 1.0;
            let down = (f64::from(y) + dy) / f64::from(super::EXTENT.height) * 2.0 - 1.0;
            let direction = sub(add(forward, scale(right, across)), scale(up, down));
            let c = self.follow(eye, unit(direction));
            sum = add(sum, c.map(|c| c * (1.0 + 0.10 * c) / (1.0 + 0.45 * c)));
        }
        sum.map(|s| ((s * 0.25).clamp(0.0, 1.0).powf(1.0 / 2.2) * 255.0).round() as u8)
    }
}

/// Where a ray meets a sphere around zero.
fn sphere(o: V, d: V, radius: f64) -> Option<[f64; 2]> {
    let (a, b, c) = (dot(d, d), dot(o, d), dot(o, o) - radius * radius);
    let under = b * b - a * c;
    (under >= 0.0).then(|| [(-b - under.sqrt()) / a, (-b + under.sqrt()) / a])
}

fn triangle(o: V, d: V, a: V, b: V, c: V) -> Option<(f64, [f64; 2])> {
    let (e, f) = (sub(b, a), sub(c, a));
    let p = cross(d, f);
    let whole = dot(e, p);
    if whole == 0.0 {
        return None;
    }
    let s = sub(o, a);
    let u = dot(s, p) / whole;
    let q = cross(s, e);
    let v = dot(d, q) / whole;
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0).then(|| (dot(f, q) / whole, [u, v]))
}

/// A corner's position and normal.
fn corner(mesh: &Mesh, index: usize) -> (V, V) {
    let at = mesh.triangles[index] as usize * 6;
    let c = |i: usize| f64::from(mesh.corners[at + i]);
    ([c(0), c(1), c(2)], [c(3), c(4), c(5)])
}

/// Where the walk along the ring begins for a record.
fn material(placed: &Placed) -> usize {
    let first = [
        content::GROUND_MATERIAL,
        content::TORUS_MATERIAL,
        content::HEAP_MATERIALS[0],
        content::HEAP_MATERIALS[1],
    ];
    (first[placed.record] as usize + placed.custom) % MATERIALS.len()
}

/// The any-hit shader.
fn cut(placed: &Placed, outward: V) -> bool {
    let a = outward.map(f64::abs);
    let corner = 0.57735 * (a[0] + a[1] + a[2]);
    let face = a[0].max(a[1]).max(a[2]);
    corner.max(face) > 1.0 - f64::from(MATERIALS[material(placed)].1[2])
}

/// Two materials mixed by a callable shader: colour and gloss.
fn surface(placed: &Placed, at: V) -> (V, f64) {
    let first = material(placed);
    let (colour, [pattern, times, _]) = MATERIALS[first];
    let at = scale(at, f64::from(times));
    let value = if pattern == 0.0 {
        let square = at[0].floor() as i64 + at[2].floor() as i64;
        if square & 1 == 0 { 0.0 } else { 1.0 }
    } else {
        let mut at = at;
        for i in 1..=3 {
            let i = f64::from(i);
            let waves = [at[1], at[2], at[0]].map(|x| (i * 1.9 * x + i).sin());
            at = add(at, scale(waves, 0.6 / i));
        }
        let vein = 1.0 - (at[0] + at[1] + 0.7 * at[2]).sin().abs();
        0.9 * vein.powi(3)
    };
    let next = MATERIALS[(first + 1) % MATERIALS.len()].0;
    let both = [0, 1, 2, 3].map(|i| f64::from(colour[i]) * (1.0 - value) + f64::from(next[i]) * value);
    ([both[0], both[1], both[2]], both[3])
}

fn read_rgb(path: &str) -> (u32, Vec<u8>) {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgb);
    (info.width, pixels)
}

/// The committed images are what arithmetic says, but for pixels at edges, where rounding decides. Each third pixel of
/// each third row is looked at.
#[test]
fn the_pictures_are_right() {
    for number in [1, 4, 8] {
        let path = format!("{}/samples/rays_frame_{number}.png", env!("CARGO_MANIFEST_DIR"));
        let (width, pixels) = read_rgb(&path);
        let world = World::new((number - 1) as f32 * super::SECONDS_A_FRAME);
        let (mut seen, mut off) = (0, 0);
        for y in (0..super::EXTENT.height).step_by(3) {
            for x in (0..super::EXTENT.width).step_by(3) {
                let at = ((y * width + x) * 3) as usize;
                let want = world.pixel(x, y);
                seen += 1;
                off += u32::from(want.iter().zip(&pixels[at..at + 3]).any(|(a, b)| a.abs_diff(*b) > 3));
            }
        }
        assert!(off * 500 < seen, "frame {number}: {off} of {seen} pixels are not what arithmetic says");
    }
}
