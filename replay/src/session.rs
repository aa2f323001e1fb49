//! A session: one capture, once through, on one backend.
//!
//! Reads the prologue (what the capture says of its device), then feeds every block to the executor in order and tells
//! it where frames end. Guarantees: an error leaves the report of what happened until then. Refuses captures without a
//! single call.

use crate::backend::{Backend, Echo};
use crate::error::{Error, Kind, Result};
use crate::exec::Executor;
use crate::fault::Fault;
use crate::frames::{Framer, resolve};
use crate::hook::Hook;
use crate::looped::{Compared, Looped, Looping};
use crate::options::{AddressMode, FrameBy, MemoryMode, Options};
pub use crate::preflight::prologue::prologue;
use crate::preflight::{asked, scratch, sharing};
pub use crate::progress::Progress;
use crate::report::{InFlight, Report};
use crate::vulkan::portability::{self, Verdict};
use crate::vulkan::{Driver, Vulkan, fault};
use gfxr_parse::ahead::{self, What};
use gfxr_parse::apis::{self, api_of, apis};
use gfxr_parse::container::{Capture, Place};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use world::{Frame, MetaBlock};

/// Of what a driver says of faults, so much is in an error's text; the summary has all.
const SENTENCES: usize = 12;

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// A Vulkan driver.
    Vulkan,
    /// The capture itself.
    Echo,
}

/// What a session leaves behind.
#[derive(Debug)]
pub struct Summary {
    /// What happened.
    pub report: Report,
    /// Work that the device had not finished, if the replay stopped early.
    pub in_flight: Vec<InFlight>,
    /// What the driver said of the fault, if the device was lost and the driver says such things.
    pub faults: Vec<Fault>,
    /// The rule by which frames were counted.
    pub frame_by: FrameBy,
    /// Frames that ended, the first among them; the state that a trimmed capture begins with is none.
    pub frames: u64,
    /// The number of the first and of the last of them.
    pub numbers: Option<(u64, u64)>,
    /// The frame that loads: 0 for a trimmed capture's snapshot, else the first.
    pub load_frame: Option<u64>,
    /// The physical device's name, on Vulkan.
    pub gpu: Option<String>,
    /// The memory mode in force, on Vulkan.
    pub memory: Option<MemoryMode>,
    /// What was asked for and what was done.
    pub negotiation: Vec<portability::Line>,
    /// Addresses that were passed on without being known.
    pub unknown_addresses: u64,
    /// How addresses become those of this device, on Vulkan.
    pub addresses: Option<AddressMode>,
    /// What came of exact addresses.
    pub exact: crate::vulkan::ExactCounts,
    /// What was translated inside buffers.
    pub translated: crate::vulkan::Counters,
    /// How a looped frame went.
    pub looped: Option<Looped>,
}

/// A capture of Direct3D says so, instead of failing at its first call.
fn refuse_other_apis(capture: &Capture) -> Result<()> {
    let mut calls = capture.blocks().filter_map(|b| b.call_id()).peekable();
    if calls.peek().is_none() || calls.any(|id| api_of(id) == "Vulkan") {
        return Ok(());
    }
    let others = apis::others(&apis(capture)).unwrap_or_default();
    Err(Error::new(
        Kind::Capture,
        format!(
            "{} holds no call of Vulkan; {others}. Only Vulkan is replayed here: record the program where it runs on Vulkan \
             (Direct3D through vkd3d-proton or DXVK)",
            capture.name()
        ),
    ))
}

/// What replaying a capture here would take, without replaying it.
pub fn check(capture: &Capture, options: &Options) -> Result<Verdict> {
    portability::check(&asked::scan(capture), &prologue(capture).0, options, capture)
}

/// Replays a capture. Hooks stand around it, outermost first.
pub fn replay(
    capture: &Capture,
    options: &Options,
    on: On,
    hooks: Vec<Box<dyn Hook>>,
    repeat: u32,
    progress: &mut dyn Progress,
) -> Result<Summary> {
    match replay_as_far(capture, options, on, hooks, repeat, progress)? {
        (_, Some(e)) => Err(e),
        (summary, None) => Ok(summary),
    }
}

