//! How a shader learns which action it runs in: eight bytes at the top of its push constants, and below them eight more where
//! launches are given something (`launch.rs`).
//!
//! Before every draw, dispatch and trace the replay pushes an address there, that of the action's counters; the prologue
//! adds where the entry point's own begin and keeps the sum in a private variable that probes share (`rr_action`). An
//! entry point may use one block of push constants only, so its own, if it has one, becomes a block with one more member:
//! a copy of the struct, as the application may use it elsewhere too. Loads of the whole block become loads of its members.
//!
//! Where the top is depends on the device: modules are rewritten for [`USUAL`], and [`Variant::set_offsets`] puts
//! the device's own in. Refuses blocks that reach it, and blocks that are used in ways that SPIR-V for Vulkan forbids.

use super::shader::{Pushed, Shader};
use super::variant::Variant;
use crate::spirv::{Inst, Module, Op, Operand, Result, malformed};
use rspirv::spirv::{Decoration, StorageClass};
use std::collections::HashSet;

/// Bytes that are pushed.
pub const BYTES: u32 = 8;
/// Where they lie on devices with 256 bytes of push constants.
pub const USUAL: u32 = 256 - BYTES;
/// Where what is given to a launch lies then.
pub const GIVEN: u32 = USUAL - BYTES;

impl Variant {
    /// Its words for a device that has an action's address pushed at this offset, and below it the address of what is given
    /// to a launch.
    pub fn set_offsets(&self, words: &mut [u32], offset: u32) {
        for (at, offset) in [(self.action_offset, offset), (self.given_offset, offset - BYTES)] {
            if let Some(at) = at {
                words[at as usize] = offset;
            }
        }
    }
}

/// Gives the entry point the member that is pushed at an offset, and loads it: the loaded value, two 32-bit words. The lower
/// one has to come first.
pub fn load(s: &mut Shader, at: u32, out: &mut Vec<Inst>) -> Result<(Pushed, u32)> {
    let pushed = match used_block(s)? {
        Some(variable) => extend(s, variable, at)?,
        None => create(s, at),
    };
    let words = s.types.uvec(&mut s.module, 2);
    let pointer = s.types.pointer(&mut s.module, StorageClass::PushConstant, words);
    let member = s.constant(pushed.member);
    let (chain, value) = (s.module.fresh(), s.module.fresh());
    let operands = vec![Operand::IdRef(pushed.variable), Operand::IdRef(member)];
    out.push(Inst::new(Op::AccessChain, Some(pointer), Some(chain), operands));
    out.push(Inst::new(Op::Load, Some(words), Some(value), vec![Operand::IdRef(chain)]));
    Ok((pushed, value))
}

/// The block of push constants that the entry point uses.
fn used_block(s: &Shader) -> Result<Option<u32>> {
    if let Some(ours) = s.given {
        return Ok(Some(ours.variable));
    }
    let class = Operand::StorageClass(StorageClass::PushConstant);
    let is = |i: &&Inst| {
        matches!(i.op(), Op::Variable | Op::UntypedVariableKHR) && i.inst.operands.first() == Some(&class)
    };
    let all: Vec<&Inst> = s.module.globals.iter().filter(is).collect();
    let mut used: HashSet<u32> = HashSet::new();
    for f in s.module.reachable(s.entry.function) {
        used.extend(s.module.functions[f].insts().flat_map(Inst::ids));
    }
    // From 1.4 on the interface lists them.
    if s.module.version() >= (1, 4) {
        used.extend(s.module.entry_points.iter().flat_map(Inst::ids));
    }
    let mut found = all.into_iter().filter(|v| v.id().is_some_and(|id| used.contains(&id)));
    let first = found.next();
    match (first, found.next()) {
        (Some(_), Some(_)) => malformed("it uses two blocks of push constants"),
        (Some(v), None) if v.op() == Op::UntypedVariableKHR => {
            malformed("it reaches its push constants through untyped pointers")
        }
        (v, _) => Ok(v.and_then(Inst::id)),
    }
}

fn decorate_member(s: &mut Shader, structure: u32, member: u32, at: u32) {
    let operands = vec![
        Operand::IdRef(structure),
        Operand::LiteralBit32(member),
        Operand::Decoration(Decoration::Offset),
        Operand::LiteralBit32(at),
    ];
    s.module.annotations.push(Inst::new(Op::MemberDecorate, None, None, operands));
}

/// A block of its own.
fn create(s: &mut Shader, at: u32) -> Pushed {
    let words = s.types.uvec(&mut s.module, 2);
    let (structure, variable) = (s.module.fresh(), s.module.fresh());
    s.module.globals.push(Inst::new(Op::TypeStruct, None, Some(structure), vec![Operand::IdRef(words)]));
    let block = vec![Operand::IdRef(structure), Operand::Decoration(Decoration::Block)];
    s.module.annotations.push(Inst::new(Op::Decorate, None, None, block));
    decorate_member(s, structure, 0, at);
    let pointer = s.types.pointer(&mut s.module, StorageClass::PushConstant, structure);
    let class = vec![Operand::StorageClass(StorageClass::PushConstant)];
    s.module.globals.push(Inst::new(Op::Variable, Some(pointer), Some(variable), class));
    s.module.interface(variable, false);
    Pushed { structure, member: 0, variable }
}

