//! Pass `simt`: at the entry of every basic block, how many of the subgroup's invocations are there (Vulkan Vision,
//! "SIMT Efficiency": a WarpUpdate with the active mask). The masks' popcounts are counted where they arise, one counter
//! for each popcount, so that memory is bounded by the shaders and not by the work. Before each call that traces a ray
//! the same, for the event-level efficiency.
//!
//! Option `exact=32`, `64` (unless said otherwise), `128` or `0`: popcounts up to this are told apart. Of executions with
//! more, their number and the sum of their popcounts are kept, so that every efficiency stays exact whatever the option,
//! and only the histogram ends in "more". A block takes 8 × (exact + 2) bytes, 528 unless said otherwise.
//!
//! Where a subgroup's invocations stay together, what comes into a block goes out of it, with as many invocations: so few
//! places are counted, and the counts of all blocks follow, for each number of invocations by itself (`rewrite/placement`).
//! Where they may part or meet, blocks are counted. That branches do not part them is proven (`spirv/uniform`), for devices
//! whose invocations meet again where their ways do; counts that contradict that are an error. Option `placement=direct`
//! counts every block where it begins, and supposes nothing. So do ray-tracing stages.
//!
//! What an invocation is expected to execute again and again is counted in registers (`rewrite/held.rs`; option `held=N`: N
//! at most): the first of the invocations that are there stands
//! for the execution, and holds the popcount and in how many executions in a row, of those that it stood for, it was the
//! same. What another popcount follows is added to the counters, and the rest where the invocation leaves. Whatever way
//! the others go, each execution is so held by one invocation, and added once. In ray-tracing stages everything is added
//! at once.
//!
//! Fragment shaders: helper invocations do not count as active; how many of them were there as well is counted beside,
//! as far as the device shows them in a ballot. What only helpers execute is not counted.

mod put;

use crate::pass::{Change, EntryData, Error, FrameData, Pass, Result, Sink};
use crate::rewrite::placement::{Flow, Program, Way};
use crate::rewrite::{Shader, Site, most_held, traces};
use crate::{Needs, Stage};
use put::{BLOCK, Counting, FLOW, MOST_BLOCKS, PROBES};
use std::collections::HashMap;
use trace::tables::{SIMT, SIMT_HELPERS, SIMT_TRACES};
use trace::{Table, Value};

/// A [`Site::kind`] beside those of `put`: a call that traces a ray.
const TRACE: u32 = 1;

/// Numbers that a shader holds at most, where the options say nothing.
const MOST_HELD: usize = 16;

/// See the module's header.
#[derive(Clone, Copy, Debug)]
pub struct Simt {
    counting: Counting,
    /// Every block is counted.
    direct: bool,
}

impl Simt {
    /// With the options of the command line.
    pub fn new(options: &[String]) -> std::result::Result<Self, String> {
        let (options, most_held) = most_held(options, MOST_HELD)?;
        let mut simt = Simt { counting: Counting { exact_counts: 64, most_held }, direct: false };
        for option in &options {
            match option.as_str() {
                "exact=0" => simt.counting.exact_counts = 0,
                "exact=32" => simt.counting.exact_counts = 32,
                "exact=64" => simt.counting.exact_counts = 64,
                "exact=128" => simt.counting.exact_counts = 128,
                "placement=flow" => simt.direct = false,
                "placement=direct" => simt.direct = true,
                _ => {
                    return Err(format!(
                        "pass simt takes exact=0, 32, 64 or 128, placement=flow or direct, and held=N; {option:?} was given"
                    ));
                }
            }
        }
        Ok(simt)
    }
}