/// Replays a capture as far as it goes: a replay that stops after its first frame leaves a summary, and why it stopped.
pub fn replay_as_far(
    capture: &Capture,
    options: &Options,
    on: On,
    mut hooks: Vec<Box<dyn Hook>>,
    repeat: u32,
    progress: &mut dyn Progress,
) -> Result<(Summary, Option<Error>)> {
    refuse_other_apis(capture)?;
    let looping = options.looped.map(|spec| {
        let (looping, hook) = Looping::new(spec, capture.budget());
        hooks.push(hook);
        looping
    });
    let (prologue, boundary) = prologue(capture);
    let trimmed = prologue.trimmed;
    let mut needs = fault::needs();
    for h in &hooks {
        needs.add(h.needs());
    }
    let backend: Box<dyn Backend> = match on {
        On::Vulkan => Box::new(Driver::new(Vulkan::new(options.clone(), prologue, needs)?)),
        On::Echo => Box::new(Echo::default()),
    };
    let rule = resolve(&options.frame_by, capture, boundary)?;
    let whole = "the whole file is one frame, which cannot be looped: --frame-by submit, or label:NAME, ends frames within";
    let (looping, looped) = match looping {
        Some(l) if rule == FrameBy::File && l.or_once() => {
            let none = Looped::new(l.frame(), 0, Compared::Changed);
            (None, Some(Looped { refused: Some(whole.to_owned()), ..none }))
        }
        Some(_) if rule == FrameBy::File => return Err(Error::new(Kind::Capture, whole)),
        looping => (looping, None),
    };
    let mut run = Run {
        capture,
        checked: Checked::default(),
        cx: Executor::new(backend, hooks, options),
        framer: Framer::new(rule.clone()),
        window: options.frames,
        repeat,
        frame: if trimmed { 0 } else { 1 },
        frames: 0,
        restored: false,
        dirty: false,
        progress,
        looping,
        looped,
        ended: None,
    };
    if run.looping.is_some() {
        run.cx.objects.follow().keep_calls(true);
    }
    run.cx.measuring = run.in_window();
    let load_frame = match rule {
        FrameBy::File => None,
        _ if trimmed => Some(0),
        _ => Some(1),
    };
    let stopped = ahead::run(capture, |item| match run.item(item) {
        Ok(true) => ControlFlow::Continue(()),
        Ok(false) => ControlFlow::Break(None),
        Err(e) => ControlFlow::Break(Some(e)),
    });
    if let Some(Some(e)) = stopped {
        return run.stop(e, rule, load_frame);
    }
    // What follows the last boundary is a frame only if nothing ends frames here.
    if stopped.is_none()
        && run.dirty
        && (run.frames == 0 || matches!(rule, FrameBy::File | FrameBy::Label(_)))
    {
        run.end_frame()?;
    }
    if run.cx.report.calls == 0 {
        let why = run.cx.report.undecoded.first.first().map_or(String::new(), |e| format!(": {e}"));
        let text = format!("{} holds no call of the Vulkan API{why}", capture.name());
        return Err(Error::new(Kind::Capture, text));
    }
    if let Some(wrong) = run.framer.never_fired().filter(|_| stopped.is_none()) {
        return Err(Error::new(Kind::Capture, wrong));
    }
    if let Some(l) = run.looping.as_ref().filter(|l| !l.or_once()) {
        return Err(no_such_frame(l.frame(), run.ended, &rule));
    }
    match run.cx.finish() {
        Ok(()) => {
            let summary = run.summary(rule, load_frame);
            run.cx.give_back();
            Ok((summary, None))
        }
        Err(e) => run.stop(e, rule, load_frame),
    }
}

/// Whether the capture's wishes were compared with the device, and what they are once somebody asked.
#[derive(Default)]
struct Checked {
    done: bool,
    placed: bool,
    asked: Option<asked::Asked>,
}

/// Once there are devices to choose from: what this one lacks is refused, all of it, before one is made. On the driver that
/// a capture was taken on only what vkCreateDevice asks for is looked at, then.
fn compare(cx: &mut Executor, capture: &Capture, checked: &mut Checked) -> Result<()> {
    let Some(vk) = cx.backend.vulkan() else {
        checked.done = true;
        return Ok(());
    };
    if !checked.placed && (vk.may_rebind() || vk.is_foreign() == Some(true)) {
        vk.sharing = sharing::scan(capture);
        checked.placed = true;
    }
    checked.done = match vk.is_foreign() {
        None => false,
        Some(foreign) if foreign || vk.options().whole_table => {
            let asked = checked.asked.get_or_insert_with(|| asked::scan(capture));
            if asked.devices.iter().any(|d| d.extensions.iter().any(|e| e == "VK_KHR_acceleration_structure"))
            {
                vk.scratch = scratch::scan(capture);
            }
            portability::compare(vk, asked, capture)?
        }
        Some(_) => true,
    };
    Ok(())
}

