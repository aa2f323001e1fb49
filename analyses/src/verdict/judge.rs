//! The verdict on one metric, or one part, of two sides.
//!
//! A change is a *regression* if it is both significant and large: p of the processes' values, adjusted where many questions are
//! asked at once, is at most alpha, *and* the whole interval of the change lies beyond the least effect that matters. *Improvement* likewise, the other way. It is *no change* if the whole interval lies within that effect on both sides,
//! *not worse* if it lies below it and reaches beyond it on the better side only. In all other cases, the interval straddles the
//! bound (or there is none), it is *inconclusive*: the data neither show a regression nor rule one out; more processes, or a
//! larger least effect, decide it.
//!
//! p is Mann–Whitney's; of pairs (processes of one number, of plans of one run, which were alive together) it is Wilcoxon's
//! signed-rank, if so many pairs can reach alpha among so many questions: which one decides does not depend on the times. (Of
//! pairs Mann–Whitney's p is never too small, but what drifts hides what differs from it.)
//!
//! "Worse" is longer, or for metrics of which more is better, less.

use super::bootstrap::{Interval, Sides, interval, values};
use super::distances::{ks, ks_p, wasserstein};
use super::metrics::Metric;
use super::ranks::{Ranked, least_p};
use super::signed::{least_signed_p, signed_p};
use serde::Serialize;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ask {
    /// The least change that matters, as a share: 0.02 for 2 %.
    pub effect: f64,
    /// The greatest p that is significant; intervals are at the level 1 − alpha.
    pub alpha: f64,
    /// Drawings of the bootstrap.
    pub drawings: usize,
    /// Where its random numbers begin.
    pub seed: u64,
}

/// See the module's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Better, surely and by enough.
    Improvement,
    /// The same within the effect.
    NoChange,
    /// The same or better.
    NotWorse,
    /// Neither shown nor ruled out.
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

/// Whose p decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// Mann and Whitney's.
    MannWhitney,
    /// Wilcoxon's, of pairs.
    SignedRank,
}

/// Two sides beside each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// The sides' figures: means over processes.
    pub base: f64,
    /// See `base`.
    pub new: f64,
    /// How much greater the new figure is, as a share of the base's.
    pub change: Option<f64>,
    /// From where to where that lies.
    pub interval: Option<[f64; 2]>,
    /// Whether processes of one number of both sides were alive together.
    pub paired: bool,
    /// Mann–Whitney's p, of one value a process.
    pub p: f64,
    /// Of pairs: Wilcoxon's signed-rank p.
    pub p_signed: Option<f64>,
    /// Which of these decides.
    pub test: Test,
    /// That one, adjusted for its family.
    pub p_adjusted: f64,
    /// Cliff's delta of all times: above 0 the new ones are the longer ones.
    pub delta: f64,
    /// Kolmogorov–Smirnov's D of all times.
    pub ks: f64,
    /// Its p, of one value a process.
    pub ks_p: f64,
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
    /// Which p decides among so many questions.
    pub fn choose(&mut self, questions: usize, alpha: f64) {
        let pairs = least_signed_p(self.processes[0]) * questions as f64;
        self.test = match self.p_signed {
            Some(_) if pairs <= alpha => Test::SignedRank,
            _ => Test::MannWhitney,
        };
        self.p_adjusted = self.deciding();
    }

    /// The p that decides, as it is.
    pub fn deciding(&self) -> f64 {
        match self.test {
            Test::MannWhitney => self.p,
            Test::SignedRank => self.p_signed.unwrap_or(1.0),
        }
    }
}

/// Everything but the verdict, which [`decide`] fills in when p has been adjusted.
pub fn measure(sides: &Sides<'_>, metric: Metric, ask: &Ask) -> Judged {
    let (paired, asked) = (sides.paired, sides);
    let sides = asked.both();
    let all = sides.map(|s| s.iter().flatten().flatten().copied().collect::<Vec<f64>>());
    let ranked = Ranked::new(&all[1], &all[0]);
    let mut judged = Judged {
        base: f64::NAN,
        new: f64::NAN,
        change: None,
        interval: None,
        paired,
        p: 1.0,
        p_signed: None,
        test: Test::MannWhitney,
        p_adjusted: 1.0,
        delta: ranked.delta(),
        ks: ks(&all[0], &all[1]).unwrap_or(0.0),
        ks_p: 1.0,
        wasserstein_ms: wasserstein(&all[0], &all[1]).unwrap_or(0.0),
        processes: sides.map(<[_]>::len),
        times: [all[0].len(), all[1].len()],
        verdict: Verdict::Inconclusive,
        why: String::new(),
    };
    let of = match (values(sides[0], metric), values(sides[1], metric)) {
        (Ok(base), Ok(new)) => [base, new],
        (Err(few), _) | (_, Err(few)) => {
            judged.why = few.to_string();
            return judged;
        }
    };
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    (judged.base, judged.new) = (mean(&of[0]), mean(&of[1]));
    judged.change = (judged.base > 0.0).then(|| judged.new / judged.base - 1.0);
    judged.p = Ranked::new(&of[1], &of[0]).p();
    if paired {
        // (ratios, as what is shared by a pair makes both longer by as much; of figures that may be 0, differences)
        let ratios = of.iter().flatten().all(|v| *v > 0.0);
        let apart = |(b, n): (&f64, &f64)| if ratios { (n / b).ln() } else { n - b };
        judged.p_signed = Some(signed_p(&of[0].iter().zip(&of[1]).map(apart).collect::<Vec<_>>()));
    }
    judged.choose(1, ask.alpha);
    judged.ks_p = ks_p(&of[0], &of[1]).unwrap_or(1.0);
    if let Ok(Some(Interval { at, .. })) = interval(asked, metric, ask.alpha, ask.drawings, ask.seed) {
        judged.interval = Some(at);
    }
    judged
}

