//! What each experiment came to.
//!
//! Guarantees: all experiments of all runs are one family of questions. Refuses what `compare` refuses.

use super::experiments::{AMOUNT, COST, OPTIMISATION, UNNEEDED};
use crate::verdict::compare::{Compared, Wanted, compare, decide_together};
use crate::verdict::{Ask, Judged, Metric, Verdict};
use std::collections::BTreeMap;
use trace::run::Run;
use trace::what_if::{Experiment, WhatIf};

/// What one came to.
#[derive(Clone, Debug)]
pub struct Answer<'w> {
    /// The question.
    pub of: &'w Experiment,
    /// The frame's time without the change, and how much less it is with it, in ms; the 99 % interval of that.
    pub base: f64,
    /// See `base`.
    pub gain: f64,
    /// See `base`.
    pub interval: Option<[f64; 2]>,
    /// What was judged.
    pub judged: Judged,
    /// Whether the frame shows the same; none where it presents nothing.
    pub same: Option<bool>,
}

impl Answer<'_> {
    /// It is faster, surely and by enough.
    pub fn gains(&self) -> bool {
        self.judged.verdict == Verdict::Improvement
    }

    /// Percent of the frame.
    pub fn percent(&self) -> f64 {
        100.0 * self.gain / self.base
    }

    /// What came of it, in a word or two.
    pub fn word(&self) -> &'static str {
        match self.judged.verdict {
            Verdict::Improvement => "less time",
            Verdict::Regression => "more time",
            Verdict::NoChange => "no change",
            Verdict::NotWorse => "not more",
            Verdict::Inconclusive => "inconclusive",
        }
    }
}

/// What all came to.
#[derive(Clone, Debug, Default)]
pub struct Answers<'w> {
    /// In the order of the questions.
    pub all: Vec<Answer<'w>>,
    /// Plans that could not be run, and why.
    pub refused: Vec<(&'w Experiment, String)>,
    /// What is to be said.
    pub notes: Vec<String>,
}

impl<'w> Answers<'w> {
    /// What leaving a part out came to.
    pub fn cost(&self, part: usize) -> Option<&Answer<'w>> {
        self.of(part).find(|a| a.of.asks == COST)
    }

    /// All of a part.
    pub fn of(&self, part: usize) -> impl Iterator<Item = &Answer<'w>> {
        self.all.iter().filter(move |a| a.of.part == part)
    }

    /// What binds a part: what is asked, by the greatest gain that is sure. Of those whose intervals meet the greatest one's, which
    /// are not known to be less, the first that was asked comes first.
    pub fn bound_by(&self, part: usize) -> Vec<(&'w str, &Answer<'w>)> {
        let binds = |a: &Answer<'_>| a.gains() && ![COST, AMOUNT, OPTIMISATION].contains(&a.of.asks.as_str());
        let mut left: Vec<&Answer<'w>> = self.of(part).filter(|a| binds(a)).collect();
        let mut all: Vec<(&'w str, &Answer<'w>)> = vec![];
        while let Some(most) = left.iter().max_by(|a, b| a.gain.total_cmp(&b.gain)) {
            let least = most.interval.map_or(most.gain, |i| i[0]);
            let highest = |a: &Answer<'_>| a.interval.map_or(a.gain, |i| i[1]);
            let Some(first) = left.iter().position(|a| highest(a) >= least) else { break };
            let first = left.remove(first);
            left.retain(|a| a.of.asks != first.of.asks);
            all.push((&first.of.asks, first));
        }
        all
    }

    /// What gains and shows the same, the greatest gain first; not what did so by chance.
    pub fn can_be_had(&self) -> Vec<&Answer<'w>> {
        let mut all: Vec<_> =
            self.all.iter().filter(|a| a.gains() && a.same == Some(true) && keeps(a.of)).collect();
        all.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        all
    }
}

/// Judges them; runs by name.
pub fn answers<'w>(of: &'w WhatIf, runs: &BTreeMap<String, Run>, ask: &Ask) -> Result<Answers<'w>, String> {
    let mut judged: Vec<(&str, Compared)> = vec![];
    let mut found = Answers::default();
    for (name, run) in runs {
        let ran = |plan: &str| {
            run.note.workers.iter().any(|w| run.note.plans[w.plan].name == plan)
                && run.note.refused.iter().all(|r| r.plan != plan)
        };
        let asked = of.experiments.iter().filter(|e| e.run == *name);
        let plans: Vec<String> = asked.map(|e| e.plan.clone()).filter(|p| ran(p)).collect();
        if plans.is_empty() {
            continue;
        }
        let wanted = Wanted {
            metrics: vec![Metric::Median],
            ask: *ask,
            clock: None,
            against: Some(of.base.clone()),
            plans,
            force: false,
        };
        let compared = compare(run, run, &wanted)?;
        // (that pictures differ is each answer's own)
        let said = compared.notes.iter().filter(|n| !n.contains("show")).cloned();
        found.notes.extend(said.collect::<Vec<_>>());
        judged.push((name, compared));
    }
    decide_together(&mut judged.iter_mut().map(|j| &mut j.1).collect::<Vec<_>>());
    for e in &of.experiments {
        let Some(run) = runs.get(&e.run) else { continue };
        if let Some(r) = run.note.refused.iter().find(|r| r.plan == e.plan) {
            found.refused.push((e, r.why.clone()));
            continue;
        }
        let title = format!("{} against {}", e.plan, of.base);
        let rows = judged.iter().filter(|j| j.0 == e.run).flat_map(|j| &j.1.rows);
        let Some(row) = rows.into_iter().find(|r| r.level == "capture" && r.plan == title) else { continue };
        let (base, j) = (row.judged.base, row.judged.clone());
        let gain = |change: f64| -change * base;
        found.all.push(Answer {
            of: e,
            base,
            gain: j.change.map_or(f64::NAN, gain),
            interval: j.interval.map(|[low, high]| [gain(high), gain(low)]),
            judged: j,
            same: same(run, &e.plan, &of.base),
        });
    }
    Ok(found)
}

/// Whether a picture that stays is more than chance: without a barrier commands race, unless nothing wants it, and what is left out
/// may be wanted by others, or by another frame, as is what less work does not do.
fn keeps(of: &Experiment) -> bool {
    of.asks != COST && of.asks != AMOUNT && (of.asks == UNNEEDED || !of.change.starts_with("no-barriers"))
}

/// Whether every process under a plan shows what the base's show.
fn same(run: &Run, plan: &str, base: &str) -> Option<bool> {
    let of = |name: &str| -> Vec<&Vec<String>> {
        let mine = |w: &&trace::run::Worker| run.note.plans[w.plan].name == name;
        run.note.workers.iter().filter(mine).map(|w| &w.hashes).collect()
    };
    let (base, plan) = (of(base), of(plan));
    let first = *base.first()?;
    match first.is_empty() {
        true => None,
        false => Some(base.iter().chain(&plan).all(|h| *h == first)),
    }
}
