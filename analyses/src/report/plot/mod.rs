//! Figures: shapes and words on a white page, as SVG and as PNG.
//!
//! A [`Figure`] is a list of shapes in the order in which they are painted, in pixels from the upper left corner; an axis (`axis`) says
//! where a value stands and which round numbers are marked. Guarantees: the same shapes give the same bytes in both forms; the
//! PNG needs no font of the machine (its letters are `font.rs`'s), the SVG names none but the viewer's own sans-serif.

mod axis;
mod draw;
mod figure;
mod lanes;
mod raster;
mod svg;

pub use draw::figures;
pub use figure::{Anchor, COLOURS, Figure, INK, PAPER, Point, Shape, lighter};

impl Figure {
    /// As SVG.
    pub fn svg(&self) -> String {
        svg::render(self)
    }

    /// As PNG, or what is wrong with its size.
    pub fn png(&self) -> Result<Vec<u8>, String> {
        raster::render(self)?.png()
    }
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
