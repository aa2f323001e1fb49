//! A distribution's samples held against each other: as violins with boxes, in order, and as histograms.
//!
//! Guarantees: a few far outliers do not squeeze everything else; how many values an axis leaves out is said. Of fewer than
//! [`FEWEST`] values each is drawn in place of a shape, which would be chance.

use super::axis::{
    Axis, HIGH, LEFT, RIGHT, TOP, WIDTH, about, across, beside, frame, named, said, short, span,
};
use super::figure::{Anchor, Figure, Paint};
use crate::report::bins::{Shared, shared};
use crate::report::shapes::Distribution;
use crate::report::summary::{FEWEST, Summary, cut, summary};
use crate::report::{Column, Series, counted};
use std::collections::HashSet;

/// Values up to which each has a mark of its own, wherever it stands; and how far marks of more are apart, at least.
const MARKS: usize = 4000;
const PIXELS: f64 = 4.0;

/// One sample.
struct Sample<'r> {
    name: &'r str,
    summary: Summary,
    points: Vec<(f64, f64)>,
}

/// Its figures, with their names.
pub fn figures(d: &Distribution, series: &[Series]) -> Vec<(String, Figure)> {
    let samples = d.courses(series).filter_map(|(group, s)| {
        let points = s.numbers();
        Some(Sample { name: &group.name, summary: summary(points.iter().map(|p| p.1))?, points })
    });
    let all: Vec<Sample> = samples.collect();
    let Some((_, first)) = d.courses(series).next() else { return vec![] };
    let cut = cut(all.iter().map(|s| &s.summary));
    let figures = [
        ("violins", violins(&d.title, &all, &first.y, cut)),
        ("in_order", course(&d.title, &all, (&first.x, &first.y), cut)),
        ("histogram", histogram(&d.title, &all, &first.y, cut)),
    ];
    figures.into_iter().filter_map(|(name, f)| Some((format!("{}_{name}", d.name), f?))).collect()
}

/// How violins are read.
fn note(all: &[Sample], y: &Column, cut: Option<f64>) -> String {
    let drawn = match all.iter().all(|s| s.summary.count >= FEWEST) {
        true => "Shape: density;".to_owned(),
        false => format!("Shape: density, from {FEWEST} values up; below the box: each of fewer;"),
    };
    let of =
        "box: quartiles, with whiskers to the last value within 1.5 times their distance; dot in it: mean.";
    let beyond = all.iter().flat_map(|s| &s.points).filter(|p| cut.is_some_and(|cut| p.1 > cut)).count();
    match cut.filter(|_| beyond > 0) {
        Some(cut) => {
            let beyond = counted(beyond as u64, "value");
            format!("{drawn} {of} Not drawn: {beyond} above {} {}.", about(cut), y.unit.symbol())
        }
        None => format!("{drawn} {of}"),
    }
}

fn violins(title: &str, all: &[Sample], y: &Column, cut: Option<f64>) -> Option<Figure> {
    const ROW: f64 = 48.0;
    let (least, most) = span(all.iter().flat_map(|s| [s.summary.at[0], s.summary.at[4]]))?;
    let end = cut.unwrap_or(most);
    let left = beside(all.iter().map(|s| s.name));
    let bottom = TOP + ROW * all.len() as f64;
    let mut f = Figure::new(WIDTH, bottom as u32 + 56, format!("{title}: distribution"));
    f.note = note(all, y, cut);
    let margin = (end - least) * 0.04;
    let x = Axis {
        values: ((least - margin).max(if least >= 0.0 { 0.0 } else { f64::MIN }), end + margin),
        pixels: (left, RIGHT),
    };
    x.marks(x.fitting())
        .0
        .iter()
        .for_each(|m| f.line(vec![(x.at(*m), TOP), (x.at(*m), bottom)], Paint::Grid, 1.0));
    for (n, Sample { name, summary: s, points }) in all.iter().enumerate() {
        let middle = TOP + ROW * (n as f64 + 0.5);
        let at = |v: f64| x.at(v.clamp(x.values.0, x.values.1));
        let kept = || s.density.iter().filter(|p| (x.values.0..=x.values.1).contains(&p.0));
        let edge = |up: f64| move |p: &(f64, f64)| (p.0, middle - up * p.1 * ROW * 0.42);
        let outline = kept().map(edge(1.0)).chain(kept().rev().map(edge(-1.0)));
        let outline: Vec<_> = outline.map(|(v, y)| (x.at(v), y)).collect();
        let mut says = vec![
            (*name).to_owned(),
            format!("{}, mean {}", counted(s.count as u64, "value"), said(s.mean, y)),
        ];
        let names = ["least", "p25", "median", "p75", "greatest"];
        says.extend(names.iter().zip(s.at).map(|(name, v)| format!("{name} {}", said(v, y))));
        f.mark(says, |f| {
            f.rectangle((left, middle - ROW / 2.0), (RIGHT, middle + ROW / 2.0), Paint::CLEAR);
            if outline.len() > 2 {
                f.area(outline, Paint::Series(n, 0.45));
            }
            if s.count < FEWEST {
                let values = points.iter().map(|p| p.1).filter(|v| (x.values.0..=x.values.1).contains(v));
                values.for_each(|v| f.disc((x.at(v), middle + ROW * 0.3), 3.0, Paint::Series(n, 0.7)));
            }
            f.line(vec![(at(s.whiskers[0]), middle), (at(s.whiskers[1]), middle)], Paint::Ink, 1.0);
            let (from, to) = (at(s.at[1]), at(s.at[3]).max(at(s.at[1]) + 2.0));
            f.rectangle((from - 1.0, middle - 6.0), (to + 1.0, middle + 6.0), Paint::Ink);
            f.rectangle((from, middle - 5.0), (to, middle + 5.0), Paint::Paper);
            f.line(
                vec![(at(s.at[2]), middle - 6.0), (at(s.at[2]), middle + 6.0)],
                Paint::Series(n, 1.0),
                3.0,
            );
            f.disc((at(s.mean), middle), 3.0, Paint::Ink);
        });
        f.text((left - 10.0, middle), short(name), Anchor::End);
    }
    f.line(vec![(left, bottom), (RIGHT, bottom)], Paint::Ink, 1.0);
    across(&mut f, &x, bottom, &named(y));
    Some(f)
}

