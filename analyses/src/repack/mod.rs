//! Repacking: which invocation does whose work, so that subgroups diverge less (Cheung 2024, §3.3).
//!
//! A *swizzle* maps each linear launch index to that of the invocation whose work is done there. Subgroups are unpacked in the
//! order of their upper left pixels, row by row, each in the order of its lanes: places A. What a method sorts is B; the
//! invocation `A[i]` then does the work of `B[i]`. Tiled methods do so tile by tile; a subgroup is of the tile that its first pixel
//! is in. Ties are broken by subgroup, in that same order (the numbers that a device gives tell in which order subgroups happened to
//! begin, which no second run repeats), then by launch index. Invocations without events stay where they are.
//!
//! | method | sorts by |
//! |---|---|
//! | identity | – |
//! | random | a seeded permutation |
//! | numrays | rays traced, fewest first |
//! | objects | the sequence of objects of intersections, any-hits and closest hits; where one is the beginning of the other, the longer first |
//! | tiled-numrays, tiled-objects | the same inside tiles |
//! | rounds | see `methods/rounds.rs`: ours |
//!
//! *Synthetic efficiency* is Replayer's (`replayer/mod.rs`). *Spread* is the mean distance, in pixels, of a subgroup's work
//! from its centre: how much locality there is left.
//!
//! Guarantees: every swizzle is a permutation, checked before it is given out; equal events, tile and seed give equal swizzles,
//! on any number of threads.

mod methods;
mod question;
#[cfg(test)]
mod tests;
mod work;

pub use methods::METHODS;
pub use question::{Repack, columns, rows};
pub use trace::swizzle::{Swizzle, npy};
pub use work::{Options, Work};

use crate::replayer::Packing;
use rayon::prelude::*;

/// A way to sort invocations; one file each, and a line in [`METHODS`].
pub trait Method: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What it does, in a line.
    fn about(&self) -> &'static str;

    /// The tile that it sorts in; none: all at once.
    fn tile(&self, _options: &Options) -> Option<[u32; 2]> {
        None
    }

    /// Puts the invocations of a tile, or all, in order.
    fn sort(&self, work: &Work<'_>, options: &Options, invocations: &mut [u32]);
}

/// The method of this name.
pub fn by_name(name: &str) -> Option<&'static dyn Method> {
    METHODS.iter().copied().find(|m| m.name() == name)
}

/// What a method makes of a launch.
pub fn swizzle(method: &dyn Method, work: &Work<'_>, options: &Options) -> Swizzle {
    let mut indices: Vec<u32> = (0..work.launch.threads() as u32).collect();
    let places = work.places(method.tile(options));
    let sorted: Vec<Vec<u32>> = places
        .par_iter()
        .map(|places| {
            let mut sorted = places.clone();
            method.sort(work, options, &mut sorted);
            sorted
        })
        .collect();
    for (place, does) in places.iter().flatten().zip(sorted.iter().flatten()) {
        indices[*place as usize] = *does;
    }
    let swizzle = Swizzle {
        frame: work.launch.frame,
        launch: work.launch.launch,
        size: work.launch.size,
        method: method.name().to_owned(),
        seed: options.seed,
        indices,
    };
    swizzle.check().unwrap_or_else(|e| panic!("method {}: {e}", method.name()));
    swizzle
}

/// The mean distance of a subgroup's work from its centre, in pixels.
pub fn spread(work: &Work<'_>, packing: &Packing) -> f64 {
    // (of so many subgroups at once, added up in their order)
    const PORTION: usize = 1 << 12;
    let portions: Vec<f64> = (0..packing.len().div_ceil(PORTION))
        .into_par_iter()
        .map(|p| {
            let warps = p * PORTION..((p + 1) * PORTION).min(packing.len());
            let mut sum = 0.0;
            for warp in warps {
                let pixels: Vec<[f64; 2]> = (packing.warp(warp).iter())
                    .map(|&t| work.launch.pixel(t as usize))
                    .map(|[x, y, _]| [f64::from(x), f64::from(y)])
                    .collect();
                let n = pixels.len() as f64;
                let centre = [0, 1].map(|k| pixels.iter().map(|p| p[k]).sum::<f64>() / n);
                sum += pixels.iter().map(|p| (p[0] - centre[0]).hypot(p[1] - centre[1])).sum::<f64>() / n;
            }
            sum
        })
        .collect();
    portions.iter().sum::<f64>() / packing.len().max(1) as f64
}
