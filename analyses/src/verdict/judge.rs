//! The verdict on one metric, or one part, of two sides.
//!
//! *The interval* (Kalibera and Jones 2013): a metric is taken of each process, and its logarithm. Of pairs (processes of one number,
//! of plans of one run, which were alive together) it is Student's interval of the mean logarithm of their ratios; else Welch's of
//! the difference between the means of both sides' logarithms (`stats::student`). So figures are geometric means over processes, and
//! the change is a ratio. A share of frames (`stutter`) may be 0 and has no logarithm: its change is a difference, in percentage
//! points. *p* is of the same t, and says how likely so great a t is if there is no change.
//!
//! A change is a *regression* if the whole interval lies beyond the least effect that matters, and an *improvement* likewise, the
//! other way; where many questions are asked at once p, adjusted, has to be at most alpha as well. It is *no change* if the whole
//! interval lies within that effect on both sides, *not worse* if it lies below it and reaches beyond it on the better side only. In
//! all other cases it is *inconclusive*: the data neither show a regression nor rule one out; more processes, or a larger least
//! effect, decide it. "Worse" is longer, or for metrics of which more is better, less.
//!
//! *Where t has no say.* Values that do not differ at all leave no variance, as a clock of few ticks or a few frames that might
//! stutter do; what they hide is a step of the scale. There the interval reaches one step either way: of times the least difference
//! between two that were taken, over the least of them; of shares one frame of a process. Inconclusive, whatever the interval is:
//! fewer than [`FEWEST`] processes a side. Refused: fewer than two; a figure of 0 in a ratio; times that are all the same.

use super::metrics::{Metric, Scale, TooFew};
use super::sides::{Sides, values};
use crate::stats::{Estimate, Ranked, ks, wasserstein};
use serde::Serialize;

/// Processes a side below which nothing is decided. Where processes are of two kinds, as by a coin (memory lies one way or another),
/// three a side are all of one kind here and all of the other there in 1 of 32 comparisons, four in 1 of 128; their variance does not
/// tell.
pub const FEWEST: usize = 4;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ask {
    /// The least change that matters, as a share: 0.02 for 2 %.
    pub effect: f64,
    /// Intervals are at the level 1 − alpha, and an adjusted p of at most alpha is significant.
    pub alpha: f64,
}

/// See the module's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Better, surely and by enough.
    Improvement,
    /// The same within the effect.
    NoChange,
    /// The same or better.
    NotWorse,
    /// Neither shown nor ruled out.
    #[default]
    Inconclusive,
    /// Worse, surely and by enough.
    Regression,
}

impl Verdict {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Improvement => "improvement",
            Verdict::NoChange => "no change",
            Verdict::NotWorse => "not worse",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Regression => "regression",
        }
    }
}

/// Whose t.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// Welch's, of two samples.
    WelchT,
    /// Student's, of pairs.
    PairedT,
    /// Nobody's: both sides are counted.
    Counted,
}

/// A change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// From where to where it lies at the level that was asked for.
    pub at: [f64; 2],
    /// Half its width: of ratios in logarithms, much the same as a share.
    pub half: f64,
    /// Two-sided p of no change.
    pub p: f64,
}

/// Two sides beside each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// The sides' figures: geometric means over processes, of shares their mean.
    pub base: f64,
    /// See `base`.
    pub new: f64,
    /// What `change` and `interval` are.
    pub scale: Scale,
    /// How much greater the new figure is, as a share of the base's; of shares their difference.
    pub change: Option<f64>,
    /// From where to where that lies.
    pub interval: Option<[f64; 2]>,
    /// Whether processes of one number of both sides were alive together.
    pub paired: bool,
    /// Whose t is asked.
    pub test: Test,
    /// Its two-sided p; 1 where there is no interval.
    pub p: f64,
    /// That, adjusted for its family.
    pub p_adjusted: f64,
    /// Cliff's delta of all times: above 0 the new ones are the longer ones.
    pub delta: f64,
    /// Kolmogorov–Smirnov's D of all times.
    pub ks: f64,
    /// Wasserstein-1 of all times, in ms.
    pub wasserstein_ms: f64,
    /// Processes of each side.
    pub processes: [usize; 2],
    /// Frames (or spans) of each side.
    pub times: [usize; 2],
    /// What comes of it.
    pub verdict: Verdict,
    /// Why it is inconclusive; empty where it is not.
    pub why: String,
}

