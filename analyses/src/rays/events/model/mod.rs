//! A model scene, traced on the CPU: events of rays whose every count is known, for tests and benchmarks (feature `model`), of any size.
//!
//! A camera looks at spheres in boxes (`scene.rs`) as in "Ray Tracing in One Weekend". Each invocation traces its samples;
//! a ray that hits bounces on, from ray generation or (`nested`) from the closest-hit shader. The shaders: 0 ray generation,
//! 1 intersection, 2 any-hit, 3 miss, 4 to 6 closest hits of matt, metal and glass, which are instances 0 to 2.
//!
//! Guarantees: the same [`Model`] gives the same events on any machine with IEEE numbers, on any number of threads; [`Counts`]
//! are counted while rays are traced, apart from the events.

mod geometry;
mod order;
mod rows;
mod scene;
#[cfg(test)]
mod tests;

pub use order::Order;

use super::{Code, Events, Launch, NO, Object, hash};
use rayon::prelude::*;
use scene::{Material, Scene, V, add, chance, dot, unit};
use trace::tables::RayEvent;

/// What is traced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// Of the image.
    pub width: u32,
    /// Of the image.
    pub height: u32,
    /// Of each pixel.
    pub samples: u32,
    /// Rays of a sample at most.
    pub bounces: u32,
    /// Small spheres in a row and in a column.
    pub side: i32,
    /// Of everything that looks random.
    pub seed: u64,
    /// How subgroups are made.
    pub order: Order,
    /// Whether matt hits trace an occlusion ray towards the light.
    pub shadows: bool,
    /// Whether spheres have any-hit shaders, which ignore every fourth hit of glass.
    pub any_hit: bool,
    /// Whether bounces are traced by closest-hit shaders.
    pub nested: bool,
}

impl Model {
    /// Small, with a bit of everything.
    pub const SMALL: Model = Model {
        width: 48,
        height: 32,
        samples: 2,
        bounces: 5,
        side: 10,
        seed: 1,
        order: Order { warp: [8, 4], tile: 16, quadrants: [2, 3, 1, 4] },
        shadows: true,
        any_hit: true,
        nested: false,
    };

    /// 1280 wide, with 16 bounces, and about as much of what `count` counts as is wanted: as many rows of as many samples as
    /// there have to be.
    pub fn large(wanted: f64, count: impl Fn(&Model) -> f64) -> Model {
        let base = Model {
            width: 1280,
            height: 720,
            samples: 1,
            bounces: 16,
            side: 22,
            order: Order::TILED,
            shadows: false,
            any_hit: false,
            ..Model::SMALL
        };
        let sample = count(&Model { width: 320, height: 180, ..base }) * 16.0;
        let samples = (wanted / sample).ceil().max(1.0);
        let part = (wanted / (sample * samples)).min(1.0);
        Model { samples: samples as u32, height: (720.0 * part).round().max(4.0) as u32, ..base }
    }
}

/// What happened, counted while it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Of each kind of event, by its number.
    pub events: [u64; 13],
    /// Rays at each depth, the last for all that are deeper.
    pub depths: [u64; 4],
    /// Occlusion rays that hit.
    pub occluded: u64,
}

/// What was made.
pub struct Made {
    /// The events.
    pub events: Events,
    /// What they are.
    pub counts: Counts,
    /// Of each begin, in the events' order: origin, direction, tmin, tmax.
    pub rays: Vec<[f32; 8]>,
}

const RAYGEN: u32 = 0;
const INTERSECTION: u32 = 1;
const ANY_HIT: u32 = 2;
const MISS: u32 = 3;
/// Of matt; metal and glass follow.
const CLOSEST_HIT: u32 = 4;
/// Where ray generation, closest-hit shaders and shadow rays call.
const PRIMARY: u32 = 100;
const SHADOW: u32 = 200;
const LIGHT: V = [0.57, 0.74, 0.36];

