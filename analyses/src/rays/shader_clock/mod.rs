//! How long each invocation of a ray generation shader took, and where on the device it ran (Cheung 2024, §3.7.4: shader-timing heat
//! maps and multiprocessors of each pixel, Figures 3.15 to 3.20). From pass `shader-clock`.
//!
//! | map | value of an invocation |
//! |---|---|
//! | shader_clock | ticks from its entry into the shader to its exit |
//! | sm | the multiprocessor that it left the shader on, behind its last ray |
//! | sm_first | the one that it entered on |
//! | warp | its place on the multiprocessor as it left |
//! | moved | 0: it left where it had entered; 1: at another place of the same multiprocessor; 2: on another one |
//! | sm_last | 1 where it left on the multiprocessor with the highest number, whose share of the work is so seen by itself |
//!
//! Of subgroups nothing is recorded. Invocations that read the same clock at the same place of the same multiprocessor as they
//! entered are taken for one: it is *in step* if all of them took the same number of ticks, and *together* if they left from
//! one place. What reordering repacks is not together, and what the device schedules apart not in step.
//!
//! *Caveats.* A place of a multiprocessor is given again when its subgroup is done, so that equal numbers do not mean the same
//! subgroup, nor other ones another. A subgroup's clock is that of whoever reads it: where invocations move, their ticks mean
//! nothing. Maps that show one number throughout are left out, and so are those of places where the device did not say any.

pub(crate) mod columns;
mod panels;
#[cfg(test)]
mod tests;

pub use panels::panels;

use crate::limits;
use crate::rays::repack::npy;
use crate::report::{Cell, Column, File, Image, Report, Unit, counted, most, percent};
use crate::stats::percentile;
use crate::{Question, Session};
use std::collections::{BTreeMap, HashMap};
use trace::tables::{NOWHERE, SHADER_CLOCK};
use trace::{Columns, Source, Unreadable};

/// The question.
pub static QUESTION: Question = Question {
    name: "shader-clock",
    about: "how long each invocation of ray generation shaders took, and on which multiprocessor: maps of each launch",
    wants: &[&SHADER_CLOCK],
    sheets: columns::SHEETS,
    events: None,
    answer,
};

/// Launches that are drawn: the first.
const PICTURES: usize = 8;

/// A launch: one value for each invocation, not a number where it left none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Launch {
    /// The capture's number of the frame.
    pub frame: u64,
    /// Which of the frame's.
    pub launch: u64,
    /// Width, height, depth.
    pub size: [u64; 3],
    /// Whose clock: device, or subgroup.
    pub clock: String,
    /// From the entry to the exit.
    pub ticks: Vec<f32>,
    /// The multiprocessor, and the place there, at the entry.
    pub first: Vec<[f32; 2]>,
    /// At the exit.
    pub last: Vec<[f32; 2]>,
    /// The clock at the entry.
    begins: Vec<u64>,
}

/// The launches of a trace, in their order.
pub fn read(trace: &dyn Source) -> Result<Vec<Launch>, Unreadable> {
    let mut launches: BTreeMap<(u64, u64), Launch> = BTreeMap::new();
    let mut rows = 0;
    trace.each_of(&SHADER_CLOCK, &["frame"], &mut |t| {
        rows += t.len() as u64;
        Ok(())
    })?;
    let mut left = limits::invocations(rows);
    trace.each(&SHADER_CLOCK, &mut |rows| put(rows, &mut launches, &mut left))?;
    Ok(launches.into_values().collect())
}

fn put(t: &Columns, launches: &mut BTreeMap<(u64, u64), Launch>, left: &mut u64) -> Result<(), Unreadable> {
    let names = ["frame", "launch", "width", "height", "depth", "invocation", "begin", "end"];
    let [frame, launch, width, height, depth, invocation, begin, end] = names.map(|n| t.u64(n));
    let [sm, warp, last_sm, last_warp] = ["sm", "warp", "last_sm", "last_warp"].map(|n| t.u64(n));
    for row in 0..t.len() {
        let key = (frame[row], launch[row]);
        let size = [width[row], height[row], depth[row]];
        let wrong = |what: String| {
            Unreadable(format!(
                "table shader_clock, frame {}, launch {}: {what}; record the trace again",
                key.0, key.1
            ))
        };
        let threads = size.iter().try_fold(1u64, |n, s| n.checked_mul(*s));
        let threads = threads.ok_or_else(|| wrong(format!("{size:?} invocations")))?;
        if !launches.contains_key(&key) {
            let too_many = || wrong(format!("{size:?} invocations are more than the rows account for"));
            *left = left.checked_sub(threads).ok_or_else(too_many)?;
        }
        let threads = threads as usize;
        let l = launches.entry(key).or_insert_with(|| Launch {
            frame: key.0,
            launch: key.1,
            size,
            clock: t.text("clock")[row].to_string(),
            ticks: vec![f32::NAN; threads],
            first: vec![[f32::NAN; 2]; threads],
            last: vec![[f32::NAN; 2]; threads],
            begins: vec![0; threads],
        });
        if l.size != size {
            return Err(wrong(format!("its size is {:?} and {size:?}", l.size)));
        }
        let at = usize::try_from(invocation[row]).unwrap_or(usize::MAX);
        let Some(ticks) = l.ticks.get_mut(at) else {
            return Err(wrong(format!("invocation {at} of {threads}")));
        };
        let place = |n: u64| if n == NOWHERE { f32::NAN } else { n as f32 };
        *ticks = end[row].saturating_sub(begin[row]) as f32;
        l.begins[at] = begin[row];
        l.first[at] = [place(sm[row]), place(warp[row])];
        l.last[at] = [place(last_sm[row]), place(last_warp[row])];
    }
    Ok(())
}

