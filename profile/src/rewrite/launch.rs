//! Launches whose invocations do each other's work: every use of the launch index reads a private copy of it that is mapped
//! once, where the entry point begins.
//!
//! The copy is a private variable of the built-in's own type; all that reads the built-in reads it instead, in every function,
//! through access chains and other names as well, whoever put it there. What is put in later gets the copy from
//! [`load`], so that the order of passes does not matter: *the* launch index is that of the work that is done, and so
//! are work ids; subgroups and lanes are where it runs. The prologue maps it before it does anything else
//! (`probes/swizzle.glsl`), by what the replay pushed the address of: `actions::GIVEN`. A pushed address because one pipeline
//! serves several launches, each with a table of its own, and all tables that a launch is timed with; a constant could say but
//! one, and a descriptor would take the application's layouts apart.
//!
//! Guarantees: in a stage that asks for the launch index nowhere, nothing changes. Refuses uses of the built-in by pointers that
//! are no access chains (SPIR-V for Vulkan has none), and built-ins in blocks.

use super::actions;
use super::built_ins::{load, load_raw};
use super::shader::Shader;
use crate::probes;
use crate::rewrite::Probes;
use crate::spirv::{Inst, Op, Operand, Result, malformed};
use rspirv::spirv::{BuiltIn, StorageClass};
use std::collections::HashSet;

static PROBES: Probes = probes!("swizzle");

impl Shader {
    /// From now on the launch index is that of the work that is done. Whether the shader asked for it so far.
    pub fn map_launches(&mut self) -> Result<bool> {
        self.launch.mapped = true;
        let operand = Operand::BuiltIn(BuiltIn::LaunchIdKHR);
        if (self.module.annotations.iter())
            .any(|a| a.op() == Op::MemberDecorate && a.inst.operands.contains(&operand))
        {
            return malformed("its launch index is a member of a block");
        }
        // (modules of several entry points may have one for each)
        let mut all: HashSet<u32> = (self.module.annotations.iter())
            .filter(|a| a.op() == Op::Decorate && a.inst.operands.get(2) == Some(&operand))
            .filter_map(|a| a.id_at(0))
            .collect();
        let read: HashSet<u32> =
            self.module.functions.iter().flat_map(|f| f.insts()).flat_map(Inst::ids).collect();
        all.retain(|v| read.contains(v));
        let mut types = HashSet::new();
        for variable in &all {
            let pointer = self.module.global(*variable).and_then(|v| v.inst.result_type);
            let to = pointer.and_then(|p| self.module.global(p)).filter(|p| p.op() == Op::TypePointer);
            types.insert(to.and_then(|p| p.id_at(1)));
        }
        let mut types = types.into_iter();
        match (types.next(), types.next()) {
            (None, _) => Ok(false),
            (Some(Some(ty)), None) => {
                let copy = self.copy(ty);
                self.redirect(&all, copy)?;
                Ok(true)
            }
            _ => malformed("its launch index is a variable of two types, or an untyped one"),
        }
    }

    /// All that reads the built-in reads the copy.
    fn redirect(&mut self, built_ins: &HashSet<u32>, copy: u32) -> Result<()> {
        let mut derived = built_ins.clone();
        for f in 0..self.module.functions.len() {
            for b in 0..self.module.functions[f].blocks.len() {
                let mut body = std::mem::take(&mut self.module.functions[f].blocks[b].body);
                for i in &mut body {
                    let on: Vec<usize> = (0..i.inst.operands.len())
                        .filter(|&n| i.id_at(n).is_some_and(|id| derived.contains(&id)))
                        .collect();
                    if on.is_empty() {
                        continue;
                    }
                    match (i.op(), &on[..]) {
                        (Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject, [0]) => {
                            self.make_private(i)?;
                            derived.extend(i.id());
                        }
                        (Op::Load, [0]) | (Op::CopyMemory | Op::CopyMemorySized, [1]) => {}
                        // (debug information: what it says of the variable holds for the copy)
                        (Op::ExtInst, _) => {}
                        (op, _) => return malformed(format!("it uses its launch index in Op{op:?}")),
                    }
                    for n in on {
                        if i.id_at(n).is_some_and(|id| built_ins.contains(&id)) {
                            i.inst.operands[n] = Operand::IdRef(copy);
                        }
                    }
                }
                self.module.functions[f].blocks[b].body = body;
            }
        }
        Ok(())
    }

    /// A pointer that an instruction makes is one to private memory.
    fn make_private(&mut self, i: &mut Inst) -> Result<()> {
        let old = i.inst.result_type.and_then(|t| self.module.global(t));
        let Some(to) = old.filter(|t| t.op() == Op::TypePointer).and_then(|t| t.id_at(1)) else {
            return malformed("it makes no pointer of its launch index");
        };
        i.inst.result_type = Some(self.types.pointer(&mut self.module, StorageClass::Private, to));
        Ok(())
    }
}

/// The prologue's first part: the copy gets its value, if anything is going to read it.
pub(super) fn map(s: &mut Shader, out: &mut Vec<Inst>) -> Result<()> {
    let works = s.imported.shared("rr_work").is_some() || s.imported.shared("rr_first").is_some();
    if s.launch.mapped && works && s.stage.is_ray_tracing() {
        let uvec3 = s.types.uvec(&mut s.module, 3);
        s.mapped(BuiltIn::LaunchIdKHR, uvec3);
    }
    let Some((copy, ty)) = s.launch.copy else { return Ok(()) };
    let (pushed, address) = actions::load(s, actions::GIVEN, out)?;
    s.given = Some(pushed);
    let uvec3 = s.types.uvec(&mut s.module, 3);
    let id = load_raw(s, BuiltIn::LaunchIdKHR, uvec3, out)?;
    let size = load(s, BuiltIn::LaunchSizeKHR, 3, out)?;
    let f = s.import(&PROBES, "swizzled")?;
    let (call, mut value) = s.call_for(f, uvec3, &[address, id, size]);
    out.push(call);
    if ty != uvec3 {
        let cast = s.module.fresh();
        out.push(Inst::new(Op::Bitcast, Some(ty), Some(cast), vec![Operand::IdRef(value)]));
        value = cast;
    }
    out.push(Inst::new(Op::Store, None, None, vec![Operand::IdRef(copy), Operand::IdRef(value)]));
    Ok(())
}
