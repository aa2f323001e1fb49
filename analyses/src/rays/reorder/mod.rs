//! Simulated shader execution reordering: what SIMT efficiency would be if invocations were put into other subgroups each time
//! before a miss or closest-hit shader is executed (Cheung 2024, §3.7.4).
//!
//! Each invocation's calls are cut before every miss and closest hit. The pieces are executed in *stages*: in the first all up to
//! their first miss or closest hit, in the second from there to the next, and so on. Before each stage but the first those
//! that go on are sorted by
//!
//! 1. the shader that is to be executed: misses before closest hits, then by number;
//! 2. hint bits, if there are any: the low bits of the instance, geometry or primitive that was hit, as a number;
//! 3. the cell of space that was hit, if cells have a size: cubes in Morton order;
//! 4. the place that they have: subgroup, then lane.
//!
//! and cut into full subgroups. In its new subgroup an invocation keeps its lane if nobody before it in this order has it; the
//! others fill the lanes that are left. Who has nothing more to do leaves; the last subgroup may not be full. Only invocations
//! of one *window* mix: so many subgroups in a row, as they were recorded. Pieces are executed by Replayer's rules.
//!
//! *Caveats.* All of a window wait for each other before each stage, which no device has to do; what reordering itself costs is in
//! no number. How a device uses the place that was hit is not known: cells are one way. Callables stay where they are.

mod simulate;
#[cfg(test)]
mod tests;

pub use simulate::{Hints, Options, Placed, Window, simulate, stages};

use crate::context::columns::LAUNCH;
use crate::rays::events::{Events, Launch, Wants};
use crate::rays::repack::heaviest;
use crate::rays::replayer::{Packing, Replayer};
use crate::report::Unit::{Count, Percent, Subgroups, Text};
use crate::report::sheet::{Sheet, m, sheet};
use crate::report::{Cell, Report, most, percent};
use crate::{Question, Session};
use trace::Unreadable;
use trace::tables::{RAY_LAUNCHES, RAYS};

/// The question.
pub static QUESTION: Question = Question {
    name: "reorder",
    about: "SIMT efficiency if invocations were reordered before miss and closest-hit shaders",
    wants: &[&RAY_LAUNCHES, &RAYS],
    sheets: &[SHEET],
    events: Some(WANTS),
    answer,
};

/// A side of cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    /// The place that was hit is not looked at.
    None,
    /// A part of the launch's extent ([`CELLS`]).
    Auto,
    /// So long.
    Of(f32),
}

/// What is tried: each window with each side and each kind of hints.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Subgroups whose invocations mix; none: all of the launch.
    pub windows: Vec<Option<usize>>,
    /// Bits of hints.
    pub hints: Vec<Hints>,
    /// Sides of cells.
    pub cells: Vec<Side>,
}

impl Default for Grid {
    fn default() -> Self {
        Grid {
            windows: vec![Some(4), Some(32), Some(256), None],
            hints: vec![Hints::None, Hints::Instance(8)],
            cells: vec![Side::None, Side::Auto],
        }
    }
}

/// A cell's side is this part of the longest side of the box around all hits.
pub const CELLS: f32 = 32.0;

/// What it wants to know of events.
const WANTS: Wants = Wants { places: true, ticks: false };

/// The table: what a row is, and each column with its unit and meaning.
const SHEET: Sheet = sheet(
    "reordering",
    "a way of reordering a launch",
    &[
        LAUNCH,
        &[
            m("window", Text, "subgroups whose invocations may mix"),
            m("hints", Text, "low bits of what was hit that are handed over"),
            m("cell", Text, "side of the cubes of space that are told apart"),
            m("stages", Count, "pieces that the longest invocation is cut into"),
            m(
                "synthetic events",
                Subgroups,
                "events that subgroups would have, reordered so and ideally scheduled",
            ),
            m("synthetic SIMT efficiency", Percent, "active invocations over these times the subgroup size"),
            m("against none", Percent, "change of that efficiency against no reordering"),
        ],
    ],
);

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let events = session.events()?;
    Ok(report(events, &Grid::default()))
}

