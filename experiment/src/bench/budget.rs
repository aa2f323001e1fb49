//! When a run has measured enough, or for long enough.
//!
//! Guarantees: a number of processes that does not fit the budget is not begun, but for the fewest that may decide. Of experiments those
//! that are asked last are given up, by name, where so many processes of all would not fit. Refuses nothing.

use super::known::tight;
use super::settings::Settings;
use analyses::verdict::FEWEST as FEWEST_TO_DECIDE;
use std::time::Duration;
use trace::run::{RefusedPlan, Run};

/// Processes below which nobody asks how well a median, or a change, is known.
const FEWEST: u32 = 5;

/// Why no other number of processes is begun behind this many, which took this long; none where one is.
pub fn over(settings: &Settings, run: &Run, numbers: u32, most: u32, took: Duration) -> Option<&'static str> {
    let budget = settings.budget?;
    if numbers >= FEWEST && tight(run, settings.tight) {
        return Some("tight");
    }
    // (another number takes about as long as those before it)
    let next = took.mul_f64(f64::from(numbers + 1) / f64::from(numbers));
    // (experiments of which nothing could be said are not worth their time)
    let least = if settings.experiments { FEWEST_TO_DECIDE as u32 } else { 0 };
    (next > budget && numbers >= least.min(most)).then_some("budget")
}

/// Experiments, behind the first number of processes, that cannot be decided within the budget: the last ones. So much of it is spent, and
/// the processes took this long.
pub fn given_up(
    settings: &Settings,
    run: &Run,
    most: u32,
    (spent, took): (Duration, Duration),
) -> Vec<RefusedPlan> {
    let Some(budget) = settings.budget.filter(|_| settings.experiments) else { return vec![] };
    let least = (FEWEST_TO_DECIDE as u32).min(most);
    let asked = |name: &str| run.note.refused.iter().all(|r| r.plan != name);
    let all: Vec<&str> = run.note.plans[1..].iter().map(|p| &*p.name).filter(|name| asked(name)).collect();
    let more = took.as_secs_f64() * f64::from(least.saturating_sub(1));
    let share = budget.saturating_sub(spent).as_secs_f64() / more;
    if share.is_nan() || share >= 1.0 {
        return vec![];
    }
    let why = format!(
        "given up: one process of each of {} experiments took {:.0} s, and {least} decide; --budget had {:.0} s left for them",
        all.len(),
        took.as_secs_f64(),
        budget.saturating_sub(spent).as_secs_f64()
    );
    let kept = ((all.len() as f64 * share) as usize).max(1);
    let late = all.into_iter().skip(kept);
    late.map(|plan| RefusedPlan { plan: plan.into(), why: why.clone(), instead: None }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::how::How;
    use std::path::Path;
    use trace::plan::Plan;
    use trace::run::RunNote;

    fn of(budget: u64, experiments: bool) -> (Settings, Run) {
        let plans: Vec<Plan> = ["plain", "a", "b", "c", "d", "e"].map(Plan::named).into();
        let note = RunNote { plans: plans.clone(), ..RunNote::default() };
        let how = How::default();
        let settings = Settings::of_frame(Path::new("a.gfxr"), 2, plans, &how);
        let settings = Settings { budget: Some(Duration::from_secs(budget)), experiments, ..settings };
        (settings, Run { note, ..Run::default() })
    }

    #[test]
    fn experiments_are_given_up_from_the_last_until_the_others_fit() {
        let late = |budget, experiments| {
            let (settings, run) = of(budget, experiments);
            let late = given_up(&settings, &run, 8, (Duration::from_secs(10), Duration::from_secs(10)));
            late.into_iter().map(|r| r.plan).collect::<Vec<_>>()
        };
        // Four numbers of all take 40 s; in 28 s three of five experiments have theirs.
        assert_eq!(late(40, true), [""; 0]);
        assert_eq!(late(28, true), ["d", "e"]);
        assert_eq!(late(1, true), ["b", "c", "d", "e"]);
        assert_eq!(late(1, false), [""; 0]);
    }

    #[test]
    fn a_number_that_does_not_fit_is_not_begun() {
        let said = |budget, numbers, experiments| {
            let (settings, run) = of(budget, experiments);
            over(&settings, &run, numbers, 8, Duration::from_secs(10))
        };
        assert_eq!([said(11, 1, false), said(20, 1, false)], [Some("budget"), None]);
        assert_eq!([said(11, 1, true), said(11, 3, true), said(11, 4, true)], [None, None, Some("budget")]);
    }
}
