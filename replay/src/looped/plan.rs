//! A walk over the looped frame's calls: what it uses of the time before it, what it changes of it, and so what has to be
//! put back before it can run again.
//!
//! Guarantees: a command buffer is recorded again if and only if the frame uses what it held before the frame and also
//! changes it; descriptors are kept if and only if the frame writes over them. Refuses a frame during which something
//! waits for what a later frame signals.

use super::policy::{When, when};
use crate::error::{Error, Kind, Result};
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use world::commands::Command;
use world::layouts::SetLayout;
use world::objects::{Queries, Sync};
use world::recording::Recording;
use world::semaphores::Semaphores;
use world::walk::{Step, submitted};
use world::{Follow, Ids, Outcome, Queried, Query, World};

/// Elements of a binding: from, to (not included).
pub type Span = (u32, u32);

/// What is known of a frame before it runs.
#[derive(Default)]
pub struct Plan {
    /// Recordings to make again, as their calls, secondary command buffers first.
    pub recordings: Vec<Vec<Call>>,
    /// Command buffers that the frame leaves half recorded.
    pub half: Vec<u64>,
    /// Binary semaphores that were signalled before it and are not after it.
    pub consumed: Vec<u64>,
    /// Binary semaphores that it leaves signalled and that were not.
    pub left: Vec<u64>,
    /// Fences, events and semaphores that exist during the frame, those that it creates among them.
    pub sync: Ids<Sync>,
    /// Those that it creates, and query pools that it creates.
    pub created: HashSet<u64>,
    /// Descriptors of older sets that it writes: set -> binding -> elements.
    pub descriptors: BTreeMap<u64, BTreeMap<u32, Span>>,
    /// What those sets are made of.
    pub sets: HashMap<u64, Rc<SetLayout>>,
    /// What the sets it allocates take: captured pool -> layouts.
    pub allocated: HashMap<u64, Vec<Rc<SetLayout>>>,
    /// Queries that it writes without a reset: pool -> queries.
    pub reset: BTreeMap<u64, BTreeSet<u32>>,
    /// Queries whose results it reads and then resets.
    pub revive: BTreeMap<u64, BTreeSet<u32>>,
    /// Query pools that exist during the frame.
    pub pools: Ids<Queries>,
    /// It presents.
    pub presents: bool,
    /// Calls that run in each iteration, only in the first, and never.
    pub calls: [u64; 3],
    /// What will not be as it was, by name.
    pub notes: BTreeMap<String, u64>,
}

/// What the frame has done to a query so far.
#[derive(Clone, Copy)]
struct Did {
    first: Query,
    last: Query,
    copied: bool,
}

struct Walk<'w> {
    /// Before the frame.
    before: &'w World,
    /// As far as its calls have been gone through.
    ahead: Follow,
    changed: HashSet<u64>,
    used: HashSet<u64>,
    queries: BTreeMap<(u64, u32), Did>,
    plan: Plan,
}

/// Goes through the calls of a frame that has not run; `follow` has followed what came before, and has kept its calls.
pub fn plan<'c>(follow: &mut Follow, calls: impl Iterator<Item = &'c Call>) -> Result<Plan> {
    refuse_stuck(follow.semaphores(), "the frames before it")?;
    let ahead = follow.ahead();
    let mut w = Walk {
        before: follow.world(),
        ahead,
        changed: HashSet::new(),
        used: HashSet::new(),
        queries: BTreeMap::new(),
        plan: Plan::default(),
    };
    calls.for_each(|call| w.call(call));
    refuse_stuck(w.ahead.semaphores(), "the frame")?;
    w.recordings();
    w.query_work();
    let (before, after) = (&follow.semaphores().signalled, &w.ahead.semaphores().signalled);
    w.plan.consumed = before.difference(after).copied().collect();
    w.plan.left = after.difference(before).copied().collect();
    let (old, now, plan) = (w.before, w.ahead.world(), &mut w.plan);
    let layout = |id: &u64| Some((*id, old.sets.get(id)?.layout.clone()));
    plan.sets = plan.descriptors.keys().filter_map(layout).collect();
    (plan.sync, plan.pools) = (now.syncs.clone(), now.query_pools.clone());
    plan.created = now.syncs.keys().filter(|id| !old.syncs.contains_key(id)).copied().collect();
    plan.created.extend(now.query_pools.keys().filter(|id| !old.query_pools.contains_key(id)));
    Ok(w.plan)
}

