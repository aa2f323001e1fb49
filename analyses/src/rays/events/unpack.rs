//! Rows of table `rays`, unpacked: which invocation's each is, and what it is as numbers.
//!
//! Refuses launches that `ray_launches` does not have, invocations outside their launch, and lanes beyond 127.

use super::data::{Code, NO, Object};
use super::numbers::{Met, Numbers, code, object};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use trace::tables::RayEvent;
use trace::{Columns, Unreadable};

/// What is kept beside codes, objects and distances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Where rays hit.
    pub places: bool,
    /// How long invocations took, and where on the device they ended.
    pub ticks: bool,
}

impl Wants {
    /// Both.
    #[must_use]
    pub fn and(self, other: Wants) -> Wants {
        Wants { places: self.places | other.places, ticks: self.ticks | other.ticks }
    }
}

/// Columns of an event.
pub const EVENT: [&str; 9] =
    ["frame", "launch", "invocation", "kind", "entry", "word_offset", "instance", "geometry", "primitive"];
/// Of a begin.
pub const RAY: [&str; 6] = ["origin_x", "origin_y", "origin_z", "direction_x", "direction_y", "direction_z"];

/// Where a launch's events are, and how many invocations it has.
pub type Launches = HashMap<(u64, u64), (usize, usize)>;

/// How many events each invocation of each launch has.
pub type Counts = [Vec<AtomicUsize>];

/// The columns of a batch of rows.
struct Rows<'a> {
    columns: [&'a [u64]; 9],
    launches: &'a Launches,
    /// The launch of the row before.
    last: Option<((u64, u64), (usize, usize))>,
}

impl<'a> Rows<'a> {
    fn of(t: &'a Columns, launches: &'a Launches) -> Self {
        Rows { columns: EVENT.map(|name| t.u64(name)), launches, last: None }
    }

    /// The launch and invocation of a row.
    fn thread(&mut self, row: usize) -> Result<(usize, usize), Unreadable> {
        let key = (self.columns[0][row], self.columns[1][row]);
        let (launch, threads) = match self.last {
            Some((k, launch)) if k == key => launch,
            _ => {
                let found = *self.launches.get(&key).ok_or_else(|| {
                    Unreadable(format!(
                        "table rays: frame {}, launch {} is not in ray_launches; record the trace again",
                        key.0, key.1
                    ))
                })?;
                self.last = Some((key, found));
                found
            }
        };
        let thread = usize::try_from(self.columns[2][row]).unwrap_or(usize::MAX);
        if thread >= threads {
            return Err(Unreadable(format!(
                "table rays: invocation {thread} of frame {}, launch {}, which has {threads}; record the trace again",
                key.0, key.1
            )));
        }
        Ok((launch, thread))
    }

    /// Kind, entry and place.
    fn code(&self, row: usize) -> [u64; 3] {
        [3, 4, 5].map(|c| self.columns[c][row])
    }

    /// Instance, primitive and geometry.
    fn object(&self, row: usize) -> [u64; 3] {
        [6, 8, 7].map(|c| self.columns[c][row])
    }
}

/// What there is, as it is met.
#[derive(Default)]
pub struct Seen {
    /// What events are.
    pub codes: Met<Code>,
    /// What they are about.
    pub objects: Met<Object>,
}

impl Seen {
    /// Some rows.
    pub fn count(&mut self, t: &Columns, launches: &Launches, counts: &Counts) -> Result<(), Unreadable> {
        let mut rows = Rows::of(t, launches);
        for row in 0..t.len() {
            let (launch, thread) = rows.thread(row)?;
            counts[launch][thread].fetch_add(1, Ordering::Relaxed);
            self.codes.see(rows.code(row), code)?;
            self.objects.see(rows.object(row), |o| Ok(object(o)))?;
        }
        Ok(())
    }

    /// Both together.
    pub fn and(mut self, other: Seen) -> Seen {
        self.codes.add(other.codes);
        self.objects.add(other.objects);
        self
    }
}

/// Rows that are unpacked.
#[derive(Default)]
pub struct Part {
    /// Launch and invocation.
    pub threads: Vec<(u32, u32)>,
    /// Of each row.
    pub codes: Vec<u16>,
    /// Of each row.
    pub objects: Vec<u32>,
    /// Of each row.
    pub distances: Vec<f32>,
    /// Subgroup and lane.
    pub places: Vec<(u32, u8)>,
    /// Of each row, if they are wanted.
    pub clocks: Vec<u64>,
    /// Multiprocessor and place there of each row, if clocks are wanted.
    pub last_places: Vec<[u32; 2]>,
    /// Origin and direction of begins.
    pub rays: Vec<[f32; 6]>,
}

impl Part {
    /// Unpacks some rows; what was there before goes.
    pub fn read(
        &mut self,
        t: &Columns,
        launches: &Launches,
        codes: &mut Numbers<'_, Code, u16>,
        objects: &mut Numbers<'_, Object, u32>,
        wants: Wants,
    ) -> Result<(), Unreadable> {
        self.threads.clear();
        self.codes.clear();
        self.objects.clear();
        self.places.clear();
        self.clocks.clear();
        self.last_places.clear();
        self.rays.clear();
        let changed = || Unreadable("table rays changed while it was read".into());
        let mut rows = Rows::of(t, launches);
        let rays = wants.places.then(|| RAY.map(|name| t.f64(name)));
        let [subgroups, lanes] = ["subgroup", "lane"].map(|c| t.u64(c));
        for row in 0..t.len() {
            let (launch, thread) = rows.thread(row)?;
            self.threads.push((launch as u32, thread as u32));
            let of = rows.code(row);
            // (a source that says something else the second time is no source)
            self.codes.push(codes.find(of, code)?.ok_or_else(changed)?);
            self.objects.push(objects.find(rows.object(row), |o| Ok(object(o)))?.unwrap_or(NO));
            let (subgroup, lane) = (subgroups[row], lanes[row]);
            if lane > 127 || subgroup >= u64::from(NO) {
                return Err(Unreadable(format!(
                    "table rays: lane {lane} of subgroup {subgroup}; record the trace again"
                )));
            }
            self.places.push((subgroup as u32, lane as u8));
            if let Some(rays) = rays.as_ref().filter(|_| of[0] <= RayEvent::OcclusionBegin as u64) {
                self.rays.push(rays.map(|c| c[row] as f32));
            }
        }
        self.distances.clear();
        self.distances.extend(t.f64("t").iter().map(|t| *t as f32));
        if wants.ticks {
            self.clocks.extend(t.u64("clock"));
            let known = |n: &u64| u32::try_from(*n).unwrap_or(NO);
            let places = t.u64("sm").iter().zip(t.u64("warp"));
            self.last_places.extend(places.map(|(sm, warp)| [known(sm), known(warp)]));
        }
        Ok(())
    }
}
