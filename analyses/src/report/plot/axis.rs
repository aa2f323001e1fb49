//! Axes: from values to pixels, with marks at round numbers; and what is said of values and rows on them.

use super::figure::{Anchor, Figure, Paint};
use crate::report::Column;

/// How wide a figure is.
pub const WIDTH: u32 = 960;
/// Where its axes begin and end.
pub const LEFT: f64 = 88.0;
pub const RIGHT: f64 = WIDTH as f64 - 24.0;
pub const TOP: f64 = 48.0;
/// How high what its axes enclose is.
pub const HIGH: f64 = 280.0;
/// Letters of a name beside a row.
const LETTERS: usize = 40;

/// Least and greatest; where they are one value, a stretch around it.
pub fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let ends = values
        .fold(None, |ends: Option<(f64, f64)>, v| Some(ends.map_or((v, v), |(a, b)| (a.min(v), b.max(v)))));
    ends.map(|(a, b)| if a < b { (a, b) } else { (a - 0.5 * a.abs().max(1.0), b + 0.5 * b.abs().max(1.0)) })
}

/// A stretch of values on a stretch of pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// The values at its ends.
    pub values: (f64, f64),
    /// The pixels there.
    pub pixels: (f64, f64),
}

impl Axis {
    /// Where a value stands.
    pub fn at(&self, value: f64) -> f64 {
        let (a, b) = self.values;
        let share = if b > a { (value - a) / (b - a) } else { 0.5 };
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }

    /// How many marks have room for their numbers. (The letters of the PNG are 12 pixels wide.)
    pub fn fitting(&self) -> usize {
        ((self.pixels.1 - self.pixels.0).abs() / 96.0) as usize
    }

    /// Round numbers on it, about so many, and the digits behind the point that tell them apart.
    pub fn marks(&self, wanted: usize) -> (Vec<f64>, usize) {
        let (a, b) = self.values;
        let rough = (b - a) / wanted.max(1) as f64;
        if rough <= 0.0 || !rough.is_finite() {
            return (vec![a], 3);
        }
        let power = rough.log10().floor();
        let unit = 10f64.powf(power);
        let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * unit >= rough).unwrap_or(10.0);
        let step = factor * unit;
        let digits = (-step.log10().floor()).max(0.0) as usize;
        let first = (a / step).ceil() as i64;
        let last = (b / step).floor() as i64;
        ((first..=last).map(|n| n as f64 * step).collect(), digits)
    }
}

/// Draws a plot's frame: the marks of the upright axis with lines across, and what that axis is.
pub fn frame(figure: &mut Figure, across: (f64, f64), y: &Axis, name: &str) {
    let (left, right) = across;
    let (marks, digits) = y.marks(7);
    for mark in marks {
        let at = y.at(mark);
        figure.line(vec![(left, at), (right, at)], Paint::Grid, 1.0);
        figure.text((left - 8.0, at), words(mark, digits), Anchor::End);
    }
    figure.line(vec![(left, y.pixels.1), (left, y.pixels.0)], Paint::Ink, 1.0);
    figure.line(vec![(left, y.pixels.0), (right, y.pixels.0)], Paint::Ink, 1.0);
    figure.upward((18.0, (y.pixels.0 + y.pixels.1) / 2.0), name);
}

/// The marks of an axis that lies at this height, and what it is.
pub fn across(f: &mut Figure, x: &Axis, at: f64, name: &str) {
    let (marks, digits) = x.marks(x.fitting());
    for mark in marks {
        f.line(vec![(x.at(mark), at), (x.at(mark), at + 5.0)], Paint::Ink, 1.0);
        f.text((x.at(mark), at + 15.0), words(mark, digits), Anchor::Middle);
    }
    f.text(((x.pixels.0 + x.pixels.1) / 2.0, at + 36.0), name, Anchor::Middle);
}

/// A mark's number; nothing is never below itself.
fn words(mark: f64, digits: usize) -> String {
    let text = format!("{:.digits$}", mark.abs());
    let nothing = text.bytes().all(|b| b == b'0' || b == b'.');
    if mark < 0.0 && !nothing { format!("-{text}") } else { text }
}

/// A value as it is, with its unit: what pointing at it says.
pub fn said(value: f64, c: &Column) -> String {
    match c.unit.symbol() {
        "" => value.to_string(),
        unit => format!("{value} {unit}"),
    }
}

/// An end of a bar, with four digits that say something.
pub fn about(value: f64) -> String {
    if value == 0.0 || value.fract() == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let factor = 10f64.powf(3.0 - value.abs().log10().floor());
    // (of numbers with more digits before the point those stay)
    ((value * factor.max(1.0)).round() / factor.max(1.0)).to_string()
}

/// A name that fits beside a row.
pub fn short(name: &str) -> String {
    match name.chars().count() {
        n if n > LETTERS => name.chars().take(LETTERS - 1).collect::<String>() + "…",
        _ => name.to_owned(),
    }
}

/// Where names end, and the rows begin, for rows with these names.
pub fn beside<'a>(names: impl Iterator<Item = &'a str>) -> f64 {
    // (the letters of the PNG are 12 pixels wide)
    24.0 + 12.0 * names.map(|n| short(n).chars().count()).max().unwrap_or(0) as f64
}

/// A column's name with its unit.
pub fn named(c: &Column) -> String {
    match c.unit.symbol() {
        unit if unit.is_empty() || unit == c.name => c.name.clone(),
        unit => format!("{} ({unit})", c.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_inside() {
        let axis = |a, b| Axis { values: (a, b), pixels: (300.0, 20.0) };
        assert_eq!(axis(0.0, 100.0).marks(5), (vec![0.0, 20.0, 40.0, 60.0, 80.0, 100.0], 0));
        let (marks, digits) = axis(5.93, 6.31).marks(7);
        assert_eq!(digits, 1);
        assert!(marks.iter().all(|m| (5.93..=6.31).contains(m)) && marks.len() >= 3, "{marks:?}");
        assert_eq!(
            [words(-0.5, 1), words(-0.01, 1), about(0.012345), about(123456.7), about(8.0)],
            ["-0.5", "0.0", "0.01235", "123457", "8"]
        );
        assert_eq!(said(1.25, &Column::new("time", crate::report::Unit::Milliseconds)), "1.25 ms");
        assert_eq!(axis(4.0, 4.0).marks(5), (vec![4.0], 3));
        assert_eq!(
            (axis(0.0, 10.0).at(0.0), axis(0.0, 10.0).at(5.0), axis(3.0, 3.0).at(3.0)),
            (300.0, 160.0, 160.0)
        );
    }
}
