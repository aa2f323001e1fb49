//! Pass `divergence`: why invocations of a subgroup are inactive (Vulkan Vision, "Divergence Characterization").
//!
//! Every executed block has N slots, N the device's subgroup size; a slot is active or inactive, and an inactive one is
//! because of the first of these that is true:
//!
//! 1. *helper*: the invocation entered a fragment shader as a helper;
//! 2. *early return*: it left the entry point for good, by return, kill, termination or demotion. In shaders that a trace
//!    or a callable's execution calls, the entry point is that of the ray generation that all began with, as in Vulkan
//!    Vision: who only returns from such a shader goes on elsewhere;
//! 3. *indirect call*: it was absent where the shader was entered. In stages that nothing calls these slots never held an
//!    invocation; they are counted as *not launched* too;
//! 4. *control flow*: the rest.
//!
//! Devices show helpers in ballots or hide them (llvmpipe hides them). In shaders that take derivatives, or samples that need
//! some, quads are asked by derivatives as well, so that all are known that share a quad with a fragment. In others helpers that
//! a device hides are slots that never held an invocation.
//!
//! 2 to 4, with helpers in fragment shaders, sum to all inactive slots, by construction.
//!
//! What must be known is which invocations of a subgroup have left, at each block.
//!
//! *Shaders outside of ray tracing* classify where they execute. Each subgroup keeps the mask of those that entered, and has
//! a mask in the log of those that have left: room that is taken at the entry, which those that leave add themselves to
//! and the others read. Executions are added to counters of the block (executions, active, early return, control flow,
//! helper), so that memory is bounded by the shaders and, with some words each, by the subgroups. Where all that
//! entered are there, nobody can have left or be away, and nothing has to be read; where all leave together, nothing to be noted.
//! Nor is anything read where it is proven (`rewrite/left.rs`, for devices whose invocations meet again where their ways do) that
//! nobody can have left, that all that have not left are there together, or that nobody has left since they were. Who has taken a
//! way out has left then, though a device may let the others go on first. Option `leaving=read` supposes nothing.
//! Blocks that a subgroup comes by together share their counters, and what a loop repeats is counted in registers
//! (`rewrite/held.rs`; option `held=N`: N at most), as in pass `simt`.
//!
//! *In ray tracing* it must be known in other shaders as well; so there a record is written for each executed block
//! {subgroup, mask}, for each entry and each exit, and one for each invocation of ray generation {subgroup, work id}, by
//! which a called shader's subgroup finds the one that it was called from. (A table of subgroups in flight would bound the
//! memory, but not exactly: subgroups have no number that is bounded.) The fold goes over the log once, in its order,
//! which is each subgroup's own. All records of a subgroup are in one window; entries and exits of ray generation are in
//! all, as others refer to them.
//!
//! Blocks whose entry's record was lost are counted as unattributed; outside of ray tracing only where somebody was missing.
//! Option `lanes`: see `lanes.rs`.

mod fold;

use super::lanes::Lanes;
use crate::pass::{Change, Error, FrameData, Pass, Result, Sink};
use crate::rewrite::{Left, Probes, Shader, Site, most_held};
use crate::spirv::{Inst, Op};
use crate::{Needs, Stage};
use fold::{BLOCK, CALLED, COUNTED, ENTER, LANE, LEAVE, ROOM, counters};
use std::collections::{HashMap, HashSet};

static PROBES: Probes = crate::probes!("divergence");

/// Blocks of a shader that count in a replay, where it is not said otherwise: with 16 of 130 pygfx's largest pipeline takes 0.8 s on an
/// NVIDIA H100, with all 10 s and more.
const MOST_BLOCKS: usize = 16;

/// Numbers that a shader holds at most, where the options say nothing.
const MOST_HELD: usize = 16;

/// The functions for a number that is held, for adding it, and for one execution: where it is read who has left, where that
/// is known, and where nobody has.
const READING: [&str; 3] = ["divergence_held", "divergence_flush", "divergence_once"];
const KNOWING: [&str; 3] = ["divergence_held_known", "divergence_flush_known", "divergence_once_known"];
const NOBODY: [&str; 3] = ["divergence_held_known", "divergence_flush_known", "divergence_once_all"];

/// See the module's header.
#[derive(Clone, Copy, Debug)]
pub struct Divergence {
    lanes: Lanes,
    most_held: usize,
    /// Who has left is read at every block.
    read: bool,
}

