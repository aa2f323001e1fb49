//! What a load reads, in the shader's own words: `camera.view[2].x`. Where the module carries no names, numbers:
//! `set 0 binding 3, member 1`.

use super::defs::Defs;
use crate::spirv::{Module, Op, Operand};
use rspirv::spirv::Decoration;
use std::collections::HashMap;
use std::fmt::Write;

/// The names and bindings of a module.
#[derive(Debug, Default)]
pub struct Names {
    names: HashMap<u32, String>,
    members: HashMap<(u32, u32), String>,
    sets: HashMap<u32, u32>,
    bindings: HashMap<u32, u32>,
}

impl Names {
    /// What a module says.
    pub fn of(m: &Module) -> Self {
        let mut out = Names::default();
        for n in &m.names {
            match &n.inst.operands[..] {
                [Operand::IdRef(id), Operand::LiteralString(s)] if !s.is_empty() => {
                    out.names.insert(*id, s.clone());
                }
                [Operand::IdRef(id), Operand::LiteralBit32(k), Operand::LiteralString(s)]
                    if !s.is_empty() =>
                {
                    out.members.insert((*id, *k), s.clone());
                }
                _ => {}
            }
        }
        for a in m.annotations.iter().filter(|a| a.op() == Op::Decorate) {
            if let [Operand::IdRef(id), Operand::Decoration(d), Operand::LiteralBit32(n)] =
                a.inst.operands[..]
            {
                match d {
                    Decoration::DescriptorSet => out.sets.insert(id, n),
                    Decoration::Binding => out.bindings.insert(id, n),
                    _ => None,
                };
            }
        }
        out
    }

    /// Where a pointer leads.
    pub fn path(&self, defs: &Defs, pointer: u32) -> String {
        let (root, mut indices) = defs.chain(pointer);
        indices.reverse();
        let mut ty = defs.type_of(root).and_then(|p| p.id_at(1));
        let block = ty.and_then(|t| self.names.get(&t)).cloned();
        let mut text = match (self.names.get(&root), self.sets.get(&root), self.bindings.get(&root)) {
            (Some(name), ..) => name.clone(),
            (None, Some(set), Some(binding)) => match block {
                Some(block) => block,
                None => format!("set {set} binding {binding}"),
            },
            _ => block.unwrap_or_default(),
        };
        // A physical pointer is followed from what it points to; the first index of its chains may step over elements.
        for index in indices {
            let constant = defs.get(index).filter(|i| i.op() == Op::Constant);
            let n = constant.and_then(|i| match i.inst.operands[..] {
                [Operand::LiteralBit32(n)] => Some(n),
                _ => None,
            });
            let inner = ty.and_then(|t| defs.get(t));
            match (inner.map(|t| t.op()), n) {
                (Some(Op::TypeStruct), Some(n)) => {
                    let member = inner.and_then(|t| self.members.get(&(t.id()?, n)));
                    let dot = if text.is_empty() { "" } else { "." };
                    let _ = match member {
                        Some(name) => write!(text, "{dot}{name}"),
                        None => write!(text, "{dot}member {n}"),
                    };
                    ty = inner.and_then(|t| t.id_at(n as usize));
                }
                (Some(Op::TypeVector), Some(n)) if n < 4 => {
                    let _ = write!(text, ".{}", component(n));
                    ty = None;
                }
                (_, n) => {
                    let _ = match n {
                        Some(n) => write!(text, "[{n}]"),
                        None => write!(text, "[?]"),
                    };
                    ty = inner.and_then(|t| t.id_at(0));
                }
            }
        }
        text
    }
}

/// x, y, z, w.
pub fn component(n: u32) -> char {
    ['x', 'y', 'z', 'w'].get(n as usize).copied().unwrap_or('?')
}
