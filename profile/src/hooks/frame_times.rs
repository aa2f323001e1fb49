//! Frame times: GPU time by timestamps around each submission, CPU time of the replay, by frame.
//!
//! The innermost hook: it changes a submission's arguments directly before the driver is called, adding a command
//! buffer in front of the first and one behind the last. Submissions whose command buffers are counted elsewhere too
//! (device groups, protected work) stay as they are and are not timed; so do queues without timestamps.

use super::timestamps::{Pair, Timer};
use gfxr_parse::ahead::Call;
use gfxr_parse::argument;
use replay::ash::vk;
use replay::error::{Error, Result};
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Next};
use replay::link::{Linked, Plain};
use replay::report::InFlight;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use trace::{FrameTime, Nanos};
use world::Frame;
use world::Outcome;

/// Results beyond which reading them is not put off any longer. Asking for results may block until the GPU is done (a
/// software driver holds a lock while it works); that wait would be missing from the frame that the application itself
/// waits in, so it is asked seldom.
const MOST_WAITING: usize = 512;

/// How long to ask a device that hangs for results it has.
const RESULTS_WAIT: Duration = Duration::from_millis(500);

/// Where the batches of a linked submission are, and how many (vkQueueSubmit2 has the same parameters).
pub(super) const BATCHES: usize = argument!("vkQueueSubmit", "pSubmits");
/// See [`BATCHES`].
pub(super) const COUNT: usize = argument!("vkQueueSubmit", "submitCount");

/// What the hook found; shared with whoever made it.
#[derive(Clone, Debug, Default)]
pub struct FrameTimes {
    /// One record a frame, in order.
    pub frames: Vec<FrameTime>,
    /// How many submissions of each of them were enclosed.
    pub pairs: Vec<u64>,
    /// Submissions that were enclosed, and those that could not be.
    pub timed: u64,
    /// See `timed`.
    pub untimed: u64,
    /// Wall time of submitting nothing and waiting for it, without and with timestamps.
    pub cost: Option<(Nanos, Nanos)>,
    /// GPU time of the timestamps around one submission, in nanoseconds, measured alone.
    pub pair_gpu_ns: Option<f64>,
    /// Of a looped frame how it ran first, before it ran again.
    pub first_run: Option<FrameTime>,
}

/// See the module's header.
pub struct FrameTimesHook {
    out: Rc<RefCell<FrameTimes>>,
    /// By captured queue id; none where a queue cannot be timed.
    timers: HashMap<u64, (u64, Option<Timer>)>,
    /// Arrays that a changed submission points to, until it has been made.
    /// Frame record that submissions now belong to.
    current: usize,
    /// The record of a warm-up iteration, which is dropped.
    warm_up: Option<usize>,
    /// Submissions timed and not timed before it.
    counted: (u64, u64),
    /// Submissions timed up to the end of the last frame.
    paired: u64,
    gpu: bool,
}

impl FrameTimesHook {
    /// The hook, and where its results will be. Without `gpu` submissions stay as they are.
    pub fn new(gpu: bool) -> (Self, Rc<RefCell<FrameTimes>>) {
        let out = Rc::new(RefCell::new(FrameTimes::default()));
        (
            FrameTimesHook {
                out: out.clone(),
                timers: HashMap::new(),
                current: 0,
                warm_up: None,
                counted: (0, 0),
                paired: 0,
                gpu,
            },
            out,
        )
    }

    /// A pair for the next submission to this queue.
    fn pair(&mut self, cx: &mut Executor, queue: u64) -> Result<Option<Pair>> {
        let Some(vk) = cx.backend.vulkan() else { return Ok(None) };
        let Some(q) = vk.queue(queue).copied() else { return Ok(None) };
        if !self.timers.contains_key(&queue) {
            let mut timer = Timer::new(vk.device(q.device)?, &q)?;
            if let Some(t) = &mut timer
                && self.out.borrow().cost.is_none()
            {
                let cost = t.calibrate(q.live)?;
                let mut out = self.out.borrow_mut();
                out.cost = Some((Nanos(cost.wall_ns[0]), Nanos(cost.wall_ns[1])));
                out.pair_gpu_ns = Some(cost.gpu_ns);
            }
            self.timers.insert(queue, (q.device, timer));
        }
        let Some((_, Some(timer))) = self.timers.get_mut(&queue) else { return Ok(None) };
        timer.take(self.current).map(Some)
    }

