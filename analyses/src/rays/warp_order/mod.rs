//! In which order a device executes subgroups, and which pixels are in one: a picture, and what can be seen on it (Cheung 2024,
//! §3.2.2).
//!
//! The picture's pixel is the invocation of that launch index, its value the number that its subgroup got when ray generation was
//! entered: the order in which subgroups began. What is found:
//!
//! - *Rectangle*: the box around a subgroup's pixels, of whole ones (N pixels, none missing) the most frequent; *agree* is the
//!   share of subgroups of the launch that have it.
//! - *Tile*: the largest square whose side is a power of two, such that tiles come one after the other, row by row, and inside
//!   each the quadrants come in one order; where there is none, the largest rectangle one of whose sides is twice the other. (A
//!   row of two squares in order 2-1-3-4 cannot be told from one rectangle in order 2-3-1-4, nor two rectangles that are twice as
//!   high as wide in order 2-1-3-4, as the thesis has them at 1024 x 500, from one square in order 2-3-1-4: they are called squares.) Subgroups *agree* with a tile if their number is in
//!   the range that their tile's would be if all tiles were executed row by row; with quadrants, if it is in the range that their
//!   quadrant's would be within the tile. Numbers are compared as ranks, as not every subgroup may have left events.
//! - *Quadrants*: 1 upper right, 2 upper left, 3 lower left, 4 lower right, in the order in which they are executed: that of the
//!   24 with which most subgroups agree, at the worse of two levels of halving.
//!
//! A tile is taken if at least [`ENOUGH`] agree with both. Where rectangles come row by row there are no tiles. Where none is
//! taken, the largest is that averages show (`averages.rs`): subgroups get their numbers as they begin, and those that begin at
//! the same time in any order, so that of tiles that hold no more than a device runs at once few subgroups agree with anything,
//! but their quadrants' means do. *Seen in* says which it was.
//!
//! *Caveats.* A launch of one tile can only be seen by its quadrants.

mod averages;
mod detect;
#[cfg(test)]
mod tests;

pub use detect::{ENOUGH, Found, Tile, detect};

use crate::context::columns::LAUNCH;
use crate::rays::events::{NO, Wants};
use crate::report::Unit::{Count, Percent, Text};
use crate::report::sheet::{Sheet, m, sheet};
use crate::report::{Cell, Column, Image, Report, Unit, most};
use crate::{Question, Session};
use std::collections::BTreeMap;
use trace::Unreadable;
use trace::tables::{RAY_LAUNCHES, RAYS};

/// The question.
pub static QUESTION: Question = Question {
    name: "warp-order",
    about: "which pixels are in a subgroup, and in which order subgroups are executed: rectangle, tile, quadrants",
    wants: &[&RAY_LAUNCHES, &RAYS],
    sheets: &[SHEET],
    events: Some(WANTS),
    answer,
};

/// Launches that are drawn: the first.
const PICTURES: usize = 8;

/// What it wants to know of events.
const WANTS: Wants = Wants { places: false, ticks: false };

/// The table: what a row is, and each column with its unit and meaning.
const SHEET: Sheet = sheet(
    "orders",
    "a launch",
    &[
        LAUNCH,
        &[
            m("size", Text, "pixels, width and height"),
            m("subgroups", Count, "subgroups that left events"),
            m("rectangle", Text, "pixels of a whole subgroup, the most frequent"),
            m("agree", Percent, "subgroups with this rectangle"),
            m("tile", Text, "the tile in which subgroups are executed, one tile after the other"),
            m("agree", Percent, "subgroups whose number is in their tile's range"),
            m(
                "quadrants",
                Text,
                "in which order a tile's quadrants are executed: 1 upper right, 2 upper left, 3 lower left, 4 lower right",
            ),
            m("agree", Percent, "subgroups whose number is in their quadrant's range"),
            m("seen in", Text, "each: in subgroups' numbers; averages: only in the means of quadrants"),
        ],
    ],
);

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let events = session.events()?;
    let mut report = Report::new(QUESTION.name, "Order of subgroups");
    let (mut rows, mut orders) = (vec![], BTreeMap::<String, u64>::new());
    for launch in &events.launches {
        let found = detect(launch);
        *orders.entry(found.words()).or_default() += 1;
        let share = |x: f64| Cell::Number(100.0 * x);
        let [w, h, _] = launch.size;
        let mut row: Vec<Cell> = vec![
            launch.frame.into(),
            launch.launch.into(),
            format!("{w} x {h}").into(),
            found.subgroups.into(),
            format!("{} x {}", found.rectangle[0], found.rectangle[1]).into(),
            share(found.rectangle_agrees),
        ];
        match &found.tile {
            Some(t) => row.extend([
                format!("{} x {}", t.size[0], t.size[1]).into(),
                share(t.agrees),
                t.quadrants.map(|q| q.to_string()).join("-").into(),
                share(t.quadrants_agree),
                if t.averages { "averages" } else { "each" }.into(),
            ]),
            None if found.rows_agree >= ENOUGH => {
                row.extend([
                    "none: row by row".into(),
                    share(found.rows_agree),
                    Cell::Missing,
                    Cell::Missing,
                    "each".into(),
                ]);
            }
            None => {
                row.extend(["not found".into(), Cell::Missing, Cell::Missing, Cell::Missing, Cell::Missing])
            }
        }
        rows.push(row);
    }
    let all = events.launches.len();
    report
        .headlines
        .extend(most(&orders, |o| *o.1).map(|(order, n)| format!("{order} (launches: {n} of {all}).")));
    let flat = |l: &&crate::rays::events::Launch| l.size[2] == 1 && !l.subgroup.is_empty();
    for launch in events.launches.iter().filter(flat).take(PICTURES) {
        report.images.push(Image {
            name: format!("frame_{}_launch_{}", launch.frame, launch.launch),
            title: format!("Order of subgroups, {}", launch.words()),
            value: Column::new("subgroup", Unit::Count),
            width: launch.size[0],
            height: launch.size[1],
            pixels: launch.subgroup.iter().map(|s| if *s == NO { f32::NAN } else { *s as f32 }).collect(),
        });
    }
    report.tables = vec![SHEET.table(rows)];
    Ok(report)
}
