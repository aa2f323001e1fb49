//! The statistics against SciPy (golden.json, written by golden.py), and against data whose effects are known.

use super::*;
use crate::loop_times::stats::Random;
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("golden.json")).expect("JSON")
}

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().expect("numbers").iter().map(|n| n.as_f64().expect("a number")).collect()
}

/// The same to nine digits; very small p to as many of their own.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1e-6)
}

#[test]
fn samples_are_what_scipy_says() {
    let all = golden();
    let (mut exact, mut ks_exact) = (0, 0);
    for c in all["samples"].as_array().expect("samples") {
        let (a, b) = (numbers(&c["a"]), numbers(&c["b"]));
        let r = Ranked::new(&a, &b);
        let is = |what: &str, got: f64| {
            let wanted = c[what].as_f64().expect("a number");
            assert!(close(got, wanted), "{what}: {got} for {wanted} of {a:?} {b:?}");
        };
        is("u", r.u());
        is("normal_p", r.normal_p());
        is("ks", ks(&a, &b).expect("values"));
        is("wasserstein", wasserstein(&a, &b).expect("values"));
        if a.len() + b.len() <= EXACT && !c["exact_p"].is_null() {
            is("exact_p", r.p());
            exact += 1;
        }
        if !c["ks_p"].is_null() {
            is("ks_p", ks_p(&a, &b).expect("values"));
            ks_exact += 1;
        }
    }
    assert!(exact >= 20 && ks_exact >= 20, "{exact} {ks_exact}");
    for f in all["families"].as_array().expect("families") {
        let q = adjusted(&numbers(&f["p"]));
        assert!(q.iter().zip(numbers(&f["adjusted"])).all(|(a, b)| close(*a, b)), "{q:?} {f}");
    }
    for c in all["pairs"].as_array().expect("pairs") {
        let (p, wanted) = (signed_p(&numbers(&c["differences"])), c["p"].as_f64().expect("a number"));
        assert!(close(p, wanted), "{p} for {wanted} of {c}");
    }
    for s in all["student"].as_array().expect("quantiles") {
        let [p, n, t] = ["p", "n", "t"].map(|k| s[k].as_f64().expect("a number"));
        assert!((student(p, n) / t - 1.0).abs() < 1e-6, "{p} {n}: {} for {t}", student(p, n));
    }
}

/// Where times come from: processes differ from each other, and turns within one.
#[derive(Clone, Copy)]
struct World {
    /// Standard deviation of what processes of one number share, as a share.
    shared: f64,
    /// Standard deviation between processes, as a share.
    between: f64,
    /// Within one.
    within: f64,
    /// Share of turns that take up to five times as long.
    tail: f64,
    /// What times are rounded to, in ms: ties.
    grain: f64,
}

/// Quiet: a GPU at fixed clocks. Busy: software on a machine that does other things. Coarse: a timer of few ticks.
/// Drifting: a device that is faster at one time than at another, by far more than what is looked for.
const WORLDS: [(&str, World); 4] = [
    ("quiet", World { shared: 0.0, between: 0.002, within: 0.01, tail: 0.0, grain: 0.0 }),
    ("busy", World { shared: 0.0, between: 0.02, within: 0.05, tail: 0.05, grain: 0.0 }),
    ("coarse", World { shared: 0.0, between: 0.005, within: 0.01, tail: 0.01, grain: 0.1 }),
    ("drifting", World { shared: 0.1, between: 0.004, within: 0.01, tail: 0.0, grain: 0.0 }),
];

