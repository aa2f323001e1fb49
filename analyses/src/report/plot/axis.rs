//! Axes: from values to pixels, with marks at round numbers.

use super::figure::{Anchor, Figure, GRID, INK};
use crate::report::Column;

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

/// Draws a plot's frame: a title, the marks of the upright axis with lines across, and what that axis is.
pub fn frame(figure: &mut Figure, title: &str, across: (f64, f64), y: &Axis, name: &str) {
    let (left, right) = across;
    figure.text((left, 22.0), title, Anchor::Start);
    let (marks, digits) = y.marks(7);
    for mark in marks {
        let at = y.at(mark);
        figure.line(vec![(left, at), (right, at)], GRID, 1.0);
        figure.text((left - 8.0, at), format!("{mark:.digits$}"), Anchor::End);
    }
    figure.line(vec![(left, y.pixels.1), (left, y.pixels.0)], INK, 1.0);
    figure.line(vec![(left, y.pixels.0), (right, y.pixels.0)], INK, 1.0);
    figure.upward((18.0, (y.pixels.0 + y.pixels.1) / 2.0), name);
}

/// The marks of an axis that lies at this height, and what it is.
pub fn across(f: &mut Figure, x: &Axis, at: f64, name: &str) {
    let (marks, digits) = x.marks(9);
    for mark in marks {
        f.line(vec![(x.at(mark), at), (x.at(mark), at + 5.0)], INK, 1.0);
        f.text((x.at(mark), at + 15.0), format!("{mark:.digits$}"), Anchor::Middle);
    }
    f.text(((x.pixels.0 + x.pixels.1) / 2.0, at + 36.0), name, Anchor::Middle);
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
        assert_eq!(axis(4.0, 4.0).marks(5), (vec![4.0], 3));
        assert_eq!(
            (axis(0.0, 10.0).at(0.0), axis(0.0, 10.0).at(5.0), axis(3.0, 3.0).at(3.0)),
            (300.0, 160.0, 160.0)
        );
    }
}
