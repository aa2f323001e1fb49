//! A timeline as a figure: a lane a row, names of lanes once for those that belong together, colours by what took place, paler the
//! less its value is.
//!
//! Guarantees: the figure is no higher for any number of lanes; those that are more than pixels are drawn over each other.

use super::axis::{Axis, across, named};
use super::figure::{Anchor, Figure, Paint};
use crate::report::shapes::Timeline;

const WIDTH: u32 = 1200;
const LEFT: f64 = 150.0;
const TOP: f64 = 66.0;
/// Pixels that all lanes have together at most, and each at most.
const LANES: f64 = 600.0;
const LANE: f64 = 14.0;

/// The figure; none without spans.
pub fn timeline(t: &Timeline) -> Option<Figure> {
    let end = t.spans.iter().map(|s| s.end).fold(f64::MIN, f64::max);
    let most = t.spans.iter().map(|s| s.value).fold(1.0, f64::max);
    if t.spans.is_empty() || t.lanes.is_empty() {
        return None;
    }
    let row = (LANES / t.lanes.len() as f64).min(LANE);
    let row = if row < 1.0 { row } else { row.floor() };
    let bottom = TOP + row * t.lanes.len() as f64;
    let right = f64::from(WIDTH) - 24.0;
    let x = Axis { values: (0.0, end.max(1.0)), pixels: (LEFT, right) };
    let mut f = Figure::new(WIDTH, bottom as u32 + 56, t.title.clone());
    let mut groups: Vec<&str> = vec![];
    for k in &t.kinds {
        if !groups.contains(&&*k.group) {
            groups.push(&k.group);
        }
    }
    let mut at = LEFT;
    for (n, group) in groups.iter().enumerate() {
        f.rectangle((at, 39.0), (at + 12.0, 49.0), Paint::Series(n, 1.0));
        f.text((at + 20.0, 44.0), *group, Anchor::Start);
        at += 44.0 + 12.0 * group.chars().count() as f64;
    }
    x.marks(x.fitting())
        .0
        .iter()
        .for_each(|m| f.line(vec![(x.at(*m), TOP), (x.at(*m), bottom)], Paint::Grid, 1.0));
    let (mut last, mut free) = (None, 0.0);
    for (n, name) in t.lanes.iter().enumerate() {
        let y = TOP + row * n as f64;
        if last == Some(name) {
            continue;
        }
        last = Some(name);
        f.line(vec![(LEFT, y), (right, y)], Paint::Grid, 1.0);
        if y >= free {
            free = y + 18.0;
            f.text(
                (16.0, y + (row / 2.0).max(8.0)),
                name.chars().take(11).collect::<String>(),
                Anchor::Start,
            );
        }
    }
    for s in &t.spans {
        let group = t.kinds.get(s.kind as usize).and_then(|k| groups.iter().position(|g| *g == k.group));
        let paint = Paint::Series(group.unwrap_or(0), 0.4 + 0.6 * s.value / most);
        let y = TOP + row * f64::from(s.lane);
        let (a, b) = (x.at(s.begin), x.at(s.end));
        // (so that neighbours are told apart)
        let b = if b - a > 3.0 { b - 1.0 } else { b.max(a + 1.0) };
        let inner = if row > 4.0 { row - 1.0 } else { row.max(1.0) };
        f.rectangle((a, y), (b, y + inner), paint);
    }
    f.line(vec![(LEFT, bottom), (right, bottom)], Paint::Ink, 1.0);
    across(&mut f, &x, bottom, &named(&t.time));
    Some(f)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::plot::Shape;
    use crate::report::shapes::{Span, SpanKind};
    use crate::report::{Column, Unit};

    #[test]
    fn spans_lie_in_their_lanes_and_times() {
        let span = |lane, begin, end, value| Span { lane, kind: 0, begin, end, value };
        let mut t = Timeline {
            name: "t".into(),
            title: "T".into(),
            time: Column::new("time", Unit::Cycles),
            value: Column::new("entered", Unit::Invocations),
            frame: None,
            lanes: vec!["SM 0".into(), "SM 0".into()],
            kinds: vec![SpanKind { name: "main".into(), group: "fragment".into() }],
            spans: vec![span(0, 0.0, 50.0, 8.0), span(1, 50.0, 100.0, 4.0)],
        };
        let f = timeline(&t).expect("it has spans");
        let areas: Vec<_> = (f.shapes.iter())
            .filter_map(|s| match s {
                Shape::Area(p, c) => Some((p[0], p[2], *c)),
                _ => None,
            })
            .collect();
        let [_, a, b] = areas[..] else { panic!("a key and two spans: {areas:?}") };
        assert!(a.0.0 == LEFT && (b.0.0 - (LEFT + (f64::from(WIDTH) - 24.0 - LEFT) / 2.0)).abs() < 1e-9);
        assert!(b.0.1 > a.0.1 && (a.2, b.2) == (Paint::Series(0, 1.0), Paint::Series(0, 0.7)));
        // A pixel stays a pixel's height where there are more lanes than pixels.
        t.lanes = vec!["SM 0".into(); 30_000];
        let f = timeline(&t).expect("it has spans");
        assert_eq!(f.size, (WIDTH, (TOP + LANES) as u32 + 56));
        let lane = |s: &Shape| matches!(s, Shape::Area(p, _) if p[0].1 >= TOP && p[2].1 - p[0].1 < 0.9);
        assert!(!f.shapes.iter().any(lane) && f.png().is_ok());
        t.spans.clear();
        assert_eq!(timeline(&t), None);
    }
}