impl Judged {
    /// Of what is counted or seen, not drawn: it has no interval, and no distribution.
    pub fn counted(base: f64, new: f64, scale: Scale, change: Option<f64>, verdict: Verdict) -> Judged {
        Judged {
            base,
            new,
            scale,
            change,
            interval: None,
            paired: false,
            test: Test::Counted,
            p: 1.0,
            p_adjusted: 1.0,
            delta: 0.0,
            ks: 0.0,
            wasserstein_ms: 0.0,
            processes: [1; 2],
            times: [0; 2],
            verdict,
            why: String::new(),
        }
    }
}

/// A side's figure: the mean over its processes, of ratios the geometric one.
pub fn figure(of: &[f64], metric: Metric) -> f64 {
    let n = of.len().max(1) as f64;
    match logarithms(of).filter(|_| metric.scale() == Scale::Ratio) {
        Some(logarithms) => (logarithms.iter().sum::<f64>() / n).exp(),
        None => of.iter().sum::<f64>() / n,
    }
}

/// None where a value is not above 0.
fn logarithms(of: &[f64]) -> Option<Vec<f64>> {
    of.iter().all(|v| *v > 0.0).then(|| of.iter().map(|v| v.ln()).collect())
}

/// Values as they are compared: logarithms of what has a ratio, shares of what has a difference.
fn scaled(of: &[f64], metric: Metric) -> Option<Vec<f64>> {
    match metric.scale() {
        Scale::Ratio => logarithms(of),
        Scale::Difference => Some(of.iter().map(|v| v / 100.0).collect()),
    }
}

/// The step of the metric's scale, as far as these times show it; none of times that are all the same.
fn step(sides: &Sides<'_>, metric: Metric) -> Option<f64> {
    if metric.scale() == Scale::Difference {
        let frames = sides.both().into_iter().flatten().map(|p| p.iter().map(Vec::len).sum::<usize>());
        return frames.min().map(|n| 1.0 / n.max(1) as f64);
    }
    let mut times: Vec<f64> = sides.both().into_iter().flatten().flatten().flatten().copied().collect();
    times.sort_by(f64::total_cmp);
    let apart = times.windows(2).map(|t| t[1] - t[0]).filter(|d| *d > 1e-9 * times[times.len() - 1]);
    let tick = apart.min_by(f64::total_cmp)?;
    Some(tick / times.iter().copied().find(|t| *t > 0.0)?)
}

/// Of values in the scale's measure.
fn interval_of(of: &[Vec<f64>; 2], sides: &Sides<'_>, metric: Metric, alpha: f64) -> Option<Interval> {
    let estimate = if sides.paired {
        Estimate::of(&of[0].iter().zip(&of[1]).map(|(b, n)| n - b).collect::<Vec<_>>())
    } else {
        Estimate::difference(&of[0], &of[1])
    }?;
    let (half, p) = match estimate.error > 0.0 {
        true => (estimate.half(alpha), estimate.p()),
        false => step(sides, metric).map(|step| (step, if estimate.at.abs() > step { 0.0 } else { 1.0 }))?,
    };
    let back = |v: f64| if metric.scale() == Scale::Ratio { v.exp_m1() } else { v };
    Some(Interval { at: [estimate.at - half, estimate.at + half].map(back), half, p })
}

/// The interval of the metric's change from base to new at the level 1 − `alpha`; none where t has no say (see the module's header).
pub fn interval(sides: &Sides<'_>, metric: Metric, alpha: f64) -> Result<Option<Interval>, TooFew> {
    let [base, new] = sides.both();
    let of = [values(base, metric)?, values(new, metric)?].map(|v| scaled(&v, metric));
    let [Some(base), Some(new)] = of else { return Ok(None) };
    Ok(interval_of(&[base, new], sides, metric, alpha))
}

