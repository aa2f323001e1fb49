//! A report's shapes as figures: distributions as violins, in order and as histograms (`samples`), series as curves and bars, trees as
//! bars, timelines as lanes (`lanes`).
//!
//! Guarantees: every distribution, series (but those that a distribution draws), tree and timeline with something in it has a
//! figure, by its name; the same report gives the same figures.

use super::axis::{
    Axis, HIGH, LEFT, RIGHT, TOP, WIDTH, about, across, beside, frame, named, said, short, span,
};
use super::figure::{Anchor, Figure, Paint};
use super::lanes::timeline;
use super::samples;
use crate::report::bins::{Bins, bins};
use crate::report::shapes::Tree;
use crate::report::{Cell, Mark, Report, Series, Unit};

/// How wide a figure of one series is.
const NARROW: u32 = 640;
/// Rows of a tree that are drawn.
const ROWS: usize = 60;
/// Points up to which each of a curve's has a disc, and all are drawn.
const DISCS: usize = 60;
const POINTS: usize = 2000;

/// All of them, with their names.
pub fn figures(report: &Report) -> Vec<(String, Figure)> {
    let mut all = of_series(report);
    all.extend(report.timelines.iter().filter_map(|t| Some((t.name.clone(), timeline(t)?))));
    all.extend(report.trees.iter().filter_map(|t| Some((t.name.clone(), tree(t)?))));
    all
}

/// Those of distributions and series.
pub fn of_series(report: &Report) -> Vec<(String, Figure)> {
    let mut all: Vec<_> =
        report.distributions.iter().flat_map(|d| samples::figures(d, &report.series)).collect();
    let groups = || report.distributions.iter().flat_map(|d| &d.groups);
    let drawn = |s: &Series| groups().any(|g| g.course == s.name || g.histogram == s.name);
    for s in report.series.iter().filter(|s| !drawn(s)) {
        let figure = match s.mark {
            Mark::Line => curve(s),
            Mark::Bars => bars(s),
        };
        all.extend(figure.map(|f| (s.name.clone(), f)));
    }
    all
}

/// A page with both axes.
fn page(s: &Series, x: (f64, f64), y: (f64, f64)) -> (Figure, Axis, Axis) {
    let right = f64::from(NARROW) - 24.0;
    let (x, y) = (Axis { values: x, pixels: (LEFT, right) }, Axis { values: y, pixels: (TOP + HIGH, TOP) });
    let mut f = Figure::new(NARROW, (TOP + HIGH) as u32 + 56, s.title.clone());
    frame(&mut f, x.pixels, &y, &named(&s.y));
    (f, x, y)
}

/// Of very many points those that are seen: of those at one column of pixels the first, the least, the greatest and the last.
fn seen(points: Vec<(f64, f64)>, x: &Axis) -> Vec<(f64, f64)> {
    if points.len() <= POINTS {
        return points;
    }
    let column = |p: &(f64, f64)| x.at(p.0).round() as i64;
    // (what goes to and fro is drawn from left to right, then: of so many nobody sees the way)
    let mut points = points;
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let columns = points.chunk_by(|a, b| column(a) == column(b));
    let kept = columns.flat_map(|c| {
        let by = |a: &usize, b: &usize| c[*a].1.total_cmp(&c[*b].1);
        let ends = [0, c.len() - 1];
        let mut of: Vec<usize> =
            (0..c.len()).min_by(by).into_iter().chain((0..c.len()).max_by(by)).chain(ends).collect();
        of.sort_unstable();
        of.dedup();
        of.into_iter().map(|n| c[n])
    });
    kept.collect()
}

fn curve(s: &Series) -> Option<Figure> {
    let points = s.numbers();
    let (low, high) = span(points.iter().map(|p| p.1).chain([0.0]))?;
    let (mut f, x, y) = page(s, span(points.iter().map(|p| p.0))?, (low, high));
    let points = seen(points, &x);
    let places: Vec<_> = points.iter().map(|p| (x.at(p.0), y.at(p.1))).collect();
    let (first, last) = (places.first()?.0, places.last()?.0);
    // (what is below a curve is an area where the curve goes from left to right)
    if places.is_sorted_by(|a, b| a.0 <= b.0) {
        let floor = y.at(0f64.clamp(low, high));
        let ends = [(last, floor), (first, floor)];
        f.area(places.iter().copied().chain(ends).collect(), Paint::Series(0, 0.12));
    }
    f.line(places.clone(), Paint::Series(0, 1.0), 1.5);
    for (n, (point, at)) in points.iter().zip(&places).enumerate() {
        // (half the way to both neighbours)
        let to = |other: Option<&(f64, f64)>, end: f64| other.map_or(end, |o| (at.0 + o.0) / 2.0);
        let (from, to) =
            (to(n.checked_sub(1).map(|n| &places[n]), x.pixels.0), to(places.get(n + 1), x.pixels.1));
        let of = |name: &str, said: String| format!("{name} {said}");
        let says = vec![of(&s.x.name, said(point.0, &s.x)), of(&s.y.name, said(point.1, &s.y))];
        f.mark(says, |f| {
            f.rectangle((from, TOP), (to, TOP + HIGH), Paint::CLEAR);
            if points.len() < DISCS {
                f.disc(*at, 2.5, Paint::Series(0, 1.0));
            }
        });
    }
    across(&mut f, &x, TOP + HIGH, &named(&s.x));
    Some(f)
}

