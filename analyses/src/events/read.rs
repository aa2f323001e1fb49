//! Tables `ray_launches` and `rays` as [`Events`].
//!
//! Rows are gone through twice: once to count, once to put each where it belongs, so that no more than the result is in
//! memory, and rows of invocations may be mixed as the device wrote them.

use super::{Code, Events, Launch, NO, Object};
use crate::context::Context;
use std::collections::HashMap;
use trace::tables::{NOT_KNOWN, RAY_LAUNCHES, RAYS, RayEvent};
use trace::{Columns, Source, Table, Unreadable};

/// What is kept beside codes, objects and distances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Where rays hit.
    pub places: bool,
    /// How long invocations took.
    pub ticks: bool,
}

/// Columns of an event.
const EVENT: [&str; 11] = [
    "frame",
    "launch",
    "invocation",
    "subgroup",
    "lane",
    "kind",
    "entry",
    "word_offset",
    "instance",
    "geometry",
    "primitive",
];
const RAY: [&str; 6] = ["origin_x", "origin_y", "origin_z", "direction_x", "direction_y", "direction_z"];

/// The kind of a row.
pub fn kind(table: &Table, number: u64) -> Result<RayEvent, Unreadable> {
    RayEvent::of(number).ok_or_else(|| {
        Unreadable(format!(
            "table {}: kind {number} is not known; read it with the program that wrote it",
            table.name
        ))
    })
}

/// All events of a trace.
pub fn read(trace: &dyn Source, context: &Context, wants: Wants) -> Result<Events, Unreadable> {
    let mut reader = Reader {
        events: Events { launches: launches(trace, context)?, ..Events::default() },
        ..Reader::default()
    };
    reader.of_launch =
        reader.events.launches.iter().enumerate().map(|(i, l)| ((l.frame, l.launch), i)).collect();
    trace.each_of(&RAYS, &EVENT, &mut |t| reader.count(t))?;
    reader.lay_out();
    let mut columns = EVENT.to_vec();
    columns.push("t");
    if wants.ticks {
        columns.push("clock");
    }
    if wants.places {
        columns.extend(RAY);
    }
    trace.each_of(&RAYS, &columns, &mut |t| reader.put(t, wants))?;
    Ok(reader.finish(wants))
}

