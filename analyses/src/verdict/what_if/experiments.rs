//! Which experiments there are, what each asks, and which parts of a frame it can be made with.
//!
//! Guarantees: an experiment's plan is the base's with one change, one pass or a method more. Refuses nothing: a device that cannot do one says so when the
//! plan runs.

use super::parts::blocks;
use trace::actions::Action;
use trace::plan::{Plan, Use};
use trace::what_if::{Experiment, Part};

/// What asks for the cost of a part: it is left out.
pub const COST: &str = "cost";
/// What asks whether time follows work, and what asks for the gain of an optimisation: neither says what binds a part.
pub const AMOUNT: &str = "amount of work";
/// See [`AMOUNT`].
pub const OPTIMISATION: &str = "optimisation";
/// What asks for the gain without barriers that `sync` finds to order nothing.
pub const UNNEEDED: &str = "unneeded waiting";

/// An experiment, for parts that do this.
struct Kind {
    how: How,
    name: &'static str,
    options: &'static [&'static str],
    asks: &'static str,
    of: Of,
}

/// What a plan has more than the base's.
#[derive(Clone, Copy, PartialEq)]
enum How {
    /// A change to calls.
    Change,
    /// A pass in shaders.
    Pass,
    /// A pass in shaders that has them to itself, or that reads what was recorded of the application's own: not beside others.
    PassAlone,
    /// A method of repacking rays.
    Method,
}

/// Which parts.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    /// All.
    Any,
    /// With draws.
    Draws,
    /// With dispatches.
    Dispatched,
    /// With several dispatches, which barriers may stand between.
    Dispatches,
    /// The whole frame.
    Frame,
    /// The whole frame, if it draws.
    DrawingFrame,
    /// The whole frame, if it traces rays.
    TracingFrame,
}

/// Everything but leaving out, in the order in which it is told; of what gains the same, the first is told, and where there is no time for all, the last are
/// given up. What changes images,
/// structures or shaders is of the whole frame, as these are not a part's.
static KINDS: [Kind; 25] = [
    change("no-fragments", &[], "fragments", Of::Draws),
    change("one-pixel", &[], "fragments", Of::Draws),
    Kind { how: How::PassAlone, ..change("trivial", &[], "fragments", Of::DrawingFrame) },
    change("no-blend", &[], "output", Of::Draws),
    change("no-depth", &[], "output", Of::Draws),
    change("no-color", &[], "output", Of::Draws),
    change("half", &[], AMOUNT, Of::Any),
    change("no-barriers", &[], "waiting", Of::Dispatches),
    change("opaque", &[], "traversal", Of::TracingFrame),
    Kind { how: How::Pass, ..change("ray-flags", &["terminate"], "traversal", Of::TracingFrame) },
    Kind { how: How::Pass, ..change("ray-flags", &["cull-back"], "traversal", Of::TracingFrame) },
    Kind { how: How::Pass, ..change("no-recursion", &[], "traversal", Of::TracingFrame) },
    change("half-instances", &[], AMOUNT, Of::TracingFrame),
    change("structures", &["trace"], "traversal", Of::TracingFrame),
    change("structures", &["build"], "traversal", Of::TracingFrame),
    change("structures", &["compacted"], "traversal", Of::TracingFrame),
    change("no-multisampling", &[], "output", Of::DrawingFrame),
    change("cleared", &[], "output", Of::Frame),
    change("small-textures", &[], "textures", Of::Frame),
    change("subgroup-size", &["32"], "occupancy", Of::Frame),
    change("subgroup-size", &["64"], "occupancy", Of::Frame),
    change("workgroup-size", &["half"], "occupancy", Of::Dispatched),
    change("workgroup-size", &["double"], "occupancy", Of::Dispatched),
    Kind { how: How::Pass, ..change("half-floats", &[], "arithmetic", Of::Frame) },
    change("wide-barriers", &[], "waiting", Of::Frame),
];

/// What makes the same picture another way, by what was recorded of the frame.
static OPTIMISATIONS: [Kind; 6] = [
    Kind { how: How::Method, ..change("rounds-longest", &[], OPTIMISATION, Of::TracingFrame) },
    Kind { how: How::Method, ..change("identity-longest", &[], OPTIMISATION, Of::TracingFrame) },
    Kind { how: How::PassAlone, ..change("ser", &[], OPTIMISATION, Of::TracingFrame) },
    Kind { how: How::PassAlone, ..change("specialize", &[], OPTIMISATION, Of::Frame) },
    Kind { how: How::PassAlone, ..change("prune", &[], OPTIMISATION, Of::Frame) },
    Kind { how: How::PassAlone, ..change("zero-path", &[], OPTIMISATION, Of::Frame) },
];