    fn collect(&mut self, device: Option<u64>, wait: bool) -> Result<()> {
        for (d, timer) in self.timers.values_mut() {
            if let Some(t) = timer
                && device.is_none_or(|only| only == *d)
            {
                t.collect(wait, |s| add(&self.out, s.tag, s.nanos))?;
            }
        }
        Ok(())
    }
}

fn add(out: &RefCell<FrameTimes>, frame: usize, nanos: u64) {
    let mut out = out.borrow_mut();
    if out.frames.len() <= frame {
        // Its frame has not ended yet; the record is filled in then.
        out.frames.resize(frame + 1, FrameTime { frame: u64::MAX, gpu: None, cpu: Nanos(0) });
    }
    let gpu = &mut out.frames[frame].gpu;
    *gpu = Some(Nanos(gpu.map_or(0, |n| n.0) + nanos));
}

/// `begin` + an array of a linked call + `end`, kept there: how many, and where.
fn enclose<T: Plain>(
    linked: &mut Linked,
    (array, n): (*const T, u32),
    begin: Option<T>,
    end: Option<T>,
) -> Option<(u32, *const T)> {
    let inner = linked.all(array, n)?;
    let all: Vec<T> = begin.into_iter().chain(inner.iter().copied()).chain(end).collect();
    Some((all.len() as u32, linked.keep(&all)))
}

/// Structs in a linked chain whose own arrays must match the command buffers'.
pub(super) fn counted_elsewhere(linked: &Linked, chain: *const std::ffi::c_void) -> bool {
    use vk::StructureType as S;
    linked.chain(chain).any(|s| matches!(s.1, S::DEVICE_GROUP_SUBMIT_INFO | S::PROTECTED_SUBMIT_INFO))
}

impl FrameTimesHook {
    /// vkQueueSubmit; none if it is to stay as it is.
    fn submit1(linked: &mut Linked, pair: Pair) -> Option<()> {
        let mut infos = linked.params::<vk::SubmitInfo<'static>>(BATCHES, COUNT)?.to_vec();
        let (first, last) = ends(infos.iter().map(|i| i.command_buffer_count));
        for (i, info) in infos.iter_mut().enumerate().filter(|(i, _)| *i == first || *i == last) {
            let (begin, end) = ((i == first).then_some(pair.begin), (i == last).then_some(pair.end));
            let array = (info.p_command_buffers, info.command_buffer_count);
            (info.command_buffer_count, info.p_command_buffers) = enclose(linked, array, begin, end)?;
        }
        linked.params_mut(BATCHES, COUNT)?.copy_from_slice(&infos);
        Some(())
    }

    /// vkQueueSubmit2, likewise.
    fn submit2(linked: &mut Linked, pair: Pair) -> Option<()> {
        let mut infos = linked.params::<vk::SubmitInfo2<'static>>(BATCHES, COUNT)?.to_vec();
        let (first, last) = ends(infos.iter().map(|i| i.command_buffer_info_count));
        let wrap = |c| vk::CommandBufferSubmitInfo::default().command_buffer(c);
        for (i, info) in infos.iter_mut().enumerate().filter(|(i, _)| *i == first || *i == last) {
            let (begin, end) = ((i == first).then(|| wrap(pair.begin)), (i == last).then(|| wrap(pair.end)));
            let array = (info.p_command_buffer_infos, info.command_buffer_info_count);
            (info.command_buffer_info_count, info.p_command_buffer_infos) =
                enclose(linked, array, begin, end)?;
        }
        linked.params_mut(BATCHES, COUNT)?.copy_from_slice(&infos);
        Some(())
    }
}

/// The first and the last batch that holds any command buffer.
fn ends(counts: impl Iterator<Item = u32>) -> (usize, usize) {
    let full: Vec<usize> = counts.enumerate().filter(|c| c.1 > 0).map(|c| c.0).collect();
    (full.first().copied().unwrap_or(usize::MAX), full.last().copied().unwrap_or(usize::MAX))
}

