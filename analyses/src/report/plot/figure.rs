//! A figure: what is painted, where and in which colour.
//!
//! Guarantees: shapes stay in the order in which they were put. Says nothing of how they become bytes.

use crate::report::png::Colour;
use std::ops::Range;

/// Colours that are told apart, in order; on white. (The page's style has the same, and others where it is dark.)
pub const COLOURS: [Colour; 8] = [
    [0x2f, 0x6f, 0xb7],
    [0xd5, 0x69, 0x0f],
    [0x1d, 0x8f, 0x6e],
    [0xb0, 0x4a, 0x8f],
    [0x8a, 0x6d, 0x1f],
    [0x4a, 0xa3, 0xcf],
    [0x7b, 0x5f, 0xc0],
    [0x6b, 0x72, 0x80],
];

/// What a shape is painted with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Paint {
    /// Words and axes.
    Ink,
    /// Lines that lead the eye.
    Grid,
    /// What is behind everything.
    Paper,
    /// One of [`COLOURS`], and how much of what is below it hides: 0 nothing, 1 all.
    Series(usize, f64),
}

impl Paint {
    /// Nothing is seen of it, but it can be pointed at.
    pub const CLEAR: Paint = Paint::Series(0, 0.0);

    /// Its colour on white.
    pub fn colour(self) -> Colour {
        match self {
            Paint::Ink => [30, 30, 30],
            Paint::Grid => [222, 222, 222],
            Paint::Paper => [255, 255, 255],
            Paint::Series(n, _) => COLOURS[n % COLOURS.len()],
        }
    }

    /// How much of what is below it hides.
    pub fn opacity(self) -> f64 {
        match self {
            Paint::Series(_, opacity) => opacity,
            _ => 1.0,
        }
    }
}

/// A place in pixels.
pub type Point = (f64, f64);

/// Which end of a text its place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// What can be painted.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A filled polygon.
    Area(Vec<Point>, Paint),
    /// A line through points, of this width.
    Line(Vec<Point>, Paint, f64),
    /// A line of text, whose letters' middle stands at this height; `true`: it is read upwards.
    Text(Point, String, Anchor, bool),
}

/// Shapes that stand for values, and what those are, in lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Which of the figure's shapes.
    pub shapes: Range<usize>,
    /// The values.
    pub says: Vec<String>,
}

/// See the module's header.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Width and height. The first [`TITLE`] rows are the title's.
    pub size: (u32, u32),
    /// What it shows.
    pub title: String,
    /// How it is to be read; may be empty.
    pub note: String,
    /// What is painted, in order.
    pub shapes: Vec<Shape>,
    /// What of it stands for which values, by first shape; none are in two.
    pub marks: Vec<Told>,
}

/// Where a title begins.
const TITLES: f64 = 24.0;
/// Rows that a figure's title has.
pub const TITLE: u32 = 32;

impl Figure {
    /// An empty page.
    pub fn new(width: u32, height: u32, title: impl Into<String>) -> Figure {
        Figure { size: (width, height), title: title.into(), ..Figure::default() }
    }

    /// The title as it is painted, where it has one.
    pub fn title(&self) -> Option<Shape> {
        let at = (TITLES, 22.0);
        (!self.title.is_empty()).then(|| Shape::Text(at, self.title.clone(), Anchor::Start, false))
    }

    /// What is painted by this stands for values.
    pub fn mark(&mut self, says: Vec<String>, paint: impl FnOnce(&mut Figure)) {
        let first = self.shapes.len();
        paint(self);
        self.marks.push(Told { shapes: first..self.shapes.len(), says });
    }

    /// A filled polygon.
    pub fn area(&mut self, points: Vec<Point>, paint: Paint) {
        self.shapes.push(Shape::Area(points, paint));
    }

    /// A filled rectangle between two corners.
    pub fn rectangle(&mut self, a: Point, b: Point, paint: Paint) {
        self.area(vec![a, (b.0, a.1), b, (a.0, b.1)], paint);
    }

    /// A line.
    pub fn line(&mut self, points: Vec<Point>, paint: Paint, width: f64) {
        self.shapes.push(Shape::Line(points, paint, width));
    }

    /// A disc.
    pub fn disc(&mut self, (x, y): Point, radius: f64, paint: Paint) {
        let angle = |n: u32| f64::from(n) * std::f64::consts::TAU / 24.0;
        let rim = (0..24).map(|n| (x + radius * angle(n).cos(), y + radius * angle(n).sin()));
        self.area(rim.collect(), paint);
    }

    /// A line of text.
    pub fn text(&mut self, at: Point, text: impl Into<String>, anchor: Anchor) {
        self.shapes.push(Shape::Text(at, text.into(), anchor, false));
    }

    /// A line of text that is read upwards.
    pub fn upward(&mut self, at: Point, text: impl Into<String>) {
        self.shapes.push(Shape::Text(at, text.into(), Anchor::Middle, true));
    }
}
