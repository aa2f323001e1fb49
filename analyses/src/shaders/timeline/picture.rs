//! A frame's subgroups as a picture: rows are lanes of a multiprocessor, time goes to the right, the colour is the stage,
//! paler where fewer invocations entered; below, how many were in flight. Times in which nothing ran for long are folded, so
//! that the rest is seen: a band says how long each was, and the axis goes on without it.

use super::lanes::Lanes;
use super::spans::{Gap, Span, Sweep, unit_words};
use crate::context::Context;
use crate::report::png::{Canvas, Colour, text_width};
use std::collections::BTreeSet;

const WIDTH: u32 = 1400;
/// Rows of lanes are as high as fits here; more lanes than pixels are drawn over each other.
const ROWS: u32 = 720;
const HIGHEST_LANE: u32 = 12;
const LEFT: u32 = 130;
const TOP: u32 = 36;
const STRIP: u32 = 90;
const INK: Colour = [20, 20, 20];
const GREY: Colour = [225, 225, 225];
const FLIGHT: Colour = [90, 90, 90];
const FOLDED: Colour = [238, 232, 215];
/// Pixels of a folded gap, and most of these.
const FOLD: u32 = 30;
const FOLDS: usize = 20;

/// Stages and their colours, told apart in hue and lightness.
const STAGES: [(&str, Colour); 14] = [
    ("vertex", [0, 114, 178]),
    ("tessellation-control", [86, 180, 233]),
    ("tessellation-evaluation", [0, 158, 200]),
    ("geometry", [60, 90, 140]),
    ("fragment", [213, 94, 0]),
    ("compute", [0, 128, 90]),
    ("task", [120, 94, 160]),
    ("mesh", [170, 110, 200]),
    ("ray-generation", [160, 40, 60]),
    ("any-hit", [230, 159, 0]),
    ("closest-hit", [130, 70, 20]),
    ("miss", [110, 110, 110]),
    ("intersection", [204, 121, 167]),
    ("callable", [140, 150, 40]),
];

/// A stage's colour.
pub fn colour(stage: &str) -> Colour {
    STAGES.iter().find(|s| s.0 == stage).map_or([0, 0, 0], |s| s.1)
}

/// Towards white as invocations are fewer; half of it at most.
fn pale(of: Colour, full: f64) -> Colour {
    let share = 0.45 + 0.55 * full.clamp(0.0, 1.0);
    of.map(|c| (255.0 - (255.0 - f64::from(c)) * share).round() as u8)
}

/// A step for an axis of this length: 1, 2 or 5 times a power of ten, eight to twenty of them.
fn step(length: u64) -> u64 {
    let mut step = 1;
    loop {
        for factor in [1, 2, 5] {
            let s: u64 = step * factor;
            if length / s <= 14 {
                return s;
            }
        }
        step *= 10;
    }
}

/// A number in few letters: exact where it is a whole number of thousands.
fn short(n: u64) -> String {
    let units = [(1_000_000_000, "G"), (1_000_000, "M"), (1000, "k")];
    match units.into_iter().find(|(of, _)| n >= *of) {
        Some((of, letter)) if n.is_multiple_of(of) => format!("{}{letter}", n / of),
        Some((of, letter)) => {
            let text = format!("{:.3}", n as f64 / of as f64);
            format!("{}{letter}", text.trim_end_matches('0').trim_end_matches('.'))
        }
        None => n.to_string(),
    }
}

/// Where times lie in the picture.
struct Axis {
    begin: u64,
    /// Gaps that are folded, by begin: from when to when.
    folds: Vec<(u64, u64)>,
    /// Ticks without those, and pixels for them.
    kept: u64,
    plot: u32,
}

