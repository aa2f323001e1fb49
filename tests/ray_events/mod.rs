//! A tracer of rays on the CPU that predicts every ray event of every pixel of the scenes `recursion` and `mesh`.
//!
//! [`run`] is the machine, [`recursion`] and [`mesh`] are the shaders and worlds; [`check`] holds a trace of pass `rays`
//! against them, event for event. Distances and coordinates may be off by [`event::BOUND`]; all else is equal. The scenes are
//! made so that nothing is decided by less than a multiple of that: [`tests`] says by how much.

pub mod event;
pub mod geometry;
pub mod mesh;
pub mod recursion;
pub mod run;
#[cfg(test)]
mod tests;

use event::{Launch, read};
use geometry::{Instance, Margin};
use run::{Pipeline, Program, Shaders};
use trace::Source;

/// A launch of which every event is known.
pub struct Known {
    /// The pipeline's name.
    pub pipeline: &'static str,
    pub size: [u64; 2],
    /// The first row of the picture that it writes.
    pub row: usize,
    pub world: Vec<Instance>,
    pub shape: Pipeline,
    pub shaders: &'static dyn Shaders,
}

impl Known {
    /// Its program; decisions leave their margins there.
    pub fn program<'a>(&'a self, margin: &'a Margin) -> Program<'a> {
        Program { world: &self.world, pipeline: &self.shape, shaders: self.shaders, margin }
    }
    /// Its places, row by row.
    pub fn places(&self) -> impl Iterator<Item = [u64; 2]> + use<> {
        let [width, height] = self.size;
        (0..height).flat_map(move |y| (0..width).map(move |x| [x, y]))
    }
}

/// The scenes.
pub const SCENES: [&str; 2] = ["recursion", "mesh"];

/// The launches of a scene's frame, in order.
pub fn known(scene: &str) -> Vec<Known> {
    let (first, second) = (recursion::first_pipeline(), recursion::second_pipeline());
    match scene {
        "recursion" => vec![
            Known {
                pipeline: "recursion",
                size: [32, 16],
                row: 0,
                world: recursion::world(),
                shape: first,
                shaders: &recursion::First,
            },
            Known {
                pipeline: "map",
                size: [32, 8],
                row: 16,
                world: recursion::world(),
                shape: second,
                shaders: &recursion::Second,
            },
        ],
        "mesh" => vec![Known {
            pipeline: "mesh",
            size: [48, 32],
            row: 0,
            world: mesh::world(),
            shape: mesh::pipeline(),
            shaders: &mesh::Mesh,
        }],
        _ => panic!("nothing is known of {scene}"),
    }
}

/// What of a trace was compared, and what is not as it should be.
#[derive(Debug, Default)]
pub struct Verdict {
    pub launches: usize,
    pub invocations: usize,
    pub events: usize,
    /// The largest relative error of a distance or coordinate.
    pub error: f64,
    /// Boxes that were come to though what was hit before is nearer.
    pub beyond: usize,
    pub wrong: Vec<String>,
}

/// The colour that a sum shows as, in the scene `recursion`.
pub fn colour(sum: i64) -> [u8; 3] {
    [41, 23, 7].map(|factor| (sum * factor) as u8)
}

/// Holds a trace of a scene against what is known of it: every frame, launch, invocation and event.
pub fn check(scene: &str, source: &dyn Source) -> Result<Verdict, String> {
    let (mut verdict, known) = (Verdict::default(), known(scene));
    let recorded = read(source)?;
    let mut frames: Vec<u64> = recorded.iter().map(|l| l.frame).collect();
    frames.dedup();
    for frame in frames {
        let of: Vec<&Launch> = recorded.iter().filter(|l| l.frame == frame).collect();
        for known in &known {
            let named: Vec<_> = of.iter().filter(|l| l.pipeline == known.pipeline).collect();
            match named[..] {
                [launch] => compare(known, launch, &mut verdict),
                _ => verdict.wrong.push(format!(
                    "frame {frame}: {} launches of {}",
                    named.len(),
                    known.pipeline
                )),
            }
        }
        if scene == "recursion" {
            match of.iter().find(|l| l.pipeline == "query" && l.size == [32, 8, 1]) {
                Some(launch) => queries(launch, &mut verdict),
                None => verdict.wrong.push(format!("frame {frame}: no ray queries")),
            }
        }
    }
    Ok(verdict)
}

/// The ray queries: two events an invocation; where nothing was committed, no object is named.
fn queries(launch: &Launch, verdict: &mut Verdict) {
    verdict.launches += 1;
    for (n, recorded) in (0..).zip(&launch.events) {
        let known = recursion::query([n % 32, n / 32]);
        let words = format!("frame {}, query {n}", launch.frame);
        verdict.invocations += 1;
        if recorded.len() != known.len() {
            verdict.wrong.push(format!("{words}: {} events", recorded.len()));
            continue;
        }
        for (is, should) in recorded.iter().zip(&known) {
            let compared = should.compare(is);
            match compared {
                Ok(_) if is.object != should.object => {
                    verdict.wrong.push(format!("{words}: the object is {:?}", is.object));
                }
                Ok(error) => verdict.error = verdict.error.max(error),
                Err(why) => verdict.wrong.push(format!("{words}: {why}; should be {should:?}")),
            }
            verdict.events += 1;
        }
    }
}

fn compare(known: &Known, launch: &Launch, verdict: &mut Verdict) {
    let words = format!("frame {}, {}", launch.frame, known.pipeline);
    let [width, height] = known.size;
    if launch.size != [width, height, 1] {
        verdict.wrong.push(format!("{words}: its size is {:?}", launch.size));
        return;
    }
    let margin = Margin::default();
    let program = known.program(&margin);
    verdict.launches += 1;
    for (at, recorded) in known.places().zip(&launch.events) {
        match program.check(at, recorded) {
            Ok(outcome) => {
                verdict.invocations += 1;
                verdict.events += outcome.events.len();
                verdict.beyond += outcome.beyond;
                verdict.error = verdict.error.max(outcome.error);
            }
            Err(why) => verdict.wrong.push(format!("{words}, {at:?}: {why}")),
        }
    }
}
