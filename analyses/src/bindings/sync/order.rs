//! What orders two accesses of one queue.
//!
//! Execution: a barrier holds up `b` if all stages of `a` are among those it waits for (or earlier ones of the pipeline), and all of `b`'s are
//! among those that wait (or later ones); barriers chain where stages that wait in the first are waited for by the second. Memory: what `a`
//! wrote is made available by its exact stages and accesses and visible to `b`'s, by the same barrier or by others that chain; of barriers of an object
//! only if they are about all that both share. A change of layout happens within its barrier. Guarantees: what is said to be ordered by
//! one part, or by a chain, is so without any other; where it is not known what orders it, all that may have a part in it are named.

use super::model::{Access, Model, Part};
use super::scopes::WRITES;

/// Parts that are looked at between two accesses.
const FAR: usize = 8192;

/// What does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ordered {
    /// This part, by itself.
    Alone(u32),
    /// These, each with a stage that it waits for because the one before holds it up, and one that it holds up for the next.
    Chain(Vec<(u32, u64, u64)>),
    /// These, together.
    Together(Vec<u32>),
    /// It is not known: any on its way, of a range of the queue's parts.
    Within(usize, usize),
    /// A semaphore, with the barrier that changes the layout behind it, if the second access is that.
    Semaphore(Option<u32>),
    /// No barrier has to do with it.
    Not,
}

/// Whether stages of an access are all waited for, and it comes early enough.
fn starts(p: &Part, a: &Access) -> bool {
    a.change.is_none() && a.stages & !p.waited_for == 0 && (a.sequence < p.since || !is_event(p))
}

fn is_event(p: &Part) -> bool {
    &*p.kind == "event"
}

/// Whether it makes a write available.
fn gives(model: &Model, p: &Part, a: &Access, b: &Access) -> bool {
    let [src, available, ..] = p.exact;
    model.applies(p, a, b) && a.stages & !src == 0 && a.access & WRITES & !available == 0
}

/// Whether it makes what is available visible.
fn shows(model: &Model, p: &Part, a: &Access, b: &Access) -> bool {
    let [.., dst, visible] = p.exact;
    model.applies(p, a, b) && b.stages & !dst == 0 && b.access & !visible == 0
}

/// The parts between, and what orders them. Of parts that do it alone the first that is `there` anyway, else the first.
pub fn ordered(model: &Model, a: &Access, b: &Access, there: &dyn Fn(u32) -> bool) -> Ordered {
    let part = |n: u32| &model.parts[n as usize];
    // A change of layout within its own barrier.
    if let Some(n) = b.change {
        let p = part(n);
        if starts(p, a) && (!a.write || gives(model, p, a, b)) {
            return Ordered::Alone(n);
        }
    }
    if let Some(n) = a.change {
        let p = part(n);
        if b.change.is_none() && b.stages & !p.waiting == 0 && shows(model, p, a, b) {
            return Ordered::Alone(n);
        }
    }
    let Some(parts) = model.queues.get(&b.queue) else { return Ordered::Not };
    let begin = parts.partition_point(|p| part(*p).sequence <= a.sequence);
    let end = parts.partition_point(|p| part(*p).sequence < b.sequence).max(begin);
    let near = &parts[begin..end.min(begin + FAR)];
    // (a part that holds up both, and all its memory)
    let alone = |p: &Part| {
        starts(p, a)
            && b.change.is_none()
            && b.stages & !p.waiting == 0
            && (!a.write || (gives(model, p, a, b) && shows(model, p, a, b)))
    };
    let mut first = None;
    for p in near.iter().filter(|p| alone(part(**p))) {
        if there(*p) {
            return Ordered::Alone(*p);
        }
        first = first.or(Some(*p));
    }
    if let Some(p) = first {
        return Ordered::Alone(p);
    }
    if let Some(chain) = chain(model, a, b, near) {
        return chain;
    }
    if end - begin > FAR {
        return Ordered::Within(begin, end);
    }
    on_the_way(model, a, b, near)
}

