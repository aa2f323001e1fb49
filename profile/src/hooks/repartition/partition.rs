//! Where slots go: the text that analyses write, and what it says of a pipeline layout.
//!
//! `{"12": [[0,0, 0,0], [0,3, 0,1], [0,2, 1,0]]}`: of the pipeline layout with the capture's id 12, set 0, binding 0 stays where
//! it is, binding 3 comes next to it, and binding 2 gets a set of its own. Refuses what is no such text, a slot that goes to two
//! places, and two that go to one.

use replay::follow::layouts::{Binding, PipelineLayout, SetLayout, binding_flags, ty};
use std::collections::{BTreeMap, BTreeSet};

/// A slot: set and binding.
pub type Slot = (u32, u32);

/// Where each slot goes.
pub type Moves = BTreeMap<Slot, Slot>;

/// By the capture's id of the pipeline layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition(pub BTreeMap<u64, Moves>);

impl Partition {
    /// Reads it.
    pub fn read(text: &str) -> Result<Self, String> {
        let all: BTreeMap<String, Vec<[u32; 4]>> = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let mut layouts = BTreeMap::new();
        for (id, slots) in all {
            let layout: u64 = id.parse().map_err(|_| format!("'{id}' is no id of a pipeline layout"))?;
            let (mut moves, mut places) = (Moves::new(), BTreeSet::new());
            for [set, binding, to_set, to_binding] in slots {
                if moves.insert((set, binding), (to_set, to_binding)).is_some() {
                    return Err(format!("layout {layout}: set {set}, binding {binding} goes to two places"));
                }
                if !places.insert((to_set, to_binding)) {
                    return Err(format!(
                        "layout {layout}: two slots go to set {to_set}, binding {to_binding}"
                    ));
                }
            }
            layouts.insert(layout, moves);
        }
        Ok(Partition(layouts))
    }
}

/// A binding in its new place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Moved {
    /// Where it was.
    pub from: Slot,
    /// What it is, under its new number.
    pub binding: Binding,
}

/// The sets of a new layout, each with its bindings by number.
pub type Sets = Vec<Vec<Moved>>;

/// The sets that a layout gets, or why it stays as it is.
pub fn sets(layout: &PipelineLayout, moves: &Moves, most_sets: u32) -> Result<Sets, String> {
    if layout.flags != 0 {
        return Err("it has flags: parts of pipelines share it".into());
    }
    let mut left = moves.clone();
    let (mut sets, mut empty) = (Sets::new(), Vec::new());
    for (number, set) in layout.sets.iter().enumerate() {
        let Some(set) = set else { return Err(format!("its set {number} has no layout")) };
        may_move(set).map_err(|why| format!("its set {number} {why}"))?;
        for b in &set.bindings {
            let from = (number as u32, b.binding);
            if b.count == 0 && !left.contains_key(&from) {
                empty.push((from, b));
                continue;
            }
            let Some((to, binding)) = left.remove(&from) else {
                return Err(format!(
                    "the partition does not say where set {}, binding {} goes",
                    from.0, from.1
                ));
            };
            if to >= most_sets {
                return Err(format!("it would have more than the {most_sets} sets that this device has"));
            }
            if sets.len() <= to as usize {
                sets.resize(to as usize + 1, Vec::new());
            }
            let moved = Binding { binding, start: 0, inline_start: 0, dynamic_start: 0, ..b.clone() };
            sets[to as usize].push(Moved { from, binding: moved });
        }
    }
    if let Some((slot, _)) = left.first_key_value() {
        return Err(format!("it has no set {}, binding {}", slot.0, slot.1));
    }
    if sets.is_empty() {
        return Err("it has no descriptors".into());
    }
    // Bindings without descriptors stay bindings: shaders may name them all the same.
    for (from, b) in empty {
        let binding = beyond(&sets);
        sets[0].push(Moved { from, binding: Binding { binding, ..b.clone() } });
    }
    for set in &mut sets {
        set.sort_by_key(|m| m.binding.binding);
    }
    Ok(sets)
}

