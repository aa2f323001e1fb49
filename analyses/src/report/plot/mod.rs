//! Figures: shapes and words on a white page, as SVG and as PNG.
//!
//! A [`Figure`] is a list of shapes in the order in which they are painted, in pixels from the upper left corner, and of what stands for
//! which values; an axis (`axis`) says where a value stands and which round numbers are marked. Files have it as SVG and as PNG;
//! a page for browsers has the elements of the SVG. Guarantees: the same shapes give the same bytes in both forms; the
//! PNG needs no font of the machine (its letters are `font.rs`'s), the SVG names none but the viewer's own sans-serif.

mod axis;
mod draw;
mod figure;
mod lanes;
mod raster;
mod samples;
mod svg;

pub use draw::{figures, of_series};
pub use figure::{Anchor, COLOURS, Figure, Paint, Point, Shape, TITLE, Told};
pub use lanes::timeline;
pub use svg::Element;

impl Figure {
    /// As SVG.
    pub fn svg(&self) -> String {
        svg::render(self)
    }

    /// The elements of its SVG, without its title and what is behind them.
    pub fn elements(&self) -> Vec<Element> {
        svg::elements(self)
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
        let mut f = Figure::new(60, 60, "a < b & c");
        f.rectangle((10.0, 10.0), (30.0, 20.0), Paint::Series(1, 1.0));
        f.line(vec![(0.0, 30.0), (60.0, 30.0)], Paint::Ink, 2.0);
        f.mark(vec!["x < 1".into(), "2".into()], |f| f.disc((45.0, 15.0), 5.0, Paint::Series(2, 1.0)));
        f.text((30.0, 50.0), "a < b & c", Anchor::Middle);
        f
    }

    #[test]
    fn shapes_are_where_they_were_put() {
        let c = raster::render(&figure()).expect("it has a size");
        assert_eq!(c.size(), (60, 60));
        assert_eq!(
            [c.at(12, 12), c.at(29, 19), c.at(31, 12), c.at(45, 15)],
            [COLOURS[1], COLOURS[1], Paint::Paper.colour(), COLOURS[2]]
        );
        assert_eq!((c.at(5, 29), c.at(5, 30), c.at(5, 32)), {
            let (ink, paper) = (Paint::Ink.colour(), Paint::Paper.colour());
            (ink, ink, paper)
        });
        // Half of a pixel is half as dark; so is what hides half.
        let mut f = Figure::new(4, 4, "");
        f.rectangle((0.0, 0.0), (1.5, 4.0), Paint::Ink);
        f.rectangle((3.0, 0.0), (4.0, 4.0), Paint::Series(7, 0.5));
        let c = raster::render(&f).expect("it has a size");
        assert_eq!([c.at(0, 0), c.at(2, 0)], [Paint::Ink.colour(), Paint::Paper.colour()]);
        assert!((120..160).contains(&c.at(1, 1)[0]), "{:?}", c.at(1, 1));
        assert_eq!(c.at(3, 1), COLOURS[7].map(|v| (f64::from(v) / 2.0 + 127.5).round() as u8));
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
        // What stands for a value says it.
        assert!(svg.contains("<g><title>x &lt; 1\n2</title><polygon "), "{svg}");
        assert!(Figure::new(0, 5, "").png().is_err());
    }
}
