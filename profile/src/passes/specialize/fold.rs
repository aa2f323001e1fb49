//! Loads of known words, replaced by constants.
//!
//! Guarantees: a load keeps its id and its place, so that what depends on it and what is decorated stays; a load of which only
//! some components are known is still made, and those components are put into what it gives; what is extracted of it later is
//! replaced where it is extracted. A copy of known memory becomes a store.

use super::known::Blocks;
use super::ways::{Place, Ways, number};
use crate::reflect::{Constants, Decorations, Layout};
use crate::rewrite::Shader;
use crate::spirv::{Inst, Module, Op, Operand};
use rspirv::spirv::{Capability, MemoryAccess, StorageClass};
use std::collections::{HashMap, HashSet};

/// Components that are put into one load's result.
const MOST_PARTS: usize = 64;

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Loads and copies that are constants now, or have constant components.
    pub loads: usize,
    /// Of how many of uniform blocks and push constants.
    pub of: usize,
    /// Constants that are parts of other loads.
    pub parts: usize,
}

/// What is known of a value.
enum Value {
    /// All of it: a constant.
    All(u32),
    /// Some components, by where they are.
    Some(Vec<(Vec<u32>, u32)>),
}

/// Replaces what is known in every function that the entry point reaches.
pub fn fold(shader: &mut Shader, blocks: &Blocks) -> Done {
    let original = shader.original.clone();
    // (values of specialization constants are the pipelines', and may be several)
    let constants = Constants::fixed(&original);
    let decorations = Decorations::new(&original);
    let layout = Layout { module: &original, constants: &constants, decorations: &decorations };
    let mut folder = Folder {
        ways: Ways::new(layout, blocks),
        no_numbers: makes_pointers(&original),
        composites: HashMap::new(),
        replaced: HashSet::new(),
        done: Done::default(),
    };
    let reached = shader.module.reachable(shader.entry.function);
    for f in reached {
        for b in 0..shader.module.functions[f].blocks.len() {
            let body = std::mem::take(&mut shader.module.functions[f].blocks[b].body);
            let mut new = Vec::with_capacity(body.len());
            for i in body {
                let found = match i.at.map(|_| i.op()) {
                    Some(Op::Load) => folder.load(shader, &i),
                    Some(Op::CompositeExtract) => folder.extract(shader, &i),
                    Some(Op::CopyMemory) => folder.copy(shader, &i),
                    _ => None,
                };
                match found {
                    None => new.push(i),
                    Some(Value::All(constant)) if i.op() == Op::CopyMemory => {
                        let to = vec![i.inst.operands[0].clone(), Operand::IdRef(constant)];
                        new.push(Inst { at: i.at, ..Inst::new(Op::Store, None, None, to) });
                    }
                    Some(Value::All(constant)) => {
                        let to = vec![Operand::IdRef(constant)];
                        new.push(Inst {
                            at: i.at,
                            ..Inst::new(Op::CopyObject, i.inst.result_type, i.id(), to)
                        });
                    }
                    Some(Value::Some(parts)) => inserted(shader, i, parts, &mut new),
                }
            }
            shader.module.functions[f].blocks[b].body = new;
        }
    }
    folder.done
}

/// A load under another id, and the known parts put into what it gives.
fn inserted(shader: &mut Shader, i: Inst, parts: Vec<(Vec<u32>, u32)>, out: &mut Vec<Inst>) {
    let (ty, id) = (i.inst.result_type, i.id());
    let mut last = shader.module.fresh();
    let at = i.at;
    let mut load = i;
    load.inst.result_id = Some(last);
    load.at = None;
    out.push(load);
    let n = parts.len();
    for (k, (path, constant)) in parts.into_iter().enumerate() {
        let new = if k + 1 == n { id.unwrap_or(0) } else { shader.module.fresh() };
        let mut operands = vec![Operand::IdRef(constant), Operand::IdRef(last)];
        operands.extend(path.into_iter().map(Operand::LiteralBit32));
        let at = if k + 1 == n { at } else { None };
        out.push(Inst { at, ..Inst::new(Op::CompositeInsert, ty, Some(new), operands) });
        last = new;
    }
}

