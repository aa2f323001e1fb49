//! Figures: shapes and words on a white page, as SVG and as PNG.
//!
//! A [`Figure`] is a list of shapes in the order in which they are painted, in pixels from the upper left corner; [`Axis`] says
//! where a value stands and which round numbers are marked. Guarantees: the same shapes give the same bytes in both forms; the
//! PNG needs no font of the machine (its letters are `font.rs`'s), the SVG names none but the viewer's own sans-serif.

mod axis;
mod draw;
mod lanes;
mod raster;
mod svg;

pub use axis::{Axis, frame};
pub use draw::figures;

use super::png::Colour;

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

    /// A square that stands on a corner.
    pub fn diamond(&mut self, (x, y): Point, radius: f64, colour: Colour) {
        self.area(vec![(x - radius, y), (x, y - radius), (x + radius, y), (x, y + radius)], colour);
    }

    /// A line of text.
    pub fn text(&mut self, at: Point, text: impl Into<String>, anchor: Anchor) {
        self.shapes.push(Shape::Text(at, text.into(), anchor, false));
    }

    /// A line of text that is read upwards.
    pub fn upward(&mut self, at: Point, text: impl Into<String>) {
        self.shapes.push(Shape::Text(at, text.into(), Anchor::Middle, true));
    }

    /// As SVG.
    pub fn svg(&self) -> String {
        svg::render(self)
    }

    /// As PNG, or what is wrong with its size.
    pub fn png(&self) -> Result<Vec<u8>, String> {
        raster::render(self)?.png()
    }
}

/// A colour nearer to white: 0 is itself, 1 is white.
pub fn lighter(colour: Colour, by: f64) -> Colour {
    colour.map(|c| (f64::from(c) + (255.0 - f64::from(c)) * by).round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure() -> Figure {
        let mut f = Figure::new(60, 60);
        f.rectangle((10.0, 10.0), (30.0, 20.0), COLOURS[1]);
        f.line(vec![(0.0, 30.0), (60.0, 30.0)], INK, 2.0);
        f.disc((45.0, 15.0), 5.0, COLOURS[2]);
        f.text((30.0, 50.0), "a < b & c", Anchor::Middle);
        f
    }

    #[test]
    fn shapes_are_where_they_were_put() {
        let c = raster::render(&figure()).expect("it has a size");
        assert_eq!(c.size(), (60, 60));
        assert_eq!(
            [c.at(12, 12), c.at(29, 19), c.at(31, 12), c.at(45, 15)],
            [COLOURS[1], COLOURS[1], PAPER, COLOURS[2]]
        );
        assert_eq!((c.at(5, 29), c.at(5, 30), c.at(5, 32)), (INK, INK, PAPER));
        // Half of a pixel is half as dark.
        let mut f = Figure::new(4, 4);
        f.rectangle((0.0, 0.0), (1.5, 4.0), [0, 0, 0]);
        let c = raster::render(&f).expect("it has a size");
        assert_eq!([c.at(0, 0), c.at(2, 0)], [[0; 3], PAPER]);
        assert!((100..160).contains(&c.at(1, 1)[0]), "{:?}", c.at(1, 1));
    }

    #[test]
    fn both_forms_are_the_same_each_time_and_svg_is_escaped() {
        let f = figure();
        assert_eq!((f.svg(), f.png()), (f.clone().svg(), f.clone().png()));
        let svg = f.svg();
        assert!(
            svg.contains("a &lt; b &amp; c") && svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
            "{svg}"
        );
        assert!(Figure::new(0, 5).png().is_err());
        assert_eq!(lighter([0, 100, 255], 0.5), [128, 178, 255]);
    }
}
