//! Figures as pixels: polygons by how much of each pixel they cover, in sixteenths, and hide; letters as squares of two pixels.

use super::figure::{Anchor, Figure, Paint, Point, Shape};
use crate::report::font::{ADVANCE, HEIGHT, glyph};
use crate::report::png::Canvas;

/// Lines that a pixel is looked at in, and parts of each.
const FINE: u32 = 4;
/// Pixels of a letter's dot.
const DOT: u32 = 2;

/// All shapes, in order.
pub fn render(figure: &Figure) -> Result<Canvas, String> {
    let (w, h) = figure.size;
    let mut canvas = Canvas::new(w, h).ok_or_else(|| format!("a figure of {w} x {h} pixels"))?;
    for shape in figure.title().iter().chain(&figure.shapes) {
        match shape {
            Shape::Area(points, paint) => area(&mut canvas, points, *paint),
            Shape::Line(points, paint, width) => {
                points.windows(2).for_each(|p| segment(&mut canvas, p[0], p[1], *width, *paint));
            }
            Shape::Text(at, words, anchor, upwards) => text(&mut canvas, *at, words, *anchor, *upwards),
        }
    }
    Ok(canvas)
}

/// A piece of a line is a rectangle, a little longer than it so that pieces meet.
fn segment(canvas: &mut Canvas, a: Point, b: Point, width: f64, paint: Paint) {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length = dx.hypot(dy);
    if length == 0.0 {
        return;
    }
    let half = width / 2.0;
    let (ux, uy) = (dx / length * half, dy / length * half);
    // (straight ends at straight lines, so that axes do not blur)
    let more = if dx == 0.0 || dy == 0.0 { 0.0 } else { 0.5 };
    let (a, b) = ((a.0 - ux * more, a.1 - uy * more), (b.0 + ux * more, b.1 + uy * more));
    let corners =
        vec![(a.0 - uy, a.1 + ux), (b.0 - uy, b.1 + ux), (b.0 + uy, b.1 - ux), (a.0 + uy, a.1 - ux)];
    area(canvas, &corners, paint);
}

/// What lies inside by the even-odd rule.
fn area(canvas: &mut Canvas, points: &[Point], paint: Paint) {
    let (w, h) = canvas.size();
    let (colour, opacity) = (paint.colour(), paint.opacity());
    let ys = || points.iter().map(|p| p.1);
    let top = ys().fold(f64::INFINITY, f64::min).floor().clamp(0.0, f64::from(h)) as u32;
    let bottom = ys().fold(f64::NEG_INFINITY, f64::max).ceil().clamp(0.0, f64::from(h)) as u32;
    let mut covered = vec![0u32; w as usize];
    for row in top..bottom {
        covered.fill(0);
        let (mut left, mut right) = (w, 0);
        for line in 0..FINE {
            let y = f64::from(row) + (f64::from(line) + 0.5) / f64::from(FINE);
            let mut crossings: Vec<f64> = (0..points.len())
                .filter_map(|n| {
                    let (a, b) = (points[n], points[(n + 1) % points.len()]);
                    let between = (a.1 <= y) != (b.1 <= y);
                    between.then(|| a.0 + (y - a.1) / (b.1 - a.1) * (b.0 - a.0))
                })
                .collect();
            crossings.sort_by(f64::total_cmp);
            for pair in crossings.chunks_exact(2) {
                let fine = |x: f64| (x.clamp(0.0, f64::from(w)) * f64::from(FINE)).round() as u32;
                let (from, to) = (fine(pair[0]), fine(pair[1]));
                (from..to).for_each(|x| covered[(x / FINE) as usize] += 1);
                if from < to {
                    (left, right) = (left.min(from / FINE), right.max(to.div_ceil(FINE)));
                }
            }
        }
        for x in left..right.min(w) {
            let share = f64::from(covered[x as usize].min(FINE * FINE)) / f64::from(FINE * FINE) * opacity;
            if share > 0.0 {
                let below = canvas.at(x, row);
                let mix = |i: usize| {
                    let (a, b) = (f64::from(below[i]), f64::from(colour[i]));
                    (a + (b - a) * share).round() as u8
                };
                canvas.fill(x, row, 1, 1, [mix(0), mix(1), mix(2)]);
            }
        }
    }
}

fn text(canvas: &mut Canvas, (x, y): Point, words: &str, anchor: Anchor, upwards: bool) {
    let along = f64::from((words.chars().count() as u32 * ADVANCE).saturating_sub(1) * DOT);
    let back = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => along / 2.0,
        Anchor::End => along,
    };
    let half = f64::from(HEIGHT * DOT) / 2.0;
    for (n, letter) in (0u32..).zip(words.chars()) {
        for (row, bits) in (0u32..).zip(glyph(letter)) {
            for column in (0..5).filter(|c| bits >> (4 - c) & 1 == 1) {
                let (right, down) =
                    (f64::from((n * ADVANCE + column) * DOT) - back, f64::from(row * DOT) - half);
                let at = if upwards { (x + down, y - right - f64::from(DOT)) } else { (x + right, y + down) };
                if at.0.round() >= 0.0 && at.1.round() >= 0.0 {
                    canvas.fill(at.0.round() as u32, at.1.round() as u32, DOT, DOT, Paint::Ink.colour());
                }
            }
        }
    }
}
