//! When a run has measured enough, or for long enough.
//!
//! Guarantees: a number of processes that does not fit the budget is not begun, but for the fewest that may decide. Of experiments those
//! that are asked last are given up, by name and before they begin, where so many processes of them do not fit. Refuses nothing.

use super::known::tight;
use super::settings::Settings;
use analyses::verdict::FEWEST as FEWEST_TO_DECIDE;
use std::time::Duration;
use trace::run::{RefusedPlan, Run, RunNote};

/// Why a run stopped that was asked to.
pub const INTERRUPTED: &str = "interrupted";
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
    (next > budget && numbers >= to_decide(settings, most)).then_some("budget")
}

/// How many processes decide an experiment; none where nothing is to be decided within a budget.
pub fn to_decide(settings: &Settings, most: u32) -> u32 {
    if settings.experiments && settings.budget.is_some() { (FEWEST_TO_DECIDE as u32).min(most) } else { 0 }
}

/// Gives up the last of these experiments where so many more numbers of their processes do not fit what is left of the budget, when a process
/// takes this long, and so much was spent. The first of all is not given up.
pub fn give_up(
    settings: &Settings,
    note: &mut RunNote,
    some: &[usize],
    (numbers, first): (u32, bool),
    (process, spent): (Duration, Duration),
) {
    let Some(budget) = settings.budget else { return };
    let left = budget.saturating_sub(spent);
    let fit = left.as_secs_f64() / (process.as_secs_f64() * f64::from(numbers));
    // (beside each number of them runs one process of the base)
    let kept = (fit as usize).saturating_sub(1).max(first.into());
    let refused = |p: &&usize| note.refused.iter().any(|r| r.plan == note.plans[**p].name);
    let late: Vec<usize> = some.iter().filter(|p| !refused(p)).skip(kept).copied().collect();
    let why = format!(
        "given up: a process takes {:.1} s, {FEWEST_TO_DECIDE} decide, and --budget had {:.0} s left",
        process.as_secs_f64(),
        left.as_secs_f64()
    );
    let plan = |p: usize| RefusedPlan { plan: note.plans[p].name.clone(), why: why.clone(), instead: None };
    let late: Vec<RefusedPlan> = late.into_iter().map(plan).collect();
    note.refused.extend(late);
}

/// Gives these up, as somebody asked the run to end.
pub fn interrupted(note: &mut RunNote, some: &[usize]) {
    let late = some.iter().map(|p| note.plans[*p].name.clone());
    let late = late.filter(|plan| note.refused.iter().all(|r| r.plan != *plan));
    let why = "given up: interrupted".to_owned();
    let late: Vec<RefusedPlan> =
        late.map(|plan| RefusedPlan { plan, why: why.clone(), instead: None }).collect();
    note.refused.extend(late);
    note.stopped = INTERRUPTED.into();
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
        let late = |budget, first| {
            let (settings, mut run) = of(budget, true);
            let took = (Duration::from_secs(2), Duration::from_secs(10));
            give_up(&settings, &mut run.note, &[1, 2, 3, 4, 5], (4, first), took);
            run.note.refused.into_iter().map(|r| r.plan).collect::<Vec<_>>()
        };
        // Four numbers of five, and of the base beside them, take 48 s; in 34 s there are three experiments.
        assert_eq!(late(58, false), [""; 0]);
        assert_eq!(late(44, false), ["d", "e"]);
        assert_eq!(late(1, false), ["a", "b", "c", "d", "e"]);
        assert_eq!(late(1, true), ["b", "c", "d", "e"]);
    }

    #[test]
    fn experiments_with_a_budget_are_decided_first() {
        assert_eq!(
            [to_decide(&of(9, true).0, 8), to_decide(&of(9, true).0, 2), to_decide(&of(9, false).0, 8)],
            [4, 2, 0]
        );
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
