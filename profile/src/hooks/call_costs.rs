//! How long the driver takes for calls that record commands and manage descriptors, by command and frame, by the replay's own clock.
//!
//! The clock is read directly before the driver is called and directly after; nothing is written down in between. Guarantees: what reading it takes is measured
//! at the end of each frame, on nothing (the median of `READINGS` pairs of readings), and stands beside the times. Finding the driver's
//! function, a few nanoseconds, is in them, and so is what other hooks do directly around the driver: measured alone, there are none for these
//! commands. Refuses nothing; calls that are answered without the driver are not counted.

use super::executables::Put;
use gfxr_parse::schema::CommandDef;
use gfxr_parse::schema::generated::COMMANDS;
use replay::error::Result;
use replay::exec::{Call, Executor};
use replay::hook::{Commands, Frame, Hook};
use replay::link::Linked;
use std::time::Instant;
use trace::Value;
use trace::tables::CALL_COSTS;

/// Pairs of readings of the clock, one directly behind the other.
const READINGS: usize = 257;

/// Whether a command records, manages command buffers or descriptors, or submits.
pub fn is_timed(name: &str) -> bool {
    let words = [
        "Descriptor",
        "CommandBuffer",
        "CommandPool",
        "CreatePipelineLayout",
        "DestroyPipelineLayout",
        "QueueSubmit",
    ];
    name.starts_with("vkCmd") || words.iter().any(|w| name.contains(w))
}

fn timed() -> Vec<&'static str> {
    COMMANDS.iter().map(|c: &CommandDef| c.name).filter(|n| is_timed(n)).collect()
}

/// See the module's header.
pub struct CallCostsHook {
    out: Put,
    begin: Option<Instant>,
    /// By command: calls, and nanoseconds.
    sums: Vec<(u64, u64)>,
    /// Commands that have some.
    met: Vec<usize>,
}

impl CallCostsHook {
    /// One that hands records on.
    pub fn new(out: Put) -> Self {
        CallCostsHook { out, begin: None, sums: vec![(0, 0); COMMANDS.len()], met: vec![] }
    }
}

/// What it takes to read the clock twice.
fn reading() -> u64 {
    let mut all: Vec<u64> = (0..READINGS)
        .map(|_| {
            let begin = Instant::now();
            begin.elapsed().as_nanos() as u64
        })
        .collect();
    all.sort_unstable();
    all[READINGS / 2]
}

impl Hook for CallCostsHook {
    fn name(&self) -> &'static str {
        "call-costs"
    }

    fn wants_linked(&self) -> Commands {
        Commands::named(&timed())
    }

    fn linked(&mut self, _: &mut Executor, _: &Call, _: &mut Linked) -> Result<()> {
        self.begin = Some(Instant::now());
        Ok(())
    }

    fn invoked(&mut self, cx: &mut Executor, call: &Call, _: &mut Linked, _: u64) -> Result<()> {
        let end = Instant::now();
        let Some(begin) = self.begin.take().filter(|_| cx.measuring) else { return Ok(()) };
        let sum = &mut self.sums[call.index];
        if sum.0 == 0 {
            self.met.push(call.index);
        }
        sum.0 += 1;
        sum.1 += end.saturating_duration_since(begin).as_nanos() as u64;
        Ok(())
    }

    fn frame(&mut self, _: &mut Executor, frame: Frame) -> Result<()> {
        if self.met.is_empty() {
            return Ok(());
        }
        let clock = reading();
        self.met.sort_unstable();
        for index in self.met.drain(..) {
            let (calls, nanos) = std::mem::take(&mut self.sums[index]);
            let row = [
                Value::U64(frame.number),
                Value::Text(COMMANDS[index].name),
                Value::U64(calls),
                Value::U64(nanos),
                Value::U64((calls * clock).min(nanos)),
            ];
            // (of repetitions the first is written)
            if frame.repeat == 0 {
                (self.out)(&CALL_COSTS, &row)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_records_or_manages_descriptors_is_timed() {
        let all = timed();
        for name in [
            "vkCmdDraw",
            "vkCmdPushDescriptorSet2KHR",
            "vkUpdateDescriptorSetWithTemplate",
            "vkGetDescriptorEXT",
            "vkAllocateCommandBuffers",
            "vkBeginCommandBuffer",
            "vkResetCommandPool",
            "vkQueueSubmit2",
            "vkCreatePipelineLayout",
        ] {
            assert!(all.contains(&name), "{name}");
        }
        for name in ["vkMapMemory", "vkQueuePresentKHR", "vkCreateGraphicsPipelines", "vkWaitForFences"] {
            assert!(!all.contains(&name), "{name}");
        }
        let records: Vec<&str> = COMMANDS.iter().map(|c| c.name).filter(|n| n.starts_with("vkCmd")).collect();
        assert!(records.len() > 200 && records.iter().all(|n| all.contains(n)), "{}", records.len());
        assert!(all.len() > records.len());
    }

    #[test]
    fn a_reading_takes_some_time_and_not_much() {
        let nanos = reading();
        assert!(nanos < 100_000, "{nanos} ns");
    }
}
