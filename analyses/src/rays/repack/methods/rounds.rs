//! Ours: subgroups filled, ray by ray, with those who add the least to what the subgroup executes anyway.
//!
//! A sort puts together what is alike in its key and, once keys differ, nothing more: numrays knows how long an invocation
//! works and not at what; objects knows the beginnings of paths and not how long they are. What a subgroup costs is the
//! *union* of its invocations' work: in its k-th round it executes a begin if any of them traces a k-th ray, as many
//! traversal shaders as the one with the most, and each distinct miss or closest-hit shader once. That is what is made
//! small here, directly.
//!
//! Each invocation has a *profile*: for each of its rays how many traversal shaders it calls, and which shader ended it. Tiles
//! are rectangles of [`TILE`] pixels, and pixels in them are in Morton order, so that no subgroup's work is spread further than
//! a tile: narrower than the tiles of the other methods. In a tile, invocations stand in the order of the rays they trace, most first. Subgroup by
//! subgroup, the first that is left begins; then, [`LOOK`] of those that follow being looked at, the one whose profile differs
//! the least from the union joins (what it adds to it and what it leaves idle of it: 2 · added − its own size), until it is
//! full. (What it adds alone would not do: the shortest add nothing, and idle.) Of equals the first joins, and equals stand in
//! Morton order.
//!
//! The last subgroups of a tile get what is left; as these are the shortest, little is lost. Time is in proportion to
//! invocations × LOOK × rays. Rays of an invocation beyond [`ROUNDS`] count as its last round.

use crate::rays::repack::{Method, Options, Work};
use trace::tables::RayEvent;

/// A tile's width and height.
const TILE: [u32; 2] = [64, 32];
/// How many are looked at for each place.
const LOOK: usize = 512;
/// Rays of an invocation that are told apart.
const ROUNDS: usize = 128;

/// See the file's header.
pub struct Rounds;

/// By round: traversal shaders called, and a bit for each shader that ended a ray, the highest for begins.
#[derive(Clone)]
struct Profiles {
    rounds: usize,
    calls: Vec<u8>,
    ends: Vec<u8>,
}

impl Profiles {
    fn of(work: &Work<'_>, invocations: &[u32], rounds: usize) -> Profiles {
        let mut p = Profiles {
            rounds,
            calls: vec![0; rounds * invocations.len()],
            ends: vec![0; rounds * invocations.len()],
        };
        // Which bit stands for a shader; from the seventh on they share one.
        let codes = &work.events.codes;
        let ends = |k| matches!(k, RayEvent::Miss | RayEvent::ClosestHit);
        let mut bits = vec![0u8; codes.len()];
        for (n, code) in codes.iter().enumerate().filter(|(_, c)| ends(c.kind)).map(|c| c.0).enumerate() {
            bits[code] = 1 << n.min(6);
        }
        for (number, &thread) in invocations.iter().enumerate() {
            let mut round = 0;
            let row = number * rounds;
            for &code in work.replayer.calls(thread as usize) {
                let code = usize::from(code);
                let at = row + round.clamp(1, rounds) - 1;
                match codes[code].kind {
                    k if k.begins() => {
                        round += 1;
                        p.ends[row + round.min(rounds) - 1] |= 1 << 7;
                    }
                    RayEvent::Intersection | RayEvent::AnyHit => p.calls[at] = p.calls[at].saturating_add(1),
                    k if ends(k) => p.ends[at] |= bits[code],
                    _ => {}
                }
            }
        }
        p
    }

    fn row(&self, number: usize) -> (&[u8], &[u8]) {
        let at = number * self.rounds..(number + 1) * self.rounds;
        (&self.calls[at.clone()], &self.ends[at])
    }
}

/// What a profile adds to a union of profiles.
fn adds(union: (&[u8], &[u8]), of: (&[u8], &[u8])) -> u32 {
    let calls: u32 = union.0.iter().zip(of.0).map(|(u, o)| u32::from(o.saturating_sub(*u))).sum();
    let ends: u32 = union.1.iter().zip(of.1).map(|(u, o)| (o & !u).count_ones()).sum();
    calls + ends
}

/// Bits of column and row, one of each in turn.
fn morton(x: u32, y: u32) -> u64 {
    let spread = |v: u32| (0..32).fold(0u64, |s, b| s | u64::from(v >> b & 1) << (2 * b));
    spread(x) | spread(y) << 1
}

impl Method for Rounds {
    fn name(&self) -> &'static str {
        "rounds"
    }

    fn about(&self) -> &'static str {
        "ours: inside tiles of 64 x 32, subgroups of those whose rays, one by one, differ the least"
    }

    fn tile(&self, _: &Work<'_>, _: &Options) -> Option<[u32; 2]> {
        Some(TILE)
    }

    fn sort(&self, work: &Work<'_>, _: &Options, invocations: &mut [u32]) {
        let rays = work.rays();
        let key = |t: u32| {
            let [x, y, z] = work.launch.pixel(t as usize);
            (std::cmp::Reverse(rays[t as usize]), z, morton(x, y))
        };
        let mut rest = invocations.to_vec();
        rest.sort_by_cached_key(|&t| key(t));
        let most = rest.first().map_or(0, |&t| rays[t as usize] as usize);
        let profiles = Profiles::of(work, &rest, most.clamp(1, ROUNDS));
        let all = rest;
        let mut rest: Vec<u32> = (0..all.len() as u32).collect();
        let mut from = 0;
        let mut out = invocations.iter_mut();
        let n = work.launch.n as usize;
        let nothing = vec![0; profiles.rounds];
        let sizes: Vec<u32> = (0..all.len()).map(|n| adds((&nothing, &nothing), profiles.row(n))).collect();
        let mut union = (vec![0u8; profiles.rounds], vec![0u8; profiles.rounds]);
        while from < rest.len() {
            union.0.fill(0);
            union.1.fill(0);
            for place in 0..n.min(rest.len() - from) {
                let end = if place == 0 { from + 1 } else { (from + LOOK).min(rest.len()) };
                let whole = adds((&nothing, &nothing), (&union.0, &union.1));
                let (mut best, mut least) = (from, i64::MAX);
                for (at, &number) in rest[from..end].iter().enumerate() {
                    let added = adds((&union.0, &union.1), profiles.row(number as usize));
                    let differs = 2 * i64::from(added) - i64::from(sizes[number as usize]);
                    if differs < least {
                        (best, least) = (from + at, differs);
                        // (nobody fits better than who is the union)
                        if added == 0 && sizes[number as usize] == whole {
                            break;
                        }
                    }
                }
                // (those before it keep their order)
                rest[from..=best].rotate_right(1);
                let number = rest[from] as usize;
                from += 1;
                let (calls, ends) = profiles.row(number);
                union.0.iter_mut().zip(calls).for_each(|(u, c)| *u = (*u).max(*c));
                union.1.iter_mut().zip(ends).for_each(|(u, e)| *u |= e);
                if let Some(out) = out.next() {
                    *out = all[number];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_columns_and_rows_take_turns() {
        assert_eq!([morton(0, 0), morton(1, 0), morton(0, 1), morton(3, 1)], [0, 1, 2, 7]);
    }

    #[test]
    fn what_is_in_the_union_adds_nothing() {
        let union: (&[u8], &[u8]) = (&[3, 1], &[0x81, 0x82]);
        assert_eq!(adds(union, (&[2, 1], &[0x81, 0x80])), 0);
        assert_eq!(adds(union, (&[5, 1], &[0x84, 0x82])), 2 + 1);
    }
}
