//! Figures as SVG: an element a shape, numbers with two digits; what stands for values is a group that says them.
//!
//! Colours are those on white; each element has the class of its paint (`ink`, `grid`, `paper`, `s1` …), by which a page may paint
//! it otherwise.

use super::figure::{Anchor, COLOURS, Figure, Paint, Point, Shape};
use crate::report::escape;
use crate::report::png::Colour;
use serde::Serialize;
use std::fmt::Write;

/// Pixels of a letter's height.
const LETTERS: u32 = 14;

/// An element.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Element {
    /// What it is.
    pub tag: &'static str,
    /// Its attributes: names and values of this module's own making.
    pub attributes: Vec<(&'static str, String)>,
    /// The words in it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The values that it stands for, in lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub says: Vec<String>,
    /// The elements in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inner: Vec<Element>,
}

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

/// `name` is the attribute that has the colour.
fn painted(paint: Paint, name: &'static str) -> Vec<(&'static str, String)> {
    let class = match paint {
        Paint::Ink => "ink".to_owned(),
        Paint::Grid => "grid".to_owned(),
        Paint::Paper => "paper".to_owned(),
        Paint::Series(n, _) => format!("s{}", n % COLOURS.len() + 1),
    };
    let mut all = vec![("class", class), (name, hex(paint.colour()))];
    if paint.opacity() < 1.0 {
        all.push(("opacity", number(paint.opacity())));
    }
    all
}

fn element(shape: &Shape) -> Element {
    let (tag, attributes, text) = match shape {
        Shape::Area(p, paint) => {
            let all = vec![("points", points(p))].into_iter().chain(painted(*paint, "fill"));
            ("polygon", all.collect(), String::new())
        }
        Shape::Line(p, paint, width) => {
            let all = vec![("points", points(p)), ("fill", "none".into()), ("stroke-width", number(*width))];
            ("polyline", all.into_iter().chain(painted(*paint, "stroke")).collect(), String::new())
        }
        Shape::Text((x, y), text, anchor, upwards) => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let (x, y) = (number(*x), number(*y));
            let turn = upwards.then(|| ("transform", format!("rotate(-90 {x} {y})")));
            let mut all = vec![("x", x), ("y", y), ("dy", "0.35em".into()), ("text-anchor", anchor.into())];
            all.extend(turn);
            all.extend(painted(Paint::Ink, "fill"));
            ("text", all, text.clone())
        }
    };
    Element { tag, attributes, text, says: vec![], inner: vec![] }
}

/// All of a figure's, in order.
pub fn elements(figure: &Figure) -> Vec<Element> {
    let mut all = vec![];
    let mut done = 0;
    for mark in &figure.marks {
        all.extend(figure.shapes[done..mark.shapes.start].iter().map(element));
        let inner = figure.shapes[mark.shapes.clone()].iter().map(element).collect();
        all.push(Element {
            tag: "g",
            attributes: vec![],
            text: String::new(),
            says: mark.says.clone(),
            inner,
        });
        done = mark.shapes.end;
    }
    all.extend(figure.shapes[done..].iter().map(element));
    all
}

fn write(out: &mut String, e: &Element) {
    // (writing to a string cannot fail)
    let _ = write!(out, "<{}", e.tag);
    e.attributes.iter().for_each(|(name, value)| {
        let _ = write!(out, " {name}=\"{value}\"");
    });
    if e.text.is_empty() && e.inner.is_empty() {
        out.push_str("/>");
        return;
    }
    out.push('>');
    if !e.says.is_empty() {
        let says: Vec<String> = e.says.iter().map(|line| escape::xml(line)).collect();
        let _ = write!(out, "<title>{}</title>", says.join("\n"));
    }
    out.push_str(&escape::xml(&e.text));
    e.inner.iter().for_each(|inner| write(out, inner));
    let _ = write!(out, "</{}>", e.tag);
}

/// The whole file.
pub fn render(figure: &Figure) -> String {
    let (w, h) = figure.size;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"sans-serif\" font-size=\"{LETTERS}\">\n"
    );
    if !figure.note.is_empty() {
        let _ = writeln!(out, "<desc>{}</desc>", escape::xml(&figure.note));
    }
    let paper = hex(Paint::Paper.colour());
    let _ = writeln!(out, "<rect width=\"{w}\" height=\"{h}\" class=\"paper\" fill=\"{paper}\"/>");
    for e in figure.title().iter().map(element).chain(elements(figure)) {
        write(&mut out, &e);
        out.push('\n');
    }
    out + "</svg>\n"
}