/// A page with names of samples, in their colours, above what it shows, and where that begins; without its axes.
fn page(title: &str, of: &str, all: &[Sample]) -> (Figure, f64) {
    let top = TOP + all.len().div_ceil(4) as f64 * 20.0;
    let mut f = Figure::new(WIDTH, (top + HIGH) as u32 + 56, format!("{title}: {of}"));
    for (n, s) in all.iter().enumerate() {
        let (a, b) = (LEFT + 215.0 * (n % 4) as f64, TOP - 4.0 + 20.0 * (n / 4) as f64);
        f.rectangle((a, b - 5.0), (a + 10.0, b + 5.0), Paint::Series(n, 1.0));
        f.text((a + 18.0, b), s.name.chars().take(15).collect::<String>(), Anchor::Start);
    }
    (f, top)
}

fn course(title: &str, all: &[Sample], (of, y): (&Column, &Column), cut: Option<f64>) -> Option<Figure> {
    let seen = |p: &&(f64, f64)| cut.is_none_or(|cut| p.1 <= cut);
    let each = || all.iter().flat_map(|s| &s.points).filter(seen);
    let (mut f, top) = page(title, "in order", all);
    let x = Axis { values: span(each().map(|p| p.0))?, pixels: (LEFT, RIGHT) };
    let up = Axis { values: span(each().map(|p| p.1))?, pixels: (top + HIGH, top) };
    frame(&mut f, (LEFT, RIGHT), &up, &named(y));
    let count = each().count();
    let (many, half) = (count > MARKS, if count > 600 { 1.5 } else { 2.25 });
    for (n, s) in all.iter().enumerate() {
        let mut taken = HashSet::new();
        for (a, b) in s.points.iter().filter(seen) {
            let (px, py) = (x.at(*a), up.at(*b));
            // (of very many that lie upon each other, one is seen)
            if many && !taken.insert([px, py].map(|p| (p / PIXELS) as i64)) {
                continue;
            }
            let says = vec![s.name.to_owned(), format!("{} {}", of.name, said(*a, of)), said(*b, y)];
            f.mark(says, |f| {
                f.rectangle((px - half, py - half), (px + half, py + half), Paint::Series(n, 0.8))
            });
        }
    }
    across(&mut f, &x, top + HIGH, &named(of));
    Some(f)
}

/// Steps that all samples share; pointing at a bin says all of them.
fn histogram(title: &str, all: &[Sample], y: &Column, cut: Option<f64>) -> Option<Figure> {
    let values: Vec<Vec<f64>> = all.iter().map(|s| s.points.iter().map(|p| p.1).collect()).collect();
    let Shared { from, wide, counts } = shared(&values, cut);
    let bins = counts.first()?.len();
    let most = counts.iter().flatten().max().copied().unwrap_or(0).max(1) as f64;
    let (mut f, top) = page(title, "histogram", all);
    let edge = |n: usize| from + wide * n as f64;
    let x = Axis { values: (from, edge(bins)), pixels: (LEFT, RIGHT) };
    let up = Axis { values: (0.0, most * 1.05), pixels: (top + HIGH, top) };
    frame(&mut f, (LEFT, RIGHT), &up, "values");
    let pale = if all.len() > 3 { 0.06 } else { 0.18 };
    for (n, counts) in counts.iter().enumerate() {
        let steps = counts.iter().enumerate().flat_map(|(n, c)| {
            let high = up.at(*c as f64);
            [(x.at(edge(n)), high), (x.at(edge(n + 1)), high)]
        });
        let steps: Vec<_> = steps.collect();
        let (first, last) = ((LEFT, top + HIGH), (RIGHT, top + HIGH));
        f.area(
            [first].into_iter().chain(steps.iter().copied()).chain([last]).collect(),
            Paint::Series(n, pale),
        );
        f.line(steps, Paint::Series(n, 1.0), 1.5);
    }
    for n in (0..bins).filter(|n| counts.iter().any(|c| c[*n] > 0)) {
        let unit = y.unit.symbol();
        let mut says =
            vec![format!("{} to {} {unit}", about(edge(n)), about(edge(n + 1))).trim_end().to_owned()];
        let there = all.iter().zip(&counts).filter(|(_, c)| c[n] > 0);
        says.extend(there.map(|(s, c)| format!("{}: {}", s.name, c[n])));
        f.mark(says, |f| f.rectangle((x.at(edge(n)), top), (x.at(edge(n + 1)), top + HIGH), Paint::CLEAR));
    }
    across(&mut f, &x, top + HIGH, &named(y));
    Some(f)
}
