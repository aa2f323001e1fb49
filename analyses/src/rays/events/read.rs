//! Tables `ray_launches` and `rays` as [`Events`].
//!
//! Rows are gone through twice, on all cores: once to count, once to put each where it belongs, so that little more than the
//! result is in memory, and rows of invocations may be mixed as the device wrote them.

use super::data::{Code, Events, Launch, NO, Object};
use super::numbers::{Fast, Numbers};
use super::unpack::{EVENT, Launches, Part, RAY, Seen, Wants};
use crate::context::Context;
use crate::limits;
use crate::stream::fold;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use trace::tables::{RAY_LAUNCHES, RAYS, RayEvent};
use trace::{Columns, Parts, Source, Unreadable};

/// Parts that are unpacked while those before are put where they belong.
const BATCH: usize = 16;

/// All events of a trace.
pub fn read(trace: &dyn Source, context: &Context, wants: Wants) -> Result<Events, Unreadable> {
    let launches = launches(trace, context)?;
    let by_key = |(i, l): (usize, &Launch)| ((l.frame, l.launch), (i, l.threads()));
    let by_key: Launches = launches.iter().enumerate().map(by_key).collect();
    let counts: Vec<Vec<AtomicUsize>> =
        launches.iter().map(|l| (0..l.threads()).map(|_| AtomicUsize::new(0)).collect()).collect();
    let count = |seen: &mut Seen, t: &Columns| seen.count(t, &by_key, &counts);
    let seen = fold(trace, &RAYS, &EVENT, Seen::default, count, Seen::and)?;
    let mut reader = Reader::new(launches, seen, counts, wants)?;
    let mut columns = EVENT.to_vec();
    columns.extend(["subgroup", "lane", "t"]);
    if wants.ticks {
        columns.extend(["clock", "sm", "warp"]);
    }
    if wants.places {
        columns.extend(RAY);
    }
    reader.all(&*trace.parts(&RAYS, &columns)?, &by_key)?;
    Ok(reader.finish())
}

/// How many rows of rays there are.
fn rays(trace: &dyn Source) -> Result<u64, Unreadable> {
    let count = |n: &mut u64, rows: &Columns| {
        *n += rows.len() as u64;
        Ok(())
    };
    fold(trace, &RAYS, &["kind"], || 0, count, |a, b| a + b)
}

fn launches(trace: &dyn Source, context: &Context) -> Result<Vec<Launch>, Unreadable> {
    let t = trace.read(&RAY_LAUNCHES)?;
    // (rows are counted only where it matters)
    let mut most = limits::invocations(0);
    let (mut all, mut sum) = (vec![], 0);
    for row in 0..t.len() {
        let side = |name: &str| {
            u32::try_from(t.u64(name)[row])
                .map_err(|_| Unreadable(format!("table ray_launches, row {row}: {name} is too large")))
        };
        let size = [side("width")?, side("height")?, side("depth")?];
        let threads = size.iter().try_fold(1u32, |n, s| n.checked_mul(*s)).filter(|n| *n < NO);
        let threads = threads
            .ok_or_else(|| Unreadable(format!("table ray_launches, row {row}: {size:?} invocations")))?;
        sum += u64::from(threads);
        if sum > most {
            most = limits::invocations(rays(trace)?);
        }
        if sum > most {
            return Err(Unreadable(format!(
                "table ray_launches, row {row}: more than {most} invocations in all, which is what is taken where as many rays \
                 were recorded; profile fewer frames"
            )));
        }
        let frame = t.u64("frame")[row];
        let n = context
            .subgroup_size(frame)
            .and_then(|n| u32::try_from(n).ok())
            .filter(|n| (1..=128).contains(n));
        let n = n.ok_or_else(|| {
            Unreadable(format!("table frames says no subgroup size of frame {frame}; record the trace again"))
        })?;
        all.push(Launch {
            frame,
            launch: t.u64("launch")[row],
            pipeline: t.u64("pipeline")[row],
            size,
            n,
            no_closest_hit: t.u64("no_closest_hit")[row],
            missing: t.text("missing")[row].to_string(),
            starts: vec![0; threads as usize + 1],
            subgroup: vec![NO; threads as usize],
            lane: vec![0; threads as usize],
            ..Launch::default()
        });
    }
    all.sort_by_key(|l| (l.frame, l.launch));
    if let Some(w) = all.windows(2).find(|w| (w[0].frame, w[0].launch) == (w[1].frame, w[1].launch)) {
        return Err(Unreadable(format!(
            "table ray_launches: {} is there twice; record the trace again",
            w[0].words()
        )));
    }
    Ok(all)
}

/// Where an invocation's next event goes, and what is known of the one before.
struct Reader {
    events: Events,
    wants: Wants,
    codes: HashMap<Code, u16, Fast>,
    objects: HashMap<Object, u32, Fast>,
    next: Vec<Vec<usize>>,
    first_tick: Vec<Vec<u64>>,
    /// Begins: launch, event, origin and direction.
    rays: Vec<(u32, usize, [f32; 6])>,
}

