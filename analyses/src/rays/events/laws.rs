//! What must hold in every trace of rays, both sides counted.
//!
//! | law | left | right |
//! |---|---|---|
//! | each ray ends once | begins | rays with exactly one of miss, closest hit, implicit hit |
//! | each call returns | begins | ends of calls that had begun |
//! | shaders belong to a ray | intersections, any-hits, misses, closest hits | those in a ray that had not ended |
//! | reports are an intersection's | reports | those after an intersection of their ray |
//! | ignoring is an any-hit's | ignored and terminated | those directly after an any-hit of their ray |
//! | queries begin | committed intersections asked for | those of invocations with a query begun before |
//! | subgroups stay | events | those with the subgroup and lane of their invocation's first |
//! | subgroups begin as rays do | Σ popcount of subgroups' begins | begins |
//! | of each shader | Σ popcount of subgroups' events | events of rays |
//!
//! The last two are left out where subgroups' events were not recorded. A law is a number of equations: by launch, and the
//! last by launch, shader and kind.

use super::data::{Events, Launch};
use super::numbers;
use super::walk::{Sums, Walk};
use rayon::prelude::*;
use std::collections::BTreeMap;
use trace::tables::{RayEvent, WARPS};
use trace::{Source, Unreadable};

/// An equation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Law {
    /// The law.
    pub name: &'static str,
    /// Of what.
    pub of: String,
    /// What the left side counts.
    pub left_words: &'static str,
    /// How many.
    pub left: u64,
    /// What the right side counts.
    pub right_words: &'static str,
    /// How many.
    pub right: u64,
}

impl Law {
    /// Whether it is kept.
    pub fn holds(&self) -> bool {
        self.left == self.right
    }

    /// In words.
    pub fn words(&self) -> String {
        format!(
            "{}, {}: {} {}, but {} {}",
            self.name, self.of, self.left, self.left_words, self.right, self.right_words
        )
    }
}

/// Invocations that a worker takes at once.
pub const CHUNK: usize = 1 << 13;

/// Walks all invocations of a launch.
pub fn sums(events: &Events, launch: &Launch) -> Sums {
    let chunks = launch.threads().div_ceil(CHUNK);
    (0..chunks)
        .into_par_iter()
        .map_init(Walk::default, |walk, chunk| {
            walk.sums = Sums::default();
            for thread in chunk * CHUNK..((chunk + 1) * CHUNK).min(launch.threads()) {
                walk.walk(launch, &events.codes, thread);
            }
            walk.sums
        })
        .reduce(Sums::default, |mut a, b| {
            a.add(&b);
            a
        })
}

/// Frame, launch, kind and entry: events of subgroups as invocations.
type Invocations = BTreeMap<(u64, u64, RayEvent, u32), u64>;

/// Every law of every launch, kept or not.
pub fn laws(events: &Events, trace: &dyn Source) -> Result<Vec<Law>, Unreadable> {
    let mut warps = Invocations::new();
    let mut of_warps = false;
    trace.each_of(&WARPS, &["frame", "launch", "kind", "entry", "mask", "mask_high"], &mut |t| {
        let masks = t.u64("mask").iter().zip(t.u64("mask_high"));
        of_warps |= !t.is_empty();
        for (row, (low, high)) in masks.enumerate() {
            let kind = numbers::kind(&WARPS, t.u64("kind")[row])?;
            let key = (t.u64("frame")[row], t.u64("launch")[row], kind, t.u64("entry")[row] as u32);
            *warps.entry(key).or_default() += u64::from(low.count_ones() + high.count_ones());
        }
        Ok(())
    })?;
    let mut all = vec![];
    for launch in &events.launches {
        all.extend(of_rays(events, launch));
        if of_warps {
            all.extend(with_warps(events, launch, &mut warps));
        }
    }
    // What is left is of launches that have no rays.
    for ((frame, launch, kind, entry), left) in warps {
        let of = format!("frame {frame}, launch {launch}, {} of shader {entry}", kind.name());
        all.push(shader_law(of, left, 0));
    }
    Ok(all)
}

fn shader_law(of: String, left: u64, right: u64) -> Law {
    Law {
        name: "of each shader",
        of,
        left_words: "invocations in subgroups' events",
        left,
        right_words: "events of rays",
        right,
    }
}

fn of_rays(events: &Events, launch: &Launch) -> Vec<Law> {
    let s = sums(events, launch);
    let count = launch.code.len() as u64;
    let of = launch.words();
    let law = |name, left_words, left, right_words, right| Law {
        name,
        of: of.clone(),
        left_words,
        left,
        right_words,
        right,
    };
    vec![
        law("each ray ends once", "begins", s.begins, "rays with exactly one outcome", s.resolved),
        law("each call returns", "begins", s.begins, "calls that returned", s.returned),
        law("no call returns twice", "ends", s.ends, "calls that returned", s.returned),
        law("shaders belong to a ray", "shaders entered", s.shaders, "within a ray", s.within),
        law(
            "reports are an intersection's",
            "reports",
            s.reports,
            "after an intersection of their ray",
            s.sound_reports,
        ),
        law(
            "ignoring is an any-hit's",
            "ignored or terminated",
            s.ignored,
            "directly after an any-hit of their ray",
            s.sound_ignored,
        ),
        law("queries begin", "committed", s.committed, "after a query had begun", s.sound_committed),
        law(
            "subgroups stay",
            "events",
            count,
            "with their invocation's subgroup and lane",
            count - launch.strays,
        ),
    ]
}

fn with_warps(events: &Events, launch: &Launch, warps: &mut Invocations) -> Vec<Law> {
    let mut counts = vec![0u64; events.codes.len()];
    launch.code.iter().for_each(|c| counts[usize::from(*c)] += 1);
    let mut rays: BTreeMap<(RayEvent, u32), u64> = BTreeMap::new();
    for (code, count) in events.codes.iter().zip(counts).filter(|(c, n)| c.kind.of_warps() && *n > 0) {
        *rays.entry((code.kind, code.entry)).or_default() += count;
    }
    let key = |kind, entry| (launch.frame, launch.launch, kind, entry);
    let of_launch = key(RayEvent::Begin, 0)..=key(RayEvent::QueryCommitted, u32::MAX);
    let theirs: Vec<_> = warps.range(of_launch).map(|(k, n)| (*k, *n)).collect();
    let begins = theirs.iter().filter(|(k, _)| k.2.begins()).map(|(_, n)| n).sum();
    let mut all = vec![Law {
        name: "subgroups begin as rays do",
        of: launch.words(),
        left_words: "invocations in subgroups' begins",
        left: begins,
        right_words: "begins",
        right: rays.iter().filter(|(k, _)| k.0.begins()).map(|(_, n)| n).sum(),
    }];
    for (k, _) in &theirs {
        rays.entry((k.2, k.3)).or_default();
    }
    for ((kind, entry), right) in rays {
        let left = warps.remove(&key(kind, entry)).unwrap_or(0);
        all.push(shader_law(format!("{}, {} of shader {entry}", launch.words(), kind.name()), left, right));
    }
    all
}
