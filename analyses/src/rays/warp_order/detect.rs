//! What the picture shows, found without looking.

use super::averages::{self, Corner, quadrant};
use crate::rays::events::Launch;
use std::collections::BTreeMap;

/// The share of subgroups that have to agree with a tile and its quadrants.
pub const ENOUGH: f64 = 0.8;

/// A tile, and how its inside is ordered.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// Width and height.
    pub size: [u32; 2],
    /// Share of subgroups whose number is in their tile's range.
    pub agrees: f64,
    /// Quadrants in their order.
    pub quadrants: [u8; 4],
    /// Share of subgroups whose number is in their quadrant's range, at the worse of two levels.
    pub quadrants_agree: f64,
    /// Too few agree, and averages show it all the same.
    pub averages: bool,
}

/// What was found of a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Subgroups that left events.
    pub subgroups: u64,
    /// Width and height of a whole subgroup.
    pub rectangle: [u32; 2],
    /// Share of subgroups that have it.
    pub rectangle_agrees: f64,
    /// Share of subgroups whose number is that of their rectangle, row by row.
    pub rows_agree: f64,
    /// The tile, if there is one.
    pub tile: Option<Tile>,
}

impl Found {
    /// `Subgroups are 8 x 4 pixels, in tiles of 16 x 16 whose quadrants come in order 2-3-1-4`
    pub fn words(&self) -> String {
        let [w, h] = self.rectangle;
        let order = match &self.tile {
            Some(t) => {
                let [w, h] = t.size;
                format!(
                    "in tiles of {w} x {h} whose quadrants come in order {}",
                    t.quadrants.map(|q| q.to_string()).join("-")
                )
            }
            None if self.rows_agree >= ENOUGH => "row by row".into(),
            None => "in no order that was found".into(),
        };
        format!("Subgroups are {w} x {h} pixels, {order}")
    }
}

/// Looks at a launch.
pub fn detect(launch: &Launch) -> Found {
    let mut shapes: BTreeMap<[u32; 2], u64> = BTreeMap::new();
    let mut corners: Vec<(u32, Corner)> = vec![];
    let groups = launch.subgroups();
    for members in &groups {
        let (mut low, mut high) = ([u32::MAX; 2], [0; 2]);
        for &t in members {
            let [x, y, _] = launch.pixel(t as usize);
            low = [low[0].min(x), low[1].min(y)];
            high = [high[0].max(x), high[1].max(y)];
        }
        let shape = [high[0] - low[0] + 1, high[1] - low[1] + 1];
        if members.len() == launch.n as usize && shape[0] * shape[1] == launch.n {
            *shapes.entry(shape).or_default() += 1;
        }
        corners.push((launch.subgroup[members[0] as usize], low));
    }
    let mut found = Found { subgroups: groups.len() as u64, ..Found::default() };
    let Some((&shape, &count)) = shapes.iter().max_by_key(|(_, n)| **n) else { return found };
    found.rectangle = shape;
    found.rectangle_agrees = count as f64 / groups.len() as f64;
    corners.sort_unstable();
    let corners: Vec<Corner> = corners.into_iter().map(|c| c.1).collect();
    let whole: Vec<u32> = (0..corners.len() as u32).collect();
    let rows = |c: Corner| u64::from(c[1] / shape[1]) << 32 | u64::from(c[0] / shape[0]);
    found.rows_agree = share(agreeing(&corners, &whole, rows), &whole);
    if found.rows_agree < ENOUGH {
        found.tile = tile(launch, shape, &corners);
    }
    found
}

fn share(agree: usize, of: &[u32]) -> f64 {
    agree as f64 / of.len().max(1) as f64
}

/// How many of these (ranks, rising) are in the range that their group would have if groups were executed in the order of their
/// keys.
fn agreeing(corners: &[Corner], of: &[u32], key: impl Fn(Corner) -> u64) -> usize {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for &rank in of {
        *counts.entry(key(corners[rank as usize])).or_default() += 1;
    }
    let mut from = 0;
    let ranges: BTreeMap<u64, std::ops::Range<usize>> = counts
        .into_iter()
        .map(|(k, n)| {
            from += n;
            (k, from - n..from)
        })
        .collect();
    let agrees = |(place, rank): &(usize, &u32)| ranges[&key(corners[**rank as usize])].contains(place);
    of.iter().enumerate().filter(agrees).count()
}

