//! SIMT efficiency of rays' events: how full subgroups were when they began rays and entered shaders (Cheung 2024, §3.1.2),
//! beside what Replayer makes of the same subgroups.
//!
//! *Definition.* Over events of subgroups with active masks m (begins, occlusion begins, intersections, any-hits, misses,
//! closest hits: `rays/events/event_level.rs`): Σ popcount(m) / (Σ 1 · N), in percent, N being the device's subgroup size. Each event
//! counts alike, however long its shader is. Callables are a row of their own, and in no sum with others. *Actual* is of table
//! `warps`; *synthetic* and *bound* are of table `rays`, with the subgroups that ray generation recorded (`rays/replayer/mod.rs`).
//! Synthetic is an idealised order of execution: actual below it is what scheduling cost, and actual above it a better order than
//! the one that was found. No order exceeds the bound: actual above it, in any row, means that the device put invocations into
//! other subgroups, and a note says so.
//!
//! *Of subgroups* are the numbers given at ray generation: where a device moves invocations between subgroups, an event is that
//! of the subgroup of its first active invocation.

mod columns;
#[cfg(test)]
mod tests;

use crate::rays::events::{ALL, Events, Occupancy, Wants, counts, fullness};
use crate::rays::replayer::{Packing, Replayer, Shares};
use crate::report::sheet::Sheet;
use crate::report::{Cell, Mark, Report, Series, Table, percent};
use crate::{Question, Session};
use std::collections::{BTreeMap, HashMap};
use trace::tables::{RAY_LAUNCHES, RAYS, RayEvent, WARPS};
use trace::{Source, Unreadable};

/// The question.
pub static QUESTION: Question = Question {
    name: "ray-simt",
    about: "how full subgroups were at events of rays, per shader and subgroup, and how full they could have been",
    wants: &[&RAY_LAUNCHES, &RAYS, &WARPS],
    sheets: columns::SHEETS,
    events: Some(WANTS),
    answer,
};

/// Subgroups that are listed: those that wasted most.
const TOP: usize = 20;

/// Kind and entry point.
type Shader = (RayEvent, u64);

/// What is said of a shader, or of all.
#[derive(Clone, Copy, Default)]
struct Row {
    actual: Occupancy,
    shares: Shares,
}

impl Row {
    fn cells(&self) -> impl Iterator<Item = Cell> {
        let [events, _, efficiency] = self.shares.bound.cells();
        let synthetic = self.shares.synthetic.cells();
        self.actual.cells().into_iter().chain(synthetic).chain([events, efficiency])
    }

    /// Whether so many events are less than they can be (where all were recorded).
    fn moved(&self) -> bool {
        let bound = &self.shares.bound;
        self.actual.active == bound.active && self.actual.events < bound.events
    }
}

#[derive(Default)]
struct Actual {
    shaders: BTreeMap<Shader, Occupancy>,
    /// Launch and number.
    subgroups: HashMap<(usize, u64), Occupancy>,
    popcounts: BTreeMap<u64, u64>,
}

