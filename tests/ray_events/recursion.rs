//! The scene `recursion`, shader by shader: captures/src/scenes/recursion says the same in GLSL.

use super::event::{Call, Event};
use super::geometry::{Geometry, Instance, Object, Ray, Shape, V3, sub};
use super::run::{
    Answer, Hit, NO_OPAQUE, OPAQUE, Payload, Pipeline, Run, SKIP_CLOSEST_HIT, Shader, Shaders,
    TERMINATE_ON_FIRST_HIT,
};
use trace::tables::RayEvent;

/// Centre and radius.
const DISCS: [[f64; 4]; 3] = [[8.0, 8.0, -2.0, 2.8628], [12.0, 6.0, -4.0, 4.0783], [5.0, 3.0, -1.25, 2.5657]];

const WALL: Shape = Shape::Triangle([[-200.0, 12.03, -8.0], [264.0, 12.03, -8.0], [32.0, -400.0, -8.0]]);
const MIRROR: Shape = Shape::Triangle([[20.03, -400.0, 4.0], [20.03, 400.0, 4.0], [-600.0, 7.0, 4.0]]);

/// What is there.
pub fn world() -> Vec<Instance> {
    let flat = |shape| Geometry { opaque: true, shapes: vec![shape] };
    let boxes = DISCS.map(|[x, y, z, r]| Shape::Box([x - r, y - r, z - 0.75], [x + r, y + r, z + 0.75]));
    let discs = vec![Geometry { opaque: false, shapes: boxes.to_vec() }];
    let instance = |geometries, at, custom_index, record, opaque| {
        let scale = [1.0; 3];
        Instance { geometries, scale, at, custom_index, record, opaque }
    };
    vec![
        instance(vec![flat(WALL), flat(MIRROR)], [0.0; 3], 1, 0, false),
        instance(discs.clone(), [0.0; 3], 5, 2, false),
        instance(discs, [14.0, 1.0, -0.5], 9, 2, true),
    ]
}

/// The pipelines of the two launches.
pub fn first_pipeline() -> Pipeline {
    let discs = ["disc.rchit", "disc.rahit", "disc.rint"];
    let hit = [["wall.rchit", "", ""], ["mirror.rchit", "", ""], discs];
    Pipeline::new(2, 2, &hit)
}
pub fn second_pipeline() -> Pipeline {
    let (flat, solid) = (["map.rchit", "map.rahit", ""], ["map.rchit", "map.rahit", "disc.rint"]);
    Pipeline::new(1, 0, &[flat, flat, solid])
}

/// Stages and groups of the first pipeline.
const RAYGEN: Shader = (0, 0);
const SKY: Shader = (1, 1);
const EVEN: u64 = 3;
const WALL_HIT: Shader = (5, 5);
const MIRROR_HIT: Shader = (6, 6);
const DISC_HIT: Shader = (7, 7);
const SHADOW: u64 = TERMINATE_ON_FIRST_HIT | SKIP_CLOSEST_HIT;
const DEEPEST: u64 = 2;

fn call(origin: V3, tmin: f64, direction: V3, miss_index: u64) -> Call {
    Call { origin, direction, tmin, cull_mask: 0xFF, sbt_offset: 0, sbt_stride: 1, miss_index }
}

/// The sides of a disc, in the order in which the shader reports them.
fn disc(run: &Run, seen: &Ray, object: &Object, report: &mut dyn FnMut(f64, u64) -> bool) {
    let [x, y, z, r] = DISCS[object.primitive as usize];
    let inside = |t: f64| {
        let [px, py, _] = seen.at(t);
        let out = ((px - x).powi(2) + (py - y).powi(2)).sqrt();
        run.margin.less(out, r)
    };
    let middle = (z - seen.origin[2]) / seen.direction[2];
    let half = 0.5 / seen.direction[2].abs();
    let taken = inside(middle - half) && report(middle - half, 0);
    if !taken && inside(middle + half) {
        report(middle + half, 1);
    }
}

/// The first launch: 32x16.
pub struct First;

impl First {
    fn mirrored(run: &mut Run, from: Shader, ray: &Ray, hit: &Hit, flags: u64, depth: u64) -> i64 {
        let mut again = Payload { depth: depth + 1, ..Payload::default() };
        let [x, y, z] = ray.direction;
        run.trace(from, call(ray.at(hit.t), 0.0625, [x, y, -z], 0), 32.0, flags, &mut again);
        again.sum
    }
}

impl Shaders for First {
    fn raygen(&self, run: &mut Run) -> Payload {
        let [x, y] = run.at.map(|n| n as f64 + 0.5);
        let mut seen = Payload::default();
        run.trace(RAYGEN, call([x, y, 1.0], 0.0, [0.125, 0.0625, -1.0], 0), 32.0, 0, &mut seen);
        if run.at[0] & 1 == 1 {
            let mut lit = Payload::default();
            run.trace(RAYGEN, call([x, y, 1.0], 0.0, [-0.125, 0.25, -1.0], 1), 8.0, SHADOW, &mut lit);
            seen.sum += 13 * lit.sum;
        }
        if run.at[1] < 8 {
            run.call(run.at[0] >> 2 & 1, &mut seen.sum);
        }
        seen
    }

    fn miss(&self, run: &mut Run, stage: u64, ray: &Ray, payload: &mut Payload) {
        if stage != SKY.0 {
            payload.sum = 1;
            return;
        }
        payload.sum += 2;
        if payload.depth == 0 {
            let mut again = Payload { depth: 1, ..Payload::default() };
            let below = sub(ray.origin, [0.0, 8.0, 0.0]);
            run.trace(SKY, call(below, 0.25, ray.direction, 0), 16.0, 0, &mut again);
            payload.sum += 5 * again.sum;
        }
    }

