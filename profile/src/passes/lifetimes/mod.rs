//! Pass `lifetimes`: how many basic blocks an invocation executes from its entry point's entry to where it leaves, and
//! how many a subgroup does (Vulkan Vision, "Warp and Thread Lifetimes"). Blocks of functions that are called count, those
//! of shaders that are called (by a trace, or callables) do not: each has a lifetime of its own.
//!
//! An invocation counts its blocks in a private variable; where it leaves, a counter of the histogram goes up. For
//! subgroups, in each block the elected invocation counts one in a private variable, so that the sum over a subgroup's
//! invocations is how often it executed a block, whoever was elected. Where all that entered together leave together the
//! sum is taken there; where a part of them leaves, the part's sum goes to the log, and the parts are added when it is
//! read. Memory is bounded but for the log, which holds five words for each part of a split subgroup.
//!
//! Histograms are exact up to 255 blocks, and then have a bucket for each power of two; sums, and so means, are exact.
//! Demoted invocations leave when they are demoted. Helper invocations have no lifetime.

use crate::pass::{Change, Error, FrameData, Pass, Result, Sink};
use crate::passes::lanes::word;
use crate::rewrite::{Probes, Shader, Site};
use crate::{Needs, Stage};
use std::collections::HashMap;
use trace::Value;
use trace::tables::{LIFETIME_SUMS, LIFETIMES};

static PROBES: Probes = crate::probes!("lifetimes");

/// Buckets of a histogram, as the probe has them.
const BUCKETS: usize = 280;
const EXACT: usize = 256;
/// Two histograms, each with its sum.
const COUNTERS: u32 = 2 * (BUCKETS as u32 + 1);
/// Words of a record behind its probe's number.
const RECORD: u32 = 4;

/// The bucket that a number falls into.
fn bucket(n: u32) -> usize {
    if (n as usize) < EXACT { n as usize } else { EXACT - 8 + n.ilog2() as usize }
}

/// The first and the last number of a bucket.
fn bounds(bucket: usize) -> (u64, u64) {
    if bucket < EXACT {
        return (bucket as u64, bucket as u64);
    }
    let low = 1 << (bucket - EXACT + 8);
    (low, 2 * low - 1)
}

/// See the module's header.
#[derive(Clone, Copy, Debug)]
pub struct Lifetimes;

impl Pass for Lifetimes {
    fn name(&self) -> &'static str {
        "lifetimes"
    }

    fn needs(&self, _: Stage) -> Option<Needs> {
        Some(Needs { subgroups: true, ..Needs::default() })
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let wrong = Error::shader(shader.hash);
        let exit = shader.import(&PROBES, "lifetimes_exit").map_err(&wrong)?;
        let (counter, in_region) = shader.reserve_counters(COUNTERS).map_err(&wrong)?;
        let first = shader.constant(counter);
        let probe = shader.reserve_probe();
        let number = shader.constant(probe);
        let mut calls = vec![];
        for (spot, _) in shader.leaving() {
            let call = shader.call(exit, &[first, number]);
            calls.push((spot, vec![call]));
        }
        shader.at_spots(calls);
        let site = shader.block_site(0, 0, 0);
        shader.site(Site { counter: Some(in_region), probe: Some((probe, RECORD)), ..site });
        let block = shader.import(&PROBES, "lifetimes_block").map_err(&wrong)?;
        for (f, b) in shader.blocks() {
            let call = shader.call(block, &[]);
            shader.at_begin(f, b, vec![call]);
        }
        let enter = shader.import(&PROBES, "lifetimes_enter").map_err(&wrong)?;
        let call = shader.call(enter, &[]);
        shader.at_begin(0, 0, vec![call]);
        Ok(Change::Changed)
    }

    fn decode(&self, frame: &FrameData<'_>, out: &mut dyn Sink) -> Result<()> {
        let mut split: Vec<Split> = frame.entries.iter().map(|_| Split::default()).collect();
        for r in &frame.records {
            let w = [word(r.words, 0)?, word(r.words, 1)?, word(r.words, 2)?, word(r.words, 3)?];
            split[r.entry].part(w);
        }
        for (e, split) in frame.entries.iter().zip(&split) {
            let site = e.region.sites.first().and_then(|s| s.counter).unwrap_or(u32::MAX) as usize;
            let Some(counters) = e.counters.get(site..site.saturating_add(COUNTERS as usize)) else {
                return Err(Error::Record { word_offset: site, why: "the counters are not there".into() });
            };
            let (invocations, subgroups) = counters.split_at(BUCKETS + 1);
            let mut subgroups = subgroups.to_vec();
            for &n in &split.done {
                subgroups[bucket(n)] += 1;
                subgroups[BUCKETS] += u64::from(n);
            }
            for (of, counters, unfinished) in
                [("invocation", invocations, 0), ("subgroup", &subgroups[..], split.parts.len() as u64)]
            {
                let place = [Value::U64(frame.frame), Value::U64(e.entry.into()), Value::Text(of)];
                let mut put = |table, what: &[u64]| {
                    let rest = what.iter().map(|&v| Value::U64(v));
                    out.put(table, &place.into_iter().chain(rest).collect::<Vec<_>>());
                };
                let mut lived = 0;
                for (n, &count) in counters[..BUCKETS].iter().enumerate().filter(|c| *c.1 != 0) {
                    let (low, high) = bounds(n);
                    lived += count;
                    put(&LIFETIMES, &[low, high, count]);
                }
                if lived != 0 || unfinished != 0 {
                    put(&LIFETIME_SUMS, &[lived, counters[BUCKETS], unfinished]);
                }
            }
        }
        Ok(())
    }
}

/// Subgroups of an entry point that left in parts.
#[derive(Default)]
struct Split {
    /// Subgroup: how many have left, and their sum.
    parts: HashMap<u32, (u32, u32)>,
    done: Vec<u32>,
}

impl Split {
    fn part(&mut self, [subgroup, entered, leaving, counted]: [u32; 4]) {
        let (left, sum) = self.parts.entry(subgroup).or_default();
        *left += leaving;
        *sum += counted;
        if *left >= entered {
            self.done.push(*sum);
            self.parts.remove(&subgroup);
        }
    }
}

#[cfg(test)]
mod tests;