/// Fills the verdict in; `questions` is how many are in its family.
pub fn decide(judged: &mut Judged, metric: Metric, ask: &Ask, questions: usize) {
    if !judged.why.is_empty() {
        return;
    }
    // A sign that makes worse positive.
    let turned = |[low, high]: [f64; 2]| if metric.more_is_better() { [-high, -low] } else { [low, high] };
    let Some([low, high]) = judged.interval.map(turned) else {
        judged.why = match judged.processes.iter().min() {
            Some(0 | 1) | None => "an interval needs two processes of each side".into(),
            _ => "a figure of 0 has no change in percent".into(),
        };
        return;
    };
    let significant = judged.p_adjusted <= ask.alpha;
    let least = match judged.test {
        Test::MannWhitney => least_p(judged.processes[0], judged.processes[1]),
        Test::SignedRank => least_signed_p(judged.processes[0]),
    };
    let reachable = least * questions as f64;
    let weak = || match reachable > ask.alpha {
        true => format!(
            "{} and {} processes cannot reach p ≤ {} among {questions} questions, whatever their times are",
            judged.processes[0], judged.processes[1], ask.alpha
        ),
        false => format!("p is {:.2}, above {}", judged.p_adjusted, ask.alpha),
    };
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
    use super::super::bootstrap::Process;
    use super::*;

    const ASK: Ask = Ask { effect: 0.02, alpha: 0.01, drawings: 100, seed: 0 };

    fn judged(interval: [f64; 2], p: f64, n: usize) -> Judged {
        let one: Vec<Process> = vec![vec![vec![1.0; 3]]; n];
        let j = measure(&Sides::apart(&one, &one), Metric::Median, &ASK);
        Judged { interval: Some(interval), p, p_adjusted: p, ..j }
    }

    #[test]
    fn significance_and_size_make_a_regression_and_either_alone_does_not() {
        let of = |interval, p, metric| {
            let mut j = judged(interval, p, 10);
            decide(&mut j, metric, &ASK, 1);
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
    fn pairs_are_asked_pair_by_pair_if_there_are_enough_of_them() {
        // Times double from pair to pair, and each new one is 5 % longer.
        let base: Vec<Process> = (0..8).map(|n| vec![vec![f64::from(1 << n)]; 3]).collect();
        let new: Vec<Process> = base.iter().map(|p| p.iter().map(|t| vec![1.05 * t[0]]).collect()).collect();
        let mut j = measure(&Sides::paired(&base, &new), Metric::Median, &ASK);
        decide(&mut j, Metric::Median, &ASK, 1);
        assert_eq!(
            (j.test, j.p_signed, j.verdict),
            (Test::SignedRank, Some(2.0 / 256.0), Verdict::Regression),
            "{j:?}"
        );
        assert!(j.interval.is_some_and(|[a, b]| (a - 0.05).abs() < 1e-9 && (b - 0.05).abs() < 1e-9), "{j:?}");
        // Apart, the same times say nothing.
        let mut j = measure(&Sides::apart(&base, &new), Metric::Median, &ASK);
        decide(&mut j, Metric::Median, &ASK, 1);
        assert_eq!(
            (j.test, j.p_signed, j.verdict),
            (Test::MannWhitney, None, Verdict::Inconclusive),
            "{j:?}"
        );
        // Among two questions eight pairs cannot reach 1 %, nor seven among one: Mann–Whitney's has to decide.
        let mut j = measure(&Sides::paired(&base, &new), Metric::Median, &ASK);
        j.choose(2, ASK.alpha);
        assert_eq!((j.test, j.deciding()), (Test::MannWhitney, j.p));
        let j = measure(&Sides::paired(&base[..7], &new[..7]), Metric::Median, &ASK);
        assert_eq!(j.test, Test::MannWhitney);
        // Figures of 0 have no ratio.
        let none: Vec<Process> = vec![vec![vec![1.0]; 19]; 9];
        let j = measure(&Sides::paired(&none, &none), Metric::Stutter, &ASK);
        assert_eq!(j.p_signed, Some(1.0), "{j:?}");
    }

    #[test]
    fn too_little_says_what_is_missing() {
        let mut j = judged([0.03, 0.05], 0.001, 4);
        (j.p, j.p_adjusted) = (least_p(4, 4), least_p(4, 4));
        decide(&mut j, Metric::Median, &ASK, 1);
        assert!(j.verdict == Verdict::Inconclusive && j.why.contains("4 and 4 processes cannot"), "{j:?}");
        let one: Vec<Process> = vec![vec![vec![1.0; 3]]; 1];
        let mut j = measure(&Sides::apart(&one, &one), Metric::Median, &ASK);
        decide(&mut j, Metric::Median, &ASK, 1);
        assert!(j.why.contains("two processes"), "{j:?}");
        let mut j = measure(&Sides::apart(&one, &one), Metric::P99, &ASK);
        decide(&mut j, Metric::P99, &ASK, 1);
        assert!(j.why.contains("p99 needs 100 frames of each process, and there are 3"), "{j:?}");
    }
}