const fn change(name: &'static str, options: &'static [&'static str], asks: &'static str, of: Of) -> Kind {
    Kind { how: How::Change, name, options, asks, of }
}

/// The names of all changes, passes and methods that experiments make.
pub fn names() -> [Vec<&'static str>; 3] {
    let of = |some: &[How]| {
        let all = KINDS.iter().chain(&OPTIMISATIONS).filter(|k| some.contains(&k.how));
        all.map(|k| k.name).collect::<Vec<_>>()
    };
    let mut all = [of(&[How::Change]), of(&[How::Pass, How::PassAlone]), of(&[How::Method])];
    all[0].push("skip");
    all
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
            Of::Dispatched => does(part, actions, "Dispatch"),
            Of::Dispatches => {
                !frame
                    && part.actions.iter().filter(|a| actions[**a].kind.starts_with("Dispatch")).count() > 1
            }
            Of::Frame => frame,
            Of::DrawingFrame => frame && does(part, actions, "Draw"),
            Of::TracingFrame => frame && does(part, actions, "Trace"),
        }
    }
}

/// A part's number and what is changed, as a plan is called.
fn named(part: usize, change: &Use) -> String {
    let options: String = change.options.iter().map(|o| format!("-{o}")).collect();
    format!("{}{options}-{}", change.name, if part == 0 { "frame".into() } else { format!("part{part}") })
}

/// A plan and the experiment that it is.
pub type Asked = (Plan, Experiment);

/// What is asked about.
#[derive(Clone, Copy)]
pub struct Frame<'f> {
    /// The replay that is experimented on.
    pub base: &'f Plan,
    /// All actions.
    pub actions: &'f [Action],
    /// All parts.
    pub parts: &'f [Part],
}

