//! A walk over the looped frame's calls: what it uses of the time before it, what it changes of it, and so what has to be
//! put back before it can run again.
//!
//! Guarantees: a command buffer is recorded again if and only if the frame uses what it held before the frame and also
//! changes it; descriptors are kept if and only if the frame writes over them. Refuses a frame during which something
//! waits for what a later frame signals.

use super::policy::{When, when};
use super::track::{Layout, Recording, Sync, SyncKind, Tracker, created};
use crate::error::{Error, Kind, Result};
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// Elements of a binding: from, to (not included).
pub type Span = (u32, u32);

/// What is known of a frame before it runs.
#[derive(Default)]
pub struct Plan {
    /// Recordings to make again, secondary command buffers first.
    pub recordings: Vec<Rc<Recording>>,
    /// Command buffers that the frame leaves half recorded: (device, command buffer).
    pub half: Vec<(u64, u64)>,
    /// Devices of the command buffers that are recorded again.
    pub buffers: HashMap<u64, u64>,
    /// Binary semaphores that were signalled before it and are not after it.
    pub consumed: Vec<u64>,
    /// Binary semaphores that it leaves signalled and that were not.
    pub left: Vec<u64>,
    /// Fences, events and semaphores that exist during the frame, those that it creates among them.
    pub sync: HashMap<u64, Sync>,
    /// Those that it creates.
    pub created: HashSet<u64>,
    /// Descriptors of older sets that it writes: set -> binding -> elements.
    pub descriptors: BTreeMap<u64, BTreeMap<u32, Span>>,
    /// What those sets are made of.
    pub sets: HashMap<u64, (u64, Rc<Layout>)>,
    /// What the sets it allocates take: captured pool -> layouts.
    pub allocated: HashMap<u64, Vec<Rc<Layout>>>,
    /// Queries that it writes without a reset: pool -> queries.
    pub reset: BTreeMap<u64, BTreeSet<u32>>,
    /// Queries whose results it reads and then resets.
    pub revive: BTreeMap<u64, BTreeSet<u32>>,
    /// Devices and types of query pools.
    pub pools: HashMap<u64, super::track::Queries>,
    /// It presents.
    pub presents: bool,
    /// Calls that run in each iteration, only in the first, and never.
    pub calls: [u64; 3],
    /// What will not be as it was, by name.
    pub notes: BTreeMap<String, u64>,
}

/// What the frame has done to a query so far.
#[derive(Clone, Copy)]
struct Query {
    first: Did,
    last: Did,
    copied: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Did {
    Reset,
    Write,
    Read,
}

struct Walk<'t> {
    tracker: &'t mut Tracker,
    old: HashMap<u64, Rc<Recording>>,
    old_sets: HashMap<u64, (u64, Rc<Layout>)>,
    changed: HashSet<u64>,
    used: HashSet<u64>,
    queries: BTreeMap<(u64, u32), Query>,
    plan: Plan,
}

/// Walks the calls of a frame; `tracker` knows what came before, and afterwards the frame, too.
pub fn plan<'c>(tracker: &mut Tracker, calls: impl Iterator<Item = &'c Call>) -> Result<Plan> {
    refuse_stuck(tracker, "the frames before it")?;
    let before = tracker.signalled.clone();
    let plan = Plan { sync: tracker.sync.clone(), pools: tracker.queries.clone(), ..Plan::default() };
    let mut w = Walk {
        old: tracker.recordings.clone(),
        old_sets: tracker.sets.iter().map(|(id, s)| (*id, (s.device, s.layout.clone()))).collect(),
        tracker,
        changed: HashSet::new(),
        used: HashSet::new(),
        queries: BTreeMap::new(),
        plan,
    };
    for call in calls {
        w.call(call);
    }
    refuse_stuck(w.tracker, "the frame")?;
    w.recordings();
    w.query_work();
    let mut plan = w.plan;
    plan.sets = w.old_sets;
    plan.sets.retain(|id, _| plan.descriptors.contains_key(id));
    plan.consumed = before.difference(&tracker.signalled).copied().collect();
    plan.left = tracker.signalled.difference(&before).copied().collect();
    plan.consumed.sort_unstable();
    plan.left.sort_unstable();
    Ok(plan)
}

fn refuse_stuck(tracker: &Tracker, who: &str) -> Result<()> {
    match tracker.stuck() {
        None => Ok(()),
        Some((id, value)) => Err(Error::new(
            Kind::Unsupported,
            format!(
                "{who} submitted work that waits for timeline semaphore {id} to reach {value}, which only later work \
                 signals: it cannot finish on its own; choose another --loop-frame, or another --frame-by"
            ),
        )),
    }
}

