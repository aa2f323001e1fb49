//! Pass `timeline`: when subgroups enter and leave an entry point, and where on the device (Warp Trace).
//!
//! At the entry and at each place where invocations leave, one invocation of those that are there appends a record: a clock
//! (VK_KHR_shader_clock), the number of invocations, and, where the device has VK_NV_shader_sm_builtins, the multiprocessor
//! and the place on it that the subgroup has (`sm=no` leaves that out, `sm=yes` refuses devices without). The clock is that
//! of the device, one for all subgroups (shaderDeviceClock); where it has none, the subgroup's (shaderSubgroupClock), which
//! orders nothing but what one subgroup does. `clock=device` and `clock=subgroup` want just that. Recording at the entry comes before its clock is read,
//! and at exits after: a span holds the shader's work, and of the probes' only what other passes put in.
//!
//! A subgroup may leave in pieces: each is kept, and its span ends with the last. Demoted fragments leave where they are
//! demoted. What is called (closest hit, any hit, miss, intersection, callable) is a span of its own, with a subgroup number
//! of its own, and lies in time within its caller's. A clock whose upper word is always 0 and that begins anew in a frame is
//! carried on there. A subgroup is recorded if the first of its invocations at the entry is
//! in the window of work ids.

use super::clock::Clocked;
use crate::pass::{Change, Error, FrameData, LogRecord, Pass, Result, Sink};
use crate::rewrite::{ExitKind, Probes, Shader, Site};
use crate::{Needs, Stage};
use std::collections::{BTreeMap, HashMap};
use trace::Value;
use trace::tables::{TIMELINE, TIMELINE_EXITS};

static PLAIN: Probes = crate::probes!("timeline");
static PLACED: Probes = crate::probes!("timeline_sm");

/// The names of [`Site::kind`].
const KINDS: [&str; 7] =
    ["entry", "return", "kill", "demote", "ignore-intersection", "terminate-ray", "emit-mesh-tasks"];

/// Words of a record behind the probe's number: subgroup, clock (low, high), invocations, multiprocessor, place.
const WORDS: u32 = 6;

fn kind(of: ExitKind) -> u32 {
    match of {
        ExitKind::Return => 1,
        ExitKind::Kill => 2,
        ExitKind::Demote => 3,
        ExitKind::IgnoreIntersection => 4,
        ExitKind::TerminateRay => 5,
        ExitKind::EmitMeshTasks => 6,
    }
}

/// See the module's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeline(Clocked);

impl Timeline {
    /// `clock=auto|device|subgroup`, `sm=auto|yes|no`, by commas; `auto` where nothing is said.
    pub fn new(options: &[String]) -> std::result::Result<Self, String> {
        Clocked::new("timeline", options).map(Timeline)
    }
}

/// A clock's name in table `timeline`.
fn clock(own: bool) -> &'static str {
    if own { "subgroup" } else { "device" }
}