/// Half the width of the interval of a side's own figure at the level 1 − `alpha`, likewise.
pub fn half_width(side: &[super::Process], metric: Metric, alpha: f64) -> Result<Option<f64>, TooFew> {
    let estimate = scaled(&values(side, metric)?, metric).and_then(|v| Estimate::of(&v));
    Ok(estimate.and_then(|e| {
        if e.error > 0.0 { Some(e.half(alpha)) } else { step(&Sides::apart(side, side), metric) }
    }))
}

/// Everything but the verdict, which [`decide`] fills in when p has been adjusted.
pub fn measure(sides: &Sides<'_>, metric: Metric, ask: &Ask) -> Judged {
    let all = sides.both().map(|s| s.iter().flatten().flatten().copied().collect::<Vec<f64>>());
    let mut judged = Judged {
        base: f64::NAN,
        new: f64::NAN,
        scale: metric.scale(),
        change: None,
        interval: None,
        paired: sides.paired,
        test: if sides.paired { Test::PairedT } else { Test::WelchT },
        p: 1.0,
        p_adjusted: 1.0,
        delta: Ranked::new(&all[1], &all[0]).delta(),
        ks: ks(&all[0], &all[1]).unwrap_or(0.0),
        wasserstein_ms: wasserstein(&all[0], &all[1]).unwrap_or(0.0),
        processes: sides.both().map(<[_]>::len),
        times: [all[0].len(), all[1].len()],
        verdict: Verdict::Inconclusive,
        why: String::new(),
    };
    let of = match (values(sides.base, metric), values(sides.new, metric)) {
        (Ok(base), Ok(new)) => [base, new],
        (Err(few), _) | (_, Err(few)) => {
            judged.why = few.to_string();
            return judged;
        }
    };
    [judged.base, judged.new] = [0, 1].map(|s: usize| figure(&of[s], metric));
    if let [Some(base), Some(new)] = [0, 1].map(|s: usize| scaled(&of[s], metric)) {
        judged.change = Some(match metric.scale() {
            Scale::Ratio => judged.new / judged.base - 1.0,
            Scale::Difference => (judged.new - judged.base) / 100.0,
        });
        if let Some(found) = interval_of(&[base, new], sides, metric, ask.alpha) {
            (judged.interval, judged.p, judged.p_adjusted) = (Some(found.at), found.p, found.p);
        }
    }
    judged
}

/// Why there is no interval.
fn without(judged: &Judged) -> &'static str {
    match (judged.processes.iter().min(), judged.change) {
        (Some(0 | 1) | None, _) => "an interval needs two processes of each side",
        (_, None) => "a figure of 0 has no change in percent",
        _ => "times that are all the same do not say how well they are known",
    }
}

/// Fills the verdict in; `questions` is how many are in its family.
pub fn decide(judged: &mut Judged, metric: Metric, ask: &Ask, questions: usize) {
    if !judged.why.is_empty() {
        return;
    }
    // A sign that makes worse positive.
    let turned = |[low, high]: [f64; 2]| if metric.more_is_better() { [-high, -low] } else { [low, high] };
    let Some([low, high]) = judged.interval.map(turned) else {
        judged.why = without(judged).into();
        return;
    };
    if let Some(few) = judged.processes.into_iter().min().filter(|n| *n < FEWEST) {
        judged.why = format!("{few} processes of a side do not decide; {FEWEST} may");
        return;
    }
    let significant = judged.p_adjusted <= ask.alpha;
    let weak = || format!("p is {:.2e} among {questions} questions, above {}", judged.p_adjusted, ask.alpha);
    let (verdict, why) = match () {
        () if low >= ask.effect && significant => (Verdict::Regression, String::new()),
        () if low >= ask.effect => (Verdict::Inconclusive, weak()),
        () if high >= ask.effect => {
            (Verdict::Inconclusive, "the interval straddles the least effect that matters".into())
        }
        () if low > -ask.effect => (Verdict::NoChange, String::new()),
        () if high <= -ask.effect && significant => (Verdict::Improvement, String::new()),
        () => (Verdict::NotWorse, String::new()),
    };
    (judged.verdict, judged.why) = (verdict, why);
}

#[cfg(test)]
mod tests {
    use super::super::Process;
    use super::*;

    const ASK: Ask = Ask { effect: 0.02, alpha: 0.01 };

