//! The instructions of `ser`, in the words of either extension.
//!
//! Guarantees: a function that traces has one hit object, a variable of its own; the function that looks at flags is made once
//! for each payload. A module that has the type of hit objects already keeps it.

use crate::rewrite::Shader;
use crate::spirv::{Block, Function, Inst, Module, Op, Operand};
use rspirv::spirv::{Capability, FunctionControl, SelectionControl, StorageClass};
use std::collections::HashMap;

/// The bit of a ray's flags that skips closest-hit shaders.
const SKIP_CLOSEST_HIT: u32 = 8;

/// The flags among a trace call's operands.
const FLAGS: usize = 1;

/// What of an object that was hit is handed to the reordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Which instance.
    Instance,
    /// Which of its geometries.
    Geometry,
    /// Which of that one's primitives.
    Primitive,
}

/// By which extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// SPV_NV_shader_invocation_reorder.
    Nv,
    /// SPV_EXT_shader_invocation_reorder.
    Ext,
}

/// One extension's instructions.
struct Words {
    extension: &'static str,
    capability: Capability,
    object: Op,
    trace: Op,
    trace_motion: Op,
    reorder: Op,
    execute: Op,
    is_hit: Op,
    is_miss: Op,
    instance: Op,
    geometry: Op,
    primitive: Op,
}

static NV: Words = Words {
    extension: "SPV_NV_shader_invocation_reorder",
    capability: Capability::ShaderInvocationReorderNV,
    object: Op::TypeHitObjectNV,
    trace: Op::HitObjectTraceRayNV,
    trace_motion: Op::HitObjectTraceRayMotionNV,
    reorder: Op::ReorderThreadWithHitObjectNV,
    execute: Op::HitObjectExecuteShaderNV,
    is_hit: Op::HitObjectIsHitNV,
    is_miss: Op::HitObjectIsMissNV,
    instance: Op::HitObjectGetInstanceIdNV,
    geometry: Op::HitObjectGetGeometryIndexNV,
    primitive: Op::HitObjectGetPrimitiveIndexNV,
};

static EXT: Words = Words {
    extension: "SPV_EXT_shader_invocation_reorder",
    capability: Capability::ShaderInvocationReorderEXT,
    object: Op::TypeHitObjectEXT,
    trace: Op::HitObjectTraceRayEXT,
    trace_motion: Op::HitObjectTraceRayMotionEXT,
    reorder: Op::ReorderThreadWithHitObjectEXT,
    execute: Op::HitObjectExecuteShaderEXT,
    is_hit: Op::HitObjectIsHitEXT,
    is_miss: Op::HitObjectIsMissEXT,
    instance: Op::HitObjectGetInstanceIdEXT,
    geometry: Op::HitObjectGetGeometryIndexEXT,
    primitive: Op::HitObjectGetPrimitiveIndexEXT,
};

fn ids(of: &[u32]) -> Vec<Operand> {
    of.iter().copied().map(Operand::IdRef).collect()
}

fn plain(op: Op, of: &[u32]) -> Inst {
    Inst::new(op, None, None, ids(of))
}

fn traces(i: &Inst) -> bool {
    matches!(i.op(), Op::TraceRayKHR | Op::TraceRayMotionNV)
}

/// One module's rewrite.
pub struct Rewrite {
    reorder: bool,
    /// What is handed over, and how many bits of it.
    hint: Option<(Hint, u32)>,
    words: &'static Words,
    /// The function that executes by flags, of each payload.
    by_flags: HashMap<u32, u32>,
}

impl Rewrite {
    /// With these options, by this extension.
    pub fn new(api: Api, reorder: bool, hint: Option<(Hint, u32)>) -> Self {
        let words = if api == Api::Nv { &NV } else { &EXT };
        Rewrite { reorder, hint, words, by_flags: HashMap::new() }
    }

