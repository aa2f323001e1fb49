//! What a frame is made of, as experiments ask about it: labels, passes, pipelines or draws.
//!
//! Parts are a tree: the whole frame, labels that hold several others, and at the ends labels, or passes of a label that has several.
//! Guarantees: the first part is the whole frame; every action is in exactly one of those that hold no others, which come in the order in
//! which the frame begins them, each behind what it is within. Where there are more of these than are wanted, those with the least own
//! time are one part, the last. Refuses nothing.

use std::collections::{BTreeSet, HashMap};
use trace::actions::Action;
use trace::names::{self, WITHIN};
use trace::what_if::Part;

/// What parts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// What the application labels; actions outside of labels are one part.
    Label,
    /// Render passes, and what a command buffer does between them.
    Pass,
    /// Pipelines.
    Pipeline,
    /// Every draw, dispatch and trace.
    Draw,
}

impl By {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            By::Label => "label",
            By::Pass => "pass",
            By::Pipeline => "pipeline",
            By::Draw => "draw",
        }
    }

    /// The coarsest that parts the frame at all: labels, if there are any.
    pub fn chosen(actions: &[Action]) -> By {
        let there = Labels::of(actions);
        let parts = |by: By| {
            let mut keys = actions.iter().enumerate().map(|(n, a)| key(a, n, by, &there).0);
            let first = keys.next();
            keys.any(|other| Some(&other) != first.as_ref())
        };
        let labelled = actions.iter().any(|a| !a.labels.is_empty());
        match () {
            () if labelled && parts(By::Label) => By::Label,
            () if parts(By::Pass) => By::Pass,
            () if parts(By::Pipeline) => By::Pipeline,
            () => By::Draw,
        }
    }
}

/// What labels there are.
#[derive(Default)]
struct Labels<'a> {
    /// Those with actions of their own in several passes.
    several: BTreeSet<&'a [String]>,
    /// Those with others within.
    hold: BTreeSet<&'a [String]>,
}

impl<'a> Labels<'a> {
    fn of(actions: &'a [Action]) -> Labels<'a> {
        let mut passes: HashMap<&[String], BTreeSet<u64>> = HashMap::new();
        for a in actions {
            passes.entry(&a.labels).or_default().insert(a.pass);
        }
        let outer = |labels: &&'a [String]| (1..labels.len()).map(|n| &labels[..n]).collect::<Vec<_>>();
        Labels {
            hold: passes.keys().flat_map(outer).collect(),
            several: passes.iter().filter(|(_, of)| of.len() > 1).map(|(labels, _)| *labels).collect(),
        }
    }
}

/// What tells a part from others, and its name.
fn key(a: &Action, n: usize, by: By, there: &Labels<'_>) -> (String, String) {
    let within = a.labels.join(WITHIN);
    let under = |name: String| if within.is_empty() { name } else { format!("{within}{WITHIN}{name}") };
    let [several, hold] = [&there.several, &there.hold].map(|of| of.contains(&a.labels[..]));
    match by {
        By::Label if a.labels.is_empty() => (String::new(), "outside of labels".into()),
        By::Label if !several && !hold => (within.clone(), within),
        By::Label if !several => (within.clone(), under("outside of labels within".into())),
        By::Label => {
            let pass = match a.pass {
                0 => "outside of passes".into(),
                pass => names::pass(pass, &[], &a.pass_name),
            };
            (format!("{within}\0{}", a.pass), under(pass))
        }
        By::Pass if a.pass > 0 => {
            (format!("pass {}", a.pass), names::pass(a.pass, &a.pass_labels, &a.pass_name))
        }
        By::Pass => {
            (format!("{} {within}", a.submission), under(format!("outside of passes, from {}", a.kind)))
        }
        By::Pipeline => (a.pipeline.to_string(), a.pipeline_words()),
        By::Draw => (n.to_string(), under(names::draw(None, None, n as u64 + 1, &a.kind))),
    }
}

/// The parts that hold no others, which every action is in one of.
pub fn ends(parts: &[Part]) -> Vec<usize> {
    let holds: BTreeSet<usize> = parts.iter().filter_map(|p| p.within).collect();
    (1..parts.len()).filter(|n| !holds.contains(n)).collect()
}

/// The parts of a frame; `own` are actions' own times, as far as they are known, and `most` how many there may be besides the whole.
pub fn parts(actions: &[Action], by: By, own: &[Option<u64>], most: usize) -> Vec<Part> {
    let own_of = |some: &[usize]| {
        let known: Vec<u64> = some.iter().filter_map(|a| own.get(*a).copied().flatten()).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    };
    let there = Labels::of(actions);
    let mut all: Vec<Part> = vec![];
    let mut at: HashMap<String, usize> = HashMap::new();
    for (n, a) in actions.iter().enumerate() {
        let (key, name) = key(a, n, by, &there);
        let part = *at.entry(key).or_insert_with(|| {
            all.push(Part { name, level: by.name().into(), ..Part::default() });
            all.len() - 1
        });
        all[part].actions.push(n);
    }
    all.iter_mut().for_each(|p| p.own = own_of(&p.actions));
    if all.len() > most {
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|p| (std::cmp::Reverse(all[*p].own), *p));
        let mut small = order.split_off(most.max(1) - 1);
        small.sort_unstable();
        let actions: Vec<usize> = small.iter().flat_map(|p| all[*p].actions.clone()).collect();
        let rest = Part {
            name: format!("the other {} {}s", small.len(), by.name()),
            level: "rest".into(),
            own: own_of(&actions),
            actions,
            ..Part::default()
        };
        let mut n = 0..;
        all.retain(|_| !small.contains(&n.next().unwrap_or_default()));
        all.push(rest);
    }
    let every: Vec<usize> = (0..actions.len()).collect();
    let whole =
        Part { name: "the frame".into(), level: "frame".into(), own: own_of(&every), ..Part::default() };
    let whole = Part { actions: every, ..whole };
    let labels = if by == By::Label { labels(actions, &all) } else { vec![] };
    let labels = labels.into_iter().map(|p| Part { own: own_of(&p.actions), ..p });
    within([vec![whole], labels.collect(), all].concat())
}