/// Whether numbers may be addresses.
fn makes_pointers(m: &Module) -> bool {
    m.has_capability(Capability::PhysicalStorageBufferAddresses)
        || m.functions
            .iter()
            .flat_map(|f| f.insts())
            .any(|i| i.op() == Op::ConvertUToAccelerationStructureKHR)
}

struct Folder<'a> {
    ways: Ways<'a>,
    no_numbers: bool,
    /// Composite constants that were made.
    composites: HashMap<(u32, Vec<u32>), u32>,
    /// Loads that are constants.
    replaced: HashSet<u32>,
    done: Done,
}

impl Folder<'_> {
    /// What is known of what an instruction loads.
    fn load(&mut self, shader: &mut Shader, i: &Inst) -> Option<Value> {
        let pointer = i.id_at(0)?;
        if !self.ways.is_known_memory(pointer) {
            return None;
        }
        self.done.of += 1;
        let found = self.read(shader, pointer, &[], i)?;
        if matches!(&found, Value::Some(parts) if parts.len() > MOST_PARTS) {
            return None;
        }
        self.done.loads += 1;
        if matches!(found, Value::All(_)) {
            self.replaced.extend(i.id());
        }
        Some(found)
    }

    /// What is known of a part of what was loaded as a whole, where that is no constant.
    fn extract(&mut self, shader: &mut Shader, i: &Inst) -> Option<Value> {
        let mut of = i.id_at(0)?;
        let load = loop {
            let d = self.ways.def(of)?;
            match d.op() {
                Op::CopyObject | Op::CopyLogical => of = d.id_at(0)?,
                Op::Load => break d.clone(),
                _ => return None,
            }
        };
        let pointer = load.id_at(0).filter(|p| self.ways.is_known_memory(*p))?;
        if self.replaced.contains(&of) {
            return None;
        }
        let literal = |o: &Operand| match o {
            Operand::LiteralBit32(n) => Some(u64::from(*n)),
            _ => None,
        };
        let more: Vec<u64> = i.inst.operands[1..].iter().filter_map(literal).collect();
        let found = self.read(shader, pointer, &more, &load)?;
        let Value::All(constant) = found else { return None };
        // (of a logical copy aggregates are of another type)
        let same = shader.module.global(constant).and_then(|c| c.inst.result_type) == i.inst.result_type;
        self.done.parts += usize::from(same);
        same.then_some(found)
    }

    /// What is known of all that is copied into memory of the invocation's own.
    fn copy(&mut self, shader: &mut Shader, i: &Inst) -> Option<Value> {
        let (to, from) = (i.id_at(0)?, i.id_at(1)?);
        if !self.ways.is_known_memory(from) {
            return None;
        }
        self.done.of += 1;
        let own = [StorageClass::Function, StorageClass::Private, StorageClass::Output];
        self.ways.class(to).filter(|c| own.contains(c))?;
        let found = self.read(shader, from, &[], i)?;
        self.done.loads += usize::from(matches!(found, Value::All(_)));
        matches!(found, Value::All(_)).then_some(found)
    }

    /// What is known of what lies behind a pointer, further in by these members and elements.
    fn read(&mut self, shader: &mut Shader, pointer: u32, more: &[u64], i: &Inst) -> Option<Value> {
        let volatile =
            |o: &Operand| matches!(o, Operand::MemoryAccess(m) if m.contains(MemoryAccess::VOLATILE));
        if i.inst.operands.iter().any(volatile) {
            return None;
        }
        let (ty, at) = self.ways.find(pointer, more)?;
        let whole = self.ways.layout.ty(ty)?.op() == Op::TypeInt;
        if whole && at.component && self.no_numbers {
            return None;
        }
        self.value(shader, ty, &at, &mut vec![])
    }

    /// What is known of a value of a type. `path` leads to it within the load.
    fn value(&mut self, shader: &mut Shader, ty: u32, at: &Place<'_>, path: &mut Vec<u32>) -> Option<Value> {
        let layout = self.ways.layout;
        let i = layout.ty(ty)?;
        let parts: Vec<(u32, Place<'_>)> = match i.op() {
            Op::TypeInt | Op::TypeFloat => {
                let constant = self.scalar(shader, i, at)?;
                return Some(Value::All(constant));
            }
            Op::TypeVector => {
                let (part, n) = (i.id_at(0)?, number(i)?);
                let whole = layout.ty(part)?.op() == Op::TypeInt;
                if whole && self.no_numbers {
                    return None;
                }
                // (of a column of a matrix by rows its components lie as far apart as rows do)
                let size = match at.matrix {
                    (stride, true) if stride > 0 => stride,
                    _ => layout.size(part, (0, false)),
                };
                (0..n).map(|k| (part, at.moved(k * size, (0, false)))).collect()
            }
            Op::TypeMatrix => {
                let (column, n) = (i.id_at(0)?, number(i)?);
                let component = layout.ty(column)?.id_at(0)?;
                let step = if at.matrix.1 { layout.size(component, (0, false)) } else { at.matrix.0 };
                let inner = if at.matrix.1 { at.matrix } else { (0, false) };
                (0..n).map(|k| (column, at.moved(k * step, inner))).collect()
            }
            Op::TypeArray => {
                let (part, n, stride) = (i.id_at(0)?, layout.count(i)?, layout.stride(i));
                if n > MOST_PARTS as u64 {
                    return None;
                }
                (0..n).map(|k| (part, at.moved(k * stride, at.matrix))).collect()
            }
            Op::TypeStruct => {
                let member = |(n, o): (u32, &Operand)| {
                    let matrix = layout.matrix(ty, n);
                    Some((o.id_ref_any()?, at.moved(layout.offset(ty, n), matrix)))
                };
                (0..).zip(&i.inst.operands).filter_map(member).collect()
            }
            _ => return None,
        };
        let n = parts.len();
        let (mut all, mut some) = (vec![], vec![]);
        for (k, (part, at)) in (0..).zip(parts) {
            path.push(k);
            match self.value(shader, part, &at, path) {
                Some(Value::All(id)) => {
                    all.push(id);
                    some.push((path.clone(), id));
                }
                Some(Value::Some(more)) => some.extend(more),
                None => {}
            }
            path.pop();
        }
        if all.len() == n {
            let operands = all.iter().copied().map(Operand::IdRef).collect();
            let made = *self.composites.entry((ty, all)).or_insert_with(|| {
                let id = shader.module.fresh();
                shader.module.globals.push(Inst::new(Op::ConstantComposite, Some(ty), Some(id), operands));
                id
            });
            return Some(Value::All(made));
        }
        (!some.is_empty()).then_some(Value::Some(some))
    }

    /// The constant of a number that is the same wherever it may lie.
    fn scalar(&self, shader: &mut Shader, i: &Inst, at: &Place<'_>) -> Option<u32> {
        let ty = i.id()?;
        let Some(Operand::LiteralBit32(width)) = i.inst.operands.first() else { return None };
        let bytes = u64::from(width / 8);
        if i.op() == Op::TypeInt && self.no_numbers && bytes == 8 {
            return None;
        }
        let bits = at.bits(bytes)?;
        let signed = i.op() == Op::TypeInt && i.inst.operands.get(1) == Some(&Operand::LiteralBit32(1));
        let literal = match bytes {
            8 => Operand::LiteralBit64(bits),
            4 => Operand::LiteralBit32(bits as u32),
            // (narrow numbers are extended by their sign)
            2 if signed => Operand::LiteralBit32(bits as u16 as i16 as i32 as u32),
            1 if signed => Operand::LiteralBit32(bits as u8 as i8 as i32 as u32),
            1 | 2 => Operand::LiteralBit32(bits as u32),
            _ => return None,
        };
        Some(shader.types.get(&mut shader.module, Op::Constant, Some(ty), vec![literal]))
    }
}
