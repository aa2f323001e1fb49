//! Objects of both captures that have the same id: which of these are one and the same, where nothing else tells them from others.
//!
//! A trimmed capture keeps the ids of its source and only some of its objects; of five that are made alike it may have the fourth alone,
//! which order would take for the first. Two recordings of one program have equal ids too, but by chance: one object more at the
//! beginning, and each id is that of the object before. So ids count only within a class of objects that are made alike, and only if
//! none of them speaks against it: an id that the other capture gave to something that is not of the class. Where the class has as
//! many objects on both sides, nothing has left it, and any such id does; order pairs these as well as it ever does. Where it has more on one side,
//! an edit may have taken one out, which is then still of its type and made by the same call; that does not speak against the others.
//! Guarantees: pairs are of one class, and each object is in one at most. An id that several objects of a class had, one after the
//! other, pairs none. Refuses nothing.

use std::collections::{BTreeMap, HashMap, HashSet};

/// Pairs objects of one type by their ids, class by class: `tiers` are the keys by which objects are alike, the finest first, 0 for none,
/// and the last of them says which call made them. Objects that have others like them on the other side are in no class of a
/// later key. `known` says whether a side has an id, for any type that counts. Gives the pairs, each with which keys found it.
pub fn by_ids(
    ids: [&[u64]; 2],
    tiers: &[Vec<Vec<u64>>; 2],
    known: &dyn Fn(usize, u64) -> bool,
) -> Vec<(usize, usize, usize)> {
    let places = ids.map(|of| {
        let mut all: HashMap<u64, Vec<usize>> = HashMap::new();
        of.iter().enumerate().for_each(|(i, id)| all.entry(*id).or_default().push(i));
        all
    });
    let last = tiers[0].first().map_or(0, |keys| keys.len().saturating_sub(1));
    let mut left = ids.map(|of| (0..of.len()).collect::<Vec<usize>>());
    let mut pairs = vec![];
    for tier in 0..=last {
        let mut classes: BTreeMap<u64, [Vec<usize>; 2]> = BTreeMap::new();
        for side in 0..2 {
            for i in left[side].iter().filter(|i| tiers[side][**i][tier] != 0) {
                classes.entry(tiers[side][*i][tier]).or_default()[side].push(*i);
            }
        }
        classes.retain(|_, of| of.iter().all(|side| !side.is_empty()));
        for of in classes.values_mut() {
            let as_many = of[0].len() == of[1].len();
            let against = |side: usize, i: usize| {
                let (id, other) = (ids[side][i], 1 - side);
                let its = places[other].get(&id).map_or(&[][..], Vec::as_slice);
                let like = |tier: usize| its.iter().any(|j| tiers[other][*j][tier] == tiers[side][i][tier]);
                !like(tier) && (as_many || !like(last)) && known(other, id)
            };
            if (0..2).any(|side| of[side].iter().any(|i| against(side, *i))) {
                continue;
            }
            let [once_a, once_b] = [0, 1].map(|side| once(ids[side], &of[side]));
            pairs.extend(once_a.iter().filter_map(|(id, i)| Some((*i, *once_b.get(id)?, tier))));
            let is_paired = |id: &u64| once_a.contains_key(id) && once_b.contains_key(id);
            (0..2).for_each(|side| of[side].retain(|i| !is_paired(&ids[side][*i])));
        }
        // (what both sides have left of a class is order's to pair)
        let of_order = |key: &u64| classes.get(key).is_some_and(|of| of.iter().all(|side| !side.is_empty()));
        let mut with = [HashSet::new(), HashSet::new()];
        pairs.iter().for_each(|(i, j, _)| _ = (with[0].insert(*i), with[1].insert(*j)));
        for side in 0..2 {
            left[side].retain(|i| !with[side].contains(i) && !of_order(&tiers[side][*i][tier]));
        }
    }
    pairs
}

/// Ids that one of these objects has, and no other.
fn once(ids: &[u64], of: &[usize]) -> BTreeMap<u64, usize> {
    let mut all: BTreeMap<u64, Option<usize>> = BTreeMap::new();
    for i in of {
        _ = all.entry(ids[*i]).and_modify(|there| *there = None).or_insert(Some(*i));
    }
    all.into_iter().filter_map(|(id, i)| Some((id, i?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Objects by id, what they are made of and what made them; and ids of other types.
    type Side<'a> = (&'a [(u64, u64, u64)], &'a [u64]);

    /// Pairs as ids of either side.
    fn paired(a: Side<'_>, b: Side<'_>) -> Vec<(u64, u64)> {
        let ids = [a, b].map(|s| s.0.iter().map(|o| o.0).collect::<Vec<_>>());
        let tiers = [a, b].map(|s| s.0.iter().map(|o| vec![o.1, o.2]).collect::<Vec<_>>());
        let known = |side: usize, id: u64| ids[side].contains(&id) || [a, b][side].1.contains(&id);
        let found = by_ids([&ids[0], &ids[1]], &tiers, &known);
        found.iter().map(|p| (ids[0][p.0], ids[1][p.1])).collect()
    }

    #[test]
    fn of_objects_that_are_alike_a_trim_keeps_some() {
        let source = [(1, 50, 9), (3, 50, 9), (5, 50, 9), (7, 60, 9)];
        // (2 is the trim's own, and the source has no such id)
        let trim = [(3, 50, 9), (20, 50, 9)];
        assert_eq!(paired((&source, &[2, 4]), (&trim, &[4])), [(3, 3)]);
        assert_eq!(paired((&trim, &[4]), (&source, &[2, 4])), [(3, 3)]);
    }

    #[test]
    fn an_edited_object_leaves_its_class_to_the_others_and_is_found_by_its_id() {
        let source = [(1, 50, 9), (3, 50, 9), (5, 50, 9)];
        let edited = [(3, 70, 9), (5, 50, 9)];
        assert_eq!(paired((&source, &[]), (&edited, &[])), [(5, 5), (3, 3)]);
        assert_eq!(paired((&[(3, 60, 9), (5, 50, 9)], &[]), (&edited, &[])), [(5, 5), (3, 3)]);
    }

    #[test]
    fn ids_that_are_equal_by_chance_pair_nothing() {
        let a = [(10, 50, 9), (11, 50, 9), (12, 50, 9)];
        // One more at the beginning, of another type or made otherwise: each id is that of the one before.
        let b = [(11, 50, 9), (12, 50, 9), (13, 50, 9)];
        assert_eq!(paired((&a, &[13]), (&b, &[10])), []);
        let b = [(10, 60, 9), (11, 50, 9), (12, 50, 9), (13, 50, 9)];
        assert_eq!(paired((&a, &[]), (&b, &[])), []);
        // Ids of one object after the other say nothing either.
        assert_eq!(paired((&[(1, 50, 9), (1, 50, 9)], &[]), (&[(1, 50, 9)], &[])), []);
    }
}