/// The parts that do it one behind the other, and no event: the first gives, the last shows, and each holds up what the next waits for.
fn chain(model: &Model, a: &Access, b: &Access, near: &[u32]) -> Option<Ordered> {
    let part = |n: u32| &model.parts[n as usize];
    // By stage: what holds it up, of what is behind `a`, the first of those; with what it came from.
    let mut held: [Option<usize>; 64] = [None; 64];
    let mut reached = 0u64;
    let mut links: Vec<(u32, Option<(usize, u64)>)> = vec![];
    let own = a.change.as_slice().iter();
    for &n in own.chain(near).chain(&b.change) {
        let p = part(n);
        let (is_first, is_last) = (a.change == Some(n), b.change == Some(n));
        if is_event(p) {
            continue;
        }
        let both = reached & p.exact[0];
        let link = [both & b.stages, both & a.stages, both].into_iter().find(|l| *l != 0);
        let from = match link {
            _ if is_first || (starts(p, a) && (!a.write || gives(model, p, a, b))) => None,
            Some(link) => {
                let bit = link.trailing_zeros();
                Some((held[bit as usize]?, 1 << bit))
            }
            None => continue,
        };
        let at = links.len();
        links.push((n, from));
        let shown = b.stages & !p.waiting == 0 && (!a.write || shows(model, p, a, b));
        if is_last || (!is_first && b.change.is_none() && shown) {
            return Some(Ordered::Chain(unrolled(&links, at)));
        }
        let mut more = p.exact[2] & !reached;
        reached |= more;
        while more != 0 {
            held[more.trailing_zeros() as usize] = Some(at);
            more &= more - 1;
        }
    }
    None
}

/// A chain from its beginning: each part with the stage that it waits for and the one that it holds up; 0 at the ends.
fn unrolled(links: &[(u32, Option<(usize, u64)>)], last: usize) -> Vec<(u32, u64, u64)> {
    let (mut all, mut at, mut out) = (vec![], last, 0);
    loop {
        let (n, from) = links[at];
        let Some((before, stage)) = from else {
            all.push((n, 0, out));
            all.reverse();
            return all;
        };
        all.push((n, stage, out));
        (at, out) = (before, stage);
    }
}

/// Whatever may have a part in it, if that reaches the second access at all.
fn on_the_way(model: &Model, a: &Access, b: &Access, near: &[u32]) -> Ordered {
    let part = |n: u32| &model.parts[n as usize];
    let mut reach = a.change.map_or(a.stages, |n| part(n).waiting);
    let mut on: Vec<u32> = a.change.into_iter().collect();
    for &n in near.iter().chain(&b.change) {
        if part(n).waited_for & reach != 0 {
            on.push(n);
            reach |= part(n).waiting;
        }
    }
    let reached = match b.change {
        Some(n) => part(n).waited_for & reach != 0,
        None => b.stages & reach != 0 && !on.is_empty(),
    };
    if reached { Ordered::Together(on) } else { Ordered::Not }
}

/// The same for accesses of two queues: barriers of the second that take over from a semaphore. What a semaphore holds up needs none.
pub fn across(model: &Model, a: &Access, b: &Access) -> Ordered {
    let part = |n: u32| &model.parts[n as usize];
    // (presentation waits for semaphores that hold up all of it)
    let Some(parts) = model.queues.get(&b.queue) else { return Ordered::Semaphore(None) };
    let waits = model.waits.get(&b.queue).map_or(&[][..], |w| w);
    let before = waits.partition_point(|w| w.sequence <= b.sequence);
    let after = waits[..before].partition_point(|w| w.sequence <= a.sequence);
    let direct = |w: &&super::model::Wait| w.from == Some(a.queue) && w.from_sequence >= a.sequence;
    let direct: Vec<_> = waits[after..before].iter().filter(direct).collect();
    let stages = match b.change {
        Some(n) => part(n).waited_for,
        None => b.stages,
    };
    let holds = |w: u64| if b.change.is_some() { w & stages != 0 } else { stages & !w == 0 };
    if direct.iter().any(|w| holds(w.waiting)) {
        return Ordered::Semaphore(b.change);
    }
    // (an image that was acquired with a fence: the host waited)
    let Some(first) = direct.first() else {
        if a.queue == 0 {
            return Ordered::Not;
        }
        let begin = parts.partition_point(|p| part(*p).sequence <= a.sequence);
        let end = parts.partition_point(|p| part(*p).sequence <= b.sequence);
        return Ordered::Within(begin, end.max(begin));
    };
    let mut reach = direct.iter().fold(0, |all, w| all | w.waiting);
    let begin = parts.partition_point(|p| part(*p).sequence < first.sequence);
    let end = parts.partition_point(|p| part(*p).sequence <= b.sequence).max(begin);
    if end - begin > FAR {
        return Ordered::Within(begin, end);
    }
    let mut on = vec![];
    for &n in &parts[begin..end] {
        if part(n).waited_for & reach != 0 {
            on.push(n);
            reach |= part(n).waiting;
        }
    }
    Ordered::Together(on)
}
