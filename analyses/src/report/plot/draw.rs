//! A report's shapes as figures: distributions as violins and in order, series as curves and bars, trees as bars, timelines as
//! lanes. What the page for browsers draws, on paper.
//!
//! Guarantees: every distribution, series (but those that a distribution draws), tree and timeline with something in it has a
//! figure, by its name; the same report gives the same figures.

use super::axis::{Axis, across, frame, named};
use super::figure::{Anchor, COLOURS, Figure, GRID, INK, PAPER, lighter};
use super::lanes::timeline;
use crate::report::bins::{Bins, bins};
use crate::report::png::Colour;
use crate::report::shapes::{Distribution, Tree};
use crate::report::summary::{FEWEST, Summary, cut, summary};
use crate::report::{Cell, Mark, Report, Series, Unit};

const WIDTH: u32 = 960;
const LEFT: f64 = 88.0;
const RIGHT: f64 = WIDTH as f64 - 24.0;
const TOP: f64 = 48.0;
const HIGH: f64 = 280.0;
/// Rows of a tree that are drawn.
const ROWS: usize = 60;
/// Letters of a name beside a row.
const LETTERS: usize = 40;

/// All of them, with their names.
pub fn figures(report: &Report) -> Vec<(String, Figure)> {
    let mut all = vec![];
    for d in &report.distributions {
        all.extend(violins(d, &report.series).map(|f| (format!("{}_violins", d.name), f)));
        all.extend(course(d, &report.series).map(|f| (format!("{}_in_order", d.name), f)));
    }
    let groups = || report.distributions.iter().flat_map(|d| &d.groups);
    let drawn = |s: &Series| groups().any(|g| g.course == s.name || g.histogram == s.name);
    for s in report.series.iter().filter(|s| !drawn(s)) {
        let figure = match s.mark {
            Mark::Line => curve(s),
            Mark::Bars => bars(s),
        };
        all.extend(figure.map(|f| (s.name.clone(), f)));
    }
    all.extend(report.timelines.iter().filter_map(|t| Some((t.name.clone(), timeline(t)?))));
    all.extend(report.trees.iter().filter_map(|t| Some((t.name.clone(), tree(t)?))));
    all
}

/// Least and greatest.
fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let ends = values
        .fold(None, |ends: Option<(f64, f64)>, v| Some(ends.map_or((v, v), |(a, b)| (a.min(v), b.max(v)))));
    ends.map(|(a, b)| if a < b { (a, b) } else { (a - 0.5 * a.abs().max(1.0), b + 0.5 * b.abs().max(1.0)) })
}

/// A name that fits beside a row.
fn short(name: &str) -> String {
    match name.chars().count() {
        n if n > LETTERS => name.chars().take(LETTERS - 1).collect::<String>() + "…",
        _ => name.to_owned(),
    }
}

/// Where names end, and the rows begin, for rows with these names.
fn beside<'a>(names: impl Iterator<Item = &'a str>) -> f64 {
    // (the letters of the PNG are 12 pixels wide)
    24.0 + 12.0 * names.map(|n| short(n).chars().count()).max().unwrap_or(0) as f64
}

