//! How long the driver takes for calls that record commands and manage descriptors, by command and frame, by the replay's own clock.
//!
//! The clock is read directly before the driver is called and directly after; nothing is written down in between. Guarantees: what reading it takes is measured
//! at the end of each frame, on nothing (the median of `READINGS` pairs of readings), and stands beside the times in the table. Finding the driver's
//! function, a few nanoseconds, is in them, and so is what other hooks do directly around the driver: measured alone, there are none for these
//! commands. Refuses nothing; calls that are answered without the driver are not counted.
//! What a hook asks of the driver in the capture's place it may put on the same clock ([`CallClock::add`]).

use super::put::Put;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::schema::{CommandDef, command_named};
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook, index_of};
use replay::link::Linked;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};
use trace::Value;
use trace::tables::CALL_COSTS;
use world::Frame;

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

/// Whether a command manages descriptors, or binds them.
pub fn is_of_descriptors(name: &str) -> bool {
    is_timed(name) && name.contains("Descriptor")
}

fn timed() -> Vec<&'static str> {
    COMMANDS.iter().map(|c: &CommandDef| c.name).filter(|n| is_timed(n)).collect()
}

/// What calls of one command took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The command's index in the schema's table.
    pub command: usize,
    /// Calls.
    pub calls: u64,
    /// Nanoseconds.
    pub nanos: u64,
}

impl Cost {
    /// The command's name.
    pub fn name(&self) -> &'static str {
        COMMANDS[self.command].name
    }
}

#[derive(Debug)]
struct Sums {
    begin: Option<Instant>,
    /// By command: calls, and nanoseconds.
    all: Vec<(u64, u64)>,
    /// Commands that have some.
    met: Vec<usize>,
}

/// The clock; shared with whoever calls the driver on behalf of the capture.
#[derive(Clone, Debug)]
pub struct CallClock(Rc<RefCell<Sums>>);

impl Default for CallClock {
    fn default() -> Self {
        CallClock(Rc::new(RefCell::new(Sums { begin: None, all: vec![(0, 0); COMMANDS.len()], met: vec![] })))
    }
}

impl CallClock {
    fn start(&self) {
        self.0.borrow_mut().begin = Some(Instant::now());
    }

    fn stop(&self, command: usize, counts: bool) {
        let end = Instant::now();
        let begin = self.0.borrow_mut().begin.take();
        if let Some(begin) = begin.filter(|_| counts) {
            self.count(command, end.saturating_duration_since(begin));
        }
    }

    /// A call of ours that began then and has just ended.
    pub fn add(&self, command: &str, since: Instant) {
        let took = since.elapsed();
        if let Some(def) = command_named(command) {
            self.count(index_of(def), took);
        }
    }

    fn count(&self, command: usize, took: Duration) {
        let mut sums = self.0.borrow_mut();
        if sums.all[command].0 == 0 {
            sums.met.push(command);
        }
        let sum = &mut sums.all[command];
        sum.0 += 1;
        sum.1 += took.as_nanos() as u64;
    }

    /// What was counted since this was last asked, by command.
    pub fn take(&self) -> Vec<Cost> {
        let mut sums = self.0.borrow_mut();
        let mut met = std::mem::take(&mut sums.met);
        met.sort_unstable();
        let of = |command: usize, (calls, nanos)| Cost { command, calls, nanos };
        met.into_iter().map(|c| of(c, std::mem::take(&mut sums.all[c]))).collect()
    }
}

/// Which calls count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Those of measured frames, anew in each: what a replay warms up or puts back with is left out.
    Measured,
    /// All of the replay.
    All,
}

/// Told at the end of a frame.
type Told = Box<dyn FnMut(Frame, Vec<Cost>) -> Result<()>>;

/// See the module's header.
pub struct CallCostsHook {
    clock: CallClock,
    counted: Counted,
    told: Option<Told>,
}

impl CallCostsHook {
    /// One that hands records on.
    pub fn new(mut out: Put) -> Self {
        let told = move |frame: Frame, costs: Vec<Cost>| {
            // (of repetitions the first is written)
            if costs.is_empty() || frame.repeat > 0 {
                return Ok(());
            }
            let clock = reading();
            for c in costs {
                let row = [
                    Value::U64(frame.number),
                    Value::Text(c.name()),
                    Value::U64(c.calls),
                    Value::U64(c.nanos),
                    Value::U64((c.calls * clock).min(c.nanos)),
                ];
                out(&CALL_COSTS, &row)?;
            }
            Ok(())
        };
        Self::with(CallClock::default(), Counted::Measured, Some(Box::new(told)))
    }

    /// One with this clock, that says at the end of each frame what its calls took.
    pub fn with(clock: CallClock, counted: Counted, told: Option<Told>) -> Self {
        CallCostsHook { clock, counted, told }
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
        self.clock.start();
        Ok(())
    }

    fn invoked(&mut self, cx: &mut Executor, call: &Call, _: &mut Linked, _: u64) -> Result<()> {
        self.clock.stop(call.index, cx.measuring || self.counted == Counted::All);
        Ok(())
    }

    fn frame_begins(&mut self, _: &mut Executor) -> Result<()> {
        if self.counted == Counted::Measured {
            self.clock.take();
        }
        Ok(())
    }

    fn frame(&mut self, cx: &mut Executor, frame: Frame) -> Result<()> {
        if self.counted == Counted::All {
            return Ok(());
        }
        let costs = self.clock.take();
        match &mut self.told {
            Some(told) if cx.measuring && !cx.warming => told(frame, costs),
            _ => Ok(()),
        }
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
    fn descriptors_are_told_from_what_else_is_recorded() {
        for name in
            ["vkUpdateDescriptorSetWithTemplateKHR", "vkCmdBindDescriptorSets2", "vkResetDescriptorPool"]
        {
            assert!(is_of_descriptors(name), "{name}");
        }
        assert!(!is_of_descriptors("vkCmdBindPipeline"));
        let clock = CallClock::default();
        let bind = index_of(command_named("vkCmdBindDescriptorSets").expect("it is there"));
        clock.start();
        clock.stop(bind, true);
        // Nothing was started, and what does not count.
        clock.stop(bind, true);
        clock.start();
        clock.stop(bind, false);
        clock.add("vkUpdateDescriptorSets", Instant::now());
        let costs: Vec<_> = clock.take().iter().map(|c| (c.name(), c.calls)).collect();
        assert_eq!(costs.len(), 2);
        assert!(
            costs.contains(&("vkCmdBindDescriptorSets", 1)) && costs.contains(&("vkUpdateDescriptorSets", 1))
        );
        assert!(clock.take().is_empty());
    }

    #[test]
    fn a_reading_takes_some_time_and_not_much() {
        let nanos = reading();
        assert!(nanos < 100_000, "{nanos} ns");
    }
}
