//! Subgroups as another method makes them, each left whole, and started in another order: those that execute most first.
//!
//! How long a frame takes is decided by two things that no efficiency says. A device starts subgroups in groups of a few (four,
//! on the GPU that this was measured on) and gives their place away when the last of a group is done: a short subgroup beside
//! a long one idles. And what is started last is waited for by everything else: a launch that ends in its longest subgroups ends
//! with most of the device idle. Both are small if subgroups start in the order of their lengths, the longest first.
//! (`benches/runs/2026-11-27-h200-predictor` has the times.)
//!
//! How long a subgroup is, is how many synthetic events it executes (`rays/replayer/mod.rs`). Places are taken in the order in which
//! the device began the recorded subgroups. It is about the same each time and not quite: another recording gives another swizzle,
//! where that of other methods is the same. Of equally long ones the one whose place began first stays the first.
//!
//! Guarantees: a subgroup's work is that of one of the other method's subgroups, lane by lane. Subgroups that are not full stay
//! where they are: no other has their size.

use super::identity::Identity;
use super::rounds::Rounds;
use crate::rays::repack::work::swizzle;
use crate::rays::repack::{Method, Options, Work};
use rayon::prelude::*;
use std::cmp::Reverse;

/// See the file's header.
pub struct Longest {
    name: &'static str,
    about: &'static str,
    /// Who makes the subgroups.
    of: &'static dyn Method,
}

/// The subgroups as they were.
pub static IDENTITY: Longest = Longest {
    name: "identity-longest",
    about: "the subgroups as they were, those that execute most first",
    of: &Identity,
};

/// Those of `rounds`.
pub static ROUNDS: Longest = Longest {
    name: "rounds-longest",
    about: "ours: the subgroups of rounds, those that execute most first",
    of: &Rounds,
};

impl Method for Longest {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn sort(&self, work: &Work<'_>, options: &Options, invocations: &mut [u32]) {
        let made = work.recorded.swizzled(&swizzle(self.of, work, options).indices);
        let n = work.launch.n as usize;
        // (places without a tile are those of the recorded subgroups, one behind the other)
        invocations.copy_from_slice(&made.threads);
        let mut places: Vec<usize> = (0..made.len()).filter(|s| made.warp(*s).len() == n).collect();
        places.sort_by_key(|&s| work.launch.subgroup[work.recorded.warp(s)[0] as usize]);
        let length = |s: usize| work.replayer.warp(made.warp(s)).len();
        let mut longest: Vec<(Reverse<usize>, usize)> =
            places.par_iter().map(|&s| (Reverse(length(s)), s)).collect();
        longest.sort_by_key(|s| s.0);
        for (place, (_, subgroup)) in places.into_iter().zip(longest) {
            let at = made.starts[place] as usize;
            invocations[at..at + n].copy_from_slice(made.warp(subgroup));
        }
    }
}
