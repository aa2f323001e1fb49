//! Which barriers order which accesses: every conflict is given to barriers that order it without the others.
//!
//! A conflict is two accesses of the same memory, one of which writes. Those after a write want its bytes made available and visible; a
//! write after a read only wants to wait. Where one part of a barrier does all that, it is needed, for these stages and accesses: one that is needed anyway
//! if there is such a one. Where several do it, one behind the other, each is needed for its
//! part; where it is not known which do, all of these are needed, and it is not said what for. A write that
//! follows reads of all that it shares with a write before them is ordered behind that by them. Around what may be of anything all
//! is needed. Guarantees: all parts that
//! are not needed can be left out at once, and all others narrowed to what they are needed for, without a conflict losing its order.

use super::model::{Access, Model};
use super::order::{Ordered, across, ordered};
use super::scopes::WRITES;

/// Accesses that wait for another to come, of one group.
const PENDING: usize = 2048;

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

/// How conflicts are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// By one part of a barrier.
    pub one: u64,
    /// By several.
    pub several: u64,
    /// By none: semaphores, what the host waited for, or nothing.
    pub none: u64,
}

/// What is found.
#[derive(Default)]
pub struct Credit {
    /// By part.
    pub needed: Vec<Needed>,
    /// Of all conflicts.
    pub sums: Sums,
    kept: Vec<bool>,
    /// By queue: where in its parts everything is needed, begins and ends.
    ranges: Vec<(u64, usize, usize)>,
}

/// Conflicts are looked at in this order, so that what only waits finds a barrier that is there anyway.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    /// Reads after writes, and what reads and writes.
    ReadAfterWrite,
    /// Writes after reads.
    WriteAfterRead,
    /// Writes after writes.
    WriteAfterWrite,
}

const ROUNDS: [Round; 3] = [Round::ReadAfterWrite, Round::WriteAfterRead, Round::WriteAfterWrite];

/// By part.
pub fn needed(model: &Model) -> Credit {
    let mut credit = Credit {
        needed: vec![Needed::default(); model.parts.len()],
        kept: model.parts.iter().map(|p| p.is_kept(model.host_signals)).collect(),
        ..Credit::default()
    };
    for accesses in model.groups.iter().flat_map(|g| apart(g)) {
        credit.group(model, &accesses);
    }
    credit.ranges.extend(around_anything(model));
    for (queue, begin, end) in std::mem::take(&mut credit.ranges) {
        for p in &model.queues[&queue][begin..end] {
            let n = &mut credit.needed[*p as usize];
            (n.any, n.unsure) = (true, true);
        }
    }
    credit
}

/// What orders accesses that may be of anything: on their queue every part up to the next one that orders all commands and all memory by
/// itself, before and behind; on other queues, where semaphores let them wait, every part behind.
fn around_anything(model: &Model) -> Vec<(u64, usize, usize)> {
    let Some(first) = model.anything.iter().map(|a| a.sequence).min() else { return vec![] };
    let mut ranges = vec![];
    for (queue, parts) in &model.queues {
        let part = |n: &u32| &model.parts[*n as usize];
        let behind = |sequence: u64| parts.partition_point(|n| part(n).sequence <= sequence);
        if model.anything.iter().any(|a| a.queue != *queue) {
            ranges.push((*queue, behind(first), parts.len()));
        }
        let full: Vec<usize> = (0..parts.len()).filter(|at| part(&parts[*at]).orders_all()).collect();
        let mut done = 0;
        for a in model.anything.iter().filter(|a| a.queue == *queue) {
            let at = behind(a.sequence);
            let next = full.partition_point(|f| *f < at);
            let begin = next.checked_sub(1).map_or(0, |n| full[n]).max(done);
            let end = full.get(next).map_or(parts.len(), |f| f + 1);
            if begin < end {
                ranges.push((*queue, begin, end));
            }
            done = end;
        }
    }
    ranges
}

/// A group's accesses by what they share bytes with, without those of bytes that nobody writes.
fn apart(accesses: &[Access]) -> Vec<Vec<Access>> {
    let places: Option<Vec<(u64, u64, u64)>> = accesses.iter().map(|a| a.bytes).collect();
    let Some(places) = places else { return vec![accesses.to_vec()] };
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_unstable_by_key(|n| places[*n]);
    let (mut all, mut end): (Vec<Vec<usize>>, _) = (vec![], None);
    for n in order {
        let (memory, first, last) = places[n];
        end = match (all.last_mut(), end) {
            (Some(with), Some((same, end))) if same == memory && first <= end => {
                with.push(n);
                Some((memory, last.max(end)))
            }
            _ => {
                all.push(vec![n]);
                Some((memory, last))
            }
        };
    }
    all.retain(|of| of.len() > 1 && of.iter().any(|n| accesses[*n].write));
    all.iter_mut().for_each(|of| of.sort_unstable());
    all.iter().map(|of| of.iter().map(|n| accesses[*n]).collect()).collect()
}

fn round(a: &Access, b: &Access) -> Option<Round> {
    match (a.write, b.write) {
        (false, false) => None,
        (false, true) => Some(Round::WriteAfterRead),
        (true, true) if b.access & !WRITES == 0 => Some(Round::WriteAfterWrite),
        (true, _) => Some(Round::ReadAfterWrite),
    }
}

