//! Ray queries: a begin where one is initialised, and what it committed where its traversal ends.
//!
//! A traversal ends where OpRayQueryProceedKHR says that it has, or at OpRayQueryTerminateKHR; a private word has a bit for
//! each query object that was initialised and has not ended, so that the end is recorded once, however often the shader
//! asks. (Query objects beyond 31, and those that a function is given, share the last bit.) What was committed is asked of
//! the query in a function of its own, since there is something to ask for only where something was.

use super::fields::{Field, Layout};
use super::put::{Put, Word};
use crate::rewrite::Spot;
use crate::spirv::{Block, Function, Inst, Op, Operand, Result, malformed};
use rspirv::spirv::{FunctionControl, SelectionControl, StorageClass};
use std::collections::HashMap;
use trace::tables::{NOT_KNOWN, RayEvent};

/// Whether an instruction is one that is recorded.
pub fn concerns(op: Op) -> bool {
    matches!(op, Op::RayQueryInitializeKHR | Op::RayQueryProceedKHR | Op::RayQueryTerminateKHR)
}

/// What is asked of a committed intersection, and how it is recorded.
const ASKED: [(Op, Field); 5] = [
    (Op::RayQueryGetIntersectionTKHR, Field::T),
    (Op::RayQueryGetIntersectionInstanceIdKHR, Field::Instance),
    (Op::RayQueryGetIntersectionInstanceCustomIndexKHR, Field::CustomIndex),
    (Op::RayQueryGetIntersectionGeometryIndexKHR, Field::Geometry),
    (Op::RayQueryGetIntersectionPrimitiveIndexKHR, Field::Primitive),
];

/// The committed intersection.
const COMMITTED: u32 = 1;

/// What the queries of a shader share.
struct Queries {
    /// The word of bits.
    open: u32,
    /// Bits by variable.
    bits: HashMap<u32, u32>,
    /// Functions by the type of the pointer that they are given.
    functions: HashMap<u32, u32>,
}

