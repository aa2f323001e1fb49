//! Which actions count where render passes or labels are chosen.
//!
//! Where command buffers are submitted, what they hold ([`world::walk`]) is gone through in order: labels, with those of the
//! queue around them, render passes, actions. For each action a word is written that its shaders read: whether it counts. So a command buffer that is submitted again, or
//! executed by others, counts where the submission says so, and labels that begin in one command buffer and end in
//! another hold for what lies between. Render passes are numbered in each frame from 1, in the order of submitting; one
//! that is resumed goes on with its number. Refuses, by an error: command buffers that one submission executes both where
//! it counts and where it does not, as one word cannot say both.

use super::plan::{Places, Tally};
use super::slots::{Slot, Slots};
use crate::hooks::actions::Place;
use crate::hooks::debug_names::{render_pass, rendering};
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use replay::error::{Error, Kind, Result};
use replay::vulkan::Vulkan;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use world::World;
use world::commands::{Command, Label, Pass, RENDERING_RESUMING};
use world::walk::{Step, submitted};

/// Why an action of a pass that counts by action is not counted.
pub const NOT_CHOSEN: &str = "it is in no chosen render pass or label";

/// Calls that begin what has a name, and the one that ends it on a queue, by canonical name.
pub const NAMES: [&str; 7] = [
    "vkQueueBeginDebugUtilsLabelEXT",
    "vkQueueEndDebugUtilsLabelEXT",
    "vkCmdBeginDebugUtilsLabelEXT",
    "vkCmdDebugMarkerBeginEXT",
    "vkCmdBeginRenderPass",
    "vkCmdBeginRenderPass2",
    "vkCmdBeginRendering",
];

/// Names that are kept to be listed.
const MOST_NAMES: usize = 64;

/// The word's bit that says that an action counts; the others are the address of its counters.
const COUNTS: u64 = 1;

/// An action of a recording.
struct Action {
    /// Which of the recording's actions, where it is one that can be counted for itself.
    number: Option<u32>,
    slot: Slot,
    /// The address of its counters.
    counters: u64,
    /// What was said last.
    now: Option<bool>,
}

/// Those of a recording, by command.
#[derive(Default)]
struct Recording {
    device: u64,
    buffer: u64,
    actions: BTreeMap<u32, Action>,
}

/// What is around a command as it is submitted.
#[derive(Clone, Default)]
struct Queue {
    /// Labels of the queue and of its command buffers that have begun; whether they were asked for.
    own: Vec<bool>,
    labels: Vec<bool>,
    /// Whether the running render pass is chosen.
    pass: Option<bool>,
    /// The number of the latest.
    number: u64,
}

/// An action, by recording and command; and whether it counts.
type Said = (u64, u32, bool);

/// See the module's header.
pub struct Chosen {
    places: Rc<Places>,
    names: HashMap<u64, String>,
    recordings: HashMap<u64, Recording>,
    queues: HashMap<u64, Queue>,
    slots: HashMap<u64, Slots>,
    /// Render passes of the running frame.
    number: u64,
    /// Of the running frame, and of those that were measured.
    frame: Tally,
    measured: Tally,
}

impl Chosen {
    /// For these places; names of objects by captured id.
    pub fn new(places: Rc<Places>, names: HashMap<u64, String>) -> Self {
        Chosen {
            places,
            names,
            recordings: HashMap::new(),
            queues: HashMap::new(),
            slots: HashMap::new(),
            number: 0,
            frame: Tally::default(),
            measured: Tally::default(),
        }
    }

