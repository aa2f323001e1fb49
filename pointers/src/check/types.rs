//! Types and constants: what they are made of, and how much that is.

use super::state::{Check, Shape};
use crate::{Error, limits};
use rspirv::spirv::Op;

impl Check<'_> {
    /// A type, a constant, a variable: everything that says how large something is.
    pub(super) fn types(&mut self, at: usize, inst: &[u32], op: Op) -> Result<(), Error> {
        match (op, inst) {
            (Op::TypeForwardPointer, [_, id, ..]) if self.def(*id).is_empty() => {
                self.types.ahead.insert(*id);
            }
            (Op::Constant | Op::SpecConstant, [_, ty, _, number @ ..]) => {
                let words = self.number(at, *ty, op)?;
                if words != number.len() {
                    return Err(Error::new(
                        at,
                        format!("Op{op:?} has a number of {} words, its type has {words}", number.len()),
                    ));
                }
            }
            (Op::Variable, [_, ty, ..]) => {
                if let [first, _, _, to] = self.def(*ty)
                    && first & 0xffff == Op::TypePointer as u32
                {
                    self.types.leads_to(at, *to)?;
                }
            }
            (_, [_, id, parts @ ..]) if op.is_type() => self.declared(at, op, *id, parts)?,
            _ => {}
        }
        Ok(())
    }

    /// A type: its id, and what stands behind it.
    fn declared(&mut self, at: usize, op: Op, id: u32, parts: &[u32]) -> Result<(), Error> {
        let ahead = self.types.ahead.remove(&id);
        if ahead && op != Op::TypePointer {
            return Err(Error::new(
                at,
                format!("%{id} was used before Op{op:?}: only pointers may be, by OpTypeForwardPointer"),
            ));
        }
        let shape = match (op, parts) {
            (Op::TypeInt | Op::TypeFloat, [bits, ..]) => {
                if *bits == 0 || *bits > limits::MOST_BITS {
                    return Err(Error::new(
                        at + 2,
                        format!("a number of {bits} bits: there are 1 to {}", limits::MOST_BITS),
                    ));
                }
                return Ok(());
            }
            (Op::TypePointer, [_, to]) => {
                self.part(*to);
                return self.types.leads_to(at, *to);
            }
            (Op::TypeVector | Op::TypeMatrix, [of, count]) => {
                self.made_of(at, op, *of)?;
                if *count == 0 || *count > limits::MOST_COMPONENTS {
                    return Err(Error::new(
                        at + 3,
                        format!("{count} components: there are 1 to {}", limits::MOST_COMPONENTS),
                    ));
                }
                let of = self.part(*of);
                Shape { depth: of.depth + 1, members: 1 }
            }
            (Op::TypeArray | Op::TypeRuntimeArray, [of, ..]) => {
                let of = self.part(*of);
                Shape { depth: of.depth + 1, ..of }
            }
            (Op::TypeStruct, members) => {
                if members.len() > limits::MOST_STRUCT_MEMBERS {
                    return Err(Error::new(
                        at,
                        format!(
                            "a struct of {} members: SPIR-V allows {}",
                            members.len(),
                            limits::MOST_STRUCT_MEMBERS
                        ),
                    ));
                }
                let mut all = Shape { depth: 0, members: 0 };
                for m in members {
                    let m = self.part(*m);
                    all.depth = all.depth.max(m.depth);
                    all.members += m.members;
                }
                Shape { depth: all.depth + 1, ..all }
            }
            (Op::TypeFunction, parts) => {
                if parts.len() > limits::MOST_PARAMETERS + 1 {
                    return Err(Error::new(
                        at,
                        format!("a function of more than {} parameters", limits::MOST_PARAMETERS),
                    ));
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        if shape.depth > limits::DEEPEST_TYPE {
            return Err(Error::new(
                at,
                format!("%{id} has more than {} types in one another", limits::DEEPEST_TYPE),
            ));
        }
        if shape.members > limits::MOST_MEMBERS {
            return Err(Error::new(
                at,
                format!("%{id} has more than {} members, those of its structs counted", limits::MOST_MEMBERS),
            ));
        }
        self.types.shapes.insert(id, shape);
        Ok(())
    }

    /// A type that another is made of. What an unknown instruction may have defined must not be a known type later: it
    /// could be made of the other.
    fn part(&mut self, id: u32) -> Shape {
        if self.def(id).is_empty() {
            self.types.ahead.insert(id);
        }
        self.types.shape(id)
    }

    /// Vectors are of scalars, matrices of vectors.
    fn made_of(&self, at: usize, op: Op, of: u32) -> Result<(), Error> {
        let Some(made) = self.def(of).first().map(|w| w & 0xffff) else { return Ok(()) };
        let scalar = [Op::TypeInt, Op::TypeFloat, Op::TypeBool, Op::TypePointer];
        let fits = match op {
            Op::TypeVector => scalar.iter().any(|s| *s as u32 == made),
            _ => made == Op::TypeVector as u32,
        };
        match fits {
            true => Ok(()),
            false => Err(Error::new(
                at + 2,
                format!(
                    "Op{op:?} is made of %{of}, which is no {}",
                    if op == Op::TypeVector { "scalar" } else { "vector" }
                ),
            )),
        }
    }

    /// How many words a number of a type has.
    pub(super) fn number(&self, at: usize, ty: u32, op: Op) -> Result<usize, Error> {
        match self.def(ty) {
            [] if self.strangers => Ok(1),
            [first, _, bits, ..]
                if [Op::TypeInt as u32, Op::TypeFloat as u32].contains(&(first & 0xffff)) =>
            {
                Ok(bits.div_ceil(32) as usize)
            }
            _ => Err(Error::new(at + 1, format!("Op{op:?} has a number, and %{ty} is no type of numbers"))),
        }
    }
}