/// Every order of four quadrants.
fn orders() -> Vec<[u8; 4]> {
    let mut all = vec![];
    for a in 1..=4u8 {
        for b in (1..=4).filter(|b| *b != a) {
            for c in (1..=4).filter(|c| ![a, b].contains(c)) {
                all.push([a, b, c, 10 - a - b - c]);
            }
        }
    }
    all
}

fn tile(launch: &Launch, shape: [u32; 2], corners: &[Corner]) -> Option<Tile> {
    // (no tile reaches further than the launch: a row of tiles is no tile of twice the size)
    let sides = |k: usize| {
        std::iter::successors(Some(shape[k].next_power_of_two() * 2), |s| s.checked_mul(2))
            .take_while(move |s| *s <= launch.size[k].next_power_of_two())
    };
    let mut sizes: Vec<[u32; 2]> = sides(0).flat_map(|w| sides(1).map(move |h| [w, h])).collect();
    sizes.retain(|[w, h]| w.max(h) / w.min(h) <= 2);
    // Squares first, the largest of all before: two of them beside each other are a rectangle with another order of quadrants.
    sizes.sort_by_key(|[w, h]| (w != h, std::cmp::Reverse(u64::from(*w) * u64::from(*h)), *w));
    let exact = sizes.iter().find_map(|size| {
        let t = try_tile(*size, shape, corners);
        (t.agrees >= ENOUGH && t.quadrants_agree >= ENOUGH).then_some(t)
    });
    exact.or_else(|| {
        // (here the largest of all, whatever its shape: its own parts are as orderly)
        sizes.sort_by_key(|[w, h]| (std::cmp::Reverse(u64::from(*w) * u64::from(*h)), w != h, *w));
        let launch = [launch.size[0], launch.size[1]];
        let seen = |size: [u32; 2]| Some((size, averages::quadrants(size, shape, corners, launch)?));
        let seen: Vec<_> = sizes.into_iter().filter_map(seen).collect();
        let least = seen.iter().map(|(_, (_, off))| *off).fold(f64::MAX, f64::min);
        let (size, (quadrants, _)) = seen.into_iter().find(|s| s.1.1 <= least + averages::WORSE)?;
        Some(Tile { quadrants, averages: true, ..try_tile(size, shape, corners) })
    })
}

fn try_tile(size: [u32; 2], shape: [u32; 2], corners: &[Corner]) -> Tile {
    let all: Vec<u32> = (0..corners.len() as u32).collect();
    let number = |c: Corner| u64::from(c[1] / size[1]) << 32 | u64::from(c[0] / size[0]);
    let agrees = share(agreeing(corners, &all, number), &all);
    // Parts, and the ranks in each: tiles, then their quadrants, as long as these have several rectangles.
    let mut levels = vec![size];
    let half = size.map(|s| s / 2);
    if half[0] >= 2 * shape[0] && half[1] >= 2 * shape[1] {
        levels.push(half);
    }
    let parts = |size: [u32; 2]| {
        let mut parts: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
        for &rank in &all {
            let c = corners[rank as usize];
            parts.entry([c[1] / size[1], c[0] / size[0]]).or_default().push(rank);
        }
        parts.into_values().collect::<Vec<_>>()
    };
    let levels: Vec<_> = levels.into_iter().map(|l| (l, parts(l))).collect();
    let best = orders().into_iter().map(|order| {
        let place = |q: u8| order.iter().position(|o| *o == q).unwrap_or(0) as u64;
        // (of all levels the worst: what is row by row at one level may be in quadrants at the next)
        let of_level = |(size, parts): &([u32; 2], Vec<Vec<u32>>)| {
            parts.iter().map(|p| agreeing(corners, p, |c| place(quadrant(c, *size)))).sum::<usize>()
        };
        let agree = levels.iter().map(of_level).min().unwrap_or(0);
        (agree, std::cmp::Reverse(order))
    });
    let (agree, order) = best.max().unwrap_or_default();
    Tile { size, agrees, quadrants: order.0, quadrants_agree: share(agree, &all), averages: false }
}
