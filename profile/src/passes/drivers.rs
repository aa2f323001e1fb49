//! What drivers and clocks measure by themselves: passes that leave every shader as it is, so that a plan can name them. Hooks of the
//! same names do the work.

use crate::pass::{Change, FrameData, Pass, Result, Sink};
use crate::rewrite::Shader;
use crate::{Needs, Stage};

/// What pipelines were compiled to: `hooks::executables`.
pub const REGISTERS: &str = "registers";
/// Counters by VK_ARM_shader_instrumentation, in place of the pass of the same name: `hooks::arm`.
pub const COUNTERS: &str = "counters";
/// What calls that record commands and manage descriptors cost the CPU: `hooks::call_costs`.
pub const CALL_COSTS: &str = "call-costs";

/// A pass of this name that rewrites nothing.
pub struct Driver(pub &'static str);

impl Pass for Driver {
    fn name(&self) -> &'static str {
        self.0
    }

    fn key(&self) -> String {
        format!("{} by the driver", self.0)
    }

    fn needs(&self, _: Stage) -> Option<Needs> {
        None
    }

    fn run(&self, _: &mut Shader) -> Result<Change> {
        Ok(Change::Unchanged)
    }

    fn decode(&self, _: &FrameData<'_>, _: &mut dyn Sink) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_stage_is_touched() {
        let registers = crate::passes::by_name(REGISTERS).expect("it is in the list");
        assert_eq!((registers.name(), registers.needs(Stage::Compute)), (REGISTERS, None));
        assert_eq!(registers.key(), "registers by the driver");
        assert!(crate::passes::by_name("registers:x").is_err());
    }
}
