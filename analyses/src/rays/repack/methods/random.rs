//! A seeded permutation: as little coherence as there can be.

use crate::rays::events::hash;
use crate::rays::repack::{Method, Options, Work};

/// See the file's header.
pub struct Random;

impl Method for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn about(&self) -> &'static str {
        "a seeded permutation of all invocations"
    }

    fn sort(&self, _: &Work<'_>, options: &Options, invocations: &mut [u32]) {
        // Fisher and Yates: each of the places up to here is as likely.
        for i in (1..invocations.len()).rev() {
            let pick = (u128::from(hash(options.seed, i as u64)) * (i as u128 + 1)) >> 64;
            invocations.swap(i, pick as usize);
        }
    }
}