fn no_such_frame(wanted: u64, frames: Option<(u64, u64)>, rule: &FrameBy) -> Error {
    let has = match frames {
        None => "the capture has no complete frame".to_owned(),
        Some((first, last)) => format!("the capture has frames {first} to {last}"),
    };
    Error::new(Kind::Capture, format!("--loop-frame {wanted}: {has} (--frame-by {rule})"))
}

struct Run<'p, 'a> {
    capture: &'p Capture,
    /// What the capture asks for was compared with the device.
    checked: Checked,
    cx: Executor,
    framer: Framer,
    window: Option<(u64, u64)>,
    repeat: u32,
    frame: u64,
    frames: u64,
    /// The state that a trimmed capture begins with is there.
    restored: bool,
    /// Something ran since the last frame ended.
    dirty: bool,
    progress: &'p mut dyn Progress,
    /// The loop that has not run yet.
    looping: Option<Looping<'a>>,
    looped: Option<Looped>,
    /// The first and the last frame that ended, the snapshot of a trimmed capture aside.
    ended: Option<(u64, u64)>,
}

impl<'a> Run<'_, 'a> {
    /// What there is to say at the end.
    fn summary(&mut self, frame_by: FrameBy, load_frame: Option<u64>) -> Summary {
        let (mut gpu, mut memory, mut negotiation, mut unknown_addresses) = (None, None, Vec::new(), 0);
        let (mut translated, mut exact, mut addresses) = (Default::default(), Default::default(), None);
        if let Some(vk) = self.cx.backend.vulkan() {
            gpu = vk.last_gpu.clone();
            memory = vk.memory_mode;
            negotiation = std::mem::take(&mut vk.negotiation);
            unknown_addresses = vk.unknown_addresses();
            translated = vk.translated();
            (exact, addresses) = (vk.exact.counts, vk.address_mode());
        }
        Summary {
            report: std::mem::take(&mut self.cx.report),
            in_flight: Vec::new(),
            faults: Vec::new(),
            frame_by,
            frames: self.frames,
            numbers: self.ended,
            // The iterations of the load frame itself are what a loop of it is about.
            load_frame: load_frame.filter(|_| self.looped.is_none()),
            gpu,
            memory,
            negotiation,
            unknown_addresses,
            addresses,
            exact,
            translated,
            looped: self.looped.take(),
        }
    }

    /// The replay stops early. Nothing waits for a device that hangs or is lost, and nothing of it is given back: that
    /// could wait, too.
    fn stop(
        mut self,
        mut e: Error,
        rule: FrameBy,
        load_frame: Option<u64>,
    ) -> Result<(Summary, Option<Error>)> {
        // What ended well until now is brought in, and may find the device gone.
        let finished = if e.is_gone() { Ok(()) } else { self.cx.finish() };
        let gone = e.is_gone() || finished.is_err_and(|e| e.is_gone());
        let (mut in_flight, mut faults) = (Vec::new(), Vec::new());
        if gone {
            in_flight = self.cx.stopped(&e);
            if let Some(first) = in_flight.first() {
                e = e.with(&format!("Not finished: {first}"));
            }
            if in_flight.len() > 1 {
                e = e.with(&format!("and {} more behind it", in_flight.len() - 1));
            }
            let told = in_flight.iter().filter_map(|f| Some((f.queue, f.checkpoints?)));
            for (queue, told) in told.collect::<BTreeMap<_, _>>() {
                e = e.with(&format!("Queue {queue}, by its checkpoints: {told}"));
            }
            if !in_flight.iter().any(|f| f.begun.is_some()) {
                e = e.with("--breadcrumbs says in which command of it (slower: each command runs alone)");
            }
            if let Some(vk) = self.cx.backend.vulkan() {
                faults = fault::ask(vk, self.cx.objects.world());
                e = faults.iter().flat_map(Fault::sentences).take(SENTENCES).fold(e, |e, s| e.with(&s));
                vk.abandoned = true;
                if vk.devices().any(|(_, d)| !d.runs_on_host()) {
                    e = e.with(
                        "The GPU may answer no program until it is reset or the machine is restarted; a capture that replayed \
                         before says whether it does",
                    );
                }
            }
        } else {
            // Messages explain failures.
            for m in self.cx.report.validation.iter().take(8) {
                tracing::warn!("validation: {m}");
            }
        }
        let left = self.frames > 0 || self.restored;
        let mut summary = self.summary(rule, load_frame);
        (summary.in_flight, summary.faults) = (in_flight, faults);
        if gone {
            std::mem::forget(self.cx);
        } else {
            self.cx.give_back();
        }
        if left { Ok((summary, Some(e))) } else { Err(e) }
    }

    fn in_window(&self) -> bool {
        let alone = self.looping.as_ref().is_some_and(|l| !l.or_once());
        !alone && self.window.is_none_or(|(a, b)| (a..=b).contains(&self.frame))
    }

    /// Runs one block; false: no later one is wanted.
    fn item(&mut self, item: &mut ahead::Item<'a>) -> Result<bool> {
        let place = item.place;
        let edge = self.framer.edge(place, if let What::Call(c) = &item.what { Some(c) } else { None });
        if edge.before {
            self.end_frame()?;
            if self.looped.as_ref().is_some_and(|l| l.frame == self.frame) {
                return Ok(false);
            }
            if self.window.is_some_and(|(_, last)| self.frame >= last) {
                return Ok(false);
            }
        }
        let number = if edge.after { self.framer.ended(place) } else { self.framer.number(place) };
        if number != self.frame {
            self.frame = number;
            self.cx.measuring = self.in_window();
        }
        if let Some(l) = self.looping.as_mut().filter(|l| l.frame() == number && !place.state) {
            match l.keep(item) {
                Err(e) if l.or_once() => self.give_up(&e)?,
                kept => {
                    kept?;
                    self.dirty = true;
                    if edge.after {
                        self.end_frame()?;
                    }
                    return Ok(!edge.after);
                }
            }
        }
        if let Some(l) = &mut self.looping {
            l.before(&mut item.what);
        }
        match &mut item.what {
            What::Call(call) => {
                if !self.checked.done {
                    compare(&mut self.cx, self.capture, &mut self.checked)?;
                }
                call.frame = self.frame;
                self.dirty = true;
                self.cx.run(call)?;
            }
            What::Meta(meta, data) => {
                let mut block = MetaBlock { meta: &meta.meta, data: data.bytes(), block: item.block };
                let cx = &mut self.cx;
                cx.meta(&mut block)?;
            }
            What::StateBegins => self.cx.state(true)?,
            What::StateEnds => {
                self.cx.state(false)?;
                self.ends(self.framer.number(Place { state: false, ..place }))?;
            }
            What::Nothing => {}
            What::Bad(e) | What::CutOff(e) => self.cx.undecoded(e)?,
        }
        if edge.after {
            self.end_frame()?;
            self.progress.at(item.offset, self.frame);
            if self.window.is_some_and(|(_, last)| self.frame >= last) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What was kept of the frame runs once, and the rest of it as it comes.
    #[cold]
    fn give_up(&mut self, why: &Error) -> Result<()> {
        let Some(l) = self.looping.take() else { return Ok(()) };
        let (capture, checked) = (self.capture, &mut self.checked);
        let mut before =
            |cx: &mut Executor| if checked.done { Ok(()) } else { compare(cx, capture, checked) };
        l.give_up(&mut self.cx, why, &mut self.looped, &mut before)
    }

    fn end_frame(&mut self) -> Result<()> {
        if let Some(l) = self.looping.take_if(|l| l.began()) {
            self.count();
            let (capture, checked) = (self.capture, &mut self.checked);
            let mut before =
                |cx: &mut Executor| if checked.done { Ok(()) } else { compare(cx, capture, checked) };
            return l.run(&mut self.cx, self.progress, &mut self.looped, &mut before);
        }
        // (a damaged marker may have numbered it the last there can be)
        self.ends(self.frame.saturating_add(1))
    }

    /// The frame ends, and this one comes.
    fn ends(&mut self, next: u64) -> Result<()> {
        self.cx.frame(Frame { number: self.frame, next, repeat: self.repeat })?;
        match self.frame {
            0 => self.restored = true,
            _ => self.count(),
        }
        self.dirty = false;
        Ok(())
    }

    /// One more frame has ended.
    fn count(&mut self) {
        self.frames += 1;
        self.ended = Some((self.ended.map_or(self.frame, |e| e.0), self.frame));
    }
}
