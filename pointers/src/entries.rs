//! The entry points of a module, and the descriptors that each uses.
//!
//! Guarantees: an index or an argument that has a descriptor's number is no use of it; functions that no call leads to are not
//! looked at. Refuses nothing: the words were checked.

use crate::Checked;
use crate::index::{op, opcode, string};
use std::collections::{HashMap, HashSet};

/// The entry points of a module: execution model and name.
pub fn entry_points(code: Checked<'_>) -> impl Iterator<Item = (u32, String)> {
    let before = code.instructions().map(|(_, w)| w).take_while(|w| opcode(w) != op::FUNCTION);
    before.filter_map(|w| match (opcode(w), w) {
        (op::ENTRY_POINT, [_, model, _, name @ ..]) => Some((*model, string(name).0)),
        _ => None,
    })
}

/// The descriptors that an entry point uses: set and binding of each variable that an instruction of a function which it
/// calls, by whatever way, reads, writes or points into.
pub fn descriptors(code: Checked<'_>, model: u32, name: &str) -> Vec<(u32, u32)> {
    let (mut sets, mut bindings, mut entry) = (HashMap::new(), HashMap::new(), None);
    let mut bodies: HashMap<u32, (Vec<u32>, Vec<u32>)> = HashMap::new();
    let mut function = 0;
    for (_, w) in code.instructions() {
        match (opcode(w), w) {
            (op::ENTRY_POINT, [_, m, id, text @ ..]) if *m == model && string(text).0 == name => {
                entry = Some(*id);
            }
            (op::DECORATE, [_, target, 33, n, ..]) => drop(bindings.insert(*target, *n)),
            (op::DECORATE, [_, target, 34, n, ..]) => drop(sets.insert(*target, *n)),
            (op::FUNCTION, [_, _, id, ..]) => function = *id,
            (op::FUNCTION_CALL, [_, _, _, callee, arguments @ ..]) => {
                let (calls, used) = bodies.entry(function).or_default();
                used.extend(arguments);
                calls.push(*callee);
            }
            (op::STORE, [_, to, ..]) => bodies.entry(function).or_default().1.push(*to),
            // Loads, access chains, copies; pointers to texels, lengths of arrays.
            (op::LOAD | 60 | 65..=70 | op::COPY_OBJECT, [_, _, _, from, ..]) => {
                bodies.entry(function).or_default().1.push(*from);
            }
            _ => {}
        }
    }
    let (mut open, mut seen, mut found) = (Vec::from_iter(entry), HashSet::new(), Vec::new());
    while let Some(f) = open.pop() {
        if !seen.insert(f) {
            continue;
        }
        let Some((calls, used)) = bodies.get(&f) else { continue };
        open.extend(calls);
        found.extend(used.iter().filter_map(|id| Some((*sets.get(id)?, *bindings.get(id)?))));
    }
    found.sort_unstable();
    found.dedup();
    found
}