/// A block with one more member in place of the application's.
fn extend(s: &mut Shader, variable: u32, at: u32) -> Result<Pushed> {
    let block = s.module.global(variable).and_then(|v| v.inst.result_type);
    let block = block.and_then(|p| s.module.global(p)).and_then(|p| p.id_at(1));
    let Some(old) = block.and_then(|b| s.module.global(b)).filter(|b| b.op() == Op::TypeStruct).cloned()
    else {
        return malformed("its push constants are no struct");
    };
    let (id, member) = (old.id().unwrap_or(0), old.inst.operands.len() as u32);
    reaches(s, id, at)?;
    let words = s.types.uvec(&mut s.module, 2);
    let structure = s.module.fresh();
    let mut operands = old.inst.operands.clone();
    operands.push(Operand::IdRef(words));
    s.module.globals.push(Inst::new(Op::TypeStruct, None, Some(structure), operands));
    copy_decorations(s, id, structure);
    decorate_member(s, structure, member, at);
    let pointer = s.types.pointer(&mut s.module, StorageClass::PushConstant, structure);
    // What is declared stands behind its type: the variable, and what speaks of it.
    let mut moved = HashSet::from([variable]);
    let (mut stay, mut go) = (Vec::new(), Vec::new());
    for mut g in std::mem::take(&mut s.module.globals) {
        if g.id() == Some(variable) {
            g.inst.result_type = Some(pointer);
            go.push(g);
        } else if g.ids().any(|i| moved.contains(&i)) {
            moved.extend(g.id());
            go.push(g);
        } else {
            stay.push(g);
        }
    }
    stay.append(&mut go);
    s.module.globals = stay;
    uses(s, variable, &old)?;
    if let Some(given) = &mut s.given {
        given.structure = structure;
    }
    Ok(Pushed { structure, member, variable })
}

/// Refuses a block with a member that reaches to where the action is pushed.
fn reaches(s: &Shader, structure: u32, at: u32) -> Result<()> {
    let end = size_of(&s.module, structure);
    if end > at {
        return malformed(format!(
            "its push constants reach to byte {end}; from {at} on they are the replay's"
        ));
    }
    Ok(())
}

/// Bytes of a type as it lies in a block. A length that is a specialization constant counts as it is in the module.
fn size_of(m: &Module, ty: u32) -> u32 {
    let Some(t) = m.global(ty) else { return 0 };
    let number = |o: Option<&Operand>| match o {
        Some(Operand::LiteralBit32(n)) => *n,
        _ => 0,
    };
    let decorated = |with: Decoration| {
        let of = m.annotations.iter().find(|a| {
            a.op() == Op::Decorate
                && a.id_at(0) == Some(ty)
                && a.inst.operands.get(1) == Some(&Operand::Decoration(with))
        });
        of.map(|a| number(a.inst.operands.get(2)))
    };
    let member = |n: u32, with: Decoration| {
        let of = m.annotations.iter().find(|a| {
            a.op() == Op::MemberDecorate
                && a.id_at(0) == Some(ty)
                && number(a.inst.operands.get(1)) == n
                && a.inst.operands.get(2) == Some(&Operand::Decoration(with))
        });
        of.map(|a| number(a.inst.operands.get(3)))
    };
    let inner = || size_of(m, t.id_at(0).unwrap_or(0));
    match t.op() {
        Op::TypeInt | Op::TypeFloat => number(t.inst.operands.first()) / 8,
        Op::TypeVector => inner() * number(t.inst.operands.get(1)),
        Op::TypeMatrix => inner() * number(t.inst.operands.get(1)),
        Op::TypeArray => {
            let length = t.id_at(1).and_then(|c| m.global(c)).map_or(0, |c| number(c.inst.operands.first()));
            let size = inner();
            let stride = decorated(Decoration::ArrayStride).unwrap_or(size);
            length.saturating_sub(1).saturating_mul(stride).saturating_add(size)
        }
        Op::TypePointer => 8,
        Op::TypeStruct => (0..t.inst.operands.len() as u32)
            .map(|n| {
                let of = t.id_at(n as usize).unwrap_or(0);
                let mut size = size_of(m, of);
                // A matrix' columns (or rows) lie as the member says.
                if let (Some(stride), Some(matrix)) = (member(n, Decoration::MatrixStride), m.global(of))
                    && matrix.op() == Op::TypeMatrix
                {
                    let column = size_of(m, matrix.id_at(0).unwrap_or(0));
                    size = (number(matrix.inst.operands.get(1)).max(1) - 1) * stride + column.max(stride);
                }
                member(n, Decoration::Offset).unwrap_or(0).saturating_add(size)
            })
            .max()
            .unwrap_or(0),
        _ => 0,
    }
}

