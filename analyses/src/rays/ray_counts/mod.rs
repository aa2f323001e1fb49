//! How many events rays had, and how full subgroups were in them: the two numbers that come first, for traces of any length
//! (Cheung 2024, §3.1.2).
//!
//! *Definition.* Counts are rows of table `rays` by kind and shader. *Efficiency* is event-level (`rays/events/event_level.rs`), of
//! table `warps`: Σ popcount(mask) / (Σ 1 · N) over begins, occlusion begins, intersections, any-hits, misses and closest hits, in
//! percent, N being the device's subgroup size; each event counts alike. Entries of callable shaders are in the rows of their
//! shaders alone. Question `ray-simt` says the same of each subgroup, and beside it how full they could have been; `rays` looks
//! into rays.
//!
//! Four columns of one table and six of the other are read, on all cores, and nothing is kept (benches/runs says how long 100
//! million events take).

mod columns;
#[cfg(test)]
mod tests;

use crate::rays::events::{Occupancy, counts as event_counts, fullness};
use crate::report::{Cell, Report, counted};
use crate::stream::fold;
use crate::{Question, Session};
use std::collections::BTreeMap;
use trace::tables::{RAY_LAUNCHES, RAYS, RayEvent, WARPS};
use trace::{Columns, Source, Unreadable};

/// The question.
pub static QUESTION: Question = Question {
    name: "ray-counts",
    about: "how many events rays had, and how full subgroups were in them: at once, however many there are",
    wants: &[&RAY_LAUNCHES, &RAYS],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

/// Entry points that are counted in a table; others in a map.
const NEAR: usize = 256;

/// Frame and launch.
type Launch = (u64, u64);
/// Kind and entry point, by their numbers.
type Shader = (u64, u64);

/// Events of one launch, and invocations active in them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Counts {
    /// By kind and entry point.
    near: Vec<[u64; 2]>,
    far: BTreeMap<Shader, [u64; 2]>,
}

impl Default for Counts {
    fn default() -> Self {
        Counts { near: vec![[0; 2]; RayEvent::ALL.len() * NEAR], far: BTreeMap::new() }
    }
}

impl Counts {
    fn add(&mut self, kind: u64, entry: u64, active: u64) {
        let is_near = kind < RayEvent::ALL.len() as u64 && entry < NEAR as u64;
        let n = match is_near {
            true => &mut self.near[kind as usize * NEAR + entry as usize],
            false => self.far.entry((kind, entry)).or_default(),
        };
        *n = [n[0] + 1, n[1] + active];
    }

    fn all(self) -> BTreeMap<Shader, [u64; 2]> {
        let near = self.near.into_iter().enumerate();
        let near = near.map(|(at, n)| (((at / NEAR) as u64, (at % NEAR) as u64), n));
        near.chain(self.far).filter(|s| s.1[0] > 0).collect()
    }
}

/// By frame and launch, then by kind and entry point: events, and invocations active in them.
pub(crate) type Counted = BTreeMap<Launch, BTreeMap<Shader, [u64; 2]>>;

/// A table's events by launch and shader, with the invocations that are active in them by the masks of these columns.
fn counts(trace: &dyn Source, table: &'static trace::Table, masks: &[&str]) -> Result<Counted, Unreadable> {
    let columns = ["frame", "launch", "kind", "entry"];
    let step = |all: &mut BTreeMap<Launch, Counts>, t: &Columns| {
        let [frames, launches, kinds, entries] = columns.map(|c| t.u64(c));
        let masks: Vec<&[u64]> = masks.iter().map(|c| t.u64(c)).collect();
        let mut from = 0;
        while from < t.len() {
            // (as far as the launch goes)
            let key = (frames[from], launches[from]);
            let same = frames[from..].iter().zip(&launches[from..]).take_while(|k| (*k.0, *k.1) == key);
            let to = from + same.count();
            let counts = all.entry(key).or_default();
            for row in from..to {
                let active = masks.iter().map(|m| u64::from(m[row].count_ones())).sum();
                counts.add(kinds[row], entries[row], active);
            }
            from = to;
        }
        Ok(())
    };
    let all = fold(trace, table, &[&columns, masks].concat(), BTreeMap::new, step, |mut a, b| {
        let plus = |a: &mut [u64; 2], b: [u64; 2]| *a = [a[0] + b[0], a[1] + b[1]];
        for (launch, counts) in b {
            let sum: &mut Counts = a.entry(launch).or_default();
            sum.near.iter_mut().zip(counts.near).for_each(|(a, b)| plus(a, b));
            counts.far.into_iter().for_each(|(s, n)| plus(sum.far.entry(s).or_default(), n));
        }
        a
    })?;
    Ok(all.into_iter().map(|(launch, counts)| (launch, counts.all())).collect())
}

