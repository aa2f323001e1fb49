//! Figures as SVG: a line a shape, numbers with two digits.

use super::figure::{Anchor, Figure, INK, Point, Shape};
use crate::report::escape;
use crate::report::png::Colour;
use std::fmt::Write;

/// Pixels of a letter's height.
const LETTERS: u32 = 14;

fn hex([r, g, b]: Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// At most two digits, and none that say nothing.
fn number(n: f64) -> String {
    let text = format!("{n:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn points(all: &[Point]) -> String {
    all.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect::<Vec<_>>().join(" ")
}

/// The whole file.
pub fn render(figure: &Figure) -> String {
    let (w, h) = figure.size;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"sans-serif\" font-size=\"{LETTERS}\" fill=\"{}\">\n<rect width=\"{w}\" height=\"{h}\" \
         fill=\"#ffffff\"/>\n",
        hex(INK)
    );
    for shape in &figure.shapes {
        // (writing to a string cannot fail)
        let _ = match shape {
            Shape::Area(p, c) => writeln!(out, "<polygon points=\"{}\" fill=\"{}\"/>", points(p), hex(*c)),
            Shape::Line(p, c, width) => writeln!(
                out,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>",
                points(p),
                hex(*c),
                number(*width)
            ),
            Shape::Text((x, y), text, anchor, upwards) => {
                let anchor = match anchor {
                    Anchor::Start => "start",
                    Anchor::Middle => "middle",
                    Anchor::End => "end",
                };
                let (x, y) = (number(*x), number(*y));
                let turn =
                    if *upwards { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
                writeln!(
                    out,
                    "<text x=\"{x}\" y=\"{y}\" dy=\"0.35em\" text-anchor=\"{anchor}\"{turn}>{}</text>",
                    escape::xml(text)
                )
            }
        };
    }
    out + "</svg>\n"
}
