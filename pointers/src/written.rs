//! Through which descriptors a module may write.
//!
//! Guarantees: a binding that is not listed is used by no variable of the module, and one that is listed as only read is
//! decorated so (NonWritable), itself or all members of its block. Whether anything is stored is not looked at. Refuses
//! nothing: the words were checked.

use crate::Checked;
use crate::index::{Index, op, opcode};
use std::collections::{BTreeMap, HashSet};

/// SPIR-V's Decoration.
const NON_WRITABLE: u32 = 24;

/// The descriptors of a module by set and binding, and whether it may write through each.
pub fn descriptors(code: Checked<'_>) -> BTreeMap<(u32, u32), bool> {
    let index = Index::read(code);
    let (mut whole, mut members) = (HashSet::new(), HashSet::new());
    for (_, w) in code.instructions() {
        match (opcode(w), w) {
            (op::DECORATE, [_, id, NON_WRITABLE]) => _ = whole.insert(*id),
            (op::MEMBER_DECORATE, [_, block, member, NON_WRITABLE]) => _ = members.insert((*block, *member)),
            (op::FUNCTION, _) => break,
            _ => {}
        }
    }
    let is_read_only = |variable: u32| {
        let block = index.pointer(index.type_of(variable)).map_or(0, |(_, to)| element(&index, to));
        // (a struct's members stand behind its first two words)
        let count = index.def(block).len().saturating_sub(2) as u32;
        let is_block = opcode(index.def(block)) == op::TYPE_STRUCT;
        whole.contains(&variable) || is_block && (0..count).all(|m| members.contains(&(block, m)))
    };
    let mut found = BTreeMap::new();
    for &id in &index.globals {
        if let (Some(&set), Some(&binding)) = (index.set.get(&id), index.binding.get(&id)) {
            // Several variables may share a binding.
            *found.entry((set, binding)).or_default() |= !is_read_only(id);
        }
    }
    found
}

/// What arrays of descriptors are of.
fn element(index: &Index<'_>, ty: u32) -> u32 {
    match index.def(ty) {
        w @ [_, _, of, ..] if matches!(opcode(w), op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY) => {
            element(index, *of)
        }
        _ => ty,
    }
}
