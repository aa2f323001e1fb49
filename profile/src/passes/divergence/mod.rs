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
//! What must be known is which invocations of a subgroup have left, at each block, also in another shader; so this pass
//! writes a record for each executed block {subgroup, mask}, for each entry and each exit, and one for each invocation of
//! ray generation {subgroup, work id}, by which a called shader's subgroup finds the one that it was called from. (A table
//! of subgroups in flight would bound the memory, but not exactly: subgroups have no number that is bounded.) The fold
//! goes over the log once, in its order, which is each subgroup's own. All records of a subgroup are in one window; entries
//! and exits of ray generation are in all, as others refer to them.
//!
//! Blocks whose entry's record was lost are counted as unattributed. Option `lanes`: see `lanes.rs`.

mod fold;

use super::lanes::Lanes;
use crate::pass::{Change, Error, FrameData, Pass, Result, Sink};
use crate::rewrite::{Probes, Shader, Site};
use crate::spirv::{Inst, Op};
use crate::{Needs, Stage};

static PROBES: Probes = crate::probes!("divergence");

/// [`Site::kind`]s.
const BLOCK: u32 = 0;
const ENTER: u32 = 1;
const CALLED: u32 = 2;
const LEAVE: u32 = 3;
const LANE: u32 = 4;

/// See the module's header.
#[derive(Clone, Copy, Debug)]
pub struct Divergence(Lanes);

impl Divergence {
    /// With the options of the command line.
    pub fn new(options: &str) -> std::result::Result<Self, String> {
        Lanes::of("divergence", options).map(Divergence)
    }
}

fn is_called(stage: Stage) -> bool {
    stage.is_ray_tracing() && stage != Stage::RayGeneration
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
            arguments.push(s.constant(self.0.words()));
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
            data: vec![],
        });
        Ok(s.call(f, &arguments))
    }
}

impl Pass for Divergence {
    fn name(&self) -> &'static str {
        "divergence"
    }

    fn key(&self) -> String {
        format!("divergence 2 {}", self.0.words())
    }

    fn needs(&self, _: Stage) -> Option<Needs> {
        Some(Needs { subgroups: true, ..Needs::default() })
    }

    fn run(&self, s: &mut Shader) -> Result<Change> {
        let mask = self.0.words();
        let launches = s.stage == Stage::RayGeneration;
        if !is_called(s.stage) {
            let mut calls = vec![];
            let name = if launches { "divergence_land" } else { "divergence_here" };
            for (spot, _) in s.leaving() {
                let at = (spot.function, spot.block, spot.word_offset);
                let call = self.probe(s, name, LEAVE, 1 + mask, at)?;
                calls.push((spot, vec![call]));
            }
            s.at_spots(calls);
        }
        for (function, block) in s.blocks() {
            let at = s.facts.functions[function as usize].blocks[block as usize].word_offset;
            let call = self.probe(s, "divergence_here", BLOCK, 1 + mask, (function, block, at))?;
            s.at_begin(function, block, vec![call]);
        }
        let entry = (0, 0, s.facts.functions[0].blocks[0].word_offset);
        let (name, kind, words) = match s.stage {
            Stage::RayGeneration => ("divergence_launch", ENTER, 1 + 2 * mask),
            stage if is_called(stage) => ("divergence_called", CALLED, 2 + mask),
            Stage::Fragment if needs_helpers(s) => ("divergence_enter_quad", ENTER, 1 + 2 * mask),
            _ => ("divergence_enter", ENTER, 1 + 2 * mask),
        };
        let mut enter = vec![self.probe(s, name, kind, words, entry)?];
        if launches {
            enter.push(self.probe(s, "divergence_lane", LANE, 2, entry)?);
        }
        s.at_begin(0, 0, enter);
        Ok(Change::Changed)
    }

    fn decode(&self, frame: &FrameData<'_>, out: &mut dyn Sink) -> Result<()> {
        self.0.hold(frame)?;
        fold::fold(self.0, frame, out)
    }
}

#[cfg(test)]
mod tests;
