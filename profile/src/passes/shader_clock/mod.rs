//! Pass `shader-clock`: how long each invocation of a ray generation shader took, and where on the device it began and ended
//! (Cheung, §3.7.4: Figures 3.15 to 3.20): table `shader_clock`.
//!
//! At the entry an invocation keeps the clock and, where the device has VK_NV_shader_sm_builtins, its multiprocessor and its
//! place there; where it leaves it appends a record of its own. Nothing is asked of its subgroup, so that invocations that
//! reordering or independent scheduling took apart are measured apart, and nothing is recorded amid a ray's traversal. What the
//! rays lead to is part of the time. With `ser` in the plan the last place is the one after reordering.
//!
//! Options, by commas: `clock=auto|device|subgroup`, `sm=auto|yes|no`. The device's clock is one for all; a subgroup's is that of
//! the multiprocessor that reads it, finer, and of no use where invocations move: what ends before it began is put as 0 ticks.
//!
//! Guarantees: a row for each invocation that entered, whichever way it left. Refuses records of launches that the frame did not
//! submit. Invocations are named by the work that they do (pass `swizzle`).

#[cfg(test)]
mod tests;

use super::clock::Clocked;
use super::launches::Begun;
use crate::pass::{Change, Error, FrameData, Pass, Result, Sink};
use crate::rewrite::{Probes, Shader, Site, built_ins};
use crate::spirv::{Inst, Op, Operand};
use crate::{Needs, Stage};
use rspirv::spirv::BuiltIn;
use trace::Value;
use trace::tables::{NOWHERE, SHADER_CLOCK};

static PLAIN: Probes = crate::probes!("shader_clock");
static PLACED: Probes = crate::probes!("shader_clock_sm");

/// Words of a record behind the probe's number: action, the log's end before it, sides, work id, clocks, places.
const WORDS: u32 = 12;

/// See the module's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShaderClock(Clocked);

impl ShaderClock {
    /// With the options of the command line.
    pub fn new(options: &[String]) -> std::result::Result<Self, String> {
        Clocked::new("shader-clock", options).map(ShaderClock)
    }
}

impl Pass for ShaderClock {
    fn name(&self) -> &'static str {
        "shader-clock"
    }

    fn key(&self) -> String {
        format!("shader-clock 1 {:?} {:?}", self.0.own, self.0.sm)
    }

    fn needs(&self, stage: Stage) -> Option<Needs> {
        (stage == Stage::RayGeneration).then(|| Needs { launches: true, ..self.0.needs() })
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let wrong = Error::shader(shader.hash);
        let (own, placed) = self.0.on(&shader.device);
        let probes = if placed { &PLACED } else { &PLAIN };
        let names = if own { ["clock_begin_own", "clock_end_own"] } else { ["clock_begin", "clock_end"] };
        let [begin, end] = names.map(|n| shader.import(probes, n));
        let (begin, end) = (begin.map_err(&wrong)?, end.map_err(&wrong)?);
        let mut calls = vec![];
        for (spot, _) in shader.leaving() {
            let probe = shader.reserve_probe();
            let number = shader.constant(probe);
            calls.push((spot.clone(), vec![shader.call(end, &[number])]));
            shader.site(Site { probe: Some((probe, WORDS)), data: vec![own.into()], ..spot.site(0) });
        }
        shader.at_spots(calls);
        let mut insts = vec![];
        let [uint, uvec3] = [1, 3].map(|n| shader.types.uvec(&mut shader.module, n));
        let size = built_ins::load_as(shader, BuiltIn::LaunchSizeKHR, uvec3, &mut insts).map_err(&wrong)?;
        let sides = [0, 1, 2].map(|n| {
            let id = shader.module.fresh();
            let operands = vec![Operand::IdRef(size), Operand::LiteralBit32(n)];
            insts.push(Inst::new(Op::CompositeExtract, Some(uint), Some(id), operands));
            id
        });
        insts.push(shader.call(begin, &sides));
        shader.at_begin(0, 0, insts);
        Ok(Change::Changed)
    }

    fn decode(&self, frame: &FrameData<'_>, out: &mut dyn Sink) -> Result<()> {
        let mut begun = Begun::default();
        frame.each_record(&mut |at, r| {
            let wrong = |why: String| Error::Record { word_offset: at.word as usize, why };
            let &[action, start, w, h, d, work, low, high, end_low, end_high, first, last] = r.words else {
                return Err(wrong(format!("{} words are no record of pass shader-clock", r.words.len())));
            };
            let Some(e) = frame.entries.get(r.entry) else {
                return Err(wrong(format!("a record of entry point {}", r.entry)));
            };
            let launch = begun.at(frame.launches, (at.part, action, start)).map_err(wrong)? as u64;
            let clock = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
            let begin = clock(low, high);
            // (a clock of 32 bits that began anew)
            let turned = high == 0 && end_high == 0 && low > end_low && low - end_low > 1 << 31;
            let end = clock(end_low, if turned { 1 } else { end_high }).max(begin);
            let place = |p: u32| match p {
                u32::MAX => [NOWHERE, NOWHERE],
                p => [u64::from(p >> 16), u64::from(p & 0xffff)],
            };
            let launch = [frame.frame, launch, e.entry.into(), w.into(), h.into(), d.into()];
            let row =
                launch.into_iter().chain([work.into(), begin, end]).chain(place(first)).chain(place(last));
            let whose = if r.site.data == [1] { "subgroup" } else { "device" };
            let row: Vec<Value<'_>> = row.map(Value::U64).chain([Value::Text(whose)]).collect();
            out.put(&SHADER_CLOCK, &row);
            Ok(())
        })
    }
}
