//! Replays that loop one frame, each on a thread and a device object of its own, of which one runs at a time: who has the turn
//! runs an iteration, and waits.
//!
//! So the application's own shaders run beside changed ones in one process, on one device, minutes or milliseconds apart, and
//! nothing of the one replay is in the other: neither its pipelines nor its pipeline layouts, nor what it records. Guarantees:
//! while an iteration runs the others' work is done, and their threads sleep; a replay that fails ends the run with its error.
//! Where something fails, the threads that are left sleep until the program ends.

use crate::commands::profile::plan::{passes, timed};
use crate::commands::replay::failure;
use crate::exit::{Exit, Failure};
use crate::input;
use analyses::bench::Calls;
use profile::Pass;
use profile::hooks::call_costs::{CallClock, CallCostsHook, Cost, Counted, is_of_descriptors};
use profile::hooks::frame_times::{FrameTimes, FrameTimesHook};
use profile::hooks::instrument::{Done, InstrumentHook, Raw};
use profile::hooks::repartition::{self, RepartitionHook};
use profile::passes::swizzle;
use replay::hook::Hook;
use replay::looped::Looped;
use replay::options::Options;
use replay::session::{On, Progress, replay};
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use trace::Nanos;
use trace::swizzle::Swizzle;

/// Iterations before the first turn: the first of them creates what the frame creates.
pub const LOOP_WARMUP: u32 = 2;

/// What becomes of a replay's shaders.
#[derive(Clone, Debug)]
pub enum Shaders {
    /// They stay the application's own.
    Own,
    /// They do the work that sets of swizzles say.
    Swizzles(Arc<Vec<Vec<Swizzle>>>),
    /// These passes rewrite them, named as on the command line.
    Passes(String),
    /// They find their descriptors in other sets.
    Repartitioned(Arc<repartition::Plan>),
}

/// What a replay is to do.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The capture.
    pub capture: PathBuf,
    /// How; the loop is in it.
    pub options: Options,
    /// Its shaders.
    pub shaders: Shaders,
    /// Whether subgroup operations are taken for granted.
    pub assume_subgroups: bool,
    /// Whether calls are timed, too.
    pub calls: bool,
}

/// What a replay came to.
pub struct Outcome {
    /// Its timed iterations, in order.
    pub times: FrameTimes,
    /// What calls cost in these; empty if that is not timed.
    pub calls: Vec<Calls>,
    /// How its frame went.
    pub looped: Looped,
    /// What is to be said.
    pub notes: Vec<String>,
    /// The device's name.
    pub gpu: String,
}

enum Event {
    /// An iteration is done, or all those before the first turn.
    Waits,
    Ended(Box<Result<Outcome, Failure>>),
}

/// See the module's header.
pub struct Session {
    go: Sender<()>,
    events: Receiver<Event>,
    set: Arc<AtomicU32>,
}

impl Session {
    /// Starts it; returns when it waits for its first turn.
    pub fn start(wanted: Wanted) -> Result<Session, Failure> {
        let (go, turns) = channel();
        let (to, events) = channel();
        let set = Arc::new(AtomicU32::new(0));
        let session = Session { go, events, set: set.clone() };
        std::thread::spawn(move || {
            let mut baton = Baton { to: to.clone(), turns };
            let outcome = run(wanted, set, &mut baton);
            // (nobody is there any more where another replay has failed)
            let _ = to.send(Event::Ended(Box::new(outcome)));
        });
        session.wait()?;
        Ok(session)
    }

    /// Runs one iteration, with this set of swizzles.
    pub fn turn(&self, set: u32) -> Result<(), Failure> {
        self.set.store(set, Ordering::Release);
        self.go.send(()).map_err(|_| gone())?;
        self.wait()
    }

    fn wait(&self) -> Result<(), Failure> {
        match self.events.recv() {
            Ok(Event::Waits) => Ok(()),
            Ok(Event::Ended(outcome)) => Err(outcome.err().unwrap_or_else(gone)),
            Err(_) => Err(gone()),
        }
    }

    /// Lets it end behind its last iteration.
    pub fn finish(self) -> Result<Outcome, Failure> {
        self.go.send(()).map_err(|_| gone())?;
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
    turns: Receiver<()>,
}

impl Progress for Baton {
    fn at(&mut self, _: u64, _: u64) {}

    fn iteration(&mut self, done: u32, _: u32) {
        if done < LOOP_WARMUP {
            return;
        }
        let told = self.to.send(Event::Waits).is_ok();
        if !told || self.turns.recv().is_err() {
            // Something else has failed, and the program is about to end: the device is left alone until then.
            loop {
                std::thread::park();
            }
        }
    }
}

fn run(wanted: Wanted, set: Arc<AtomicU32>, baton: &mut Baton) -> Result<Outcome, Failure> {
    let capture = input::open(&wanted.capture)?;
    let (hook, times) = FrameTimesHook::new(true);
    let mut hooks: Vec<Box<dyn Hook>> = vec![Box::new(hook)];
    let mut done = None;
    let passes: Vec<Box<dyn Pass>> = match &wanted.shaders {
        Shaders::Own | Shaders::Repartitioned(_) => vec![],
        Shaders::Swizzles(sets) => vec![Box::new(swizzle::Pass::new(sets, set).map_err(Failure::new)?)],
        Shaders::Passes(list) => passes(list, false)?,
    };
    if !passes.is_empty() {
        let plan = timed(passes, wanted.assume_subgroups, &capture);
        let (hook, out) = InstrumentHook::new(Rc::new(plan), Box::new(|_: Raw, _: &Done| Ok(())));
        hooks.insert(0, Box::new(hook));
        done = Some(out);
    }
    let clock = CallClock::default();
    let calls = Rc::new(RefCell::new(Vec::new()));
    if let Shaders::Repartitioned(plan) = &wanted.shaders {
        hooks.insert(0, Box::new(RepartitionHook::new(plan.clone(), clock.clone()).0));
    }
    if wanted.calls {
        let into = calls.clone();
        let told = Box::new(move |_, costs: Vec<Cost>| {
            into.borrow_mut().push(sum(&costs));
            Ok(())
        });
        hooks.push(Box::new(CallCostsHook::with(clock, Counted::Measured, Some(told))));
    }
    let summary = replay(&capture, &wanted.options, On::Vulkan, hooks, 0, baton).map_err(failure)?;
    let looped = summary.looped.ok_or_else(|| Failure::new("the frame was not looped"))?;
    let mut notes = Vec::new();
    if let Some(done) = done {
        let done = done.borrow();
        if let Some(first) = done.failed.first() {
            let text = format!("a shader could not be rewritten: {first}");
            return Err(Failure::Error(Exit::Failed, text));
        }
        notes.extend(done.notes.iter().cloned());
    }
    let gpu = summary.gpu.unwrap_or_default();
    Ok(Outcome { times: times.take(), calls: calls.take(), looped, notes, gpu })
}

/// By kind of call.
fn sum(costs: &[Cost]) -> Calls {
    let of = |descriptors: bool| {
        let some = costs.iter().filter(|c| is_of_descriptors(c.name()) == descriptors);
        some.fold((0, Nanos(0)), |sum, c| (sum.0 + c.calls, Nanos(sum.1.0 + c.nanos)))
    };
    Calls { descriptors: of(true), recording: of(false) }
}
