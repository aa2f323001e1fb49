//! What the replay does on the CPU meanwhile, and how the two clocks belong together.
//!
//! Guarantees: the device's clock is read beside the CPU's when the device is first seen, at frames' ends every so often,
//! and before the device goes, so that what lies between is found by interpolation, whatever the clocks' drift. Where the
//! device has no calibrated timestamps that is said, and the clocks stay apart.

use super::found::CommandTimes;
use super::state::CommandTimesHook;
use gfxr_parse::ahead::Call;
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Next};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};
use trace::{Calibration, CpuSpan, Nanos};
use world::Frame;
use world::Outcome;

/// Calls that submit, wait or present.
pub const WAITS: &[&str] = &[
    "vkQueueSubmit",
    "vkQueueSubmit2",
    "vkQueueSubmit2KHR",
    "vkQueueWaitIdle",
    "vkDeviceWaitIdle",
    "vkWaitForFences",
    "vkWaitSemaphores",
    "vkWaitSemaphoresKHR",
    "vkGetQueryPoolResults",
    "vkAcquireNextImageKHR",
    "vkAcquireNextImage2KHR",
    "vkQueuePresentKHR",
];

/// The extensions by which both clocks are read at once.
pub const EXTENSIONS: [&str; 2] = ["VK_KHR_calibrated_timestamps", "VK_EXT_calibrated_timestamps"];

/// How often the clocks are compared.
const EVERY: Duration = Duration::from_millis(200);

/// Where the CPU's clock begins; the same in every repetition.
pub(super) fn since(origin: Instant, at: Instant) -> Nanos {
    Nanos::from(at.saturating_duration_since(origin))
}

/// Times the calls of the replay that submit, wait or present, and its frames.
pub struct CpuSpansHook {
    out: Rc<RefCell<CommandTimes>>,
    origin: Instant,
    /// In the running frame.
    inside: Vec<CpuSpan>,
}

impl CpuSpansHook {
    pub(super) fn new(out: Rc<RefCell<CommandTimes>>, origin: Instant) -> Self {
        CpuSpansHook { out, origin, inside: Vec::new() }
    }
}

impl Hook for CpuSpansHook {
    fn name(&self) -> &'static str {
        "cpu-spans"
    }

    fn wants(&self) -> Commands {
        Commands::named(WAITS)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let (begin, before) = (Instant::now(), self.out.borrow().submits);
        let outcome = next.run(cx, call)?;
        if cx.measuring {
            self.inside.push(CpuSpan {
                frame: call.frame,
                repeat: 0,
                name: call.command.name.to_owned(),
                submit: (self.out.borrow().submits > before).then_some(before),
                begin: since(self.origin, begin),
                end: since(self.origin, Instant::now()),
            });
        }
        Ok(outcome)
    }

    /// The frame itself, then what lies within it.
    fn frame(&mut self, cx: &mut Executor, frame: Frame) -> Result<()> {
        let mut inside = std::mem::take(&mut self.inside);
        if !cx.measuring {
            return Ok(());
        }
        let end = Instant::now();
        let whole = CpuSpan {
            frame: frame.number,
            repeat: frame.repeat,
            name: "frame".to_owned(),
            submit: None,
            begin: since(self.origin, cx.frame_started.unwrap_or(end)),
            end: since(self.origin, end),
        };
        inside.iter_mut().for_each(|s| s.repeat = frame.repeat);
        let mut out = self.out.borrow_mut();
        out.cpu.push(whole);
        out.cpu.extend(inside);
        Ok(())
    }
}

impl CommandTimesHook {
    /// The hook that adds what the replay does on the CPU; it stands outside of this one.
    pub fn on_the_cpu(&self) -> CpuSpansHook {
        CpuSpansHook::new(self.out.clone(), self.origin)
    }

    /// Reads both clocks of a device; only if it is time to, unless `now`.
    pub(super) fn calibrate(&mut self, device: u64, now: bool) {
        let Some(d) = self.devices.get_mut(&device) else { return };
        if !now && d.calibrated.is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        let Some(reading) = d.clocks.as_ref().and_then(|c| c.read()) else { return };
        d.calibrated = Some(reading.at);
        let gpu = self.start + d.clock.nanos(reading.ticks, d.bits, d.period);
        let cpu = since(self.origin, reading.at);
        let deviation = Nanos::from(reading.deviation);
        self.out.borrow_mut().calibrations.push(Calibration { device, gpu, cpu, deviation });
    }
}