impl Axis {
    /// Folds the longest gaps where they would leave the rest no room: those longer than a quarter of the time in which
    /// something ran.
    fn new(begin: u64, end: u64, plot: u32, sweep: &Sweep) -> Axis {
        let long = |g: &&Gap| (g.end - g.begin) as f64 > sweep.all.busy as f64 / 4.0;
        let mut gaps: Vec<&Gap> = sweep.gaps.iter().filter(long).collect();
        gaps.sort_by_key(|g| std::cmp::Reverse(g.end - g.begin));
        gaps.truncate(FOLDS);
        let mut folds: Vec<(u64, u64)> = gaps.into_iter().map(|g| (g.begin, g.end)).collect();
        folds.sort_unstable();
        let folded: u64 = folds.iter().map(|f| f.1 - f.0).sum();
        let kept = (end - begin).saturating_sub(folded).max(1);
        Axis { begin, plot: plot - FOLD * folds.len() as u32, folds, kept }
    }

    /// How much of the kept time lies before, and how many folds begin before.
    fn at(&self, t: u64) -> (u64, usize) {
        let before = self.folds.iter().take_while(|f| f.0 < t);
        let (mut folded, mut folds) = (0, 0);
        for f in before {
            folded += t.min(f.1) - f.0;
            folds += usize::from(t >= f.1);
        }
        (t - self.begin - folded, folds)
    }

    fn pixel(&self, kept: u64, folds: usize) -> f64 {
        f64::from(LEFT + FOLD * folds as u32) + kept as f64 * f64::from(self.plot) / self.kept as f64
    }

    fn x(&self, t: u64) -> f64 {
        let (kept, folds) = self.at(t);
        self.pixel(kept, folds)
    }
}

/// The picture as a PNG file, or what is wrong with it.
pub fn draw(context: &Context, spans: &[Span], sweep: &Sweep) -> Result<Vec<u8>, String> {
    canvas(context, spans, sweep)?.png()
}

/// To three digits.
fn rounded(n: u64) -> u64 {
    let unit = 10u64.pow(n.max(1).ilog10().saturating_sub(2));
    n / unit * unit
}

/// For each column of pixels the mean number in flight.
fn columns(axis: &Axis, sweep: &Sweep) -> Vec<(u32, f64)> {
    let mut sums = vec![0f64; WIDTH as usize + 1];
    let ends = sweep.steps.iter().skip(1).map(|s| s.0).chain([sweep.end]);
    for (&(from, count), to) in sweep.steps.iter().zip(ends).filter(|s| s.0.1 > 0) {
        let (from, to) = (axis.x(from), axis.x(to.max(from)));
        let first = from as usize;
        for (at, sum) in sums.iter_mut().enumerate().take(to as usize + 1).skip(first) {
            let inside = to.min(at as f64 + 1.0) - from.max(at as f64);
            *sum += inside.max(0.0) * count as f64;
        }
    }
    (0..WIDTH).zip(sums).collect()
}