impl Divergence {
    /// With the options of the command line.
    pub fn new(options: &[String]) -> std::result::Result<Self, String> {
        let (mut options, most_held) = most_held(options, MOST_HELD)?;
        let read = options.iter().any(|o| o == "leaving=read");
        options.retain(|o| !matches!(o.as_str(), "leaving=read" | "leaving=proven"));
        Ok(Divergence { lanes: Lanes::of("divergence", &options)?, most_held, read })
    }
}

/// Whether a fragment shader does what takes helpers: derivatives, and samples whose level follows from them. Others get no
/// derivative from us: it might make a device launch helpers that were not there.
fn needs_helpers(s: &Shader) -> bool {
    !s.before_each(|i| {
        matches!(
            i.op(),
            Op::DPdx
                | Op::DPdy
                | Op::Fwidth
                | Op::DPdxFine
                | Op::DPdyFine
                | Op::FwidthFine
                | Op::DPdxCoarse
                | Op::DPdyCoarse
                | Op::FwidthCoarse
                | Op::ImageSampleImplicitLod
                | Op::ImageSampleDrefImplicitLod
                | Op::ImageSampleProjImplicitLod
                | Op::ImageSampleProjDrefImplicitLod
                | Op::ImageSparseSampleImplicitLod
                | Op::ImageSparseSampleDrefImplicitLod
                | Op::ImageQueryLod
        )
    })
    .is_empty()
}

/// Where a site is: function, block, word offset.
type At = (u32, u32, u32);

impl Divergence {
    /// A call of a probe function that has its own number, and its site.
    fn probe(&self, s: &mut Shader, name: &str, kind: u32, words: u32, at: At) -> Result<Inst> {
        let f = s.import(&PROBES, name).map_err(Error::shader(s.hash))?;
        let probe = s.reserve_probe();
        let mut arguments = vec![s.constant(probe)];
        if kind != LANE {
            arguments.push(s.constant(self.lanes.words()));
        }
        let (function, block, word_offset) = at;
        s.site(Site {
            function,
            block,
            word_offset,
            line: s.line_of_block(function, block),
            kind,
            counter: None,
            probe: Some((probe, words)),
            each: None,
            data: vec![],
        });
        Ok(s.call(f, &arguments))
    }
}

impl Divergence {
    /// Records of everything.
    fn record(&self, s: &mut Shader) -> Result<()> {
        let mask = self.lanes.words();
        let counts = s.together().any();
        let launches = s.stage == Stage::RayGeneration;
        if launches {
            let mut calls = vec![];
            for (spot, _) in s.leaving() {
                let at = (spot.function, spot.block, spot.word_offset);
                let call = self.probe(s, "divergence_land", LEAVE, 1 + mask, at)?;
                calls.push((spot, vec![call]));
            }
            if counts {
                s.at_spots(calls);
            }
        }
        for (function, block) in s.blocks() {
            let at = s.facts.functions[function as usize].blocks[block as usize].word_offset;
            let call = self.probe(s, "divergence_here", BLOCK, 1 + mask, (function, block, at))?;
            if counts {
                s.at_begin(function, block, vec![call]);
            }
        }
        let entry = (0, 0, s.facts.functions[0].blocks[0].word_offset);
        let (name, kind, words) = if launches {
            ("divergence_land", ENTER, 1 + mask)
        } else {
            ("divergence_called", CALLED, 2 + mask)
        };
        let mut enter = vec![self.probe(s, name, kind, words, entry)?];
        if launches {
            enter.push(self.probe(s, "divergence_lane", LANE, 2, entry)?);
        }
        if counts {
            s.at_begin(0, 0, enter);
        }
        Ok(())
    }

