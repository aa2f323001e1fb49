//! Where slots go: the text that analyses write, and what it says of a pipeline layout.
//!
//! `{"12": [[0,0, 0,0], [0,3, 0,1], [0,2, 1,0]]}`: of the pipeline layout with the capture's id 12, set 0, binding 0 stays where
//! it is, binding 3 comes next to it, and binding 2 gets a set of its own. Refuses what is no such text, a slot that goes to two
//! places, and two that go to one; and of layouts, with the reason: push descriptors that do not stay one set of their own
//! (whatever its number), a binding of variable count that is not its set's last, dynamic offsets beside what is updated after
//! it is bound, mutable descriptors, descriptor buffers.

use std::collections::{BTreeMap, BTreeSet};
use world::layouts::{Binding, PipelineLayout, SET_LAYOUT_PUSH, SetLayout, binding_flags, ty};

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

impl Moved {
    /// What it contains is looked at when it is bound; other sets follow what is written to the application's later.
    pub fn late(&self) -> bool {
        self.binding.flags & binding_flags::UPDATE_AFTER_BIND != 0
    }
}

/// A set of a new layout.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NewSet {
    /// VkDescriptorSetLayoutCreateFlags: pushed, or from a pool whose sets are updated after they are bound.
    pub flags: u32,
    /// Its bindings, by number.
    pub bindings: Vec<Moved>,
}

impl NewSet {
    /// Its descriptors are pushed.
    pub fn is_push(&self) -> bool {
        self.flags & SET_LAYOUT_PUSH != 0
    }

    /// The binding whose count is said at allocation.
    pub fn variable(&self) -> Option<&Moved> {
        self.bindings.last().filter(|m| m.binding.flags & binding_flags::VARIABLE_COUNT != 0)
    }

    /// The first number behind those of its bindings.
    fn beyond(&self) -> u32 {
        self.bindings.iter().map(|m| m.binding.binding + 1).max().unwrap_or(0)
    }
}

/// The sets of a new layout.
pub type Sets = Vec<NewSet>;

/// VK_DESCRIPTOR_SET_LAYOUT_CREATE_UPDATE_AFTER_BIND_POOL_BIT.
pub const SET_LAYOUT_LATE: u32 = 2;
/// VK_PIPELINE_LAYOUT_CREATE_INDEPENDENT_SETS_BIT_EXT: parts of pipelines may have layouts of some of the sets.
const INDEPENDENT: u32 = 2;

/// The sets that a layout gets, or why it stays as it is.
pub fn sets(layout: &PipelineLayout, moves: &Moves, most_sets: u32) -> Result<Sets, String> {
    if layout.flags & !INDEPENDENT != 0 {
        return Err("it has flags that are not known".into());
    }
    let mut left = moves.clone();
    let (mut sets, mut empty) = (Sets::new(), Vec::new());
    // By new set: sets whose bindings are in it.
    let mut sources: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for (number, set) in (0..).zip(&layout.sets) {
        // (a set without a layout has no descriptors)
        let Some(set) = set else { continue };
        may_move(set).map_err(|why| format!("its set {number} {why}"))?;
        for b in &set.bindings {
            let from = (number, b.binding);
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
                sets.resize(to as usize + 1, NewSet::default());
            }
            let moved = Binding { binding, start: 0, inline_start: 0, dynamic_start: 0, ..b.clone() };
            let new = &mut sets[to as usize];
            new.flags |= set.flags;
            new.bindings.push(Moved { from, binding: moved });
            sources.entry(to).or_default().insert(number);
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
        let takes = |s: &&mut NewSet| !s.is_push() && s.bindings.iter().all(|m| !variable(m));
        let Some(set) = sets.iter_mut().find(takes) else { continue };
        let binding = set.beyond();
        set.bindings.push(Moved { from, binding: Binding { binding, ..b.clone() } });
    }
    for (to, set) in (0..).zip(&mut sets) {
        set.bindings.sort_by_key(|m| m.binding.binding);
        together(set, sources.get(&to).map_or(0, BTreeSet::len), layout)
            .map_err(|why| format!("its set {to} would {why}"))?;
    }
    Ok(sets)
}

/// The first number behind those of set 0.
pub fn beyond(sets: &Sets) -> u32 {
    sets.first().map_or(0, NewSet::beyond)
}

fn variable(m: &Moved) -> bool {
    m.binding.flags & binding_flags::VARIABLE_COUNT != 0
}

/// Why a set cannot be a new one's as it is.
fn may_move(set: &SetLayout) -> Result<(), String> {
    if set.flags & !(SET_LAYOUT_PUSH | SET_LAYOUT_LATE) != 0 {
        return Err("lies in descriptor buffers, or has other flags that are not known".into());
    }
    match set.bindings.iter().find(|b| b.ty == ty::MUTABLE || b.ty == ty::ACCELERATION_STRUCTURE_NV) {
        Some(b) => Err(format!("has binding {}, of a type that is not moved", b.binding)),
        None => Ok(()),
    }
}

