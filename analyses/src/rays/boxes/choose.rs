//! Which top level the rays of a call go through: the one whose boxes contain the most of the places where they hit.
//!
//! Of places that no shader found (misses alone), tests count instead: the ray must enter the box of what it was tested
//! against. Equal ones: the one with the lowest number.

use super::place::{Line, ROUNDING, Ray};
use super::scene::{Scenes, Top};
use crate::rays::events::Object;

/// What rays of a call are asked for at most.
pub const ASKED: usize = 4096;

/// A ray, and what it hit or was tested against.
pub struct Witness {
    /// The ray.
    pub ray: Ray,
    /// What it met.
    pub object: Object,
    /// Where it hit it, if it did.
    pub t: Option<f64>,
}

/// How many of those that were looked at a top level explains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// So many.
    pub explained: u64,
    /// Of so many.
    pub of: u64,
}

/// Whether a top level explains what a ray met.
fn explains(scenes: &Scenes, top: &Top, w: &Witness) -> bool {
    let Some(i) = top.instance(w.object.instance) else { return false };
    let Some(leaf) = scenes.bottoms[i.bottom].leaf(w.object.geometry, w.object.primitive) else {
        return false;
    };
    let line = Line::moved(&w.ray, &i.inverse, &i.by);
    // (shaders that calculate where they hit are farther off than a device that tests boxes)
    let (low, high) = &leaf.bounds;
    match w.t {
        None => line.enters(low, high, w.ray.tmax, ROUNDING).is_some(),
        Some(t) => {
            let (at, off) = (t.abs() * ROUNDING * 256.0, ROUNDING * 256.0);
            line.enters(low, high, t + at, off).is_some_and(|entry| entry <= t + at)
        }
    }
}

/// The best of these tops.
pub fn choose(scenes: &Scenes, tops: &[usize], witnesses: &[Witness]) -> Option<(usize, Share)> {
    let hits = witnesses.iter().any(|w| w.t.is_some());
    let asked: Vec<&Witness> = witnesses.iter().filter(|w| !hits || w.t.is_some()).take(ASKED).collect();
    let share = |top: usize| {
        let explained = asked.iter().filter(|w| explains(scenes, &scenes.tops[top], w)).count() as u64;
        Share { explained, of: asked.len() as u64 }
    };
    let best = tops.iter().map(|t| (*t, share(*t)));
    best.min_by_key(|(t, s)| (u64::MAX - s.explained, scenes.tops[*t].structure))
}