impl Pass for Timeline {
    fn name(&self) -> &'static str {
        "timeline"
    }

    fn key(&self) -> String {
        let sm = self.0.sm.map_or("auto", |sm| if sm { "sm" } else { "nowhere" });
        format!("timeline 2 {} {sm}", self.0.own.map_or("auto", clock))
    }

    fn needs(&self, _: Stage) -> Option<Needs> {
        Some(Needs { subgroups: true, ..self.0.needs() })
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let wrong = Error::shader(shader.hash);
        let (own, placed) = self.0.on(&shader.device);
        let probes = if placed { &PLACED } else { &PLAIN };
        let names =
            if own { ["timeline_begin_own", "timeline_end_own"] } else { ["timeline_begin", "timeline_end"] };
        let begin = shader.import(probes, names[0]).map_err(&wrong)?;
        let end = shader.import(probes, names[1]).map_err(&wrong)?;
        let mut calls = vec![];
        for (spot, of) in shader.leaving() {
            let probe = shader.reserve_probe();
            let number = shader.constant(probe);
            calls.push((spot.clone(), vec![shader.call(end, &[number])]));
            shader.site(Site { probe: Some((probe, WORDS)), data: vec![own.into()], ..spot.site(kind(of)) });
        }
        shader.at_spots(calls);
        let probe = shader.reserve_probe();
        let number = shader.constant(probe);
        let call = shader.call(begin, &[number]);
        shader.at_begin(0, 0, vec![call]);
        let site = shader.block_site(0, 0, 0);
        shader.site(Site { probe: Some((probe, WORDS)), data: vec![own.into()], ..site });
        Ok(Change::Changed)
    }

    fn decode(&self, frame: &FrameData<'_>, out: &mut dyn Sink) -> Result<()> {
        // By entry point, subgroup, and how often before that number was given: once for each window of a frame.
        let mut spans: BTreeMap<(u32, u32, u32), Span> = BTreeMap::new();
        let mut runs: HashMap<(u32, u32), u32> = HashMap::new();
        let turned = turned(&frame.records);
        for (at, r) in frame.records.iter().enumerate() {
            let &[subgroup, low, high, active, sm, warp] = r.words else {
                let why = format!("{} words are no record of pass timeline", r.words.len());
                return Err(Error::Record { word_offset: at, why });
            };
            let (Some(kind), Some(e)) = (KINDS.get(r.site.kind as usize), frame.entries.get(r.entry)) else {
                let why = format!("a record of kind {} of entry point {}", r.site.kind, r.entry);
                return Err(Error::Record { word_offset: at, why });
            };
            // (what came after the turn)
            let high = if turned && low < 1 << 31 { 1 } else { high };
            let clock = u64::from(high) << 32 | u64::from(low);
            let run = runs.entry((e.entry, subgroup)).or_default();
            if r.site.kind == 0 {
                *run += 1;
                let begin = Some((clock, active, sm, warp));
                let own = r.site.data == [1];
                spans.insert((e.entry, subgroup, *run), Span { begin, own, ..Span::default() });
                continue;
            }
            let span = spans.entry((e.entry, subgroup, *run)).or_default();
            span.exits += 1;
            if span.end.is_none_or(|end| end.0 <= clock) {
                span.end = Some((clock, active));
            }
            let row = [frame.frame, e.entry.into(), subgroup.into(), clock, active.into()];
            let place = [r.site.function.into(), r.site.block.into(), u64::from(r.site.word_offset)];
            let row = row.into_iter().chain(place).map(Value::U64).chain([Value::Text(kind)]);
            out.put(&TIMELINE_EXITS, &row.collect::<Vec<_>>());
        }
        for ((entry, subgroup, _), s) in spans {
            // (an exit whose begin was lost is in the other table)
            let Some((begin, active, sm, warp)) = s.begin else { continue };
            let (end, left) = s.end.unwrap_or((begin, 0));
            let numbers = [frame.frame, entry.into(), subgroup.into(), begin, end];
            let counts = [active.into(), left.into(), s.exits, sm.into(), warp.into()];
            let row = numbers.into_iter().chain(counts).map(Value::U64).chain([Value::Text(clock(s.own))]);
            out.put(&TIMELINE, &row.collect::<Vec<_>>());
        }
        Ok(())
    }
}

/// Whether a clock of 32 bits, as llvmpipe's is, began anew among these records: no reading needs more, and they lie
/// farther apart than half of its round. (Frames of more than half a round, which is two seconds there, are not told
/// apart from those.)
fn turned(records: &[LogRecord<'_>]) -> bool {
    let low = || records.iter().filter_map(|r| r.words.get(1).copied());
    let narrow = records.iter().all(|r| r.words.get(2) == Some(&0));
    narrow && low().max().unwrap_or(0) - low().min().unwrap_or(0) > 1 << 31
}

/// What is known of one subgroup in one entry point.
#[derive(Default)]
struct Span {
    /// Clock, invocations, multiprocessor, place.
    begin: Option<(u64, u32, u32, u32)>,
    /// The last exit: clock, invocations.
    end: Option<(u64, u32)>,
    exits: u64,
    /// Its clock is its own.
    own: bool,
}

#[cfg(test)]
mod tests;
