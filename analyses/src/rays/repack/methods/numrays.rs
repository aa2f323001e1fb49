//! By the number of rays traced: who works as long works together.

use crate::rays::repack::{Method, Options, Work};
use rayon::prelude::*;

/// See the file's header.
pub struct Numrays;

impl Method for Numrays {
    fn name(&self) -> &'static str {
        "numrays"
    }

    fn about(&self) -> &'static str {
        "by the number of rays traced, fewest first"
    }

    fn sort(&self, work: &Work<'_>, _: &Options, invocations: &mut [u32]) {
        let rays = work.rays();
        invocations.par_sort_unstable_by_key(|&t| (rays[t as usize], work.tie(t)));
    }
}