/// Where values are of several sizes the marks are powers of ten.
fn bars(s: &Series) -> Option<Figure> {
    let Bins { each, log, single } = bins(&s.numbers());
    let scale = |v: f64| if log { v.log10() } else { v };
    // (a value that has a bar of its own stands in its middle; so does one that is alone)
    let half = |b: &(f64, f64, f64)| match b.0 == b.1 {
        true if single => 0.5,
        true => 0.5 * scale(b.0).abs().max(1.0),
        false => 0.0,
    };
    let edges = |b: &(f64, f64, f64)| (scale(b.0) - half(b), scale(b.1) + half(b));
    let (from, to) = span([edges(each.first()?).0, edges(each.last()?).1].into_iter())?;
    let high = each.iter().map(|b| b.2).fold(0.0, f64::max);
    let (mut f, x, y) = page(s, (from, to), (0.0, high.max(1.0) * 1.05));
    for bar in each.iter().filter(|b| b.2 > 0.0) {
        let (a, b) = edges(bar);
        let (a, b) = (x.at(a) + 1.0, x.at(b) - 1.0);
        let value = match single {
            true => format!("{} {}", s.x.name, said(bar.0, &s.x)),
            false => format!("{} {} to {} {}", s.x.name, about(bar.0), about(bar.1), s.x.unit.symbol()),
        };
        let count =
            if s.y.unit.symbol() == s.y.name { said(bar.2, &s.y) } else { format!("{} {}", bar.2, s.y.name) };
        f.mark(vec![value.trim_end().to_owned(), count], |f| {
            f.rectangle((a, TOP), (b.max(a + 1.0), TOP + HIGH), Paint::CLEAR);
            let top = y.at(bar.2).min(TOP + HIGH - 1.0);
            f.rectangle((a, top), (b.max(a + 1.0), TOP + HIGH), Paint::Series(0, 1.0));
        });
    }
    if log {
        // (the powers of ten within, and both ends)
        let powers = (from.ceil() as i32..=to.floor() as i32).map(f64::from);
        for power in powers {
            let at = x.at(power);
            f.line(vec![(at, TOP + HIGH), (at, TOP + HIGH + 5.0)], Paint::Ink, 1.0);
            f.text((at, TOP + HIGH + 15.0), format!("1e{power}"), Anchor::Middle);
        }
        f.text(((x.pixels.0 + x.pixels.1) / 2.0, TOP + HIGH + 36.0), named(&s.x), Anchor::Middle);
    } else {
        across(&mut f, &x, TOP + HIGH, &named(&s.x));
    }
    Some(f)
}

