//! Tiles that only averages show: where subgroups that begin at about the same time are more than a tile holds, no number is
//! in its tile's range, but the mean of a quadrant over many tiles (or over very many subgroups) is where it should be.
//!
//! For a tile of n subgroups whose quadrants come one after the other, the mean place of a quadrant's subgroups is -3/8, -1/8,
//! 1/8 and 3/8 of n from the tile's. Guarantees: a tile is taken only if the means of tiles rise from tile to tile, each
//! quadrant's mean is within [`OFF`] of its place, and quadrants are further apart than chance: [`SURE`] times the standard error
//! of their difference. Refuses what is in rows (its quadrants are at ±1/4 in pairs).

/// How far from its place a quadrant's mean may be, in tiles.
const OFF: f64 = 0.1;

/// How much further off a larger tile's quadrants may be than a smaller one's, in tiles: a row of squares in order 2-3-1-4 looks
/// like tiles twice as wide, whose quadrants are 1/16 off.
pub const WORSE: f64 = 0.02;

/// How many standard errors quadrants have to be apart.
const SURE: f64 = 6.0;

/// The share of tiles whose mean may be below that of the tile before.
const FALLING: f64 = 0.05;

/// A subgroup: its upper left pixel; its place in the list is its rank.
pub type Corner = [u32; 2];

/// Sums of one quadrant's places.
#[derive(Clone, Copy, Default)]
struct Sums {
    n: f64,
    sum: f64,
    squares: f64,
}

impl Sums {
    fn add(&mut self, x: f64) {
        self.n += 1.0;
        self.sum += x;
        self.squares += x * x;
    }
    fn mean(self) -> f64 {
        self.sum / self.n.max(1.0)
    }
    /// The square of the mean's standard error.
    fn error2(self) -> f64 {
        (self.squares / self.n.max(1.0) - self.mean().powi(2)).max(0.0) / self.n.max(1.0)
    }
}

/// The order of quadrants in tiles of this size, if averages show one, and how far off the worst of them is. `corners` are subgroups' upper left pixels by rank,
/// `shape` their rectangle, `launch` the launch's size.
pub fn quadrants(
    size: [u32; 2],
    shape: [u32; 2],
    corners: &[Corner],
    launch: [u32; 2],
) -> Option<([u8; 4], f64)> {
    let across = launch[0].div_ceil(size[0]) as usize;
    let down = launch[1].div_ceil(size[1]) as usize;
    let whole = (size[0] / shape[0]) as usize * (size[1] / shape[1]) as usize;
    let tile = |c: &Corner| (c[1] / size[1]) as usize * across + (c[0] / size[0]) as usize;
    let mut tiles = vec![Sums::default(); across * down];
    corners.iter().enumerate().for_each(|(rank, c)| tiles[tile(c)].add(rank as f64));
    let means: Vec<f64> = tiles.iter().filter(|t| t.n > 0.0).map(|t| t.mean()).collect();
    let falls = means.windows(2).filter(|w| w[1] < w[0]).count();
    if falls as f64 > FALLING * (means.len() - 1) as f64 {
        return None;
    }
    let mut sums = [Sums::default(); 4];
    for (rank, c) in corners.iter().enumerate() {
        let t = tiles[tile(c)];
        if t.n as usize == whole {
            sums[usize::from(quadrant(*c, size)) - 1].add((rank as f64 - t.mean()) / whole as f64);
        }
    }
    let mut order = [1, 2, 3, 4u8];
    let of = |q: u8| sums[usize::from(q) - 1];
    order.sort_by(|a, b| of(*a).mean().total_cmp(&of(*b).mean()));
    let places = order.iter().zip([-0.375, -0.125, 0.125, 0.375]);
    let off = places.map(|(q, at)| (of(*q).mean() - at).abs()).fold(0.0, f64::max);
    let apart = order.windows(2).all(|w| {
        let [a, b] = [of(w[0]), of(w[1])];
        b.mean() - a.mean() > SURE * (a.error2() + b.error2()).sqrt()
    });
    (sums[0].n > 0.0 && off <= OFF && apart).then_some((order, off))
}

/// Which quadrant of a tile's part a corner is in.
pub fn quadrant(c: Corner, part: [u32; 2]) -> u8 {
    let [right, lower] = [0, 1].map(|k| c[k] % part[k] >= part[k] / 2);
    match (right, lower) {
        (true, false) => 1,
        (false, false) => 2,
        (false, true) => 3,
        (true, true) => 4,
    }
}
