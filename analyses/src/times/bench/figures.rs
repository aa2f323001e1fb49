//! The study's figures: efficiency as bars (Cheung's Figure 3.8), distributions of times as violins with boxes (3.9), and times
//! over the run, a figure a plan (3.10, 3.11).

use super::bands::density;
use super::plan::{Plan, Quartiles};
use crate::report::plot::{Anchor, Axis, COLOURS, Figure, INK, PAPER, frame, lighter};
use crate::report::png::Colour;

/// A figure and its name.
pub struct Picture {
    /// The name of its files, without an ending.
    pub name: String,
    /// It.
    pub figure: Figure,
}

const LEFT: f64 = 88.0;
const TOP: f64 = 44.0;
/// (half of a long name may stand beyond the last place)
const MARGIN: u32 = 60;

/// Every figure that there is something to draw in.
pub fn figures(plans: &[Plan], frame_number: u64) -> Vec<Picture> {
    let mut all = vec![];
    let picture = |name: &str, figure| Picture { name: name.to_owned(), figure };
    all.extend(efficiency(plans).map(|f| picture("efficiency", f)));
    all.extend(violins(plans, frame_number).map(|f| picture("violins", f)));
    let range = range(plans);
    for (n, plan) in plans.iter().enumerate() {
        all.extend(course(plan, colour(n), range).map(|f| picture(&format!("times_{}", plan.name), f)));
    }
    all
}

fn colour(n: usize) -> Colour {
    COLOURS[n % COLOURS.len()]
}

/// Two bars a plan.
fn efficiency(plans: &[Plan]) -> Option<Figure> {
    let shown: Vec<&Plan> = plans.iter().filter(|p| p.actual.or(p.synthetic).is_some()).collect();
    if shown.is_empty() {
        return None;
    }
    let step = 140.0;
    let right = LEFT + step * shown.len() as f64;
    let mut f = Figure::new(right as u32 + MARGIN, 420);
    let most = shown.iter().flat_map(|p| [p.actual, p.synthetic]).flatten().fold(0.0, f64::max);
    // (room for the numbers over the bars)
    let y = Axis { values: (0.0, (most * 1.1).max(1.0)), pixels: (360.0, TOP + 24.0) };
    frame(&mut f, "SIMT efficiency of events of rays", (LEFT, right), &y, "percent");
    let kinds: [(&str, Colour); 2] = [("actual", COLOURS[1]), ("synthetic", lighter(COLOURS[5], 0.2))];
    for (n, (name, colour)) in kinds.iter().enumerate() {
        let x = LEFT + 12.0 + 130.0 * n as f64;
        f.rectangle((x, TOP - 7.0), (x + 14.0, TOP + 7.0), *colour);
        f.text((x + 22.0, TOP), *name, Anchor::Start);
    }
    for (n, plan) in shown.iter().enumerate() {
        let middle = LEFT + step * (n as f64 + 0.5);
        for (k, value) in [plan.actual, plan.synthetic].into_iter().enumerate() {
            let Some(value) = value else { continue };
            let x = middle - 58.0 + 58.0 * k as f64;
            f.rectangle((x + 2.0, y.at(value)), (x + 56.0, y.at(0.0)), kinds[k].1);
            f.text((x + 29.0, y.at(value) - 11.0), format!("{value:.1}"), Anchor::Middle);
        }
        name(&mut f, middle, y.pixels.0, &plan.name, n);
    }
    Some(f)
}

/// A plan's name under its place; long ones in two heights, so that neighbours do not meet.
fn name(f: &mut Figure, x: f64, below: f64, name: &str, n: usize) {
    let y = below + if n.is_multiple_of(2) { 18.0 } else { 40.0 };
    if !n.is_multiple_of(2) {
        f.line(vec![(x, below), (x, below + 28.0)], [150, 150, 150], 1.0);
    }
    f.text((x, y), name, Anchor::Middle);
}

/// From the least to the greatest time of all plans, in milliseconds, with a margin.
fn range(plans: &[Plan]) -> (f64, f64) {
    let all = || plans.iter().flat_map(|p| p.times.iter().flatten()).map(|n| n.as_millis());
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    let margin = ((high - low) * 0.04).max(high * 1e-3);
    (low - margin, high + margin)
}