/// See [`draw`].
pub fn canvas(context: &Context, spans: &[Span], sweep: &Sweep) -> Result<Canvas, String> {
    let lanes = Lanes::new(spans);
    let all: u64 = lanes.groups.values().sum();
    let (begin, end) = (
        spans.iter().map(|s| s.begin).min().unwrap_or(0),
        spans.iter().map(|s| s.end).max().unwrap_or(0).max(1),
    );
    let length = end - begin;
    let each = (u64::from(ROWS) / all.max(1)).clamp(1, HIGHEST_LANE.into());
    // Heights of groups: whole lanes, or a share of what there is.
    let height = |n: u64| match all > u64::from(ROWS) {
        false => n * each,
        true => (n * u64::from(ROWS) / all).max(1),
    } as u32;
    let gap = if lanes.groups.len() > 40 { 0 } else { 3 };
    let rows: u32 = lanes.groups.values().map(|&n| height(n) + gap).sum();
    let stages: BTreeSet<&str> =
        spans.iter().filter_map(|s| context.entry(s.entry)).map(|e| &*e.stage).collect();
    let whole = TOP + rows + 16 + STRIP + 60;
    let mut c = Canvas::new(WIDTH, whole).ok_or_else(|| format!("a picture {whole} pixels high"))?;
    let plot = WIDTH - LEFT - 12;
    let axis = Axis::new(begin, end, plot, sweep);
    let x = |t: u64| axis.x(t) as u32;
    let mut title = format!(
        "frame {}: {} subgroups, {} ticks, {} in flight at most",
        sweep.frame,
        spans.len(),
        short(length),
        sweep.all.most
    );
    if !axis.folds.is_empty() {
        title += &format!("; times in which nothing ran, folded: {}", axis.folds.len());
    }
    c.text(LEFT, 8, &title, INK);
    // The axis, behind everything.
    let every = step(axis.kept);
    let bottom = TOP + rows + 16 + STRIP;
    let mut free = 0;
    for tick in 0..=axis.kept / every {
        let folds = axis.folds.iter().take_while(|f| axis.at(f.0).0 < tick * every).count();
        let at = axis.pixel(tick * every, folds) as u32;
        c.fill(at, TOP, 1, bottom - TOP, GREY);
        let words = short(tick * every);
        let wide = text_width(&words);
        let from = at.saturating_sub(wide / 2).min(WIDTH - wide - 2);
        if from >= free {
            c.text(from, bottom + 6, &words, INK);
            free = from + wide + 6;
        }
    }
    free = 0;
    for &(from, to) in &axis.folds {
        let at = x(from);
        c.fill(at, TOP, FOLD - 1, bottom - TOP, FOLDED);
        let words = format!("+{}", short(rounded(to - from)));
        if at >= free {
            c.text(at, TOP - 9, &words, FLIGHT);
            free = at + text_width(&words) + 4;
        }
    }
    c.text(8, bottom + 6, if axis.folds.is_empty() { "ticks" } else { "ticks, not folded" }, INK);
    let mut top = TOP;
    free = 0;
    let mut tops = std::collections::BTreeMap::new();
    for (&(unit, called), &n) in &lanes.groups {
        let words = format!("{}{}", unit_words(unit), if called { ", called" } else { "" });
        // As many are named as there is room for.
        if top >= free {
            c.text(8, top + (height(n).saturating_sub(7)) / 2, &words, INK);
            free = top + height(n).max(9);
        }
        tops.insert((unit, called), (top, height(n), n));
        top += height(n) + gap;
    }
    for (s, &lane) in spans.iter().zip(&lanes.of) {
        let (top, height, n) = tops[&(s.sm, s.called)];
        let y = top + (lane * u64::from(height) / n) as u32;
        let h = (height / n as u32).max(1);
        let h = if h > 4 { h - 1 } else { h };
        let (from, to) = (x(s.begin), x(s.end));
        let stage = context.entry(s.entry).map_or("", |e| &*e.stage);
        let full = s.active as f64 / context.subgroup_size(s.frame).unwrap_or(1).max(1) as f64;
        c.fill(from, y, (to - from).max(1), h, pale(colour(stage), full));
        // (where it begins, so that neighbours are told apart)
        if h > 2 && to - from > 3 {
            c.fill(from, y, 1, h, colour(stage));
        }
    }
    let strip = TOP + rows + 16;
    c.text(8, strip + STRIP / 2 - 12, "in flight", INK);
    c.text(8, strip + STRIP / 2, &format!("(0 to {})", sweep.all.most), INK);
    for (at, mean) in columns(&axis, sweep) {
        let high = (mean / sweep.all.most.max(1) as f64 * f64::from(STRIP)).round() as u32;
        c.fill(at, strip + STRIP - high.min(STRIP), 1, high.min(STRIP), FLIGHT);
    }
    let mut at = LEFT;
    for stage in stages {
        c.fill(at, bottom + 26, 14, 9, colour(stage));
        c.text(at + 18, bottom + 27, stage, INK);
        at += 18 + text_width(stage) + 18;
    }
    c.text(LEFT, bottom + 44, "paler: fewer invocations entered", INK);
    Ok(c)
}
