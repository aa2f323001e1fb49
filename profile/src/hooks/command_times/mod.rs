//! Times of what submissions are made of: submissions, labels, render passes, commands.
//!
//! Timestamps are recorded into the application's command buffers around what is timed; a submission then gets command
//! buffers of the hook's own around each of the application's, which reset the queries before it and copy the results
//! after it, so that a command buffer that is submitted many times is timed each time. Results are read at a frame's end,
//! where a fence says that they are there: nothing waits for them.
//!
//! Guarantees: identity is (submission, position, recorded index); pictures stay as they are; every query is reset before
//! it is written. Stands further in than every hook that injects commands of its own, and outside of
//! [`super::frame_times`], whose times then hold what this hook costs.
//!
//! What secondary command buffers hold is timed for each execution on its own (`secondary.rs`). Identity is then
//! (submission, position, execution, recorded index).
//!
//! Refuses by name ([`CommandTimes::notes`]): queues without timestamps; submissions for device groups or protected
//! memory; what may not have anything recorded beside it. A command buffer that runs on two queues at once has no times
//! one can rely on; that is said too.

mod clock;
pub(super) mod commands;
mod cpu;
mod names;
mod queries;
mod record;
mod recording;
mod secondary;
mod slot;
mod statistics;
mod submit;

pub use cpu::CpuSpansHook;

use clock::Clock;
use commands::{Role, role};
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::COMMANDS;
use queries::{Shared, Spare};
use recording::Recording;
use replay::ash::vk;
use replay::error::Result;
use replay::exec::Executor;
use replay::hook::{Commands, Hook, Needs, Next};
use replay::link::Linked;
use replay::vulkan::Clocks;
use secondary::Secondary;
use slot::Slots;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::time::Instant;
use submit::{Current, Waiting};
use trace::{Calibration, CommandCounters, CommandTime, CpuSpan, Nanos, TimeNames};
use world::Frame;
use world::Outcome;

/// How much is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Each submission.
    Submit,
    /// And in it labels, render passes, and what runs between passes.
    Pass,
    /// And in these each command that does work.
    Command,
}

/// What is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How much is timed.
    pub level: Level,
    /// Full barriers around each span.
    pub isolate: bool,
    /// Pipeline statistics are counted, too.
    pub statistics: bool,
    /// Names code by its content.
    pub hash: fn(&[u8]) -> String,
}

/// What the hook found; shared with whoever made it.
#[derive(Debug, Default)]
pub struct CommandTimes {
    /// The spans of each submission, in the order of submitting.
    pub records: Vec<CommandTime>,
    /// What was counted in them, in their order.
    pub counters: Vec<CommandCounters>,
    /// What the replay did on the CPU: each frame, then what lies within it.
    pub cpu: Vec<CpuSpan>,
    /// Moments on a device's clock and the CPU's.
    pub calibrations: Vec<Calibration>,
    /// Submissions so far, measured or not.
    pub submits: u64,
    /// When the CPU's clock began.
    pub origin: Option<Instant>,
    /// Query pools created, of those made ahead and after.
    pub pools_created: u64,
    /// What they refer to.
    pub names: TimeNames,
    /// What could not be timed, and how often.
    pub notes: BTreeMap<String, u64>,
}

impl CommandTimes {
    fn note(&mut self, what: &str) {
        match self.notes.get_mut(what) {
            Some(n) => *n += 1,
            None => {
                self.notes.insert(what.to_owned(), 1);
            }
        }
    }
}

/// An allocated command buffer.
#[derive(Clone, Copy)]
struct Buffer {
    device: u64,
    family: u32,
    primary: bool,
}

/// A device that has queues with timestamps.
struct Device {
    spare: Shared,
    clock: Clock,
    clocks: Option<Clocks>,
    /// When the clocks were compared last.
    calibrated: Option<Instant>,
    bits: u32,
    period: f32,
}

