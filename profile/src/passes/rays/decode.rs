//! From records to rows, in one go through the log.
//!
//! Guarantees: rows come in the order of the log; subgroups are numbered from 0 in each launch, in the order in which they
//! entered it, and none twice, whichever windows they were recorded in. Refuses events of launches and invocations that
//! did not say that they began.

use super::ENTER;
use super::fields::{Field, Layout};
use crate::pass::{Error, FrameData, Launch, LogRecord, Result, Sink};
use std::collections::HashMap;
use trace::Value;
use trace::tables::{NOT_KNOWN, RAY_LAUNCHES, RAYS, RayEvent, WARPS};

/// SkipClosestHitShaderKHR.
const SKIPS_CLOSEST_HIT: u32 = 8;
/// An invocation that did not enter.
const NOBODY: u32 = u32::MAX;
/// The most invocations that a launch may have (maxRayDispatchInvocationCount is at most that).
const MOST: u64 = 1 << 30;

/// What is known of a launch.
struct Running<'f> {
    of: &'f Launch,
    size: Option<[u32; 3]>,
    /// Subgroup and place of each invocation.
    members: Vec<(u32, u8)>,
    subgroups: u32,
}

struct Decoder<'f, 'o> {
    frame: &'f FrameData<'f>,
    out: &'o mut dyn Sink,
    launches: Vec<Running<'f>>,
    /// Which launch it is, by part, action, and where the log ended when it began.
    known: HashMap<(u32, u32, u32), usize>,
    /// How many launches of an action a part has.
    ran: HashMap<(u32, u32), usize>,
    /// The launch that runs, and its key.
    now: Option<((u32, u32, u32), usize)>,
    /// Of each entry and probe.
    layouts: HashMap<(usize, u32), Layout>,
    /// Shader groups by launch and entry.
    groups: HashMap<(usize, u32), u64>,
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
    let launches =
        frame.launches.iter().map(|of| Running { of, size: of.size, members: vec![], subgroups: 0 });
    let mut groups = HashMap::new();
    for (n, l) in frame.launches.iter().enumerate() {
        groups.extend(l.entries.iter().map(|(e, g)| ((n, *e), g.map_or(NOT_KNOWN, u64::from))));
    }
    let mut d = Decoder {
        frame,
        out,
        launches: launches.collect(),
        known: HashMap::new(),
        ran: HashMap::new(),
        now: None,
        layouts: HashMap::new(),
        groups,
    };
    frame.each_record(&mut |part, r| d.record(part, r))?;
    d.finish();
    Ok(())
}

impl Decoder<'_, '_> {
    fn record(&mut self, part: u32, r: LogRecord<'_>) -> Result<()> {
        let key = (r.entry, r.site.probe.map_or(0, |p| p.0));
        let layout = match self.layouts.remove(&key) {
            Some(l) => l,
            None => {
                Layout::of(&r.site.data).ok_or_else(|| wrong("a site of pass rays without its layout"))?
            }
        };
        let done = self.with(part, r, &layout);
        self.layouts.insert(key, layout);
        done
    }