/// Every code that there may be, in order.
fn codes() -> Vec<Code> {
    let mut all = vec![];
    let mut put = |kind, entry, place| all.push(Code { kind, entry, place });
    for caller in [RAYGEN, CLOSEST_HIT, CLOSEST_HIT + 1, CLOSEST_HIT + 2] {
        put(RayEvent::Begin, caller, PRIMARY);
        put(RayEvent::End, caller, PRIMARY + 1);
        put(RayEvent::OcclusionBegin, caller, SHADOW);
        put(RayEvent::End, caller, SHADOW + 1);
    }
    put(RayEvent::Intersection, INTERSECTION, 0);
    put(RayEvent::ReportIntersection, INTERSECTION, 60);
    put(RayEvent::AnyHit, ANY_HIT, 0);
    put(RayEvent::IgnoreIntersection, ANY_HIT, 40);
    put(RayEvent::Miss, MISS, 0);
    (0..3).for_each(|m| put(RayEvent::ClosestHit, CLOSEST_HIT + m, 0));
    all.sort_unstable();
    all
}

/// Events of some rows of pixels.
#[derive(Default)]
struct Part {
    lengths: Vec<u32>,
    code: Vec<u16>,
    object: Vec<u32>,
    t: Vec<f32>,
    places: Vec<V>,
    place_lengths: Vec<u32>,
    rays: Vec<[f32; 8]>,
    counts: Counts,
}

struct Tracer<'a> {
    model: &'a Model,
    scene: &'a Scene,
    codes: &'a [Code],
    /// The object of each sphere.
    objects: &'a [u32],
    out: Part,
}

/// A hit: distance and sphere.
type Hit = (f32, u32);

