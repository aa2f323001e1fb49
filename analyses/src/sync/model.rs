//! The tables, joined: accesses by what they may meet, and parts of barriers by queue.
//!
//! Guarantees: objects that share memory are one; what may be anything meets everything.

use super::scopes::{accesses, stages, waited_for, waiting};
use crate::resources::Numbers;
use std::collections::BTreeMap;
use std::sync::Arc;
use trace::tables::{SYNC_ACCESSES, SYNC_BARRIERS, SYNC_OBJECTS, SYNC_SUBMISSIONS};
use trace::{Source, Unreadable};

/// What stands for every buffer that has an address.
const ADDRESSED: u64 = u64::MAX;

/// Which part of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    /// First byte; of an image level and layer.
    pub first: u64,
    /// Last byte; of an image level and layer.
    pub last: u64,
    /// Of an image; 0 for bytes.
    pub aspects: u64,
}

impl Range {
    /// Whether both have something in common.
    pub fn meets(&self, o: &Range) -> bool {
        if self.aspects == 0 || o.aspects == 0 {
            return self.first <= o.last && o.first <= self.last;
        }
        let low = |n: u64| n & 0xffff_ffff;
        self.aspects & o.aspects != 0
            && self.first >> 32 <= o.last >> 32
            && o.first >> 32 <= self.last >> 32
            && low(self.first) <= low(o.last)
            && low(o.first) <= low(self.last)
    }

    /// Whether it has all of the other.
    pub fn holds(&self, o: &Range) -> bool {
        let low = |n: u64| n & 0xffff_ffff;
        if self.aspects == 0 || o.aspects == 0 {
            return self.first <= o.first && self.last >= o.last;
        }
        o.aspects & !self.aspects == 0
            && self.first >> 32 <= o.first >> 32
            && self.last >> 32 >= o.last >> 32
            && low(self.first) <= low(o.first)
            && low(self.last) >= low(o.last)
    }
}

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
    /// Which part.
    pub range: Range,
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
    /// Stages that wait for semaphores.
    pub wait_stages: u64,
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
    /// Groups of several objects.
    pub aliased: Vec<bool>,
    /// What may be anything.
    pub anything: Vec<Access>,
    /// Kind and name by object.
    pub names: Numbers<(Arc<str>, Arc<str>)>,
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
                wait_stages: n("wait_stages", r),
                counts: ["command_buffers", "waits", "signals", "fence", "host"].map(|c| n(c, r)),
            })
            .collect();
        m.submissions.sort_by_key(|s| s.sequence);
        m.accesses(trace)?;
        m.barriers(trace)?;
        Ok(m)
    }

    /// The group of an object; one of its own if nobody said where it lies.
    fn group(&mut self, object: u64) -> u32 {
        let next = self.groups.len() as u32;
        let group = *self.group_of.entry(object).or_insert(next);
        if group == next {
            self.groups.push(vec![]);
            self.aliased.push(false);
        }
        group
    }

    fn objects(&mut self, trace: &dyn Source) -> Result<(), Unreadable> {
        let t = trace.read(&SYNC_OBJECTS)?;
        let mut placed: Vec<(u64, u64, u64, u64)> = vec![];
        let mut joined: Vec<(u64, u64)> = vec![];
        for r in 0..t.len() {
            let [id, memory, offset, bytes, addressed] =
                ["object", "memory", "offset", "bytes", "addressed"].map(|c| t.u64(c)[r]);
            self.names.insert(id, (t.text("kind")[r].clone(), t.text("name")[r].clone()));
            if memory != 0 {
                placed.push((memory, offset, offset.saturating_add(bytes.max(1)), id));
            }
            if addressed != 0 {
                joined.push((ADDRESSED, id));
            }
        }
        placed.sort_unstable();
        // (the one that reaches furthest so far)
        let mut reach: Option<(u64, u64, u64)> = None;
        for (memory, begin, end, id) in placed {
            match &mut reach {
                Some((m, to, first)) if *m == memory && *to > begin => {
                    joined.push((*first, id));
                    *to = end.max(*to);
                }
                _ => reach = Some((memory, end, id)),
            }
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
            self.aliased[top as usize] = true;
            self.group_of.insert(a, top);
            self.group_of.insert(b, top);
        }
        Ok(())
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
        for [sequence, queue, s, a, write, object, first, last, aspects] in rows {
            let range = Range { first, last, aspects };
            let access =
                Access { sequence, queue, stages: stages(s), access: accesses(a), write: write != 0, range };
            if object == 0 {
                self.anything
                    .push(Access { range: Range { first: 0, last: u64::MAX, aspects: 0 }, ..access });
                continue;
            }
            let group = self.group(object);
            self.groups[group as usize].push(access);
        }
        Ok(())
    }

    fn barriers(&mut self, trace: &dyn Source) -> Result<(), Unreadable> {
        let t = trace.read(&SYNC_BARRIERS)?;
        let of: Numbers<(u64, u64)> =
            self.submissions.iter().map(|s| (s.number, (s.queue, s.frame))).collect();
        for r in 0..t.len() {
            let n = |name: &str| t.u64(name)[r];
            let given = ["src_stages", "src_access", "dst_stages", "dst_access"].map(n);
            let (queue, frame) = of.get(&n("submission")).copied().unwrap_or_default();
            let object = n("object");
            let group = (object != 0).then(|| self.group(object));
            let part = Part {
                sequence: n("sequence"),
                queue,
                kind: t.text("kind")[r].clone(),
                frame,
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
            };
            self.parts.push(part);
        }
        self.parts.sort_by_key(|p| p.sequence);
        for (n, p) in self.parts.iter().enumerate() {
            self.queues.entry(p.queue).or_default().push(n as u32);
        }
        Ok(())
    }

    /// Whether a part is about what an access of this group accesses.
    pub fn applies(&self, p: &Part, group: u32, range: &Range) -> bool {
        match p.group {
            None => true,
            Some(g) => g == group && (self.aliased[g as usize] || p.range.meets(range)),
        }
    }
}
