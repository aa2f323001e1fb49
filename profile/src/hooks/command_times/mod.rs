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
//! Refuses by name ([`CommandTimes::notes`]): the inside of secondary command buffers (each vkCmdExecuteCommands is one
//! span where it may be timed), of passes with several views and of passes recorded in secondary command buffers; queues
//! without timestamps; submissions for device groups or protected memory; passes suspended from one command buffer to
//! the next. A command buffer that runs on two queues at once has no times one can rely on; that is said too.

mod clock;
mod commands;
mod record;
mod recording;
mod slot;
mod submit;

use clock::Clock;
use commands::{Role, role};
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use recording::Recording;
use replay::ash::vk;
use replay::error::Result;
use replay::exec::{Call, Executor, Outcome};
use replay::hook::{Commands, Frame, Hook, Next};
use replay::link::Linked;
use slot::Slots;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;
use submit::{Current, Waiting};
use trace::{CommandTime, Nanos, TimeNames};

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

/// What the hook found; shared with whoever made it.
#[derive(Debug, Default)]
pub struct CommandTimes {
    /// The spans of each submission, in the order of submitting.
    pub records: Vec<CommandTime>,
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

/// See the module's header.
pub struct CommandTimesHook {
    level: Level,
    isolate: bool,
    out: Rc<RefCell<CommandTimes>>,
    roles: Vec<Option<Role>>,
    /// By captured id, as everything here.
    recordings: HashMap<u64, Recording>,
    buffers: HashMap<u64, Buffer>,
    /// Queue families of command pools.
    pools: HashMap<u64, u32>,
    /// Render passes with several views.
    multiview: HashMap<u64, bool>,
    /// Nodes of the labels that queues are in.
    queue_labels: HashMap<u64, Vec<u32>>,
    /// By device and family; none where there are no timestamps.
    slots: HashMap<(u64, u32), Option<Slots>>,
    clocks: HashMap<u64, Clock>,
    waiting: VecDeque<Waiting>,
    current: Option<Current>,
    submits: u64,
    /// Where this replay's time begins.
    start: Nanos,
    sweep_at: usize,
}

/// How many recordings are kept before the dead ones are looked for.
const SWEEP: usize = 1024;
const SUBMITS: &[&str] = &["vkQueueSubmit", "vkQueueSubmit2", "vkQueueSubmit2KHR"];
const OTHERS: &[&str] = &[
    "vkDestroyDevice",
    "vkSetDebugUtilsObjectNameEXT",
    "vkDebugMarkerSetObjectNameEXT",
    "vkQueueBeginDebugUtilsLabelEXT",
    "vkQueueEndDebugUtilsLabelEXT",
    "vkCreateCommandPool",
    "vkAllocateCommandBuffers",
    "vkCreateRenderPass",
    "vkCreateRenderPass2",
    "vkCreateRenderPass2KHR",
    "vkBeginCommandBuffer",
    "vkEndCommandBuffer",
];

impl CommandTimesHook {
    /// The hook, and where its results will be: behind what `earlier` replays found, in time too.
    pub fn new(level: Level, isolate: bool, earlier: CommandTimes) -> (Self, Rc<RefCell<CommandTimes>>) {
        let submits = earlier.records.iter().map(|r| r.submit + 1).max().unwrap_or(0);
        let start = earlier.records.iter().map(|r| r.end).max().unwrap_or_default();
        let out = Rc::new(RefCell::new(earlier));
        let hook = CommandTimesHook {
            level,
            isolate,
            out: out.clone(),
            roles: COMMANDS.iter().map(role).collect(),
            recordings: HashMap::new(),
            buffers: HashMap::new(),
            pools: HashMap::new(),
            multiview: HashMap::new(),
            queue_labels: HashMap::new(),
            slots: HashMap::new(),
            clocks: HashMap::new(),
            waiting: VecDeque::new(),
            current: None,
            submits,
            start,
            sweep_at: SWEEP,
        };
        (hook, out)
    }

