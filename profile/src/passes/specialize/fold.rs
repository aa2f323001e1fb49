//! Loads of known words, replaced by constants.
//!
//! Guarantees: a load keeps its id and its place, so that what depends on it and what is decorated stays; a load of which only
//! some components are known is still made, and those components are put into what it gives.

use super::known::{Blocks, Words};
use super::residues::{Residue, residue};
use crate::reflect::{Constants, Decorations, Layout, Matrix};
use crate::rewrite::Shader;
use crate::spirv::{Inst, Module, Op, Operand};
use rspirv::spirv::{Capability, Decoration, MemoryAccess, StorageClass};
use std::collections::HashMap;

/// Elements that are looked at, of an array that is read at an index decided at run time.
const MOST_ELEMENTS: u64 = 1 << 14;

/// Components that are put into one load's result.
const MOST_PARTS: usize = 64;

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Loads that are constants now, or have constant components.
    pub loads: usize,
    /// Of how many of uniform blocks and push constants.
    pub of: usize,
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
    let inside = original.functions.iter().flat_map(|f| f.insts());
    let defs: HashMap<u32, Inst> =
        inside.chain(&original.globals).filter_map(|i| Some((i.id()?, i.clone()))).collect();
    let mut folder = Folder {
        layout,
        defs: &defs,
        blocks,
        no_numbers: makes_pointers(&original),
        composites: HashMap::new(),
        done: Done::default(),
    };
    let reached = shader.module.reachable(shader.entry.function);
    for f in reached {
        for b in 0..shader.module.functions[f].blocks.len() {
            let body = std::mem::take(&mut shader.module.functions[f].blocks[b].body);
            let mut new = Vec::with_capacity(body.len());
            for i in body {
                match folder.load(shader, &i) {
                    None => new.push(i),
                    Some(Value::All(constant)) => {
                        folder.done.loads += 1;
                        let to = vec![Operand::IdRef(constant)];
                        new.push(Inst {
                            at: i.at,
                            ..Inst::new(Op::CopyObject, i.inst.result_type, i.id(), to)
                        });
                    }
                    Some(Value::Some(parts)) => {
                        folder.done.loads += 1;
                        inserted(shader, i, parts, &mut new);
                    }
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
    layout: Layout<'a>,
    defs: &'a HashMap<u32, Inst>,
    blocks: &'a Blocks,
    no_numbers: bool,
    /// Composite constants that were made.
    composites: HashMap<(u32, Vec<u32>), u32>,
    done: Done,
}

/// Where a value may lie: offsets in the block, and how matrices lie.
struct Where<'w> {
    words: &'w Words,
    offsets: Vec<u64>,
    matrix: Matrix,
}

impl<'a> Folder<'a> {
    /// What is known of what an instruction loads.
    fn load(&mut self, shader: &mut Shader, i: &Inst) -> Option<Value> {
        i.at.filter(|_| i.op() == Op::Load)?;
        let (variable, indices) = self.way(i.id_at(0)?)?;
        let v = self.layout.ty(variable)?;
        let Some(Operand::StorageClass(class)) = v.inst.operands.first() else { return None };
        let place = match class {
            StorageClass::PushConstant => None,
            StorageClass::Uniform => {
                let get = |d| self.layout.decorations.get(variable, None, d);
                Some((get(Decoration::DescriptorSet).unwrap_or(0), get(Decoration::Binding)?))
            }
            _ => return None,
        };
        self.done.of += 1;
        let volatile = matches!(i.inst.operands.get(1), Some(Operand::MemoryAccess(m)) if m.contains(MemoryAccess::VOLATILE));
        let words = self.blocks.get(&place).filter(|w| !w.is_empty() && !volatile)?;
        let pointee = self.layout.ty(v.inst.result_type?)?.id_at(1)?;
        // A block that shaders write is no uniform block.
        self.layout.decorations.get(pointee, None, Decoration::Block)?;
        let (ty, at) = self.follow(pointee, &indices, words)?;
        match self.value(shader, ty, &at, &mut vec![])? {
            Value::Some(parts) if parts.len() > MOST_PARTS => None,
            found => Some(found),
        }
    }

    /// The variable that a pointer leads to, and by which indices; nothing of one that a function was given.
    fn way(&self, pointer: u32) -> Option<(u32, Vec<u32>)> {
        let i = self.defs.get(&pointer)?;
        match i.op() {
            Op::Variable => Some((pointer, vec![])),
            Op::CopyObject => self.way(i.id_at(0)?),
            Op::AccessChain | Op::InBoundsAccessChain => {
                let (variable, mut indices) = self.way(i.id_at(0)?)?;
                indices.extend(i.inst.operands[1..].iter().filter_map(Operand::id_ref_any));
                Some((variable, indices))
            }
            _ => None,
        }
    }

    /// What lies there, and where that may be.
    fn follow<'w>(&self, block: u32, indices: &[u32], words: &'w Words) -> Option<(u32, Where<'w>)> {
        let mut ty = block;
        let mut at = Where { words, offsets: vec![0], matrix: (0, false) };
        for (n, &index) in indices.iter().enumerate() {
            let i = self.layout.ty(ty)?;
            let r = residue(self.defs, self.layout.constants, index);
            let one = |r: Residue| (r.step == 0).then_some(r.first);
            match i.op() {
                Op::TypeStruct => {
                    let member = u32::try_from(one(r)?).ok()?;
                    at.matrix = self.layout.matrix(ty, member);
                    let offset = self.layout.offset(ty, member);
                    at.offsets.iter_mut().for_each(|o| *o += offset);
                    ty = i.id_at(member as usize)?;
                }
                Op::TypeArray => {
                    let elements = elements(r, self.layout.count(i)?)?;
                    at.spread(&elements, self.layout.stride(i))?;
                    ty = i.id_at(0)?;
                }
                Op::TypeVector => {
                    let element = i.id_at(0)?;
                    let size = match indices.get(n.wrapping_sub(1)) {
                        // (a row of a matrix whose rows lie one behind the other)
                        Some(_) if at.matrix.0 > 0 && at.matrix.1 => at.matrix.0,
                        _ => self.layout.size(element, (0, false)),
                    };
                    at.spread(&elements(r, self.number(i)?)?, size)?;
                    ty = element;
                }
                Op::TypeMatrix => {
                    let column = i.id_at(0)?;
                    let component = self.layout.ty(column)?.id_at(0)?;
                    let step =
                        if at.matrix.1 { self.layout.size(component, (0, false)) } else { at.matrix.0 };
                    at.spread(&elements(r, self.number(i)?)?, step)?;
                    ty = column;
                }
                _ => return None,
            }
        }
        Some((ty, at))
    }

    fn number(&self, i: &Inst) -> Option<u64> {
        match i.inst.operands.get(1) {
            Some(Operand::LiteralBit32(n)) => Some(u64::from(*n)),
            _ => None,
        }
    }

    /// What is known of a value of a type. `path` leads to it within the load.
    fn value(&mut self, shader: &mut Shader, ty: u32, at: &Where<'_>, path: &mut Vec<u32>) -> Option<Value> {
        let i = self.layout.ty(ty)?;
        let parts: Vec<(u32, Where<'_>)> = match i.op() {
            Op::TypeInt | Op::TypeFloat => {
                let constant = self.scalar(shader, i, at)?;
                return Some(Value::All(constant));
            }
            Op::TypeVector => {
                let (part, n) = (i.id_at(0)?, self.number(i)?);
                let whole = self.layout.ty(part)?.op() == Op::TypeInt;
                if whole && self.no_numbers {
                    return None;
                }
                // (of a column of a matrix by rows its components lie as far apart as rows do)
                let size = match at.matrix {
                    (stride, true) if stride > 0 => stride,
                    _ => self.layout.size(part, (0, false)),
                };
                (0..n).map(|k| (part, at.moved(k * size, (0, false)))).collect()
            }
            Op::TypeMatrix => {
                let (column, n) = (i.id_at(0)?, self.number(i)?);
                let component = self.layout.ty(column)?.id_at(0)?;
                let step = if at.matrix.1 { self.layout.size(component, (0, false)) } else { at.matrix.0 };
                let inner = if at.matrix.1 { at.matrix } else { (0, false) };
                (0..n).map(|k| (column, at.moved(k * step, inner))).collect()
            }
            Op::TypeArray => {
                let (part, n, stride) = (i.id_at(0)?, self.layout.count(i)?, self.layout.stride(i));
                if n > MOST_PARTS as u64 {
                    return None;
                }
                (0..n).map(|k| (part, at.moved(k * stride, at.matrix))).collect()
            }
            Op::TypeStruct => {
                let member = |(n, o): (u32, &Operand)| {
                    let matrix = self.layout.matrix(ty, n);
                    Some((o.id_ref_any()?, at.moved(self.layout.offset(ty, n), matrix)))
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
    fn scalar(&self, shader: &mut Shader, i: &Inst, at: &Where<'_>) -> Option<u32> {
        let ty = i.id()?;
        let Some(Operand::LiteralBit32(width)) = i.inst.operands.first() else { return None };
        let bytes = u64::from(width / 8);
        if i.op() == Op::TypeInt && self.no_numbers && bytes == 8 {
            return None;
        }
        let mut all = at.offsets.iter().map(|o| bits(at.words, *o, bytes));
        let bits = all.next()??;
        if !all.all(|b| b == Some(bits)) {
            return None;
        }
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

impl<'w> Where<'w> {
    fn moved(&self, by: u64, matrix: Matrix) -> Where<'w> {
        Where { words: self.words, offsets: self.offsets.iter().map(|o| o + by).collect(), matrix }
    }

    fn spread(&mut self, elements: &[u64], stride: u64) -> Option<()> {
        if (elements.len() * self.offsets.len()) as u64 > MOST_ELEMENTS {
            return None;
        }
        self.offsets =
            self.offsets.iter().flat_map(|o| elements.iter().map(move |e| o + e * stride)).collect();
        Some(())
    }
}

/// The elements of an array that an index may name.
fn elements(r: Residue, count: u64) -> Option<Vec<u64>> {
    match r.step {
        0 => (r.first < count).then(|| vec![r.first]),
        step if count / step <= MOST_ELEMENTS => {
            let all: Vec<u64> = (r.first..count).step_by(step as usize).collect();
            (!all.is_empty()).then_some(all)
        }
        _ => None,
    }
}

/// So many bytes at an offset, where all are known.
fn bits(words: &Words, offset: u64, bytes: u64) -> Option<u64> {
    let mut out = 0;
    for n in 0..bytes {
        let at = offset + n;
        let word = *words.get(&(at & !3))?;
        out |= u64::from(word >> (8 * (at & 3)) & 0xff) << (8 * n);
    }
    Some(out)
}
