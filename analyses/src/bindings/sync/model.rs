//! The tables, joined: accesses by what they may meet, and parts of barriers by queue.
//!
//! Guarantees: objects that share memory are of one group; what may be anything is of no group; a change of layout is an access of its
//! own, that writes.

use super::places::{ADDRESSED, Object, Places, Range};
use super::scopes::{
    ALL_COMMANDS, HOST, MEMORY_READ, MEMORY_WRITE, accesses, is_not_followed, stages, waited_for, waiting,
};
use crate::bindings::resources::Numbers;
use std::collections::BTreeMap;
use std::sync::Arc;
use trace::tables::{SYNC_ACCESSES, SYNC_BARRIERS, SYNC_OBJECTS, SYNC_SUBMISSIONS, SYNC_WAITS};
use trace::{Source, Unreadable};

/// An access.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The command's number.
    pub sequence: u64,
    /// The queue; 0 for presentation.
    pub queue: u64,
    /// Each stage by itself.
    pub stages: u64,
    /// Each access by itself.
    pub access: u64,
    /// Whether it may write.
    pub write: bool,
    /// What; 0 for anything.
    pub object: u64,
    /// Which part.
    pub range: Range,
    /// Of a change of layout, or of handing over: the part of a barrier that does it.
    pub change: Option<u32>,
    /// The memory that it lies on, the first byte and the last, if that is known.
    pub bytes: Option<(u64, u64, u64)>,
}

/// A part of a barrier.
#[derive(Clone, Debug)]
pub struct Part {
    /// The command's number.
    pub sequence: u64,
    /// The queue.
    pub queue: u64,
    /// barrier, event, subpass.
    pub kind: Arc<str>,
    /// The frame.
    pub frame: u64,
    /// The frame was not asked for.
    pub aside: bool,
    /// The recording, and the index there.
    pub at: (u64, u64),
    /// The capture's block that recorded it.
    pub block: u64,
    /// The debug label that it is in.
    pub label: Arc<str>,
    /// Stages and accesses as they were given: waited for, then waiting.
    pub given: [u64; 4],
    /// What is waited for, with earlier stages.
    pub waited_for: u64,
    /// What waits, with later stages.
    pub waiting: u64,
    /// The same masks, each stage and access by itself.
    pub exact: [u64; 4],
    /// The object; 0 for all memory.
    pub object: u64,
    /// Its group; `None` for all memory.
    pub group: Option<u32>,
    /// Which part.
    pub range: Range,
    /// Before and behind.
    pub layouts: [u64; 2],
    /// To another queue family.
    pub transfer: bool,
    /// What comes at this command or later is not waited for.
    pub since: u64,
    /// Layouts may change with it, of images that are not named.
    pub changes: bool,
}

impl Part {
    /// Whether it orders all commands before it and all that they wrote before all commands behind it.
    pub fn orders_all(&self) -> bool {
        let all = stages(ALL_COMMANDS);
        let memory = accesses(MEMORY_READ | MEMORY_WRITE);
        let [src, available, dst, visible] = self.exact;
        self.object == 0
            && &*self.kind == "barrier"
            && (all & !src, all & !dst) == (0, 0)
            && (accesses(MEMORY_WRITE) & !available, memory & !visible) == (0, 0)
    }

    /// What it does besides ordering, or orders with what is not followed, keeps it.
    pub fn is_kept(&self, host_signals: bool) -> bool {
        let host = |stages: u64, access: u64| stages & HOST != 0 || access & 0x6000 != 0;
        // (what the host wrote before a submission is seen by it anyway)
        host(self.given[2], self.given[3])
            || (host_signals && host(self.given[0], self.given[1]))
            || is_not_followed(self.given[0] | self.given[2], self.given[1] | self.given[3])
            || self.transfer
            || self.changes
            || self.layouts[0] != self.layouts[1]
            || (self.since == 0 && &*self.kind == "event")
    }
}

/// A wait for a semaphore.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// The queue that waits.
    pub queue: u64,
    /// Where its commands begin.
    pub sequence: u64,
    /// Stages that wait, each by itself, with later ones.
    pub waiting: u64,
    /// The queue that signals, 0 for presentation; `None` for the host, or nobody known.
    pub from: Option<u64>,
    /// The last command before the signal.
    pub from_sequence: u64,
}

/// A batch.
#[derive(Clone, Debug)]
pub struct Submission {
    /// From 0.
    pub number: u64,
    /// The block of its call.
    pub call: u64,
    /// The frame.
    pub frame: u64,
    /// The queue.
    pub queue: u64,
    /// Where it begins.
    pub sequence: u64,
    /// Its frame was not asked for.
    pub aside: bool,
    /// Command buffers, semaphores waited for, semaphores signalled, the fence, what the host did before.
    pub counts: [u64; 5],
}

