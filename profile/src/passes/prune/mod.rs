//! Pass `prune`: what a profile never saw executed becomes unreachable, so that the driver's compiler makes no code for it
//! (Neubauer 2019, 5.2: a profile's blocks that were never run are taken away).
//!
//! `prune:TRACE` takes the counts of pass `blocks` in that trace, `prune:A+B` those of several together; `frames=A-B` takes the
//! counts of these frames alone. Of an entry point all pipelines that use it count together. A choice of which only one way was
//! ever gone gets a constant condition; a switch loses the cases that were never taken; blocks that were never begun end where
//! they begin, or are gone. Continue constructs of loops stay, as a loop needs them.
//!
//! Guarantees: control flow stays structured; what was executed is executed as before. Entry points without counts, or that
//! never ran, stay as they are. Refuses traces that counted a sample only.
//!
//! Counts leave helper invocations out. In a fragment shader a block stays from which something that looks at the neighbours in
//! a quad (a derivative, a sample whose level is not said) can be reached and was executed: a helper may have come by, and what it
//! brought there is seen. `helpers=ignore` takes these away as well.
//!
//! It measures nothing: whether frames show the same is for the replay to compare. A compiler that is given other code may
//! round otherwise: `precise=yes` marks all arithmetic of what is changed as to be computed as it stands.

mod cut;
mod known;
mod quads;
#[cfg(test)]
mod tests;

use super::learnt::{Given, entry, hold};
use crate::pass::{Change, Error, FrameData, Result, Sink};
use crate::rewrite::Shader;
use crate::{Needs, Stage};
use known::Known;

/// See the module's header.
#[derive(Debug, Default)]
pub struct Pass {
    known: Known,
    ignore_helpers: bool,
    precise: Vec<String>,
}

impl Pass {
    /// With the traces of the command line.
    pub fn new(options: &[String]) -> std::result::Result<Self, String> {
        let given = Given::read("prune", options, &["helpers"])?;
        let mut ignore_helpers = false;
        for (_, value) in &given.own {
            ignore_helpers = match &value[..] {
                "ignore" => true,
                "keep" => false,
                _ => return Err(format!("pass prune: helpers={value}: say keep or ignore")),
            };
        }
        let mut known = Known::default();
        for trace in &given.traces {
            known.add(trace, &|f| given.wants(f)).map_err(|e| format!("pass prune: {e}"))?;
        }
        if !given.traces.is_empty() && known.is_empty() && !given.recorded("blocks") {
            return Err(format!(
                "pass prune: {} has no counts of blocks for these frames; record them with `profile --passes blocks`",
                given.folders.join(" and ")
            ));
        }
        Ok(Pass { known, ignore_helpers, precise: given.precise })
    }
}

impl crate::Pass for Pass {
    fn name(&self) -> &'static str {
        "prune"
    }

    fn key(&self) -> String {
        format!("prune 2 {} {:?} {}", self.ignore_helpers, self.precise, self.known.digest())
    }

    fn needs(&self, _: Stage) -> Option<Needs> {
        (!self.known.is_empty()).then(Needs::default)
    }

    fn is_last(&self) -> bool {
        true
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let Some(run) = self.known.of(&entry(shader)) else { return Ok(Change::Unchanged) };
        let wrong = Error::shader(shader.hash);
        let ran = |function: u32, label: u32| run.contains(&(function, label));
        let kept = match shader.stage {
            Stage::Fragment if !self.ignore_helpers => quads::seen(shader, &ran).map_err(&wrong)?,
            _ => Default::default(),
        };
        let gone =
            cut::cut(shader, &|f, label| ran(f, label) || kept.contains(&(f, label))).map_err(&wrong)?;
        let (hash, name) = (shader.hash, shader.entry.name.clone());
        if !kept.is_empty() {
            shader.note(format!(
                "prune: shader {hash}, {name}: {} blocks that were never executed stay, as helper invocations may come by and be \
                 seen by derivatives behind them",
                kept.len()
            ));
        }
        if gone.blocks == 0 {
            return Ok(Change::Unchanged);
        }
        shader.note(format!(
            "prune: shader {hash}, {name}: {} of {} blocks were never executed",
            gone.blocks, gone.of
        ));
        hold(shader, &self.precise);
        // (an entry without counters has nothing that could be read)
        shader.reserve_counters(1).map_err(&wrong)?;
        Ok(Change::Changed)
    }

    fn decode(&self, _: &FrameData<'_>, _: &mut dyn Sink) -> Result<()> {
        Ok(())
    }
}
