//! Pass `specialize`: members of uniform blocks and push constants that had one value in all the chosen frames become constants
//! of the shader, so that the driver's compiler folds what is computed of them and drops what is never reached.
//!
//! `specialize:TRACE` takes the bytes of every invocation from a trace that `bindings` has written; `frames=A-B` takes the
//! invocations of these frames alone (the others' may have had other values). Of an entry point all invocations of all
//! pipelines that use it count together. A load at an index that is decided at run time is a constant where all elements that
//! it may read are alike: `code[2 * n]` reads only even ones. Of vectors, matrices and structs single components may be
//! constants.
//!
//! Pointers are followed through chains, copies, descriptors of an array and what calls give functions; of an array whose size
//! is the pipeline's all elements up to the block's next member count. What is extracted of a struct that was loaded whole is
//! replaced there, and a copy of known memory to the invocation's own becomes a store.
//!
//! Guarantees: a word is a constant only if each of these invocations was given it, known and the same. Left as they are:
//! numbers that are or may be addresses, which differ from replay to replay: pointers, and in modules that make pointers or
//! acceleration structures of numbers, 64-bit numbers and vectors of whole numbers; volatile loads; pointers chosen at run time
//! (OpSelect, OpPhi); arrays of arrays of blocks; at an index decided at run time, arrays of the pipeline's size that nothing
//! follows in their block; whole loads of arrays of more than 64 elements, but for what is extracted of them. It measures
//! nothing: whether frames show the same is for the replay to compare, and `precise=yes` is there for compilers that round
//! otherwise in other code.

mod fold;
mod known;
mod residues;
#[cfg(test)]
mod tests;
mod ways;

use super::learnt::{Given, entry, hold};
use crate::pass::{Change, Error, FrameData, Result, Sink};
use crate::rewrite::Shader;
use crate::{Needs, Stage};
use known::Known;

/// See the module's header.
#[derive(Debug, Default)]
pub struct Pass {
    known: Known,
    precise: Vec<String>,
}

impl Pass {
    /// With the traces of the command line.
    pub fn new(options: &str) -> std::result::Result<Self, String> {
        let given = Given::read("specialize", options, &[])?;
        let mut known = Known::default();
        for trace in &given.traces {
            known.add(trace, &|f| given.wants(f)).map_err(|e| format!("pass specialize: {e}"))?;
        }
        if !given.traces.is_empty() && !known.saw_any() {
            return Err(format!(
                "pass specialize: {} has no invocations of these frames; record them with `bindings -o`",
                given.folders.join(" and ")
            ));
        }
        Ok(Pass { known, precise: given.precise })
    }
}

impl crate::Pass for Pass {
    fn name(&self) -> &'static str {
        "specialize"
    }

    fn key(&self) -> String {
        format!("specialize 2 {:?} {}", self.precise, self.known.digest())
    }

    fn needs(&self, _: Stage) -> Option<Needs> {
        self.known.saw_any().then(Needs::default)
    }

    fn is_last(&self) -> bool {
        true
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let Some(blocks) = self.known.of(&entry(shader)) else { return Ok(Change::Unchanged) };
        let done = fold::fold(shader, &blocks);
        if done.loads + done.parts == 0 {
            return Ok(Change::Unchanged);
        }
        let (hash, name) = (shader.hash, shader.entry.name.clone());
        shader.note(format!(
            "specialize: shader {hash}, {name}: {} of {} loads of uniform blocks and push constants are constants, or have \
             constant components{}",
            done.loads,
            done.of,
            match done.parts {
                0 => String::new(),
                n => format!("; {n} parts of what is loaded whole are constants"),
            }
        ));
        hold(shader, &self.precise);
        // (an entry without counters has nothing that could be read)
        shader.reserve_counters(1).map_err(Error::shader(shader.hash))?;
        Ok(Change::Changed)
    }

    fn decode(&self, _: &FrameData<'_>, _: &mut dyn Sink) -> Result<()> {
        Ok(())
    }
}
