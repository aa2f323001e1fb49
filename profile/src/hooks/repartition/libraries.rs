//! Pipelines that are made of parts: which layout all of them together have.
//!
//! A pipeline and its libraries get one layout of ours, whatever layouts of some of its sets the parts were made with. Guarantees:
//! parts that several pipelines share get one layout for all of these. Refuses parts whose layouts do not fit into one, parts
//! that are made before the layout is, and a group that has a part which cannot be rewritten.

use super::partition::Sets;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use world::layouts::PipelineLayout;

/// A pipeline or library, as it is created.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Its layout, 0 if it has none.
    pub layout: u64,
    /// What it is made of.
    pub libraries: Vec<u64>,
    /// Why its layout has to stay.
    pub unfit: Option<&'static str>,
    /// Layouts that were there when it was made.
    pub layouts: usize,
}

/// The layout of each pipeline that is rewritten, and layouts that have to stay after all.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// By pipeline.
    pub layouts: HashMap<u64, u64>,
    /// Why not.
    pub refused: BTreeMap<u64, String>,
}

/// Of all parts of a capture. `order` says when layouts were made.
pub fn group(
    parts: &BTreeMap<u64, Part>,
    sets: &BTreeMap<u64, Sets>,
    known: &dyn Fn(u64) -> Option<Rc<PipelineLayout>>,
    order: &HashMap<u64, usize>,
) -> Found {
    let mut found = Found::default();
    for group in groups(parts) {
        let of = || group.iter().map(|id| (*id, &parts[id]));
        let layouts: BTreeSet<u64> = of().map(|p| p.1.layout).filter(|l| *l != 0).collect();
        let named: Vec<u64> = layouts.iter().copied().filter(|l| sets.contains_key(l)).collect();
        let why = match of().find_map(|p| p.1.unfit) {
            Some(unfit) => Some(unfit.to_owned()),
            None => named.first().and_then(|owner| {
                let early =
                    of().any(|p| p.1.layout != 0 && order.get(owner).is_none_or(|made| *made >= p.1.layouts));
                let fits = |l: &u64| {
                    sets.get(l).is_none_or(|s| *s == sets[owner])
                        && known(*l).zip(known(*owner)).is_some_and(|(l, o)| part_of(&l, &o))
                };
                if layouts.len() > 1 && !layouts.iter().all(fits) {
                    let all: Vec<String> = layouts.iter().map(u64::to_string).collect();
                    return Some(format!(
                        "pipelines and their libraries are of layouts {} together, which do not fit into it",
                        all.join(", ")
                    ));
                }
                early.then(|| "it is of pipeline libraries of which one is made before it".to_owned())
            }),
        };
        match (why, named.first()) {
            (Some(why), _) => found.refused.extend(named.iter().map(|l| (*l, why.clone()))),
            (None, Some(owner)) => {
                found.layouts.extend(of().filter(|p| p.1.layout != 0).map(|p| (p.0, *owner)));
            }
            (None, None) => {}
        }
    }
    // What stays anywhere, stays everywhere.
    found.layouts.retain(|_, l| !found.refused.contains_key(l));
    found
}

/// All sets of a layout are those of another one, or have no layout there.
fn part_of(part: &PipelineLayout, whole: &PipelineLayout) -> bool {
    let alike = |n: usize| match part.set(n) {
        None => true,
        Some(s) => whole.set(n).is_some_and(|w| w.class == s.class),
    };
    part.push_class == whole.push_class && (0..part.sets.len()).all(alike)
}