impl Put<'_> {
    /// Events of queries.
    pub(super) fn queries(&mut self) -> Result<Vec<(Spot, Vec<Inst>)>> {
        let spots = self.s.before_each(|i| concerns(i.op()));
        let mut all = vec![];
        if spots.is_empty() {
            return Ok(all);
        }
        let uint = self.s.types.uvec(&mut self.s.module, 1);
        let pointer = self.s.types.pointer(&mut self.s.module, StorageClass::Private, uint);
        let (open, zero) = (self.s.module.fresh(), self.s.types.null(&mut self.s.module, uint));
        let operands = vec![Operand::StorageClass(StorageClass::Private), Operand::IdRef(zero)];
        self.s.module.globals.push(Inst::new(Op::Variable, Some(pointer), Some(open), operands));
        self.s.module.interface(open, false);
        let mut q = Queries { open, bits: HashMap::new(), functions: HashMap::new() };
        for spot in spots {
            let i = self.s.at_spot(&spot).clone();
            let Some(query) = i.id_at(0) else { return malformed(format!("Op{:?} of no query", i.op())) };
            let bit = self.bit(&mut q, query);
            let bit = self.s.constant(bit);
            if i.op() == Op::RayQueryInitializeKHR {
                let mut insts = self.query_begin(&spot, &i)?;
                let (now, set) = (self.s.module.fresh(), self.s.module.fresh());
                insts.push(Inst::new(Op::Load, Some(uint), Some(now), vec![Operand::IdRef(open)]));
                insts.push(Inst::new(
                    Op::BitwiseOr,
                    Some(uint),
                    Some(set),
                    [now, bit].map(Operand::IdRef).to_vec(),
                ));
                insts.push(Inst::new(Op::Store, None, None, [open, set].map(Operand::IdRef).to_vec()));
                all.push((spot, insts));
                continue;
            }
            let mut insts = vec![];
            let bool = self.s.types.bool(&mut self.s.module);
            let ended = match (i.op(), i.id()) {
                (Op::RayQueryProceedKHR, Some(goes_on)) => {
                    let id = self.s.module.fresh();
                    insts.push(Inst::new(
                        Op::LogicalNot,
                        Some(bool),
                        Some(id),
                        vec![Operand::IdRef(goes_on)],
                    ));
                    id
                }
                _ => self.s.types.truth(&mut self.s.module),
            };
            let Some(ty) = self.defs.get(query).and_then(|d| d.inst.result_type) else {
                return malformed(format!("query {query} has no type"));
            };
            let layout = self.committed_layout();
            let f = match q.functions.get(&ty) {
                Some(f) => *f,
                None => {
                    let f = self.committed(ty, q.open, &layout)?;
                    q.functions.insert(ty, f);
                    f
                }
            };
            let probe = self.s.reserve_probe();
            let number = self.s.constant(probe);
            insts.push(self.s.call(f, &[query, ended, bit, number]));
            self.note(spot.site(RayEvent::QueryCommitted as u32), probe, &layout);
            all.push((spot.behind(), insts));
        }
        Ok(all)
    }

    /// The bit of the variable that a pointer is of.
    fn bit(&self, q: &mut Queries, mut query: u32) -> u32 {
        while let Some(d) =
            self.defs.get(query).filter(|d| matches!(d.op(), Op::AccessChain | Op::InBoundsAccessChain))
        {
            query = d.id_at(0).unwrap_or(0);
        }
        let known = self.defs.get(query).is_some_and(|d| d.op() == Op::Variable);
        let next = q.bits.len().min(31) as u32;
        match known {
            true => 1 << *q.bits.entry(query).or_insert(next),
            false => 1 << 31,
        }
    }

    fn query_begin(&mut self, spot: &Spot, i: &Inst) -> Result<Vec<Inst>> {
        use Field::*;
        let fields: [&[Field]; 6] = [
            &[Flags],
            &[CullMask],
            &[OriginX, OriginY, OriginZ],
            &[Tmin],
            &[DirectionX, DirectionY, DirectionZ],
            &[T],
        ];
        let mut words = vec![];
        for (n, fields) in fields.iter().enumerate() {
            let Some(id) = i.id_at(2 + n) else { return malformed("a query is initialised with too little") };
            words.push(Word::Value(id, fields.to_vec()));
        }
        self.event(spot, RayEvent::QueryBegin, words)
    }

    fn committed_layout(&self) -> Layout {
        let words = ASKED.iter().map(|a| (a.1 as u8, None)).chain([(Field::HitKind as u8, None)]).collect();
        self.layout(words, vec![])
    }

    /// A function that records what a query committed, if it has ended and was not recorded: it is given the query, whether
    /// it has ended, its bit, and the probe.
    fn committed(&mut self, query: u32, open: u32, layout: &Layout) -> Result<u32> {
        let event = self.import_event()?;
        let uint = self.s.types.uvec(&mut self.s.module, 1);
        let bool = self.s.types.bool(&mut self.s.module);
        let void = self.s.types.void(&mut self.s.module);
        let bits = vec![Operand::LiteralBit32(32)];
        let float = self.s.types.get(&mut self.s.module, Op::TypeFloat, None, bits);
        let ty = self.s.types.function(&mut self.s.module, void, &[query, bool, uint, uint]);
        let (committed, zero) = (self.s.constant(COMMITTED), self.s.constant(0));
        let nothing = self.s.constant(NOT_KNOWN as u32);
        let m = &mut self.s.module;
        let mut inst = |op, ty, operands: Vec<Operand>| {
            let id = m.fresh();
            (Inst::new(op, ty, Some(id), operands), id)
        };
        let ids = |of: &[u32]| of.iter().copied().map(Operand::IdRef).collect::<Vec<_>>();
        let params: Vec<(Inst, u32)> =
            [query, bool, uint, uint].map(|t| inst(Op::FunctionParameter, Some(t), vec![])).into();
        let [q, ended, bit, probe] = [0, 1, 2, 3].map(|n: usize| params[n].1);
        let labels: Vec<u32> = (0..5).map(|_| inst(Op::Label, None, vec![]).1).collect();
        let [first, some, joined, end, body] = [0, 1, 2, 3, 4].map(|n: usize| labels[n]);
        let merge = |to| {
            Inst::new(
                Op::SelectionMerge,
                None,
                None,
                vec![Operand::IdRef(to), Operand::SelectionControl(SelectionControl::NONE)],
            )
        };
        let branch = |to| Inst::new(Op::Branch, None, None, vec![Operand::IdRef(to)]);
        let block = |label, body| Block { label, at: None, lines: vec![], body };
        // Has it ended, and is it open?
        let (now, now_id) = inst(Op::Load, Some(uint), ids(&[open]));
        let (masked, masked_id) = inst(Op::BitwiseAnd, Some(uint), ids(&[now_id, bit]));
        let (is_open, is_open_id) = inst(Op::INotEqual, Some(bool), ids(&[masked_id, zero]));
        let (both, both_id) = inst(Op::LogicalAnd, Some(bool), ids(&[is_open_id, ended]));
        let choose = Inst::new(Op::BranchConditional, None, None, ids(&[both_id, body, end]));
        let b0 = block(first, vec![now, masked, is_open, both, merge(end), choose]);
        // It is no longer; what did it commit?
        let (left, left_id) = inst(Op::BitwiseXor, Some(uint), ids(&[now_id, bit]));
        let store = Inst::new(Op::Store, None, None, ids(&[open, left_id]));
        let (kind, kind_id) = inst(Op::RayQueryGetIntersectionTypeKHR, Some(uint), ids(&[q, committed]));
        let (is, is_id) = inst(Op::INotEqual, Some(bool), ids(&[kind_id, zero]));
        let choose = Inst::new(Op::BranchConditional, None, None, ids(&[is_id, some, joined]));
        let b1 = block(body, vec![left, store, kind, is, merge(joined), choose]);
        let (mut asked, mut values) = (vec![], vec![]);
        for (op, field) in ASKED {
            let own = if field == Field::T { float } else { uint };
            let (i, id) = inst(op, Some(own), ids(&[q, committed]));
            asked.push(i);
            values.push(match field {
                Field::T => {
                    let (i, id) = inst(Op::Bitcast, Some(uint), ids(&[id]));
                    asked.push(i);
                    id
                }
                _ => id,
            });
        }
        asked.push(branch(joined));
        let b2 = block(some, asked);
        let mut tail = vec![];
        let mut words: Vec<u32> = values
            .iter()
            .zip(ASKED)
            .map(|(v, (_, field))| {
                let none = if field == Field::T { zero } else { nothing };
                let (i, id) = inst(Op::Phi, Some(uint), ids(&[*v, some, none, body]));
                tail.push(i);
                id
            })
            .collect();
        let (kind, hit) = inst(Op::Select, Some(uint), ids(&[is_id, kind_id, nothing]));
        tail.push(kind);
        words.push(hit);
        let (f, _) = inst(Op::Nop, None, vec![]);
        let id = f.id().unwrap_or(0);
        self.store(&words, &mut tail)?;
        let [lanes, each] = [layout.lanes, layout.each()].map(|n| self.s.constant(n));
        tail.push(self.s.call(event, &[probe, lanes, each]));
        tail.push(branch(end));
        let b3 = block(joined, tail);
        let b4 = block(end, vec![Inst::new(Op::Return, None, None, vec![])]);
        let control = vec![Operand::FunctionControl(FunctionControl::NONE), Operand::IdRef(ty)];
        let def = Inst::new(Op::Function, Some(void), Some(id), control);
        let params = params.into_iter().map(|p| p.0).collect();
        self.s.module.functions.push(Function::new(def, params, vec![b0, b1, b2, b3, b4]));
        let name = vec![Operand::IdRef(id), Operand::LiteralString("rays_committed".into())];
        self.s.module.names.push(Inst::new(Op::Name, None, None, name));
        Ok(id)
    }
}
