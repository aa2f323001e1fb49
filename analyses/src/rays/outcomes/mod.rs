//! Rays: how many, at which depth, from which calls, how they ended, how far they went, and which objects' boxes they were
//! tested against (Cheung 2024, §3.1.1, §3.6).
//!
//! A ray begins with a call and ends with its miss or closest hit; without either it is an *implicit hit* where shaders do
//! not say (occlusion rays; hit groups without closest-hit shader). *Depth* is how many calls a ray lies in, 0 from ray
//! generation. *Distances* are in lengths of the ray's direction; those that are not finite are counted and in no mean.
//!
//! *Box hit ratio* of an object: intersection shaders entered for it that reported at least once / all entered for it. A low
//! ratio says that its box is much larger than what is in it. Objects are told apart by instance, geometry and primitive.
//!
//! Table `laws` holds what must be equal in every trace, both sides counted (`rays/events/laws.rs`). A law that is broken is a failed
//! check: something was lost, or a probe is wrong.
//!
//! *Caveats.* Any-hits and intersections are only as complete as the application's shaders: table `launches` says which
//! geometry leaves no events. Ray queries have a begin and what was committed, and are in no other number.

mod columns;
pub mod stats;
#[cfg(test)]
mod tests;

use crate::context::Context;
use crate::rays::events::{Events, Law, Wants, laws};
use crate::report::{Cell, Mark, Report, Series, Table, counted, most, share};
use crate::{Question, Session};
use stats::Stats;
use trace::Unreadable;
use trace::tables::{RAY_LAUNCHES, RAYS, RayEvent};

/// The question.
pub static QUESTION: Question = Question {
    name: "rays",
    about: "rays by depth, call, outcome and distance; box hit ratios of objects; the laws that a trace of rays must keep",
    wants: &[&RAY_LAUNCHES, &RAYS],
    sheets: columns::SHEETS,
    events: Some(WANTS),
    answer,
};

/// Objects that are listed: the most tested.
const TOP: usize = 20;

/// What it wants to know of events.
const WANTS: Wants = Wants { places: false, ticks: false };

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let context = session.context()?;
    let events = session.events()?;
    let laws = laws(events, trace)?;
    let of_launches: Vec<Stats> = events.launches.iter().map(|l| Stats::of(events, l)).collect();
    let mut whole = Stats::new(events);
    of_launches.iter().for_each(|s| whole.add(s));
    let mut report = Report::new(QUESTION.name, "Rays");
    report.headlines = headlines(events, &whole);
    report.tables = vec![
        launches(context, events, &of_launches),
        depths(&whole),
        calls(context, events, &whole),
        kinds(&whole),
        distances(&whole),
        objects(events, &whole),
        law_table(&laws),
    ];
    report.series = series(&whole);
    report.failures = laws.iter().filter(|l| !l.holds()).map(Law::words).collect();
    for l in events.launches.iter().filter(|l| !l.missing.is_empty()) {
        report.notes.push(format!("{}: no events of {}.", l.words(), l.missing));
    }
    if events.is_empty() {
        report.notes.push("No ray was traced.".into());
    }
    Ok(report)
}

/// What rays came to, and which object is tested most.
fn headlines(events: &Events, whole: &Stats) -> Vec<String> {
    let (mut all, mut tests) = (stats::Rays::default(), stats::Tests::default());
    whole.depths.iter().for_each(|d| all.add(d));
    whole.objects.iter().for_each(|o| tests.add(o));
    if all.rays() == 0 {
        return vec![];
    }
    let of = |n: u64| n as f64 / all.rays() as f64;
    let mut said = vec![format!(
        "{} of {} hit something; each came to {:.2} intersection and {:.2} any-hit shaders on average.",
        share(all.hits(), all.rays()),
        counted(all.rays(), "ray"),
        of(all.intersections),
        of(all.any_hits)
    )];
    said.extend(most(events.objects.iter().zip(&whole.objects), |o| o.1.tested).map(|(object, of)| {
        let (words, hits) = (object.words(), share(of.reported, of.tested));
        format!(
            "The object tested most is {words}: {} of {} tests, and {hits} of them hit it.",
            of.tested, tests.tested
        )
    }));
    said
}

fn mean(sum: u64, of: u64) -> Cell {
    if of == 0 { Cell::Missing } else { Cell::Number(sum as f64 / of as f64) }
}

fn launches(context: &Context, events: &Events, stats: &[Stats]) -> Table {
    let row = |(l, s): (&crate::rays::events::Launch, &Stats)| {
        let [w, h, d] = l.size;
        let size = if d == 1 { format!("{w} x {h}") } else { format!("{w} x {h} x {d}") };
        let per: Vec<u64> = s.of_invocations.keys().copied().collect();
        vec![
            l.frame.into(),
            l.launch.into(),
            context.pipeline_words(l.pipeline).into(),
            size.into(),
            (l.code.len() as u64).into(),
            s.rays().into(),
            per.first().map_or(Cell::Missing, |n| Cell::Count(*n)),
            mean(s.rays(), l.threads() as u64),
            per.last().map_or(Cell::Missing, |n| Cell::Count(*n)),
            if l.missing.is_empty() { Cell::Missing } else { l.missing.as_str().into() },
        ]
    };
    columns::LAUNCHES.table(events.launches.iter().zip(stats).map(row))
}

