//! Shaders whose descriptors are looked for in other places.
//!
//! Guarantees: nothing but the numbers of sets and bindings changes. Refuses a module that cannot be read.

use super::partition::{Sets, Slot, beyond};
use crate::spirv::{Inst, Module, Result};
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Op};
use std::collections::HashMap;

/// Where a layout's shaders find their slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// By where the application has them.
    pub to: HashMap<Slot, Slot>,
    /// For what no layout has: no entry point uses it, and it must not take the place of what it is not.
    pub nowhere: Slot,
}

impl Places {
    /// Those of new sets.
    pub fn of(sets: &Sets) -> Self {
        let bindings = (0..).zip(sets).flat_map(|(n, s)| s.bindings.iter().map(move |m| (n, m)));
        let to = bindings.map(|(n, m)| (m.from, (n, m.binding.binding))).collect();
        Places { to, nowhere: (0, beyond(sets)) }
    }
}

/// The module's words with each slot in its new place; none if it has none that moves.
pub fn moved(words: &[u32], places: &Places) -> Result<Option<Vec<u32>>> {
    let mut module = Module::read(words)?;
    module.ungroup();
    let mut at: HashMap<u32, Slot> = HashMap::new();
    for inst in &module.annotations {
        let Some((id, decoration, number)) = place(inst) else { continue };
        let slot = at.entry(id).or_insert((0, 0));
        match decoration {
            Decoration::DescriptorSet => slot.0 = number,
            _ => slot.1 = number,
        }
    }
    let mut any = false;
    for inst in &mut module.annotations {
        let Some((id, decoration, old)) = place(inst) else { continue };
        let (set, binding) = places.to.get(&at[&id]).copied().unwrap_or(places.nowhere);
        let new = if decoration == Decoration::DescriptorSet { set } else { binding };
        any |= new != old;
        inst.inst.operands[2] = Operand::LiteralBit32(new);
    }
    Ok(any.then(|| module.words()))
}

/// Whose set or binding an annotation says, and which.
fn place(inst: &Inst) -> Option<(u32, Decoration, u32)> {
    if inst.op() != Op::Decorate {
        return None;
    }
    match (inst.inst.operands.get(1)?, inst.inst.operands.get(2)?) {
        (
            Operand::Decoration(d @ (Decoration::DescriptorSet | Decoration::Binding)),
            Operand::LiteralBit32(n),
        ) => Some((inst.id_at(0)?, *d, *n)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::repartition::partition::{Moved, NewSet};
    use world::layouts::Binding;

    /// Names of variables and where they are bound.
    fn slots(words: &[u32]) -> Vec<(String, Slot)> {
        let module = Module::read(words).expect("a module");
        let number = |id: u32, which: Decoration| {
            let found = module.annotations.iter().filter_map(place).find(|p| p.0 == id && p.1 == which);
            found.map(|p| p.2)
        };
        let mut all: Vec<_> = module
            .names
            .iter()
            .filter(|n| n.op() == Op::Name)
            .filter_map(|n| {
                let (id, Operand::LiteralString(name)) = (n.id_at(0)?, &n.inst.operands[1]) else {
                    return None;
                };
                let set = number(id, Decoration::DescriptorSet)?;
                Some((name.clone(), (set, number(id, Decoration::Binding)?)))
            })
            .collect();
        all.sort();
        all
    }

    fn moves(all: &[(Slot, Slot)]) -> Places {
        let mut sets: Sets = vec![NewSet::default(); 3];
        for &(from, (set, binding)) in all {
            let binding = Binding { binding, ty: 6, count: 1, stages: 16, ..Binding::default() };
            sets[set as usize].bindings.push(Moved { from, binding });
        }
        Places::of(&sets)
    }

    #[test]
    fn slots_are_where_the_program_has_them_that_is_written_so() {
        let scenes = crate::testing::scenes();
        let scene = |name: &str| {
            let found = scenes.iter().find(|(path, _)| path.ends_with(name));
            found.unwrap_or_else(|| panic!("no {name}")).1.clone()
        };
        let one = scene("monolithic/monolithic.frag.spv");
        let other = scene("monolithic/repartitioned.frag.spv");
        let all = [((0, 0), (0, 0)), ((0, 3), (0, 1)), ((0, 2), (1, 0)), ((0, 1), (2, 0)), ((0, 4), (2, 1))];
        let moved = moved(&one, &moves(&all)).expect("a module").expect("something moves");
        assert_eq!(slots(&moved), slots(&other));
        assert_eq!(slots(&moved).len(), 5);
        let stay: Vec<_> = all.iter().map(|(from, _)| (*from, *from)).collect();
        assert!(super::moved(&one, &moves(&stay)).expect("a module").is_none());
    }
}
