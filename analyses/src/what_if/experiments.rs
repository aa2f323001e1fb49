//! Which experiments there are, what each asks, and which parts of a frame it can be made with.
//!
//! Guarantees: an experiment's plan is the base's with one change more. Refuses nothing: a device that cannot do one says so when the
//! plan runs.

use super::parts::blocks;
use trace::plan::{Plan, Use};
use trace::what_if::{Action, Experiment, Part};

/// What asks for the cost of a part: it is left out.
pub const COST: &str = "cost";

/// An experiment, for parts that do this.
struct Kind {
    change: &'static str,
    options: &'static [&'static str],
    asks: &'static str,
    of: Of,
}

/// Which parts.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    /// All.
    Any,
    /// With draws.
    Draws,
    /// With several dispatches, which barriers may stand between.
    Dispatches,
    /// With ray traces.
    Traces,
    /// The whole frame.
    Frame,
    /// The whole frame, if it traces rays.
    TracingFrame,
}

/// Everything but leaving out, in the order in which it is told. What changes images or structures is of the whole frame, as these
/// are not a part's.
static KINDS: [Kind; 14] = [
    Kind { change: "no-fragments", options: &[], asks: "fragments", of: Of::Draws },
    Kind { change: "one-pixel", options: &[], asks: "fragments", of: Of::Draws },
    Kind { change: "no-blend", options: &[], asks: "output", of: Of::Draws },
    Kind { change: "no-depth", options: &[], asks: "output", of: Of::Draws },
    Kind { change: "no-color", options: &[], asks: "output", of: Of::Draws },
    Kind { change: "half", options: &[], asks: "amount of work", of: Of::Any },
    Kind { change: "no-barriers", options: &[], asks: "waiting", of: Of::Dispatches },
    Kind { change: "cleared", options: &[], asks: "output", of: Of::Frame },
    Kind { change: "small-textures", options: &[], asks: "textures", of: Of::Frame },
    Kind { change: "subgroup-size", options: &["32"], asks: "occupancy", of: Of::Frame },
    Kind { change: "subgroup-size", options: &["64"], asks: "occupancy", of: Of::Frame },
    Kind { change: "wide-barriers", options: &[], asks: "waiting", of: Of::Frame },
    Kind { change: "opaque", options: &[], asks: "traversal", of: Of::TracingFrame },
    Kind { change: "structures", options: &["trace"], asks: "traversal", of: Of::TracingFrame },
];

/// The names of all changes that experiments make.
pub fn changes() -> Vec<&'static str> {
    ["skip"].into_iter().chain(KINDS.iter().map(|k| k.change)).collect()
}

fn does(part: &Part, actions: &[Action], kind: &str) -> bool {
    part.actions.iter().any(|a| actions[*a].kind.starts_with(kind))
}

impl Of {
    fn holds(self, part: &Part, actions: &[Action]) -> bool {
        let frame = part.level == "frame";
        match self {
            Of::Any => true,
            Of::Draws => does(part, actions, "Draw"),
            Of::Dispatches => {
                !frame
                    && part.actions.iter().filter(|a| actions[**a].kind.starts_with("Dispatch")).count() > 1
            }
            Of::Traces => does(part, actions, "Trace"),
            Of::Frame => frame,
            Of::TracingFrame => frame && Of::Traces.holds(part, actions),
        }
    }
}

/// A part's number and what is changed, as a plan is called.
fn named(part: usize, change: &Use) -> String {
    let options: String = change.options.iter().map(|o| format!("-{o}")).collect();
    format!("{}{options}-{}", change.name, if part == 0 { "frame".into() } else { format!("part{part}") })
}

/// The base's plan with one change more, of a part.
fn plan(base: &Plan, number: usize, change: &Use, actions: &[Action], part: &Part) -> Plan {
    let mut plan = Plan { name: named(number, change), ..base.clone() };
    let mut options = change.options.clone();
    if part.level != "frame" {
        options.extend(blocks(actions, part).iter().map(|(a, b)| format!("at={a}-{b}")));
    }
    plan.changes.push(Use { name: change.name.clone(), options });
    plan
}