/// What it wants to know of events.
const WANTS: Wants = Wants { places: false, ticks: false };

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let context = session.context()?;
    let events = session.events()?;
    let actual = actual(trace, events)?;
    let mut shaders = BTreeMap::<Shader, Row>::new();
    for (shader, sum) in &actual.shaders {
        shaders.entry(*shader).or_default().actual += *sum;
    }
    for launch in &events.launches {
        let e = Replayer::new(events, launch).efficiency(&Packing::recorded(launch));
        for (code, sum) in events.codes.iter().zip(&e.codes).filter(|c| c.1.synthetic.events > 0) {
            shaders.entry((code.kind, code.entry.into())).or_default().shares += *sum;
        }
    }
    let mut whole = BTreeMap::from([(ALL, Row::default())]);
    for (shader, row) in &shaders {
        let sum = whole.entry(if counts(shader.0) { ALL } else { shader.0.name() }).or_default();
        sum.actual += row.actual;
        sum.shares += row.shares;
    }
    let mut report = Report::new(QUESTION.name, "SIMT efficiency of rays");
    let all = whole[ALL];
    let of_shaders = shaders.iter().map(|(shader, row)| (*shader, row.actual));
    report.headlines.extend(fullness(context, all.actual, of_shaders));
    let bound = all.shares.bound.percent().filter(|b| all.actual.percent().is_some_and(|a| a < *b));
    report.headlines.extend(bound.map(|b| {
        format!(
            "The same subgroups could be {} full, if they executed their events in the best order.",
            percent(b)
        )
    }));
    let row = |(shader, row): (&Shader, &Row)| {
        let first = [Cell::from(shader.0.name())].into_iter().chain(context.entry_cells(shader.1));
        first.chain(row.cells()).collect()
    };
    report.tables = vec![
        columns::WHOLE
            .table(whole.iter().map(|(of, r)| [Cell::from(*of)].into_iter().chain(r.cells()).collect())),
        columns::SHADERS.table(shaders.iter().map(row)),
        subgroups(events, &actual),
    ];
    report.series = vec![
        bars(columns::POPCOUNTS, "Active invocations at an event", &actual.popcounts),
        bars(columns::EFFICIENCIES, "Efficiency of a subgroup, in percent", &efficiencies(&actual)),
    ];
    if actual.shaders.is_empty() {
        report.notes.push("No event of a subgroup was recorded.".into());
    }
    let moved = shaders.values().filter(|r| r.moved()).count();
    if moved > 0 {
        report.notes.push(format!(
            "{moved} of {} shaders had fewer events than the recorded subgroups have in any order: the device put \
             invocations into other subgroups.",
            shaders.len()
        ));
    }
    Ok(report)
}

fn actual(trace: &dyn Source, events: &Events) -> Result<Actual, Unreadable> {
    let launches: HashMap<(u64, u64), usize> =
        events.launches.iter().enumerate().map(|(i, l)| ((l.frame, l.launch), i)).collect();
    let mut a = Actual::default();
    let columns = ["frame", "launch", "subgroup", "kind", "entry", "mask", "mask_high"];
    trace.each_of(&WARPS, &columns, &mut |t| {
        let [frames, numbers, subgroups, kinds, entries, masks, high] = columns.map(|c| t.u64(c));
        for row in 0..t.len() {
            let key = (frames[row], numbers[row]);
            let launch = *launches.get(&key).ok_or_else(|| {
                Unreadable(format!(
                    "table warps: frame {}, launch {} is not in ray_launches; record the trace again",
                    key.0, key.1
                ))
            })?;
            let kind = RayEvent::of(kinds[row])
                .ok_or_else(|| Unreadable(format!("table warps: kind {} is not known", kinds[row])))?;
            let n = events.launches[launch].n.into();
            let active = u64::from(masks[row].count_ones() + high[row].count_ones());
            let event = Occupancy::new(1, active, n);
            *a.shaders.entry((kind, entries[row])).or_default() += event;
            if counts(kind) {
                *a.subgroups.entry((launch, subgroups[row])).or_default() += event;
                *a.popcounts.entry(active).or_default() += 1;
            }
        }
        Ok(())
    })?;
    Ok(a)
}

fn subgroups(events: &Events, actual: &Actual) -> Table {
    let mut all: Vec<_> = actual.subgroups.iter().collect();
    all.sort_by_key(|(key, s)| (std::cmp::Reverse(s.idle()), **key));
    let row = |(&(launch, number), s): (&(usize, u64), &Occupancy)| {
        let l = &events.launches[launch];
        let mut cells: Vec<Cell> = vec![l.frame.into(), l.launch.into(), number.into()];
        cells.extend(s.cells());
        cells
    };
    columns::SUBGROUPS_THAT_WASTED_MOST.table(all.into_iter().take(TOP).map(row))
}

/// Subgroups by efficiency, in steps of five.
fn efficiencies(actual: &Actual) -> BTreeMap<u64, u64> {
    let mut all = BTreeMap::new();
    for s in actual.subgroups.values() {
        if let Some(p) = s.percent() {
            *all.entry((p / 5.0) as u64 * 5).or_default() += 1;
        }
    }
    all
}

fn bars(sheet: Sheet, title: &str, of: &BTreeMap<u64, u64>) -> Series {
    sheet.series(title, Mark::Bars, of.iter().map(|(x, y)| (Cell::Count(*x), Cell::Count(*y))))
}