/// A violin a plan, with the box inside.
fn violins(plans: &[Plan], number: u64) -> Option<Figure> {
    let shown: Vec<(usize, &Plan)> =
        plans.iter().enumerate().filter(|p| p.1.times.iter().any(Option::is_some)).collect();
    if shown.is_empty() {
        return None;
    }
    let step = 124.0;
    // (as wide as its title at least)
    let right = LEFT + (step * shown.len() as f64).max(940.0);
    let mut f = Figure::new(right as u32 + MARGIN, 640);
    let y = Axis { values: range(plans), pixels: (580.0, TOP) };
    let title =
        format!("GPU time of frame {number}: box p25 to p75, line median, disc mean, diamonds outliers");
    frame(&mut f, &title, (LEFT, right), &y, "milliseconds, not from 0");
    for (place, (n, plan)) in shown.into_iter().enumerate() {
        let middle = LEFT + step * (place as f64 + 0.5);
        let sample = plan.sample();
        let up = |nanos: f64| y.at(nanos / 1e6);
        let ends = sample.values().first().zip(sample.values().last()).map(|(a, b)| (*a as f64, *b as f64));
        if let Some((d, (low, high))) = density(&sample).zip(ends) {
            // (nothing is drawn where no time was)
            let inside = |at: f64| at.clamp(low, high);
            let side = |sign: f64| {
                let places = d.at.iter().zip(&d.height);
                let there = places.filter(|(at, _)| (low..=high).contains(*at) || d.at.len() == 1);
                there.map(move |(at, h)| (middle + sign * h * 54.0, up(inside(*at)))).collect::<Vec<_>>()
            };
            let outline = side(1.0).into_iter().chain(side(-1.0).into_iter().rev());
            f.area(outline.collect(), lighter(colour(n), 0.45));
        }
        let Some(q) = Quartiles::of(&sample) else { continue };
        for outlier in q.outliers(&sample) {
            f.diamond((middle, up(outlier)), 3.0, lighter(colour(n), 0.0));
        }
        let dark = colour(n).map(|c| (f64::from(c) * 0.55) as u8);
        f.line(vec![(middle, up(q.whiskers[0])), (middle, up(q.whiskers[1]))], dark, 2.0);
        for end in q.whiskers {
            f.line(vec![(middle - 7.0, up(end)), (middle + 7.0, up(end))], dark, 2.0);
        }
        // (a box that is thinner than a line is still seen)
        let (top, bottom) = (up(q.at[2]).min(up(q.at[1]) - 1.5), up(q.at[0]).max(up(q.at[1]) + 1.5));
        f.rectangle((middle - 10.0, top), (middle + 10.0, bottom), dark);
        f.line(vec![(middle - 10.0, up(q.at[1])), (middle + 10.0, up(q.at[1]))], PAPER, 2.0);
        if let Some(mean) = sample.mean() {
            f.disc((middle, up(mean)), 5.0, dark);
            f.disc((middle, up(mean)), 3.5, PAPER);
        }
        name(&mut f, middle, y.pixels.0, &plan.name, place);
    }
    Some(f)
}

/// A dot a round.
fn course(plan: &Plan, colour: Colour, range: (f64, f64)) -> Option<Figure> {
    let rounds = plan.times.len();
    let sample = plan.sample();
    let median = sample.median()? / 1e6;
    let right = 980.0;
    let mut f = Figure::new(1004, 420);
    let y = Axis { values: range, pixels: (360.0, TOP) };
    let x = Axis { values: (0.0, rounds.max(2) as f64), pixels: (LEFT, right) };
    let title = format!("GPU time in each round: {} (line: median, {median:.3} ms)", plan.name);
    frame(&mut f, &title, (LEFT, right), &y, "milliseconds, not from 0");
    let (marks, digits) = x.marks(10);
    for mark in marks {
        f.line(vec![(x.at(mark), 360.0), (x.at(mark), 365.0)], INK, 1.0);
        f.text((x.at(mark), 378.0), format!("{mark:.digits$}"), Anchor::Middle);
    }
    f.text(((LEFT + right) / 2.0, 402.0), "round", Anchor::Middle);
    f.line(vec![(LEFT, y.at(median)), (right, y.at(median))], lighter(colour, 0.5), 1.0);
    for (round, time) in plan.times.iter().enumerate() {
        if let Some(time) = time {
            let (x, y) = (x.at(round as f64 + 0.5), y.at(time.as_millis()));
            f.rectangle((x - 1.25, y - 1.25), (x + 1.25, y + 1.25), colour);
        }
    }
    Some(f)
}
