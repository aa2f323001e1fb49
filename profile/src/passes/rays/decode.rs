//! From records to rows, in one go through the log (two, where draws are in it).
//!
//! Guarantees: rows come in the order of the log; subgroups are numbered from 0 in each launch, in the order in which they
//! entered it, and none twice, whichever windows they were recorded in. Refuses events of launches and invocations that
//! did not say that they began.

use super::fields::{ENTER, Field, Layout};
use super::works::{MOST, Works, of_dispatch};
use crate::Stage;
use crate::pass::{At, Error, FrameData, Launch, LogRecord, Result, Sink};
use crate::passes::launches::Begun;
use std::collections::HashMap;
use trace::Value;
use trace::tables::{NOT_KNOWN, RAY_LAUNCHES, RAYS, RayEvent, WARPS};

/// SkipClosestHitShaderKHR.
const SKIPS_CLOSEST_HIT: u32 = 8;
/// An invocation that did not enter.
const NOBODY: u32 = u32::MAX;

/// What is known of a launch.
struct Running<'f> {
    of: &'f Launch,
    size: Option<[u32; 3]>,
    /// Subgroup and place of each invocation.
    members: Vec<(u32, u8)>,
    subgroups: u32,
    /// Those of draws.
    works: Works,
}

/// An invocation that an event is of.
#[derive(Clone, Copy, Debug)]
struct Who {
    launch: usize,
    invocation: u32,
    subgroup: u32,
    lane: u8,
}

struct Decoder<'f, 'o> {
    frame: &'f FrameData<'f>,
    out: &'o mut dyn Sink,
    launches: Vec<Running<'f>>,
    begun: Begun,
    /// Of each entry and probe.
    layouts: HashMap<(usize, u32), Layout>,
    /// Shader groups by launch and entry.
    groups: HashMap<(usize, u32), u64>,
    /// Invocations that name themselves by where their entry is.
    placed: HashMap<At, Who>,
    /// Subgroups' events of invocations that each recorded for themselves: by multiprocessor, place there, and site.
    together: HashMap<(u64, u64, usize, u32), Together>,
    /// The launch of an entry point that only draws have.
    merged: HashMap<u32, usize>,
}

/// Invocations that ran together, as far as they are known.
#[derive(Clone, Copy)]
struct Together {
    clock: u64,
    launch: usize,
    mask: u128,
    subgroup: u32,
    kind: RayEvent,
    word_offset: u32,
}

/// What a record begins with.
struct Head {
    mask: u128,
    clock: u64,
    sm: u64,
    warp: u64,
}

fn wrong(why: impl Into<String>) -> Error {
    Error::Record { word_offset: 0, why: why.into() }
}

/// Puts a frame's rows.
pub fn decode(frame: &FrameData<'_>, out: &mut dyn Sink) -> Result<()> {
    let running = |of| Running { of, size: of.size, members: vec![], subgroups: 0, works: Works::default() };
    let launches: Vec<Running<'_>> = frame.launches.iter().map(running).collect();
    let mut groups = HashMap::new();
    for (n, l) in frame.launches.iter().enumerate() {
        groups.extend(l.entries.iter().map(|(e, g)| ((n, *e), g.map_or(NOT_KNOWN, u64::from))));
    }
    let mut d = Decoder {
        frame,
        out,
        launches,
        begun: Begun::default(),
        layouts: HashMap::new(),
        groups,
        placed: HashMap::new(),
        merged: HashMap::new(),
        together: HashMap::new(),
    };
    d.draws()?;
    frame.each_record(&mut |at, r| d.record(at, r))?;
    d.finish();
    Ok(())
}

impl Decoder<'_, '_> {
    fn record(&mut self, at: At, r: LogRecord<'_>) -> Result<()> {
        let key = (r.entry, r.site.probe.map_or(0, |p| p.0));
        let layout = match self.layouts.remove(&key) {
            Some(l) => l,
            None => {
                Layout::of(&r.site.data).ok_or_else(|| wrong("a site of pass rays without its layout"))?
            }
        };
        let done = self.with(at, r, &layout);
        self.layouts.insert(key, layout);
        done
    }

    fn with(&mut self, place: At, r: LogRecord<'_>, layout: &Layout) -> Result<()> {
        let (head, each) = (layout.head() as usize, layout.each() as usize);
        let lanes = layout.lanes as usize;
        if r.words.len() < head || lanes > 4 {
            return Err(wrong(format!("a record of {} words is too short", r.words.len())));
        }
        let mask = r.words[..lanes].iter().enumerate().fold(0, |m, (n, w)| m | u128::from(*w) << (32 * n));
        let mut at = lanes;
        let clock = match layout.clock {
            true => u64::from(r.words[at]) | u64::from(r.words[at + 1]) << 32,
            false => 0,
        };
        at += 2 * usize::from(layout.clock);
        let (sm, warp) = match layout.sm {
            true => ((r.words[at] >> 16).into(), (r.words[at] & 0xffff).into()),
            false => (NOT_KNOWN, NOT_KNOWN),
        };
        at += usize::from(layout.sm);
        let (more, words) = (&r.words[at..head], &r.words[head..]);
        let h = Head { mask, clock, sm, warp };
        if r.site.kind == ENTER {
            let first = At { word: place.word + head as u32, ..place };
            return match layout.placed {
                false => self.enter(place.part, h.mask, more, words),
                true => self.enter_placed(first, r, h.mask, more, words),
            };
        }
        let Some(kind) = RayEvent::of(r.site.kind.into()) else {
            return Err(wrong(format!("an event of kind {}", r.site.kind)));
        };
        self.event(kind, place.part, r, layout, &h, words.chunks_exact(each))
    }