impl Hook for FrameTimesHook {
    fn name(&self) -> &'static str {
        "frame-times"
    }

    fn wants(&self) -> Commands {
        Commands::named(&["vkDestroyDevice"])
    }

    fn wants_linked(&self) -> Commands {
        if !self.gpu {
            return Commands::none();
        }
        Commands::named(&["vkQueueSubmit", "vkQueueSubmit2", "vkQueueSubmit2KHR"])
    }

    /// Our objects go before their device does.
    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        let device = call.image.u64(0);
        if let Some(vk) = cx.backend.vulkan()
            && let Ok(d) = vk.device(device)
        {
            d.wait_idle()?;
            self.collect(Some(device), true)?;
            let gone: Vec<u64> = self.timers.iter().filter(|t| t.1.0 == device).map(|t| *t.0).collect();
            for q in gone {
                if let Some((_, Some(t))) = self.timers.remove(&q) {
                    t.destroy();
                }
            }
        }
        next.run(cx, call)
    }

    fn linked(&mut self, cx: &mut Executor, call: &Call, linked: &mut Linked) -> Result<()> {
        if !cx.measuring {
            return Ok(());
        }
        let first = call.command.name == "vkQueueSubmit";
        let usable = if first {
            let infos = linked.params::<vk::SubmitInfo<'_>>(BATCHES, COUNT).unwrap_or_default();
            infos.iter().any(|i| i.command_buffer_count > 0)
                && !infos.iter().any(|i| counted_elsewhere(linked, i.p_next))
        } else {
            let infos = linked.params::<vk::SubmitInfo2<'_>>(BATCHES, COUNT).unwrap_or_default();
            infos.iter().any(|i| i.command_buffer_info_count > 0)
                && !infos.iter().any(|i| i.flags.contains(vk::SubmitFlags::PROTECTED))
        };
        if !usable {
            return Ok(());
        }
        let Some(pair) = self.pair(cx, call.image.u64(0))? else {
            self.out.borrow_mut().untimed += 1;
            return Ok(());
        };
        self.out.borrow_mut().timed += 1;
        let done = if first { Self::submit1(linked, pair) } else { Self::submit2(linked, pair) };
        done.ok_or_else(|| Error::divergence("pCommandBuffers holds fewer than its count says"))
    }

    /// Everything is idle: all results are read, so that the iteration needs no queries beyond those of the one before.
    fn frame_begins(&mut self, _: &mut Executor) -> Result<()> {
        self.collect(None, true)?;
        if let Some(first) = self.warm_up.take() {
            let mut out = self.out.borrow_mut();
            out.first_run = out.first_run.or(out.frames.get(first).copied());
            out.frames.truncate(first);
            out.pairs.truncate(first);
            (out.timed, out.untimed) = self.counted;
            self.paired = out.timed;
            self.current = first;
        }
        let out = self.out.borrow();
        self.counted = (out.timed, out.untimed);
        drop(out);
        Ok(())
    }

    fn frame(&mut self, cx: &mut Executor, frame: Frame) -> Result<()> {
        let cpu = cx.frame_started.map_or(0, |t: Instant| t.elapsed().as_nanos() as u64);
        if self.timers.values().any(|(_, t)| t.as_ref().is_some_and(|t| t.waiting() > MOST_WAITING)) {
            self.collect(None, false)?;
        }
        if !cx.measuring {
            return Ok(());
        }
        {
            let mut out = self.out.borrow_mut();
            let here = self.current;
            if out.frames.len() <= here {
                out.frames.resize(here + 1, FrameTime { frame: u64::MAX, gpu: None, cpu: Nanos(0) });
            }
            out.frames[here].frame = frame.number;
            out.frames[here].cpu = Nanos(cpu);
            let pairs = out.timed - std::mem::replace(&mut self.paired, out.timed);
            out.pairs.truncate(here);
            out.pairs.push(pairs);
        }
        self.warm_up = cx.warming.then_some(self.current);
        self.current += 1;
        Ok(())
    }

    /// Results that are there already; asking may itself block, and then the records stay without GPU times.
    fn stopped(&mut self, _: &mut Executor, _: &Error) -> Vec<InFlight> {
        let mut timers = std::mem::take(&mut self.timers);
        let (send, spans) = mpsc::channel();
        std::thread::spawn(move || {
            for timer in timers.values_mut().filter_map(|(_, t)| t.as_mut()) {
                // A lost device has no results.
                let _ = timer.collect(false, |s| {
                    let _ = send.send((s.tag, s.nanos));
                });
            }
            drop(send);
            // Nothing may be destroyed that the device still uses.
            std::mem::forget(timers);
        });
        while let Ok((frame, nanos)) = spans.recv_timeout(RESULTS_WAIT) {
            add(&self.out, frame, nanos);
        }
        self.out.borrow_mut().frames.truncate(self.current);
        Vec::new()
    }

    fn finish(&mut self, _: &mut Executor) -> Result<()> {
        // Devices are idle: whatever was submitted has its results.
        self.collect(None, true)?;
        for (_, (_, timer)) in self.timers.drain() {
            if let Some(t) = timer {
                t.destroy();
            }
        }
        // Submissions after the last frame's end belong to no frame.
        let current = self.current;
        self.out.borrow_mut().frames.truncate(current);
        Ok(())
    }
}
