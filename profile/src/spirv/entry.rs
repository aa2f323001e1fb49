//! Entry points: which there are, and a module reduced to one of them.
//!
//! A module may hold several entry points that share functions. What is put into a function depends on the stage it
//! runs in, so a module is reduced to the one that a pipeline uses before it is rewritten. Guarantees: what the entry
//! point reaches stays as it was.

use super::{Function, Inst, Module, Op, Operand, Result, malformed};
use crate::Stage;
use rspirv::spirv::ExecutionModel;
use std::collections::{HashMap, HashSet};

/// An entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPoint {
    /// Its execution model.
    pub model: ExecutionModel,
    /// Its function's id.
    pub function: u32,
    /// Its name.
    pub name: String,
}

/// The stage of an execution model; kernels have none.
pub fn stage_of(model: ExecutionModel) -> Option<Stage> {
    Some(match model {
        ExecutionModel::Vertex => Stage::Vertex,
        ExecutionModel::TessellationControl => Stage::TessellationControl,
        ExecutionModel::TessellationEvaluation => Stage::TessellationEvaluation,
        ExecutionModel::Geometry => Stage::Geometry,
        ExecutionModel::Fragment => Stage::Fragment,
        ExecutionModel::GLCompute => Stage::Compute,
        ExecutionModel::TaskNV | ExecutionModel::TaskEXT => Stage::Task,
        ExecutionModel::MeshNV | ExecutionModel::MeshEXT => Stage::Mesh,
        ExecutionModel::RayGenerationKHR => Stage::RayGeneration,
        ExecutionModel::AnyHitKHR => Stage::AnyHit,
        ExecutionModel::ClosestHitKHR => Stage::ClosestHit,
        ExecutionModel::MissKHR => Stage::Miss,
        ExecutionModel::IntersectionKHR => Stage::Intersection,
        ExecutionModel::CallableKHR => Stage::Callable,
        _ => return None,
    })
}

fn entry_of(i: &Inst) -> Option<EntryPoint> {
    match &i.inst.operands[..] {
        [Operand::ExecutionModel(model), Operand::IdRef(function), Operand::LiteralString(name), ..] => {
            Some(EntryPoint { model: *model, function: *function, name: name.clone() })
        }
        _ => None,
    }
}

/// The functions that one calls.
fn callees(f: &Function) -> impl Iterator<Item = u32> + '_ {
    f.insts().filter(|i| i.op() == Op::FunctionCall).filter_map(|i| i.id_at(0))
}

impl Module {
    /// Its entry points.
    pub fn entries(&self) -> Vec<EntryPoint> {
        self.entry_points.iter().filter_map(entry_of).collect()
    }

    /// Whether its entry point is a fragment shader's: to be asked of a module that has one.
    pub fn is_fragment(&self) -> bool {
        self.entries().first().is_some_and(|e| e.model == ExecutionModel::Fragment)
    }

    /// Indices of the functions that a function reaches, itself first.
    pub fn reachable(&self, function: u32) -> Vec<usize> {
        let at: HashMap<u32, usize> = self.functions.iter().enumerate().map(|(i, f)| (f.id(), i)).collect();
        let mut seen = HashSet::new();
        let mut out: Vec<usize> = at.get(&function).copied().into_iter().collect();
        seen.extend(out.first().copied());
        let mut next = 0;
        while let Some(&f) = out.get(next) {
            next += 1;
            for c in callees(&self.functions[f]) {
                out.extend(at.get(&c).copied().filter(|i| seen.insert(*i)));
            }
        }
        out
    }

    /// Takes every other entry point away, and the functions that only those reach.
    pub fn isolate(&mut self, model: ExecutionModel, name: &str) -> Result<EntryPoint> {
        let all = self.entries();
        let Some(entry) = all.iter().find(|e| e.model == model && e.name == name).cloned() else {
            return malformed(format!("there is no {model:?} entry point called {name:?}"));
        };
        if all.len() == 1 {
            return Ok(entry);
        }
        self.entry_points.retain(|i| entry_of(i).as_ref() == Some(&entry));
        let keep: HashSet<usize> = self.reachable(entry.function).into_iter().collect();
        let gone: HashSet<u32> = all.iter().map(|e| e.function).filter(|f| *f != entry.function).collect();
        self.modes.retain(|i| i.id_at(0).is_none_or(|f| !gone.contains(&f)));
        self.keep_functions(&keep, gone);
        Ok(entry)
    }

    /// Takes away all functions but these, and what is said of them and of other ids that are gone.
    pub(super) fn keep_functions(&mut self, keep: &HashSet<usize>, mut gone: HashSet<u32>) {
        let mut i = 0;
        self.functions.retain(|f| {
            i += 1;
            if keep.contains(&(i - 1)) {
                return true;
            }
            gone.insert(f.id());
            gone.extend(f.params.iter().chain(f.insts()).filter_map(Inst::id));
            gone.extend(f.blocks.iter().map(|b| b.label));
            false
        });
        for section in [&mut self.names, &mut self.annotations] {
            section.retain(|i| i.id_at(0).is_none_or(|id| !gone.contains(&id)));
        }
        for a in self.annotations.iter_mut().filter(|a| a.op() == Op::GroupDecorate) {
            a.inst.operands.retain(|o| o.id_ref_any().is_none_or(|id| !gone.contains(&id)));
        }
        // Debug information may speak of functions that are gone: it is dropped with them, as nothing depends on it.
        for section in [&mut self.globals, &mut self.tail] {
            section.retain(|i| i.op() != Op::ExtInst || i.ids().all(|id| !gone.contains(&id)));
        }
    }

    /// Adds a global variable to the entry points' interfaces, where this version wants it there: inputs and outputs
    /// always, others from 1.4 on.
    pub fn interface(&mut self, variable: u32, input_or_output: bool) {
        if !input_or_output && self.version() < (1, 4) {
            return;
        }
        for e in &mut self.entry_points {
            let operand = Operand::IdRef(variable);
            if !e.inst.operands[3..].contains(&operand) {
                e.inst.operands.push(operand);
            }
        }
    }
}