    fn with(&mut self, part: u32, r: LogRecord<'_>, layout: &Layout) -> Result<()> {
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
            return self.enter(part, h.mask, more, words);
        }
        let Some(kind) = RayEvent::of(r.site.kind.into()) else {
            return Err(wrong(format!("an event of kind {}", r.site.kind)));
        };
        self.event(kind, r, layout, &h, words.chunks_exact(each))
    }

    /// Invocations of a launch say that they are there.
    fn enter(&mut self, part: u32, mask: u128, more: &[u32], words: &[u32]) -> Result<()> {
        let &[action, start, w, h, d, ..] = more else {
            return Err(wrong("the begin of a launch is too short"));
        };
        let key = (part, action, start);
        if self.now.is_none_or(|n| n.0 != key) {
            let launch = match self.known.get(&key) {
                Some(l) => *l,
                None => self.next(key)?,
            };
            self.now = Some((key, launch));
        }
        let Some((_, launch)) = self.now else { return Ok(()) };
        let l = &mut self.launches[launch];
        let size = [w, h, d];
        if l.members.is_empty() || l.size != Some(size) {
            let threads = size.iter().map(|s| u64::from(*s)).product::<u64>();
            if threads > MOST {
                return Err(wrong(format!("a launch of {size:?}")));
            }
            if !l.members.is_empty() {
                return Err(wrong(format!("a launch of {:?} that is one of {size:?}", l.size)));
            }
            l.size = Some(size);
            l.members = vec![(NOBODY, 0); threads as usize];
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

    /// The launch that begins with a key: of those of its action the next.
    fn next(&mut self, key: (u32, u32, u32)) -> Result<usize> {
        let (part, action, _) = key;
        let before = self.ran.entry((part, action)).or_default();
        let mut of_action = self.launches.iter().enumerate().filter(|l| l.1.of.action == action).map(|l| l.0);
        let Some(launch) = of_action.nth(*before) else {
            return Err(wrong(format!("launch {before} of action {action}, which the frame did not submit")));
        };
        *before += 1;
        self.known.insert(key, launch);
        Ok(launch)
    }

    /// An event of some invocations.
    fn event<'w>(
        &mut self,
        kind: RayEvent,
        r: LogRecord<'_>,
        layout: &Layout,
        head: &Head,
        words: impl Iterator<Item = &'w [u32]>,
    ) -> Result<()> {
        let entry = self.frame.entries[r.entry].entry;
        let Some((_, launch)) = self.now else {
            return Err(wrong(format!("{} before any ray generation shader: choose those too", kind.name())));
        };
        let l = &self.launches[launch];
        let group = self.groups.get(&(launch, entry)).copied().unwrap_or(NOT_KNOWN);
        // The kinds that there are: calls may skip closest-hit shaders for some invocations alone.
        let mut warps: [(RayEvent, u128, u32); 2] = [(kind, 0, 0), (RayEvent::OcclusionBegin, 0, 0)];
        for (lane, words) in lanes(head.mask).zip(words) {
            let (work, words) = (words[0], &words[1..]);
            let values = layout.values(words);
            let occlusion = kind == RayEvent::Begin && values.bits(Field::Flags) & SKIPS_CLOSEST_HIT != 0;
            let of = &mut warps[usize::from(occlusion)];
            let (subgroup, own_lane) = match l.members.get(work as usize) {
                Some(&(subgroup, lane)) if subgroup != NOBODY => (subgroup, lane),
                _ => {
                    let why = format!(
                        "{} of invocation {work}, which did not begin: choose all stages",
                        kind.name()
                    );
                    return Err(wrong(why));
                }
            };
            if of.1 == 0 {
                of.2 = subgroup;
            }
            of.1 |= 1 << lane;
            let place = [
                self.frame.frame,
                launch as u64,
                work.into(),
                subgroup.into(),
                own_lane.into(),
                of.0 as u64,
                entry.into(),
                r.site.word_offset.into(),
            ];
            let mut row = [Value::U64(0); 30];
            let tail = [group, head.clock, head.sm, head.warp].map(Value::U64);
            let all = (place.into_iter().map(Value::U64))
                .chain(values.floats().map(Value::F64))
                .chain(values.numbers().map(Value::U64))
                .chain(tail);
            row.iter_mut().zip(all).for_each(|(to, v)| *to = v);
            self.out.put(&RAYS, &row);
        }
        if layout.alone || !kind.of_warps() {
            return Ok(());
        }
        for (kind, mask, subgroup) in warps.into_iter().filter(|w| w.1 != 0) {
            let row = [
                self.frame.frame,
                launch as u64,
                subgroup.into(),
                kind as u64,
                entry.into(),
                r.site.word_offset.into(),
                mask as u64,
                (mask >> 64) as u64,
                head.clock,
                head.sm,
                head.warp,
            ];
            self.out.put(&WARPS, &row.map(Value::U64));
        }
        Ok(())
    }

    fn finish(self) {
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

/// The places in a mask, from the first on.
fn lanes(mask: u128) -> impl Iterator<Item = u8> {
    (0..128u8).filter(move |n| mask >> n & 1 != 0)
}