impl Walk<'_> {
    fn note(&mut self, what: &str) {
        *self.plan.notes.entry(what.to_owned()).or_default() += 1;
    }

    fn call(&mut self, call: &Call) {
        self.plan.calls[match when(call.command) {
            When::Each => 0,
            When::Once => 1,
            When::Never => 2,
        }] += 1;
        let (first, second) = (call.image.u64(0), || call.image.u64(8));
        let v = View::call(&call.image);
        match call.command.canonical {
            "vkBeginCommandBuffer" | "vkResetCommandBuffer" => drop(self.changed.insert(first)),
            "vkResetCommandPool" => {
                let all: Vec<u64> = self.tracker.of_pool(second()).collect();
                self.changed.extend(all);
            }
            "vkEndCommandBuffer" => self.goes_on(first),
            "vkQueueSubmit" | "vkQueueSubmit2" => submitted(v).into_iter().for_each(|b| self.executes(b)),
            "vkQueueBindSparse" => self.note("sparse bindings that the frame changes"),
            "vkQueuePresentKHR" => self.plan.presents = true,
            "vkUpdateDescriptorSets" => {
                for (array, set) in [("pDescriptorWrites", "dstSet"), ("pDescriptorCopies", "dstSet")] {
                    for s in v.structs(array) {
                        let n = |name| s.u32(name).unwrap_or(0);
                        let place = (n("dstBinding"), n("dstArrayElement"), n("descriptorCount"));
                        self.writes(s.u64(set).unwrap_or(0), place);
                    }
                }
            }
            "vkUpdateDescriptorSetWithTemplate" => {
                let entries = self.tracker.templates.get(&call.image.u64(16)).cloned();
                entries.iter().flat_map(|e| e.iter()).for_each(|e| self.writes(second(), *e));
            }
            "vkAllocateDescriptorSets" if call.image.ret().is_none_or(|r| r >= 0) => {
                let Some(info) = v.one("pAllocateInfo") else { return };
                let layouts = info.u64s("pSetLayouts");
                let layouts = layouts.iter().filter_map(|l| self.tracker.layouts.get(l).cloned());
                let pool = info.u64("descriptorPool").unwrap_or(0);
                self.plan.allocated.entry(pool).or_default().extend(layouts);
            }
            "vkResetQueryPool" | "vkGetQueryPoolResults" => {
                let did = if call.command.canonical == "vkResetQueryPool" { Did::Reset } else { Did::Read };
                self.queries(second(), call.image.u32(16), call.image.u32(24), did, false);
            }
            "vkCreateSemaphore" | "vkCreateFence" | "vkCreateEvent" | "vkCreateQueryPool" => {
                self.tracker.see(call);
                for id in created(call) {
                    self.plan.created.insert(id);
                    self.plan.sync.extend(self.tracker.sync.get(&id).map(|s| (id, *s)));
                    self.plan.pools.extend(self.tracker.queries.get(&id).map(|p| (id, *p)));
                }
                return;
            }
            n if n.starts_with("vkCmd") => self.goes_on(first),
            _ => {}
        }
        // What it would destroy lives on.
        if when(call.command) != When::Never {
            self.tracker.see(call);
        }
    }

    /// A call adds to a recording: one that began before the frame has to begin again.
    fn goes_on(&mut self, buffer: u64) {
        if !self.changed.contains(&buffer) && self.old.get(&buffer).is_some_and(|r| !r.ended) {
            self.changed.insert(buffer);
            self.used.insert(buffer);
        }
    }

    /// A command buffer runs, with what it holds now.
    fn executes(&mut self, buffer: u64) {
        let Some(r) = self.tracker.recordings.get(&buffer).cloned() else { return };
        if !self.changed.contains(&buffer) {
            self.used.insert(buffer);
        }
        for call in &r.calls {
            self.recorded(call);
        }
    }

    /// One command that runs.
    fn recorded(&mut self, call: &Call) {
        let i = &call.image;
        match call.command.canonical {
            "vkCmdExecuteCommands" => {
                View::call(i).u64s("pCommandBuffers").into_iter().for_each(|b| self.executes(b));
            }
            "vkCmdResetQueryPool" => self.queries(i.u64(8), i.u32(16), i.u32(24), Did::Reset, false),
            "vkCmdCopyQueryPoolResults" => self.queries(i.u64(8), i.u32(16), i.u32(24), Did::Read, true),
            "vkCmdBeginQuery" | "vkCmdBeginQueryIndexedEXT" => {
                self.queries(i.u64(8), i.u32(16), 1, Did::Write, false);
            }
            "vkCmdWriteTimestamp" | "vkCmdWriteTimestamp2" => {
                self.queries(i.u64(16), i.u32(24), 1, Did::Write, false);
            }
            "vkCmdWriteAccelerationStructuresPropertiesKHR" => {
                self.queries(i.u64(32), i.u32(40), i.u32(8), Did::Write, false);
            }
            "vkCmdSetEvent" | "vkCmdResetEvent" | "vkCmdSetEvent2" | "vkCmdResetEvent2" => {
                let kind = self.plan.sync.get(&i.u64(8)).map(|s| s.kind);
                if kind == Some(SyncKind::Event(true)) {
                    self.note("events that only the device can see, which the frame sets or resets");
                }
            }
            _ => {}
        }
    }

    fn queries(&mut self, pool: u64, first: u32, count: u32, did: Did, copied: bool) {
        // A damaged capture may name more than there are.
        let has = self.tracker.queries.get(&pool).map_or(0, |p| p.count);
        for q in first..first.saturating_add(count).min(has) {
            let entry =
                self.queries.entry((pool, q)).or_insert(Query { first: did, last: did, copied: false });
            // Results of the frame itself, and results that nothing replaces, need no care.
            match did {
                Did::Read => entry.copied |= copied && entry.first == Did::Read,
                _ => entry.last = did,
            }
        }
    }

    /// Elements of a set are written; one that the frame allocated itself needs no care.
    fn writes(&mut self, set: u64, (binding, element, count): (u32, u32, u32)) {
        let Some((_, layout)) = self.old_sets.get(&set) else { return };
        let spans = spans(layout, binding, element, count);
        let written = self.plan.descriptors.entry(set).or_default();
        for (binding, (from, to)) in spans {
            let s = written.entry(binding).or_insert((from, to));
            *s = (s.0.min(from), s.1.max(to));
        }
    }

    /// Which recordings must be made again.
    fn recordings(&mut self) {
        let mut again: BTreeSet<u64> = self.used.intersection(&self.changed).copied().collect();
        // A primary command buffer dies when a secondary one that it executes is recorded anew.
        loop {
            let more: Vec<u64> = self.used.iter().copied().filter(|b| !again.contains(b)).collect();
            let more: Vec<u64> = more
                .into_iter()
                .filter(|b| self.old.get(b).is_some_and(|r| r.executes().any(|s| again.contains(&s))))
                .collect();
            if more.is_empty() {
                break;
            }
            again.extend(more);
        }
        let mut recordings: Vec<_> = again.iter().filter_map(|b| self.old.get(b).cloned()).collect();
        recordings.sort_by_key(|r| r.executes().next().is_some());
        self.plan.recordings = recordings;
        let pools = &self.tracker.pools;
        self.plan.buffers = again.iter().filter_map(|b| Some((*b, pools.get(b)?.1))).collect();
        let half = self.changed.iter().filter(|b| self.tracker.recordings.get(b).is_some_and(|r| !r.ended));
        let device = |b: &u64| self.tracker.pools.get(b).map_or(0, |p| p.1);
        self.plan.half = half.map(|b| (device(b), *b)).collect();
        self.plan.half.sort_unstable();
    }

    fn query_work(&mut self) {
        let mut stale = 0;
        for (&(pool, q), did) in &self.queries {
            match (did.first, did.last) {
                (Did::Write, _) => drop(self.plan.reset.entry(pool).or_default().insert(q)),
                (Did::Read, Did::Reset) => drop(self.plan.revive.entry(pool).or_default().insert(q)),
                _ => {}
            }
            stale += u64::from(did.copied && did.first == Did::Read && did.last != Did::Read);
        }
        if stale > 0 {
            let what = "queries of earlier frames whose results the frame copies and then replaces";
            self.plan.notes.insert(what.to_owned(), stale);
        }
    }
}

/// Command buffers of a submission, in order.
fn submitted(v: View<'_>) -> Vec<u64> {
    let mut all = Vec::new();
    for s in v.structs("pSubmits") {
        all.extend(s.u64s("pCommandBuffers"));
        all.extend(s.structs("pCommandBufferInfos").filter_map(|c| c.u64("commandBuffer")));
    }
    all
}

/// The bindings that a write touches: what does not fit into one goes on in the next.
fn spans(layout: &Layout, binding: u32, element: u32, count: u32) -> Vec<(u32, Span)> {
    let (mut from, mut left) = (element, count);
    let mut spans = Vec::new();
    for (&number, b) in layout.bindings.range(binding..) {
        if left == 0 {
            break;
        }
        if from >= b.count {
            from -= b.count;
            continue;
        }
        let n = left.min(b.count - from);
        spans.push((number, (from, from.saturating_add(n))));
        left -= n;
        from = 0;
    }
    spans
}

#[cfg(test)]
mod tests;