/// Labels that hold more than one of these parts, and not all that what they are within does.
fn labels(actions: &[Action], ends: &[Part]) -> Vec<Part> {
    let mut all: Vec<Part> = vec![];
    // (what all actions of a part are within: frames may have as many labels as draws, but not as many parts)
    let common = |p: &Part| -> &[String] {
        let mut labels = p.actions.iter().map(|a| &actions[*a].labels[..]);
        let first = labels.next().unwrap_or_default();
        let shared =
            |n: usize, other: &[String]| n.min(first.iter().zip(other).take_while(|(a, b)| a == b).count());
        &first[..labels.fold(first.len(), shared)]
    };
    let within: Vec<&[String]> = ends.iter().map(common).collect();
    let prefixes: BTreeSet<&[String]> =
        within.iter().flat_map(|labels| (1..=labels.len()).map(|n| &labels[..n])).collect();
    // (they come sorted, so that a label is behind what it is within)
    for prefix in prefixes {
        let of: Vec<usize> = (0..actions.len()).filter(|a| actions[*a].labels.starts_with(prefix)).collect();
        let held = within.iter().filter(|labels| labels.starts_with(prefix)).count();
        let known = of.len() == actions.len() || all.iter().any(|p| p.actions == of);
        if held > 1 && !known {
            let name = prefix.join(WITHIN);
            all.push(Part { name, level: By::Label.name().into(), actions: of, ..Part::default() });
        }
    }
    all
}

/// The same parts as a tree, each behind what it is within; the first holds all.
fn within(mut all: Vec<Part>) -> Vec<Part> {
    let holds = |a: &Part, b: &Part| {
        a.actions.len() > b.actions.len() && b.actions.iter().all(|n| a.actions.binary_search(n).is_ok())
    };
    // (of two that begin with the same action the larger first; what stands for the small ones stays last)
    let first =
        |p: &Part| (p.level == "rest", p.actions.first().copied(), std::cmp::Reverse(p.actions.len()));
    all[1..].sort_by_key(first);
    for n in 1..all.len() {
        let of = (0..n).rev().filter(|of| holds(&all[*of], &all[n])).min_by_key(|of| all[*of].actions.len());
        all[n].within = Some(of.unwrap_or(0));
    }
    all
}

