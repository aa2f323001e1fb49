//! Maps of launches: a value for each invocation, as pictures and as numbers (Cheung 2024, §3.5).
//!
//! | map | value of an invocation |
//! |---|---|
//! | rays | rays it traced |
//! | intersections | intersection shaders entered |
//! | any_hits | any-hit shaders entered |
//! | unnecessary | tests of objects that lie farther than the hit that its ray ended with |
//! | unnecessary_r1, unnecessary_r2r3 | tests that its rays did not need, by class: [`crate::rays::boxes`] |
//! | efficiency | synthetic SIMT efficiency of its subgroup (Replayer's, with the recorded subgroups) |
//! | time | ticks from its first event to its last, where clocks were recorded |
//! | sm, warp | the multiprocessor of its last event, and its place there, where the device says it (VK_NV_shader_sm_builtins) |
//!
//! *Unnecessary tests* are what would not have been had the ray met objects in the order of their distance: any-hits whose
//! distance is greater than the final hit's; and intersections that reported such a distance where no any-hit shader followed
//! (with one, it is that which counts). Only rays whose final hit is known have any: closest hits, and implicit hits whose
//! intersection was seen; rays that ended at their first hit are not looked at, as order is not theirs to choose. Why a test
//! was unnecessary (overlapping boxes, or the device's own structure) the two maps behind it say, where the trace holds
//! geometry; they count tests of what was not hit at all, too, and an intersection shader with its any-hit shader once.
//!
//! Each map is a picture with a scale, and `MAP_frameF_launchL.npy` (32-bit floats, rows from the top). Maps in which nothing
//! is different from 0 are left out (`sm` and `warp`: in which nothing is known). Launches deeper than one layer are drawn layer below layer.

#[cfg(test)]
mod tests;

use crate::context::columns::LAUNCH;
use crate::limits;
use crate::rays::events::{CHUNK, Events, Launch, NO, Outcome, Walk, Wants};
use crate::rays::repack::npy;
use crate::rays::replayer::{Packing, Replayer};
use crate::report::Unit::{Ratio, Text};
use crate::report::sheet::{Sheet, m, sheet};
use crate::report::{Cell, Column, File, Image, Report, Unit, most};
use crate::{Question, Session};
use rayon::prelude::*;
use trace::Unreadable;
use trace::tables::{RAY_LAUNCHES, RAYS, RayEvent};

/// The question.
pub static QUESTION: Question = Question {
    name: "ray-maps",
    about: "maps of launches: rays, intersections, any-hits, unnecessary tests, efficiency, time per invocation",
    wants: &[&RAY_LAUNCHES, &RAYS],
    sheets: &[SHEET],
    events: Some(WANTS),
    answer,
};

/// Launches that are drawn: the first.
const PICTURES: usize = 8;

/// What an invocation did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rays traced.
    pub rays: u32,
    /// Intersection shaders entered.
    pub intersections: u32,
    /// Any-hit shaders entered.
    pub any_hits: u32,
    /// Tests of what lies behind the final hit.
    pub unnecessary: u32,
}

/// What it wants to know of events.
const WANTS: Wants = Wants { places: false, ticks: true };

/// The table: what a row is, and each column with its unit and meaning.
const SHEET: Sheet = sheet(
    "maps",
    "a map of a launch",
    &[
        LAUNCH,
        &[
            m("map", Text, "which: the table above says what a pixel is"),
            m("least", Ratio, "the least value of an invocation"),
            m("mean", Ratio, "the mean over invocations"),
            m("greatest", Ratio, "the greatest"),
            m("sum", Ratio, "over all invocations"),
        ],
    ],
);

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let events = session.events()?;
    let classes = crate::rays::boxes::maps(trace, events)?;
    let mut report = Report::new(QUESTION.name, "Maps of launches");
    let (mut rows, mut drawn, mut values_drawn) = (vec![], 0, 0);
    for (number, launch) in events.launches.iter().enumerate() {
        let maps = maps(events, launch, &classes[number]);
        values_drawn += maps.iter().map(|m| m.2.len()).sum::<usize>();
        let draws = number < PICTURES && values_drawn <= limits::MAP_VALUES;
        drawn += usize::from(draws);
        for (name, column, values) in maps {
            rows.push(row(launch, name, &values));
            if draws && !values.is_empty() {
                let stem = format!("{name}_frame{}_launch{}", launch.frame, launch.launch);
                let [w, h, d] = launch.size;
                let bytes = values.iter().flat_map(|v| v.to_le_bytes());
                report.files.push(File {
                    name: format!("{stem}.npy"),
                    about: format!("{} of each invocation, {}", column.name, launch.words()),
                    content: npy("<f4", &[(h * d) as usize, w as usize], bytes),
                });
                report.images.push(Image {
                    name: stem,
                    title: format!("{}, {}", column.name, launch.words()),
                    value: column,
                    width: w,
                    height: h * d,
                    pixels: values,
                });
            }
        }
    }
    report.headlines.extend(headline(&rows));
    report.tables = vec![SHEET.table(rows)];
    if events.launches.len() > drawn {
        report.notes.push(format!("Of {} launches the first {drawn} are drawn.", events.launches.len()));
    }
    Ok(report)
}

