//! One subgroup, step by step.
//!
//! Each step has the mask of those who have it next; steps that anyone has next are bits of a set whose lowest is the first
//! choice. Time is in proportion to the invocations' steps, and the choices that there are.

use super::calls::{Class, Replayer};
use std::ops::Range;

/// The most invocations of a subgroup.
const MOST: usize = 128;

/// Memory that is used again for the next subgroup.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// Of each step: who has it next.
    next: Vec<u128>,
    /// Steps that anyone has next.
    active: Vec<u64>,
    /// Of each step: how many come to it in their present ray, those who have it next included.
    left: Vec<u32>,
    /// Of each place and step: how often it still comes in the present ray.
    remaining: Vec<u16>,
    begun: [u32; MOST],
    at: [usize; MOST],
    end: [usize; MOST],
}

impl Scratch {
    /// For so many steps.
    pub fn new(steps: usize) -> Scratch {
        Scratch {
            next: vec![0; steps],
            active: vec![0; steps.div_ceil(64)],
            left: vec![0; steps],
            remaining: vec![0; steps * MOST],
            begun: [0; MOST],
            at: [0; MOST],
            end: [0; MOST],
        }
    }
}

impl Replayer {
    /// Executes parts of the stream together, one for each place of a subgroup; `take` is told each step and who executes it.
    ///
    /// # Panics
    /// If there are more than 128 places.
    pub fn run(&self, parts: &[Range<usize>], s: &mut Scratch, mut take: impl FnMut(usize, u128)) {
        assert!(parts.len() <= MOST, "a subgroup of {} invocations", parts.len());
        for (lane, part) in parts.iter().enumerate() {
            (s.at[lane], s.end[lane], s.begun[lane]) = (part.start, part.end, 0);
            self.arrive(lane, true, s);
        }
        while let Some(step) = self.choose(s) {
            let mask = std::mem::take(&mut s.next[step]);
            s.active[step / 64] &= !(1 << (step % 64));
            take(step, mask);
            let class = self.steps[step].class;
            let mut rest = mask;
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                s.at[lane] += 1;
                s.begun[lane] += u32::from(class == Class::Begin);
                if self.lookahead && class == Class::Traversal {
                    let r = &mut s.remaining[lane * self.steps.len() + step];
                    *r -= 1;
                    s.left[step] -= u32::from(*r == 0);
                }
                self.arrive(lane, class != Class::Traversal, s);
            }
        }
    }

    /// A place has another step next, if it has one; `fresh`: its ray's traversal begins there, if it is one.
    fn arrive(&self, lane: usize, fresh: bool, s: &mut Scratch) {
        if s.at[lane] == s.end[lane] {
            return;
        }
        let step = usize::from(self.stream[s.at[lane]]);
        s.next[step] |= 1 << lane;
        s.active[step / 64] |= 1 << (step % 64);
        if self.lookahead && fresh && self.steps[step].class == Class::Traversal {
            for step in &self.stream[s.at[lane]..s.end[lane]] {
                let step = usize::from(*step);
                if self.steps[step].class != Class::Traversal {
                    break;
                }
                let r = &mut s.remaining[lane * self.steps.len() + step];
                s.left[step] += u32::from(*r == 0);
                *r += 1;
            }
        }
    }

    /// What is executed next.
    fn choose(&self, s: &Scratch) -> Option<usize> {
        let word = s.active.iter().position(|w| *w != 0)?;
        let first = word * 64 + s.active[word].trailing_zeros() as usize;
        let (Class::Traversal | Class::Begin) = self.steps[first].class else { return Some(first) };
        let group = self.steps[first].group;
        let (mut best, mut key) = (first, None);
        for step in first..self.steps.len() {
            if self.steps[step].group != group {
                break;
            }
            let mask = s.next[step];
            if mask == 0 {
                continue;
            }
            let heads = mask.count_ones();
            let wait = match self.steps[step].class {
                Class::Traversal if self.lookahead => s.left[step] - heads,
                Class::Begin => lanes(mask).map(|l| s.begun[l]).min().unwrap_or(0),
                _ => 0,
            };
            let this = (wait, std::cmp::Reverse(heads), mask.trailing_zeros());
            if key.is_none_or(|k| this < k) {
                (best, key) = (step, Some(this));
            }
        }
        Some(best)
    }
}

fn lanes(mut mask: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(lane)
    })
}
