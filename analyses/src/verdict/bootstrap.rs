//! How sure a metric's change is: a bootstrap over processes.
//!
//! *Estimate.* A metric is of one process; a side's figure is the mean over its processes; the change is the new side's figure
//! over the base's, less 1, in percent. Everything below is done to the logarithm of that ratio.
//!
//! *Resampling* is hierarchical, as turns of one process are not independent: of each side as many processes are drawn with
//! replacement as it has, of each drawn one as many turns as it has, and the metric is taken anew. *Pairs*: processes of one
//! number, of plans of one run, were alive together and took turns, so that what slowed one slowed the other; there numbers are
//! drawn, and both processes of each, and of both the same turns (where they have as many).
//!
//! *Interval.* How wide it has to be is known without drawing: values of processes differ by B (their variance; of pairs, of
//! their ratios), and a mean of n of them by B/n. That drawing turns as well adds what turns contribute, W, of which B has its
//! share already, would make it wider than it has to be; but B of few processes may be small by chance, or 0 on a clock of few
//! ticks, and cannot truly be below W. So the variance is the greater of B/n and W/n. The drawings give the interval its shape:
//! the distances of the estimate to their 2.5th and to their 97.5th percentile are stretched by √(v′/v), where v is the drawings'
//! variance and v′ the one above, of both sides together; and by t over 1.96, where t is Student's for the level wanted, with n − 1
//! degrees of freedom for n pairs, else Welch and Satterthwaite's. That keeps what is lopsided lopsided, and reaches levels that no
//! number of drawings from few processes does. Tested by drawing (tests.rs): the interval misses no more often than it says.
//!
//! Refuses a side with fewer than two processes: there is nothing to draw.

use super::metrics::{Metric, TooFew};
use crate::loop_times::stats::{Random, rank};
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::beta::beta_reg;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Drawings for what decides.
pub const DRAWINGS: usize = 2000;

/// The normal distribution's 97.5th percentile.
const Z: f64 = 1.959_963_984_540_054;

/// A process: times by turn, each turn's frames in order.
pub type Process = Vec<Vec<f64>>;

/// A change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The estimate: a ratio, less 1.
    pub change: f64,
    /// From where to where it lies at the level that was asked for.
    pub at: [f64; 2],
}

/// A metric of each process.
pub fn values(side: &[Process], metric: Metric) -> Result<Vec<f64>, TooFew> {
    side.iter().map(|p| metric.of(&mut p.concat())).collect()
}

/// Two sides of a question.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'s> {
    /// What it is held against.
    pub base: &'s [Process],
    /// What is judged.
    pub new: &'s [Process],
    /// Whether those of one position were alive together.
    pub paired: bool,
}

impl<'s> Sides<'s> {
    /// Of two runs.
    pub fn apart(base: &'s [Process], new: &'s [Process]) -> Self {
        Sides { base, new, paired: false }
    }

    /// Of one run, in the order of their numbers; apart where one side has more of them.
    pub fn paired(base: &'s [Process], new: &'s [Process]) -> Self {
        Sides { base, new, paired: base.len() == new.len() }
    }

    /// Base and new.
    pub fn both(&self) -> [&'s [Process]; 2] {
        [self.base, self.new]
    }
}

/// What the logarithm of a figure, or of a ratio of two, is drawn to be, and how far it varies: once for pairs, else once a side.
struct Drawn {
    logarithms: Vec<f64>,
    /// The variance of `logarithms`.
    variance: f64,
    /// What it has to be: see the module's header.
    wide: f64,
    /// Degrees of freedom.
    freedom: f64,
}

impl Drawn {
    /// `influence`: how far each process, or pair, lies from the figure, as a share of it.
    fn new(logarithms: Vec<f64>, influence: &[f64]) -> Drawn {
        let n = influence.len() as f64;
        let between = variance(influence);
        let whole = variance(&logarithms);
        let within = whole - between * (n - 1.0) / (n * n);
        Drawn { logarithms, variance: whole, wide: (between / n).max(within), freedom: n - 1.0 }
    }

    fn of_side(side: &[Process], of: &[f64], metric: Metric, drawings: usize, random: &mut Random) -> Drawn {
        let mut resampler = Resampler::new(side, metric);
        let drawn = (0..drawings).map(|_| {
            logarithm(
                (0..side.len()).map(|_| resampler.of(random.below(side.len()), random)).sum::<f64>(),
                side,
            )
        });
        let mean = mean(of);
        Drawn::new(drawn.collect(), &of.iter().map(|v| v / mean).collect::<Vec<_>>())
    }