/// See the module's header.
pub struct CommandTimesHook {
    settings: Settings,
    out: Rc<RefCell<CommandTimes>>,
    roles: Vec<Option<Role>>,
    /// By captured id, as everything here.
    recordings: HashMap<u64, Recording>,
    buffers: HashMap<u64, Buffer>,
    secondaries: HashMap<u64, Rc<Secondary>>,
    /// Queue families of command pools.
    pools: HashMap<u64, u32>,
    /// How many views the subpasses of render passes have.
    views: HashMap<u64, Rc<[u32]>>,
    /// The application's query pools of pipeline statistics.
    counting_pools: HashSet<u64>,
    /// Hashes of shader modules.
    modules: HashMap<u64, String>,
    /// Nodes of the labels that queues are in.
    queue_labels: HashMap<u64, Vec<u32>>,
    /// By device and family; none where there are no timestamps.
    slots: HashMap<(u64, u32), Option<Slots>>,
    devices: HashMap<u64, Device>,
    waiting: VecDeque<Waiting>,
    current: Option<Current>,
    /// Which repetition of a frame ended last.
    repeat: u32,
    origin: Instant,
    /// Where this replay's time begins.
    start: Nanos,
    sweep_at: usize,
}

/// How many recordings are kept before the dead ones are looked for.
const SWEEP: usize = 1024;
const SUBMITS: &[&str] = &["vkQueueSubmit", "vkQueueSubmit2", "vkQueueSubmit2KHR"];
const OTHERS: &[&str] = &["vkDestroyDevice", "vkBeginCommandBuffer", "vkEndCommandBuffer"];

impl CommandTimesHook {
    /// The hook, and where its results will be: behind what `earlier` replays found, in time too.
    pub fn new(settings: Settings, mut earlier: CommandTimes) -> (Self, Rc<RefCell<CommandTimes>>) {
        let start = earlier.records.iter().map(|r| r.end).max().unwrap_or_default();
        let origin = *earlier.origin.get_or_insert_with(Instant::now);
        let out = Rc::new(RefCell::new(earlier));
        let hook = CommandTimesHook {
            settings,
            out: out.clone(),
            roles: COMMANDS.iter().map(role).collect(),
            recordings: HashMap::new(),
            buffers: HashMap::new(),
            secondaries: HashMap::new(),
            pools: HashMap::new(),
            views: HashMap::new(),
            counting_pools: HashSet::new(),
            modules: HashMap::new(),
            queue_labels: HashMap::new(),
            slots: HashMap::new(),
            devices: HashMap::new(),
            waiting: VecDeque::new(),
            current: None,
            repeat: 0,
            origin,
            start,
            sweep_at: SWEEP,
        };
        (hook, out)
    }

    /// The hook that adds what the replay does on the CPU; it stands outside of this one.
    pub fn on_the_cpu(&self) -> CpuSpansHook {
        CpuSpansHook::new(self.out.clone(), self.origin)
    }

    /// Slots of a family, made when first asked for.
    fn slots(&mut self, cx: &mut Executor, device: u64, family: u32) -> Result<Option<&mut Slots>> {
        if !self.slots.contains_key(&(device, family)) {
            let Some(vk) = cx.backend.vulkan() else { return Ok(None) };
            let state = vk.device(device)?;
            if !self.devices.contains_key(&device) {
                let bits = state.gpu.families.iter().map(|f| f.timestamp_valid_bits).max().unwrap_or(0);
                let d = Device {
                    spare: Spare::new(state.ash.clone())?,
                    clock: Clock::default(),
                    clocks: state.clocks.clone(),
                    calibrated: None,
                    bits,
                    period: state.gpu.properties.limits.timestamp_period,
                };
                if d.clocks.is_none() {
                    self.out.borrow_mut().note(
                        "a device without calibrated timestamps: its times and the CPU's are on clocks of their own",
                    );
                }
                if self.settings.statistics && !state.statistics.pipeline {
                    self.out.borrow_mut().note("a device that counts no pipeline statistics");
                }
                self.devices.insert(device, d);
                self.calibrate(device, true);
            }
            let made = Slots::new(state, family, self.devices[&device].spare.clone())?;
            if made.is_none() {
                let why = format!(
                    "queue family {family} has no timestamps, or cannot reset them: nothing of it is timed"
                );
                self.out.borrow_mut().note(&why);
            }
            self.slots.insert((device, family), made);
        }
        Ok(self.slots.get_mut(&(device, family)).and_then(Option::as_mut))
    }

    fn give_copies(&mut self, device: u64, family: u32, copies: Vec<vk::CommandBuffer>) {
        if let Some(Some(s)) = self.slots.get_mut(&(device, family)) {
            s.give_secondaries(copies);
        }
    }