impl Frame<'_> {
    /// The base's plan with one thing more, of a part or, where they are given, of other blocks.
    fn asked(&self, run: &str, number: usize, kind: &Kind, at: Option<&[(u64, u64)]>) -> Asked {
        let used = Use::new(kind.name, kind.options.iter().copied());
        let mut plan = Plan { name: named(number, &used), ..self.base.clone() };
        match kind.how {
            How::Change => {
                let part = &self.parts[number];
                let of_part = (part.level != "frame").then(|| blocks(self.actions, part));
                let at = at.map(<[_]>::to_vec).or(of_part).unwrap_or_default();
                let mut change = used.clone();
                change.options.extend(at.iter().map(|(a, b)| format!("at={a}-{b}")));
                plan.changes.push(change);
            }
            How::Pass | How::PassAlone => plan.passes.0.push(used.clone()),
            How::Method => plan.method = Some(used.clone()),
        }
        let what = match kind.how {
            How::Change => used.to_string(),
            How::Pass | How::PassAlone => format!("pass {used}"),
            How::Method => format!("method {used}"),
        };
        let (plan_name, run, asks) = (plan.name.clone(), run.into(), kind.asks.into());
        (plan, Experiment { plan: plan_name, run, part: number, change: what, asks })
    }

    /// Those that these parts can be asked.
    fn of(&self, run: &str, kinds: &[Kind], parts: &[usize]) -> Vec<Asked> {
        let base = self.base;
        // (where shaders are replaced, or read descriptors elsewhere, no pass may change them)
        let fixed = base.shaders.is_some() || base.descriptors.is_some();
        let beside = fixed || !base.passes.is_empty() || base.method.is_some();
        let can = |k: &&Kind| match k.how {
            How::Change => true,
            How::Pass => !fixed,
            How::PassAlone | How::Method => !beside,
        };
        let each = |n: &usize| {
            let some = kinds.iter().filter(can).filter(|k| k.of.holds(&self.parts[*n], self.actions));
            some.map(|k| self.asked(run, *n, k, None)).collect::<Vec<_>>()
        };
        parts.iter().flat_map(each).collect()
    }

    /// What each part costs: it is left out. Those with the most time of their own are asked first.
    pub fn costs(&self, run: &str) -> Vec<Asked> {
        let skip = change("skip", &[], COST, Of::Any);
        let mut order: Vec<usize> = (0..self.parts.len()).collect();
        order.sort_by_key(|n| (*n > 0, std::cmp::Reverse(self.parts[*n].own)));
        order.into_iter().map(|n| self.asked(run, n, &skip, None)).collect()
    }

    /// What the frame gains without the barriers at some blocks, which order nothing, if there are any; then what binds these parts.
    pub fn causes(&self, run: &str, of: &[usize], unneeded: &[(u64, u64)]) -> Vec<Asked> {
        let without = change("no-barriers", &[], UNNEEDED, Of::Frame);
        let first = (!unneeded.is_empty()).then(|| self.asked(run, 0, &without, Some(unneeded)));
        first.into_iter().chain(self.of(run, &KINDS, of)).collect()
    }

    /// What the frame gains by each optimisation.
    pub fn optimisations(&self, run: &str) -> Vec<Asked> {
        self.of(run, &OPTIMISATIONS, &[0])
    }
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
        let frame = Frame { base: &base, actions: &actions, parts: &parts };
        let all: Vec<String> = frame.costs("costs").iter().map(|a| a.0.to_string()).collect();
        assert_eq!(
            all,
            [
                "skip-frame passes=burn:turns=9 change=skip",
                "skip-part1 passes=burn:turns=9 change=skip:at=7-7",
                "skip-part2 passes=burn:turns=9 change=skip:at=9-9",
                "skip-part3 passes=burn:turns=9 change=skip:at=12-12",
            ]
        );
        let of =
            |n: usize| frame.causes("causes", &[n], &[]).into_iter().map(|a| a.1.change).collect::<Vec<_>>();
        assert!(of(1).contains(&"no-fragments".to_owned()) && !of(2).contains(&"no-fragments".to_owned()));
        assert!(
            of(0).contains(&"small-textures".to_owned()) && !of(1).contains(&"small-textures".to_owned())
        );
        assert!(!of(0).contains(&"opaque".to_owned()), "nothing is traced");
        // Barriers stand between the dispatches of one part.
        let actions = [action(7, "Dispatch"), action(9, "DispatchIndirect"), action(12, "Draw")];
        let whole =
            Part { name: "both".into(), level: "label".into(), actions: vec![0, 1], ..Part::default() };
        let one = Part { actions: vec![0, 2], ..whole.clone() };
        let waits = |part: &Part| {
            let parts = [part.clone(), part.clone()];
            let asked = Frame { base: &base, actions: &actions, parts: &parts }.causes("causes", &[1], &[]);
            asked.into_iter().find(|a| a.1.asks == "waiting").map(|a| a.0.to_string())
        };
        assert_eq!(
            waits(&whole).as_deref(),
            Some("no-barriers-part1 passes=burn:turns=9 change=no-barriers:at=7-9")
        );
        assert_eq!(waits(&one), None);
    }
    #[test]
    fn shaders_and_rays_are_the_whole_frames_and_not_beside_other_passes() {
        let action = |block, kind: &str| Action { block, kind: kind.into(), ..Action::default() };
        let actions = [action(7, "Draw"), action(9, "TraceRaysKHR")];
        let parts = parts(&actions, By::Draw, &[], 9);
        let of = |base: &str| {
            let base: Plan = base.parse().expect("a plan");
            let frame = Frame { base: &base, actions: &actions, parts: &parts };
            let all =
                [frame.causes("causes", &[0, 2], &[(3, 3), (5, 5)]), frame.optimisations("more")].concat();
            all.into_iter().map(|a| (a.0.to_string(), a.1.asks)).collect::<Vec<_>>()
        };
        let plain = of("plain");
        for (plan, asks) in [
            ("trivial-frame passes=trivial", "fragments"),
            ("ray-flags-terminate-frame passes=ray-flags:terminate", "traversal"),
            ("half-floats-frame passes=half-floats", "arithmetic"),
            ("no-barriers-frame change=no-barriers:at=3-3+at=5-5", "unneeded waiting"),
            ("rounds-longest-frame method=rounds-longest", "optimisation"),
            ("prune-frame passes=prune", "optimisation"),
        ] {
            assert!(plain.iter().any(|p| p.0 == plan && p.1 == asks), "{plan}: {plain:?}");
        }
        let burnt = of("burnt passes=burn:turns=9");
        assert!(burnt.iter().any(|p| p.0.ends_with("passes=burn:turns=9,ray-flags:terminate")), "{burnt:?}");
        assert!(burnt.iter().all(|p| p.1 != "optimisation" && !p.0.contains("trivial")), "{burnt:?}");
        for fixed in ["other shaders=new", "moved descriptors=sets.json"] {
            let fixed = of(fixed);
            assert!(fixed.iter().all(|p| !p.0.contains("passes=") && !p.0.contains("method=")), "{fixed:?}");
            assert!(fixed.iter().any(|p| p.0.contains("change=no-barriers:at=3-3")), "{fixed:?}");
        }
    }
}
