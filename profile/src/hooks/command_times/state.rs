//! What the hook keeps: recordings and their queries, secondary command buffers, slots of queues, clocks of devices.
//!
//! What is kept of a recording is told by its number in the executor's world from what its command buffer held before.
//! Guarantees: queries and slots go back to where they came from, and are destroyed with their device. Refuses nothing.

use super::clock::Clock;
use super::commands::{Role, role};
use super::found::{CommandTimes, Settings};
use super::queries::{Shared, Spare};
use super::recording::{Recording, Secondary};
use super::slot::Slots;
use super::waiting::{Current, Waiting};
use crate::hooks::numbering::Numbering;
use gfxr_parse::schema::generated::COMMANDS;
use replay::ash::vk;
use replay::error::Result;
use replay::exec::Executor;
use replay::vulkan::Clocks;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::time::Instant;
use trace::Nanos;

/// A device that has queues with timestamps.
pub(super) struct Device {
    pub(super) spare: Shared,
    pub(super) clock: Clock,
    pub(super) clocks: Option<Clocks>,
    /// When the clocks were compared last.
    pub(super) calibrated: Option<Instant>,
    pub(super) bits: u32,
    pub(super) period: f32,
}

/// See the module's header.
pub struct CommandTimesHook {
    pub(super) settings: Settings,
    pub(super) out: Rc<RefCell<CommandTimes>>,
    pub(super) roles: Vec<Option<Role>>,
    /// By captured id, as everything here.
    pub(super) recordings: HashMap<u64, Recording>,
    pub(super) secondaries: HashMap<u64, Rc<Secondary>>,
    /// Hashes of shader modules.
    pub(super) modules: HashMap<u64, String>,
    pub(super) numbering: Numbering,
    /// Nodes of the labels that queues are in.
    pub(super) queue_labels: HashMap<u64, Vec<u32>>,
    /// By device and family; none where there are no timestamps.
    pub(super) slots: HashMap<(u64, u32), Option<Slots>>,
    pub(super) devices: HashMap<u64, Device>,
    pub(super) waiting: VecDeque<Waiting>,
    pub(super) current: Option<Current>,
    /// Which repetition of a frame ended last.
    pub(super) repeat: u32,
    pub(super) origin: Instant,
    /// Where this replay's time begins.
    pub(super) start: Nanos,
    pub(super) sweep_at: usize,
}

/// How many recordings are kept before the dead ones are looked for.
const SWEEP: usize = 1024;

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
            secondaries: HashMap::new(),
            modules: HashMap::new(),
            numbering: Numbering::default(),
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

    /// Slots of a family, made when first asked for.
    pub(super) fn slots(
        &mut self,
        cx: &mut Executor,
        device: u64,
        family: u32,
    ) -> Result<Option<&mut Slots>> {
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

    pub(super) fn give_copies(&mut self, device: u64, family: u32, copies: Vec<vk::CommandBuffer>) {
        if let Some(Some(s)) = self.slots.get_mut(&(device, family)) {
            s.give_secondaries(copies);
        }
    }

    /// Forgets recordings that died with their pools; what died is not in use.
    pub(super) fn sweep(&mut self, cx: &Executor) -> Result<()> {
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
    pub(super) fn destroy(&mut self, device: Option<u64>) -> Result<()> {
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
