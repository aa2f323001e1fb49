//! Where ids are defined, found without looking through everything.
//!
//! An index of a list that its owner lets others push to. Guarantees: it answers as a search from the front would, for
//! lists that grow at their end, or whose elements are moved or taken away; each element is looked at once, and again
//! after a move. Refuses nothing; an element put in another's place is not found (checked in builds with assertions).

use super::Inst;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Mutex;

/// See the module's header.
#[derive(Debug, Default)]
pub struct Index(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    at: HashMap<u32, u32>,
    /// How many of the list's elements have been seen.
    seen: usize,
}

impl Known {
    /// Looks at what came since; false if something was moved.
    fn extend(&mut self, list: &[Inst]) -> bool {
        for (i, inst) in list.iter().enumerate().skip(self.seen) {
            match inst.id().map(|id| self.at.entry(id)) {
                Some(Entry::Vacant(v)) => _ = v.insert(i as u32),
                Some(Entry::Occupied(_)) => return false,
                None => {}
            }
        }
        self.seen = list.len();
        true
    }

    /// Looks at everything.
    fn rebuild(&mut self, list: &[Inst]) {
        self.at.clear();
        for (i, inst) in list.iter().enumerate() {
            if let Some(id) = inst.id() {
                self.at.entry(id).or_insert(i as u32);
            }
        }
        self.seen = list.len();
    }
}

impl Index {
    /// The first element with this result.
    pub fn find<'l>(&self, list: &'l [Inst], id: u32) -> Option<&'l Inst> {
        let mut known = self.0.lock().unwrap_or_else(|e| e.into_inner());
        if known.seen > list.len() || !known.extend(list) {
            known.rebuild(list);
        }
        let mut found = known.at.get(&id).copied();
        if found.is_some_and(|i| list[i as usize].id() != Some(id)) {
            known.rebuild(list);
            found = known.at.get(&id).copied();
        }
        debug_assert_eq!(found.map(|i| i as usize), list.iter().position(|i| i.id() == Some(id)));
        found.map(|i| &list[i as usize])
    }
}

/// A copy finds its own way.
impl Clone for Index {
    fn clone(&self) -> Self {
        Index::default()
    }
}

/// It says nothing about what it indexes.
impl PartialEq for Index {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spirv::Op;

    fn of(ids: &[u32]) -> Vec<Inst> {
        ids.iter().map(|&id| Inst::new(Op::TypeVoid, None, Some(id), vec![])).collect()
    }

    #[test]
    fn lists_that_grow_move_and_shrink_are_found_in() {
        let index = Index::default();
        let found = |list: &[Inst], id| index.find(list, id).and_then(Inst::id);
        assert_eq!(found(&[], 1), None);
        for ids in [
            &[5, 6, 7][..],
            &[5, 6, 7, 8],
            &[8, 6, 7, 5],
            &[9, 8, 6, 7, 5],
            &[6, 7, 5],
            &[6],
            &[],
            &[1, 2],
            &[2, 3, 1],
        ] {
            let list = of(ids);
            for id in 0..10 {
                assert_eq!(found(&list, id), ids.contains(&id).then_some(id), "{id} in {ids:?}");
            }
        }
    }
}