/// What is linked with each other, directly or through others.
fn groups(parts: &BTreeMap<u64, Part>) -> Vec<Vec<u64>> {
    let mut of: BTreeMap<u64, u64> = parts.keys().map(|id| (*id, *id)).collect();
    fn root(of: &BTreeMap<u64, u64>, mut id: u64) -> u64 {
        while of[&id] != id {
            id = of[&id];
        }
        id
    }
    for (id, part) in parts {
        for library in part.libraries.iter().filter(|l| parts.contains_key(l)) {
            let (a, b) = (root(&of, *id), root(&of, *library));
            of.insert(a.max(b), a.min(b));
        }
    }
    let mut groups: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for id in parts.keys() {
        groups.entry(root(&of, *id)).or_default().push(*id);
    }
    groups.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::repartition::partition::{Partition, sets};
    use world::layouts::{Binding, Classes, SetLayout};

    /// Layouts, sets of those that are rewritten, and the order in which they were made.
    type World = (HashMap<u64, Rc<PipelineLayout>>, BTreeMap<u64, Sets>, HashMap<u64, usize>);

    /// Layouts 1 [a, b], 2 [a, -], 3 [-, b], 4 [b, a], of which 1 and 4 are turned round.
    fn world() -> World {
        let mut classes = Classes::default();
        let [a, b] = [6, 7].map(|ty| {
            let binding = Binding { ty, count: 1, stages: 16, ..Binding::default() };
            Some(classes.set(SetLayout::new(u64::from(ty), 0, vec![binding])))
        });
        let all = [vec![a.clone(), b.clone()], vec![a.clone(), None], vec![None, b.clone()], vec![b, a]];
        let layouts: HashMap<u64, _> =
            (1..).zip(all).map(|(id, sets)| (id, classes.pipeline(id, 2, sets, vec![]))).collect();
        let moves =
            Partition::read(r#"{"1": [[0,0,1,0],[1,0,0,0]]}"#).expect("text").0.remove(&1).expect("1");
        let made = [1, 4].map(|id| (id, sets(&layouts[&id], &moves, 4).expect("it can be")));
        (layouts, made.into(), (1..=4).map(|id| (id, id as usize - 1)).collect())
    }

    fn found(parts: &[(u64, u64, &[u64], usize)]) -> Found {
        let (layouts, sets, order) = world();
        let part = |&(id, layout, libraries, layouts): &(u64, u64, &[u64], usize)| {
            (id, Part { layout, libraries: libraries.to_vec(), unfit: None, layouts })
        };
        group(&parts.iter().map(part).collect(), &sets, &|l| layouts.get(&l).cloned(), &order)
    }

    #[test]
    fn parts_have_the_layout_of_the_whole() {
        // Two parts of some of the sets, one without any; the whole; and a pipeline of its own.
        let f = found(&[
            (10, 2, &[], 4),
            (11, 3, &[], 4),
            (12, 0, &[], 4),
            (13, 1, &[10, 11, 12], 4),
            (14, 2, &[], 4),
        ]);
        let of: BTreeMap<u64, u64> = f.layouts.clone().into_iter().collect();
        assert_eq!(of, [(10, 1), (11, 1), (13, 1)].into());
        assert!(f.refused.is_empty(), "{f:?}");
    }

    #[test]
    fn what_does_not_fit_stays() {
        let why = |parts: &[(u64, u64, &[u64], usize)]| {
            let f = found(parts);
            assert!(f.layouts.is_empty(), "{f:?}");
            f.refused
        };
        // Through a part that both have: 1 and 4 are no parts of each other.
        let both = why(&[(10, 2, &[], 4), (11, 1, &[10], 4), (12, 4, &[10], 4)]);
        assert_eq!(both.keys().collect::<Vec<_>>(), [&1, &4]);
        assert!(both[&1].contains("of layouts 1, 2, 4 together"), "{both:?}");
        // A part that comes before its layout.
        let early = why(&[(10, 1, &[], 4), (11, 2, &[], 0), (12, 1, &[11], 4)]);
        assert!(early[&1].contains("made before it"), "{early:?}");
        let (layouts, sets, order) = world();
        let unfit = Part { layout: 2, unfit: Some("it is odd"), layouts: 4, ..Part::default() };
        let whole = Part { layout: 1, libraries: vec![9], layouts: 4, ..Part::default() };
        let f = group(&[(9, unfit), (10, whole)].into(), &sets, &|l| layouts.get(&l).cloned(), &order);
        assert_eq!(f.refused, [(1, "it is odd".to_owned())].into());
    }
}