impl Pass for Simt {
    fn name(&self) -> &'static str {
        "simt"
    }

    fn key(&self) -> String {
        format!("simt 5 {} {} {}", self.counting.exact_counts, self.counting.most_held, self.direct)
    }

    fn needs(&self, _: Stage) -> Option<Needs> {
        Some(Needs { subgroups: true, ..Needs::default() })
    }

    fn samples(&self) -> bool {
        true
    }

    fn spreads(&self) -> Option<usize> {
        Some(MOST_BLOCKS)
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let wrong = Error::shader(shader.hash);
        let mut calls = vec![];
        let all = shader.before_each(traces);
        let spread = shader.spread(all.len());
        for (n, spot) in all.into_iter().enumerate() {
            let here = shader.import(&PROBES, "simt_here").map_err(&wrong)?;
            let exact_counts = shader.constant(self.counting.exact_counts);
            let (counter, in_region) =
                shader.reserve_counters(self.counting.counters(shader.stage)).map_err(&wrong)?;
            let first = shader.constant(counter);
            shader.site(Site { counter: Some(in_region), ..spot.site(TRACE) });
            if spread.counts(n) {
                calls.push((spot, vec![shader.call(here, &[first, exact_counts])]));
            }
        }
        shader.at_spots(calls);
        if self.direct || shader.stage.is_ray_tracing() {
            put::directly(self.counting, shader).map_err(&wrong)?;
        } else {
            let program = Program::of_subgroups(shader).map_err(&wrong)?;
            put::by_flow(self.counting, shader, &program).map_err(&wrong)?;
        }
        Ok(Change::Changed)
    }

    fn decode(&self, frame: &FrameData<'_>, out: &mut dyn Sink) -> Result<()> {
        for e in &frame.entries {
            // Callers come before those that they call.
            let mut executed = Executed::new();
            for site in &e.region.sites {
                if site.kind == FLOW {
                    let of_block = self.flow(e, site, &executed)?;
                    for (b, counters) in of_block.iter().enumerate() {
                        let block = Site { block: b as u32, kind: BLOCK, data: vec![], ..site.clone() };
                        self.rows(frame.frame, e, &block, counters, out);
                    }
                    executed.insert(site.function, of_block);
                    continue;
                }
                let n = self.counting.counters(e.variant.stage) as usize;
                let counters = site.counter.and_then(|c| e.counters.get(c as usize..c as usize + n));
                self.rows(frame.frame, e, site, counters.ok_or_else(|| missing(site))?, out);
            }
        }
        Ok(())
    }
}

/// By function, what each block's counters would be.
type Executed = HashMap<u32, Vec<Vec<u64>>>;

impl Simt {
    /// What the counters of the blocks of a function would be, whose counts follow.
    fn flow(&self, e: &EntryData<'_>, site: &Site, executed: &Executed) -> Result<Vec<Vec<u64>>> {
        let n = self.counting.counters(e.variant.stage) as usize;
        let flow = Flow::of_words(&site.data).ok_or_else(|| missing(site))?;
        let blocks = e.variant.facts.functions.get(site.function as usize).map_or(0, |f| f.blocks.len());
        let measured = flow.placement.measured().count();
        let first = site.counter.unwrap_or(0) as usize;
        let counters = e.counters.get(first..first + measured * n).ok_or_else(|| missing(site))?;
        let mut of_block = vec![vec![0; n]; blocks];
        for slot in 0..n {
            let of = |f: u32, b: u32| executed.get(&f)?.get(b as usize)?.get(slot).copied();
            let entered = flow.entered(of).ok_or_else(|| missing(site))?;
            let counter = |k: u32| counters.get(k as usize * n + slot).copied().unwrap_or(0);
            if entered == 0 && (0..measured).all(|k| counter(k as u32) == 0) {
                continue;
            }
            for (link, count) in flow.placement.links.iter().zip(flow.placement.solve(counter, entered)) {
                let Way::Block(b) = link.way else { continue };
                let slots = of_block.get_mut(b).ok_or_else(|| missing(site))?;
                if count < 0 && e.variant.stage == Stage::Fragment && e.variant.replays > 1 {
                    // (replays packed fragments into subgroups otherwise: nothing is left of what few of them had)
                    continue;
                }
                slots[slot] = u64::try_from(count).map_err(|_| {
                    let of_replays = e.variant.of_several_replays();
                    let why = format!(
                        "block {b} of function {} would have {count} executions: invocations that parted met again \
                         before their ways did; --passes simt:placement=direct counts every block by itself{of_replays}",
                        site.function
                    );
                    Error::Record { word_offset: first, why }
                })?;
            }
        }
        Ok(of_block)
    }

    /// The records of one site.
    fn rows(&self, frame: u64, e: &EntryData<'_>, site: &Site, counters: &[u64], out: &mut dyn Sink) {
        let exact_counts = self.counting.exact_counts as usize;
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
    }
}

fn missing(site: &Site) -> Error {
    let why = format!("the counters of block {} are not there", site.block);
    Error::Record { word_offset: site.counter.unwrap_or(0) as usize, why }
}

#[cfg(test)]
mod tests;