fn violins(d: &Distribution, series: &[Series]) -> Option<Figure> {
    const ROW: f64 = 48.0;
    let all: Vec<(&str, Summary, Vec<f64>)> = d
        .courses(series)
        .filter_map(|(g, s)| {
            let values: Vec<f64> = s.numbers().into_iter().map(|p| p.1).collect();
            Some((&*g.name, summary(values.iter().copied())?, values))
        })
        .collect();
    let y = &d.courses(series).next()?.1.y;
    let (least, most) = span(all.iter().flat_map(|(_, s, _)| [s.at[0], s.at[4]]))?;
    let end = cut(all.iter().map(|a| &a.1)).unwrap_or(most);
    let left = beside(all.iter().map(|a| a.0));
    let bottom = TOP + ROW * all.len() as f64;
    let mut f = Figure::new(WIDTH, bottom as u32 + 56);
    let margin = (end - least) * 0.04;
    let x = Axis {
        values: ((least - margin).max(if least >= 0.0 { 0.0 } else { f64::MIN }), end + margin),
        pixels: (left, RIGHT),
    };
    f.text((24.0, 22.0), d.title.clone(), Anchor::Start);
    x.marks(9).0.iter().for_each(|m| f.line(vec![(x.at(*m), TOP), (x.at(*m), bottom)], GRID, 1.0));
    for (n, (name, s, values)) in all.iter().enumerate() {
        let (middle, colour) = (TOP + ROW * (n as f64 + 0.5), COLOURS[n % COLOURS.len()]);
        let kept: Vec<_> = s.density.iter().filter(|p| p.0 >= x.values.0 && p.0 <= x.values.1).collect();
        let edge = |up: f64| move |p: &&&(f64, f64)| (p.0, middle - up * p.1 * ROW * 0.42);
        let upper = kept.iter().map(|p| edge(1.0)(&p));
        let lower = kept.iter().rev().map(|p| edge(-1.0)(&p));
        let outline: Vec<_> = upper.chain(lower).map(|(v, y)| (x.at(v), y)).collect();
        if outline.len() > 2 {
            f.area(outline, lighter(colour, 0.55));
        }
        if s.count < FEWEST {
            let values = values.iter().filter(|v| (x.values.0..=x.values.1).contains(*v));
            values.for_each(|v| f.disc((x.at(*v), middle + ROW * 0.3), 3.0, lighter(colour, 0.3)));
        }
        let at = |v: f64| x.at(v.clamp(x.values.0, x.values.1));
        f.line(vec![(at(s.whiskers[0]), middle), (at(s.whiskers[1]), middle)], INK, 1.0);
        let (from, to) = (at(s.at[1]), at(s.at[3]).max(at(s.at[1]) + 2.0));
        f.rectangle((from - 1.0, middle - 6.0), (to + 1.0, middle + 6.0), INK);
        f.rectangle((from, middle - 5.0), (to, middle + 5.0), PAPER);
        f.line(vec![(at(s.at[2]), middle - 6.0), (at(s.at[2]), middle + 6.0)], colour, 3.0);
        f.disc((at(s.mean), middle), 3.0, INK);
        f.text((left - 10.0, middle), short(name), Anchor::End);
    }
    f.line(vec![(left, bottom), (RIGHT, bottom)], INK, 1.0);
    across(&mut f, &x, bottom, &named(y));
    Some(f)
}

fn course(d: &Distribution, series: &[Series]) -> Option<Figure> {
    let all: Vec<_> = d.courses(series).map(|(g, s)| (&*g.name, s.numbers(), s)).collect();
    let first = all.first()?.2;
    let each = || all.iter().flat_map(|a| &a.1);
    let x = Axis { values: span(each().map(|p| p.0))?, pixels: (LEFT, RIGHT) };
    let rows = all.len().div_ceil(4) as f64;
    let top = TOP + rows * 20.0;
    let y = Axis { values: span(each().map(|p| p.1))?, pixels: (top + HIGH, top) };
    let mut f = Figure::new(WIDTH, (top + HIGH) as u32 + 56);
    frame(&mut f, &format!("{}, in order", d.title), (LEFT, RIGHT), &y, &named(&first.y));
    for (n, (name, points, _)) in all.iter().enumerate() {
        let colour = COLOURS[n % COLOURS.len()];
        for (a, b) in points {
            let (a, b) = (x.at(*a), y.at(*b));
            f.rectangle((a - 1.5, b - 1.5), (a + 1.5, b + 1.5), colour);
        }
        let (a, b) = (LEFT + 215.0 * (n % 4) as f64, TOP - 4.0 + 20.0 * (n / 4) as f64);
        f.rectangle((a, b - 5.0), (a + 10.0, b + 5.0), colour);
        f.text((a + 18.0, b), name.chars().take(15).collect::<String>(), Anchor::Start);
    }
    across(&mut f, &x, top + HIGH, &named(&first.x));
    Some(f)
}