    /// Processes of three turns of these times.
    fn side(times: &[f64]) -> Vec<Process> {
        times.iter().map(|t| vec![vec![*t]; 3]).collect()
    }

    fn decided(sides: &Sides<'_>, metric: Metric) -> Judged {
        let mut j = measure(sides, metric, &ASK);
        decide(&mut j, metric, &ASK, 1);
        j
    }

    #[test]
    fn the_interval_decides_and_among_many_questions_p_as_well() {
        let of = |interval, p, metric| {
            let some = side(&[1.0, 1.1, 1.2, 1.3]);
            let mut j = measure(&Sides::apart(&some, &some), Metric::Median, &ASK);
            (j.interval, j.p_adjusted) = (Some(interval), p);
            decide(&mut j, metric, &ASK, 7);
            j.verdict
        };
        let (time, rate) = (Metric::Median, Metric::Low1P99);
        assert_eq!(of([0.02, 0.05], 0.01, time), Verdict::Regression);
        assert_eq!(of([0.02, 0.05], 0.011, time), Verdict::Inconclusive);
        assert_eq!(of([0.019, 0.05], 1e-6, time), Verdict::Inconclusive);
        assert_eq!(of([0.001, 0.0199], 1e-6, time), Verdict::NoChange);
        assert_eq!(of([-0.019, 0.019], 0.5, time), Verdict::NoChange);
        assert_eq!(of([-0.03, 0.01], 0.5, time), Verdict::NotWorse);
        assert_eq!(of([-0.03, 0.02], 0.5, time), Verdict::Inconclusive);
        assert_eq!(of([-0.05, -0.02], 0.01, time), Verdict::Improvement);
        assert_eq!(of([-0.05, -0.02], 0.02, time), Verdict::NotWorse);
        // More frames a second are better.
        assert_eq!(of([0.02, 0.05], 0.01, rate), Verdict::Improvement);
        assert_eq!(of([-0.05, -0.02], 0.01, rate), Verdict::Regression);
    }

    #[test]
    fn ratios_by_hand() {
        // Logarithms of pairs' ratios: 0.04, 0.05, 0.06; mean 0.05, s² = 1e-4, error 0.01 / √3; t of two degrees at 99.5 % is 9.9248.
        let base = [1.0, 4.0, 16.0];
        let new = [0.04f64, 0.05, 0.06].map(f64::exp);
        let new: Vec<f64> = base.iter().zip(new).map(|(b, r)| b * r).collect();
        let (base, new) = (side(&base), side(&new));
        let half = 9.9248 * 0.01 / 3f64.sqrt();
        let j = decided(&Sides::paired(&base, &new), Metric::Median);
        let [low, high] = j.interval.expect("three pairs");
        assert!(
            (low - (0.05 - half).exp_m1()).abs() < 1e-5 && (high - (0.05 + half).exp_m1()).abs() < 1e-5,
            "{j:?}"
        );
        assert!(
            (j.base - 4.0).abs() < 1e-12 && (j.change.expect("a ratio") - 0.05f64.exp_m1()).abs() < 1e-12
        );
        assert_eq!((j.test, j.verdict), (Test::PairedT, Verdict::Inconclusive));
        // Apart, what drifts hides it: error √(2·ln²4 / 3), four degrees but for what the sides differ by.
        let j = decided(&Sides::apart(&base, &new), Metric::Median);
        let half = 4.6041 * (2.0 * 4f64.ln().powi(2) / 3.0).sqrt();
        let [low, high] = j.interval.expect("three a side").map(f64::ln_1p);
        assert!(((high - low) / 2.0 - half).abs() < 0.05, "{j:?} {half}");
        assert_eq!(j.test, Test::WelchT);
        // Half an interval of one side's own.
        let own = half_width(&base, Metric::Median, 0.01).expect("turns").expect("three");
        assert!((own - 9.9248 * 4f64.ln() / 3f64.sqrt()).abs() < 1e-3, "{own}");
    }

