//! Methods that were tried, for a line each in METHODS (methods/mod.rs). What was kept of them is methods/longest.rs.

use super::numrays::Numrays;
use super::rounds::Rounds;
use super::tiled_numrays::TiledNumrays;
use super::random::Random;
use super::identity::Identity;
use crate::events::model::hash;
use crate::repack::{Method, Options, Work, swizzle};
use rayon::prelude::*;

/// See the file's header.
pub struct Longest;

impl Method for Longest {
    fn name(&self) -> &'static str {
        "longest"
    }
    fn about(&self) -> &'static str {
        "by the number of rays traced, most first"
    }
    fn sort(&self, work: &Work<'_>, _: &Options, invocations: &mut [u32]) {
        let rays = work.rays();
        invocations.par_sort_unstable_by_key(|&t| (std::cmp::Reverse(rays[t as usize]), work.tie(t)));
    }
}

/// Random in a tile.
pub struct TiledRandom;

impl Method for TiledRandom {
    fn name(&self) -> &'static str {
        "tiled-random"
    }
    fn about(&self) -> &'static str {
        "a seeded permutation inside tiles"
    }
    fn tile(&self, _: &Work<'_>, options: &Options) -> Option<[u32; 2]> {
        Some(options.tile.unwrap_or([16, 16]))
    }
    fn sort(&self, work: &Work<'_>, options: &Options, invocations: &mut [u32]) {
        Random.sort(work, options, invocations);
    }
}

/// Subgroups as another method makes them, each whole, in another order.
pub struct Ordered {
    /// Its name.
    pub name: &'static str,
    /// Who makes subgroups.
    pub inner: &'static dyn Method,
    /// Longest first, shortest first, or at random.
    pub how: How,
}

/// In which order.
pub enum How {
    /// Those that execute most events first.
    Longest,
    /// At random.
    Random,
}

impl Method for Ordered {
    fn name(&self) -> &'static str {
        self.name
    }
    fn about(&self) -> &'static str {
        "whole subgroups in another order"
    }
    fn sort(&self, work: &Work<'_>, options: &Options, invocations: &mut [u32]) {
        let inner = swizzle(self.inner, work, options);
        let made = work.recorded.swizzled(&inner.indices);
        invocations.copy_from_slice(&made.threads);
        let n = work.launch.n as usize;
        let full: Vec<usize> = (0..made.len()).filter(|w| made.warp(*w).len() == n).collect();
        let mut places = full.clone();
        places.sort_by_key(|w| work.launch.subgroup[work.recorded.warp(*w)[0] as usize]);
        let works: Vec<usize> = match self.how {
            How::Longest => {
                let mut keyed: Vec<(usize, usize)> = (places.par_iter())
                    .map(|w| (usize::MAX - work.replayer.warp(made.warp(*w)).len(), *w))
                    .collect();
                keyed.sort_by_key(|k| k.0);
                keyed.into_iter().map(|k| k.1).collect()
            }
            How::Random => {
                let mut all = places.clone();
                for i in (1..all.len()).rev() {
                    let pick = (u128::from(hash(options.seed, i as u64)) * (i as u128 + 1)) >> 64;
                    all.swap(i, pick as usize);
                }
                all
            }
        };
        for (place, from) in places.iter().zip(works) {
            let at = made.starts[*place] as usize;
            invocations[at..at + n].copy_from_slice(made.warp(from));
        }
    }
}

/// Identity's, longest first.
pub static WARPS_LONGEST: Ordered = Ordered { name: "warps-longest", inner: &Identity, how: How::Longest };
/// Identity's, at random.
pub static WARPS_RANDOM: Ordered = Ordered { name: "warps-random", inner: &Identity, how: How::Random };
/// Rounds', longest first.
pub static ROUNDS_LONGEST: Ordered = Ordered { name: "rounds-longest", inner: &Rounds, how: How::Longest };
/// Tiled numrays', longest first.
pub static TILED_LONGEST: Ordered = Ordered { name: "tiled-longest", inner: &TiledNumrays, how: How::Longest };
/// Numrays, at random.
pub static NUMRAYS_MIXED: Ordered = Ordered { name: "numrays-mixed", inner: &Numrays, how: How::Random };
