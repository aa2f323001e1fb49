//! Pass `counters`: how many instructions of each class every draw, dispatch and trace executed, block by block, in the
//! shape of VK_ARM_shader_instrumentation: {result_index, result_sub_index, stages, basic_block_index, counters}.
//!
//! Counted is how many invocations come by each basic block in each action; the instructions of the block, by class
//! ([`classes`]), times that are its counters. Fragment shaders: helper invocations do not count.
//!
//! `mode=lanes` (the default): one invocation of the subgroup counts all that are there. `mode=lane`: each counts itself;
//! needs no subgroup operations, and comes to the same numbers.
//!
//! Where a pipeline leaves no room in its push constants, so that its shaders cannot be told their action, they count by
//! frame: range, index and sub index are 2³²−1 there.
//!
//! `basic_block_index`: the block's number among all of the entry point's, functions in their order (tables `functions`
//! and `blocks`). `stages`: the entry point's, as VkShaderStageFlagBits. `result_sub_index`: the shader group in pipelines
//! that trace rays, else 0; a shader of several groups counts for the first. Draws of several (vkCmdDrawMultiEXT) and
//! indirect commands of many draws are one action, as the extension has it.

pub mod classes;
pub mod source;

use crate::pass::{Change, Error, FrameData, Pass, Result, Sink};
use crate::rewrite::{Lines, Probes, Shader, Site};
use crate::spirv::Inst;
use crate::{Needs, Stage};
use classes::Classes;
use source::{BY_FRAME, Portable, write_metrics, write_results};
use trace::Value;
use trace::tables::NOWHERE;

static PROBES: Probes = crate::probes!("counters");

/// See the module's header.
#[derive(Default)]
pub struct Counters {
    /// Each invocation counts itself.
    lane: bool,
}

impl Counters {
    /// With its options.
    pub fn new(options: &[String]) -> std::result::Result<Self, String> {
        match options.join("+").as_str() {
            "" | "mode=lanes" => Ok(Counters { lane: false }),
            "mode=lane" => Ok(Counters { lane: true }),
            other => Err(format!("pass counters knows mode=lanes and mode=lane; {other:?} was given")),
        }
    }
}

/// What a site keeps of its block: the counts by class, the count of those without one, and the names of the unknown.
fn pack(counts: [u32; 6], rest: u32, unknown: &[String]) -> Vec<u32> {
    let mut data = counts.to_vec();
    data.push(rest);
    data.extend(unknown.join(", ").bytes().map(u32::from));
    data
}

fn unknown_of(data: &[u32]) -> String {
    let bytes: Vec<u8> = data[7..].iter().map(|b| *b as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Pass for Counters {
    fn name(&self) -> &'static str {
        "counters"
    }

    fn key(&self) -> String {
        format!("counters 2 {}", if self.lane { "lane" } else { "lanes" })
    }

    fn needs(&self, _: Stage) -> Option<Needs> {
        Some(Needs { subgroups: !self.lane, actions: true, ..Needs::default() })
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let wrong = Error::shader(shader.hash);
        let by_frame = shader.device.no_actions;
        let probe = match (by_frame, self.lane) {
            (false, true) => "action_lane",
            (false, false) => "action_lanes",
            (true, true) => "frame_lane",
            (true, false) => "frame_lanes",
        };
        let probe = shader.import(&PROBES, probe).map_err(&wrong)?;
        let blocks = shader.blocks();
        let data: Vec<Vec<u32>> = {
            let (classes, lines) = (Classes::new(&shader.module, shader.stage), Lines::new(&shader.module));
            let of = |&(function, block): &(u32, u32)| {
                let (f, b) = shader.block(function, block);
                let body = &shader.module.functions[f].blocks[b].body;
                // What other passes put in has no place in the original.
                let own = lines.of_block(body).map(|i| i.0).filter(|i: &&Inst| i.at.is_some());
                let (counts, rest, unknown) = classes::of_block(&classes, own);
                pack(counts, rest, &unknown)
            };
            blocks.iter().map(of).collect()
        };
        for ((function, block), data) in blocks.into_iter().zip(data) {
            let reserved = match by_frame {
                false => shader.reserve_action_counters(1),
                true => shader.reserve_counters(1),
            };
            let (counter, in_region) = reserved.map_err(&wrong)?;
            let counter = shader.constant(counter);
            let call = shader.call(probe, &[counter]);
            shader.at_begin(function, block, vec![call]);
            let site = shader.block_site(function, block, if by_frame { BY_FRAME } else { 0 });
            shader.site(Site { counter: Some(in_region), data, ..site });
        }
        Ok(Change::Changed)
    }

    fn decode(&self, frame: &FrameData<'_>, out: &mut dyn Sink) -> Result<()> {
        for e in &frame.entries {
            for site in &e.region.sites {
                let numbers =
                    [e.entry, site.function, site.block].into_iter().chain(site.data[..7].iter().copied());
                let mut row: Vec<_> = numbers.map(|n| Value::U64(n.into())).collect();
                let unknown = unknown_of(&site.data);
                row.push(Value::Text(&unknown));
                out.put(&trace::tables::CLASSES, &row);
            }
        }
        let source = Portable(frame);
        write_metrics(&source, &mut |table, values| out.put(table, values));
        let mut ranges: Vec<u64> = frame.actions.iter().map(|a| a.range).collect();
        ranges.sort_unstable();
        ranges.dedup();
        // Those of entry points that do not know their actions.
        ranges.push(NOWHERE);
        for range in ranges {
            let Ok(()) =
                write_results(&source, frame.frame, range, &mut |table, values| out.put(table, values));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