    /// A call of [`NAMES`].
    pub fn named(&mut self, call: &Call) {
        let v = View::call(&call.image);
        let info = v.one("pLabelInfo").or_else(|| v.one("pMarkerInfo"));
        let label = || info.and_then(|i| i.text("pLabelName").or_else(|| i.text("pMarkerName")));
        let queue = call.image.u64(0);
        match call.command.canonical {
            "vkQueueBeginDebugUtilsLabelEXT" => {
                let name = label().unwrap_or_default();
                self.name(format!("label \"{name}\""));
                let asked = self.label(&name);
                self.queues.entry(queue).or_default().own.push(asked);
            }
            "vkQueueEndDebugUtilsLabelEXT" => drop(self.queues.entry(queue).or_default().own.pop()),
            "vkCmdBeginDebugUtilsLabelEXT" | "vkCmdDebugMarkerBeginEXT" => {
                self.name(format!("label \"{}\"", label().unwrap_or_default()));
            }
            _ => {
                let name = match v.one("pRenderingInfo") {
                    Some(info) => {
                        let extent = info.one("renderArea").and_then(|a| a.one("extent"));
                        let side = |n| extent.and_then(|e| e.u32(n)).unwrap_or(0);
                        rendering(side("width"), side("height"))
                    }
                    None => {
                        let id = v.one("pRenderPassBegin").and_then(|b| b.u64("renderPass")).unwrap_or(0);
                        render_pass(id, self.names.get(&id).map(String::as_str))
                    }
                };
                self.name(name);
            }
        }
    }

    fn name(&mut self, name: String) {
        if self.measured.names.len() < MOST_NAMES {
            self.measured.names.insert(name);
        }
    }

    /// Whether a label is asked for.
    fn label(&self, name: &str) -> bool {
        self.places.labels.as_ref().is_some_and(|f| f(name))
    }

    /// Whether a render pass' name is asked for.
    fn pass(&self, pass: &Pass) -> bool {
        let Some(asked) = &self.places.render_passes else { return true };
        match pass.render_pass {
            0 => asked(0, Some(&rendering(pass.area[2] as u32, pass.area[3] as u32))),
            id => asked(id, self.names.get(&id).filter(|n| !n.is_empty()).map(String::as_str)),
        }
    }

    /// An action is recorded: the address to be pushed for it.
    pub fn action(&mut self, vk: &Vulkan, of: Place, number: Option<u32>, counters: u64) -> Result<u64> {
        let slot = self.slots.entry(of.device).or_default().take(vk.device(of.device)?)?;
        self.put(of, Action { number, slot, counters, now: None });
        Ok(slot.address)
    }

    fn put(&mut self, of: Place, action: Action) {
        let r = self.recordings.entry(of.range).or_default();
        (r.device, r.buffer) = (of.device, of.buffer);
        r.actions.insert(of.index, action);
    }

    /// Command buffers are submitted: says of every action whether it counts; `each` is told recording, action, and that.
    pub fn submitting(
        &mut self,
        vk: &Vulkan,
        call: &Call,
        world: &World,
        mut each: impl FnMut(u64, u32, bool),
    ) -> Result<()> {
        let mut queue = self.queues.remove(&call.image.u64(0)).unwrap_or_default();
        let said = self.play(world, &submitted(call), &mut queue);
        self.queues.insert(call.image.u64(0), queue);
        let mut before: HashMap<(u64, u32), bool> = HashMap::new();
        let mut idle = false;
        for (range, at, counts) in said {
            let Some(r) = self.recordings.get_mut(&range) else { continue };
            let Some(a) = r.actions.get_mut(&at) else { continue };
            if before.insert((range, at), counts).is_some_and(|b| b != counts) {
                return Err(both(r.buffer));
            }
            if let Some(number) = a.number {
                each(range, number, counts);
            }
            if a.now == Some(counts) {
                continue;
            }
            if a.now.is_some() && !idle {
                // What runs may still read what was said.
                vk.device(r.device)?.wait_idle()?;
                idle = true;
            }
            a.now = Some(counts);
            let word = if counts { a.counters | COUNTS } else { 0 };
            self.slots.entry(r.device).or_default().say(a.slot, word);
        }
        Ok(())
    }