/// Why bindings cannot be in one set, which has those of so many.
fn together(set: &NewSet, sources: usize, layout: &PipelineLayout) -> Result<(), String> {
    if set.is_push() {
        let pushed = |m: &&Moved| layout.set(m.from.0 as usize).is_some_and(|s| s.is_push());
        let from = set.bindings.iter().find(pushed).map_or(0, |m| m.from.0);
        let whole =
            layout.set(from as usize).map_or(0, |s| s.bindings.iter().filter(|b| b.count > 0).count());
        if sources > 1 || whole != set.bindings.len() {
            return Err(format!("have the push descriptors of set {from} beside others: they stay one set"));
        }
    }
    let before = set.bindings.split_last().map_or(&[][..], |(_, before)| before);
    if let Some(m) = before.iter().find(|m| variable(m)) {
        let (set, binding) = m.from;
        return Err(format!("have others behind set {set}, binding {binding}, whose count is variable"));
    }
    let late = set.bindings.iter().find(|m| m.late());
    let dynamic = set.bindings.iter().find(|m| m.binding.is_dynamic());
    if let (Some(late), Some(dynamic)) = (late, dynamic) {
        let (set, binding) = dynamic.from;
        return Err(format!(
            "have set {set}, binding {binding}, with dynamic offsets, beside set {}, binding {}, which is updated after it is \
             bound",
            late.from.0, late.from.1
        ));
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
        let of = |set: &NewSet| -> Vec<(Slot, u32, u32)> {
            set.bindings.iter().map(|m| (m.from, m.binding.binding, m.binding.count)).collect()
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
        assert!(why(&layout(0x10), r#"{"7": [[0,0,0,0]]}"#, 8).contains("descriptor buffers"));
    }

    /// A layout of two sets: the first with these flags and flags of its last binding; the second with dynamic offsets.
    fn two(flags: u32, last: u32) -> PipelineLayout {
        let b =
            |binding, ty, flags| Binding { binding, ty, count: 2, stages: 16, flags, ..Binding::default() };
        let first = vec![b(0, ty::UNIFORM_BUFFER, 0), b(1, ty::UNIFORM_BUFFER, last)];
        let second = vec![b(0, ty::UNIFORM_BUFFER_DYNAMIC, 0)];
        let sets = vec![
            Some(Rc::new(SetLayout::new(1, flags, first))),
            None,
            Some(Rc::new(SetLayout::new(2, 0, second))),
        ];
        PipelineLayout { sets, flags: INDEPENDENT, ..layout(0) }
    }

    #[test]
    fn what_has_rules_of_its_own_keeps_them() {
        let moves = |text: &str| {
            Partition::read(&format!("{{\"7\": {text}}}")).expect("text").0.remove(&7).expect("7")
        };
        let make = |layout: &PipelineLayout, text: &str| sets(layout, &moves(text), 8);
        // Push descriptors: a set of their own, under any number.
        let pushed = two(SET_LAYOUT_PUSH, 0);
        let made = make(&pushed, "[[0,0,1,1],[0,1,1,0],[2,0,0,0]]").expect("its number shifts");
        assert_eq!((made[0].is_push(), made[1].is_push()), (false, true));
        for beside in ["[[0,0,0,0],[0,1,0,1],[2,0,0,2]]", "[[0,0,0,0],[0,1,1,0],[2,0,2,0]]"] {
            let why = make(&pushed, beside).expect_err("not one set");
            assert!(why.contains("the push descriptors of set 0 beside others"), "{why}");
        }
        // Variable counts: last.
        let counted = two(SET_LAYOUT_LATE, binding_flags::VARIABLE_COUNT);
        let made = make(&counted, "[[0,0,0,0],[0,1,1,3],[2,0,1,2]]").expect("behind the others");
        assert_eq!(made[1].variable().map(|m| m.from), Some((0, 1)));
        assert!(made[0].variable().is_none() && made[0].flags == SET_LAYOUT_LATE);
        let why = make(&counted, "[[0,0,0,0],[0,1,1,3],[2,0,1,4]]").expect_err("not the last");
        assert!(why.contains("its set 1 would have others behind set 0, binding 1"), "{why}");
        // Updates after binding: without dynamic offsets.
        let late = two(SET_LAYOUT_LATE, binding_flags::UPDATE_AFTER_BIND);
        assert!(make(&late, "[[0,0,1,0],[0,1,0,0],[2,0,1,1]]").is_ok());
        let why = make(&late, "[[0,0,0,0],[0,1,1,0],[2,0,1,1]]").expect_err("both");
        assert!(why.contains("set 2, binding 0, with dynamic offsets, beside set 0, binding 1"), "{why}");
    }
}
