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

use crate::pass::{Change, Error, FrameData, Pass, Result, Sink};
use crate::rewrite::{Probes, Shader, Site, prologue};
use crate::spirv::{Inst, Op, Operand};
use crate::{Needs, Stage};
use rspirv::spirv::BuiltIn;
use std::collections::HashMap;
use trace::Value;
use trace::tables::{NOWHERE, SHADER_CLOCK};

static PLAIN: Probes = crate::probes!("shader_clock");
static PLACED: Probes = crate::probes!("shader_clock_sm");

/// Words of a record behind the probe's number: action, the log's end before it, sides, work id, clocks, places.
const WORDS: u32 = 12;

/// See the module's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShaderClock {
    /// The subgroup's clock, or the device's; else the best there is.
    own_clock: Option<bool>,
    /// Where it runs is recorded, or not; else if the device says it.
    sm: Option<bool>,
}

impl ShaderClock {
    /// With the options of the command line.
    pub fn new(options: &str) -> std::result::Result<Self, String> {
        let mut new = ShaderClock::default();
        for option in options.split([',', ':']).filter(|o| !o.is_empty()) {
            match option.split_once('=') {
                Some(("clock", "auto")) => new.own_clock = None,
                Some(("clock", "device")) => new.own_clock = Some(false),
                Some(("clock", "subgroup")) => new.own_clock = Some(true),
                Some(("sm", "auto")) => new.sm = None,
                Some(("sm", yes @ ("yes" | "no"))) => new.sm = Some(yes == "yes"),
                _ => {
                    return Err(format!(
                        "pass shader-clock has no option {option:?}; it has clock=auto|device|subgroup, sm=auto|yes|no"
                    ));
                }
            }
        }
        Ok(new)
    }
}

impl Pass for ShaderClock {
    fn name(&self) -> &'static str {
        "shader-clock"
    }

    fn key(&self) -> String {
        format!("shader-clock 1 {:?} {:?}", self.own_clock, self.sm)
    }

    fn needs(&self, stage: Stage) -> Option<Needs> {
        (stage == Stage::RayGeneration).then_some(Needs {
            launches: true,
            clock: self.own_clock == Some(false),
            own_clock: self.own_clock == Some(true),
            some_clock: self.own_clock.is_none(),
            sm_builtins: self.sm == Some(true),
            sm_if_there: self.sm.is_none(),
            ..Needs::default()
        })
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let wrong = Error::shader(shader.hash);
        let own = self.own_clock.unwrap_or(shader.device.own_clock);
        let probes = if self.sm.unwrap_or(shader.device.sm_builtins) { &PLACED } else { &PLAIN };
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
        let size = prologue::load_as(shader, BuiltIn::LaunchSizeKHR, uvec3, &mut insts).map_err(&wrong)?;
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
        // Part of the log, action, where the log ended: which launch. And how many of an action a part has.
        let mut known: HashMap<(u32, u32, u32), u64> = HashMap::new();
        let mut ran: HashMap<(u32, u32), usize> = HashMap::new();
        frame.each_record(&mut |at, r| {
            let wrong = |why: String| Error::Record { word_offset: at.word as usize, why };
            let &[action, start, w, h, d, work, low, high, end_low, end_high, first, last] = r.words else {
                return Err(wrong(format!("{} words are no record of pass shader-clock", r.words.len())));
            };
            let Some(e) = frame.entries.get(r.entry) else {
                return Err(wrong(format!("a record of entry point {}", r.entry)));
            };
            let launch = match known.get(&(at.part, action, start)) {
                Some(l) => *l,
                None => {
                    let before = ran.entry((at.part, action)).or_default();
                    let mut of = frame.launches.iter().enumerate().filter(|l| l.1.action == action);
                    let Some((launch, _)) = of.nth(*before) else {
                        return Err(wrong(format!(
                            "launch {before} of action {action}, which the frame did not submit"
                        )));
                    };
                    *before += 1;
                    known.insert((at.part, action, start), launch as u64);
                    launch as u64
                }
            };
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
