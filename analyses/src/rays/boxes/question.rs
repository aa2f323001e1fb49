//! Question `unnecessary-tests`: the sums by launch, shader, object and call. Definitions are in `mod.rs`.

use super::columns;
use super::{Judged, Sums, judge};
use crate::context::Context;
use crate::rays::events::{Events, Wants};
use crate::report::{Cell, Report, Table, counted, most, share};
use crate::{Question, Session};
use trace::Unreadable;
use trace::tables::{RAY_LAUNCHES, RAYS};

/// The question.
pub static QUESTION: Question = Question {
    name: "unnecessary-tests",
    about: "intersection and any-hit tests that rays would not have needed, and whether boxes overlap (R1) or the device's own \
         structure or order is why (R2, R3)",
    wants: &[&RAY_LAUNCHES, &RAYS],
    sheets: columns::SHEETS,
    events: Some(Wants { places: false, ticks: false }),
    answer,
};

/// Objects that are listed: those with the most unnecessary tests.
const TOP: usize = 50;
/// Calls whose hits a top level explains less often than this are said, in percent.
const WELL: f64 = 99.0;

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let context = session.context()?;
    let events = session.events()?;
    let judged = judge(trace, events)?;
    let mut report = Report::new(QUESTION.name, "Unnecessary intersection tests");
    report.headlines = headlines(events, &judged);
    report.tables =
        vec![launches(events, &judged), shaders(context, events, &judged), objects(events, &judged)];
    report.tables.extend(judged.scenes.as_ref().map(|_| calls(context, events, &judged)));
    report.notes = notes(events, &judged);
    Ok(report)
}

/// How many tests nobody needed and why, and of which object most are.
fn headlines(events: &Events, judged: &Judged) -> Vec<String> {
    let mut all = Sums::default();
    judged.launches.iter().for_each(|l| all.add(&l.sums));
    if all.judged == 0 {
        return vec![];
    }
    let why = match judged.scenes {
        Some(_) => format!(
            ": {} that boxes as the application gave them bring about (R1), {} that the device added (R2, R3)",
            all.r1(),
            all.r23()
        ),
        None => String::new(),
    };
    let (tests, unnecessary) = (counted(all.judged, "judged test"), all.unnecessary());
    let mut said = vec![format!("{} of {tests} were unnecessary{why}.", share(unnecessary, all.judged))];
    said.extend(most(events.objects.iter().zip(&judged.objects), |o| o.1.unnecessary()).map(
        |(object, s)| {
            format!("Most of these, {} of {unnecessary}, are of {}.", s.unnecessary(), object.words())
        },
    ));
    said
}

fn cells(s: &Sums) -> Vec<Cell> {
    let open = s.farther_open + s.missed_open;
    let numbers = [
        s.tests,
        s.needed,
        s.farther[0],
        s.farther[1],
        s.missed[0],
        s.missed[1],
        s.repeated,
        s.r1(),
        s.r23(),
        open,
        s.unnecessary(),
    ];
    let mut all: Vec<Cell> = numbers.into_iter().map(Cell::Count).collect();
    all.push(Cell::share(s.unnecessary(), s.judged));
    all
}

fn launches(events: &Events, judged: &Judged) -> Table {
    let rows = events.launches.iter().zip(&judged.launches).map(|(l, s)| {
        let mut row: Vec<Cell> =
            [l.frame, l.launch, s.rays, s.judged_rays].into_iter().map(Cell::Count).collect();
        row.extend(cells(&s.sums));
        row.extend([s.ideal, s.ideal_only, s.guessed].map(|n| match &judged.scenes {
            Some(_) => Cell::Count(n),
            None => Cell::Missing,
        }));
        row
    });
    columns::LAUNCHES.table(rows)
}

fn shaders(context: &Context, events: &Events, judged: &Judged) -> Table {
    let mut by_entry: std::collections::BTreeMap<u32, Sums> = Default::default();
    for (code, s) in events.codes.iter().zip(&judged.codes).filter(|(_, s)| s.tests > 0) {
        by_entry.entry(code.entry).or_default().add(s);
    }
    let rows = by_entry.iter().map(|(entry, s)| {
        let mut row = context.entry_cells(u64::from(*entry));
        row.extend(cells(s));
        row
    });
    columns::SHADERS.table(rows)
}

fn objects(events: &Events, judged: &Judged) -> Table {
    let mut all: Vec<_> = events.objects.iter().zip(&judged.objects).filter(|(_, s)| s.tests > 0).collect();
    all.sort_by_key(|(o, s)| (u64::MAX - s.unnecessary(), u64::MAX - s.tests, **o));
    let number = |n: u32| if n == u32::MAX { Cell::Missing } else { Cell::Count(n.into()) };
    let rows = all.into_iter().take(TOP).map(|(o, s)| {
        let mut row = vec![number(o.instance), number(o.geometry), number(o.primitive)];
        row.push(Cell::share(s.hit, s.tests));
        row.extend(cells(s));
        row
    });
    columns::OBJECTS.table(rows)
}

/// Which top level the rays of each call go through.
fn calls(context: &Context, events: &Events, judged: &Judged) -> Table {
    let mut rows = vec![];
    for (l, s) in events.launches.iter().zip(&judged.launches) {
        for (code, (top, hits)) in &s.tops {
            let code = events.codes[usize::from(*code)];
            let top = judged.scenes.as_ref().map_or(0, |s| s.tops[*top].structure);
            rows.push(vec![
                l.frame.into(),
                l.launch.into(),
                Cell::Text(context.entry_words(u64::from(code.entry))),
                Cell::Count(code.place.into()),
                top.into(),
                Cell::Count(s.candidates as u64),
                hits.of.into(),
                Cell::share(hits.explained, hits.of),
            ]);
        }
    }
    columns::CALLS.table(rows)
}

fn notes(events: &Events, judged: &Judged) -> Vec<String> {
    let mut notes = vec![];
    match &judged.scenes {
        None => notes.push(
            "The trace holds no geometry, so that no test has a class: record it with pass rays, or with --geometry."
                .into(),
        ),
        Some(scenes) => {
            notes.extend(scenes.missing.iter().map(|m| format!("Not known: {m}.")));
            let unknown: u64 = scenes.tops.iter().map(|t| t.unknown).sum();
            if unknown > 0 {
                notes.push(format!("{unknown} instances refer to bottom levels that are not known."));
            }
        }
    }
    for (l, s) in events.launches.iter().zip(&judged.launches) {
        if s.rays > s.judged_rays {
            notes.push(format!(
                "{}: {} of {} rays are not judged: they end at their first hit, or their final hit is not known.",
                l.words(),
                s.rays - s.judged_rays,
                s.rays
            ));
        }
        if judged.scenes.is_some() && s.candidates == 0 {
            notes.push(format!("{}: no top level was there.", l.words()));
        }
        for (top, hits) in s.tops.values() {
            let well = 100.0 * hits.explained as f64 / hits.of.max(1) as f64;
            let number = judged.scenes.as_ref().map_or(0, |s| s.tops[*top].structure);
            if well < WELL {
                notes.push(format!(
                    "{}: {well:.1} % of the hits looked at lie in their boxes of top level {number}: it may be another, or \
                     shaders report hits outside of boxes.",
                    l.words()
                ));
            }
        }
        if !l.missing.is_empty() {
            notes.push(format!("{}: no events of {}.", l.words(), l.missing));
        }
    }
    notes
}
