//! What a method is, what methods know of a launch, and the swizzle that one makes of it.

use crate::rays::events::{Events, Launch, NO};
use crate::rays::replayer::{Packing, Replayer};
use crate::rays::warp_order::detect;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use trace::swizzle::Swizzle;
use trace::tables::RayEvent;

/// The tile where a launch does not show its own: that of an NVIDIA GPU at 1280 × 720 (Cheung 2024, §3.2.2).
pub const TILE: [u32; 2] = [256, 256];

/// What a user may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The tile of tiled methods, in pixels; none: the launch's own ([`Work::tile`]).
    pub tile: Option<[u32; 2]>,
    /// Of random.
    pub seed: u64,
}

impl Options {
    /// The launch's own tile, and the seed 0.
    pub const DEFAULT: Options = Options { tile: None, seed: 0 };
}

/// A way to sort invocations; one file each, and a line in [`super::METHODS`].
pub trait Method: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What it does, in a line.
    fn about(&self) -> &'static str;

    /// The tile that it sorts in; none: all at once.
    fn tile(&self, _work: &Work<'_>, _options: &Options) -> Option<[u32; 2]> {
        None
    }

    /// Puts the invocations of a tile, or all, in order.
    fn sort(&self, work: &Work<'_>, options: &Options, invocations: &mut [u32]);
}

/// A launch, its calls, and what methods ask of it.
pub struct Work<'a> {
    /// All events.
    pub events: &'a Events,
    /// Those of the launch.
    pub launch: &'a Launch,
    /// Its calls.
    pub replayer: Replayer,
    /// The subgroups as they were.
    pub recorded: Packing,
    /// Which of them each invocation is in; [`NO`] where it left no event.
    subgroup: Vec<u32>,
    tile: OnceLock<[u32; 2]>,
    rays: OnceLock<Vec<u32>>,
    objects: OnceLock<(Vec<u32>, Vec<usize>)>,
}

impl<'a> Work<'a> {
    /// Prepares a launch.
    pub fn new(events: &'a Events, launch: &'a Launch) -> Work<'a> {
        let recorded = Packing::recorded(launch);
        let mut subgroup = vec![NO; launch.threads()];
        for (number, warp) in (0..).zip((0..recorded.len()).map(|n| recorded.warp(n))) {
            warp.iter().for_each(|t| subgroup[*t as usize] = number);
        }
        Work {
            events,
            launch,
            replayer: Replayer::new(events, launch),
            recorded,
            subgroup,
            tile: OnceLock::new(),
            rays: OnceLock::new(),
            objects: OnceLock::new(),
        }
    }

    fn kind(&self, at: usize) -> RayEvent {
        self.events.codes[usize::from(self.launch.code[at])].kind
    }

    /// The tile in which its device executes subgroups, as `warp_order` finds it, else [`TILE`].
    pub fn tile(&self) -> [u32; 2] {
        *self.tile.get_or_init(|| detect(self.launch).tile.map_or(TILE, |t| t.size))
    }

    /// How many rays each invocation traced.
    pub fn rays(&self) -> &[u32] {
        self.rays.get_or_init(|| {
            let of = |t: usize| self.launch.events(t).filter(|at| self.kind(*at).begins()).count() as u32;
            (0..self.launch.threads()).into_par_iter().map(of).collect()
        })
    }

    /// The objects that an invocation met, in order.
    pub fn objects(&self, thread: u32) -> &[u32] {
        let (all, starts) = self.objects.get_or_init(|| {
            let met = |at: &usize| {
                let kind = self.kind(*at);
                matches!(kind, RayEvent::Intersection | RayEvent::AnyHit | RayEvent::ClosestHit)
                    && self.launch.object[*at] != NO
            };
            let mut starts: Vec<usize> = (0..self.launch.threads())
                .into_par_iter()
                .map(|t| self.launch.events(t).filter(met).count())
                .collect();
            starts.push(0);
            let mut sum = 0;
            starts.iter_mut().for_each(|s| sum += std::mem::replace(s, sum));
            let mut all = Vec::with_capacity(sum);
            all.extend((0..self.launch.code.len()).filter(met).map(|at| self.launch.object[at]));
            (all, starts)
        });
        &all[starts[thread as usize]..starts[thread as usize + 1]]
    }

    /// What ties are broken by: which subgroup, in the order of their first invocations, as the device's own numbers tell in which
    /// order they happened to begin.
    pub fn tie(&self, thread: u32) -> (u32, u32) {
        (self.subgroup[thread as usize], thread)
    }

    /// The places of each tile, row by row of tiles; all in one without tiles.
    pub fn places(&self, tile: Option<[u32; 2]>) -> Vec<Vec<u32>> {
        let mut tiles: BTreeMap<[u32; 3], Vec<u32>> = BTreeMap::new();
        for warp in 0..self.recorded.len() {
            let members = self.recorded.warp(warp);
            // (subgroups come in the order of their first invocation)
            let first = members.iter().min().copied().unwrap_or(0);
            let [x, y, z] = self.launch.pixel(first as usize);
            let key = match tile {
                Some([w, h]) => [z, y / h.max(1), x / w.max(1)],
                None => [0; 3],
            };
            tiles.entry(key).or_default().extend(members);
        }
        tiles.into_values().collect()
    }

    /// The packing that a swizzle makes, and its efficiency.
    pub fn packing(&self, method: &dyn Method, options: &Options) -> (Swizzle, Packing) {
        let swizzle = swizzle(method, self, options);
        let packing = self.recorded.swizzled(&swizzle.indices);
        (swizzle, packing)
    }
}

/// What a method makes of a launch.
pub fn swizzle(method: &dyn Method, work: &Work<'_>, options: &Options) -> Swizzle {
    let mut indices: Vec<u32> = (0..work.launch.threads() as u32).collect();
    let places = work.places(method.tile(work, options));
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