/// The first number behind those of set 0.
pub fn beyond(sets: &Sets) -> u32 {
    sets[0].iter().map(|m| m.binding.binding + 1).max().unwrap_or(0)
}

fn may_move(set: &SetLayout) -> Result<(), String> {
    if set.is_push() {
        return Err("is of push descriptors".into());
    }
    if set.flags != 0 {
        return Err("is updated after it is bound, or lies in descriptor buffers".into());
    }
    for b in &set.bindings {
        let n = b.binding;
        if b.flags & !binding_flags::PARTIALLY_BOUND != 0 {
            return Err(format!(
                "has binding {n}, which is updated after it is bound or has a variable count"
            ));
        }
        if b.ty == ty::INLINE_UNIFORM_BLOCK {
            return Err(format!("has binding {n}, an inline uniform block"));
        }
        if b.ty == ty::MUTABLE || b.ty == ty::ACCELERATION_STRUCTURE_NV {
            return Err(format!("has binding {n}, of a type that is not moved"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    fn layout(flags: u32) -> PipelineLayout {
        let b = |binding, count| Binding {
            binding,
            ty: ty::UNIFORM_BUFFER,
            count,
            stages: 16,
            ..Binding::default()
        };
        let set = SetLayout::new(1, flags, vec![b(0, 1), b(1, 1), b(3, 0), b(4, 2)]);
        PipelineLayout {
            id: 7,
            flags: 0,
            sets: vec![Some(Rc::new(set))],
            push: vec![],
            classes: vec![],
            push_class: 0,
        }
    }

    #[test]
    fn text_is_read_and_bad_text_refused() {
        let p = Partition::read(r#"{"7": [[0,0,0,0],[0,1,1,0],[0,4,1,1]]}"#).expect("as it should be");
        assert_eq!(p.0[&7][&(0, 4)], (1, 1));
        let why = Partition::read(r#"{"7": [[0,0,0,0],[0,0,1,0]]}"#).expect_err("a slot twice");
        assert!(why.contains("set 0, binding 0 goes to two places"), "{why}");
        let why = Partition::read(r#"{"7": [[0,0,1,0],[0,1,1,0]]}"#).expect_err("a place twice");
        assert!(why.contains("two slots go to set 1, binding 0"), "{why}");
        assert!(Partition::read(r#"{"x": []}"#).is_err() && Partition::read("[]").is_err());
    }

    #[test]
    fn slots_come_to_their_places_or_the_layout_stays() {
        let moves = |text: &str| Partition::read(text).expect("text").0.remove(&7).expect("7");
        let all = moves(r#"{"7": [[0,0,1,1],[0,1,0,0],[0,4,1,0]]}"#);
        let made = sets(&layout(0), &all, 8).expect("all is said");
        let of = |set: &[Moved]| -> Vec<(Slot, u32, u32)> {
            set.iter().map(|m| (m.from, m.binding.binding, m.binding.count)).collect()
        };
        assert_eq!(of(&made[0]), [((0, 1), 0, 1), ((0, 3), 1, 0)]);
        assert_eq!(of(&made[1]), [((0, 4), 0, 2), ((0, 0), 1, 1)]);
        let why =
            |layout: &PipelineLayout, text: &str, most| sets(layout, &moves(text), most).expect_err(text);
        assert!(why(&layout(0), r#"{"7": [[0,0,0,0]]}"#, 8).contains("does not say where set 0, binding 1"));
        let more = r#"{"7": [[0,0,0,0],[0,1,0,1],[0,4,0,2],[1,0,0,3]]}"#;
        assert!(why(&layout(0), more, 8).contains("no set 1, binding 0"));
        assert!(
            why(&layout(0), r#"{"7": [[0,0,0,0],[0,1,8,0],[0,4,0,2]]}"#, 8).contains("more than the 8 sets")
        );
        assert!(why(&layout(1), r#"{"7": [[0,0,0,0]]}"#, 8).contains("push descriptors"));
    }
}