/// The launch with most rays, and how they are spread over its invocations.
fn headline(rows: &[Vec<Cell>]) -> Option<String> {
    let rays = rows.iter().filter(|r| r[2] == "rays".into());
    let row = most(rays, |r| r[6].number().unwrap_or(0.0))?;
    let [frame, launch, mean, greatest, sum] = [0, 1, 4, 5, 6].map(|column: usize| row[column].number());
    Some(format!(
        "Most rays are of frame {}, launch {}: {}, {:.2} of an invocation on average and {} at most.",
        frame?, launch?, sum?, mean?, greatest?
    ))
}

fn row(launch: &Launch, name: &str, values: &[f32]) -> Vec<Cell> {
    let known = || values.iter().filter(|v| v.is_finite()).map(|v| f64::from(*v));
    let (count, sum) = (known().count(), known().sum::<f64>());
    let number = |x: f64| if count > 0 { Cell::Number(x) } else { Cell::Missing };
    vec![
        launch.frame.into(),
        launch.launch.into(),
        name.into(),
        number(known().fold(f64::INFINITY, f64::min)),
        number(sum / count.max(1) as f64),
        number(known().fold(f64::NEG_INFINITY, f64::max)),
        number(sum),
    ]
}

/// Every map of a launch that shows anything.
fn maps(events: &Events, launch: &Launch, classes: &[[u32; 2]]) -> Vec<(&'static str, Column, Vec<f32>)> {
    let counts = counts(events, launch);
    let of = |f: fn(&Counts) -> u32| counts.iter().map(|c| f(c) as f32).collect::<Vec<f32>>();
    let count = |name: &str| Column::new(name, Unit::Count);
    let replayer = Replayer::new(events, launch);
    let mut efficiency = vec![f32::NAN; launch.threads()];
    let recorded = Packing::recorded(launch);
    let percents: Vec<f32> = (0..recorded.len())
        .into_par_iter()
        .map_init(
            || replayer.scratch(),
            |scratch, w| {
                let e = replayer.efficiency_of(&recorded, w..w + 1, scratch);
                e.percent().map_or(f32::NAN, |p| p as f32)
            },
        )
        .collect();
    for (w, percent) in percents.into_iter().enumerate() {
        recorded.warp(w).iter().for_each(|t| efficiency[*t as usize] = percent);
    }
    let class = |n: usize| classes.iter().map(|c| c[n] as f32).collect::<Vec<f32>>();
    let all = vec![
        ("rays", count("rays"), of(|c| c.rays)),
        ("intersections", count("intersection shaders"), of(|c| c.intersections)),
        ("any_hits", count("any-hit shaders"), of(|c| c.any_hits)),
        ("unnecessary", count("unnecessary tests"), of(|c| c.unnecessary)),
        ("unnecessary_r1", count("unnecessary tests of class R1"), class(0)),
        ("unnecessary_r2r3", count("unnecessary tests of class R2 or R3"), class(1)),
        ("efficiency", Column::new("SIMT efficiency", Unit::Percent), efficiency),
        ("time", Column::new("time", Unit::Cycles), launch.ticks.iter().map(|t| *t as f32).collect()),
    ];
    let place = |n: usize| -> Vec<f32> {
        launch.last_place.iter().map(|p| if p[n] == NO { f32::NAN } else { p[n] as f32 }).collect()
    };
    let places =
        [("sm", count("multiprocessor"), place(0)), ("warp", count("place on the multiprocessor"), place(1))];
    let shown = all.into_iter().filter(|(_, _, v)| v.iter().any(|v| *v > 0.0));
    shown.chain(places.into_iter().filter(|(_, _, v)| v.iter().any(|v| v.is_finite()))).collect()
}

/// What each invocation did.
pub fn counts(events: &Events, launch: &Launch) -> Vec<Counts> {
    let chunks = launch.threads().div_ceil(CHUNK);
    let all: Vec<Vec<Counts>> = (0..chunks)
        .into_par_iter()
        .map_init(Walk::default, |walk, chunk| {
            let threads = chunk * CHUNK..((chunk + 1) * CHUNK).min(launch.threads());
            threads.map(|t| of_invocation(events, launch, walk, t)).collect()
        })
        .collect();
    all.concat()
}

fn of_invocation(events: &Events, launch: &Launch, walk: &mut Walk, thread: usize) -> Counts {
    walk.walk(launch, &events.codes, thread);
    let mut c = Counts { rays: walk.rays.len() as u32, ..Counts::default() };
    for ray in &walk.rays {
        c.intersections += ray.intersections;
        c.any_hits += ray.any_hits;
        let last = ray.shader.unwrap_or(launch.starts[thread + 1]);
        let known = matches!(ray.outcome, Outcome::ClosestHit | Outcome::ImplicitHit);
        // (an occlusion ray without any-hit shader may have ended at once: its final hit is not the closest)
        if let Some(t) = ray.t.filter(|_| known && !ray.occlusion && !ray.terminated) {
            c.unnecessary += unnecessary(events, launch, ray.begin + 1..last, t);
        }
    }
    c
}

/// Tests of one ray, whose traversal these events are, of what lies farther than this.
fn unnecessary(events: &Events, launch: &Launch, of: std::ops::Range<usize>, t: f32) -> u32 {
    let kind = |at: usize| events.codes[usize::from(launch.code[at])].kind;
    let mut count = 0;
    for at in of.clone() {
        match kind(at) {
            RayEvent::AnyHit => count += u32::from(launch.t[at] > t),
            RayEvent::ReportIntersection => {
                let looked_at = of.contains(&(at + 1)) && kind(at + 1) == RayEvent::AnyHit;
                count += u32::from(!looked_at && launch.t[at] > t);
            }
            RayEvent::End => break,
            _ => {}
        }
    }
    count
}