    fn closest(&self, run: &mut Run, stage: u64, ray: &Ray, hit: &Hit, payload: &mut Payload) {
        if stage == WALL_HIT.0 {
            let mut lit = Payload::default();
            let light = call(ray.at(hit.t), 0.0625, [-0.25, 0.125, 1.0], 1);
            run.trace(WALL_HIT, light, 6.125, SHADOW, &mut lit);
            run.call(0, &mut lit.sum);
            payload.sum += lit.sum;
        } else if stage == MIRROR_HIT.0 {
            payload.sum += 11;
            if payload.depth < DEEPEST {
                payload.sum += 3 * Self::mirrored(run, MIRROR_HIT, ray, hit, OPAQUE, payload.depth);
            }
        } else {
            payload.sum += (hit.object.custom_index + hit.object.primitive + hit.kind) as i64;
            if payload.depth < DEEPEST {
                payload.sum += 7 * Self::mirrored(run, DISC_HIT, ray, hit, 0, payload.depth);
            }
        }
    }

    fn any(&self, run: &Run, ray: &Ray, _: &Ray, hit: &Hit) -> Answer {
        match hit.object.primitive {
            1 if hit.kind == 0 && run.at[0] & 1 == 0 => Answer::Ignore,
            2 if ray.direction[2] < 0.0 => Answer::Terminate,
            _ => Answer::Accept,
        }
    }

    fn intersection(&self, run: &Run, seen: &Ray, object: &Object, report: &mut dyn FnMut(f64, u64) -> bool) {
        disc(run, seen, object, report);
    }

    fn callable(&self, run: &mut Run, stage: u64, data: &mut i64) {
        if stage == EVEN {
            *data += 17;
        } else {
            run.call(0, data);
            *data += 3;
        }
    }
}

/// The second launch: 32x8.
pub struct Second;

impl Shaders for Second {
    fn raygen(&self, run: &mut Run) -> Payload {
        let [x, y] = run.at.map(|n| n as f64);
        let from = [x + 0.5, y * 2.0 + 1.0, 1.0];
        let flags = if run.at[1] & 1 == 0 { NO_OPAQUE } else { 0 };
        let mut met = Payload::default();
        let call = Call { cull_mask: 0x7F, ..call(from, 0.5, [0.0, 0.0, -2.0], 0) };
        run.trace(RAYGEN, call, 5.0, flags, &mut met);
        met
    }

    fn miss(&self, _: &mut Run, _: u64, _: &Ray, payload: &mut Payload) {
        payload.sum = 1;
    }

    fn closest(&self, _: &mut Run, _: u64, _: &Ray, hit: &Hit, payload: &mut Payload) {
        let Object { custom_index, geometry, primitive, .. } = hit.object;
        payload.sum = (3 + custom_index + 2 * geometry + primitive) as i64;
    }

    fn any(&self, run: &Run, _: &Ray, _: &Ray, _: &Hit) -> Answer {
        if run.at[0].is_multiple_of(3) { Answer::Ignore } else { Answer::Accept }
    }

    fn intersection(&self, run: &Run, seen: &Ray, object: &Object, report: &mut dyn FnMut(f64, u64) -> bool) {
        disc(run, seen, object, report);
    }

    fn callable(&self, _: &mut Run, _: u64, _: &mut i64) {
        unreachable!("the second pipeline has no callable shaders");
    }
}

/// Kinds of committed intersections: a triangle, or one that the shader generated.
const TRIANGLE: u64 = 1;
const GENERATED: u64 = 2;

/// The events of the third part's ray query: how it begins, and what it has committed. Its shader is part of no group.
pub fn query(at: [u64; 2]) -> [Event; 2] {
    let shader = (0, trace::tables::NOT_KNOWN);
    let [x, y] = at.map(|n| n as f64);
    let origin = [x + 0.5, y * 2.0 + 0.5, 1.0];
    let call = Call { sbt_stride: 0, ..call(origin, 0.25, [0.0, 0.0, -1.0], 0) };
    let begin = Event::new(RayEvent::QueryBegin, shader);
    let begin = Event { call: Some(call), t: Some(16.0), flags: Some(0), ..begin };
    let mut committed = Event::new(RayEvent::QueryCommitted, shader);
    if let (Some((object, t)), _) = queried(at) {
        let kind = if object.instance == 0 { TRIANGLE } else { GENERATED };
        committed = Event { t: Some(t), object: Some(object), hit_kind: Some(kind), ..committed };
    }
    [begin, committed]
}

/// What the ray query of the third part has committed: the hit, if there is one, and what the picture shows.
pub fn queried([x, y]: [u64; 2]) -> (Option<(Object, f64)>, i64) {
    let from = [x as f64 + 0.5, y as f64 * 2.0 + 0.5];
    let mut best: Option<(Object, f64)> = (from[1] < 12.03)
        .then_some((Object { instance: 0, custom_index: 1, geometry: 0, primitive: 0 }, 9.0));
    for (instance, custom_index, at) in [(1, 5, [0.0, 0.0, 0.0]), (2, 9, [14.0, 1.0, -0.5])] {
        for (primitive, [cx, cy, cz, r]) in (0..).zip(DISCS) {
            let t = 1.0 - (cz + at[2] + 0.5);
            let out = (from[0] - cx - at[0]).powi(2) + (from[1] - cy - at[1]).powi(2);
            if out < r * r && best.is_none_or(|(_, b)| t < b) {
                best = Some((Object { instance, custom_index, geometry: 0, primitive }, t));
            }
        }
    }
    (best, best.map_or(1, |(object, t)| 3 + object.custom_index as i64 + (t * 2.0) as i64))
}
