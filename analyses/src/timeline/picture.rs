//! A frame's subgroups as a picture: rows are lanes of a multiprocessor, time goes to the right, the colour is the stage,
//! paler where fewer invocations entered; below, how many were in flight.

use super::lanes::Lanes;
use super::spans::{Span, Sweep};
use super::unit_words;
use crate::context::Context;
use crate::report::png::{Canvas, Colour, text_width};
use std::collections::BTreeSet;

const WIDTH: u32 = 1400;
/// Rows of lanes are as high as fits here; more lanes than pixels are drawn over each other.
const ROWS: u32 = 720;
const HIGHEST_LANE: u32 = 12;
const LEFT: u32 = 130;
const TOP: u32 = 26;
const STRIP: u32 = 90;
const INK: Colour = [20, 20, 20];
const GREY: Colour = [225, 225, 225];
const FLIGHT: Colour = [90, 90, 90];

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
    ("closest-hit", [190, 130, 20]),
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

/// The picture as a PNG file, or what is wrong with it.
pub fn draw(context: &Context, spans: &[Span], sweep: &Sweep) -> Result<Vec<u8>, String> {
    canvas(context, spans, sweep)?.png()
}

/// See [`draw`].
pub fn canvas(context: &Context, spans: &[Span], sweep: &Sweep) -> Result<Canvas, String> {
    let lanes = Lanes::new(spans);
    let all: u64 = lanes.groups.values().sum();
    let (begin, end) = (
        spans.iter().map(|s| s.begin).min().unwrap_or(0),
        spans.iter().map(|s| s.end).max().unwrap_or(0).max(1),
    );
    let length = (end - begin).max(1);
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
    let x = |t: u64| LEFT + (u128::from(t - begin) * u128::from(plot) / u128::from(length)) as u32;
    let title = format!(
        "frame {}: {} subgroups, {} ticks, {} in flight at most",
        sweep.frame,
        spans.len(),
        length,
        sweep.all.most
    );
    c.text(LEFT, 8, &title, INK);
    // The axis, behind everything.
    let every = step(length);
    let bottom = TOP + rows + 16 + STRIP;
    for tick in 0..=length / every {
        let at = x(begin + tick * every);
        c.fill(at, TOP, 1, bottom - TOP, GREY);
        let words = (tick * every).to_string();
        c.text(at.saturating_sub(text_width(&words) / 2), bottom + 6, &words, INK);
    }
    c.text(8, bottom + 6, "ticks", INK);
    let (mut top, mut free) = (TOP, 0);
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
    for (n, (_, mean)) in sweep.parts(plot as usize).into_iter().enumerate() {
        let at = x(sweep.begin) + (n as u64 * sweep.length() / length) as u32;
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