impl World {
    /// Both sides: processes of one number share a moment.
    fn sides(&self, random: &mut Random, processes: usize, turns: usize, effect: f64) -> [Vec<Process>; 2] {
        let normal = |random: &mut Random| {
            let (a, b) = (1.0 - random.unit(), random.unit());
            (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
        };
        let moments: Vec<f64> = (0..processes).map(|_| (self.shared * normal(random)).exp()).collect();
        [1.0, 1.0 + effect].map(|scale| {
            let process = |moment: &f64| {
                let of_process = moment * (self.between * normal(random)).exp();
                let turn = |_| {
                    let slow = if random.unit() < self.tail { 1.0 + 4.0 * random.unit() } else { 1.0 };
                    let time = 10.0 * scale * of_process * (self.within * normal(random)).exp() * slow;
                    vec![if self.grain > 0.0 { (time / self.grain).round() * self.grain } else { time }]
                };
                (0..turns).map(turn).collect()
            };
            moments.iter().map(process).collect()
        })
    }
}

/// What came of many comparisons.
#[derive(Debug, Default)]
struct Tally {
    significant: usize,
    missed: usize,
    regressions: usize,
    no_change: usize,
    inconclusive: usize,
}

fn draws(
    world: &World,
    metric: Metric,
    (processes, turns, paired): (usize, usize, bool),
    effect: f64,
    draws: usize,
) -> Tally {
    let mut tally = Tally::default();
    let mut random = Random::new(processes as u64 * 1000 + turns as u64);
    for seed in 0..draws as u64 {
        let [base, new] = world.sides(&mut random, processes, turns, effect);
        let ask = Ask { effect: 0.02, alpha: 0.01, drawings: 200, seed };
        let mut j = measure(&Sides { base: &base, new: &new, paired }, metric, &ask);
        decide(&mut j, metric, &ask, 1);
        let [low, high] = j.interval.expect("enough processes");
        tally.significant += usize::from(j.deciding() <= ask.alpha);
        tally.missed += usize::from(!(low..=high).contains(&effect));
        tally.regressions += usize::from(j.verdict == Verdict::Regression);
        tally.no_change += usize::from(j.verdict == Verdict::NoChange);
        tally.inconclusive += usize::from(j.verdict == Verdict::Inconclusive);
    }
    tally
}

/// Most of n draws that may be so if each is so with probability p: three standard errors above.
fn at_most(n: usize, p: f64) -> usize {
    (n as f64 * p + 3.0 * (n as f64 * p * (1.0 - p)).sqrt()).ceil() as usize
}

/// More draws, and what came of them in words: RERAY_POWER=1.
fn thorough() -> bool {
    std::env::var_os("RERAY_POWER").is_some()
}

#[test]
fn without_an_effect_and_at_the_bound_errors_are_no_more_than_alpha() {
    let n = if thorough() { 5000 } else { 500 };
    let asked = [(Metric::Median, 5), (Metric::Median, 10), (Metric::Mean, 10)];
    for (name, world) in WORLDS {
        for ((metric, processes), paired) in
            asked.into_iter().flat_map(|a| [(a, false), (a, true)]).filter(|a| a.1 || world.shared == 0.0)
        {
            // (a coarse timer's median moves in steps: the true median's change is not the effect)
            let stepped = world.grain > 0.0 && metric == Metric::Median;
            let of = |effect| draws(&world, metric, (processes, 15, paired), effect, n);
            let (same, bound) = (of(0.0), of(0.02));
            let what = format!("{name}, {metric:?}, {processes} processes, paired {paired}");
            if thorough() {
                println!("{what}: none: {same:?}; at the bound: {bound:?}");
            }
            let most = at_most(n, 0.01);
            assert!(same.significant <= most, "{what}: {same:?}");
            assert!(same.missed <= most, "{what}: {same:?}");
            // (a verdict needs both: significance, and an interval wholly beyond the least effect)
            assert!(same.regressions <= at_most(n, 0.001), "{what}: {same:?}");
            assert!(bound.regressions <= most, "{what}: {bound:?}");
            assert!(stepped || bound.missed <= most, "{what}: {bound:?}");
        }
    }
}

/// What docs/compare.md says of power is what comes of this; RERAY_POWER=1 prints the table.
#[test]
fn effects_are_found_as_often_as_the_docs_say() {
    let print = thorough();
    let n = if print { 1000 } else { 120 };
    let mut rows = vec![];
    for ((name, world), paired) in WORLDS.into_iter().flat_map(|w| [(w, false), (w, true)]) {
        for processes in [5, 10, 20] {
            let mut row = vec![];
            for effect in [0.0, 0.03, 0.05, 0.1] {
                let t = draws(&world, Metric::Median, (processes, 20, paired), effect, n);
                row.push(if effect == 0.0 { t.no_change } else { t.regressions } as f64 / n as f64);
            }
            if print {
                let how = if paired { "pairs" } else { "apart" };
                println!(
                    "| {name} | {how} | {processes} | {} |",
                    row.iter().map(|r| format!("{:.0} %", 100.0 * r)).collect::<Vec<_>>().join(" | ")
                );
            }
            rows.push((name, paired, processes, row));
        }
    }
    let of = |name: &str, paired: bool, processes: usize| {
        &rows.iter().find(|r| (r.0, r.1, r.2) == (name, paired, processes)).expect("it ran").3
    };
    // A quiet device: 3 % is found, and A against A is no change, with ten processes.
    assert!(of("quiet", false, 10)[0] >= 0.99 && of("quiet", false, 10)[1] >= 0.95, "{rows:?}");
    // A busy machine needs a greater effect.
    assert!(of("busy", false, 20)[3] >= 0.9 && of("busy", false, 5)[1] <= 0.2, "{rows:?}");
    // Where processes of one number share their moment, pairs see what two runs cannot.
    assert!(of("drifting", true, 10)[0] >= 0.99 && of("drifting", true, 20)[1] >= 0.95, "{rows:?}");
    assert!(of("drifting", false, 20)[0] == 0.0 && of("drifting", false, 20)[1] == 0.0, "{rows:?}");
    // More processes find more.
    for (name, _) in WORLDS {
        for paired in [false, true] {
            let more = |e: usize| of(name, paired, 20)[e] >= of(name, paired, 5)[e] - 0.05;
            assert!((0..4).all(more), "{rows:?}");
        }
    }
}

/// Frames of one process taken for independent would find differences where there are none: this is why processes are drawn.
#[test]
fn frames_taken_for_independent_would_deceive() {
    let (world, mut random, mut found) = (WORLDS[1].1, Random::new(1), 0);
    for _ in 0..200 {
        let [a, b] = world.sides(&mut random, 5, 50, 0.0).map(|side| side.concat().concat());
        found += usize::from(Ranked::new(&a, &b).p() <= 0.01);
    }
    assert!(found > 40, "{found}");
}
