//! An invocation's events as rays: calls nest, and everything between a begin and its end is the ray's.
//!
//! A ray's outcome is its miss or closest hit. A ray that has neither when its call returns hit something without a shader
//! having said so (*implicit hit*): that is so for occlusion rays, and where a hit group has no closest-hit shader.
//!
//! Guarantees: walks any sequence, sound or not; what does not fit is counted and belongs to no ray.

use super::data::{Code, Launch};
use trace::tables::RayEvent;

/// How a ray ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// A miss shader.
    Miss,
    /// A closest-hit shader.
    ClosestHit,
    /// A hit that no shader said.
    ImplicitHit,
    /// It is not known; the records are not whole.
    #[default]
    Unknown,
}

/// One ray.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ray {
    /// Its begin, an event of the launch.
    pub begin: usize,
    /// Its miss or closest hit, if it has one.
    pub shader: Option<usize>,
    /// How many calls it lies in: 0 from ray generation.
    pub depth: u32,
    /// Whether its call skips closest-hit shaders.
    pub occlusion: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// Events of it.
    pub intersections: u32,
    /// Intersections that reported at least once.
    pub hits: u32,
    /// Events of it.
    pub reports: u32,
    /// Events of it.
    pub any_hits: u32,
    /// Events of it.
    pub ignored: u32,
    /// Whether an any-hit shader ended it.
    pub terminated: bool,
    /// Distance of the hit that it ended with: of its closest hit, or of the last hit that was not ignored.
    pub t: Option<f32>,
}

/// What did not fit, and what the laws compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Begins, of both kinds.
    pub begins: u64,
    /// Ends.
    pub ends: u64,
    /// Ends of a ray that had begun.
    pub returned: u64,
    /// Rays with exactly one outcome.
    pub resolved: u64,
    /// Intersections, any-hits, misses and closest hits.
    pub shaders: u64,
    /// Those in a ray that had no miss or closest hit yet.
    pub within: u64,
    /// Reports.
    pub reports: u64,
    /// Those after an intersection of their ray.
    pub sound_reports: u64,
    /// Ignored and ended in any-hit shaders.
    pub ignored: u64,
    /// Those directly after an any-hit of their ray.
    pub sound_ignored: u64,
    /// Committed intersections of queries.
    pub committed: u64,
    /// Those of invocations that had begun one before.
    pub sound_committed: u64,
}

impl Sums {
    /// Both together.
    pub fn add(&mut self, o: &Sums) {
        for (a, b) in [
            (&mut self.begins, o.begins),
            (&mut self.ends, o.ends),
            (&mut self.returned, o.returned),
            (&mut self.resolved, o.resolved),
            (&mut self.shaders, o.shaders),
            (&mut self.within, o.within),
            (&mut self.reports, o.reports),
            (&mut self.sound_reports, o.sound_reports),
            (&mut self.ignored, o.ignored),
            (&mut self.sound_ignored, o.sound_ignored),
            (&mut self.committed, o.committed),
            (&mut self.sound_committed, o.sound_committed),
        ] {
            *a += b;
        }
    }
}

/// A ray that has not returned.
#[derive(Clone, Copy, Debug)]
struct Open {
    ray: usize,
    last: RayEvent,
    /// Whether the intersection shader that it is in has reported.
    reported: bool,
    /// The last hit, and the one before it, should it be ignored.
    hit: (Option<f32>, Option<f32>),
}

/// Walks invocations; its memory is used again for the next.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    /// The rays of the invocation that was walked last, in the order of their begins.
    pub rays: Vec<Ray>,
    /// Of all invocations walked.
    pub sums: Sums,
    open: Vec<Open>,
}

impl Walk {
    /// Walks an invocation.
    pub fn walk(&mut self, launch: &Launch, codes: &[Code], thread: usize) {
        self.rays.clear();
        self.open.clear();
        let mut queried = false;
        for at in launch.events(thread) {
            let kind = codes[usize::from(launch.code[at])].kind;
            match kind {
                RayEvent::Begin | RayEvent::OcclusionBegin => {
                    self.sums.begins += 1;
                    let depth = self.open.len() as u32;
                    let occlusion = kind == RayEvent::OcclusionBegin;
                    let ray = self.rays.len();
                    self.open.push(Open { ray, last: kind, reported: false, hit: (None, None) });
                    self.rays.push(Ray { begin: at, depth, occlusion, ..Ray::default() });
                }
                RayEvent::End => {
                    self.sums.ends += 1;
                    let Some(open) = self.open.pop() else { continue };
                    self.sums.returned += 1;
                    self.close(&open, launch.no_closest_hit > 0);
                }
                RayEvent::Callable => {}
                RayEvent::QueryBegin => queried = true,
                RayEvent::QueryCommitted => {
                    self.sums.committed += 1;
                    self.sums.sound_committed += u64::from(queried);
                }
                _ => self.within(kind, at, launch.t[at]),
            }
        }
        // What has not returned is resolved by a shader or not at all.
        while let Some(open) = self.open.pop() {
            let ray = &self.rays[open.ray];
            self.sums.resolved += u64::from(ray.shader.is_some());
        }
    }

    fn close(&mut self, open: &Open, unsaid_hits: bool) {
        let ray = &mut self.rays[open.ray];
        if ray.shader.is_none() && (ray.occlusion || unsaid_hits) {
            ray.outcome = Outcome::ImplicitHit;
            ray.t = open.hit.0;
        }
        self.sums.resolved += u64::from(ray.outcome != Outcome::Unknown);
    }

    /// An event of the innermost ray.
    fn within(&mut self, kind: RayEvent, at: usize, t: f32) {
        let s = &mut self.sums;
        let open = self.open.last_mut();
        let shader =
            matches!(kind, RayEvent::Intersection | RayEvent::AnyHit | RayEvent::Miss | RayEvent::ClosestHit);
        match kind {
            _ if shader => s.shaders += 1,
            RayEvent::ReportIntersection => s.reports += 1,
            _ => s.ignored += 1,
        }
        let Some(open) = open else { return };
        let ray = &mut self.rays[open.ray];
        if ray.shader.is_some() {
            return;
        }
        s.within += u64::from(shader);
        match kind {
            RayEvent::Intersection => {
                ray.intersections += 1;
                open.reported = false;
            }
            RayEvent::ReportIntersection => {
                s.sound_reports += u64::from(ray.intersections > 0);
                ray.reports += 1;
                ray.hits += u32::from(!open.reported);
                open.reported = true;
                open.hit = (Some(t), open.hit.0);
            }
            RayEvent::AnyHit => {
                ray.any_hits += 1;
                // (after a report it is about the hit that was reported)
                let of_report = open.last == RayEvent::ReportIntersection;
                open.hit = (Some(t), if of_report { open.hit.1 } else { open.hit.0 });
            }
            RayEvent::IgnoreIntersection => {
                s.sound_ignored += u64::from(open.last == RayEvent::AnyHit);
                ray.ignored += 1;
                open.hit = (open.hit.1, None);
            }
            RayEvent::TerminateRay => {
                s.sound_ignored += u64::from(open.last == RayEvent::AnyHit);
                ray.terminated = true;
            }
            RayEvent::Miss => (ray.shader, ray.outcome) = (Some(at), Outcome::Miss),
            _ => (ray.shader, ray.outcome, ray.t) = (Some(at), Outcome::ClosestHit, Some(t)),
        }
        open.last = kind;
    }
}