    /// Counters of blocks.
    fn count(&self, s: &mut Shader) -> Result<()> {
        let wrong = Error::shader(s.hash);
        let words = s.constant(self.lanes.words());
        let functions = 0..s.facts.functions.len() as u32;
        let together: Vec<_> = functions.map(|f| s.come_by_together(f)).collect();
        let leads = |f: u32, b: u32| together[f as usize][b as usize] == b;
        let mut left = s.who_has_left().map_err(&wrong)?;
        if self.read {
            left.iter_mut().for_each(|f| f.fill(Left::Asked));
        }
        let mut places: Vec<(u32, u32)> = s.blocks();
        places.retain(|&(f, b)| (f, b) != (0, 0) && leads(f, b));
        let spread = s.spread(places.len());
        let counted: HashSet<(u32, u32)> =
            places.into_iter().enumerate().filter(|p| spread.counts(p.0)).map(|p| p.1).collect();
        let of = |&(f, b): &(u32, u32)| left[f as usize][b as usize];
        // Who has left is found where all meet, also where another replay counts, for places behind that count here.
        let found = counted.iter().any(|p| of(p) == Left::Known);
        let hold = s.to_hold(self.most_held, |f, b| counted.contains(&(f, b)));
        let (mut first, mut flush, mut read) = (HashMap::new(), vec![], false);
        for (function, block) in s.blocks() {
            let leader = (function, together[function as usize][block as usize]);
            let (counter, in_region) = match first.get(&leader) {
                Some(&known) => known,
                None => s.reserve_counters(counters(s.stage)).map_err(&wrong)?,
            };
            first.insert((function, block), (counter, in_region));
            let from = s.constant(counter);
            let left = of(&(function, block));
            let counts = counted.contains(&(function, block));
            let mut insts = vec![];
            if left == Left::Met && (counts || found && leads(function, block)) {
                let meet = s.import(&PROBES, "divergence_meet").map_err(&wrong)?;
                insts.push(s.call(meet, &[]));
            }
            if counts {
                let reads = left == Left::Asked;
                read |= reads;
                let [held, add, once] = match left {
                    Left::Asked => READING,
                    Left::Met | Left::Known => KNOWING,
                    Left::Nobody => NOBODY,
                };
                let arguments = if reads { vec![from, words] } else { vec![from] };
                insts.extend(if hold.contains(&(function, block)) {
                    let f = s.import(&PROBES, held).map_err(&wrong)?;
                    let held = s.held();
                    let add = s.import(&PROBES, add).map_err(&wrong)?;
                    let now = s.load_held(held, &mut flush);
                    flush.push(s.call(add, &[from, now]));
                    s.update_held(held, f, &arguments)
                } else {
                    let f = s.import(&PROBES, once).map_err(&wrong)?;
                    vec![s.call(f, &arguments)]
                });
            }
            if !insts.is_empty() {
                s.at_begin(function, block, insts);
            }
            let site = s.block_site(function, block, COUNTED);
            s.site(Site { counter: Some(in_region), ..site });
        }
        if !flush.is_empty() {
            s.at_exits(flush);
        }
        if read {
            let leave = s.import(&PROBES, "divergence_leave").map_err(&wrong)?;
            let calls = s.leaving().into_iter().map(|(spot, _)| (spot, vec![s.call(leave, &[words])]));
            let calls = calls.collect();
            s.at_spots(calls);
        }
        let name = match s.stage {
            Stage::Fragment if needs_helpers(s) => "divergence_begin_quad",
            _ => "divergence_begin",
        };
        let begin = s.import(&PROBES, name).map_err(&wrong)?;
        let probe = s.reserve_probe();
        let site = s.block_site(0, 0, ROOM);
        s.site(Site { probe: Some((probe, self.lanes.words())), ..site });
        // What every replay does at the entry is counted in one; the others' goes where nobody looks.
        let mut of_entry = first[&(0, 0)];
        if spread.over > 1 {
            let aside = s.reserve_counters(counters(s.stage)).map_err(&wrong)?;
            if !spread.counts(0) {
                of_entry = aside;
            }
        }
        if !spread.any() {
            return Ok(());
        }
        let arguments = [s.constant(probe), words, s.constant(of_entry.0)];
        let (bool, wanted) =
            (s.types.bool(&mut s.module), if read { Op::ConstantTrue } else { Op::ConstantFalse });
        let wanted = s.types.get(&mut s.module, wanted, Some(bool), vec![]);
        let call = s.call(begin, &[&arguments[..], &[wanted]].concat());
        s.at_begin(0, 0, vec![call]);
        Ok(())
    }
}

impl Pass for Divergence {
    fn name(&self) -> &'static str {
        "divergence"
    }

    fn key(&self) -> String {
        format!("divergence 7 {} {} {}", self.lanes.words(), self.most_held, self.read)
    }

    fn needs(&self, _: Stage) -> Option<Needs> {
        Some(Needs { subgroups: true, ..Needs::default() })
    }

    fn counts_in_windows(&self) -> bool {
        true
    }

    fn samples(&self) -> bool {
        true
    }

    fn spreads(&self) -> Option<usize> {
        Some(MOST_BLOCKS)
    }

    fn run(&self, s: &mut Shader) -> Result<Change> {
        if s.stage.is_ray_tracing() {
            self.record(s)?
        } else {
            self.count(s)?
        }
        Ok(Change::Changed)
    }

    fn decode(&self, frame: &FrameData<'_>, out: &mut dyn Sink) -> Result<()> {
        self.lanes.hold(frame)?;
        fold::fold(self.lanes, frame, out)
    }
}

#[cfg(test)]
mod tests;