/// Every launch with everything of a grid; events have to have been read with their places.
pub fn report(events: &Events, grid: &Grid) -> Report {
    let mut report = Report::new(QUESTION.name, "Simulated shader execution reordering");
    let mut rows = vec![];
    for launch in &events.launches {
        let replayer = Replayer::new(events, launch);
        let recorded = Packing::recorded(launch);
        let before = replayer.efficiency(&recorded);
        let number = |n: Option<f64>| n.map_or(Cell::Missing, Cell::Number);
        let row = |of: [String; 3], stages: u64, e: &crate::rays::replayer::Efficiency| {
            let change = e.percent().zip(before.percent()).map(|(a, b)| 100.0 * (a / b - 1.0));
            let mut cells: Vec<Cell> = vec![launch.frame.into(), launch.launch.into()];
            cells.extend(of.map(Cell::Text));
            cells.extend([
                stages.into(),
                e.counted.synthetic.events.into(),
                number(e.percent()),
                number(change),
            ]);
            cells
        };
        rows.push(row(["no reordering", "–", "–"].map(String::from), 1, &before));
        let stages = stages(launch, events);
        let of_launch = cell(launch);
        // (a window of more subgroups than there are is all of them)
        let mut windows: Vec<_> = grid.windows.iter().map(|w| w.filter(|w| *w < recorded.len())).collect();
        windows.dedup();
        for window in windows {
            for side in &grid.cells {
                for &hints in &grid.hints {
                    let cell = match side {
                        Side::None => 0.0,
                        Side::Auto => of_launch,
                        Side::Of(side) => *side,
                    };
                    let e = simulate(events, launch, &replayer, &Options { window, hints, cell });
                    let window = window.map_or_else(|| "all".to_owned(), |w| format!("{w} subgroups"));
                    let side = if cell > 0.0 { format!("{cell:.3}") } else { "–".into() };
                    rows.push(row([window, hints.words(), side], stages, &e));
                }
            }
        }
    }
    report.headlines.extend(headline(&rows));
    report.tables = vec![SHEET.table(rows)];
    report.notes.push(
        "All of a window wait for each other before each stage, and what reordering costs is in no number: a device \
         reaches less."
            .into(),
    );
    report
}

/// What the best of the grid would gain where most is executed.
fn headline(rows: &[Vec<Cell>]) -> Option<String> {
    let all = heaviest(rows, 6);
    let place = format!("frame {}, launch {}", all.first()?[0].number()?, all.first()?[1].number()?);
    let Some(best) = most(all, |r| r[8].number().unwrap_or(0.0)) else {
        return Some(format!("Reordering would not raise SIMT efficiency in {place}."));
    };
    let [Cell::Text(window), Cell::Text(hints), Cell::Text(cell)] = &best[2..5] else { return None };
    let [after, gain] = [7, 8].map(|column: usize| best[column].number());
    let [after, gain] = [percent(after?), percent(gain?)];
    // (a dash is what the grid did without)
    let with = [("window", window), ("hints", hints), ("cells", cell)].into_iter().filter(|of| of.1 != "–");
    let with: Vec<String> = with.map(|(name, of)| format!("{name} {of}")).collect();
    let with = with.join(", ");
    Some(format!("Reordering would raise SIMT efficiency by {gain}, to {after}, in {place}: {with}."))
}

/// A cell's side for a launch; 0 if its hits have no extent.
fn cell(launch: &Launch) -> f32 {
    let side = |k: usize| {
        let all = launch.places.iter().map(|p| p[k]).filter(|x| x.is_finite());
        let (low, high) = all.fold((f32::INFINITY, f32::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        (high - low).max(0.0)
    };
    let longest = (0..3).map(side).fold(0.0, f32::max);
    if longest.is_finite() { longest / CELLS } else { 0.0 }
}
