//! Which actions count where render passes or labels are chosen.
//!
//! What a command buffer holds is noted as it is recorded: labels, render passes, actions, other command buffers that it
//! executes. Where it is submitted, this is gone through in order, with the labels of the queue around it, and for each
//! action a word is written that its shaders read: whether it counts. So a command buffer that is submitted again, or
//! executed by others, counts where the submission says so, and labels that begin in one command buffer and end in
//! another hold for what lies between. Render passes are numbered in each frame from 1, in the order of submitting; one
//! that is resumed goes on with its number. Refuses, by an error: command buffers that one submission executes both where
//! it counts and where it does not, as one word cannot say both.

use super::plan::Places;
use super::slots::{Slot, Slots};
use crate::hooks::command_times::commands::{Role, role};
use crate::hooks::screenshot::submitted;
use gfxr_parse::ahead::Call;
use gfxr_parse::schema::generated::COMMANDS;
use gfxr_parse::view::View;
use replay::error::{Error, Kind, Result};
use replay::vulkan::Vulkan;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Why an action of a pass that counts by action is not counted.
pub const NOT_CHOSEN: &str = "it is in no chosen render pass or label";

/// Calls that are seen beside those of command buffers.
pub const QUEUE_LABELS: [&str; 2] = ["vkQueueBeginDebugUtilsLabelEXT", "vkQueueEndDebugUtilsLabelEXT"];

/// Names that are kept to be listed.
const MOST_NAMES: usize = 64;

/// The word's bit that says that an action counts; the others are the address of its counters.
const COUNTS: u64 = 1;

/// How many there were, and how many of them were chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Render passes, and those whose name and number were asked for.
    pub render_passes: (u64, u64),
    /// Actions with probes, and those that counted.
    pub actions: (u64, u64),
    /// What render passes and labels are called.
    pub names: BTreeSet<String>,
}

/// Something in a command buffer.
enum Event {
    /// A label; whether it was asked for.
    BeginLabel(bool),
    EndLabel,
    /// A render pass; whether its name was asked for, and whether it goes on with the one before.
    BeginPass(bool, bool),
    EndPass,
    Action(Action),
    /// Executes others: numbers of recordings.
    Execute(Vec<u64>),
}

struct Action {
    /// Which of the recording's actions, where it is one that can be counted for itself.
    index: Option<u32>,
    slot: Slot,
    /// The address of its counters.
    counters: u64,
    /// What was said last.
    now: Option<bool>,
}

