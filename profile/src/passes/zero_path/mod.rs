//! Pass `zero-path`: what is computed of a loaded value that is mostly zero is computed twice, and one of the two ways is taken:
//! a short one for zero, in which products vanish and what only they needed is not computed, and the application's own.
//!
//! `zero-path:TRACE` takes the counts of pass `values` in that trace; `frames=A-B` those of these frames; `share=90` says how
//! many per cent of the executions have to be zero, `least=3` how many instructions the short way has to save. A load is
//! guarded where it stands: within its basic block, up to the first instruction with an effect that depends on it. Variables of
//! the invocation's own are seen through within the block, and what is stored to them of it is stored behind both ways. What only
//! products need goes into the application's way, from before the load as well: calls of functions too, where these do nothing
//! but give a value. Of vectors all components that are mostly zero are asked for together.
//!
//! Guarantees: a value that is not zero in all its bits goes the application's way; nothing with an effect, no derivative and
//! no operation of a subgroup moves into either way. With zero, a product is zero whatever its other factor, infinities and
//! what is no number included, and adding zero changes nothing, the sign of zero included. It measures nothing: whether frames
//! show the same is for the replay to compare, and `precise=yes` is there for compilers that round otherwise in other code.

mod fold;
mod guard;
mod known;
mod locals;
mod quiet;
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
    least: usize,
    precise: Vec<String>,
}

impl Pass {
    /// With the traces of the command line.
    pub fn new(options: &[String]) -> std::result::Result<Self, String> {
        let given = Given::read("zero-path", options, &["share", "least"])?;
        let (mut share, mut least) = (90, 3);
        for (name, value) in &given.own {
            let number =
                value.parse::<u64>().map_err(|_| format!("pass zero-path: {name}={value} is no number"))?;
            match &name[..] {
                "share" if (1..=100).contains(&number) => share = number,
                "least" if number > 0 => least = number as usize,
                _ => {
                    return Err(format!(
                        "pass zero-path: {name}={value}: a share is 1 to 100, the least 1 or more"
                    ));
                }
            }
        }
        let mut counts = known::Counts::default();
        for trace in &given.traces {
            counts.add(trace, &|f| given.wants(f)).map_err(|e| format!("pass zero-path: {e}"))?;
        }
        if !given.traces.is_empty() && counts.is_empty() && !given.recorded("values") {
            return Err(format!(
                "pass zero-path: {} has no values for these frames; record them with `profile --passes values`",
                given.folders.join(" and ")
            ));
        }
        Ok(Pass { known: counts.mostly_zero(share), least, precise: given.precise })
    }
}

impl crate::Pass for Pass {
    fn name(&self) -> &'static str {
        "zero-path"
    }

    fn key(&self) -> String {
        format!("zero-path 3 {} {:?} {}", self.least, self.precise, self.known.digest())
    }

    fn needs(&self, _: Stage) -> Option<Needs> {
        (!self.known.is_empty()).then(Needs::default)
    }

    fn is_last(&self) -> bool {
        true
    }

    fn run(&self, shader: &mut Shader) -> Result<Change> {
        let Some(loads) = self.known.of(&entry(shader)) else { return Ok(Change::Unchanged) };
        let about = guard::About::of(shader);
        let (mut guarded, mut saved) = (0, 0);
        for (word_offset, components) in loads {
            if let Some(n) = guard::guard(shader, &about, *word_offset, components, self.least) {
                guarded += 1;
                saved += n;
            }
        }
        if guarded == 0 {
            return Ok(Change::Unchanged);
        }
        let (hash, name) = (shader.hash, shader.entry.name.clone());
        shader.note(format!(
            "zero-path: shader {hash}, {name}: {guarded} of {} loads that are mostly zero have a way that is {saved} \
             instructions shorter",
            loads.len()
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
