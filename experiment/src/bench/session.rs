//! Replays that loop one frame, each on a thread and a device object of its own, of which one runs at a time: who has the turn
//! runs an iteration, and waits.
//!
//! So turns that time frames alone and those with finer timestamps alternate in one process, and nothing of the one replay is in the
//! other: neither its pipelines nor its pipeline layouts, nor what it records. Guarantees:
//! while an iteration runs the others' work is done, and their threads sleep; a replay that fails ends the run with its error.
//! Where something fails, the threads that are left sleep until the program ends.

use crate::failure::{Exit, Failure};
use crate::files::input;
use crate::files::memory::Memory;
use crate::record::plan::{passes, timed};
use crate::replaying::{changes, failure};
use analyses::times::bench::Calls;
use gfxr_parse::container::Capture;
use profile::Pass;
use profile::hooks::busy::{Busy, BusyHook};
use profile::hooks::call_costs::{CallClock, CallCostsHook, Cost, Counted, is_of_descriptors};
use profile::hooks::command_times::{CommandTimes, CommandTimesHook, Level, Settings};
use profile::hooks::frame_times::{FrameTimes, FrameTimesHook};
use profile::hooks::instrument::{Done, InstrumentHook, Raw};
use profile::hooks::repartition::{self, RepartitionHook};
use replay::hook::Hook;
use replay::looped::Looped;
use replay::options::Options;
use replay::session::{On, Progress, replay};
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use trace::plan::{Passes, Use};
use trace::{FrameTime, Nanos};

/// Iterations before the first turn: the first of them creates what the frame creates.
pub const LOOP_WARMUP: u32 = 2;

/// What becomes of a replay's shaders.
#[derive(Clone, Debug)]
pub enum Shaders {
    /// They stay the application's own.
    Own,
    /// These passes rewrite them.
    Passes(Passes),
    /// They find their descriptors in other sets.
    Repartitioned(Arc<repartition::Plan>),
}

/// What a replay is to do.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The capture.
    pub capture: PathBuf,
    /// The memory that reading it may take.
    pub memory: Memory,
    /// How; the loop is in it.
    pub options: Options,
    /// Its shaders.
    pub shaders: Shaders,
    /// Changes to its calls.
    pub changes: Vec<Use>,
    /// Whether subgroup operations are taken for granted.
    pub assume_subgroups: bool,
    /// Whether passes, commands and the CPU's calls are timed as well.
    pub detailed: bool,
    /// How the device is kept busy before each iteration.
    pub busy: Busy,
}

/// What a replay came to.
pub struct Outcome {
    /// Its timed iterations, in order.
    pub times: FrameTimes,
    /// What calls cost in these, where that was wanted.
    pub calls: Vec<Calls>,
    /// How its frame went.
    pub looped: Looped,
    /// What is to be said.
    pub notes: Vec<String>,
    /// The device's name.
    pub gpu: String,
    /// Times of passes and commands, where these were wanted.
    pub detail: Option<CommandTimes>,
}

enum Event {
    /// An iteration is done, or all those before the first turn; and the time of the one before it, if there was one. (That of
    /// the last one may not have been read yet.)
    Waits(Option<FrameTime>),
    Ended(Box<Result<Outcome, Failure>>),
}

/// See the module's header.
pub struct Session {
    /// Whether another iteration is to run.
    go: Sender<bool>,
    events: Receiver<Event>,
}

impl Session {
    /// Starts it; returns when it waits for its first turn.
    pub fn start(wanted: Wanted) -> Result<Session, Failure> {
        let (go, turns) = channel();
        let (to, events) = channel();
        let session = Session { go, events };
        std::thread::spawn(move || {
            let mut baton = Baton { to: to.clone(), turns, times: Rc::default(), ended: false };
            let outcome = run(wanted, &mut baton);
            // (nobody is there any more where another replay has failed)
            let _ = to.send(Event::Ended(Box::new(outcome)));
        });
        session.wait()?;
        Ok(session)
    }

    /// Runs one iteration; the time of the one before it, if there was one.
    pub fn turn(&self) -> Result<Option<FrameTime>, Failure> {
        self.go.send(true).map_err(|_| gone())?;
        self.wait()
    }

    fn wait(&self) -> Result<Option<FrameTime>, Failure> {
        match self.events.recv() {
            Ok(Event::Waits(last)) => Ok(last),
            Ok(Event::Ended(outcome)) => Err(outcome.err().unwrap_or_else(gone)),
            Err(_) => Err(gone()),
        }
    }

    /// Lets it end behind the iteration that ran last.
    pub fn finish(self) -> Result<Outcome, Failure> {
        self.go.send(false).map_err(|_| gone())?;
        match self.events.recv() {
            Ok(Event::Ended(outcome)) => *outcome,
            _ => Err(gone()),
        }
    }
}

fn gone() -> Failure {
    Failure::new("a replay ended before its time")
}

/// Stands between a replay's iterations.
struct Baton {
    to: Sender<Event>,
    turns: Receiver<bool>,
    times: Rc<RefCell<FrameTimes>>,
    ended: bool,
}

impl Progress for Baton {
    fn at(&mut self, _: u64, _: u64) {}