    fn of_pairs(
        sides: [&[Process]; 2],
        of: [&[f64]; 2],
        metric: Metric,
        drawings: usize,
        random: &mut Random,
    ) -> Drawn {
        let mut resampler = sides.map(|s| Resampler::new(s, metric));
        let (n, mut turns) = (sides[0].len(), vec![]);
        let drawn = (0..drawings).map(|_| {
            let mut sums = [0.0; 2];
            for _ in 0..n {
                let pair = random.below(n);
                // (turns of one place are those of one round: what came over a round came over both)
                let many = sides[0][pair].len();
                let rounds = sides[1][pair].len() == many;
                turns.clear();
                turns.extend((0..if rounds { many } else { 0 }).map(|_| random.below(many)));
                for (sum, resampler) in sums.iter_mut().zip(&mut resampler) {
                    *sum +=
                        if rounds { resampler.of_turns(pair, &turns) } else { resampler.of(pair, random) };
                }
            }
            logarithm(sums[1], sides[1]) - logarithm(sums[0], sides[0])
        });
        let means = of.map(mean);
        let influence = of[0].iter().zip(of[1]).map(|(b, n)| n / means[1] - b / means[0]);
        Drawn::new(drawn.collect(), &influence.collect::<Vec<_>>())
    }
}

/// Of a side's mean, of its processes' sum.
fn logarithm(sum: f64, side: &[Process]) -> f64 {
    (sum / side.len() as f64).max(f64::MIN_POSITIVE).ln()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The interval of the metric's change from base to new at the level 1 − `alpha`; none where a side has fewer than two
/// processes, or a figure is not above 0.
pub fn interval(
    sides: &Sides<'_>,
    metric: Metric,
    alpha: f64,
    drawings: usize,
    seed: u64,
) -> Result<Option<Interval>, TooFew> {
    let both = sides.both();
    let (base, new) = (values(both[0], metric)?, values(both[1], metric)?);
    let means = [mean(&base), mean(&new)];
    if both.iter().any(|s| s.len() < 2) || means.iter().any(|m| *m <= 0.0) {
        return Ok(None);
    }
    let estimate = (means[1] / means[0]).ln();
    let mut random = Random::new(seed);
    let (parts, mut changes) = if sides.paired {
        let mut pairs = Drawn::of_pairs(both, [&base, &new], metric, drawings, &mut random);
        let changes = std::mem::take(&mut pairs.logarithms);
        (vec![pairs], changes)
    } else {
        let b = Drawn::of_side(both[0], &base, metric, drawings, &mut random);
        let n = Drawn::of_side(both[1], &new, metric, drawings, &mut random);
        let changes = b.logarithms.iter().zip(&n.logarithms).map(|(b, n)| n - b).collect();
        (vec![b, n], changes)
    };
    let of = |f: fn(&Drawn) -> f64| parts.iter().map(f).sum::<f64>();
    let (v, v_wide) = (of(|p| p.variance), of(|p| p.wide));
    if v <= 0.0 || v_wide <= 0.0 {
        return Ok(Some(Interval { change: estimate.exp_m1(), at: [estimate.exp_m1(); 2] }));
    }
    let freedom = v_wide * v_wide / of(|p| p.wide * p.wide / p.freedom);
    let stretch = (v_wide / v).sqrt() * student(1.0 - alpha / 2.0, freedom) / Z;
    changes.sort_by(f64::total_cmp);
    let [low, high] = [2.5, 97.5].map(|p| changes[rank(drawings, p)]);
    // (of a lopsided metric an end may lie on the estimate's other side)
    let low = estimate - (estimate - low).max(0.0) * stretch;
    let high = estimate + (high - estimate).max(0.0) * stretch;
    Ok(Some(Interval { change: estimate.exp_m1(), at: [low.exp_m1(), high.exp_m1()] }))
}

/// Half the width of a side's own figure's interval at the level 1 − `alpha`, as a share of the figure; none as above.
pub fn half_width(
    side: &[Process],
    metric: Metric,
    alpha: f64,
    drawings: usize,
    seed: u64,
) -> Result<Option<f64>, TooFew> {
    let v = values(side, metric)?;
    if v.len() < 2 || v.iter().sum::<f64>() <= 0.0 {
        return Ok(None);
    }
    let drawn = Drawn::of_side(side, &v, metric, drawings, &mut Random::new(seed));
    Ok(Some(drawn.wide.sqrt() * student(1.0 - alpha / 2.0, drawn.freedom)))
}

/// A process's times in order, and the table for so many.
type Ordered = (Vec<f64>, Arc<[f64]>);

/// Draws a process's turns with replacement, and takes the metric of them.
///
/// *Ranks.* A percentile of n turns of a frame each is one of their times, the k-th in order, so that it is enough to draw k. Of n
/// numbers drawn evenly from 0 to 1 the r-th in order lies below x with the probability I_x(r, n − r + 1) (the regularised
/// incomplete beta function); a turn is drawn by such a number's place among n equal parts. So k is drawn with that function's
/// inverse, from a table: the same distribution as drawing n turns and ordering them, at the price of one random number.
struct Resampler<'s> {
    side: &'s [Process],
    metric: Metric,
    /// Of each process whose turns are of a frame each.
    ordered: Vec<Option<Ordered>>,
    times: Vec<f64>,
}

