//! Made-up machines, whose changes are known: what a verdict's errors and power are counted on.
//!
//! A *world* says how processes of one number, processes, and turns of one process differ. A change plants itself in the new side:
//! its turns take longer by a share; of `stutter`, where the change is in percentage points, so many more of its frames take three to
//! five times as long.

use super::{Ask, Metric, Process, Scale, Sides, Verdict, decide, measure};
use oorandom::Rand64;
use rayon::prelude::*;

/// Where times come from. Deviations are of logarithms.
#[derive(Clone, Copy, Debug)]
pub struct World {
    /// Its name in docs/compare.md.
    pub name: &'static str,
    /// Standard deviation of what processes of one number share.
    pub shared: f64,
    /// Between processes.
    pub between: f64,
    /// Within one.
    pub within: f64,
    /// Share of turns that take up to five times as long.
    pub tail: f64,
    /// What times are rounded to, in ms, of times around 10 ms: ties.
    pub grain: f64,
    /// Share of processes of a second kind, and how much longer theirs take.
    pub second: (f64, f64),
}

const STILL: World =
    World { name: "", shared: 0.0, between: 0.0, within: 0.01, tail: 0.0, grain: 0.0, second: (0.0, 0.0) };

/// Quiet: a GPU at fixed clocks. Busy: software on a machine that does other things. Coarse: a timer of few ticks.
/// Drifting: a device that is faster at one time than at another, by far more than what is looked for. Two kinds: memory that lies
/// otherwise in three processes of ten, and makes these slower.
pub const WORLDS: [World; 5] = [
    World { name: "quiet", between: 0.002, ..STILL },
    World { name: "busy", between: 0.02, within: 0.05, tail: 0.05, ..STILL },
    World { name: "coarse", between: 0.005, tail: 0.01, grain: 0.1, ..STILL },
    World { name: "drifting", shared: 0.1, between: 0.004, ..STILL },
    World { name: "two kinds", between: 0.002, second: (0.3, 0.08), ..STILL },
];

/// What is drawn of a world.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    pub metric: Metric,
    pub processes: usize,
    pub turns: usize,
    pub paired: bool,
    pub effect: f64,
    pub many: usize,
}

/// What came of comparisons at a least effect of 2 % and alpha 0.01.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// p was at most alpha.
    pub significant: usize,
    /// The interval does not hold the true change.
    pub missed: usize,
    pub regressions: usize,
    pub no_change: usize,
    pub draws: usize,
}

impl std::iter::Sum for Tally {
    fn sum<I: Iterator<Item = Tally>>(all: I) -> Tally {
        all.fold(Tally::default(), |a, b| Tally {
            significant: a.significant + b.significant,
            missed: a.missed + b.missed,
            regressions: a.regressions + b.regressions,
            no_change: a.no_change + b.no_change,
            draws: a.draws + b.draws,
        })
    }
}

fn normal(random: &mut Rand64) -> f64 {
    let (a, b) = (1.0 - random.rand_float(), random.rand_float());
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

impl World {
    /// Both sides: of pairs, processes of one number share a moment.
    pub fn sides(&self, random: &mut Rand64, of: &Draws) -> [Vec<Process>; 2] {
        let moments = |random: &mut Rand64| -> Vec<f64> {
            (0..of.processes).map(|_| (self.shared * normal(random)).exp()).collect()
        };
        let shared = moments(random);
        let (longer, stutters) =
            if of.metric.scale() == Scale::Difference { (0.0, of.effect) } else { (of.effect, 0.0) };
        [(1.0, 0.0), (1.0 + longer, stutters)].map(|(scale, stutters)| {
            let moments = if of.paired { shared.clone() } else { moments(random) };
            let process = |moment: &f64| {
                let second = if random.rand_float() < self.second.0 { 1.0 + self.second.1 } else { 1.0 };
                let of_process = moment * second * (self.between * normal(random)).exp();
                let turn = |_| {
                    let slow = match random.rand_float() {
                        x if x < stutters => 3.0 + 2.0 * random.rand_float(),
                        x if x < stutters + self.tail => 1.0 + 4.0 * random.rand_float(),
                        _ => 1.0,
                    };
                    let time = 10.0 * scale * of_process * (self.within * normal(random)).exp() * slow;
                    vec![if self.grain > 0.0 { (time / self.grain).round() * self.grain } else { time }]
                };
                (0..of.turns).map(turn).collect()
            };
            moments.iter().map(process).collect()
        })
    }

    /// Draws, judges, counts; each draw by a seed of its own.
    pub fn tally(&self, of: &Draws) -> Tally {
        let all = (0..of.many as u64).into_par_iter().map(|seed| {
            let [base, new] = self.sides(&mut Rand64::new(seed.into()), of);
            let ask = Ask { effect: 0.02, alpha: 0.01 };
            let mut j = measure(&Sides { base: &base, new: &new, paired: of.paired }, of.metric, &ask);
            decide(&mut j, of.metric, &ask, 1);
            // (more frames a second are fewer milliseconds)
            let truth = if of.metric.more_is_better() { 1.0 / (1.0 + of.effect) - 1.0 } else { of.effect };
            Tally {
                significant: usize::from(j.p <= ask.alpha),
                missed: usize::from(j.interval.is_none_or(|[a, b]| !(a..=b).contains(&truth))),
                regressions: usize::from(j.verdict == Verdict::Regression),
                no_change: usize::from(j.verdict == Verdict::NoChange),
                draws: 1,
            }
        });
        all.sum()
    }
}
