//! Variables of an invocation's own within one block: compilers that do not optimize keep every value in one, and what is
//! computed of a load would end at the first store.
//!
//! Guarantees: a load becomes a copy only of what the last store of the block put there, with nothing between them that may
//! write to the variable; a store goes only if nothing in the function reads its variable.

use crate::spirv::{Function, Inst, Module, Op, Operand};
use rspirv::spirv::{MemoryAccess, StorageClass};
use std::collections::{HashMap, HashSet};

/// Variables of a function, and the pointers into them.
pub struct Locals {
    root: HashMap<u32, u32>,
    /// Pointers into them by constant indices.
    parts: HashMap<u32, (u32, Vec<u32>)>,
}

impl Locals {
    /// Those of a function.
    pub fn of(m: &Module, f: &Function) -> Locals {
        let (mut root, mut parts) = (HashMap::new(), HashMap::<u32, (u32, Vec<u32>)>::new());
        let constant = |o: &Operand| {
            let i = m.global(o.id_ref_any()?).filter(|i| i.op() == Op::Constant)?;
            match i.inst.operands.first() {
                Some(Operand::LiteralBit32(n)) => Some(*n),
                _ => None,
            }
        };
        let own = Operand::StorageClass(StorageClass::Function);
        for i in f.insts() {
            let Some(id) = i.id() else { continue };
            match i.op() {
                Op::Variable if i.inst.operands.first() == Some(&own) => {
                    root.insert(id, id);
                    parts.insert(id, (id, vec![]));
                }
                Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject => {
                    let Some(base) = i.id_at(0) else { continue };
                    if let Some(v) = root.get(&base).copied() {
                        root.insert(id, v);
                    }
                    let more: Option<Vec<u32>> = i.inst.operands[1..].iter().map(constant).collect();
                    let part =
                        parts.get(&base).zip(more).map(|((v, way), more)| (*v, [&way[..], &more].concat()));
                    parts.extend(part.map(|p| (id, p)));
                }
                _ => {}
            }
        }
        Locals { root, parts }
    }

    /// The variable that a pointer leads into.
    pub fn root(&self, pointer: u32) -> Option<u32> {
        self.root.get(&pointer).copied()
    }

    /// The variable that an instruction stores to as a whole, and what.
    pub fn stored(&self, i: &Inst) -> Option<(u32, u32)> {
        let (to, what) = (i.id_at(0)?, i.id_at(1)?);
        (i.op() == Op::Store && self.root(to) == Some(to) && !is_volatile(i)).then_some((to, what))
    }

    /// The variables that an instruction may write to.
    pub fn written(&self, i: &Inst) -> Vec<u32> {
        match i.op() {
            // (an access by a number of its own writes nothing)
            Op::Load | Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject | Op::Variable => vec![],
            Op::Store => i.id_at(0).and_then(|p| self.root(p)).into_iter().collect(),
            _ => i.ids().filter_map(|p| self.root(p)).collect(),
        }
    }

    /// Whether an instruction reads or writes one of these variables, other than by storing to it as a whole.
    pub fn touches(&self, i: &Inst, variables: &HashSet<u32>) -> bool {
        let pointers = match i.op() {
            Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject => return false,
            Op::Store if self.stored(i).is_some() => return false,
            _ => i.ids(),
        };
        pointers.filter_map(|p| self.root(p)).any(|v| variables.contains(&v))
    }

    /// Puts what was stored in place of what is loaded in a block, and in the block in place of its copies.
    pub fn forward(&self, body: &mut [Inst]) {
        let (mut now, mut instead) = (HashMap::<u32, u32>::new(), HashMap::<u32, u32>::new());
        for i in body {
            for o in &mut i.inst.operands {
                if let Operand::IdRef(id) = o {
                    *id = instead.get(id).copied().unwrap_or(*id);
                }
            }
            let part =
                i.id_at(0).and_then(|p| self.parts.get(&p)).filter(|_| i.op() == Op::Load && !is_volatile(i));
            if let (Some((variable, way)), Some(id)) = (part, i.id())
                && let Some(&value) = now.get(variable)
            {
                let mut operands = vec![Operand::IdRef(value)];
                operands.extend(way.iter().map(|n| Operand::LiteralBit32(*n)));
                let op = if way.is_empty() { Op::CopyObject } else { Op::CompositeExtract };
                *i = Inst { at: i.at, ..Inst::new(op, i.inst.result_type, Some(id), operands) };
                if way.is_empty() {
                    instead.insert(id, value);
                }
                continue;
            }
            for v in self.written(i) {
                now.remove(&v);
            }
            now.extend(self.stored(i));
        }
    }

    /// Takes stores from a block whose variables nothing in the function reads.
    pub fn sweep(&self, f: &mut Function, block: usize) {
        let mut read: HashSet<u32> = HashSet::new();
        for i in f.insts() {
            let skipped = usize::from(self.stored(i).is_some());
            read.extend(i.ids().skip(skipped).filter_map(|p| self.root(p)).filter(|v| i.id() != Some(*v)));
        }
        f.blocks[block].body.retain(|i| self.stored(i).is_none_or(|(v, _)| read.contains(&v)));
    }
}

fn is_volatile(i: &Inst) -> bool {
    i.inst
        .operands
        .iter()
        .any(|o| matches!(o, Operand::MemoryAccess(m) if m.contains(MemoryAccess::VOLATILE)))
}