    #[test]
    fn shares_have_differences() {
        // Frames that stutter, of forty: none, one, one, two; then four each more.
        let process = |stutters: usize| -> Process {
            (0..40).map(|n| vec![if n % 5 == 2 && n / 5 < stutters { 50.0 } else { 10.0 }]).collect()
        };
        let (base, new) = ([0, 1, 1, 2].map(process), [4, 5, 5, 6].map(process));
        let j = decided(&Sides::apart(&base, &new), Metric::Stutter);
        assert_eq!((j.base, j.new, j.scale), (2.5, 12.5, Scale::Difference));
        // s² = 2/3 / 1600, of the difference that over 2; six degrees.
        let half = 3.7074 * (1.0f64 / 4800.0).sqrt();
        let [low, high] = j.interval.expect("four a side");
        assert!((low - (0.1 - half)).abs() < 1e-5 && (high - (0.1 + half)).abs() < 1e-5, "{j:?}");
        // Pairs that all differ by four: one frame either way.
        let j = decided(&Sides::paired(&base, &new), Metric::Stutter);
        let [low, high] = j.interval.expect("four pairs");
        assert!((low - 0.075).abs() < 1e-12 && (high - 0.125).abs() < 1e-12, "{j:?}");
        assert_eq!(j.verdict, Verdict::Regression);
        // None on either side: of forty frames one is more than 2 %, of sixty it is not.
        let calm = |n| vec![vec![vec![1.0]; n]; 5];
        for (n, verdict) in [(40, Verdict::Inconclusive), (60, Verdict::NoChange)] {
            assert_eq!(decided(&Sides::paired(&calm(n), &calm(n)), Metric::Stutter).verdict, verdict);
        }
    }

    #[test]
    fn a_clock_s_tick_bounds_what_no_variance_tells() {
        // Ticks of 0.1 of 10 ms are 1 %; every process's median is the same.
        let of = |low: f64, high: f64| -> Vec<Process> { vec![vec![vec![low], vec![high], vec![high]]; 5] };
        let j = decided(&Sides::apart(&of(10.0, 10.1), &of(10.0, 10.1)), Metric::Median);
        let [low, high] = j.interval.expect("five a side").map(f64::ln_1p);
        assert!((low + 0.01).abs() < 1e-9 && (high - 0.01).abs() < 1e-9, "{j:?}");
        assert_eq!((j.verdict, j.p), (Verdict::NoChange, 1.0));
        let j = decided(&Sides::apart(&of(10.0, 10.1), &of(10.0, 10.3)), Metric::Median);
        assert_eq!(j.verdict, Verdict::Inconclusive, "{j:?}");
        let j = decided(&Sides::paired(&of(10.0, 10.1), &of(10.0, 10.5)), Metric::Median);
        assert_eq!((j.verdict, j.p), (Verdict::Regression, 0.0), "{j:?}");
    }

    #[test]
    fn too_little_says_what_is_missing() {
        let (one, two) = (side(&[1.0]), side(&[1.0, 1.1]));
        let why = |a: &[Process], b: &[Process], metric| {
            let j = decided(&Sides::apart(a, b), metric);
            assert_eq!((j.verdict, j.interval), (Verdict::Inconclusive, None), "{j:?}");
            j.why
        };
        assert!(why(&one, &two, Metric::Median).contains("two processes"));
        assert!(
            why(&two, &two, Metric::P99).contains("p99 needs 100 frames of each process, and there are 3")
        );
        assert!(why(&side(&[0.0, 1.0]), &two, Metric::Median).contains("a figure of 0"));
        assert!(why(&side(&[2.0, 2.0]), &side(&[2.0, 2.0]), Metric::Median).contains("all the same"));
        // Three decide nothing, however far they lie apart.
        let j = decided(&Sides::apart(&side(&[1.0, 1.1, 1.2]), &side(&[9.0, 9.1, 9.2])), Metric::Median);
        assert!(j.interval.is_some_and(|[low, _]| low > 3.0) && j.p < 1e-3, "{j:?}");
        assert!(j.verdict == Verdict::Inconclusive && j.why.contains("3 processes of a side"), "{j:?}");
        assert_eq!(half_width(&one, Metric::Median, 0.01), Ok(None));
        assert!(interval(&Sides::apart(&two, &two), Metric::P99, 0.01).is_err());
    }
}