impl<'s> Resampler<'s> {
    fn new(side: &'s [Process], metric: Metric) -> Self {
        let mut tables: BTreeMap<usize, Arc<[f64]>> = BTreeMap::new();
        let ordered = side
            .iter()
            .map(|process| {
                let p = metric.percentile()?;
                let n = process.len();
                if n < metric.needs() || process.iter().any(|turn| turn.len() != 1) {
                    return None;
                }
                let mut times = process.concat();
                times.sort_by(f64::total_cmp);
                Some((times, tables.entry(n).or_insert_with(|| cumulative(n, rank(n, p))).clone()))
            })
            .collect();
        Resampler { side, metric, ordered, times: vec![] }
    }

    fn of(&mut self, process: usize, random: &mut Random) -> f64 {
        if let Some((times, table)) = &self.ordered[process] {
            let x = random.unit();
            let at = table.partition_point(|c| *c <= x).min(times.len() - 1);
            return self.metric.of_percentile(times[at]);
        }
        let many = self.side[process].len();
        let turns: Vec<usize> = (0..many).map(|_| random.below(many)).collect();
        self.of_turns(process, &turns)
    }

    /// The metric of these turns.
    fn of_turns(&mut self, process: usize, drawn: &[usize]) -> f64 {
        let turns = &self.side[process];
        self.times.clear();
        drawn.iter().for_each(|turn| self.times.extend_from_slice(&turns[*turn]));
        // (a process of turns that differ in length may fall below what the metric needs: then as it is)
        let of = self.metric.of(&mut self.times);
        of.or_else(|_| self.metric.of(&mut turns.concat())).unwrap_or(f64::NAN)
    }
}

/// How likely the value at `rank` (from 0) of n draws from n values in order is the k-th of these or one before it, by k.
fn cumulative(n: usize, rank: usize) -> Arc<[f64]> {
    let (a, b) = (rank as f64 + 1.0, (n - rank) as f64);
    (1..=n).map(|k| if k == n { 1.0 } else { beta_reg(a, b, k as f64 / n as f64) }).collect()
}

fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)
}

