//! Puts 16-bit operations in the place of those that were chosen.
//!
//! Guarantees: an id gives what it gave, of the same type. Instructions that are put in stand where what they stand for did;
//! what is not known with 16 bits is converted once in a block, before its first use there. The same module becomes the same
//! words.

use super::choose::{Chosen, Constant, computed_of, constant, half, moved_of};
use crate::passes::learnt::glsl;
use crate::rewrite::Shader;
use crate::spirv::{Inst, Op, Operand};
use rspirv::spirv::Capability;
use std::collections::HashMap;

/// See the module's header.
pub fn halve(shader: &mut Shader, functions: &[usize], chosen: &Chosen) {
    shader.module.capability(Capability::Float16);
    let glsl = glsl(&shader.module);
    let inside = functions.iter().flat_map(|f| {
        let f = &shader.module.functions[*f];
        f.params.iter().chain(f.insts())
    });
    let all = shader.module.globals.iter().chain(inside);
    let types: HashMap<u32, u32> = all.filter_map(|i| Some((i.id()?, i.inst.result_type?))).collect();
    let mut rewrite = Rewrite { shader, types, halves: HashMap::new() };
    // Each has its id before any is used: OpPhi uses what comes behind it.
    for f in functions {
        let results: Vec<u32> = rewrite.shader.module.functions[*f].insts().filter_map(Inst::id).collect();
        for id in results.into_iter().filter(|id| chosen.arithmetic.contains(id) || chosen.moves.contains(id))
        {
            let fresh = rewrite.shader.module.fresh();
            rewrite.halves.insert(id, fresh);
        }
    }
    for f in functions {
        for b in 0..rewrite.shader.module.functions[*f].blocks.len() {
            let old = std::mem::take(&mut rewrite.shader.module.functions[*f].blocks[b].body);
            let (mut new, mut converted) = (Vec::with_capacity(old.len() + 8), HashMap::new());
            for i in old {
                let computed = i.id().filter(|id| chosen.arithmetic.contains(id));
                let moved = i.id().filter(|id| chosen.moves.contains(id));
                match (computed, moved) {
                    (Some(id), _) => {
                        let floats = computed_of(&i, glsl).unwrap_or_default();
                        let of_half = rewrite.twin(&i, id, &floats, &mut converted, &mut new);
                        new.push(of_half);
                        let operands = vec![Operand::IdRef(rewrite.halves[&id])];
                        let back = Inst::new(Op::FConvert, i.inst.result_type, Some(id), operands);
                        new.push(Inst { at: i.at, ..back });
                    }
                    (_, Some(id)) => {
                        let floats = moved_of(&i).unwrap_or_default();
                        let of_half = rewrite.twin(&i, id, &floats, &mut converted, &mut new);
                        new.extend([i, of_half]);
                    }
                    _ => new.push(i),
                }
            }
            rewrite.shader.module.functions[*f].blocks[b].body = new;
        }
    }
}

struct Rewrite<'s> {
    shader: &'s mut Shader,
    /// The types of values.
    types: HashMap<u32, u32>,
    /// Values with 16 bits, by those with 32: of what is computed or moved, and of constants.
    halves: HashMap<u32, u32>,
}

impl Rewrite<'_> {
    /// The same instruction with 16 bits. What it needs goes before.
    fn twin(
        &mut self,
        i: &Inst,
        id: u32,
        floats: &[usize],
        converted: &mut HashMap<u32, u32>,
        before: &mut Vec<Inst>,
    ) -> Inst {
        let ty = i.inst.result_type.map(|t| self.half_type(t));
        let mut operands = i.inst.operands.clone();
        for at in floats {
            if let Some(Operand::IdRef(o)) = operands.get_mut(*at) {
                *o = self.half_of(*o, converted, before);
            }
        }
        Inst::new(i.op(), ty, Some(self.halves[&id]), operands)
    }

    /// The type of 16-bit floats for one of 32-bit floats.
    fn half_type(&mut self, ty: u32) -> u32 {
        let (types, module) = (&mut self.shader.types, &mut self.shader.module);
        let float = types.get(module, Op::TypeFloat, None, vec![Operand::LiteralBit32(16)]);
        let vector = module.global(ty).filter(|t| t.op() == Op::TypeVector);
        match vector.and_then(|t| t.inst.operands.get(1)) {
            Some(Operand::LiteralBit32(n)) => {
                let n = *n;
                types.vector(module, float, n)
            }
            _ => float,
        }
    }

    /// A value with 16 bits.
    fn half_of(&mut self, id: u32, converted: &mut HashMap<u32, u32>, before: &mut Vec<Inst>) -> u32 {
        if let Some(known) = self.halves.get(&id).or_else(|| converted.get(&id)) {
            return *known;
        }
        if let Some(constant) = self.constant(id) {
            self.halves.insert(id, constant);
            return constant;
        }
        let ty = self.types.get(&id).copied().map(|t| self.half_type(t));
        let made = self.shader.module.fresh();
        before.push(Inst::new(Op::FConvert, ty, Some(made), vec![Operand::IdRef(id)]));
        converted.insert(id, made);
        made
    }

    /// A constant with 16 bits, where they hold it.
    fn constant(&mut self, id: u32) -> Option<u32> {
        if constant(&self.shader.module, id) != Constant::Held {
            return None;
        }
        let i = self.shader.module.global(id)?.clone();
        let ty = self.half_type(i.inst.result_type?);
        let (types, module) = (&mut self.shader.types, &mut self.shader.module);
        match (i.op(), &i.inst.operands[..]) {
            (Op::ConstantNull, _) => Some(types.null(module, ty)),
            (Op::Constant, [Operand::LiteralBit32(bits)]) => {
                let bits = Operand::LiteralBit32(half(f32::from_bits(*bits))?.into());
                Some(types.get(module, Op::Constant, Some(ty), vec![bits]))
            }
            (Op::ConstantComposite, parts) => {
                let parts: Option<Vec<Operand>> =
                    parts.iter().map(|p| self.constant(p.id_ref_any()?).map(Operand::IdRef)).collect();
                let (parts, made) = (parts?, self.shader.module.fresh());
                let composite = Inst::new(Op::ConstantComposite, Some(ty), Some(made), parts);
                self.shader.module.globals.push(composite);
                Some(made)
            }
            _ => None,
        }
    }
}