/// See the module's header.
#[derive(Default)]
pub struct Model {
    /// In order.
    pub submissions: Vec<Submission>,
    /// By sequence.
    pub parts: Vec<Part>,
    /// Indices of a queue's parts, by sequence.
    pub queues: BTreeMap<u64, Vec<u32>>,
    /// By group: accesses by sequence.
    pub groups: Vec<Vec<Access>>,
    /// What may be anything, by sequence.
    pub anything: Vec<Access>,
    /// Where objects lie.
    pub places: Places,
    /// Waits for semaphores, by queue.
    pub waits: BTreeMap<u64, Vec<Wait>>,
    /// The host signals events or semaphores: it may write while the device runs.
    pub host_signals: bool,
    group_of: Numbers<u32>,
}

impl Model {
    /// Reads it.
    pub fn read(trace: &dyn Source) -> Result<Model, Unreadable> {
        let mut m = Model::default();
        m.objects(trace)?;
        let t = trace.read(&SYNC_SUBMISSIONS)?;
        let n = |name: &str, r: usize| t.u64(name)[r];
        m.submissions = (0..t.len())
            .map(|r| Submission {
                number: n("submission", r),
                call: n("call", r),
                frame: n("frame", r),
                queue: n("queue", r),
                sequence: n("sequence", r),
                aside: n("aside", r) != 0,
                counts: ["command_buffers", "waits", "signals", "fence", "host"].map(|c| n(c, r)),
            })
            .collect();
        m.submissions.sort_by_key(|s| s.sequence);
        m.waits(trace)?;
        m.accesses(trace)?;
        m.barriers(trace)?;
        m.changes();
        Ok(m)
    }

    /// The group of an object; one of its own if nobody said where it lies.
    fn group(&mut self, object: u64) -> u32 {
        let next = self.groups.len() as u32;
        let group = *self.group_of.entry(object).or_insert(next);
        if group == next {
            self.groups.push(vec![]);
        }
        group
    }

    fn objects(&mut self, trace: &dyn Source) -> Result<(), Unreadable> {
        let t = trace.read(&SYNC_OBJECTS)?;
        for r in 0..t.len() {
            let n = |name: &str| t.u64(name)[r];
            let object = Object {
                kind: t.text("kind")[r].clone(),
                name: t.text("name")[r].clone(),
                memory: n("memory"),
                offset: n("offset"),
                bytes: n("bytes"),
                addressed: n("addressed") != 0,
                gone: n("gone"),
            };
            self.places.0.insert(n("object"), object);
        }
        Ok(())
    }

    /// Makes groups of what shares memory at a time. `first`: the first command that has to do with an object.
    fn join(&mut self, first: &Numbers<u64>) {
        let mut order: Vec<(u64, u64)> = first.iter().map(|(id, at)| (*at, *id)).collect();
        order.sort_unstable();
        let mut joined: Vec<(u64, u64)> = vec![];
        let mut live: BTreeMap<u64, Vec<(u64, u64, u64, u64)>> = BTreeMap::new();
        for (at, id) in order {
            let Some(o) = self.places.0.get(&id) else { continue };
            if o.addressed {
                joined.push((ADDRESSED, id));
            }
            if o.memory == 0 {
                continue;
            }
            let (begin, end) = (o.offset, o.offset.saturating_add(o.bytes.max(1)));
            let there = live.entry(o.memory).or_default();
            there.retain(|l| l.2 == 0 || l.2 >= at);
            joined.extend(there.iter().filter(|l| l.0 < end && begin < l.1).map(|l| (l.3, id)));
            there.push((begin, end, o.gone, id));
        }
        let mut parent: Numbers<u64> = Numbers::default();
        fn root(parent: &Numbers<u64>, mut id: u64) -> u64 {
            while let Some(p) = parent.get(&id) {
                id = *p;
            }
            id
        }
        for (a, b) in &joined {
            let (a, b) = (root(&parent, *a), root(&parent, *b));
            if a != b {
                parent.insert(b, a);
            }
        }
        for (a, b) in joined {
            let top = self.group(root(&parent, a));
            self.group_of.insert(a, top);
            self.group_of.insert(b, top);
        }
    }