/// Student's t: its quantile.
pub fn student(p: f64, of_freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, of_freedom.max(1.0)).map_or(f64::INFINITY, |t| t.inverse_cdf(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn student_s_quantiles_are_those_of_the_tables() {
        for (p, n, t) in
            [(0.975, 9.0, 2.2622), (0.995, 4.0, 4.6041), (0.995, 18.0, 2.8784), (0.975, 120.0, 1.9799)]
        {
            assert!((student(p, n) - t).abs() < 1e-4, "{p} {n}: {}", student(p, n));
        }
    }

    #[test]
    fn of_processes_of_one_value_each_it_is_student_s_interval() {
        // Welch: bases 99 101 100 98 102, new 3 % above; the logarithm of means of so small a spread is linear to 1e-3.
        let base: Vec<Process> =
            [99.0, 101.0, 100.0, 98.0, 102.0].iter().map(|v| vec![vec![*v]; 4]).collect();
        let new: Vec<Process> = base.iter().map(|p| p.iter().map(|t| vec![t[0] * 1.03]).collect()).collect();
        let i = interval(&Sides::apart(&base, &new), Metric::Mean, 0.01, 20_000, 1)
            .expect("enough")
            .expect("an interval");
        // s² = 2.5, of each mean 0.5, of the difference of logarithms 1e-4; t of 8 degrees at 99.5 % is 3.3554.
        let half = 3.3554 * 1e-4f64.sqrt();
        let expected = [(1.03f64.ln() - half).exp_m1(), (1.03f64.ln() + half).exp_m1()];
        assert!((i.change - 0.03).abs() < 1e-12, "{i:?}");
        assert!(i.at.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.0015), "{i:?} for {expected:?}");
        let half = half_width(&base, Metric::Mean, 0.01, 20_000, 1).expect("enough").expect("a width");
        // t of 4 degrees, times 0.5^0.5 %
        assert!((half - 4.6041 * 0.005f64.sqrt() * 0.1).abs() < 0.001, "{half}");
    }

    #[test]
    fn ranks_are_drawn_as_drawing_and_ordering_would() {
        // Of three draws from three values the middle one: the first if two or three draws are (7 of 27), by symmetry the last.
        assert!(
            cumulative(3, 1).iter().zip([7.0 / 27.0, 20.0 / 27.0, 1.0]).all(|(a, b)| (a - b).abs() < 1e-12)
        );
        // The greatest of two: the first only if both are.
        assert!((cumulative(2, 1)[0] - 0.25).abs() < 1e-12);
        // Turns of two frames are drawn one by one; said twice over, each percentile is the same.
        let mut random = Random::new(5);
        let once: Vec<Process> = vec![(0..30).map(|_| vec![10.0 + random.unit()]).collect()];
        let twice: Vec<Process> = vec![once[0].iter().map(|t| vec![t[0]; 2]).collect()];
        for metric in [Metric::Median, Metric::P95] {
            let [mut a, mut b] = [&once, &twice].map(|s| {
                let of = values(s, metric).expect("enough");
                Drawn::of_side(s, &of, metric, 20_000, &mut Random::new(1)).logarithms
            });
            assert!((variance(&a) / variance(&b) - 1.0).abs() < 0.05, "{} {}", variance(&a), variance(&b));
            a.sort_by(f64::total_cmp);
            b.sort_by(f64::total_cmp);
            for p in [1.0, 10.0, 50.0, 90.0, 99.0] {
                let at = rank(a.len(), p);
                assert!((a[at] - b[at]).abs() < 0.003, "{metric:?} {p}: {} {}", a[at], b[at]);
            }
        }
    }

    #[test]
    fn what_comes_over_both_of_a_pair_does_not_make_its_interval_wider() {
        // A clock that falls to a third within each process, in steps, later in one number than in another; the new plan takes 1 %
        // longer, and each process is off by up to 0.2 %.
        let mut random = Random::new(3);
        let mut side = |scale: f64| -> Vec<Process> {
            (0..12)
                .map(|number| {
                    let of = scale * (1.0 + 0.004 * (random.unit() - 0.5));
                    (0..30).map(|turn| vec![if turn < 10 + number { of } else { of * 3.0 }]).collect()
                })
                .collect()
        };
        let (base, new) = (side(1.0), side(1.01));
        let of =
            |sides: &Sides| interval(sides, Metric::Median, 0.01, 2000, 1).expect("enough").expect("one").at;
        let ([low, high], wide) = (of(&Sides::paired(&base, &new)), of(&Sides::apart(&base, &new)));
        assert!(0.005 < low && low < 0.01 && 0.01 < high && high < 0.015, "{low} {high}");
        assert!(wide[0] < -0.2 && wide[1] > 0.2, "{wide:?}");
    }

    #[test]
    fn what_there_is_too_little_of_is_refused_and_the_seed_decides() {
        let one: Vec<Process> = vec![vec![vec![1.0]; 5]];
        let two: Vec<Process> =
            vec![vec![vec![1.0], vec![2.0], vec![4.0]], vec![vec![2.0], vec![3.0], vec![1.0]]];
        assert_eq!(interval(&Sides::apart(&one, &two), Metric::Median, 0.05, 100, 0), Ok(None));
        assert!(interval(&Sides::apart(&two, &two), Metric::P99, 0.05, 100, 0).is_err());
        let of = |seed| interval(&Sides::apart(&two, &two), Metric::Mean, 0.05, 100, seed).expect("enough");
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        // All alike: no width.
        let same: Vec<Process> = vec![vec![vec![2.0]; 3]; 3];
        let i = interval(&Sides::apart(&same, &same), Metric::Median, 0.05, 100, 0)
            .expect("enough")
            .expect("two");
        assert_eq!((i.change, i.at), (0.0, [0.0, 0.0]));
    }
}
