//! Which barriers order which accesses: every conflict is ordered by the first barrier that does it.
//!
//! A conflict is two accesses of the same memory, one of which writes. Those after a write want its bytes made available and visible; a
//! write after a read only wants to wait. Where one barrier does all that, it is needed, for these stages and accesses. Where none
//! does by itself, all that may have a part in it are needed, and it is not said what for. Conflicts between queues are ordered by semaphores: all barriers on
//! the way from there count as needed. Events order nothing here, so that nothing is taken from barriers.

use super::model::{Access, Model, Part};
use super::scopes::{WRITES, waiting};

/// Parts of barriers that are looked at between two accesses.
const FAR: usize = 4096;
/// Accesses that wait for another to come.
const PENDING: usize = 64;

/// What a part of a barrier is needed for.
#[derive(Clone, Debug, Default)]
pub struct Needed {
    /// By some conflict.
    pub any: bool,
    /// By one of which it is not known which part of its masks it wants.
    pub unsure: bool,
    /// Stages and accesses: waited for, then waiting.
    pub masks: [u64; 4],
    /// Conflicts.
    pub conflicts: u64,
}

/// By part.
pub fn needed(model: &Model) -> Vec<Needed> {
    let mut all = vec![Needed::default(); model.parts.len()];
    // Writes first, so that what only waits finds a barrier that is there anyway.
    for memory in [true, false] {
        for (group, accesses) in model.groups.iter().enumerate() {
            if model.anything.is_empty() {
                walk(model, group as u32, accesses, memory, &mut all);
            } else {
                let mut with = [&accesses[..], &model.anything].concat();
                with.sort_by_key(|a| a.sequence);
                walk(model, group as u32, &with, memory, &mut all);
            }
        }
    }
    all
}

fn walk(model: &Model, group: u32, accesses: &[Access], memory: bool, all: &mut [Needed]) {
    let whole = model.aliased[group as usize];
    let mut pending: Vec<Access> = vec![];
    for b in accesses {
        for a in &pending {
            let meets = whole || a.range.meets(&b.range);
            if meets && (a.write || b.write) && a.write == memory && a.sequence < b.sequence {
                conflict(model, group, a, b, all);
            }
        }
        // (what follows a write that has all of it is ordered behind that; of equal reads the last is waited for)
        pending.retain(|a| {
            let gone = (b.write && !whole && b.range.holds(&a.range) && b.queue == a.queue)
                || (!b.write && !a.write && b.range == a.range && b.stages == a.stages && b.queue == a.queue)
                || (whole && b.write && b.range == a.range && b.stages == a.stages && b.queue == a.queue);
            !gone
        });
        if pending.len() >= PENDING {
            pending.remove(0);
        }
        pending.push(*b);
    }
}

fn conflict(model: &Model, group: u32, a: &Access, b: &Access, all: &mut [Needed]) {
    let Some(parts) = model.queues.get(&b.queue) else { return };
    let end = parts.partition_point(|p| model.parts[*p as usize].sequence < b.sequence);
    if a.queue != b.queue {
        let (begin, stages) = awaited(model, a, b);
        let begin = parts.partition_point(|p| model.parts[*p as usize].sequence < begin);
        let there = &parts[begin.min(end)..end];
        // (where the semaphore holds up these very stages, or a barrier of the object itself takes over from it, barriers of other things have
        // nothing to do with it)
        let takes_over = |p: &u32| {
            let part = &model.parts[*p as usize];
            part.group == Some(group) && part.waited_for & stages != 0 && b.stages & !part.waiting == 0
        };
        let held = b.stages & !waiting(stages) == 0 || there.iter().rev().take(FAR).any(takes_over);
        for p in there.iter().rev().take(FAR) {
            let part = &model.parts[*p as usize];
            if part.group == Some(group) || (!held && part.waiting & b.stages != 0) {
                let n = &mut all[*p as usize];
                (n.any, n.unsure) = (true, true);
            }
        }
        return;
    }
    let begin = parts.partition_point(|p| model.parts[*p as usize].sequence <= a.sequence);
    let between = &parts[begin.min(end)..end];
    let orders = |part: &Part, reach: u64| {
        let ordered = part.waited_for & reach != 0 && b.stages & !part.waiting == 0;
        ordered && (!a.write || makes_visible(model, part, group, a, b))
    };
    // A write after a read: whatever is needed anyway will do.
    if !a.write {
        let there = |p: &&u32| {
            let part = &model.parts[**p as usize];
            all[**p as usize].any
                && !is_event(part)
                && a.stages & !part.waited_for == 0
                && orders(part, a.stages)
        };
        if let Some(p) = between.iter().take(FAR).find(there).copied() {
            return credit(&mut all[p as usize], &model.parts[p as usize], a, b);
        }
    }
    let (mut reach, mut on_the_way) = (a.stages, vec![]);
    for p in between.iter().take(FAR) {
        let part = &model.parts[*p as usize];
        if is_event(part) || part.waited_for & reach == 0 {
            continue;
        }
        if a.stages & !part.waited_for == 0 && orders(part, a.stages) {
            return credit(&mut all[*p as usize], part, a, b);
        }
        on_the_way.push(*p);
        reach |= part.waiting;
    }
    for p in on_the_way {
        let n = &mut all[p as usize];
        (n.any, n.unsure) = (true, true);
    }
}

fn is_event(part: &Part) -> bool {
    &*part.kind == "event"
}

/// Whether it makes a write available and visible all by itself.
fn makes_visible(model: &Model, part: &Part, group: u32, a: &Access, b: &Access) -> bool {
    let [src, available, dst, visible] = part.exact;
    model.applies(part, group, &b.range)
        && model.applies(part, group, &a.range)
        && a.stages & !src == 0
        && a.access & WRITES & !available == 0
        && b.stages & !dst == 0
        && b.access & !visible == 0
}

fn credit(n: &mut Needed, part: &Part, a: &Access, b: &Access) {
    n.any = true;
    n.conflicts += 1;
    let wants = match a.write {
        true => [a.stages, a.access & WRITES, b.stages, b.access],
        false => [a.stages, 0, b.stages, 0],
    };
    n.masks.iter_mut().zip(wants).for_each(|(mask, wanted)| *mask |= wanted);
    // (a change of layout is an access of its own)
    n.unsure |= part.transfer;
}

/// From where on barriers of a queue may have to do with what another queue did: the beginning of the last submission that waits for
/// something, and the stages that wait there.
fn awaited(model: &Model, a: &Access, b: &Access) -> (u64, u64) {
    let before = model.submissions.partition_point(|s| s.sequence <= b.sequence);
    let before = model.submissions[..before].iter().rev().filter(|s| s.queue == b.queue);
    let mut begin = 0;
    for s in before {
        begin = s.sequence;
        if s.counts[1] != 0 {
            return (begin, s.wait_stages);
        }
        if s.sequence <= a.sequence {
            break;
        }
    }
    (begin, 0)
}