fn copy_decorations(s: &mut Shader, from: u32, to: u32) {
    let mut copies = Vec::new();
    for a in &mut s.module.annotations {
        match a.op() {
            Op::GroupDecorate if a.inst.operands[1..].contains(&Operand::IdRef(from)) => {
                a.inst.operands.push(Operand::IdRef(to));
            }
            Op::GroupMemberDecorate => {
                let pairs: Vec<Operand> = a.inst.operands[1..]
                    .chunks_exact(2)
                    .filter(|p| p[0] == Operand::IdRef(from))
                    .flat_map(|p| [Operand::IdRef(to), p[1].clone()])
                    .collect();
                a.inst.operands.extend(pairs);
            }
            Op::DecorationGroup => {}
            _ if a.id_at(0) == Some(from) => {
                let mut copy = Inst::new(a.op(), None, None, a.inst.operands.clone());
                copy.inst.operands[0] = Operand::IdRef(to);
                copies.push(copy);
            }
            _ => {}
        }
    }
    s.module.annotations.append(&mut copies);
}

/// Sees to every use of the variable as a whole: loads and copies take its members one by one.
fn uses(s: &mut Shader, variable: u32, old: &Inst) -> Result<()> {
    let ty = old.id().unwrap_or(0);
    let members: Vec<u32> = old.inst.operands.iter().filter_map(Operand::id_ref_any).collect();
    let mut whole = HashSet::from([variable]);
    for f in s.module.reachable(s.entry.function) {
        for b in 0..s.module.functions[f].blocks.len() {
            let body = std::mem::take(&mut s.module.functions[f].blocks[b].body);
            let mut new = Vec::with_capacity(body.len());
            for mut i in body {
                let on = (0..i.inst.operands.len()).find(|&n| i.id_at(n).is_some_and(|o| whole.contains(&o)));
                let Some(on) = on else {
                    new.push(i);
                    continue;
                };
                let base = |i: &mut Inst| i.inst.operands[on] = Operand::IdRef(variable);
                match i.op() {
                    // Another name of the variable.
                    Op::CopyObject => whole.extend(i.id()),
                    Op::AccessChain | Op::InBoundsAccessChain if i.inst.operands.len() == 1 => {
                        whole.extend(i.id());
                    }
                    Op::AccessChain | Op::InBoundsAccessChain if on == 0 => {
                        base(&mut i);
                        new.push(i);
                    }
                    Op::Load => {
                        let operands = i.inst.operands[1..].to_vec();
                        let value = load_all(s, variable, &members, operands, &mut new);
                        let (ty, id) = (i.inst.result_type, i.inst.result_id);
                        new.push(Inst { at: i.at, ..Inst::new(Op::CompositeConstruct, ty, id, value) });
                    }
                    Op::CopyMemory if on == 1 => {
                        let value = load_all(s, variable, &members, vec![], &mut new);
                        let id = s.module.fresh();
                        new.push(Inst::new(Op::CompositeConstruct, Some(ty), Some(id), value));
                        let to = i.inst.operands[0].clone();
                        new.push(Inst::new(Op::Store, None, None, vec![to, Operand::IdRef(id)]));
                    }
                    Op::ExtInst => {
                        base(&mut i);
                        new.push(i);
                    }
                    op => return malformed(format!("it uses its push constants in Op{op:?}")),
                }
            }
            s.module.functions[f].blocks[b].body = new;
        }
    }
    // Other names are gone: nothing may speak of them any more.
    whole.remove(&variable);
    let gone = |i: &Inst| i.id_at(0).is_some_and(|id| whole.contains(&id));
    s.module.names.retain(|n| !gone(n));
    s.module.annotations.retain(|a| !gone(a));
    Ok(())
}

fn load_all(
    s: &mut Shader,
    variable: u32,
    members: &[u32],
    access: Vec<Operand>,
    out: &mut Vec<Inst>,
) -> Vec<Operand> {
    let mut values = Vec::new();
    for (n, &ty) in members.iter().enumerate() {
        let pointer = s.types.pointer(&mut s.module, StorageClass::PushConstant, ty);
        let index = s.constant(n as u32);
        let (chain, value) = (s.module.fresh(), s.module.fresh());
        let operands = vec![Operand::IdRef(variable), Operand::IdRef(index)];
        out.push(Inst::new(Op::AccessChain, Some(pointer), Some(chain), operands));
        let operands = std::iter::once(Operand::IdRef(chain)).chain(access.iter().cloned()).collect();
        out.push(Inst::new(Op::Load, Some(ty), Some(value), operands));
        values.push(Operand::IdRef(value));
    }
    values
}

/// Which word of a module says where the member lies.
pub fn offset_word(words: &[u32], pushed: Pushed) -> Option<u32> {
    let wanted = [pushed.structure, pushed.member, Decoration::Offset as u32];
    let mut at = 5;
    while let Some(&first) = words.get(at) {
        let count = (first >> 16) as usize;
        if count == 0 {
            return None;
        }
        if first == 5 << 16 | Op::MemberDecorate as u32 && words.get(at + 1..at + 4) == Some(&wanted) {
            return Some(at as u32 + 4);
        }
        at += count;
    }
    None
}
