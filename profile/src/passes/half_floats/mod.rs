//! Pass `half-floats`: arithmetic of 32-bit floats is computed with 16-bit floats where the application allows it. It measures
//! nothing; it is for experiments: does time go to arithmetic, or to the registers that it fills?
//!
//! An operation whose result is decorated RelaxedPrecision takes its operands converted to 16 bits, and its result is converted
//! back under the id that it had, so that every use, name and decoration stays. What was computed with 16 bits, or only moved
//! from there (shuffled, extracted, selected, joined by OpPhi), is taken as it is, without a way over 32 bits. Conversions that
//! nobody needs are left to the driver's compiler. Operations are those that SPIR-V and GLSL.std.450 define for 16 bits:
//! scalars and vectors, of every stage ([`choose`] has the list); matrices, derivatives (they are of 32 bits by definition),
//! atomics and whatever gives several results stay as they are.
//!
//! Options, by plus signs: `all` takes such operations whether decorated or not, and pictures may change; `stage=NAME` only those
//! of a stage, `shader=HASH` only those of shaders whose hash, as `extract` names files, begins so.
//!
//! Left in 32 bits: what is decorated NoContraction or FPFastMathMode, which say how exactly it is to be computed; and operations
//! on a constant that 16 bits do not hold (beyond 65504, or below the smallest normal and not zero), or on what may be such a
//! constant (a vector with it, a selection, an OpPhi). SPIR-V makes no exception of what a position or a derivative is computed
//! from: where it is decorated it is taken. With `all`, values that are not decorated and go to built-in outputs (a position, a
//! depth, a clip distance, a tessellation level) stay, as they decide what is drawn at all; what a later stage computes a
//! position from is not seen. What `all` makes of numbers that are too large is infinite, an index computed of floats may be
//! another, and a loop that waits for a sum to grow may never end: that is for `--watchdog`. No trace says which results would
//! fit: pass `values` records what loads give, and not what is computed of it.
//!
//! Guarantees: control flow, memory accesses and interfaces stay as they were, and so does what no chosen operation leads to.
//! Devices without shaderFloat16 are refused before anything runs.

mod choose;
mod halve;
mod outputs;
#[cfg(test)]
mod tests;

use crate::pass::{Change, Error, FrameData, Pass, Result, Sink};
use crate::passes::which;
use crate::rewrite::Shader;
use crate::{Needs, Stage};
use choose::Chosen;

/// See the module's header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HalfFloats {
    all: bool,
    shader: String,
    stage: Option<Stage>,
}

impl HalfFloats {
    /// With the options of the command line.
    pub fn new(options: &[String]) -> std::result::Result<Self, String> {
        let mut new = HalfFloats::default();
        for option in options {
            if let Some(hash) = which::shader(option) {
                new.shader = hash;
            } else if let Some(stage) = which::stage(option) {
                new.stage = Some(stage);
            } else if option == "all" {
                new.all = true;
            } else {
                return Err(format!(
                    "pass half-floats: {option:?}: there are all, stage=NAME and shader=HASH"
                ));
            }
        }
        Ok(new)
    }
}

impl Pass for HalfFloats {
    fn name(&self) -> &'static str {
        "half-floats"
    }

    fn key(&self) -> String {
        format!("half-floats 1 {} {} {:?}", self.all, self.shader, self.stage)
    }

    fn needs(&self, stage: Stage) -> Option<Needs> {
        let taken = self.stage.is_none_or(|s| s == stage);
        taken.then_some(Needs { half_floats: true, ..Needs::default() })
    }

    fn is_last(&self) -> bool {
        true
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        if !shader.hash.to_string().starts_with(&self.shader) {
            return Ok(Change::Unchanged);
        }
        // (functions that other passes brought are not the application's)
        let functions: Vec<usize> =
            (0..shader.facts.functions.len()).map(|f| shader.function(f as u32)).collect();
        let chosen = Chosen::of(&shader.module, &functions, self.all);
        if chosen.arithmetic.is_empty() {
            return Ok(Change::Unchanged);
        }
        let (hash, name) = (shader.hash, shader.entry.name.clone());
        shader.note(format!(
            "half-floats: shader {hash}, {name}: {} of {} operations on 32-bit floats are computed with 16 bits",
            chosen.arithmetic.len(),
            chosen.of
        ));
        halve::halve(shader, &functions, &chosen);
        // (an entry without counters has nothing that could be read)
        shader.reserve_counters(1).map_err(Error::shader(shader.hash))?;
        Ok(Change::Changed)
    }

    fn decode(&self, _: &FrameData<'_>, _: &mut dyn Sink) -> Result<()> {
        Ok(())
    }
}