impl Credit {
    fn group(&mut self, model: &Model, accesses: &[Access]) {
        // What is ordered by known parts behind every write before it; and what writes behind every read.
        let mut behind = [vec![true; accesses.len()], vec![true; accesses.len()]];
        for now in ROUNDS {
            let mut pending: Vec<usize> = vec![];
            for (at, b) in accesses.iter().enumerate() {
                for &n in &pending {
                    let a = &accesses[n];
                    if round(a, b) != Some(now) || a.sequence >= b.sequence || !model.meet(a, b) {
                        continue;
                    }
                    if now == Round::WriteAfterWrite
                        && self.implied(model, accesses, &pending, &behind, (n, at))
                    {
                        continue;
                    }
                    let known = self.conflict(model, a, b);
                    behind[usize::from(b.write)][at] &= known;
                }
                self.next(model, accesses, &mut pending, at);
            }
        }
    }

    /// Whether a read between two writes, of all that they share, orders them.
    fn implied(
        &self,
        model: &Model,
        accesses: &[Access],
        pending: &[usize],
        behind: &[Vec<bool>; 2],
        (first, second): (usize, usize),
    ) -> bool {
        let (a, b) = (&accesses[first], &accesses[second]);
        if a.object != b.object || !behind[1][second] {
            return false;
        }
        let both = a.range.common(&b.range);
        pending.iter().any(|n| {
            let r = &accesses[*n];
            let between = a.sequence < r.sequence && r.sequence < b.sequence;
            !r.write
                && between
                && behind[0][*n]
                && r.object == a.object
                && r.range.holds(&both)
                && [a.queue, b.queue] == [r.queue; 2]
                && model.meet(r, b)
        })
    }

    /// What still waits for something behind `at`.
    fn next(&mut self, model: &Model, accesses: &[Access], pending: &mut Vec<usize>, at: usize) {
        let b = &accesses[at];
        pending.retain(|n| {
            let a = &accesses[*n];
            // (what follows a write that has all of it is ordered behind that; of equal reads the last is waited for)
            let over = b.write || (!a.write && a.stages & !b.stages == 0);
            let stands = model.holds(b, a)
                && match a.queue == b.queue {
                    true => over,
                    // (and what a semaphore puts behind another queue's, that and the semaphore order)
                    false => {
                        b.write
                            && a.sequence < b.sequence
                            && matches!(across(model, a, b), Ordered::Semaphore(_))
                    }
                };
            !(stands || model.places.is_gone(a.object, b.sequence))
        });
        if pending.len() >= PENDING {
            let a = &accesses[pending.remove(0)];
            for (queue, parts) in &model.queues {
                let begin = parts.partition_point(|p| model.parts[*p as usize].sequence < a.sequence);
                self.ranges.push((*queue, begin, parts.len()));
            }
        }
        pending.push(at);
    }

    /// Whether it is known what orders it.
    fn conflict(&mut self, model: &Model, a: &Access, b: &Access) -> bool {
        let by = if a.queue == b.queue {
            let there = |n: u32| self.kept[n as usize] || self.needed[n as usize].any;
            ordered(model, a, b, &there)
        } else {
            across(model, a, b)
        };
        match by {
            Ordered::Alone(n) => {
                self.sums.one += 1;
                // (what a write after reads is given besides is for the write before them)
                let visible = if a.write { b.access } else { b.access & model.parts[n as usize].exact[3] };
                self.credit(model, n, [a.stages, written(a), b.stages, visible]);
                return true;
            }
            Ordered::Chain(all) => {
                self.sums.several += 1;
                for (at, &(n, before, behind)) in all.iter().enumerate() {
                    let exact = model.parts[n as usize].exact[3];
                    let visible = if a.write { b.access } else { b.access & exact };
                    let (first, last) = (at == 0, at + 1 == all.len());
                    self.credit(
                        model,
                        n,
                        [
                            if first { a.stages } else { before },
                            if first { written(a) } else { 0 },
                            if last { b.stages } else { behind },
                            if last { visible } else { 0 },
                        ],
                    );
                }
                return true;
            }
            Ordered::Together(all) => {
                self.sums.several += 1;
                for n in all {
                    let n = &mut self.needed[n as usize];
                    (n.any, n.unsure) = (true, true);
                }
            }
            Ordered::Within(begin, end) => {
                self.sums.several += 1;
                self.ranges.push((b.queue, begin, end));
            }
            Ordered::Semaphore(change) => {
                self.sums.none += 1;
                if let Some(n) = change {
                    let n = &mut self.needed[n as usize];
                    (n.any, n.unsure) = (true, true);
                }
                return true;
            }
            Ordered::Not => self.sums.none += 1,
        }
        false
    }

    fn credit(&mut self, model: &Model, n: u32, wants: [u64; 4]) {
        let part = &model.parts[n as usize];
        let n = &mut self.needed[n as usize];
        n.any = true;
        n.conflicts += 1;
        n.masks.iter_mut().zip(wants).for_each(|(mask, wanted)| *mask |= wanted);
        n.unsure |= part.transfer;
    }
}

/// What has to be made available.
fn written(a: &Access) -> u64 {
    if a.write { a.access & WRITES } else { 0 }
}
