//! The sums: over portions of a launch's invocations, added up.

use crate::rays::events::{CHUNK, Events, Launch, NO, Outcome, Walk};
use rayon::prelude::*;
use std::collections::BTreeMap;
use trace::tables::RayEvent;

/// Some rays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rays {
    /// Miss, closest hit, implicit hit, not known.
    pub outcomes: [u64; 4],
    /// Intersection shaders entered.
    pub intersections: u64,
    /// Any-hit shaders entered.
    pub any_hits: u64,
}

impl Rays {
    /// How many.
    pub fn rays(&self) -> u64 {
        self.outcomes.iter().sum()
    }

    /// Those that hit something.
    pub fn hits(&self) -> u64 {
        self.outcomes[1] + self.outcomes[2]
    }

    /// Both together.
    pub fn add(&mut self, o: &Rays) {
        self.outcomes.iter_mut().zip(o.outcomes).for_each(|(a, b)| *a += b);
        self.intersections += o.intersections;
        self.any_hits += o.any_hits;
    }
}

/// Some events, and their distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distances {
    /// How many.
    pub count: u64,
    /// Those with a finite distance.
    pub finite: u64,
    /// Of these.
    pub least: f32,
    /// Of these.
    pub greatest: f32,
    /// Of these.
    pub sum: f64,
}

impl Default for Distances {
    fn default() -> Self {
        Distances { count: 0, finite: 0, least: f32::INFINITY, greatest: f32::NEG_INFINITY, sum: 0.0 }
    }
}

/// What was tested of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tests {
    /// Intersection shaders entered for it.
    pub tested: u64,
    /// Those that reported.
    pub reported: u64,
    /// Any-hit shaders entered.
    pub any_hits: u64,
    /// Closest-hit shaders entered for it.
    pub closest_hits: u64,
}

impl Tests {
    /// Both together.
    pub fn add(&mut self, o: &Tests) {
        self.tested += o.tested;
        self.reported += o.reported;
        self.any_hits += o.any_hits;
        self.closest_hits += o.closest_hits;
    }
}

/// All sums.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// By kind of event.
    pub kinds: [Distances; 13],
    /// By depth.
    pub depths: Vec<Rays>,
    /// By code; of begins.
    pub calls: Vec<Rays>,
    /// By object.
    pub objects: Vec<Tests>,
    /// Rays: invocations that traced so many.
    pub of_invocations: BTreeMap<u64, u64>,
    /// Bucket: closest hits.
    pub hits: BTreeMap<i32, u64>,
    /// Of each [`CHUNK`] of invocations: sums of distances. Added up in their order, they do not depend on the workers.
    sums: Vec<[f64; 13]>,
}

/// Four buckets for each power of two; 0 and below have one.
pub fn bucket(t: f32) -> i32 {
    if t > 0.0 { (f64::from(t).log2() * 4.0).floor() as i32 } else { i32::MIN }
}

/// Where one begins.
pub fn bucket_begin(bucket: i32) -> f64 {
    if bucket == i32::MIN { 0.0 } else { (f64::from(bucket) / 4.0).exp2() }
}

impl Stats {
    /// Nothing, of these events.
    pub fn new(events: &Events) -> Stats {
        Stats {
            calls: vec![Rays::default(); events.codes.len()],
            objects: vec![Tests::default(); events.objects.len()],
            ..Stats::default()
        }
    }

    /// Of a launch.
    pub fn of(events: &Events, launch: &Launch) -> Stats {
        // (as many portions as there are workers: sums of objects may be long)
        let portions = rayon::current_num_threads().max(1);
        let each = launch.threads().div_ceil(portions).next_multiple_of(CHUNK).max(CHUNK);
        let portions = launch.threads().div_ceil(each);
        let mut all = (0..portions)
            .into_par_iter()
            .map(|p| {
                let mut s = Stats::new(events);
                s.fold(events, launch, p * each..((p + 1) * each).min(launch.threads()));
                s
            })
            .collect::<Vec<_>>()
            .into_iter();
        let mut whole = all.next().unwrap_or_else(|| Stats::new(events));
        all.for_each(|s| whole.add(&s));
        for sums in std::mem::take(&mut whole.sums) {
            whole.kinds.iter_mut().zip(sums).for_each(|(k, sum)| k.sum += sum);
        }
        whole
    }