    /// Invocations of a launch say that they are there.
    fn enter(&mut self, part: u32, mask: u128, more: &[u32], words: &[u32]) -> Result<()> {
        let (launch, size, _) = self.begun(part, more)?;
        let l = &mut self.launches[launch];
        if l.members.is_empty() || l.size != Some(size) {
            let threads = threads(size)?;
            if !l.members.is_empty() {
                return Err(wrong(format!("a launch of {:?} that is one of {size:?}", l.size)));
            }
            l.size = Some(size);
            l.members = vec![(NOBODY, 0); threads];
        }
        let subgroup = l.subgroups;
        l.subgroups += 1;
        for (lane, work) in lanes(mask).zip(words) {
            match l.members.get_mut(*work as usize) {
                Some(m) => *m = (subgroup, lane),
                None => return Err(wrong(format!("invocation {work} of a launch of {size:?}"))),
            }
        }
        Ok(())
    }

    /// The same outside of ray tracing; `first` is where the first one's word is.
    fn enter_placed(
        &mut self,
        first: At,
        r: LogRecord<'_>,
        mask: u128,
        more: &[u32],
        words: &[u32],
    ) -> Result<()> {
        let e = &self.frame.entries[r.entry];
        let dispatch = match e.variant.stage {
            Stage::Compute => Some(self.begun(first.part, more)?),
            _ => None,
        };
        let launch = match (dispatch, self.merged.get(&e.entry)) {
            (Some((launch, ..)), _) | (None, Some(&launch)) => launch,
            _ => return Err(wrong("queries of a draw that the frame did not submit")),
        };
        let l = &mut self.launches[launch];
        let subgroup = l.subgroups;
        l.subgroups += 1;
        for ((lane, work), n) in lanes(mask).zip(words).zip(0..) {
            let invocation = match dispatch {
                Some((_, groups, sides)) => {
                    let (invocation, size) = of_dispatch(*work, groups, sides);
                    threads(size)?;
                    l.size = Some(size);
                    invocation
                }
                None => l.works.next(*work),
            };
            let who = Who { launch, invocation, subgroup, lane };
            self.placed.insert(At { word: first.word + n, ..first }, who);
        }
        Ok(())
    }

    /// Which launch runs, by what an entry says of it; and the six numbers that it says then.
    fn begun(&mut self, part: u32, more: &[u32]) -> Result<(usize, [u32; 3], [u32; 3])> {
        let &[action, start, w, h, d, x, y, z] = more else {
            return Err(wrong("the begin of a launch is too short"));
        };
        let launch = self.begun.at(self.frame.launches, (part, action, start)).map_err(wrong)?;
        Ok((launch, [w, h, d], [x, y, z]))
    }

    /// The invocations of draws are counted before any event of them is put: their numbers depend on all.
    fn draws(&mut self) -> Result<()> {
        for (n, l) in self.frame.launches.iter().enumerate().filter(|l| l.1.merged) {
            self.merged.extend(l.entries.iter().map(|e| (e.0, n)));
        }
        if self.merged.is_empty() {
            return Ok(());
        }
        let frame = self.frame;
        frame.each_record(&mut |_, r| {
            let e = &frame.entries[r.entry];
            if let (ENTER, Some(launch)) = (r.site.kind, self.merged.get(&e.entry)) {
                let head = r.site.probe.map_or(0, |p| p.1) as usize;
                let works = &mut self.launches[*launch].works;
                r.words.iter().skip(head).for_each(|w| works.count(e.variant.stage, *w));
            }
            Ok(())
        })?;
        for l in self.launches.iter_mut().filter(|l| l.of.merged) {
            if !l.works.lay_out() {
                return Err(wrong(format!("draws of {:?} invocations", l.works.size)));
            }
            l.size = Some(l.works.size);
        }
        Ok(())
    }

    /// Whose event it is.
    fn who(&self, kind: RayEvent, part: u32, placed: bool, word: u32) -> Result<Who> {
        if placed {
            let who = self.placed.get(&At { part, word }).copied();
            return who.ok_or_else(|| wrong(format!("{} of an invocation that did not begin", kind.name())));
        }
        let Some(launch) = self.begun.now() else {
            return Err(wrong(format!("{} before any ray generation shader: choose those too", kind.name())));
        };
        match self.launches[launch].members.get(word as usize) {
            Some(&(subgroup, lane)) if subgroup != NOBODY => {
                Ok(Who { launch, invocation: word, subgroup, lane })
            }
            _ => {
                let what = format!("{} of invocation {word}, which did not begin", kind.name());
                Err(wrong(format!("{what}: choose all stages")))
            }
        }
    }