fn refuse_stuck(semaphores: &Semaphores, who: &str) -> Result<()> {
    match semaphores.stuck() {
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
        let when = when(call.command);
        self.plan.calls[match when {
            When::Each => 0,
            When::Once => 1,
            When::Never => 2,
        }] += 1;
        let v = View::call(&call.image);
        let n = |name| v.u64(name).unwrap_or(0);
        match call.command.canonical {
            "vkBeginCommandBuffer" | "vkResetCommandBuffer" => drop(self.changed.insert(n("commandBuffer"))),
            "vkResetCommandPool" => {
                let pool = self.ahead.world().command_pools.get(&n("commandPool"));
                self.changed.extend(pool.iter().flat_map(|p| &p.buffers));
            }
            "vkEndCommandBuffer" => self.goes_on(n("commandBuffer")),
            "vkQueueSubmit" | "vkQueueSubmit2" => self.executes(&submitted(call)),
            "vkQueueBindSparse" => self.note("sparse bindings that the frame changes"),
            "vkQueuePresentKHR" => self.plan.presents = true,
            "vkUpdateDescriptorSets" => {
                for s in v.structs("pDescriptorWrites").chain(v.structs("pDescriptorCopies")) {
                    let n = |name| s.u32(name).unwrap_or(0);
                    let place = (n("dstBinding"), n("dstArrayElement"), n("descriptorCount"));
                    self.writes(s.u64("dstSet").unwrap_or(0), place);
                }
            }
            "vkUpdateDescriptorSetWithTemplate" => {
                let template = self.ahead.world().templates.get(&n("descriptorUpdateTemplate")).cloned();
                for e in template.iter().flat_map(|t| &t.entries) {
                    self.writes(n("descriptorSet"), (e.binding, e.element, e.count));
                }
            }
            "vkAllocateDescriptorSets" if call.image.ret().is_none_or(|r| r >= 0) => {
                let Some(info) = v.one("pAllocateInfo") else { return };
                let layouts = info.u64s("pSetLayouts");
                let layouts = layouts.iter().filter_map(|l| self.ahead.world().set_layouts.get(l).cloned());
                let pool = info.u64("descriptorPool").unwrap_or(0);
                self.plan.allocated.entry(pool).or_default().extend(layouts);
            }
            "vkResetQueryPool" | "vkGetQueryPoolResults" => {
                Queried::of(v).into_iter().for_each(|q| self.queries(q, false));
            }
            n if n.starts_with("vkCmd") => self.goes_on(call.image.u64(0)),
            _ => {}
        }
        // What it would destroy lives on.
        if when != When::Never {
            self.ahead.call(call, Outcome::captured(call), &mut ());
        }
    }

    /// A call adds to a recording: one that began before the frame has to begin again.
    fn goes_on(&mut self, buffer: u64) {
        if self.before.is_recording(buffer) && self.changed.insert(buffer) {
            self.used.insert(buffer);
        }
    }

    /// Command buffers run, with what they hold now.
    fn executes(&mut self, buffers: &[u64]) {
        let (mut queried, mut events) = (Vec::new(), 0);
        self.ahead.world().walk(buffers, &mut |holder, step| match step {
            Step::Enters if !self.changed.contains(&holder.buffer) => drop(self.used.insert(holder.buffer)),
            Step::Command(c) => match &c.command {
                Command::Other(image) => queried.extend(Queried::of(View::call(image))),
                Command::SetEvent { event, .. } | Command::ResetEvent { event, .. } => {
                    events += u64::from(self.ahead.world().syncs.get(event) == Some(&Sync::Event(true)));
                }
                _ => {}
            },
            _ => {}
        });
        queried.into_iter().for_each(|q| self.queries(q, true));
        (0..events)
            .for_each(|_| self.note("events that only the device can see, which the frame sets or resets"));
    }

    /// `copies`: the device reads them, if it is that.
    fn queries(&mut self, of: Queried, copies: bool) {
        let Queried { pool, first, count, how } = of;
        // A damaged capture may name more than there are.
        let has = self.ahead.world().query_pools.get(&pool).map_or(0, |p| p.count);
        for q in first..first.saturating_add(count).min(has) {
            let entry = self.queries.entry((pool, q)).or_insert(Did { first: how, last: how, copied: false });
            // Results of the frame itself, and results that nothing replaces, need no care.
            match how {
                Query::Read => entry.copied |= copies && entry.first == Query::Read,
                _ => entry.last = how,
            }
        }
    }

    /// Elements of a set are written; one that the frame allocated itself needs no care.
    fn writes(&mut self, set: u64, (binding, element, count): (u32, u32, u32)) {
        let Some(set_before) = self.before.sets.get(&set) else { return };
        let written = self.plan.descriptors.entry(set).or_default();
        for (binding, (from, to)) in spans(&set_before.layout, binding, element, count) {
            let s = written.entry(binding).or_insert((from, to));
            *s = (s.0.min(from), s.1.max(to));
        }
    }

    /// Which recordings must be made again.
    fn recordings(&mut self) {
        let mut again: BTreeSet<u64> = self.used.intersection(&self.changed).copied().collect();
        // A primary command buffer dies when a secondary one that it executes is recorded anew.
        loop {
            let dies = |b: &&u64| {
                self.before.recording(**b).is_some_and(|r| executes(r).any(|s| again.contains(&s)))
            };
            let more: Vec<u64> =
                self.used.iter().filter(|b| !again.contains(b)).filter(dies).copied().collect();
            if more.is_empty() {
                break;
            }
            again.extend(more);
        }
        let mut recordings: Vec<_> = again.iter().filter_map(|b| self.before.recording(*b)).collect();
        recordings.sort_by_key(|r| executes(r).next().is_some());
        self.plan.recordings = recordings.into_iter().map(|r| r.calls.clone()).collect();
        let half = self.changed.iter().filter(|b| self.ahead.world().is_recording(**b));
        self.plan.half = half.copied().collect();
        self.plan.half.sort_unstable();
    }

    fn query_work(&mut self) {
        let mut stale = 0;
        for (&(pool, q), did) in &self.queries {
            match (did.first, did.last) {
                (Query::Write, _) => drop(self.plan.reset.entry(pool).or_default().insert(q)),
                (Query::Read, Query::Reset) => drop(self.plan.revive.entry(pool).or_default().insert(q)),
                _ => {}
            }
            stale += u64::from(did.copied && did.first == Query::Read && did.last != Query::Read);
        }
        if stale > 0 {
            let what = "queries of earlier frames whose results the frame copies and then replaces";
            self.plan.notes.insert(what.to_owned(), stale);
        }
    }
}

/// Secondary command buffers that a recording executes.
fn executes(r: &Recording) -> impl Iterator<Item = u64> {
    r.commands
        .iter()
        .flat_map(|c| match &c.command {
            Command::Execute(secondaries) => &secondaries[..],
            _ => &[],
        })
        .copied()
}

/// The bindings that a write touches: what does not fit into one goes on in the next.
fn spans(layout: &SetLayout, binding: u32, element: u32, count: u32) -> Vec<(u32, Span)> {
    let (mut from, mut left) = (element, count);
    let mut spans = Vec::new();
    for b in layout.bindings.iter().filter(|b| b.binding >= binding) {
        if left == 0 {
            break;
        }
        if from >= b.count {
            from -= b.count;
            continue;
        }
        let n = left.min(b.count - from);
        spans.push((b.binding, (from, from.saturating_add(n))));
        left -= n;
        from = 0;
    }
    spans
}

#[cfg(test)]
mod tests;
