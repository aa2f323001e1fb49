//! The question: what every method would do for each launch.

use super::methods::METHODS;
use super::work::{Method, Options, TILE, Work};
use crate::context::columns::LAUNCH;
use crate::rays::events::{Events, Wants};
use crate::rays::replayer::Packing;
use crate::report::Unit::{Percent, Ratio, Subgroups, Text};
use crate::report::sheet::{Sheet, m, sheet};
use crate::report::{Cell, Report, most, percent};
use crate::{Question, Session};
use rayon::prelude::*;
use trace::Unreadable;
use trace::swizzle::Swizzle;
use trace::tables::{RAY_LAUNCHES, RAYS};

/// The question.
pub static QUESTION: Question = Question {
    name: "repack",
    about: "SIMT efficiency that subgroups would have if invocations were sorted into them otherwise",
    wants: &[&RAY_LAUNCHES, &RAYS],
    sheets: &[SHEET],
    events: Some(WANTS),
    answer,
};

/// The mean distance of a subgroup's work from its centre, in pixels.
pub fn spread(work: &Work<'_>, packing: &Packing) -> f64 {
    // (of so many subgroups at once, added up in their order)
    const PORTION: usize = 1 << 12;
    let portions: Vec<f64> = (0..packing.len().div_ceil(PORTION))
        .into_par_iter()
        .map(|p| {
            let warps = p * PORTION..((p + 1) * PORTION).min(packing.len());
            let mut sum = 0.0;
            for warp in warps {
                let pixels: Vec<[f64; 2]> = (packing.warp(warp).iter())
                    .map(|&t| work.launch.pixel(t as usize))
                    .map(|[x, y, _]| [f64::from(x), f64::from(y)])
                    .collect();
                let n = pixels.len() as f64;
                let centre = [0, 1].map(|k| pixels.iter().map(|p| p[k]).sum::<f64>() / n);
                sum += pixels.iter().map(|p| (p[0] - centre[0]).hypot(p[1] - centre[1])).sum::<f64>() / n;
            }
            sum
        })
        .collect();
    portions.iter().sum::<f64>() / packing.len().max(1) as f64
}

/// Each method's line for each launch; `take` gets the swizzles.
pub fn rows(
    events: &Events,
    options: &Options,
    methods: &[&dyn Method],
    take: &mut dyn FnMut(Swizzle),
) -> Vec<Vec<Cell>> {
    let mut rows = vec![];
    for launch in &events.launches {
        let work = Work::new(events, launch);
        let before = work.replayer.efficiency(&work.recorded).percent();
        for method in methods {
            let (swizzle, packing) = work.packing(*method, options);
            let e = work.replayer.efficiency(&packing);
            let number = |n: Option<f64>| n.map_or(Cell::Missing, Cell::Number);
            let change = e.percent().zip(before).map(|(after, before)| 100.0 * (after / before - 1.0));
            let moved = swizzle.indices.iter().enumerate().filter(|(i, s)| *i != **s as usize).count();
            let of = swizzle.indices.len();
            rows.push(vec![
                launch.frame.into(),
                launch.launch.into(),
                method.name().into(),
                e.counted.synthetic.events.into(),
                number(e.percent()),
                number(change),
                Cell::Number(spread(&work, &packing)),
                number((of > 0).then(|| 100.0 * moved as f64 / of as f64)),
            ]);
            take(swizzle);
        }
    }
    rows
}

/// What every method would do, from its lines.
pub fn report(rows: Vec<Vec<Cell>>) -> Report {
    let mut report = Report::new(QUESTION.name, "Repacking");
    report.headlines.extend(headline(&rows));
    report.tables = vec![SHEET.table(rows)];
    report
}

/// Lines of the launch that executes most events; `events`: the column that says how many.
pub(crate) fn heaviest(rows: &[Vec<Cell>], events: usize) -> Vec<&Vec<Cell>> {
    let launch = most(rows, |r| r[events].number().unwrap_or(0.0)).map_or(&[][..], |r| &r[..2]);
    rows.iter().filter(|r| r[..2] == *launch).collect()
}

/// What the best method would gain where most is executed, and the next one.
fn headline(rows: &[Vec<Cell>]) -> Option<String> {
    let all = heaviest(rows, 3);
    let gain = |r: &&Vec<Cell>| r[5].number().unwrap_or(0.0);
    let words = |r: &Vec<Cell>| match (&r[2], r[5].number()) {
        (Cell::Text(name), Some(gain)) => Some((format!("`{name}`"), percent(gain))),
        _ => None,
    };
    let place = format!("frame {}, launch {}", all.first()?[0].number()?, all.first()?[1].number()?);
    let Some(best) = most(all.iter().copied(), gain) else {
        return Some(format!("No method would raise SIMT efficiency in {place}."));
    };
    let (name, gained) = words(best)?;
    // (the same subgroups in another order are no other efficiency)
    let next = most(all.into_iter().filter(|r| r[4] != best[4]), gain).and_then(words);
    let next = next.map_or_else(String::new, |(name, gained)| format!("; next is {name} with {gained}"));
    let after = percent(best[4].number()?);
    Some(format!("{name} would raise SIMT efficiency by {gained}, to {after}, in {place}{next}."))
}

/// What it wants to know of events.
const WANTS: Wants = Wants { places: false, ticks: false };

/// The table: what a row is, and each column with its unit and meaning.
const SHEET: Sheet = sheet(
    "methods",
    "a method for a launch",
    &[
        LAUNCH,
        &[
            m("method", Text, "how invocations are sorted"),
            m(
                "synthetic events",
                Subgroups,
                "events that subgroups would have, packed so and ideally scheduled",
            ),
            m("synthetic SIMT efficiency", Percent, "active invocations over these times the subgroup size"),
            m("against identity", Percent, "change of that efficiency against the subgroups as they were"),
            m("spread in pixels", Ratio, "mean distance of a subgroup's work from its centre"),
            m("moved", Percent, "invocations that do another one's work"),
        ],
    ],
);

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let events = session.events()?;
    let mut report = report(rows(events, &Options::DEFAULT, METHODS, &mut |_| {}));
    let [w, h] = TILE;
    report.notes.push(format!(
        "Efficiency is synthetic: what Replayer makes of the rays' events. Tiles are those that \
         question warp-order finds, and of {w} x {h} pixels where it finds none; `reray-replay rays repack` takes others, and writes the swizzles."
    ));
    Ok(report)
}
