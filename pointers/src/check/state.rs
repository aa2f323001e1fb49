//! What a check knows so far: the types and the functions that it came by.

use crate::error::Error;
use crate::limits;
use rspirv::spirv::Op;
use std::collections::{HashMap, HashSet};

/// A check under way.
pub(super) struct Check<'w> {
    pub(super) words: &'w [u32],
    /// By id, where its definition stands; 0 if it has not come.
    pub(super) defs: Vec<u32>,
    pub(super) types: Types,
    pub(super) functions: Functions,
    /// There was an opcode that the grammar does not have.
    pub(super) strangers: bool,
}

/// How large a type is for those who take it apart.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Types in one another, itself included.
    pub(super) depth: u16,
    /// Members, those of its structs in their place.
    pub(super) members: u64,
}

pub(super) const SCALAR: Shape = Shape { depth: 0, members: 1 };

/// The types so far.
#[derive(Default)]
pub(super) struct Types {
    /// Of those that are made of others.
    pub(super) shapes: HashMap<u32, Shape>,
    /// Used or declared before they are defined: pointers.
    pub(super) ahead: HashSet<u32>,
    /// Members of what variables and pointers lead to.
    pub(super) members: u64,
}

impl Types {
    pub(super) fn shape(&self, id: u32) -> Shape {
        self.shapes.get(&id).copied().unwrap_or(SCALAR)
    }

    /// Whether it is a pointer that was declared, and has yet to be defined.
    pub fn is_ahead(&self, id: u32) -> bool {
        self.ahead.contains(&id)
    }

    pub(super) fn leads_to(&mut self, at: usize, id: u32) -> Result<(), Error> {
        self.members += self.shape(id).members;
        if self.members > limits::MOST_MEMBERS_IN_ALL {
            return Err(Error::new(
                at,
                format!("variables and pointers lead to more than {} members", limits::MOST_MEMBERS_IN_ALL),
            ));
        }
        Ok(())
    }

    pub fn finish(&self, strangers: bool, end: usize) -> Result<(), Error> {
        match self.ahead.iter().min() {
            Some(id) if !strangers => {
                Err(Error::new(end, format!("%{id} is declared by OpTypeForwardPointer and never defined")))
            }
            _ => Ok(()),
        }
    }
}

/// A function so far.
pub(super) struct Function {
    pub(super) at: u32,
    pub(super) id: u32,
    pub(super) parameters: usize,
    /// A label has come.
    pub(super) blocks: bool,
    /// A block is open.
    pub(super) open: bool,
    /// An opcode that the grammar does not have came in the block: it may have ended it.
    pub(super) stranger: bool,
    /// Labels that it names: where, and which.
    pub(super) labels: Vec<(u32, u32)>,
    /// Values that its OpPhi merge.
    pub(super) merged: Vec<(u32, u32)>,
}

/// The functions so far.
#[derive(Default)]
pub(super) struct Functions {
    pub(super) now: Option<Function>,
    /// Where the first function begins; 0 if none has.
    pub(super) first: u32,
    /// Parameters, by function.
    pub(super) parameters: HashMap<u32, usize>,
    /// Where a call stands, its caller, its callee and how many arguments it gives.
    pub(super) calls: Vec<(u32, u32, u32, usize)>,
    /// Where entry points stand, and their functions.
    pub(super) entries: Vec<(u32, u32)>,
}

impl Functions {
    /// Whether what is defined at `def` can be used here: of a function before this one, only the function itself.
    #[inline]
    pub fn sees(&self, def: u32, words: &[u32]) -> bool {
        let other = self.now.as_ref().is_some_and(|f| def > self.first && def < f.at);
        // (debug information may stand between functions)
        let open = [Op::Function, Op::ExtInst, Op::ExtInstWithForwardRefsKHR];
        !other || open.iter().any(|op| *op as u32 == words[def as usize] & 0xffff)
    }

    /// An opcode that the grammar does not have.
    pub fn stranger(&mut self) {
        if let Some(f) = &mut self.now {
            f.stranger = true;
        }
    }
}