impl Tracer<'_> {
    fn event(&mut self, kind: RayEvent, entry: u32, place: u32, object: u32, t: f32) {
        let code = Code { kind, entry, place };
        let number =
            self.codes.binary_search(&code).unwrap_or_else(|_| unreachable!("{code:?} is in codes()"));
        self.out.code.push(number as u16);
        self.out.object.push(object);
        self.out.t.push(t);
        self.out.counts.events[kind as usize] += 1;
    }

    /// Traverses; the closest hit that counts.
    fn traverse(&mut self, origin: V, direction: V, tmax: f32, first: bool, salt: u64) -> Option<Hit> {
        let tmin = 0.001;
        let mut closest: Option<Hit> = None;
        let scene = self.scene;
        scene.along(origin, direction, tmin, tmax, |number, far| {
            let sphere = &scene.spheres[number as usize];
            let object = self.objects[number as usize];
            self.event(RayEvent::Intersection, INTERSECTION, 0, object, far);
            let Some(t) = sphere.hit(origin, direction, tmin, far) else { return Some(far) };
            self.event(RayEvent::ReportIntersection, INTERSECTION, 60, NO, t);
            if self.model.any_hit {
                self.event(RayEvent::AnyHit, ANY_HIT, 0, object, t);
                if sphere.material == Material::Glass && hash(salt, number.into()).is_multiple_of(4) {
                    self.event(RayEvent::IgnoreIntersection, ANY_HIT, 40, NO, 0.0);
                    return Some(far);
                }
            }
            closest = Some((t, number));
            (!first).then_some(t)
        });
        closest
    }

    fn begin(&mut self, kind: RayEvent, caller: u32, place: u32, ray: [V; 2], depth: usize) {
        let tmax = 10_000.0;
        self.event(kind, caller, place, NO, tmax);
        let [o, d] = ray;
        self.out.rays.push([o[0], o[1], o[2], d[0], d[1], d[2], 0.001, tmax]);
        self.out.counts.depths[depth.min(3)] += 1;
    }

    /// A sample's rays from here on.
    fn ray(&mut self, caller: u32, mut ray: [V; 2], depth: usize, salt: u64) {
        let mut bounce = 0;
        loop {
            let salt = hash(salt, bounce + depth as u64 * 64);
            self.begin(RayEvent::Begin, caller, PRIMARY, ray, depth);
            let [origin, direction] = ray;
            let hit = self.traverse(origin, direction, 10_000.0, false, salt);
            let Some((t, number)) = hit else {
                self.event(RayEvent::Miss, MISS, 0, NO, 10_000.0);
                self.out.places.push(origin);
                self.event(RayEvent::End, caller, PRIMARY + 1, NO, 0.0);
                return;
            };
            let sphere = self.scene.spheres[number as usize];
            let shader = CLOSEST_HIT + sphere.material as u32;
            self.event(RayEvent::ClosestHit, shader, 0, self.objects[number as usize], t);
            let at = add(origin, direction, t);
            self.out.places.push(at);
            let next = self.bounce(sphere.centre, sphere.material, at, direction, salt);
            let more = bounce + depth as u64 + 1 < u64::from(self.model.bounces);
            let shadow = self.model.shadows && sphere.material == Material::Matt;
            if self.model.nested {
                if more && let Some(next) = next {
                    self.ray(shader, next, depth + 1, salt);
                }
                self.event(RayEvent::End, caller, PRIMARY + 1, NO, 0.0);
                return;
            }
            self.event(RayEvent::End, caller, PRIMARY + 1, NO, 0.0);
            if shadow {
                self.shadow(caller, at, salt);
            }
            bounce += 1;
            match next.filter(|_| more) {
                Some(next) => ray = next,
                None => return,
            }
        }
    }

    fn shadow(&mut self, caller: u32, at: V, salt: u64) {
        self.begin(RayEvent::OcclusionBegin, caller, SHADOW, [at, LIGHT], 0);
        let hit = self.traverse(at, LIGHT, 10_000.0, true, salt ^ 1);
        if hit.is_none() {
            self.event(RayEvent::Miss, MISS, 0, NO, 10_000.0);
            self.out.places.push(at);
        }
        self.out.counts.occluded += u64::from(hit.is_some());
        self.event(RayEvent::End, caller, SHADOW + 1, NO, 0.0);
    }

    /// Where light goes on from a hit; none if it is taken in.
    fn bounce(&self, centre: V, material: Material, at: V, direction: V, salt: u64) -> Option<[V; 2]> {
        let out = unit(add(at, centre, -1.0));
        let normal = if dot(out, direction) > 0.0 { add([0.0; 3], out, -1.0) } else { out };
        let any = unit([0, 1, 2].map(|k| chance(salt, 100 + k) - 0.5));
        let mirrored = add(direction, normal, -2.0 * dot(direction, normal));
        let direction = match material {
            Material::Matt => add(normal, any, 0.95),
            Material::Metal => add(unit(mirrored), any, 0.3),
            Material::Glass if chance(salt, 99) < 0.2 => mirrored,
            Material::Glass => add(unit(direction), normal, -0.35),
        };
        let taken = material == Material::Metal && dot(direction, normal) <= 0.0;
        (!taken).then(|| [at, unit(direction)])
    }

    fn pixel(&mut self, x: u32, y: u32) {
        let (begin, places) = (self.out.code.len(), self.out.places.len());
        let m = self.model;
        let eye = [13.0, 2.0, 3.0];
        let forward = unit(add([0.0; 3], eye, -1.0));
        let right = unit([-forward[2], 0.0, forward[0]]);
        let up = [
            right[1] * forward[2] - right[2] * forward[1],
            right[2] * forward[0] - right[0] * forward[2],
            right[0] * forward[1] - right[1] * forward[0],
        ];
        for sample in 0..m.samples {
            let salt =
                hash(m.seed, (u64::from(y) * u64::from(m.width) + u64::from(x)) * 1024 + u64::from(sample));
            let across = (x as f32 + chance(salt, 1)) / m.width as f32 * 2.0 - 1.0;
            let down = (y as f32 + chance(salt, 2)) / m.height as f32 * 2.0 - 1.0;
            let aspect = m.width as f32 / m.height as f32;
            let direction = add(add(forward, right, across * aspect * 0.18), up, -down * 0.18);
            self.ray(RAYGEN, [eye, unit(direction)], 0, salt);
        }
        self.out.lengths.push((self.out.code.len() - begin) as u32);
        self.out.place_lengths.push((self.out.places.len() - places) as u32);
    }
}