    /// Rewrites every trace call that the entry point reaches; whether there was one.
    pub fn all(mut self, s: &mut Shader) -> bool {
        let reached = s.module.reachable(s.entry.function);
        let mut with: Vec<usize> = reached;
        with.retain(|f| s.module.functions[*f].insts().any(traces));
        if with.is_empty() {
            return false;
        }
        s.module.at_least((1, 4));
        s.module.extension(self.words.extension);
        s.module.capability(self.words.capability);
        let pointer = self.pointer(s);
        for f in with {
            self.function(s, f, pointer);
        }
        true
    }

    /// The type of a pointer to a hit object.
    fn pointer(&self, s: &mut Shader) -> u32 {
        let known = s.module.globals.iter().find(|i| i.op() == self.words.object).and_then(Inst::id);
        let object = known.unwrap_or_else(|| {
            let id = s.module.fresh();
            s.module.globals.push(Inst::new(self.words.object, None, Some(id), vec![]));
            name(&mut s.module, id, "hit_object");
            id
        });
        s.types.pointer(&mut s.module, StorageClass::Function, object)
    }

    fn function(&mut self, s: &mut Shader, f: usize, pointer: u32) {
        let object = s.module.fresh();
        for block in 0..s.module.functions[f].blocks.len() {
            if !s.module.functions[f].blocks[block].body.iter().any(traces) {
                continue;
            }
            let body = std::mem::take(&mut s.module.functions[f].blocks[block].body);
            let mut new = Vec::with_capacity(body.len() + 4);
            for i in body {
                if traces(&i) { self.call(s, &i, object, pointer, &mut new) } else { new.push(i) }
            }
            s.module.functions[f].blocks[block].body = new;
        }
        let class = vec![Operand::StorageClass(StorageClass::Function)];
        let variable = Inst::new(Op::Variable, Some(pointer), Some(object), class);
        s.module.functions[f].blocks[0].body.insert(0, variable);
    }

    /// One call.
    fn call(&mut self, s: &mut Shader, i: &Inst, object: u32, pointer: u32, out: &mut Vec<Inst>) {
        let op = if i.op() == Op::TraceRayKHR { self.words.trace } else { self.words.trace_motion };
        let operands = std::iter::once(Operand::IdRef(object)).chain(i.inst.operands.iter().cloned());
        // (it is what the original's call was: what is said of its place is said of this)
        out.push(Inst { at: i.at, ..Inst::new(op, None, None, operands.collect()) });
        if self.reorder {
            let mut operands = vec![object];
            if let Some((what, bits)) = self.hint {
                operands.extend([self.hint(s, what, bits, object, out), s.constant(bits)]);
            }
            out.push(plain(self.words.reorder, &operands));
        }
        let (Some(flags), Some(payload)) =
            (i.id_at(FLAGS), i.inst.operands.last().and_then(Operand::id_ref_any))
        else {
            unreachable!("the grammar has them");
        };
        if constant(&s.module, flags).is_some_and(|f| f & SKIP_CLOSEST_HIT == 0) {
            out.push(plain(self.words.execute, &[object, payload]));
            return;
        }
        let function = match self.by_flags.get(&payload) {
            Some(f) => *f,
            None => {
                let f = self.executor(s, payload, pointer);
                self.by_flags.insert(payload, f);
                f
            }
        };
        let uint = s.types.uint(&mut s.module, 32);
        let mut flags = flags;
        // (flags may be signed)
        if type_of(s, flags) != Some(uint) {
            let cast = s.module.fresh();
            out.push(Inst::new(Op::Bitcast, Some(uint), Some(cast), ids(&[flags])));
            flags = cast;
        }
        out.push(s.call(function, &[object, flags]));
    }

