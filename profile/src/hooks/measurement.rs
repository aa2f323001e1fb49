//! Clocks where a range of frames begins and where it ends: frames a second as gfxrecon-replay measures them.
//!
//! The range begins when the frame before it has ended (or, if there is none, when the hook is made) and ends when its last
//! frame has; the end is clamped to the frame after the last. A frame lasts from the end of the one before it to its own
//! end. Clocks are read on the thread that replays; unless it is asked for, nothing waits for the GPU.

use replay::error::Result;
use replay::exec::Executor;
use replay::hook::Hook;
use std::cell::RefCell;
use std::rc::Rc;
use world::Frame;

/// Nanoseconds on three clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// That never goes back.
    pub monotonic: u64,
    /// The same, with the time that the machine slept.
    pub boot: u64,
    /// Processor time of this process.
    pub process: u64,
}

impl Clocks {
    /// Now.
    #[cfg(unix)]
    pub fn now() -> Self {
        use rustix::time::{ClockId, clock_gettime};
        let read = |id| {
            let t = clock_gettime(id);
            t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
        };
        Clocks {
            monotonic: read(ClockId::Monotonic),
            boot: read(ClockId::Boottime),
            process: read(ClockId::ProcessCPUTime),
        }
    }

    /// Now. (Windows' performance counter goes on while the machine sleeps.)
    #[cfg(windows)]
    pub fn now() -> Self {
        static FIRST: std::sync::LazyLock<std::time::Instant> =
            std::sync::LazyLock::new(std::time::Instant::now);
        let monotonic = FIRST.elapsed().as_nanos() as u64;
        let process = cpu_time::ProcessTime::now().as_duration().as_nanos() as u64;
        Clocks { monotonic, boot: monotonic, process }
    }
}

/// What was measured; shared with whoever made the hook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measurement {
    /// Where it began, once it has.
    pub began: Option<Clocks>,
    /// Where the last frame of the range ended so far.
    pub ended: Option<Clocks>,
    /// The first frame of the range that ran.
    pub start_frame: u64,
    /// The frame after the last that ran.
    pub end_frame: u64,
    /// Nanoseconds of each of these frames.
    pub frames: Vec<u64>,
}

impl Measurement {
    /// Frames, seconds, frames a second; nothing if no frame of the range ran.
    pub fn speed(&self) -> Option<(u64, f64, f64)> {
        let seconds = (self.ended?.monotonic - self.began?.monotonic) as f64 / 1e9;
        let frames = self.end_frame - self.start_frame;
        Some((frames, seconds, if seconds > 0.0 { frames as f64 / seconds } else { 0.0 }))
    }
}

/// See the module's header.
pub struct MeasurementHook {
    range: (u64, u64),
    /// Wait for the GPU where the range begins and where it ends.
    flush: bool,
    /// Where the frame began that runs now.
    from: Clocks,
    out: Rc<RefCell<Measurement>>,
}

impl MeasurementHook {
    /// The hook for frames from `first` to before `end`, and where its results will be. `flush`: wait for the GPU where
    /// the range begins and where it ends.
    pub fn new((first, end): (u64, u64), flush: bool) -> (Self, Rc<RefCell<Measurement>>) {
        let out = Rc::new(RefCell::new(Measurement::default()));
        (MeasurementHook { range: (first, end), flush, from: Clocks::now(), out: out.clone() }, out)
    }

    fn ended(&mut self, frame: Frame, now: Clocks) {
        let (first, end) = self.range;
        let mut out = self.out.borrow_mut();
        if (first..end).contains(&frame.number) {
            if out.began.is_none() {
                // There was no frame before.
                out.began = Some(self.from);
                out.start_frame = frame.number;
            }
            out.ended = Some(now);
            out.end_frame = frame.number + 1;
            out.frames.push(now.monotonic - self.from.monotonic);
        }
        if out.began.is_none() && (first..end).contains(&frame.next) {
            out.began = Some(now);
            out.start_frame = frame.next;
        }
        self.from = now;
    }
}

impl Hook for MeasurementHook {
    fn name(&self) -> &'static str {
        "measurement"
    }

    fn frame(&mut self, cx: &mut Executor, frame: Frame) -> Result<()> {
        let (first, end) = self.range;
        if self.flush
            && (frame.next == first || frame.next == end)
            && let Some(vk) = cx.backend.vulkan()
        {
            vk.devices().try_for_each(|(_, d)| d.wait_idle())?;
        }
        self.ended(frame, Clocks::now());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(n: u64) -> Clocks {
        Clocks { monotonic: n * 1_000_000_000, boot: n, process: n }
    }

    fn frame(number: u64) -> Frame {
        Frame { number, next: number + 1, repeat: 0 }
    }

    #[test]
    fn the_end_is_not_in_the_range() {
        let (mut hook, out) = MeasurementHook::new((2, 4), false);
        (1..=6).for_each(|n| hook.ended(frame(n), at(10 * n)));
        let m = out.borrow().clone();
        assert_eq!((m.start_frame, m.end_frame, m.began, m.ended), (2, 4, Some(at(10)), Some(at(30))));
        assert_eq!(m.speed(), Some((2, 20.0, 0.1)));
        assert_eq!(m.frames, [10_000_000_000; 2]);
    }

    #[test]
    fn an_end_behind_the_last_frame_is_clamped() {
        let (mut hook, out) = MeasurementHook::new((2, 100), false);
        (1..=3).for_each(|n| hook.ended(frame(n), at(n)));
        assert_eq!(out.borrow().speed(), Some((2, 2.0, 1.0)));
        assert_eq!(out.borrow().end_frame, 4);
    }

    #[test]
    fn a_range_that_begins_with_the_capture_begins_with_the_hook() {
        let (mut hook, out) = MeasurementHook::new((1, 2), false);
        hook.from = at(5);
        hook.ended(frame(1), at(7));
        assert_eq!((out.borrow().began, out.borrow().speed()), (Some(at(5)), Some((1, 2.0, 0.5))));
    }

    #[test]
    fn a_range_without_frames_has_no_speed() {
        let (mut hook, out) = MeasurementHook::new((7, 9), false);
        (1..=3).for_each(|n| hook.ended(frame(n), at(n)));
        assert_eq!(out.borrow().speed(), None);
    }

    #[test]
    fn clocks_go_on() {
        let (a, b) = (Clocks::now(), Clocks::now());
        assert!(a.monotonic > 0 && b.monotonic >= a.monotonic && b.boot >= a.boot && b.process >= a.process);
    }
}
