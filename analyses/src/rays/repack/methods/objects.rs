//! By the sequence of objects met: whose paths are alike work together.
//!
//! Sequences are compared at the first object that differs. Where one is the beginning of the other, the longer comes first.

use crate::rays::repack::{Method, Options, Work};
use rayon::prelude::*;
use std::cmp::Ordering;

/// See the file's header.
pub struct Objects;

/// The order of two sequences.
pub fn compare(a: &[u32], b: &[u32]) -> Ordering {
    match a.iter().zip(b).find(|(a, b)| a != b) {
        Some((a, b)) => a.cmp(b),
        None => b.len().cmp(&a.len()),
    }
}

impl Method for Objects {
    fn name(&self) -> &'static str {
        "objects"
    }

    fn about(&self) -> &'static str {
        "by the sequence of objects met, the longer of equal beginnings first"
    }

    fn sort(&self, work: &Work<'_>, _: &Options, invocations: &mut [u32]) {
        invocations.par_sort_unstable_by(|&a, &b| {
            compare(work.objects(a), work.objects(b)).then_with(|| work.tie(a).cmp(&work.tie(b)))
        });
    }
}
