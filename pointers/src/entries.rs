//! The entry points of a module.
//!
//! Refuses nothing: the words were checked.

use crate::Checked;
use crate::index::{op, opcode, string};

/// The entry points of a module: execution model and name.
pub fn entry_points(code: Checked<'_>) -> impl Iterator<Item = (u32, String)> {
    let before = code.instructions().map(|(_, w)| w).take_while(|w| opcode(w) != op::FUNCTION);
    before.filter_map(|w| match (opcode(w), w) {
        (op::ENTRY_POINT, [_, model, _, name @ ..]) => Some((*model, string(name).0)),
        _ => None,
    })
}
