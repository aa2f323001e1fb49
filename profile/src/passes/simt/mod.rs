//! Pass `simt`: at the entry of every basic block, how many of the subgroup's invocations are there (Vulkan Vision,
//! "SIMT Efficiency": a WarpUpdate with the active mask; here the masks' popcounts are counted where they arise, one
//! counter for each popcount, so that memory is bounded by the shaders and not by the work).
//!
//! Fragment shaders: helper invocations do not count as active.

use crate::pass::{Change, Error, FrameData, Pass, Result, Sink};
use crate::rewrite::{Probes, Shader, Site};
use crate::{Needs, Stage};
use trace::Value;

/// Popcounts that are told apart: a subgroup has 128 invocations at most.
const COUNTERS: u32 = 129;

static PROBES: Probes = crate::probes!("simt");

/// See the module's header.
pub struct Simt;

impl Pass for Simt {
    fn name(&self) -> &'static str {
        "simt"
    }

    fn needs(&self, _: Stage) -> Option<Needs> {
        Some(Needs { subgroups: true, ..Needs::default() })
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let wrong = Error::shader(shader.hash);
        let probe = shader.import(&PROBES, "simt_here").map_err(&wrong)?;
        for (function, block) in shader.blocks() {
            let (counter, in_region) = shader.reserve_counters(COUNTERS).map_err(&wrong)?;
            let first = shader.constant(counter);
            let call = shader.call(probe, &[first]);
            shader.at_begin(function, block, vec![call]);
            shader.site(Site {
                function,
                block,
                word_offset: shader.facts.functions[function as usize].blocks[block as usize].word_offset,
                line: shader.line_of_block(function, block),
                kind: 0,
                counter: Some(in_region),
                probe: None,
                data: vec![],
            });
        }
        Ok(Change::Changed)
    }

    fn decode(&self, frame: &FrameData<'_>, out: &mut dyn Sink) -> Result<()> {
        for e in &frame.entries {
            for site in &e.region.sites {
                let first = site.counter.expect("each has its counters") as usize;
                let counters = &e.counters[first..first + COUNTERS as usize];
                for (active, &executions) in counters.iter().enumerate().filter(|c| *c.1 != 0) {
                    let row = [frame.frame, e.entry.into(), site.function.into(), site.block.into()];
                    let row = row.into_iter().chain([active as u64, executions]);
                    out.put(&trace::tables::SIMT, &row.map(Value::U64).collect::<Vec<_>>());
                }
            }
        }
        Ok(())
    }
}
