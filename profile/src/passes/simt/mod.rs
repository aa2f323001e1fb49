//! Pass `simt`: at the entry of every basic block, how many of the subgroup's invocations are there (Vulkan Vision,
//! "SIMT Efficiency": a WarpUpdate with the active mask). The masks' popcounts are counted where they arise, one counter
//! for each popcount, so that memory is bounded by the shaders and not by the work. Before each call that traces a ray
//! the same, for the event-level efficiency.
//!
//! Option `exact=32`, `64` (unless said otherwise), `128` or `0`: popcounts up to this are told apart. Of executions with
//! more, their number and the sum of their popcounts are kept, so that every efficiency stays exact whatever the option,
//! and only the histogram ends in "more". A block takes 8 × (exact + 2) bytes, 528 unless said otherwise.
//!
//! Blocks that a subgroup comes by together, one the rest of the other, share their counters. Blocks that an invocation is
//! expected to execute again and again are counted in registers (`rewrite/held.rs`; option `held=N`: N at most): the first of the invocations that are there stands
//! for the execution, and holds the popcount and in how many executions in a row, of those that it stood for, it was the
//! same. What another popcount follows is added to the counters, and the rest where the invocation leaves. Whatever way
//! the others go, each execution is so held by one invocation, and added once. In ray-tracing stages everything is added
//! at once.
//!
//! Fragment shaders: helper invocations do not count as active; how many of them were there as well is counted beside,
//! as far as the device shows them in a ballot. What only helpers execute is not counted.

use crate::pass::{Change, EntryData, Error, FrameData, Pass, Result, Sink};
use crate::rewrite::{Probes, Shader, Site, most_held, traces};
use crate::{Needs, Stage};
use std::collections::HashMap;
use trace::tables::{SIMT, SIMT_HELPERS, SIMT_TRACES};
use trace::{Table, Value};

static PROBES: Probes = crate::probes!("simt");

/// [`Site::kind`]s.
const BLOCK: u32 = 0;
const TRACE: u32 = 1;

/// Numbers that a shader holds at most, where the options say nothing.
const MOST_HELD: usize = 16;

/// See the module's header.
#[derive(Clone, Copy, Debug)]
pub struct Simt {
    exact_counts: u32,
    most_held: usize,
}

impl Simt {
    /// With the options of the command line.
    pub fn new(options: &[String]) -> std::result::Result<Self, String> {
        let (options, most_held) = most_held(options, MOST_HELD)?;
        let exact_counts = match options.join("+").as_str() {
            "" | "exact=64" => 64,
            "exact=0" => 0,
            "exact=32" => 32,
            "exact=128" => 128,
            _ => {
                return Err(format!(
                    "pass simt takes exact=0, 32, 64 or 128, and held=N; {options:?} was given"
                ));
            }
        };
        Ok(Simt { exact_counts, most_held })
    }

    fn counters(&self, stage: Stage) -> u32 {
        self.exact_counts + 2 + u32::from(stage == Stage::Fragment)
    }
}

impl Pass for Simt {
    fn name(&self) -> &'static str {
        "simt"
    }

    fn key(&self) -> String {
        format!("simt 4 {} {}", self.exact_counts, self.most_held)
    }

    fn needs(&self, _: Stage) -> Option<Needs> {
        Some(Needs { subgroups: true, ..Needs::default() })
    }

    fn samples(&self) -> bool {
        true
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let wrong = Error::shader(shader.hash);
        let probe = shader.import(&PROBES, "simt_here").map_err(&wrong)?;
        let exact_counts = shader.constant(self.exact_counts);
        let here = |shader: &mut Shader| {
            let (counter, in_region) = shader.reserve_counters(self.counters(shader.stage))?;
            let first = shader.constant(counter);
            Ok((shader.call(probe, &[first, exact_counts]), in_region))
        };
        let spots = shader.before_each(traces);
        let mut calls = vec![];
        for spot in spots {
            let (call, counter) = here(shader).map_err(&wrong)?;
            shader.site(Site { counter: Some(counter), ..spot.site(TRACE) });
            calls.push((spot, vec![call]));
        }
        shader.at_spots(calls);
        let together: Vec<_> =
            (0..shader.facts.functions.len()).map(|f| shader.come_by_together(f as u32)).collect();
        let hold = shader.to_hold(self.most_held, |f, b| together[f as usize][b as usize] == b);
        let (mut counters, mut flush) = (HashMap::new(), vec![]);
        for (function, block) in shader.blocks() {
            let leader = together[function as usize][block as usize];
            let counter = match counters.get(&(function, leader)) {
                Some(&counter) => counter,
                None if hold.contains(&(function, block)) => {
                    let (counter, in_region) =
                        shader.reserve_counters(self.counters(shader.stage)).map_err(&wrong)?;
                    let held = shader.import(&PROBES, "simt_held").map_err(&wrong)?;
                    let (first, variable) = (shader.constant(counter), shader.held());
                    let insts = shader.update_held(variable, held, &[first, exact_counts]);
                    shader.at_begin(function, block, insts);
                    let add = shader.import(&PROBES, "simt_flush").map_err(&wrong)?;
                    let held = shader.load_held(variable, &mut flush);
                    flush.push(shader.call(add, &[first, exact_counts, held]));
                    in_region
                }
                None => {
                    let (call, counter) = here(shader).map_err(&wrong)?;
                    shader.at_begin(function, block, vec![call]);
                    counter
                }
            };
            counters.insert((function, block), counter);
            let site = shader.block_site(function, block, BLOCK);
            shader.site(Site { counter: Some(counter), ..site });
        }
        if !flush.is_empty() {
            shader.at_exits(flush);
        }
        Ok(Change::Changed)
    }

    fn decode(&self, frame: &FrameData<'_>, out: &mut dyn Sink) -> Result<()> {
        for e in &frame.entries {
            for site in &e.region.sites {
                self.site(frame.frame, e, site, out)?;
            }
        }
        Ok(())
    }
}

impl Simt {
    fn site(&self, frame: u64, e: &EntryData<'_>, site: &Site, out: &mut dyn Sink) -> Result<()> {
        let n = self.counters(e.variant.stage) as usize;
        let counters = site.counter.and_then(|c| e.counters.get(c as usize..c as usize + n));
        let Some(counters) = counters else {
            let why = format!("the counters of block {} are not there", site.block);
            return Err(Error::Record { word_offset: site.counter.unwrap_or(0) as usize, why });
        };
        let exact_counts = self.exact_counts as usize;
        let place = [frame, e.entry.into(), site.function.into(), site.block.into()];
        let mut put = |table: &'static Table, what: &[u64]| {
            let row: Vec<Value<'_>> = place.iter().chain(what).map(|&v| Value::U64(v)).collect();
            out.put(table, &row);
        };
        let exact = counters[..exact_counts].iter().enumerate();
        let mut rows: Vec<[u64; 3]> =
            exact.filter(|c| *c.1 != 0).map(|(n, &k)| [n as u64 + 1, k, (n as u64 + 1) * k]).collect();
        if counters[exact_counts] != 0 {
            rows.push([0, counters[exact_counts], counters[exact_counts + 1]]);
        }
        for row in rows {
            match site.kind {
                BLOCK => put(&SIMT, &row),
                _ => put(&SIMT_TRACES, &[&[u64::from(site.word_offset)], &row[..]].concat()),
            }
        }
        match counters.get(exact_counts + 2) {
            Some(&helpers) if helpers != 0 && site.kind == BLOCK => put(&SIMT_HELPERS, &[helpers]),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