impl Launch {
    /// As words.
    pub fn words(&self) -> String {
        format!("frame {}, launch {}", self.frame, self.launch)
    }

    /// Whether the device said where invocations ran.
    fn placed(&self) -> bool {
        self.last.iter().any(|p| p[0].is_finite())
    }

    /// Invocations that left something, by number.
    fn there(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.ticks.len()).filter(|t| self.ticks[*t].is_finite())
    }

    /// 0: it left where it had entered; 1: elsewhere on the multiprocessor; 2: on another.
    fn moved(&self, thread: usize) -> f32 {
        let ([sm, warp], [last_sm, last_warp]) = (self.first[thread], self.last[thread]);
        if sm.is_nan() || last_sm.is_nan() {
            f32::NAN
        } else if sm != last_sm {
            2.0
        } else {
            f32::from(u8::from(warp != last_warp))
        }
    }

    /// The highest number of a multiprocessor that invocations left on.
    fn highest(&self) -> f32 {
        self.last.iter().map(|p| p[0]).fold(f32::NAN, f32::max)
    }

    /// Its maps: name, what a value is, values.
    pub fn maps(&self) -> Vec<(&'static str, Column, Vec<f32>)> {
        let each = |f: &dyn Fn(usize) -> f32| (0..self.ticks.len()).map(f).collect::<Vec<f32>>();
        let count = |name: &str| Column::new(name, Unit::Count);
        let mut all = vec![("shader_clock", Column::new("time", Unit::Cycles), self.ticks.clone())];
        if self.placed() {
            let highest = self.highest();
            let is_highest = |t: usize| match self.last[t][0] {
                sm if sm.is_nan() => f32::NAN,
                sm => f32::from(u8::from(sm == highest)),
            };
            all.extend([
                ("sm", count("multiprocessor"), each(&|t| self.last[t][0])),
                ("sm_first", count("multiprocessor at the entry"), each(&|t| self.first[t][0])),
                ("warp", count("place on the multiprocessor"), each(&|t| self.last[t][1])),
                ("moved", count("moved"), each(&|t| self.moved(t))),
                ("sm_last", count(&format!("on multiprocessor {highest}")), each(&is_highest)),
            ]);
        }
        all
    }

    /// A map as a picture.
    pub fn image(&self, name: &str, value: Column, pixels: Vec<f32>) -> Image {
        Image {
            name: format!("{name}_frame{}_launch{}", self.frame, self.launch),
            title: format!("{}, {}", value.name, self.words()),
            value,
            width: self.size[0] as u32,
            height: (self.size[1] * self.size[2]) as u32,
            pixels,
        }
    }

    /// All its time, in ticks.
    fn sum(&self) -> f64 {
        self.there().map(|t| f64::from(self.ticks[t])).sum()
    }

    /// What the table says of it, behind its name: under `CLOCK`.
    pub fn row(&self) -> Vec<Cell> {
        let mut ticks: Vec<f64> = self.there().map(|t| self.ticks[t].into()).collect();
        ticks.sort_by(f64::total_cmp);
        let n = ticks.len();
        let at = |p: f64| percentile(&ticks, p).map_or(Cell::Missing, Cell::Number);
        let mean = if n > 0 { Cell::Number(self.sum() / n as f64) } else { Cell::Missing };
        let mut row = vec![Cell::Count(n as u64), at(0.0), mean, at(50.0), at(99.0), at(100.0)];
        if !self.placed() {
            row.resize(row.len() + 7, Cell::Missing);
            return row;
        }
        let different = |of: &[[f32; 2]]| {
            let all: std::collections::BTreeSet<u32> =
                of.iter().filter(|p| p[0].is_finite()).map(|p| p[0] as u32).collect();
            Cell::Count(all.len() as u64)
        };
        let share = |count: usize, of: usize| match of {
            0 => Cell::Missing,
            of => Cell::Number(100.0 * count as f64 / of as f64),
        };
        let moved = |k: f32| share(self.there().filter(|t| self.moved(*t) == k).count(), n);
        let (groups, in_step, together) = self.groups();
        row.extend([different(&self.first), different(&self.last), moved(1.0), moved(2.0)]);
        row.extend([Cell::Count(groups as u64), share(in_step, groups), share(together, groups)]);
        row
    }

    /// Invocations that entered together: how many such groups there are of more than one, in how many all took the same time,
    /// and in how many all left from one place.
    fn groups(&self) -> (usize, usize, usize) {
        let mut groups: HashMap<(u32, u32, u64), Group> = HashMap::new();
        for t in self.there().filter(|t| self.first[*t][0].is_finite()) {
            let [sm, warp] = self.first[t].map(|p| p as u32);
            let new = || Group { ticks: self.ticks[t], last: self.last[t], apart: [false; 2], count: 0 };
            let g = groups.entry((sm, warp, self.begins[t])).or_insert_with(new);
            g.count += 1;
            g.apart[0] |= self.ticks[t] != g.ticks;
            g.apart[1] |= self.last[t] != g.last;
        }
        let several = || groups.values().filter(|g| g.count > 1);
        let whole = |n: usize| several().filter(|g| !g.apart[n]).count();
        (several().count(), whole(0), whole(1))
    }
}

