//! Pass `paths`: for every call that traces a ray, which invocations of the subgroup are there (Vulkan Vision, "Thread
//! Compaction" and "Ray Generation Thread Paths"). An invocation's path has a bit for each such call of its subgroup.
//!
//! Records: one where a subgroup enters (number, work id of its first invocation, mask), one before each call (number,
//! mask); the elected invocation appends, so the calls of one subgroup are in its order. Where the device splits a
//! subgroup, each part's calls are calls by themselves. All records of a subgroup are in one window: that of its first
//! invocation. Entry points that reach no trace call are left alone; ray queries are none.
//!
//! Option `lanes`: see `lanes.rs`.

use super::lanes::{Lanes, word};
use crate::pass::{Change, Error, FrameData, Pass, Result, Sink};
use crate::rewrite::{Probes, Shader, Site, traces};
use crate::{Needs, Stage};
use std::collections::HashMap;
use trace::Value;
use trace::tables::{PATH_CALLS, PATH_SUBGROUPS};

static PROBES: Probes = crate::probes!("paths");

/// [`Site::kind`]s.
const ENTRY: u32 = 0;
const TRACE: u32 = 1;

/// See the module's header.
#[derive(Clone, Copy, Debug)]
pub struct Paths(Lanes);

impl Paths {
    /// With the options of the command line.
    pub fn new(options: &[String]) -> std::result::Result<Self, String> {
        Lanes::of("paths", options).map(Paths)
    }
}

impl Pass for Paths {
    fn name(&self) -> &'static str {
        "paths"
    }

    fn key(&self) -> String {
        format!("paths 1 {}", self.0.words())
    }

    fn needs(&self, stage: Stage) -> Option<Needs> {
        // The stages that may trace.
        matches!(stage, Stage::RayGeneration | Stage::ClosestHit | Stage::Miss)
            .then_some(Needs { subgroups: true, ..Needs::default() })
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let wrong = Error::shader(shader.hash);
        let spots = shader.before_each(traces);
        if spots.is_empty() {
            return Ok(Change::Unchanged);
        }
        let words = shader.constant(self.0.words());
        let trace = shader.import(&PROBES, "paths_trace").map_err(&wrong)?;
        let mut calls = vec![];
        for spot in spots {
            let probe = shader.reserve_probe();
            let number = shader.constant(probe);
            let call = shader.call(trace, &[number, words]);
            shader.site(Site { probe: Some((probe, 1 + self.0.words())), ..spot.site(TRACE) });
            calls.push((spot, vec![call]));
        }
        shader.at_spots(calls);
        let enter = shader.import(&PROBES, "paths_enter").map_err(&wrong)?;
        let probe = shader.reserve_probe();
        let number = shader.constant(probe);
        let call = shader.call(enter, &[number, words]);
        shader.at_begin(0, 0, vec![call]);
        let site = shader.block_site(0, 0, ENTRY);
        shader.site(Site { probe: Some((probe, 2 + self.0.words())), ..site });
        Ok(Change::Changed)
    }

    fn decode(&self, frame: &FrameData<'_>, out: &mut dyn Sink) -> Result<()> {
        self.0.hold(frame)?;
        // A number of the log's is given again when a frame is run again for another window: ours are not.
        let mut now: HashMap<(usize, u32), (u64, u64)> = HashMap::new();
        let mut next = 0u64;
        for r in &frame.records {
            let subgroup = word(r.words, 0)?;
            let entry = frame.entries[r.entry].entry.into();
            if r.site.kind == ENTRY {
                let mask = self.0.mask(&r.words[2.min(r.words.len())..])?;
                let first = word(r.words, 1)?.into();
                now.insert((r.entry, subgroup), (next, 0));
                let [low, high] = halves(mask);
                put(out, &PATH_SUBGROUPS, &[frame.frame, entry, next, first, low, high]);
                next += 1;
            } else {
                let mask = self.0.mask(&r.words[1..])?;
                let Some((number, calls)) = now.get_mut(&(r.entry, subgroup)) else {
                    // Its entry did not fit: the frame's lost words say so, and a path without its begin says nothing.
                    continue;
                };
                let [low, high] = halves(mask);
                let place = [r.site.function.into(), r.site.block.into(), r.site.word_offset.into()];
                let row = [&[frame.frame, entry, *number, *calls], &place[..], &[low, high]].concat();
                put(out, &PATH_CALLS, &row);
                *calls += 1;
            }
        }
        Ok(())
    }
}

fn halves(mask: u128) -> [u64; 2] {
    [mask as u64, (mask >> 64) as u64]
}

fn put(out: &mut dyn Sink, table: &'static trace::Table, row: &[u64]) {
    out.put(table, &row.iter().map(|&v| Value::U64(v)).collect::<Vec<_>>());
}

#[cfg(test)]
mod tests;
