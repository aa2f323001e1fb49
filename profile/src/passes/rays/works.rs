//! Invocations outside of ray tracing as columns, rows and layers of their launch.
//!
//! Those of a dispatch are numbered as gl_GlobalInvocationID says. Those of draws have work ids that several may share:
//! what comes later with the same lies a layer (of fragments: whose work id is their pixel) or a row behind.

use crate::Stage;
use std::collections::{BTreeMap, HashMap};

/// The most invocations that a launch may have.
pub const MOST: u64 = 1 << 30;

/// Where an invocation of a dispatch is: its work id, how many workgroups there are, how large they are.
pub fn of_dispatch(work: u32, groups: [u32; 3], sides: [u32; 3]) -> (u32, [u32; 3]) {
    let size = [0, 1, 2].map(|n| groups[n].saturating_mul(sides[n]));
    let local = sides.iter().product::<u32>().max(1);
    let apart = |n: u32, of: [u32; 3]| {
        let [w, h, _] = of.map(|s| s.max(1));
        [n % w, n / w % h, n / w / h]
    };
    let (group, own) = (apart(work / local, groups), apart(work % local, sides));
    let at = [0, 1, 2].map(|n| group[n] * sides[n] + own[n]);
    (at[0] + size[0] * (at[1] + size[1] * at[2]), size)
}

/// The invocations of the draws of a pipeline in a frame.
#[derive(Debug, Default)]
pub struct Works {
    fragments: bool,
    /// How many have a work id.
    counts: BTreeMap<u32, u32>,
    /// Which of them a work id is, once all are known.
    ranks: HashMap<u32, u32>,
    /// How many of each came.
    came: HashMap<u32, u32>,
    /// Width, height, depth.
    pub size: [u32; 3],
}

impl Works {
    /// One more is there.
    pub fn count(&mut self, stage: Stage, work: u32) {
        self.fragments |= stage == Stage::Fragment;
        *self.counts.entry(work).or_default() += 1;
    }

    /// All are there; false if they are too many.
    pub fn lay_out(&mut self) -> bool {
        let most = self.counts.values().max().copied().unwrap_or(0);
        self.size = match self.fragments {
            true => {
                let side = |f: fn(u32) -> u32| self.counts.keys().map(|k| f(*k) + 1).max().unwrap_or(0);
                [side(|k| k & 0xffff), side(|k| k >> 16), most]
            }
            false => {
                self.ranks = self.counts.keys().zip(0..).map(|(k, n)| (*k, n)).collect();
                [self.counts.len() as u32, most, 1]
            }
        };
        self.size.iter().map(|s| u64::from(*s)).product::<u64>() <= MOST
    }

    /// The number of the next one that comes with a work id.
    pub fn next(&mut self, work: u32) -> u32 {
        let before = self.came.entry(work).or_default();
        let [w, h, _] = self.size;
        let n = match self.fragments {
            true => (work & 0xffff) + w * ((work >> 16) + h * *before),
            false => self.ranks.get(&work).copied().unwrap_or(0) + w * *before,
        };
        *before += 1;
        n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dispatches_are_numbered_by_their_global_ids() {
        // 3 x 2 workgroups of 4 x 2: the second row of workgroups begins with work id 24, in row 2.
        assert_eq!(of_dispatch(0, [3, 2, 1], [4, 2, 1]), (0, [12, 4, 1]));
        assert_eq!(of_dispatch(5, [3, 2, 1], [4, 2, 1]).0, 12 + 1);
        assert_eq!(of_dispatch(8, [3, 2, 1], [4, 2, 1]).0, 4);
        assert_eq!(of_dispatch(24, [3, 2, 1], [4, 2, 1]).0, 24);
        let mut all: Vec<u32> = (0..48).map(|w| of_dispatch(w, [3, 2, 1], [4, 2, 1]).0).collect();
        all.sort_unstable();
        assert_eq!(all, (0..48).collect::<Vec<_>>());
    }

    #[test]
    fn draws_have_layers_or_rows() {
        let mut f = Works::default();
        for work in [2 << 16 | 5, 1 << 16, 2 << 16 | 5] {
            f.count(Stage::Fragment, work);
        }
        assert!(f.lay_out());
        assert_eq!(f.size, [6, 3, 2]);
        assert_eq!([f.next(2 << 16 | 5), f.next(1 << 16), f.next(2 << 16 | 5)], [17, 6, 35]);
        let mut v = Works::default();
        [70, 9, 70, 70].iter().for_each(|w| v.count(Stage::Vertex, *w));
        assert!(v.lay_out());
        assert_eq!((v.size, [v.next(9), v.next(70), v.next(70)]), ([2, 3, 1], [0, 1, 3]));
    }
}
