//! Maps side by side, by one scale, so that what differs between them can be seen.

use crate::report::Image;
use crate::report::png::{Canvas, Colour, LONGEST, colour, text_width};

const MARGIN: u32 = 8;
const LINE: u32 = 12;
const BAR: u32 = 10;
const INK: Colour = [20, 20, 20];
/// Panels whose longer side is shorter are drawn larger.
const SMALL: u32 = 256;

/// Panels in a row, each under its name, as a PNG file. The scale goes from the least value of all panels to the greatest, or,
/// where `most` percent are asked for, to the largest of the panels' values that so many of theirs do not exceed: what lies
/// beyond has the scale's last colour. Refuses panels of different sizes, and none.
pub fn panels(title: &str, panels: &[(String, &Image)], most: usize) -> Result<Vec<u8>, String> {
    let Some((_, first)) = panels.first() else { return Err("no panels".into()) };
    let (w, h) = (first.width, first.height);
    let whole = |i: &Image| i.pixels.len() as u64 == u64::from(w) * u64::from(h);
    if panels.iter().any(|(_, i)| (i.width, i.height) != (w, h) || !whole(i)) {
        return Err(format!("{title}: panels of different sizes"));
    }
    let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
    for (_, image) in panels {
        let mut values: Vec<f32> = image.pixels.iter().copied().filter(|v| v.is_finite()).collect();
        if values.is_empty() {
            continue;
        }
        let rank = (values.len() * most.min(100)).div_ceil(100).saturating_sub(1);
        let (below, at, _) = values.select_nth_unstable_by(rank, f32::total_cmp);
        high = high.max(*at);
        low = below.iter().copied().fold(low.min(*at), f32::min);
    }
    let scale = (SMALL / w.max(h).max(1)).max(1);
    let (wide, tall) = (w.saturating_mul(scale), h.saturating_mul(scale));
    let unit = first.value.unit.symbol();
    let legend = match low.is_finite() {
        true => format!(
            "{}: {low} to {high} {unit}{}",
            first.value.name,
            if most < 100 { " and more" } else { "" }
        ),
        false => format!("{}: no pixel has a value", first.value.name),
    };
    let count = panels.len() as u32;
    let widest = panels.iter().map(|p| text_width(&p.0)).chain([wide]).max().unwrap_or(wide);
    let across = (widest + MARGIN).saturating_mul(count).saturating_add(MARGIN);
    let across = across.max(text_width(title).max(text_width(&legend)) + 2 * MARGIN);
    let above = MARGIN + 2 * LINE;
    let down = tall.saturating_add(above + MARGIN + BAR + LINE + MARGIN);
    let canvas = Canvas::new(across, down).filter(|_| wide > 0 && tall > 0);
    let mut canvas =
        canvas.ok_or_else(|| format!("{title}: {count} panels of {w} x {h} (sides up to {LONGEST})"))?;
    canvas.text(MARGIN, MARGIN, title, INK);
    for (n, (name, image)) in (0..).zip(panels) {
        let left = MARGIN + n * (widest + MARGIN);
        canvas.text(left, MARGIN + LINE, name, INK);
        for (at, v) in (0u32..).zip(&image.pixels) {
            let place = match v {
                v if v.is_finite() && high > low => (v - low) / (high - low),
                v if v.is_finite() => 1.0,
                _ => f32::NAN,
            };
            let (x, y) = (at % w * scale, at / w * scale);
            canvas.fill(left + x, above + y, scale, scale, colour(f64::from(place)));
        }
    }
    let bar = above + tall + MARGIN;
    if low.is_finite() {
        for x in 0..across - 2 * MARGIN {
            let at = f64::from(x) / f64::from((across - 2 * MARGIN).max(2) - 1);
            canvas.fill(MARGIN + x, bar, 1, BAR, colour(at));
        }
    }
    canvas.text(MARGIN, bar + BAR + 4, &legend, INK);
    canvas.png()
}