/// Rays' events.
pub(crate) fn rays(trace: &dyn Source) -> Result<Counted, Unreadable> {
    counts(trace, &RAYS, &[])
}

/// Subgroups' events.
pub(crate) fn warps(trace: &dyn Source) -> Result<Counted, Unreadable> {
    counts(trace, &WARPS, &["mask", "mask_high"])
}

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let context = session.context()?;
    let (rays, warps) = (rays(trace)?, warps(trace)?);
    let kind = |n: u64| {
        RayEvent::of(n).ok_or_else(|| {
            Unreadable(format!("kind {n} of an event is not known; read it with the program that wrote it"))
        })
    };
    let (mut launches, mut shaders) = (BTreeMap::<Launch, (u64, u64, Occupancy)>::new(), BTreeMap::new());
    for (launch, counts) in &rays {
        for (shader, [n, _]) in counts {
            let begins = kind(shader.0)?.begins();
            let l = launches.entry(*launch).or_default();
            (l.0, l.1) = (l.0 + n, l.1 + if begins { *n } else { 0 });
            shaders.entry(*shader).or_insert((0, Occupancy::default())).0 += n;
        }
    }
    for (launch, counts) in &warps {
        let n = context.subgroup_size(launch.0).ok_or_else(|| {
            let frame = launch.0;
            Unreadable(format!("table frames says no subgroup size of frame {frame}; record the trace again"))
        })?;
        for (shader, &[events, active]) in counts {
            let w = Occupancy::new(events, active, n);
            shaders.entry(*shader).or_default().1 += w;
            if event_counts(kind(shader.0)?) {
                launches.entry(*launch).or_default().2 += w;
            }
        }
    }
    let mut all = (0, 0, Occupancy::default());
    launches.values().for_each(|l| {
        (all.0, all.1) = (all.0 + l.0, all.1 + l.1);
        all.2 += l.2;
    });
    let mut report = Report::new(QUESTION.name, "Events of rays");
    if all.0 != 0 {
        let (rays, events) = (counted(all.1, "ray"), counted(all.0, "event"));
        report.headlines.push(format!("{rays} had {events}."));
    }
    let mut of_warps = vec![];
    for (&(number, entry), (_, w)) in &shaders {
        of_warps.push(((kind(number)?, entry), *w));
    }
    report.headlines.extend(fullness(context, all.2, of_warps.into_iter()));
    let of_launch = |first: Vec<Cell>, l: &(u64, u64, Occupancy)| {
        first.into_iter().chain([l.0.into(), l.1.into()]).chain(l.2.cells()).collect::<Vec<Cell>>()
    };
    let mut of_shaders = vec![];
    for ((number, entry), (events, w)) in shaders {
        let kind = kind(number)?;
        let first = [Cell::from(kind.name())].into_iter().chain(context.entry_cells(entry));
        // (some events are a shader's own, and no subgroup's)
        let cells = if kind.of_warps() { w.cells() } else { [const { Cell::Missing }; 3] };
        of_shaders.push(first.chain([events.into()]).chain(cells).collect());
    }
    report.tables = vec![
        columns::WHOLE.table([of_launch(vec![], &all)]),
        columns::SHADERS.table(of_shaders),
        columns::LAUNCHES.table(launches.iter().map(|(k, l)| of_launch(vec![k.0.into(), k.1.into()], l))),
    ];
    if warps.is_empty() {
        report.notes.push("No event of a subgroup was recorded.".into());
    }
    Ok(report)
}