/// The blocks of a part's commands, as ranges that hold no command of another: what `at=` of a change takes.
pub fn blocks(actions: &[Action], part: &Part) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, bool)> = actions.iter().map(|a| (a.block, false)).collect();
    part.actions.iter().for_each(|a| all[*a].1 = true);
    all.sort_unstable();
    let mut ranges: Vec<(u64, u64)> = vec![];
    let mut open = false;
    for (n, (block, mine)) in all.iter().enumerate() {
        // (a command that is executed twice may be in two parts: it is both's)
        let mine = *mine || all[n..].iter().take_while(|a| a.0 == *block).any(|a| a.1);
        match (mine, ranges.last_mut()) {
            (true, Some(last)) if open => last.1 = *block,
            (true, _) => ranges.push((*block, *block)),
            (false, _) => {}
        }
        open = mine;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(block: u64, pass: u64, pipeline: u64, labels: &[&str]) -> Action {
        Action {
            block,
            pass,
            pass_name: if pass > 0 { "rendering 8x8".into() } else { String::new() },
            pipeline,
            kind: "Draw".into(),
            labels: labels.iter().map(|l| (*l).into()).collect(),
            ..Action::default()
        }
    }

    fn frame() -> Vec<Action> {
        vec![
            action(10, 0, 5, &[]),
            action(12, 1, 5, &["a"]),
            action(13, 1, 6, &["a", "b"]),
            action(20, 2, 6, &[]),
            action(21, 2, 5, &[]),
        ]
    }

    fn of(by: By, own: &[Option<u64>], most: usize) -> Vec<(String, Vec<usize>, Option<u64>)> {
        parts(&frame(), by, own, most).into_iter().map(|p| (p.name, p.actions, p.own)).collect()
    }

    #[test]
    fn every_action_is_in_one_part_and_the_whole_comes_first() {
        let names = |by| of(by, &[], 9).into_iter().map(|p| p.0).collect::<Vec<_>>();
        assert_eq!(
            names(By::Label),
            ["the frame", "outside of labels", "a", "a › outside of labels within", "a › b"]
        );
        assert_eq!(
            names(By::Pass)[1..],
            ["outside of passes, from Draw", "pass 1 (rendering 8x8)", "pass 2 (rendering 8x8)"]
        );
        assert_eq!(names(By::Pipeline)[1..], ["pipeline 5", "pipeline 6"]);
        assert_eq!(
            names(By::Draw)[1..],
            ["draw 1 (Draw)", "a › draw 2 (Draw)", "a › b › draw 3 (Draw)", "draw 4 (Draw)", "draw 5 (Draw)"]
        );
        for by in [By::Label, By::Pass, By::Pipeline, By::Draw] {
            let parts = parts(&frame(), by, &[], 2);
            let mut all: Vec<usize> = ends(&parts).iter().flat_map(|n| parts[*n].actions.clone()).collect();
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2, 3, 4], "{by:?}");
        }
    }

    #[test]
    fn labels_within_labels_and_their_passes_are_a_tree() {
        let frame = [
            action(10, 0, 5, &["frame"]),
            action(11, 1, 5, &["frame", "shadows"]),
            action(12, 2, 5, &["frame", "shadows"]),
            action(13, 3, 5, &["frame", "scene", "sky"]),
            action(14, 3, 5, &["frame", "scene", "trees"]),
        ];
        let of = |most| -> Vec<(String, Option<usize>, usize)> {
            let parts = parts(&frame, By::Label, &[None; 0], most);
            parts.into_iter().map(|p| (p.name, p.within, p.actions.len())).collect()
        };
        let row = |name: &str, within, actions| (name.to_owned(), within, actions);
        assert_eq!(
            of(9),
            [
                row("the frame", None, 5),
                row("frame › outside of labels within", Some(0), 1),
                row("frame › shadows", Some(0), 2),
                row("frame › shadows › pass 1 (rendering 8x8)", Some(2), 1),
                row("frame › shadows › pass 2 (rendering 8x8)", Some(2), 1),
                row("frame › scene", Some(0), 2),
                row("frame › scene › sky", Some(5), 1),
                row("frame › scene › trees", Some(5), 1),
            ]
        );
        // Small ones of several labels are within none of them.
        let few = of(2);
        assert_eq!(few.last().map(|p| (p.0.as_str(), p.1)), Some(("the other 4 labels", Some(0))));
    }

    #[test]
    fn the_small_ones_are_one_part_by_their_own_time() {
        let own = [Some(1), Some(50), None, Some(2), Some(7)];
        let found = of(By::Draw, &own, 3);
        assert_eq!(found[0], ("the frame".into(), vec![0, 1, 2, 3, 4], Some(60)));
        assert_eq!(
            found[1..3],
            [("a › draw 2 (Draw)".into(), vec![1], Some(50)), ("draw 5 (Draw)".into(), vec![4], Some(7))]
        );
        assert_eq!(found[3], ("the other 3 draws".into(), vec![0, 2, 3], Some(3)));
    }

    #[test]
    fn labels_part_a_frame_first_and_what_has_one_part_is_parted_further() {
        assert_eq!(By::chosen(&frame()), By::Label);
        let plain = |pass: u64, pipeline: u64| action(1, pass, pipeline, &[]);
        assert_eq!(By::chosen(&[plain(1, 5), plain(2, 5)]), By::Pass);
        assert_eq!(By::chosen(&[plain(1, 5), plain(1, 6)]), By::Pipeline);
        assert_eq!(By::chosen(&[plain(1, 5), plain(1, 5)]), By::Draw);
    }

    #[test]
    fn ranges_hold_no_command_of_another_part() {
        let frame = frame();
        let of = |some: &[usize]| blocks(&frame, &Part { actions: some.to_vec(), ..Part::default() });
        assert_eq!(of(&[0, 1, 2]), [(10, 13)]);
        assert_eq!(of(&[0, 2, 4]), [(10, 10), (13, 13), (21, 21)]);
        // The same command, executed in two parts.
        let twice = [action(10, 1, 5, &[]), action(11, 1, 5, &[]), action(10, 2, 5, &[])];
        assert_eq!(blocks(&twice, &Part { actions: vec![2], ..Part::default() }), [(10, 10)]);
    }
}