/// A plan and the experiment that it is.
pub type Asked = (Plan, Experiment);

fn asked(base: &Plan, run: &str, number: usize, change: Use, asks: &str, all: (&[Action], &[Part])) -> Asked {
    let plan = plan(base, number, &change, all.0, &all.1[number]);
    let experiment = Experiment {
        plan: plan.name.clone(),
        run: run.into(),
        part: number,
        change: change.to_string(),
        asks: asks.into(),
    };
    (plan, experiment)
}

/// What each part costs: it is left out.
pub fn costs(base: &Plan, run: &str, actions: &[Action], parts: &[Part]) -> Vec<Asked> {
    let skip = || Use::new("skip", [""; 0]);
    (0..parts.len()).map(|n| asked(base, run, n, skip(), COST, (actions, parts))).collect()
}

/// What binds these parts.
pub fn causes(base: &Plan, run: &str, actions: &[Action], parts: &[Part], of: &[usize]) -> Vec<Asked> {
    let each = |n: &usize| {
        let some = KINDS.iter().filter(|k| k.of.holds(&parts[*n], actions));
        let of = |k: &Kind| {
            asked(base, run, *n, Use::new(k.change, k.options.iter().copied()), k.asks, (actions, parts))
        };
        some.map(of).collect::<Vec<_>>()
    };
    of.iter().flat_map(each).collect()
}

#[cfg(test)]
mod tests {
    use super::super::parts::{By, parts};
    use super::*;

    #[test]
    fn plans_are_the_bases_with_a_change_of_the_parts_commands() {
        let action = |block, kind: &str| Action { block, kind: kind.into(), ..Action::default() };
        let actions = [action(7, "Draw"), action(9, "Dispatch"), action(12, "DrawIndexed")];
        let parts = parts(&actions, By::Draw, &[], 9);
        let base: Plan = "burnt passes=burn:turns=9".parse().expect("a plan");
        let all: Vec<String> =
            costs(&base, "costs", &actions, &parts).iter().map(|a| a.0.to_string()).collect();
        assert_eq!(
            all,
            [
                "skip-frame passes=burn:turns=9 change=skip",
                "skip-part1 passes=burn:turns=9 change=skip:at=7-7",
                "skip-part2 passes=burn:turns=9 change=skip:at=9-9",
                "skip-part3 passes=burn:turns=9 change=skip:at=12-12",
            ]
        );
        let of = |n: usize| {
            causes(&base, "causes", &actions, &parts, &[n])
                .into_iter()
                .map(|a| a.1.change)
                .collect::<Vec<_>>()
        };
        assert!(of(1).contains(&"no-fragments".to_owned()) && !of(2).contains(&"no-fragments".to_owned()));
        assert!(
            of(0).contains(&"small-textures".to_owned()) && !of(1).contains(&"small-textures".to_owned())
        );
        assert!(!of(0).contains(&"opaque".to_owned()), "nothing is traced");
        // Barriers stand between the dispatches of one part.
        let actions = [action(7, "Dispatch"), action(9, "DispatchIndirect"), action(12, "Draw")];
        let whole = Part { name: "both".into(), level: "label".into(), own: None, actions: vec![0, 1] };
        let one = Part { actions: vec![0, 2], ..whole.clone() };
        let waits = |part: &Part| {
            let all = [part.clone(), part.clone()];
            let asked = causes(&base, "causes", &actions, &all, &[1]);
            asked.into_iter().find(|a| a.1.asks == "waiting").map(|a| a.0.to_string())
        };
        assert_eq!(
            waits(&whole).as_deref(),
            Some("no-barriers-part1 passes=burn:turns=9 change=no-barriers:at=7-9")
        );
        assert_eq!(waits(&one), None);
    }
}