#[derive(Default)]
struct Recording {
    device: u64,
    buffer: u64,
    events: Vec<Event>,
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

/// An action, by recording and event; and whether it counts.
type Said = (u64, usize, bool);

/// See the module's header.
pub struct Chosen {
    places: Rc<Places>,
    names: HashMap<u64, String>,
    roles: Vec<Option<Role>>,
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
            roles: COMMANDS.iter().map(role).collect(),
            recordings: HashMap::new(),
            queues: HashMap::new(),
            slots: HashMap::new(),
            number: 0,
            frame: Tally::default(),
            measured: Tally::default(),
        }
    }

    /// Looks at a command that is recorded; `of` is the recording's number, its device, its command buffer.
    pub fn recorded(&mut self, call: &Call, of: (u64, u64, u64), range_of: impl Fn(u64) -> Option<u64>) {
        let v = View::call(&call.image);
        let event = match self.roles[call.index] {
            Some(Role::BeginLabel) => {
                let info = v.one("pLabelInfo").or_else(|| v.one("pMarkerInfo"));
                let name = info.and_then(|i| i.text("pLabelName").or_else(|| i.text("pMarkerName")));
                Event::BeginLabel(self.label(&name.unwrap_or_default()))
            }
            Some(Role::EndLabel) => Event::EndLabel,
            Some(Role::BeginPass) => self.pass(v),
            Some(Role::EndPass) => Event::EndPass,
            Some(Role::Execute) => {
                Event::Execute(v.u64s("pCommandBuffers").into_iter().filter_map(range_of).collect())
            }
            _ => return,
        };
        self.push(of, event);
    }

    fn push(&mut self, (range, device, buffer): (u64, u64, u64), event: Event) -> usize {
        let r = self.recordings.entry(range).or_default();
        (r.device, r.buffer) = (device, buffer);
        r.events.push(event);
        r.events.len() - 1
    }

    fn name(&mut self, name: String) {
        if self.measured.names.len() < MOST_NAMES {
            self.measured.names.insert(name);
        }
    }

    /// Whether a label is asked for.
    fn label(&mut self, name: &str) -> bool {
        self.name(format!("label '{name}'"));
        self.places.labels.as_ref().is_some_and(|f| f(name))
    }

    fn pass(&mut self, v: View<'_>) -> Event {
        let (id, name, resumes) = match v.one("pRenderingInfo") {
            Some(info) => {
                let extent = info.one("renderArea").and_then(|a| a.one("extent"));
                let side = |n| extent.and_then(|e| e.u32(n)).unwrap_or(0);
                let name = format!("rendering {}x{}", side("width"), side("height"));
                // VK_RENDERING_RESUMING_BIT.
                (0, Some(name), info.u32("flags").unwrap_or(0) & 4 != 0)
            }
            None => {
                let id = v.one("pRenderPassBegin").and_then(|b| b.u64("renderPass")).unwrap_or(0);
                (id, self.names.get(&id).filter(|n| !n.is_empty()).cloned(), false)
            }
        };
        self.name(match (&name, id) {
            (Some(n), 0) => n.clone(),
            (Some(n), _) => format!("render pass '{n}'"),
            (None, id) => format!("render pass {id}"),
        });
        let asked = self.places.render_passes.as_ref().is_none_or(|f| f(id, name.as_deref()));
        Event::BeginPass(asked, resumes)
    }

    /// An action is recorded: the address to be pushed for it.
    pub fn action(
        &mut self,
        vk: &Vulkan,
        of: (u64, u64, u64),
        index: Option<u32>,
        counters: u64,
    ) -> Result<u64> {
        let slot = self.slots.entry(of.1).or_default().take(vk.device(of.1)?)?;
        self.push(of, Event::Action(Action { index, slot, counters, now: None }));
        Ok(slot.address)
    }

    /// A label of a queue begins or ends.
    pub fn queue_label(&mut self, call: &Call) {
        let v = View::call(&call.image);
        let queue = v.u64("queue").unwrap_or(0);
        if call.command.canonical == QUEUE_LABELS[0] {
            let name = v.one("pLabelInfo").and_then(|l| l.text("pLabelName")).unwrap_or_default();
            let asked = self.label(&name);
            self.queues.entry(queue).or_default().own.push(asked);
        } else {
            self.queues.entry(queue).or_default().own.pop();
        }
    }

    /// Command buffers are submitted: says of every action whether it counts; `each` is told recording, action, and that.
    pub fn submitting(
        &mut self,
        vk: &Vulkan,
        call: &Call,
        range_of: impl Fn(u64) -> Option<u64>,
        mut each: impl FnMut(u64, u32, bool),
    ) -> Result<()> {
        let ranges: Vec<u64> = submitted(call).into_iter().filter_map(range_of).collect();
        let mut queue = self.queues.remove(&call.image.u64(0)).unwrap_or_default();
        let mut said = Vec::new();
        for range in ranges {
            self.play(range, &mut queue, 0, &mut said);
        }
        self.queues.insert(call.image.u64(0), queue);
        let mut before: HashMap<(u64, usize), bool> = HashMap::new();
        let mut idle = false;
        for (range, at, counts) in said {
            let Some(r) = self.recordings.get_mut(&range) else { continue };
            let Some(Event::Action(a)) = r.events.get_mut(at) else { continue };
            if before.insert((range, at), counts).is_some_and(|b| b != counts) {
                return Err(both(r.buffer));
            }
            if let Some(index) = a.index {
                each(range, index, counts);
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

    /// Goes through a recording.
    fn play(&mut self, range: u64, queue: &mut Queue, outer: usize, said: &mut Vec<Said>) {
        // (it is put back: nothing but this looks at it)
        let Some(r) = self.recordings.remove(&range) else { return };
        for (at, event) in r.events.iter().enumerate() {
            match event {
                Event::BeginLabel(asked) => queue.labels.push(*asked),
                Event::EndLabel if queue.labels.len() > outer => {
                    queue.labels.pop();
                }
                Event::EndLabel => {}
                Event::BeginPass(asked, resumes) => {
                    if !resumes {
                        self.number += 1;
                        queue.number = self.number;
                        self.frame.render_passes.0 += 1;
                    }
                    let chosen = *asked && self.places.number(queue.number);
                    self.frame.render_passes.1 += u64::from(chosen && !resumes);
                    queue.pass = Some(chosen);
                }
                Event::EndPass => queue.pass = None,
                Event::Action(_) => {
                    let counts = self.places.counts(queue.pass, || queue.own.iter().chain(&queue.labels));
                    self.frame.actions.0 += 1;
                    self.frame.actions.1 += u64::from(counts);
                    said.push((range, at, counts));
                }
                Event::Execute(others) => {
                    for &other in others {
                        let outer = queue.labels.len();
                        self.play(other, queue, outer, said);
                        // Labels of a secondary command buffer end with it.
                        queue.labels.truncate(outer);
                    }
                }
            }
        }
        self.recordings.insert(range, r);
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
        for e in r.events {
            if let Event::Action(a) = e {
                slots.give_back(a.slot);
            }
        }
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

    fn action(n: usize) -> Event {
        let slot = Slots::numbered(n);
        Event::Action(Action { index: None, slot, counters: 0, now: None })
    }

    fn chosen(places: Places, recordings: Vec<Vec<Event>>) -> Chosen {
        let mut c = Chosen::new(Rc::new(places), HashMap::new());
        for (n, events) in recordings.into_iter().enumerate() {
            events.into_iter().for_each(|e| {
                c.push((n as u64, 1, 100 + n as u64), e);
            });
        }
        c
    }

    /// What is said of the actions of recordings that are submitted one after the other, by recording and event.
    fn said(c: &mut Chosen, ranges: &[u64], queue: &mut Queue) -> Vec<Said> {
        let mut said = Vec::new();
        ranges.iter().for_each(|r| c.play(*r, queue, 0, &mut said));
        said
    }

    fn labels() -> Places {
        Places { labels: Some(Box::new(|n| n == "a")), ..Places::default() }
    }

    #[test]
    fn labels_hold_across_command_buffers_and_for_what_these_execute() {
        let mut c = chosen(
            labels(),
            vec![
                // A label that the next command buffer ends, and one within.
                vec![action(0), Event::BeginLabel(true), Event::BeginLabel(false), action(1)],
                vec![Event::EndLabel, Event::Execute(vec![2, 2]), Event::EndLabel, Event::Execute(vec![2])],
                // A secondary one that ends more than it began, and leaves one open.
                vec![Event::EndLabel, action(2), Event::BeginLabel(true), action(3)],
            ],
        );
        let mut queue = Queue::default();
        let first = said(&mut c, &[0, 1], &mut queue);
        let inside = [(2, 1, true), (2, 3, true)];
        let outside = [(2, 1, false), (2, 3, true)];
        assert_eq!(first, [&[(0, 0, false), (0, 3, true)], &inside[..], &inside, &outside].concat());
        assert!(queue.labels.is_empty());
        assert_eq!(c.frame.actions, (8, 6));
        // The queue's own labels are around all of it.
        queue.own = vec![true];
        assert!(said(&mut c, &[0, 1], &mut queue).iter().all(|s| s.2));
    }

    #[test]
    fn render_passes_are_numbered_in_their_frame_and_go_on_with_their_number() {
        let places = Places { numbers: Some(vec![(2, 2)]), ..Places::default() };
        let pass = |resumes, n| vec![Event::BeginPass(true, resumes), action(n), Event::EndPass, action(n)];
        let mut c = chosen(places, vec![pass(false, 0), pass(true, 1)]);
        let mut queue = Queue::default();
        let yes = |said: Vec<Said>| said.iter().map(|s| s.2).collect::<Vec<_>>();
        // One pass; another, which is resumed; a third.
        let all = yes(said(&mut c, &[0, 0, 1, 0], &mut queue));
        assert_eq!(all, [false, false, true, false, true, false, false, false]);
        assert_eq!(c.frame.render_passes, (3, 1));
        c.frame_ends(true);
        assert_eq!(yes(said(&mut c, &[0, 0], &mut queue)), [false, false, true, false]);
        c.frame_ends(false);
        assert_eq!((c.tally().render_passes, c.tally().actions), ((3, 1), (8, 2)));
    }

    #[test]
    fn passes_and_labels_have_to_agree() {
        let places = Places { render_passes: Some(Box::new(|id, _| id == 7)), ..labels() };
        let pass = |asked| Event::BeginPass(asked, false);
        let mut c = chosen(
            places,
            vec![vec![
                pass(true),
                action(0),
                Event::BeginLabel(true),
                action(1),
                Event::EndPass,
                action(2),
                pass(false),
                action(3),
            ]],
        );
        let all: Vec<bool> = said(&mut c, &[0], &mut Queue::default()).iter().map(|s| s.2).collect();
        assert_eq!(all, [false, true, false, false]);
    }
}