    /// Forgets recordings that died with their pools; what died is not in use.
    fn sweep(&mut self, cx: &Executor) -> Result<()> {
        if self.recordings.len() + self.secondaries.len() < self.sweep_at {
            return Ok(());
        }
        self.secondaries.retain(|id, _| cx.objects.any(*id).is_some());
        let dead: Vec<u64> =
            self.recordings.keys().copied().filter(|id| cx.objects.any(*id).is_none()).collect();
        for id in dead {
            if let Some(mut r) = self.recordings.remove(&id) {
                let copies = std::mem::take(&mut r.copies);
                self.give_copies(r.target.device, r.target.family, copies);
            }
        }
        self.sweep_at = ((self.recordings.len() + self.secondaries.len()) * 2).max(SWEEP);
        Ok(())
    }

    /// Destroys everything of a device, or of all; nothing is in use.
    fn destroy(&mut self, device: Option<u64>) -> Result<()> {
        self.collect(device, true)?;
        let of = |d: u64| device.is_none_or(|only| only == d);
        // Their queries go back to the device's spare ones.
        self.recordings.retain(|_, r| !of(r.target.device));
        let gone: Vec<(u64, u32)> = self.slots.keys().copied().filter(|k| of(k.0)).collect();
        for key in gone {
            if let Some(Some(s)) = self.slots.remove(&key) {
                s.destroy();
            }
        }
        let gone: Vec<u64> = self.devices.keys().copied().filter(|d| of(*d)).collect();
        for key in gone {
            self.calibrate(key, true);
            if let Some(d) = self.devices.remove(&key) {
                let mut spare = d.spare.borrow_mut();
                self.out.borrow_mut().pools_created += spare.created;
                spare.destroy();
            }
        }
        Ok(())
    }
}

impl Hook for CommandTimesHook {
    fn name(&self) -> &'static str {
        "command-times"
    }

    fn needs(&self) -> Needs {
        Needs {
            optional_device_extensions: cpu::EXTENSIONS.to_vec(),
            statistics: self.settings.statistics,
            ..Needs::default()
        }
    }

    fn wants(&self) -> Commands {
        let recorded =
            COMMANDS.iter().map(|c| c.name).filter(|n| self.settings.inside() && n.starts_with("vkCmd"));
        let others = OTHERS.iter().chain(names::REMEMBERED).copied();
        Commands::named(&others.chain(recorded).collect::<Vec<_>>())
    }

    fn wants_linked(&self) -> Commands {
        Commands::named(SUBMITS)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        if let Some(role) = self.roles[call.index] {
            if self.keep(call) {
                return next.run(cx, call);
            }
            return self.recorded(cx, call.image.u64(0), call, next, role);
        }
        match call.command.name {
            "vkDestroyDevice" => {
                let device = call.image.u64(0);
                if let Some(vk) = cx.backend.vulkan()
                    && let Ok(d) = vk.device(device)
                {
                    d.wait_idle()?;
                    self.destroy(Some(device))?;
                }
                next.run(cx, call)
            }
            "vkBeginCommandBuffer" => {
                let outcome = next.run(cx, call)?;
                if self.settings.inside() && outcome.called && outcome.result() >= 0 {
                    self.begin(cx, call)?;
                }
                Ok(outcome)
            }
            "vkEndCommandBuffer" => {
                self.keep(call);
                if let Some(r) = self.recordings.get_mut(&call.image.u64(0)) {
                    r.finish()?;
                }
                next.run(cx, call)
            }
            _ => {
                let outcome = next.run(cx, call)?;
                self.remember(cx, call);
                Ok(outcome)
            }
        }
    }

    fn linked(&mut self, cx: &mut Executor, call: &Call, linked: &mut Linked) -> Result<()> {
        self.submitting(cx, call, linked)
    }

    fn invoked(&mut self, _: &mut Executor, _: &Call, _: &mut Linked, ret: u64) -> Result<()> {
        self.submitted(vk::Result::from_raw(ret as u32 as i32) == vk::Result::SUCCESS)
    }

    fn frame_begins(&mut self, _: &mut Executor) -> Result<()> {
        self.collect(None, true)
    }

    fn frame(&mut self, _: &mut Executor, frame: Frame) -> Result<()> {
        self.repeat = frame.repeat;
        for w in self.waiting.iter_mut().filter(|w| w.repeat.is_none()) {
            w.repeat = Some(frame.repeat);
        }
        let devices: Vec<u64> = self.devices.keys().copied().collect();
        devices.into_iter().for_each(|d| self.calibrate(d, false));
        self.collect(None, false)
    }

    fn finish(&mut self, _: &mut Executor) -> Result<()> {
        // Devices are idle.
        self.destroy(None)
    }
}