    /// Slots of a family, made when first asked for.
    fn slots(&mut self, cx: &mut Executor, device: u64, family: u32) -> Result<Option<&mut Slots>> {
        if !self.slots.contains_key(&(device, family)) {
            let Some(vk) = cx.backend.vulkan() else { return Ok(None) };
            let made = Slots::new(vk.device(device)?, family)?;
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

    /// Names and objects that later calls refer to.
    fn remember(&mut self, call: &Call) {
        let v = View::call(&call.image);
        let created = || call.image.handles.iter().filter(|h| h.out).map(|h| call.image.u64(h.at));
        match call.command.canonical {
            "vkSetDebugUtilsObjectNameEXT" | "vkDebugMarkerSetObjectNameEXT" => {
                let Some(info) = v.one("pNameInfo") else { return };
                let Some(id) = info.u64("objectHandle").or_else(|| info.u64("object")) else { return };
                let name = info.text("pObjectName").map(|n| n.into_owned()).unwrap_or_default();
                self.out.borrow_mut().names.objects.insert(id, name);
            }
            "vkQueueBeginDebugUtilsLabelEXT" => {
                let Some(queue) = v.u64("queue") else { return };
                let name = v.one("pLabelInfo").and_then(|l| l.text("pLabelName")).unwrap_or_default();
                let open = self.queue_labels.entry(queue).or_default();
                let parent = open.last().copied().unwrap_or(0);
                open.push(self.out.borrow_mut().names.node(parent, &name));
            }
            "vkQueueEndDebugUtilsLabelEXT" => {
                if let Some(open) = v.u64("queue").and_then(|q| self.queue_labels.get_mut(&q)) {
                    open.pop();
                }
            }
            "vkCreateCommandPool" => {
                let family = v.one("pCreateInfo").and_then(|i| i.u32("queueFamilyIndex")).unwrap_or(0);
                self.pools.extend(created().map(|id| (id, family)));
            }
            "vkAllocateCommandBuffers" => {
                let Some(info) = v.one("pAllocateInfo") else { return };
                let pool = info.u64("commandPool").unwrap_or(0);
                let family = self.pools.get(&pool).copied().unwrap_or(0);
                let primary = info.u32("level") == Some(0);
                let b = Buffer { device: call.image.u64(0), family, primary };
                self.buffers.extend(created().map(|id| (id, b)));
            }
            "vkCreateRenderPass" | "vkCreateRenderPass2" => {
                let Some(info) = v.one("pCreateInfo") else { return };
                let masks = info.next("VkRenderPassMultiviewCreateInfo").map(|m| m.u64s("pViewMasks"));
                let many = masks.is_some_and(|m| m.iter().any(|m| *m != 0))
                    || info.structs("pSubpasses").any(|s| s.u32("viewMask").is_some_and(|m| m != 0));
                self.multiview.extend(created().map(|id| (id, many)));
            }
            _ => {}
        }
    }

    /// Forgets recordings that died with their pools; what died is not in use.
    fn sweep(&mut self, cx: &Executor) {
        if self.recordings.len() < self.sweep_at {
            return;
        }
        self.recordings.retain(|id, r| {
            let alive = cx.objects.any(*id).is_some();
            if !alive {
                destroy_chunks(r);
            }
            alive
        });
        self.sweep_at = (self.recordings.len() * 2).max(SWEEP);
    }

    /// Destroys everything of a device, or of all; nothing is in use.
    fn destroy(&mut self, device: Option<u64>) -> Result<()> {
        self.collect(device, true)?;
        let of = |d: u64| device.is_none_or(|only| only == d);
        self.recordings.retain(|_, r| {
            let go = of(r.target.device);
            if go {
                destroy_chunks(r);
            }
            !go
        });
        let gone: Vec<(u64, u32)> = self.slots.keys().copied().filter(|k| of(k.0)).collect();
        for key in gone {
            if let Some(Some(s)) = self.slots.remove(&key) {
                s.destroy();
            }
        }
        Ok(())
    }
}

fn destroy_chunks(r: &Recording) {
    for p in &r.chunks {
        // SAFETY: the command buffer that used it is gone, or its device idle.
        unsafe { r.target.ash.destroy_query_pool(*p, None) };
    }
}

impl Hook for CommandTimesHook {
    fn name(&self) -> &'static str {
        "command-times"
    }

    fn wants(&self) -> Commands {
        let recorded =
            COMMANDS.iter().map(|c| c.name).filter(|n| self.level > Level::Submit && n.starts_with("vkCmd"));
        Commands::named(&OTHERS.iter().copied().chain(recorded).collect::<Vec<_>>())
    }

    fn wants_linked(&self) -> Commands {
        Commands::named(SUBMITS)
    }

    fn call(&mut self, cx: &mut Executor, call: &mut Call, next: Next) -> Result<Outcome> {
        if let Some(role) = self.roles[call.index] {
            return self.recorded(cx, call, next, role);
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
                if self.level > Level::Submit && outcome.called && outcome.result() >= 0 {
                    self.begin(cx, call.image.u64(0))?;
                }
                Ok(outcome)
            }
            "vkEndCommandBuffer" => {
                if let Some(r) = self.recordings.get_mut(&call.image.u64(0)) {
                    r.finish()?;
                }
                next.run(cx, call)
            }
            _ => {
                let outcome = next.run(cx, call)?;
                self.remember(call);
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

    fn frame(&mut self, _: &mut Executor, _: Frame) -> Result<()> {
        self.collect(None, false)
    }

    fn finish(&mut self, _: &mut Executor) -> Result<()> {
        // Devices are idle.
        self.destroy(None)
    }
}