fn outcome_cells(s: &stats::Rays) -> Vec<Cell> {
    let rays = s.rays();
    let [miss, closest, implicit, unknown] = s.outcomes;
    vec![
        rays.into(),
        miss.into(),
        closest.into(),
        implicit.into(),
        unknown.into(),
        Cell::share(s.hits(), rays),
        mean(s.intersections, rays),
        mean(s.any_hits, rays),
    ]
}

fn depths(whole: &Stats) -> Table {
    let rows = whole.depths.iter().enumerate();
    let row =
        |(depth, s): (usize, &stats::Rays)| [Cell::Count(depth as u64)].into_iter().chain(outcome_cells(s));
    columns::DEPTHS.table(rows.map(|r| row(r).collect()))
}

fn calls(context: &Context, events: &Events, whole: &Stats) -> Table {
    let rows = events.codes.iter().zip(&whole.calls).filter(|(c, _)| c.kind.begins());
    let row = |(c, s): (&crate::rays::events::Code, &stats::Rays)| {
        let mut cells = context.entry_cells(c.entry.into());
        cells.extend([Cell::Count(c.place.into()), c.kind.name().into()]);
        cells.extend(outcome_cells(s));
        cells
    };
    columns::CALLS.table(rows.map(row))
}

fn kinds(whole: &Stats) -> Table {
    let rows = RayEvent::ALL.into_iter().filter(|k| whole.kinds[*k as usize].count > 0);
    let row = |k: RayEvent| vec![k.name().into(), whole.kinds[k as usize].count.into()];
    columns::EVENTS.table(rows.map(row))
}

fn distances(whole: &Stats) -> Table {
    let with = [
        RayEvent::Begin,
        RayEvent::OcclusionBegin,
        RayEvent::Intersection,
        RayEvent::ReportIntersection,
        RayEvent::AnyHit,
        RayEvent::ClosestHit,
    ];
    let rows = with.into_iter().filter(|k| whole.kinds[*k as usize].count > 0).map(|k| {
        let s = &whole.kinds[k as usize];
        let number = |x: f64| if s.finite > 0 { Cell::Number(x) } else { Cell::Missing };
        vec![
            k.name().into(),
            s.finite.into(),
            number(s.least.into()),
            number(s.sum / s.finite as f64),
            number(s.greatest.into()),
            (s.count - s.finite).into(),
        ]
    });
    columns::DISTANCES.table(rows)
}

fn objects(events: &Events, whole: &Stats) -> Table {
    let cells = |s: &stats::Tests| {
        vec![
            s.tested.into(),
            s.reported.into(),
            Cell::share(s.reported, s.tested),
            s.any_hits.into(),
            s.closest_hits.into(),
        ]
    };
    let mut all = stats::Tests::default();
    whole.objects.iter().for_each(|s| all.add(s));
    let mut order: Vec<usize> = (0..whole.objects.len()).collect();
    order.sort_by_key(|o| {
        let s = &whole.objects[*o];
        (std::cmp::Reverse(s.tested + s.any_hits + s.closest_hits), *o)
    });
    let mut rows =
        vec![[Cell::from("all"), Cell::Missing, Cell::Missing].into_iter().chain(cells(&all)).collect()];
    rows.extend(order.into_iter().take(TOP).map(|o| {
        let name = events.objects[o];
        let words = [name.instance, name.geometry, name.primitive].map(|n| match n {
            u32::MAX => Cell::Missing,
            n => n.to_string().into(),
        });
        words.into_iter().chain(cells(&whole.objects[o])).collect()
    }));
    columns::OBJECTS.table(rows)
}

fn law_table(laws: &[Law]) -> Table {
    let row = |l: &Law| {
        vec![
            l.name.into(),
            l.of.as_str().into(),
            l.left_words.into(),
            l.left.into(),
            l.right_words.into(),
            l.right.into(),
            if l.holds() { "yes" } else { "no" }.into(),
        ]
    };
    columns::LAWS.table(laws.iter().map(row))
}

fn series(whole: &Stats) -> Vec<Series> {
    let per = whole.of_invocations.iter().map(|(n, count)| (Cell::Count(*n), Cell::Count(*count)));
    let hits =
        whole.hits.iter().map(|(t, count)| (Cell::Number(stats::bucket_begin(*t)), Cell::Count(*count)));
    vec![
        columns::RAYS_OF_INVOCATIONS.series("Rays of an invocation", Mark::Bars, per),
        columns::DISTANCES_OF_HITS.series("Distances of closest hits", Mark::Bars, hits),
    ]
}