    fn iteration(&mut self, done: u32, _: u32) {
        if done < LOOP_WARMUP {
            return;
        }
        let frames = &self.times.borrow().frames;
        let last = frames.len().checked_sub(2).map(|n| frames[n]);
        let told = self.to.send(Event::Waits(last)).is_ok();
        match self.turns.recv() {
            Ok(again) if told => self.ended = !again,
            // Something else has failed, and the program is about to end: the device is left alone until then.
            _ => loop {
                std::thread::park();
            },
        }
    }

    fn enough(&mut self) -> bool {
        self.ended
    }
}

/// Times, notes, finer times, and what calls cost.
pub type Found = (FrameTimes, Vec<String>, Option<CommandTimes>, Vec<Calls>);

/// The hooks of a replay that is timed, and where what they find will be.
pub struct Hooks {
    /// Outermost first.
    pub hooks: Vec<Box<dyn Hook>>,
    times: Rc<RefCell<FrameTimes>>,
    done: Option<Rc<RefCell<Done>>>,
    detail: Option<Rc<RefCell<CommandTimes>>>,
    calls: Rc<RefCell<Vec<Calls>>>,
    said: Vec<String>,
}

impl Hooks {
    /// What was wanted.
    pub fn new(wanted: &Wanted, capture: &Capture) -> Result<Hooks, Failure> {
        let (hook, times) = FrameTimesHook::new(true);
        let calls = Rc::new(RefCell::new(Vec::new()));
        let mut all =
            Hooks { hooks: vec![Box::new(hook)], times, done: None, detail: None, calls, said: vec![] };
        if wanted.detailed {
            let hash = crate::extract::hash;
            let settings = Settings { level: Level::Command, isolate: false, statistics: false, hash };
            let (hook, out) = CommandTimesHook::new(settings, CommandTimes::default());
            all.hooks.insert(0, Box::new(hook));
            all.detail = Some(out);
        }
        if !wanted.busy.time.is_zero() {
            all.hooks.push(Box::new(BusyHook::new(wanted.busy)));
        }
        let passes: Vec<Box<dyn Pass>> = match &wanted.shaders {
            Shaders::Own | Shaders::Repartitioned(_) => vec![],
            Shaders::Passes(list) => passes(&list.0, false)?,
        };
        if !passes.is_empty() {
            let plan = timed(passes, wanted.assume_subgroups, capture);
            let (hook, out) = InstrumentHook::new(Rc::new(plan), Box::new(|_: Raw, _: &Done| Ok(())));
            all.hooks.insert(0, Box::new(hook));
            all.done = Some(out);
        }
        let clock = CallClock::default();
        if let Shaders::Repartitioned(plan) = &wanted.shaders {
            all.hooks.insert(0, Box::new(RepartitionHook::new(plan.clone(), clock.clone()).0));
            let (moved, stay) = (plan.layouts.len(), plan.refused.len());
            let of = moved + stay;
            all.said.push(format!(
                "repartition: {moved} of the partition's {of} pipeline layouts have other sets"
            ));
        }
        if wanted.detailed {
            let into = all.calls.clone();
            let told = Box::new(move |_, costs: Vec<Cost>| {
                into.borrow_mut().push(sum(&costs));
                Ok(())
            });
            all.hooks.push(Box::new(CallCostsHook::with(clock, Counted::Measured, Some(told))));
        }
        all.hooks.splice(0..0, changes(&wanted.changes)?);
        Ok(all)
    }

    /// What was found: times, notes, and finer times. A shader that could not be rewritten is an error.
    pub fn found(self) -> Result<Found, Failure> {
        let mut notes = self.said;
        if let Some(done) = self.done {
            let done = done.borrow();
            if let Some(first) = done.failed.first() {
                let text = format!("a shader could not be rewritten: {first}");
                return Err(Failure::with(Exit::Failed, text));
            }
            notes.extend(done.notes.iter().cloned());
        }
        Ok((self.times.take(), notes, self.detail.map(|d| d.take()), self.calls.take()))
    }
}

fn run(wanted: Wanted, baton: &mut Baton) -> Result<Outcome, Failure> {
    let capture = input::open(&wanted.capture, wanted.memory)?;
    let mut all = Hooks::new(&wanted, &capture)?;
    baton.times = all.times.clone();
    let hooks = std::mem::take(&mut all.hooks);
    let summary = replay(&capture, &wanted.options, On::Vulkan, hooks, 0, baton).map_err(failure)?;
    let looped = summary.looped.ok_or_else(|| Failure::new("the frame was not looped"))?;
    let gpu = summary.gpu.unwrap_or_default();
    let (times, notes, detail, calls) = all.found()?;
    Ok(Outcome { times, calls, looped, notes, gpu, detail })
}

/// By kind of call.
fn sum(costs: &[Cost]) -> Calls {
    let of = |descriptors: bool| {
        let some = costs.iter().filter(|c| is_of_descriptors(c.name()) == descriptors);
        some.fold((0, Nanos(0)), |sum, c| (sum.0 + c.calls, Nanos(sum.1.0 + c.nanos)))
    };
    Calls { descriptors: of(true), recording: of(false) }
}