    /// Rays of all depths.
    pub fn rays(&self) -> u64 {
        self.depths.iter().map(Rays::rays).sum()
    }

    fn fold(&mut self, events: &Events, launch: &Launch, threads: std::ops::Range<usize>) {
        let mut walk = Walk::default();
        for thread in threads {
            if thread % CHUNK == 0 {
                self.sums.push([0.0; 13]);
            }
            self.events(events, launch, thread);
            walk.walk(launch, &events.codes, thread);
            *self.of_invocations.entry(walk.rays.len() as u64).or_default() += 1;
            for ray in &walk.rays {
                let depth = ray.depth as usize;
                if self.depths.len() <= depth {
                    self.depths.resize(depth + 1, Rays::default());
                }
                let code = usize::from(launch.code[ray.begin]);
                for s in [&mut self.depths[depth], &mut self.calls[code]] {
                    s.outcomes[match ray.outcome {
                        Outcome::Miss => 0,
                        Outcome::ClosestHit => 1,
                        Outcome::ImplicitHit => 2,
                        Outcome::Unknown => 3,
                    }] += 1;
                    s.intersections += u64::from(ray.intersections);
                    s.any_hits += u64::from(ray.any_hits);
                }
                if let (Outcome::ClosestHit, Some(t)) = (ray.outcome, ray.t) {
                    *self.hits.entry(bucket(t)).or_default() += 1;
                }
            }
        }
    }

    /// Kinds, distances and objects of an invocation.
    fn events(&mut self, events: &Events, launch: &Launch, thread: usize) {
        let (mut tested, mut reported) = (NO, false);
        for at in launch.events(thread) {
            let (object, t) = (launch.object[at], launch.t[at]);
            let kind = events.codes[usize::from(launch.code[at])].kind;
            let k = &mut self.kinds[kind as usize];
            k.count += 1;
            if t.is_finite() {
                k.finite += 1;
                if let Some(sums) = self.sums.last_mut() {
                    sums[kind as usize] += f64::from(t);
                }
                k.least = k.least.min(t);
                k.greatest = k.greatest.max(t);
            }
            match kind {
                RayEvent::Intersection => (tested, reported) = (object, false),
                RayEvent::ReportIntersection if !reported && tested != NO => {
                    self.objects[tested as usize].reported += 1;
                    reported = true;
                }
                _ => {}
            }
            if let Some(o) = self.objects.get_mut(object as usize) {
                match kind {
                    RayEvent::Intersection => o.tested += 1,
                    RayEvent::AnyHit => o.any_hits += 1,
                    RayEvent::ClosestHit => o.closest_hits += 1,
                    _ => {}
                }
            }
        }
    }

    /// Both together.
    pub fn add(&mut self, o: &Stats) {
        for (a, b) in self.kinds.iter_mut().zip(&o.kinds) {
            a.count += b.count;
            a.finite += b.finite;
            a.sum += b.sum;
            a.least = a.least.min(b.least);
            a.greatest = a.greatest.max(b.greatest);
        }
        if self.depths.len() < o.depths.len() {
            self.depths.resize(o.depths.len(), Rays::default());
        }
        self.depths.iter_mut().zip(&o.depths).for_each(|(a, b)| a.add(b));
        self.calls.iter_mut().zip(&o.calls).for_each(|(a, b)| a.add(b));
        self.objects.iter_mut().zip(&o.objects).for_each(|(a, b)| a.add(b));
        o.of_invocations.iter().for_each(|(k, n)| *self.of_invocations.entry(*k).or_default() += n);
        self.sums.extend(&o.sums);
        o.hits.iter().for_each(|(k, n)| *self.hits.entry(*k).or_default() += n);
    }
}