impl Model {
    /// Traces it. `rays`: whether what begins had is kept, which takes 32 bytes a ray.
    pub fn trace(&self, rays: bool) -> Made {
        let scene = Scene::new(self.side, self.seed);
        let mut objects: Vec<Object> = scene
            .spheres
            .iter()
            .map(|s| Object { instance: s.material as u32, primitive: s.primitive, geometry: 0 })
            .collect();
        let of_sphere = objects.clone();
        objects.sort_unstable();
        let numbers: Vec<u32> = of_sphere
            .iter()
            .map(|o| objects.binary_search(o).unwrap_or_else(|_| unreachable!("it is there")) as u32)
            .collect();
        let codes = codes();
        let (subgroup, lane) = self.order.assign(self.width, self.height);
        let mut launch = Launch {
            frame: 1,
            pipeline: 8,
            size: [self.width, self.height, 1],
            n: self.order.warp[0] * self.order.warp[1],
            starts: vec![0],
            subgroup,
            lane,
            place_starts: vec![0],
            ..Launch::default()
        };
        let mut made = Made { events: Events::default(), counts: Counts::default(), rays: vec![] };
        // (so many rows at once that what is copied together stays small beside the result)
        let rows: Vec<u32> = (0..self.height).collect();
        for rows in rows.chunks(64) {
            let parts: Vec<Part> = rows
                .par_iter()
                .map(|&y| {
                    let mut t = Tracer {
                        model: self,
                        scene: &scene,
                        codes: &codes,
                        objects: &numbers,
                        out: Part::default(),
                    };
                    for x in 0..self.width {
                        t.pixel(x, y);
                        if !rays {
                            t.out.rays.clear();
                        }
                    }
                    t.out
                })
                .collect();
            parts.into_iter().for_each(|p| made.join(&mut launch, p));
        }
        made.events = Events { launches: vec![launch], codes, objects };
        made.events.tidy();
        made
    }
}

impl Made {
    fn join(&mut self, launch: &mut Launch, part: Part) {
        for (starts, lengths) in
            [(&mut launch.starts, &part.lengths), (&mut launch.place_starts, &part.place_lengths)]
        {
            let mut end = starts.last().copied().unwrap_or(0);
            starts.extend(lengths.iter().map(|l| {
                end += *l as usize;
                end
            }));
        }
        launch.code.extend(part.code);
        launch.object.extend(part.object);
        launch.t.extend(part.t);
        launch.places.extend(part.places);
        self.rays.extend(part.rays);
        let (a, b) = (&mut self.counts, &part.counts);
        a.events.iter_mut().zip(b.events).for_each(|(a, b)| *a += b);
        a.depths.iter_mut().zip(b.depths).for_each(|(a, b)| *a += b);
        a.occluded += b.occluded;
    }
}

impl Events {
    /// Drops codes and objects that no event has, as if they had been read.
    fn tidy(&mut self) {
        let mut used = (vec![false; self.codes.len()], vec![false; self.objects.len()]);
        for l in &self.launches {
            l.code.iter().for_each(|c| used.0[usize::from(*c)] = true);
            l.object.iter().filter(|o| **o != NO).for_each(|o| used.1[*o as usize] = true);
        }
        let renumber = |used: &[bool]| -> Vec<u32> {
            let next = |n: &mut u32, u: &bool| Some(std::mem::replace(n, *n + u32::from(*u)));
            used.iter().scan(0, next).collect()
        };
        let (codes, objects) = (renumber(&used.0), renumber(&used.1));
        for l in &mut self.launches {
            l.code.par_iter_mut().for_each(|c| *c = codes[usize::from(*c)] as u16);
            l.object.par_iter_mut().filter(|o| **o != NO).for_each(|o| *o = objects[*o as usize]);
        }
        let mut flags = used.0.iter();
        self.codes.retain(|_| flags.next().is_some_and(|u| *u));
        let mut flags = used.1.iter();
        self.objects.retain(|_| flags.next().is_some_and(|u| *u));
    }
}