    /// An event of some invocations.
    fn event<'w>(
        &mut self,
        kind: RayEvent,
        part: u32,
        r: LogRecord<'_>,
        layout: &Layout,
        head: &Head,
        words: impl Iterator<Item = &'w [u32]>,
    ) -> Result<()> {
        let entry = self.frame.entries[r.entry].entry;
        // The kinds that there are: calls may skip closest-hit shaders for some invocations alone.
        let mut warps: [(RayEvent, u128, u32); 2] = [(kind, 0, 0), (RayEvent::OcclusionBegin, 0, 0)];
        let mut launch = 0;
        // (where each records for itself the clock is there to find out who ran together)
        let shown = if layout.alone { 0 } else { head.clock };
        for (lane, words) in lanes(head.mask).zip(words) {
            let who = self.who(kind, part, layout.placed, words[0])?;
            launch = who.launch;
            let group = self.groups.get(&(launch, entry)).copied().unwrap_or(NOT_KNOWN);
            let values = layout.values(&words[1..]);
            let occlusion = kind == RayEvent::Begin && values.bits(Field::Flags) & SKIPS_CLOSEST_HIT != 0;
            let of = &mut warps[usize::from(occlusion)];
            if of.1 == 0 {
                of.2 = who.subgroup;
            }
            of.1 |= 1 << lane;
            let place = [
                self.frame.frame,
                launch as u64,
                who.invocation.into(),
                who.subgroup.into(),
                who.lane.into(),
                of.0 as u64,
                entry.into(),
                r.site.word_offset.into(),
            ];
            let mut row = [Value::U64(0); 30];
            let tail = [group, shown, head.sm, head.warp].map(Value::U64);
            let all = (place.into_iter().map(Value::U64))
                .chain(values.floats().map(Value::F64))
                .chain(values.numbers().map(Value::U64))
                .chain(tail);
            row.iter_mut().zip(all).for_each(|(to, v)| *to = v);
            self.out.put(&RAYS, &row);
        }
        if !kind.of_warps() {
            return Ok(());
        }
        for (kind, mask, subgroup) in warps.into_iter().filter(|w| w.1 != 0) {
            let word_offset = r.site.word_offset;
            let of = Together { clock: head.clock, launch, mask, subgroup, kind, word_offset };
            if layout.alone && layout.clock && layout.sm {
                self.joined((head.sm, head.warp, r.entry, r.site.probe.map_or(0, |p| p.0)), of);
            } else {
                self.warp(entry, &of, shown, head.sm, head.warp);
            }
        }
        Ok(())
    }

    /// An invocation that recorded for itself: it ran with those that read the same clock in the same place.
    fn joined(&mut self, key: (u64, u64, usize, u32), one: Together) {
        let before = self.together.get(&key).copied();
        let with = |b: &Together| (b.clock, b.launch) == (one.clock, one.launch) && b.mask & one.mask == 0;
        match before {
            Some(b) if with(&b) => {
                self.together.insert(key, Together { mask: b.mask | one.mask, ..b });
            }
            _ => {
                self.together.insert(key, one);
                if let Some(b) = before {
                    self.warp(self.frame.entries[key.2].entry, &b, 0, key.0, key.1);
                }
            }
        }
    }

    fn warp(&mut self, entry: u32, of: &Together, clock: u64, sm: u64, warp: u64) {
        let row = [
            self.frame.frame,
            of.launch as u64,
            of.subgroup.into(),
            of.kind as u64,
            entry.into(),
            of.word_offset.into(),
            of.mask as u64,
            (of.mask >> 64) as u64,
            clock,
            sm,
            warp,
        ];
        self.out.put(&WARPS, &row.map(Value::U64));
    }

    fn finish(mut self) {
        let mut left: Vec<_> = self.together.drain().collect();
        left.sort_by_key(|t| t.0);
        for (key, of) in left {
            self.warp(self.frame.entries[key.2].entry, &of, 0, key.0, key.1);
        }
        for (n, l) in self.launches.iter().enumerate() {
            let [w, h, d] = l.size.unwrap_or_default().map(u64::from);
            let numbers = [
                self.frame.frame,
                n as u64,
                l.of.pipeline,
                l.of.command,
                w,
                h,
                d,
                l.of.hit_groups,
                l.of.no_closest_hit,
                l.of.no_any_hit,
            ];
            let row = numbers.into_iter().map(Value::U64).chain([Value::Text(&l.of.missing)]);
            self.out.put(&RAY_LAUNCHES, &row.collect::<Vec<_>>());
        }
    }
}

/// How many invocations a launch has.
fn threads(size: [u32; 3]) -> Result<usize> {
    match size.iter().map(|s| u64::from(*s)).product::<u64>() {
        threads if threads > MOST => Err(wrong(format!("a launch of {size:?}"))),
        threads => Ok(threads as usize),
    }
}

/// The places in a mask, from the first on.
fn lanes(mask: u128) -> impl Iterator<Item = u8> {
    (0..128u8).filter(move |n| mask >> n & 1 != 0)
}
