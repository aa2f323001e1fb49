//! The scene `mesh`, shader by shader: captures/src/scenes/mesh says the same in GLSL.

use super::event::Call;
use super::geometry::{Geometry, Instance, Object, Ray, Shape};
use super::run::{
    Answer, Hit, Payload, Pipeline, Run, SKIP_CLOSEST_HIT, Shader, Shaders, TERMINATE_ON_FIRST_HIT,
};

const LEAVES: [f64; 4] = [0.0, -1.0, -2.0, -3.0];

fn quad([x0, y0, x1, y1]: [f64; 4], z: f64) -> [Shape; 2] {
    let (a, b, c, d) = ([x0, y0, z], [x1, y0, z], [x1, y1, z], [x0, y1, z]);
    [Shape::Triangle([a, b, c]), Shape::Triangle([a, c, d])]
}

/// What is there.
pub fn world() -> Vec<Instance> {
    let leaves = LEAVES.iter().flat_map(|z| quad([4.01, 3.02, 36.01, 27.02], *z)).collect();
    let trunk = quad([17.01, 6.02, 21.01, 30.02], -1.5).to_vec();
    let plant = vec![Geometry { opaque: false, shapes: leaves }, Geometry { opaque: true, shapes: trunk }];
    let ground = Shape::Triangle([[-200.0, 29.02, -6.0], [264.0, 29.02, -6.0], [32.0, -400.0, -6.0]]);
    let ground = vec![Geometry { opaque: false, shapes: vec![ground] }];
    let instance = |geometries, scale, at, custom_index, record| Instance {
        geometries,
        scale,
        at,
        custom_index,
        record,
        opaque: false,
    };
    let turned = ([-1.0, 1.0, 1.0], [47.0, 2.0, -0.25]);
    vec![
        instance(plant.clone(), [1.0; 3], [0.0; 3], 3, 0),
        instance(plant, turned.0, turned.1, 4, 0),
        instance(ground, [1.0; 3], [0.0; 3], 5, 2),
    ]
}

/// Its pipeline.
pub fn pipeline() -> Pipeline {
    let hit = [["leaf.rchit", "leaf.rahit", ""], ["trunk.rchit", "leaf.rahit", ""], ["ground.rchit", "", ""]];
    Pipeline::new(2, 0, &hit)
}

const RAYGEN: Shader = (0, 0);
const SKY: u64 = 1;
const LEAF: u64 = 3;
const TRUNK: u64 = 5;

/// Its shaders.
pub struct Mesh;

impl Shaders for Mesh {
    fn raygen(&self, run: &mut Run) -> Payload {
        let [x, y] = run.at.map(|n| n as f64 + 0.53125);
        let call = |origin, tmin, direction, miss_index| Call {
            origin,
            direction,
            tmin,
            cull_mask: 0xFF,
            sbt_offset: 0,
            sbt_stride: 1,
            miss_index,
        };
        let (from, forward) = ([x, y, 1.0], [0.125, 0.0625, -1.0]);
        let mut seen = Payload::default();
        run.trace(RAYGEN, call(from, 0.0, forward, 0), 16.0, 0, &mut seen);
        let away = seen.colour[3];
        let mut lit = Payload::default();
        if away > 0.0 {
            let ray = Ray { origin: from, direction: forward, tmin: 0.0, tmax: 16.0, flags: 0 };
            let flags = TERMINATE_ON_FIRST_HIT | SKIP_CLOSEST_HIT;
            run.trace(RAYGEN, call(ray.at(away), 0.125, [-0.25, 0.125, 1.0], 1), 16.0, flags, &mut lit);
        }
        seen.colour = seen.colour.map(|c| c * (0.5 + 0.5 * lit.sum as f64));
        seen
    }

    fn miss(&self, _: &mut Run, stage: u64, _: &Ray, payload: &mut Payload) {
        if stage == SKY {
            payload.colour = [0.4, 0.6, 0.8, 0.0];
        } else {
            payload.sum = 1;
        }
    }

    fn closest(&self, _: &mut Run, stage: u64, _: &Ray, hit: &Hit, payload: &mut Payload) {
        let [r, g, b] = match stage {
            LEAF => {
                let colour = if hit.object.custom_index == 3 { [0.5, 0.9, 0.3] } else { [0.9, 0.7, 0.2] };
                colour.map(|c| c * (1.0 - 0.0625 * hit.t))
            }
            TRUNK => [0.5, 0.25, 0.125],
            _ => [0.75; 3],
        };
        payload.colour = [r, g, b, hit.t];
    }

    fn any(&self, run: &Run, _: &Ray, seen: &Ray, hit: &Hit) -> Answer {
        let at = seen.at(hit.t);
        let cell = [at[0] * 0.5, at[1] * 0.5].map(|c| {
            run.margin.by(c - c.round());
            c.floor() as i64
        });
        let hole = (cell[0] + cell[1] + hit.object.primitive as i64 / 2) & 1 == 1;
        if hole { Answer::Ignore } else { Answer::Accept }
    }

    fn intersection(&self, _: &Run, _: &Ray, _: &Object, _: &mut dyn FnMut(f64, u64) -> bool) {
        unreachable!("there are no boxes");
    }

    fn callable(&self, _: &mut Run, _: u64, _: &mut i64) {
        unreachable!("there are no callable shaders");
    }
}