/// A page with both axes.
fn page(s: &Series, x: (f64, f64), y: (f64, f64)) -> (Figure, Axis, Axis) {
    let (x, y) = (Axis { values: x, pixels: (LEFT, RIGHT) }, Axis { values: y, pixels: (TOP + HIGH, TOP) });
    let mut f = Figure::new(WIDTH, (TOP + HIGH) as u32 + 56);
    frame(&mut f, &s.title, (LEFT, RIGHT), &y, &named(&s.y));
    (f, x, y)
}

fn curve(s: &Series) -> Option<Figure> {
    let points = s.numbers();
    let (low, high) = span(points.iter().map(|p| p.1).chain([0.0]))?;
    let (mut f, x, y) = page(s, span(points.iter().map(|p| p.0))?, (low, high));
    f.line(points.iter().map(|p| (x.at(p.0), y.at(p.1))).collect(), COLOURS[1], 1.5);
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
        f.rectangle((a, y.at(bar.2).min(TOP + HIGH - 1.0)), (b.max(a + 1.0), TOP + HIGH), COLOURS[1]);
    }
    if log {
        // (the powers of ten within, and both ends)
        let powers = (from.ceil() as i32..=to.floor() as i32).map(f64::from);
        for power in powers {
            let at = x.at(power);
            f.line(vec![(at, TOP + HIGH), (at, TOP + HIGH + 5.0)], INK, 1.0);
            f.text((at, TOP + HIGH + 15.0), format!("1e{power}"), Anchor::Middle);
        }
        f.text(((LEFT + RIGHT) / 2.0, TOP + HIGH + 36.0), named(&s.x), Anchor::Middle);
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
    let mut f = Figure::new(WIDTH, bottom as u32 + 56);
    let some = if t.nodes.len() > ROWS {
        format!(" (the first {ROWS} of {})", t.nodes.len())
    } else {
        String::new()
    };
    f.text((24.0, 22.0), format!("{}{some}", t.title), Anchor::Start);
    for (n, (node, name)) in nodes.iter().zip(&names).enumerate() {
        let y = TOP + ROW * n as f64;
        let colour: Colour = lighter(COLOURS[1], f64::from(node.depth.min(4)) * 0.15);
        f.text((16.0, y + ROW / 2.0), name.clone(), Anchor::Start);
        if node.values.get(at).and_then(Cell::number).is_some() {
            f.rectangle((left, y + 4.0), (x.at(value(node)).max(left + 1.0), y + ROW - 4.0), colour);
        }
    }
    across(&mut f, &x, bottom, &named(&t.columns[at]));
    Some(f)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Column;
    use crate::report::shapes::{Group, Node, Span, SpanKind, Timeline};

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
            lanes: vec!["unit 0".into()],
            kinds: vec![SpanKind { name: "main".into(), group: "fragment".into() }],
            spans: vec![Span { lane: 0, kind: 0, begin: 1.0, end: 4.0, value: 8.0 }],
        }];
        let all = figures(&r);
        let names: Vec<&str> = all.iter().map(|f| f.0.as_str()).collect();
        assert_eq!(names, ["d_violins", "d_in_order", "curve", "bars", "l", "t"]);
        for (name, f) in &all {
            assert!(f.png().is_ok(), "{name}");
            assert!(f.svg().contains("<polygon") || f.svg().contains("<polyline"), "{name}");
        }
        // Half the share, half the bar: 100 % ends where the axis does.
        let svg = all[5].1.svg();
        assert!(svg.contains("100") && svg.contains("pass 1"), "{svg}");
        assert_eq!(figures(&r), all);
    }

    #[test]
    fn bars_are_where_their_values_are() {
        let f = bars(&series("b", Mark::Bars, &[(1, 4.0), (3, 2.0)])).expect("there are values");
        let areas: Vec<_> = (f.shapes.iter())
            .filter_map(|s| match s {
                super::super::figure::Shape::Area(p, _) => Some((p[0], p[2])),
                _ => None,
            })
            .collect();
        assert_eq!(areas.len(), 2, "value 2 has none: {areas:?}");
        let high = |(a, b): ((f64, f64), (f64, f64))| b.1 - a.1;
        assert!((high(areas[0]) / high(areas[1]) - 2.0).abs() < 1e-9, "{areas:?}");
    }
}
