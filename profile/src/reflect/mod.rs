//! What a shader binds and reads: reflection from SPIR-V, of one entry point with the constants of its pipeline.
//!
//! [`reflect`] says which slots (set and binding) an entry point has, what their blocks are made of, and what is done with each
//! descriptor and each member: through access chains, copies of whole structs, local variables, function parameters, and
//! pointers that are chosen at run time. Crates that reflect say the layout and no more; what members are read is what is
//! asked for here, so all of it is found on the sections that [`crate::spirv`] has.
//!
//! Guarantees: a member that is not said to be read is not read by any invocation, whatever the data. What cannot be followed
//! counts as used: an index that is no constant is every element, a pointer that is taken apart is everything behind it.
//! A struct that is loaded whole counts as read only where its members are. Arrays that are sized by specialization constants
//! have the pipeline's sizes. Refuses what is no SPIR-V, and entry points that are not there.

mod bindings;
mod constants;
mod flow;
mod layout;
#[cfg(test)]
mod oracle;
mod slots;
#[cfg(test)]
mod tests;

use crate::Stage;
use crate::spirv::{Module, Result, malformed, stage_of};

pub use bindings::{Access, Block, Elements, Kind, Member, Reflection, Slot};
pub(crate) use constants::Constants;
pub use constants::Specialization;
pub(crate) use layout::{Decorations, Layout, Matrix};

/// What the entry point of a stage binds and reads, with these values of specialization constants.
pub fn reflect(words: &[u32], stage: Stage, name: &str, constants: &Specialization) -> Result<Reflection> {
    let mut module = Module::read(words)?;
    module.ungroup();
    let is = |e: &&crate::spirv::EntryPoint| e.name == name && stage_of(e.model) == Some(stage);
    let Some(entry) = module.entries().iter().find(is).cloned() else {
        return malformed(format!("there is no {} entry point called {name:?}", stage.name()));
    };
    slots::all(&module, entry.function, constants)
}