/// Invocations that entered together.
struct Group {
    /// The first one's.
    ticks: f32,
    /// The first one's.
    last: [f32; 2],
    /// Whether another's differ.
    apart: [bool; 2],
    count: u32,
}

/// The launch that took most time in all, what an invocation took there, and how many moved.
fn headline(launches: &[Launch]) -> Option<String> {
    let l = most(launches, |l| l.sum())?;
    let row = l.row();
    let [n, mean, slowest, elsewhere] = [0, 2, 5, 9].map(|column: usize| row[column].number());
    let moved =
        elsewhere.map_or(String::new(), |p| format!("; {} left on another multiprocessor", percent(p)));
    Some(format!(
        "Most time was spent in {}: {} took {:.1} ticks on average, the slowest {:.1}{moved}.",
        l.words(),
        counted(n? as u64, "invocation"),
        mean?,
        slowest?
    ))
}

fn answer(session: &Session<'_>) -> Result<Report, Unreadable> {
    let trace = session.trace;
    let launches = read(trace)?;
    let mut report = Report::new(QUESTION.name, "Time and place of each invocation");
    report.headlines.extend(headline(&launches));
    let (mut rows, mut places) = (vec![], vec![]);
    for (n, l) in launches.iter().enumerate() {
        rows.push([vec![l.frame.into(), l.launch.into()], l.row()].concat());
        let mut by_sm: BTreeMap<u32, (u64, u64, f64)> = BTreeMap::new();
        for t in l.there().filter(|t| l.last[*t][0].is_finite()) {
            by_sm.entry(l.first[t][0] as u32).or_default().0 += 1;
            let at = by_sm.entry(l.last[t][0] as u32).or_default();
            (at.1, at.2) = (at.1 + 1, at.2 + f64::from(l.ticks[t]));
        }
        places.extend(by_sm.into_iter().map(|(sm, (entered, left, ticks))| {
            let numbers = [l.frame, l.launch, sm.into(), entered, left].map(Cell::Count);
            numbers.into_iter().chain([Cell::Number(ticks)]).collect::<Vec<_>>()
        }));
        if n >= PICTURES {
            continue;
        }
        for (name, column, values) in l.maps() {
            let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
            let image = l.image(name, column, values);
            report.files.push(File {
                name: format!("{}.npy", image.name),
                about: image.title.clone(),
                content: npy("<f4", &[image.height as usize, image.width as usize], bytes.into_iter()),
            });
            report.images.push(image);
        }
    }
    if launches.len() > PICTURES {
        report.notes.push(format!("Of {} launches the first {PICTURES} are drawn.", launches.len()));
    }
    if launches.iter().any(|l| l.clock == "subgroup") {
        report
            .notes
            .push("Clocks are those of subgroups: where invocations moved, their ticks mean nothing.".into());
    }
    if !launches.iter().any(Launch::placed) {
        let why =
            "The device was not asked where invocations ran, or does not say it (VK_NV_shader_sm_builtins).";
        report.notes.push(why.into());
    }
    report.tables = vec![columns::LAUNCHES.table(rows)];
    if !places.is_empty() {
        report.tables.push(columns::MULTIPROCESSORS.table(places));
    }
    Ok(report)
}