    /// The lowest bits of what was hit; 0 for a miss, of which an object has none.
    fn hint(&self, s: &mut Shader, what: Hint, bits: u32, object: u32, out: &mut Vec<Inst>) -> u32 {
        let (uint, bool) = (s.types.uint(&mut s.module, 32), s.types.bool(&mut s.module));
        let (zero, mask) = (s.constant(0), s.constant((1 << bits) - 1));
        let op = match what {
            Hint::Instance => self.words.instance,
            Hint::Geometry => self.words.geometry,
            Hint::Primitive => self.words.primitive,
        };
        let mut push = |op, ty, of: &[u32]| {
            let id = s.module.fresh();
            out.push(Inst::new(op, Some(ty), Some(id), ids(of)));
            id
        };
        let hit = push(self.words.is_hit, bool, &[object]);
        let number = push(op, uint, &[object]);
        let low = push(Op::BitwiseAnd, uint, &[number, mask]);
        push(Op::Select, uint, &[hit, low, zero])
    }

    /// A function of a hit object and a ray's flags, which executes what the ray would have: its miss shader, or its
    /// closest-hit shader unless the flags skip that.
    fn executor(&self, s: &mut Shader, payload: u32, pointer: u32) -> u32 {
        let (void, uint) = (s.types.void(&mut s.module), s.types.uint(&mut s.module, 32));
        let bool = s.types.bool(&mut s.module);
        let ty = s.types.function(&mut s.module, void, &[pointer, uint]);
        let (zero, skip) = (s.constant(0), s.constant(SKIP_CLOSEST_HIT));
        let [function, object, flags, first, yes, end, miss, bit, unset, go] =
            std::array::from_fn(|_| s.module.fresh());
        let op = |op, ty, id, of: &[u32]| Inst::new(op, Some(ty), Some(id), ids(of));
        let body = vec![
            op(self.words.is_miss, bool, miss, &[object]),
            op(Op::BitwiseAnd, uint, bit, &[flags, skip]),
            op(Op::IEqual, bool, unset, &[bit, zero]),
            op(Op::LogicalOr, bool, go, &[miss, unset]),
            Inst::new(
                Op::SelectionMerge,
                None,
                None,
                vec![Operand::IdRef(end), Operand::SelectionControl(SelectionControl::NONE)],
            ),
            plain(Op::BranchConditional, &[go, yes, end]),
        ];
        let block = |label, body| Block { label, at: None, lines: vec![], body };
        let blocks = vec![
            block(first, body),
            block(yes, vec![plain(self.words.execute, &[object, payload]), plain(Op::Branch, &[end])]),
            block(end, vec![plain(Op::Return, &[])]),
        ];
        let control = vec![Operand::FunctionControl(FunctionControl::NONE), Operand::IdRef(ty)];
        let def = Inst::new(Op::Function, Some(void), Some(function), control);
        let parameter = |id, ty| Inst::new(Op::FunctionParameter, Some(ty), Some(id), vec![]);
        let parameters = vec![parameter(object, pointer), parameter(flags, uint)];
        s.module.functions.push(Function::new(def, parameters, blocks));
        name(&mut s.module, function, "ser_execute");
        function
    }
}

fn name(m: &mut Module, id: u32, name: &str) {
    let operands = vec![Operand::IdRef(id), Operand::LiteralString(name.into())];
    m.names.push(Inst::new(Op::Name, None, None, operands));
}

/// The value of a 32-bit constant that no specialization changes.
fn constant(m: &Module, id: u32) -> Option<u32> {
    let i = m.global(id)?;
    match (i.op(), i.inst.operands.first()) {
        (Op::Constant, Some(Operand::LiteralBit32(n))) => Some(*n),
        (Op::ConstantNull, _) => Some(0),
        _ => None,
    }
}

/// The type of a value.
fn type_of(s: &Shader, id: u32) -> Option<u32> {
    let found = |i: &&Inst| i.id() == Some(id);
    let inside = || s.module.functions.iter().find_map(|f| f.params.iter().chain(f.insts()).find(found));
    s.module.global(id).or_else(inside).and_then(|i| i.inst.result_type)
}