    /// Goes through command buffers.
    fn play(&mut self, world: &World, buffers: &[u64], queue: &mut Queue) -> Vec<Said> {
        let mut said = Vec::new();
        // Labels that had begun before each of the command buffers that are being executed. Only those that a primary finds
        // are its to end.
        let mut outer: Vec<usize> = Vec::new();
        world.walk(buffers, &mut |holder, step| match step {
            Step::Enters => outer.push(if outer.is_empty() { 0 } else { queue.labels.len() }),
            Step::Leaves => {
                // Labels of a secondary command buffer end with it.
                if let Some(labels) = outer.pop().filter(|_| !outer.is_empty()) {
                    queue.labels.truncate(labels);
                }
            }
            Step::Command(recorded) => match &recorded.command {
                Command::Label { what: Label::Begin, text } => queue.labels.push(self.label(text)),
                Command::Label { what: Label::End, .. }
                    if queue.labels.len() > outer.last().copied().unwrap_or(0) =>
                {
                    queue.labels.pop();
                }
                Command::BeginPass(pass) => {
                    let resumes = pass.flags & RENDERING_RESUMING != 0;
                    if !resumes {
                        self.number += 1;
                        queue.number = self.number;
                        self.frame.render_passes.0 += 1;
                    }
                    let chosen = self.pass(pass) && self.places.number(queue.number);
                    self.frame.render_passes.1 += u64::from(chosen && !resumes);
                    queue.pass = Some(chosen);
                }
                Command::EndPass => queue.pass = None,
                Command::Invoke(_) => {
                    let range = holder.recording.number;
                    let actions = self.recordings.get(&range).map(|r| &r.actions);
                    if actions.is_some_and(|a| a.contains_key(&recorded.index)) {
                        let counts = self.places.counts(queue.pass, || queue.own.iter().chain(&queue.labels));
                        self.frame.actions.0 += 1;
                        self.frame.actions.1 += u64::from(counts);
                        said.push((range, recorded.index, counts));
                    }
                }
                _ => {}
            },
        });
        said
    }

    /// A frame has ended.
    pub fn frame_ends(&mut self, measured: bool) {
        self.number = 0;
        let frame = std::mem::take(&mut self.frame);
        if measured {
            let (all, m) = (frame, &mut self.measured);
            m.render_passes =
                (m.render_passes.0 + all.render_passes.0, m.render_passes.1 + all.render_passes.1);
            m.actions = (m.actions.0 + all.actions.0, m.actions.1 + all.actions.1);
        }
    }

    /// A recording is no more.
    pub fn forget(&mut self, range: u64) {
        let Some(r) = self.recordings.remove(&range) else { return };
        let Some(slots) = self.slots.get_mut(&r.device) else { return };
        r.actions.into_values().for_each(|a| slots.give_back(a.slot));
    }

    /// A device goes; it is idle, and its recordings are forgotten.
    pub fn device_goes(&mut self, vk: &Vulkan, device: u64) -> Result<()> {
        if let Some(slots) = self.slots.remove(&device) {
            slots.destroy(&vk.device(device)?.ash);
        }
        Ok(())
    }

    /// What came of it in the frames that were measured.
    pub fn tally(&self) -> &Tally {
        &self.measured
    }
}