    fn accesses(&mut self, trace: &dyn Source) -> Result<(), Unreadable> {
        let columns =
            ["sequence", "queue", "stages", "access", "write", "object", "first", "last", "aspects"];
        let mut rows: Vec<[u64; 9]> = vec![];
        trace.each_of(&SYNC_ACCESSES, &columns, &mut |t| {
            let c = columns.map(|c| t.u64(c));
            rows.extend((0..t.len()).map(|r| c.map(|c| c[r])));
            Ok(())
        })?;
        rows.sort_by_key(|r| r[0]);
        let mut first: Numbers<u64> = Numbers::default();
        for r in &rows {
            first.entry(r[5]).or_insert(r[0]);
        }
        let t = trace.read(&SYNC_BARRIERS)?;
        for (object, at) in t.u64("object").iter().zip(t.u64("sequence")) {
            let there = first.entry(*object).or_insert(*at);
            *there = (*there).min(*at);
        }
        self.join(&first);
        for [sequence, queue, s, a, write, object, first, last, aspects] in rows {
            let range = Range { first, last, aspects };
            let (stages, access, write, change) = (stages(s), accesses(a), write != 0, None);
            let bytes = self.places.bytes(object, &range);
            let access = Access { sequence, queue, stages, access, write, object, range, change, bytes };
            if object == 0 {
                self.anything.push(access);
                continue;
            }
            let group = self.group(object);
            self.groups[group as usize].push(access);
        }
        Ok(())
    }

    fn barriers(&mut self, trace: &dyn Source) -> Result<(), Unreadable> {
        let t = trace.read(&SYNC_BARRIERS)?;
        let of: Numbers<(u64, u64, bool)> =
            self.submissions.iter().map(|s| (s.number, (s.queue, s.frame, s.aside))).collect();
        for r in 0..t.len() {
            let n = |name: &str| t.u64(name)[r];
            let given = ["src_stages", "src_access", "dst_stages", "dst_access"].map(n);
            let (queue, frame, aside) = of.get(&n("submission")).copied().unwrap_or_default();
            let object = n("object");
            let group = (object != 0).then(|| self.group(object));
            let part = Part {
                sequence: n("sequence"),
                queue,
                kind: t.text("kind")[r].clone(),
                frame,
                aside,
                at: (n("recording"), n("command")),
                block: n("block"),
                label: t.text("label")[r].clone(),
                given,
                waited_for: waited_for(given[0]),
                waiting: waiting(given[2]),
                exact: [stages(given[0]), accesses(given[1]), stages(given[2]), accesses(given[3])],
                object,
                group,
                range: Range { first: n("first"), last: n("last"), aspects: n("aspects") },
                layouts: [n("old_layout"), n("new_layout")],
                transfer: n("transfer") != 0,
                since: n("since"),
                changes: n("changes") != 0,
            };
            self.host_signals |= &*part.kind == "event" && part.since == 0;
            self.parts.push(part);
        }
        self.parts.sort_by_key(|p| p.sequence);
        for (n, p) in self.parts.iter().enumerate() {
            self.queues.entry(p.queue).or_default().push(n as u32);
        }
        Ok(())
    }

    fn waits(&mut self, trace: &dyn Source) -> Result<(), Unreadable> {
        let t = trace.read(&SYNC_WAITS)?;
        for r in 0..t.len() {
            let n = |name: &str| t.u64(name)[r];
            let by = &*t.text("by")[r];
            self.host_signals |= by == "host";
            let wait = Wait {
                queue: n("queue"),
                sequence: n("sequence"),
                waiting: waiting(n("stages")),
                from: matches!(by, "queue" | "presentation").then(|| n("from_queue")),
                from_sequence: n("from_sequence"),
            };
            self.waits.entry(wait.queue).or_default().push(wait);
        }
        Ok(())
    }

    /// Changes of layouts, and what hands over to other queue families, as accesses.
    fn changes(&mut self) {
        for (n, p) in self.parts.iter().enumerate() {
            let Some(group) = p.group.filter(|_| p.transfer || p.layouts[0] != p.layouts[1]) else {
                continue;
            };
            self.groups[group as usize].push(Access {
                sequence: p.sequence,
                queue: p.queue,
                stages: 0,
                access: 0,
                write: true,
                object: p.object,
                range: p.range,
                change: Some(n as u32),
                bytes: self.places.bytes(p.object, &p.range),
            });
        }
        for group in &mut self.groups {
            group.sort_by_key(|a| a.sequence);
        }
    }

    /// Whether two accesses of one group share memory that lives when the second comes.
    pub fn meet(&self, a: &Access, b: &Access) -> bool {
        let shared = match (a.object == b.object, a.bytes, b.bytes) {
            (false, Some(a), Some(b)) => a.0 == b.0 && a.1 <= b.2 && b.1 <= a.2,
            _ => self.places.meet((a.object, &a.range), (b.object, &b.range)),
        };
        shared && !self.places.is_gone(a.object, b.sequence)
    }

    /// Whether the second may stand for the first from there on: it has all of its memory.
    pub fn holds(&self, b: &Access, a: &Access) -> bool {
        a.object == b.object && b.range.holds(&a.range)
    }

    /// Whether a part makes available and visible what two accesses share.
    pub fn applies(&self, p: &Part, a: &Access, b: &Access) -> bool {
        match p.object {
            0 => true,
            o => o == a.object && o == b.object && p.range.holds(&a.range.common(&b.range)),
        }
    }
}