fn launches(trace: &dyn Source, context: &Context) -> Result<Vec<Launch>, Unreadable> {
    let t = trace.read(&RAY_LAUNCHES)?;
    let mut all = vec![];
    for row in 0..t.len() {
        let side = |name: &str| {
            u32::try_from(t.u64(name)[row])
                .map_err(|_| Unreadable(format!("table ray_launches, row {row}: {name} is too large")))
        };
        let size = [side("width")?, side("height")?, side("depth")?];
        let threads = size.iter().try_fold(1u32, |n, s| n.checked_mul(*s)).filter(|n| *n < NO);
        let threads = threads
            .ok_or_else(|| Unreadable(format!("table ray_launches, row {row}: {size:?} invocations")))?;
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

/// Where a thread's next event goes, and what is known of the one before.
#[derive(Default)]
struct Reader {
    events: Events,
    of_launch: HashMap<(u64, u64), usize>,
    codes: HashMap<Code, u16>,
    objects: HashMap<Object, u32>,
    next: Vec<Vec<usize>>,
    first_tick: Vec<Vec<u64>>,
    /// Begins: launch, event, origin and direction.
    rays: Vec<(usize, usize, [f32; 6])>,
    last_launch: Option<((u64, u64), usize)>,
    last_code: Option<(Code, u16)>,
    last_object: Option<(Object, u32)>,
}

/// The columns of a batch of rows.
struct Rows<'a> {
    columns: [&'a [u64]; 11],
}

impl<'a> Rows<'a> {
    fn of(t: &'a Columns) -> Self {
        Rows { columns: EVENT.map(|name| t.u64(name)) }
    }

    fn code(&self, row: usize) -> Result<Code, Unreadable> {
        let short = |c: usize| {
            u32::try_from(self.columns[c][row]).map_err(|_| {
                Unreadable(format!("table rays: {} {} is too large", EVENT[c], self.columns[c][row]))
            })
        };
        Ok(Code { kind: kind(&RAYS, self.columns[5][row])?, entry: short(6)?, place: short(7)? })
    }

    fn object(&self, row: usize) -> Option<Object> {
        let [instance, geometry, primitive] = [8, 9, 10].map(|c| self.columns[c][row]);
        let short = |n: u64| n.min(NOT_KNOWN) as u32;
        (instance != NOT_KNOWN || primitive != NOT_KNOWN).then(|| Object {
            instance: short(instance),
            primitive: short(primitive),
            geometry: short(geometry),
        })
    }
}

impl Reader {
    /// The launch and invocation of a row.
    fn thread(&mut self, rows: &Rows<'_>, row: usize) -> Result<(usize, usize), Unreadable> {
        let key = (rows.columns[0][row], rows.columns[1][row]);
        let launch = match self.last_launch {
            Some((k, launch)) if k == key => launch,
            _ => *self.of_launch.get(&key).ok_or_else(|| {
                Unreadable(format!(
                    "table rays: frame {}, launch {} is not in ray_launches; record the trace again",
                    key.0, key.1
                ))
            })?,
        };
        self.last_launch = Some((key, launch));
        let thread = usize::try_from(rows.columns[2][row]).unwrap_or(usize::MAX);
        let l = &self.events.launches[launch];
        if thread >= l.threads() {
            return Err(Unreadable(format!(
                "table rays: invocation {thread} of {}, which has {}; record the trace again",
                l.words(),
                l.threads()
            )));
        }
        Ok((launch, thread))
    }

    fn count(&mut self, t: &Columns) -> Result<(), Unreadable> {
        let rows = Rows::of(t);
        for row in 0..t.len() {
            let (launch, thread) = self.thread(&rows, row)?;
            self.events.launches[launch].starts[thread + 1] += 1;
            self.code(rows.code(row)?)?;
            if let Some(object) = rows.object(row) {
                self.object(object);
            }
        }
        Ok(())
    }

    fn code(&mut self, code: Code) -> Result<u16, Unreadable> {
        if let Some((last, number)) = self.last_code
            && last == code
        {
            return Ok(number);
        }
        let next = self.codes.len();
        let number = match self.codes.get(&code) {
            Some(number) => *number,
            None => {
                let number = u16::try_from(next).map_err(|_| {
                    Unreadable("table rays: more than 65,536 kinds of events at distinct places".into())
                })?;
                self.codes.insert(code, number);
                number
            }
        };
        self.last_code = Some((code, number));
        Ok(number)
    }

    fn object(&mut self, object: Object) -> u32 {
        if let Some((last, number)) = self.last_object
            && last == object
        {
            return number;
        }
        let next = self.objects.len() as u32;
        let number = *self.objects.entry(object).or_insert(next);
        self.last_object = Some((object, number));
        number
    }

    /// Counts become places, and objects get their numbers in order.
    fn lay_out(&mut self) {
        // (numbers do not depend on the order of rows, which differs from run to run)
        let mut codes: Vec<Code> = self.codes.keys().copied().collect();
        codes.sort_unstable();
        self.codes = codes.iter().enumerate().map(|(n, c)| (*c, n as u16)).collect();
        self.events.codes = codes;
        let mut objects: Vec<Object> = self.objects.keys().copied().collect();
        objects.sort_unstable();
        self.objects = objects.iter().enumerate().map(|(n, o)| (*o, n as u32)).collect();
        self.events.objects = objects;
        (self.last_code, self.last_object) = (None, None);
        for l in &mut self.events.launches {
            let mut sum = 0;
            for start in &mut l.starts {
                sum += *start;
                *start = sum;
            }
            l.code = vec![0; sum];
            l.object = vec![NO; sum];
            l.t = vec![0.0; sum];
            self.next.push(l.starts[..l.threads()].to_vec());
            self.first_tick.push(vec![]);
        }
    }

    fn put(&mut self, t: &Columns, wants: Wants) -> Result<(), Unreadable> {
        let rows = Rows::of(t);
        let distances = t.f64("t");
        let rays = wants.places.then(|| RAY.map(|name| t.f64(name)));
        let clock = wants.ticks.then(|| t.u64("clock"));
        for row in 0..t.len() {
            let (launch, thread) = self.thread(&rows, row)?;
            let code = rows.code(row)?;
            let number = self.code(code)?;
            let object = rows.object(row).map_or(NO, |o| self.object(o));
            let at = self.next[launch][thread];
            let l = &mut self.events.launches[launch];
            // (a source that says something else the second time is no source)
            if at == l.starts[thread + 1] {
                return Err(Unreadable("table rays changed while it was read".into()));
            }
            self.next[launch][thread] += 1;
            (l.code[at], l.object[at], l.t[at]) = (number, object, distances[row] as f32);
            let (subgroup, lane) = (rows.columns[3][row], rows.columns[4][row]);
            if lane > 127 || subgroup >= u64::from(NO) {
                return Err(Unreadable(format!(
                    "table rays: lane {lane} of subgroup {subgroup}; record the trace again"
                )));
            }
            if at == l.starts[thread] {
                (l.subgroup[thread], l.lane[thread]) = (subgroup as u32, lane as u8);
            } else if (l.subgroup[thread], l.lane[thread]) != (subgroup as u32, lane as u8) {
                l.strays += 1;
            }
            if let Some(rays) = rays.as_ref().filter(|_| code.kind.begins()) {
                self.rays.push((launch, at, rays.map(|c| c[row] as f32)));
            }
            if let Some(clock) = clock {
                let first = &mut self.first_tick[launch];
                if first.is_empty() {
                    *first = vec![0; l.starts.len() - 1];
                    l.ticks = vec![0; l.starts.len() - 1];
                }
                if at == l.starts[thread] {
                    first[thread] = clock[row];
                }
                l.ticks[thread] = l.ticks[thread].max(clock[row].saturating_sub(first[thread]));
            }
        }
        Ok(())
    }

    fn finish(mut self, wants: Wants) -> Events {
        if wants.places {
            self.rays.sort_unstable_by_key(|r| (r.0, r.1));
            let mut rays = self.rays.as_slice();
            for (number, l) in self.events.launches.iter_mut().enumerate() {
                let own = rays.partition_point(|r| r.0 == number);
                places(l, &self.events.codes, &rays[..own]);
                rays = &rays[own..];
            }
        }
        self.events
    }
}

/// Where the rays of a launch hit: along the innermost call.
fn places(l: &mut Launch, codes: &[Code], mut rays: &[(usize, usize, [f32; 6])]) {
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
