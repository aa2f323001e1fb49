//! A figure: what is painted, where and in which colour.
//!
//! Guarantees: shapes stay in the order in which they were put. Says nothing of how they become bytes.

use crate::report::png::Colour;

/// Black enough.
pub const INK: Colour = [30, 30, 30];
/// Lines that lead the eye.
pub const GRID: Colour = [222, 222, 222];
/// White.
pub const PAPER: Colour = [255, 255, 255];
/// Colours for those who see few, one after the other (Okabe and Ito's).
pub const COLOURS: [Colour; 8] = [
    [120, 120, 120],
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [230, 159, 0],
    [86, 180, 233],
    [148, 103, 50],
];

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
    Area(Vec<Point>, Colour),
    /// A line through points, of this width.
    Line(Vec<Point>, Colour, f64),
    /// A line of text, whose letters' middle stands at this height; `true`: it is read upwards.
    Text(Point, String, Anchor, bool),
}

/// See the module's header.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Width and height.
    pub size: (u32, u32),
    /// What is painted, in order.
    pub shapes: Vec<Shape>,
}

impl Figure {
    /// An empty page.
    pub fn new(width: u32, height: u32) -> Figure {
        Figure { size: (width, height), shapes: vec![] }
    }

    /// A filled polygon.
    pub fn area(&mut self, points: Vec<Point>, colour: Colour) {
        self.shapes.push(Shape::Area(points, colour));
    }

    /// A filled rectangle between two corners.
    pub fn rectangle(&mut self, a: Point, b: Point, colour: Colour) {
        self.area(vec![a, (b.0, a.1), b, (a.0, b.1)], colour);
    }

    /// A line.
    pub fn line(&mut self, points: Vec<Point>, colour: Colour, width: f64) {
        self.shapes.push(Shape::Line(points, colour, width));
    }

    /// A disc.
    pub fn disc(&mut self, (x, y): Point, radius: f64, colour: Colour) {
        let angle = |n: u32| f64::from(n) * std::f64::consts::TAU / 24.0;
        let rim = (0..24).map(|n| (x + radius * angle(n).cos(), y + radius * angle(n).sin()));
        self.area(rim.collect(), colour);
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

/// A colour nearer to white: 0 is itself, 1 is white.
pub fn lighter(colour: Colour, by: f64) -> Colour {
    colour.map(|c| (f64::from(c) + (255.0 - f64::from(c)) * by).round() as u8)
}