/// Bars of the last column that is a share or a time.
fn tree(t: &Tree) -> Option<Figure> {
    const ROW: f64 = 22.0;
    let at = t.columns.iter().rposition(|c| c.unit == Unit::Percent).or(t.columns.len().checked_sub(1))?;
    let nodes: Vec<_> = t.nodes.iter().take(ROWS).collect();
    let value = |n: &crate::report::shapes::Node| n.values.get(at).and_then(Cell::number).unwrap_or(0.0);
    let most = nodes.iter().map(|n| value(n)).fold(0.0, f64::max);
    if most <= 0.0 {
        return None;
    }
    let names: Vec<String> =
        nodes.iter().map(|n| short(&("  ".repeat(n.depth as usize) + &n.name))).collect();
    let left = beside(names.iter().map(String::as_str));
    let bottom = TOP + ROW * nodes.len() as f64;
    let x = Axis { values: (0.0, most), pixels: (left, RIGHT) };
    let some = if t.nodes.len() > ROWS {
        format!(" (the first {ROWS} of {})", t.nodes.len())
    } else {
        String::new()
    };
    let mut f = Figure::new(WIDTH, bottom as u32 + 56, format!("{}{some}", t.title));
    for (n, (node, name)) in nodes.iter().zip(&names).enumerate() {
        let y = TOP + ROW * n as f64;
        let paint = Paint::Series(0, 1.0 - f64::from(node.depth.min(4)) * 0.15);
        f.text((16.0, y + ROW / 2.0), name.clone(), Anchor::Start);
        if node.values.get(at).and_then(Cell::number).is_some() {
            f.rectangle((left, y + 4.0), (x.at(value(node)).max(left + 1.0), y + ROW - 4.0), paint);
        }
    }
    across(&mut f, &x, bottom, &named(&t.columns[at]));
    Some(f)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Column;
    use crate::report::plot::Shape;
    use crate::report::shapes::{Distribution, Group, Node, Span, SpanKind, Timeline};

    fn series(name: &str, mark: Mark, points: &[(u64, f64)]) -> Series {
        Series {
            name: name.into(),
            title: name.into(),
            mark,
            x: Column::new("round", Unit::Count),
            y: Column::new("time", Unit::Milliseconds),
            points: points.iter().map(|(x, y)| (Cell::Count(*x), Cell::Number(*y))).collect(),
        }
    }

    #[test]
    fn every_shape_has_its_figure() {
        let mut r = Report::new("x", "X");
        r.series = vec![
            series("a", Mark::Line, &[(1, 2.0), (2, 2.5), (3, 2.25)]),
            series("curve", Mark::Line, &[(1, 2.0)]),
            series("bars", Mark::Bars, &[(1, 2.0), (1000, 3.0)]),
            series("none", Mark::Bars, &[]),
        ];
        let group = Group { name: "plan".into(), course: "a".into(), histogram: String::new() };
        r.distributions = vec![Distribution { name: "d".into(), title: "D".into(), groups: vec![group] }];
        let node =
            |depth, share| Node { depth, name: format!("pass {depth}"), values: vec![Cell::Number(share)] };
        let columns = vec![Column::new("share", Unit::Percent)];
        r.trees = vec![Tree {
            name: "t".into(),
            title: "T".into(),
            columns,
            nodes: vec![node(0, 100.0), node(1, 40.0)],
        }];
        r.timelines = vec![Timeline {
            name: "l".into(),
            title: "L".into(),
            time: Column::new("time", Unit::Cycles),
            value: Column::new("entered", Unit::Invocations),
            frame: None,
            lanes: vec!["unit 0".into()],
            kinds: vec![SpanKind { name: "main".into(), group: "fragment".into() }],
            spans: vec![Span { lane: 0, kind: 0, begin: 1.0, end: 4.0, value: 8.0 }],
        }];
        let all = figures(&r);
        let names: Vec<&str> = all.iter().map(|f| f.0.as_str()).collect();
        assert_eq!(names, ["d_violins", "d_in_order", "d_histogram", "curve", "bars", "l", "t"]);
        for (name, f) in &all {
            assert!(f.png().is_ok(), "{name}");
            assert!(f.svg().contains("<polygon") || f.svg().contains("<polyline"), "{name}");
        }
        // Half the share, half the bar: 100 % ends where the axis does.
        let svg = all[6].1.svg();
        assert!(svg.contains("100") && svg.contains("pass 1"), "{svg}");
        assert_eq!(figures(&r), all);
    }

    #[test]
    fn bars_are_where_their_values_are() {
        let f = bars(&series("b", Mark::Bars, &[(1, 4.0), (3, 2.0)])).expect("there are values");
        let areas: Vec<_> = (f.shapes.iter())
            .filter_map(|s| match s {
                Shape::Area(p, Paint::Series(_, 1.0)) => Some((p[0], p[2])),
                _ => None,
            })
            .collect();
        assert_eq!(areas.len(), 2, "value 2 has none: {areas:?}");
        let high = |(a, b): ((f64, f64), (f64, f64))| b.1 - a.1;
        assert!((high(areas[0]) / high(areas[1]) - 2.0).abs() < 1e-9, "{areas:?}");
        let says: Vec<_> = f.marks.iter().map(|m| m.says.join("; ")).collect();
        assert_eq!(says, ["round 1; 4 time", "round 3; 2 time"]);
    }

    #[test]
    fn of_very_many_points_those_that_are_seen_are_drawn_and_say_their_values() {
        let few: Vec<(u64, f64)> = vec![(1, 0.1), (2, 0.30000000000000004), (3, 0.2)];
        let f = curve(&series("c", Mark::Line, &few)).expect("there are values");
        let says: Vec<_> = f.marks.iter().map(|m| m.says[1].clone()).collect();
        assert_eq!(says, ["time 0.1 ms", "time 0.30000000000000004 ms", "time 0.2 ms"]);
        let many: Vec<(u64, f64)> = (0..100_000).map(|n| (n, f64::from(n as u32 % 1000))).collect();
        let f = curve(&series("c", Mark::Line, &many)).expect("there are values");
        assert!((500..=4 * 600).contains(&f.marks.len()), "{}", f.marks.len());
        // Marks lie beside each other, from one end of the axis to the other.
        let across: Vec<_> = (f.marks.iter())
            .map(|m| match &f.shapes[m.shapes.start] {
                Shape::Area(p, paint) => (p[0].0, p[2].0, paint.opacity()),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!((across[0].0, across[across.len() - 1].1), (LEFT, f64::from(NARROW) - 24.0));
        assert!(across.windows(2).all(|w| w[0].1 == w[1].0) && across.iter().all(|a| a.2 == 0.0));
    }
}
