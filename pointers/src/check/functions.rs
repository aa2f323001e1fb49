//! Functions: blocks that begin and end, branches to labels that are there, values of the function's own, calls that end.

use super::state::{Check, Function};
use crate::{Error, limits};
use rspirv::spirv::Op;
use std::collections::{BTreeMap, HashMap};

fn ends_block(op: Op) -> bool {
    rspirv::grammar::reflect::is_block_terminator(op)
}

/// May stand anywhere between the blocks of a function.
fn anywhere(op: Op) -> bool {
    matches!(op, Op::Line | Op::NoLine | Op::Nop | Op::ExtInst | Op::ExtInstWithForwardRefsKHR)
}

impl Check<'_> {
    /// What an instruction does to the function that it is in.
    pub(super) fn function(&mut self, at: usize, inst: &[u32], op: Op) -> Result<(), Error> {
        let place = at as u32;
        let Some(f) = &mut self.functions.now else {
            match (op, inst) {
                (Op::Function, [_, _, id, ..]) => {
                    if self.functions.first == 0 {
                        self.functions.first = place;
                    }
                    self.functions.now = Some(Function {
                        at: place,
                        id: *id,
                        parameters: 0,
                        blocks: false,
                        open: false,
                        stranger: false,
                        labels: Vec::new(),
                        merged: Vec::new(),
                    });
                }
                (Op::EntryPoint, [_, _, id, ..]) => self.functions.entries.push((place + 2, *id)),
                _ if ends_block(op)
                    || matches!(
                        op,
                        Op::Label | Op::FunctionParameter | Op::FunctionEnd | Op::FunctionCall
                    ) =>
                {
                    return Err(Error::new(at, format!("Op{op:?} outside a function")));
                }
                _ => {}
            }
            return Ok(());
        };
        match op {
            Op::Function => return Err(Error::new(at, "OpFunction inside a function")),
            Op::FunctionEnd => {
                if f.open && !f.stranger {
                    return Err(Error::new(at, "OpFunctionEnd in a block that has not ended"));
                }
                return self.function_end();
            }
            Op::FunctionParameter => {
                if f.blocks {
                    return Err(Error::new(at, "OpFunctionParameter behind a block of its function"));
                }
                f.parameters += 1;
                if f.parameters > limits::MOST_PARAMETERS {
                    return Err(Error::new(
                        at,
                        format!("a function of more than {} parameters", limits::MOST_PARAMETERS),
                    ));
                }
            }
            Op::Label => {
                if f.open && !f.stranger {
                    return Err(Error::new(at, "OpLabel in a block that has not ended"));
                }
                (f.blocks, f.open, f.stranger) = (true, true, false);
            }
            _ if !f.open && !f.stranger && !anywhere(op) => {
                return Err(Error::new(at, format!("Op{op:?} between the blocks of a function")));
            }
            _ if ends_block(op) => f.open = false,
            _ => {}
        }
        let label = |n: usize| inst.get(n).map(|id| (place + n as u32, *id));
        match (op, inst) {
            (Op::Branch | Op::SelectionMerge, _) => f.labels.extend(label(1)),
            (Op::LoopMerge, _) => f.labels.extend(label(1).into_iter().chain(label(2))),
            (Op::BranchConditional, _) => f.labels.extend(label(2).into_iter().chain(label(3))),
            (Op::Phi, _) => {
                f.merged.extend((3..inst.len()).step_by(2).filter_map(label));
                f.labels.extend((4..inst.len()).step_by(2).filter_map(label));
            }
            (Op::FunctionCall, [_, _, _, callee, arguments @ ..]) => {
                let caller = f.id;
                self.functions.calls.push((place + 3, caller, *callee, arguments.len()));
            }
            (Op::Switch, [_, selector, _, cases @ ..]) => self.switch(at, *selector, cases)?,
            _ => {}
        }
        Ok(())
    }

    /// A switch's labels stand between numbers that are as wide as its selector.
    fn switch(&mut self, at: usize, selector: u32, cases: &[u32]) -> Result<(), Error> {
        let words = match self.def(selector) {
            [_, ty, ..] => self.number(at, *ty, Op::Switch)?,
            [] if self.strangers => return Ok(()),
            _ => {
                return Err(Error::new(
                    at + 1,
                    format!("OpSwitch chooses by %{selector}, which nothing before it defines"),
                ));
            }
        };
        if !cases.len().is_multiple_of(words + 1) {
            return Err(Error::new(
                at,
                format!("OpSwitch has {} words of cases, each case has {}", cases.len(), words + 1),
            ));
        }
        let default = (at as u32 + 2, self.words[at + 2]);
        let first = at as u32 + 3;
        let labels = cases.chunks_exact(words + 1).zip((first..).step_by(words + 1));
        let labels = labels.map(|(c, at)| (at + words as u32, c[words]));
        let Some(f) = &mut self.functions.now else { return Ok(()) };
        f.labels.push(default);
        f.labels.extend(labels);
        Ok(())
    }

    fn function_end(&mut self) -> Result<(), Error> {
        let Some(f) = self.functions.now.take() else { return Ok(()) };
        for &(at, id) in &f.labels {
            let def = self.defs.get(id as usize).copied().unwrap_or(0);
            let label = def > f.at && self.words[def as usize] & 0xffff == Op::Label as u32;
            if !label {
                return Err(Error::new(at as usize, format!("%{id} is no label of function %{}", f.id)));
            }
        }
        for &(at, id) in f.merged.iter().filter(|_| !self.strangers) {
            if self.def(id).is_empty() {
                let text = format!("OpPhi merges %{id}, which function %{} does not define", f.id);
                return Err(Error::new(at as usize, text));
            }
        }
        self.functions.parameters.insert(f.id, f.parameters);
        Ok(())
    }

    /// Functions are complete: entry points and calls name them, and no call comes back to where it began.
    pub(super) fn functions_end(&mut self) -> Result<(), Error> {
        let all = &self.functions;
        if let Some(f) = &all.now {
            return Err(Error::new(
                self.words.len(),
                format!("function %{}, begun at word {}, has no end", f.id, f.at),
            ));
        }
        for &(at, id) in &all.entries {
            if !all.parameters.contains_key(&id) {
                return Err(Error::new(
                    at as usize,
                    format!("an entry point is %{id}, which is no function"),
                ));
            }
        }
        let mut called: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
        for &(at, caller, callee, arguments) in &all.calls {
            match all.parameters.get(&callee) {
                None if self.strangers => {}
                None => {
                    return Err(Error::new(
                        at as usize,
                        format!("a call of %{callee}, which is no function"),
                    ));
                }
                Some(n) if *n != arguments => {
                    return Err(Error::new(
                        at as usize,
                        format!("a call of %{callee} with {arguments} arguments, it has {n} parameters"),
                    ));
                }
                Some(_) => called.entry(caller).or_default().push((at, callee)),
            }
        }
        ends(&called)
    }
}

/// No function comes to call itself. Calls by caller: where they stand, and whom they call.
fn ends(called: &BTreeMap<u32, Vec<(u32, u32)>>) -> Result<(), Error> {
    /// What is known of a function: it is on the way that is followed, or all its calls have been.
    #[derive(PartialEq)]
    enum Seen {
        Entered,
        Left,
    }
    let mut seen: HashMap<u32, Seen> = HashMap::new();
    for &first in called.keys() {
        if seen.contains_key(&first) {
            continue;
        }
        seen.insert(first, Seen::Entered);
        let mut way = vec![(first, 0)];
        while let Some((f, next)) = way.last_mut() {
            let Some(&(at, callee)) = called.get(f).and_then(|c| c.get(*next)) else {
                seen.insert(*f, Seen::Left);
                way.pop();
                continue;
            };
            *next += 1;
            match seen.get(&callee) {
                None => {
                    seen.insert(callee, Seen::Entered);
                    way.push((callee, 0));
                }
                Some(Seen::Entered) => {
                    return Err(Error::new(
                        at as usize,
                        format!("%{callee} is called from itself, which SPIR-V does not allow"),
                    ));
                }
                Some(Seen::Left) => {}
            }
        }
    }
    Ok(())
}