impl Reader {
    /// Counts become places, and codes and objects get their numbers in order: these do not depend on the order of rows, which
    /// differs from run to run.
    fn new(
        launches: Vec<Launch>,
        seen: Seen,
        counts: Vec<Vec<AtomicUsize>>,
        wants: Wants,
    ) -> Result<Reader, Unreadable> {
        let codes = seen.codes.sorted();
        if codes.len() > usize::from(u16::MAX) + 1 {
            return Err(Unreadable("table rays: more than 65,536 kinds of events at distinct places".into()));
        }
        let objects = seen.objects.sorted();
        let mut reader = Reader {
            codes: codes.iter().enumerate().map(|(n, c)| (*c, n as u16)).collect(),
            objects: objects.iter().enumerate().map(|(n, o)| (*o, n as u32)).collect(),
            events: Events { launches, codes, objects },
            wants,
            next: vec![],
            first_tick: vec![],
            rays: vec![],
        };
        for (l, counts) in reader.events.launches.iter_mut().zip(counts) {
            let mut sum = 0;
            for (start, count) in l.starts.iter_mut().zip(counts) {
                *start = sum;
                sum += count.into_inner();
            }
            if let Some(end) = l.starts.last_mut() {
                *end = sum;
            }
            l.code = vec![0; sum];
            l.object = vec![NO; sum];
            l.t = vec![0.0; sum];
            reader.next.push(l.starts[..l.threads()].to_vec());
            reader.first_tick.push(vec![]);
        }
        Ok(reader)
    }

    /// Some parts are unpacked while those before them are put where they belong.
    fn all(&mut self, parts: &dyn Parts, launches: &Launches) -> Result<(), Unreadable> {
        let (codes, objects, wants) = (self.codes.clone(), self.objects.clone(), self.wants);
        let unpack = |first: usize, into: &mut Vec<Part>| {
            into.resize_with(BATCH.min(parts.len().saturating_sub(first)), Part::default);
            into.par_iter_mut().enumerate().try_for_each_init(
                || (Columns::new(&RAYS), Numbers::of(&codes), Numbers::of(&objects)),
                |(rows, codes, objects), (n, part)| {
                    parts.read(first + n, rows)?;
                    part.read(rows, launches, codes, objects, wants)
                },
            )
        };
        let (mut now, mut after) = (vec![], vec![]);
        unpack(0, &mut now)?;
        for first in (0..parts.len()).step_by(BATCH) {
            let (unpacked, put) = rayon::join(
                || unpack(first + BATCH, &mut after),
                || now.iter().try_for_each(|part| self.put(part)),
            );
            unpacked.and(put)?;
            std::mem::swap(&mut now, &mut after);
        }
        Ok(())
    }

    fn put(&mut self, part: &Part) -> Result<(), Unreadable> {
        let mut rays = part.rays.iter();
        for (row, &(launch, thread)) in part.threads.iter().enumerate() {
            let (launch, thread) = (launch as usize, thread as usize);
            let next = &mut self.next[launch][thread];
            let at = *next;
            *next += 1;
            let l = &mut self.events.launches[launch];
            if at >= l.starts[thread + 1] {
                return Err(Unreadable("table rays changed while it was read".into()));
            }
            (l.code[at], l.object[at], l.t[at]) = (part.codes[row], part.objects[row], part.distances[row]);
            let place = part.places[row];
            if at == l.starts[thread] {
                (l.subgroup[thread], l.lane[thread]) = place;
            } else if (l.subgroup[thread], l.lane[thread]) != place {
                l.strays += 1;
            }
            if self.wants.places && self.events.codes[usize::from(part.codes[row])].kind.begins() {
                self.rays.extend(rays.next().map(|r| (launch as u32, at, *r)));
            }
            if self.wants.ticks {
                let first = &mut self.first_tick[launch];
                if first.is_empty() {
                    *first = vec![0; l.starts.len() - 1];
                    l.ticks = vec![0; l.starts.len() - 1];
                    l.last_place = vec![[NO; 2]; l.starts.len() - 1];
                }
                if at == l.starts[thread] {
                    first[thread] = part.clocks[row];
                }
                l.last_place[thread] = part.last_places[row];
                l.ticks[thread] = l.ticks[thread].max(part.clocks[row].saturating_sub(first[thread]));
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Events {
        if self.wants.places {
            self.rays.par_sort_unstable_by_key(|r| (r.0, r.1));
            let mut rays = self.rays.as_slice();
            for (number, l) in self.events.launches.iter_mut().enumerate() {
                let own = rays.partition_point(|r| r.0 as usize == number);
                places(l, &self.events.codes, &rays[..own]);
                rays = &rays[own..];
            }
        }
        self.events
    }
}

/// Where the rays of a launch hit: along the innermost call.
fn places(l: &mut Launch, codes: &[Code], mut rays: &[(u32, usize, [f32; 6])]) {
    let mut open: Vec<[f32; 6]> = vec![];
    l.place_starts = vec![0];
    for thread in 0..l.threads() {
        open.clear();
        for at in l.events(thread) {
            match codes[usize::from(l.code[at])].kind {
                k if k.begins() => {
                    if let [(_, _, ray), rest @ ..] = rays {
                        open.push(*ray);
                        rays = rest;
                    }
                }
                RayEvent::End => {
                    open.pop();
                }
                k @ (RayEvent::Miss | RayEvent::ClosestHit) => {
                    let [x, y, z, dx, dy, dz] = open.last().copied().unwrap_or_default();
                    let t = if k == RayEvent::Miss { 0.0 } else { l.t[at] };
                    l.places.push([x + dx * t, y + dy * t, z + dz * t]);
                }
                _ => {}
            }
        }
        l.place_starts.push(l.places.len());
    }
}