fn both(buffer: u64) -> Error {
    let text = format!(
        "VkCommandBuffer {buffer} is executed both in what --render-passes, --render-pass-numbers and --labels choose and \
         outside of it, by one submission: what it does cannot be counted apart"
    );
    Error::new(Kind::Unsupported, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use world::bench::{Bench, stype};

    /// What is recorded: a label, its end, a render pass or a rendering with flags, its end, an action, other command buffers.
    enum Event {
        BeginLabel(&'static str),
        EndLabel,
        BeginPass(u64),
        BeginRendering(u32),
        EndPass,
        Action,
        Execute(&'static [u64]),
    }
    use Event::*;

    /// Command buffers, which are numbered as their recordings are.
    fn chosen(places: Places, recordings: &[&[Event]]) -> (Chosen, Bench) {
        let (mut c, mut b) = (Chosen::new(Rc::new(places), HashMap::new()), Bench::new());
        let mut slots = 0;
        for (events, id) in recordings.iter().zip(0..) {
            b.begin(id);
            for (event, index) in events.iter().zip(0..) {
                match event {
                    BeginLabel(name) => b.see("vkCmdBeginDebugUtilsLabelEXT", |w| {
                        w.u64(id);
                        w.structure(|w| {
                            w.u32(stype("VkDebugUtilsLabelEXT"))
                                .null_struct()
                                .string(name)
                                .f32_array(&[0.0; 4]);
                        });
                    }),
                    EndLabel => b.see("vkCmdEndDebugUtilsLabelEXT", |w| {
                        w.u64(id);
                    }),
                    BeginPass(pass) => b.see("vkCmdBeginRenderPass", |w| {
                        w.u64(id);
                        w.structure(|w| {
                            w.u32(43)
                                .null_struct()
                                .u64(*pass)
                                .u64(0)
                                .i32(0)
                                .i32(0)
                                .u32(4)
                                .u32(4)
                                .u32(0)
                                .null_structs();
                        });
                        w.u32(0);
                    }),
                    BeginRendering(flags) => b.see("vkCmdBeginRendering", |w| {
                        w.u64(id);
                        w.structure(|w| {
                            w.u32(stype("VkRenderingInfo"))
                                .null_struct()
                                .u32(*flags)
                                .i32(0)
                                .i32(0)
                                .u32(4)
                                .u32(4);
                            w.u32(1).u32(0).u32(0).null_structs().null_struct().null_struct();
                        });
                    }),
                    EndPass => b.see("vkCmdEndRendering", |w| {
                        w.u64(id);
                    }),
                    Action => {
                        b.dispatch(id);
                        let slot = Slots::numbered(slots);
                        let of = Place { range: id, device: 1, buffer: id, index };
                        c.put(of, super::Action { number: None, slot, counters: 0, now: None });
                        slots += 1;
                    }
                    Execute(others) => b.see("vkCmdExecuteCommands", |w| {
                        w.u64(id).u32(others.len() as u32).u64_array(others);
                    }),
                }
            }
            b.end(id);
        }
        (c, b)
    }

    fn labels() -> Places {
        Places { labels: Some(Box::new(|n| n == "a")), ..Places::default() }
    }

    #[test]
    fn labels_hold_across_command_buffers_and_for_what_these_execute() {
        let (mut c, b) = chosen(
            labels(),
            &[
                // A label that the next command buffer ends, and one within.
                &[Action, BeginLabel("a"), BeginLabel("b"), Action],
                &[EndLabel, Execute(&[2, 2]), EndLabel, Execute(&[2])],
                // A secondary one that ends more than it began, and leaves one open.
                &[EndLabel, Action, BeginLabel("a"), Action],
            ],
        );
        let mut queue = Queue::default();
        let first = c.play(b.follow.world(), &[0, 1], &mut queue);
        let inside = [(2, 1, true), (2, 3, true)];
        let outside = [(2, 1, false), (2, 3, true)];
        assert_eq!(first, [&[(0, 0, false), (0, 3, true)], &inside[..], &inside, &outside].concat());
        assert!(queue.labels.is_empty());
        assert_eq!(c.frame.actions, (8, 6));
        // The queue's own labels are around all of it.
        queue.own = vec![true];
        assert!(c.play(b.follow.world(), &[0, 1], &mut queue).iter().all(|s| s.2));
    }

    #[test]
    fn render_passes_are_numbered_in_their_frame_and_go_on_with_their_number() {
        let places = Places { numbers: Some(vec![(2, 2)]), ..Places::default() };
        let pass = |resumes| [BeginRendering(resumes), Action, EndPass, Action];
        let (mut c, b) = chosen(places, &[&pass(0), &pass(RENDERING_RESUMING)]);
        let mut queue = Queue::default();
        let mut yes = |c: &mut Chosen, buffers: &[u64]| {
            let said = c.play(b.follow.world(), buffers, &mut queue);
            said.iter().map(|s| s.2).collect::<Vec<_>>()
        };
        // One pass; another, which is resumed; a third.
        let all = yes(&mut c, &[0, 0, 1, 0]);
        assert_eq!(all, [false, false, true, false, true, false, false, false]);
        assert_eq!(c.frame.render_passes, (3, 1));
        c.frame_ends(true);
        assert_eq!(yes(&mut c, &[0, 0]), [false, false, true, false]);
        c.frame_ends(false);
        assert_eq!((c.tally().render_passes, c.tally().actions), ((3, 1), (8, 2)));
    }

    #[test]
    fn passes_and_labels_have_to_agree() {
        let places = Places { render_passes: Some(Box::new(|id, _| id == 7)), ..labels() };
        let events = [BeginPass(7), Action, BeginLabel("a"), Action, EndPass, Action, BeginPass(8), Action];
        let (mut c, b) = chosen(places, &[&events]);
        let said = c.play(b.follow.world(), &[0], &mut Queue::default());
        assert_eq!(said.iter().map(|s| s.2).collect::<Vec<_>>(), [false, true, false, false]);
    }
}
