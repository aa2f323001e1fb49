//! Repacking: which invocation does whose work, so that subgroups diverge less (Cheung 2024, §3.3).
//!
//! A *swizzle* maps each linear launch index to that of the invocation whose work is done there. Subgroups are unpacked in the
//! order of their upper left pixels, row by row, each in the order of its lanes: places A. What a method sorts is B; the
//! invocation `A[i]` then does the work of `B[i]`. Tiled methods do so tile by tile; a subgroup is of the tile that its first pixel
//! is in. A tile that nobody gives is the one that `warp_order` finds of the launch, else [`TILE`]. Ties are broken by subgroup, in that same order (the numbers that a device gives tell in which order subgroups happened to
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
//! | identity-longest, rounds-longest | the subgroups of these methods, each left whole: those that execute most start first (`methods/longest.rs`) |
//!
//! *Synthetic efficiency* is Replayer's (`rays/replayer/mod.rs`). *Spread* is the mean distance, in pixels, of a subgroup's work
//! from its centre: how much locality there is left.
//!
//! *Caveats.* Efficiency is not time: it does not know in which order subgroups start, nor what waits for the longest of them. The
//! last two methods have the efficiency of those that they take subgroups from.
//!
//! Guarantees: every swizzle is a permutation, checked before it is given out; equal events, tile and seed give equal swizzles,
//! on any number of threads.

mod asked;
mod methods;
mod question;
#[cfg(test)]
mod tests;
mod work;

pub use asked::asked;
pub use methods::{METHODS, by_name};
pub(crate) use question::heaviest;
pub use question::{QUESTION, report, rows, spread};
pub use trace::swizzle::{Swizzle, npy};
pub use work::{Method, Options, TILE, Work, swizzle};
