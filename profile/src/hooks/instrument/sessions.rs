//! As many replays as a plan takes: one, where the log holds what every frame appends and no shader's places are spread over several
//! (`rewrite/spread.rs`); else a replay for each part of the places, and frames that the log did not hold
//! run again, with room for what they are known to need, or in windows of work ids where memory does not allow that.
//!
//! Guarantees: a frame's records come from whole logs alone, and its windows are disjoint and leave nothing out, so that
//! their records together are those of one run with room enough; counters are those of each part's first replay, or of passes that
//! count in windows ([`crate::Pass::counts_in_windows`]) the sums of all windows'; those of all parts are added, as every place
//! counts in one of them; numbers of subgroups are not used twice in a frame. A pass decodes a frame once, with all of its records. Refuses work of which a
//! single id appends more than the log holds, saying how much it takes.

use super::collect::{Raw, decode};
use super::hook::InstrumentHook;
use super::memory::HEADER_BYTES;
use super::plan::{Done, Plan, Session, Window};
use crate::Sink;
use replay::error::{Error, Kind, Result};
use replay::hook::Hook;
use replay::session::Summary;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Replays after which something is wrong.
const MOST_SESSIONS: u32 = 1000;

/// What was measured of a frame beside its records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Width and height of what was presented.
    pub size: (u32, u32),
    /// Words that probes appended, or wanted to.
    pub wanted: u64,
    /// Those of them that did not fit when the frame first ran; its records were fetched by running it again.
    pub lost: u64,
}

/// What all replays came to.
pub struct Measurement {
    /// How the first replay went.
    pub summary: Summary,
    /// What the plan came to.
    pub done: Done,
    /// The frames.
    pub frames: BTreeMap<u64, Measured>,
    /// How many replays there were.
    pub sessions: u32,
    /// Over how many of them what counts was spread.
    pub replays: u32,
}

/// What is to be run of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    /// Which of the replays that places are spread over.
    replay: u32,
    /// Work ids.
    window: (u32, u32),
    /// The frame has run with these places before, but the log did not hold what it appended.
    again: bool,
}

/// A frame whose records are not all there.
struct Open {
    /// As it first ran, with what has been added since.
    raw: Raw,
    /// Pieces to go, the next one last.
    todo: Vec<Piece>,
    next_subgroup: u32,
    /// Work ids that windows are cut at multiples of, where they can be.
    grain: u32,
    /// Words that the next window is known to need.
    need: u64,
    /// It ran in the latest replay.
    ran: bool,
}

struct State<S> {
    plan: Rc<Plan>,
    sink: Rc<RefCell<S>>,
    frames: BTreeMap<u64, Measured>,
    open: BTreeMap<u64, Open>,
    first: bool,
}

impl<S: Sink> State<S> {
    fn decode(&self, raw: &Raw, done: &Done) -> Result<()> {
        decode(self.plan.variants.passes(), raw, done, &mut *self.sink.borrow_mut())
            .map_err(|e| Error::new(Kind::Internal, e.to_string()))
    }

    fn take(&mut self, mut raw: Raw, done: &Done) -> Result<()> {
        let whole = |replay, again| Piece { replay, window: self.plan.window, again };
        if self.first {
            let m = Measured { size: raw.size, wanted: raw.wanted, lost: raw.lost };
            self.frames.insert(raw.frame, m);
            let replays = done.entries.iter().map(|e| e.variant.replays).max().unwrap_or(1);
            if raw.lost == 0 && replays == 1 {
                return self.decode(&raw, done);
            }
            let mut todo: Vec<Piece> = (1..replays).rev().map(|n| whole(n, false)).collect();
            let (frame, need, grain) = (raw.frame, raw.wanted, grain(&raw.launches));
            let mut next_subgroup = raw.subgroups;
            if raw.lost > 0 {
                raw.words = Vec::new();
                raw.parts.clear();
                counters_of(&self.plan, done, &mut raw, Which::InWindows, |counter, _| *counter = 0, &[]);
                todo.push(whole(0, true));
                next_subgroup = 0;
            }
            self.open.insert(frame, Open { raw, todo, next_subgroup, grain, need, ran: true });
            return Ok(());
        }
        let Some(open) = self.open.get_mut(&raw.frame) else { return Ok(()) };
        open.ran = true;
        let add = |into: &mut u64, n: u64| *into = into.wrapping_add(n);
        let piece = open.todo.last_mut().expect("it is not done");
        if !std::mem::replace(&mut piece.again, true) {
            counters_of(&self.plan, done, &mut open.raw, Which::AtOnce, add, &raw.counters);
        }
        if raw.lost > 0 {
            open.need = raw.wanted;
            return Ok(());
        }
        let before = open.raw.words.len();
        open.raw.parts.extend(raw.parts.iter().map(|p| before + p));
        open.raw.words.extend(raw.words);
        counters_of(&self.plan, done, &mut open.raw, Which::InWindows, add, &raw.counters);
        open.next_subgroup = raw.subgroups;
        open.todo.pop();
        // (what the next one needs shows when it runs)
        open.need = 0;
        if !open.todo.is_empty() {
            return Ok(());
        }
        let open = self.open.remove(&raw.frame).expect("just there");
        self.decode(&open.raw, done)
    }
}

/// Whose counters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    /// Of passes whose counters are those of a replay that lost records, too.
    AtOnce,
    /// Of passes that count in windows.
    InWindows,
}

/// Goes over the counters of such passes: with each its number in another replay, or 0.
fn counters_of(
    plan: &Plan,
    done: &Done,
    raw: &mut Raw,
    which: Which,
    each: impl Fn(&mut u64, u64),
    again: &[Option<Vec<u64>>],
) {
    let in_windows = which == Which::InWindows;
    let passes = plan.variants.passes().iter().filter(|p| p.counts_in_windows() == in_windows);
    let names: Vec<&str> = passes.map(|p| p.name()).collect();
    for (n, (entry, counters)) in done.entries.iter().zip(&mut raw.counters).enumerate() {
        let Some(counters) = counters else { continue };
        let again = again.get(n).and_then(Option::as_ref);
        let groups = 0..entry.variant.sample.map_or(1, |s| s.groups);
        for r in entry.variant.regions.iter().filter(|r| names.contains(&r.pass.as_str())) {
            let first = |group| (group * entry.variant.counters + r.first_counter) as usize;
            for c in groups.clone().flat_map(|g| first(g)..first(g) + r.counters as usize) {
                if let Some(counter) = counters.get_mut(c) {
                    each(counter, again.and_then(|a| a.get(c)).copied().unwrap_or(0));
                }
            }
        }
    }
}

/// Makes one replay with the hook.
pub type Replay<'r> = dyn FnMut(&Session, Box<dyn Hook>) -> Result<Summary> + 'r;

/// Replays as often as it takes. `most_log_bytes` is the most that a log may take,
/// where it is less than the device's memory holds.
pub fn measure<S: Sink + 'static>(
    plan: &Rc<Plan>,
    most_log_bytes: Option<u64>,
    sink: &Rc<RefCell<S>>,
    replay: &mut Replay<'_>,
) -> Result<Measurement> {
    let state = Rc::new(RefCell::new(State {
        plan: plan.clone(),
        sink: sink.clone(),
        frames: BTreeMap::new(),
        open: BTreeMap::new(),
        first: true,
    }));
    let mut one = |session: Session| -> Result<(Summary, Done)> {
        let session = Rc::new(session);
        let taker = state.clone();
        let take = move |raw: Raw, done: &Done| taker.borrow_mut().take(raw, done);
        let (hook, done) = InstrumentHook::with_session(plan.clone(), session.clone(), Box::new(take));
        let summary = replay(&session, Box::new(hook))?;
        let done = done.take();
        Ok((summary, done))
    };
    let mut most = most_log_bytes.unwrap_or(u64::MAX);
    let mut log_bytes = plan.log_bytes.min(most);
    let (summary, mut done) = one(Session { log_bytes, ..Session::default() })?;
    let mut capacity = done.log_capacity;
    let (mut sessions, mut replays) = (1, 1);
    state.borrow_mut().first = false;
    loop {
        if capacity > 0 && capacity * 4 + HEADER_BYTES < log_bytes {
            most = capacity * 4 + HEADER_BYTES; // the device had no more
        }
        let mut s = state.borrow_mut();
        let Some(need) = s.open.values().map(|o| o.need).max() else { break };
        if let Some((frame, _)) = s.open.iter().find(|o| !o.1.ran) {
            let text = format!("frame {frame} did not end when it was run again");
            return Err(Error::divergence(text));
        }
        sessions += 1;
        if sessions > MOST_SESSIONS {
            let text =
                format!("the log is not whole after {MOST_SESSIONS} replays; --log-bytes makes it larger");
            return Err(Error::new(Kind::Memory, text));
        }
        // Work is not scheduled the same way twice, and may append a little more.
        let enough = (need + need / 16 + 1024) * 4 + HEADER_BYTES;
        log_bytes = enough.max(log_bytes).min(most);
        if enough > most {
            let holds = (most - HEADER_BYTES) / 4;
            for (frame, o) in s.open.iter_mut().filter(|o| o.1.need > holds) {
                halve(&mut o.todo, o.grain).map_err(|id| single(*frame, id, o.need))?;
            }
        }
        // A replay has one part of the places: that of the frames that are behind the others.
        let next = |o: &Open| *o.todo.last().expect("it is not done");
        let replay = s.open.values().map(|o| next(o).replay).min().unwrap_or(0);
        let mut again = true;
        let now = s.open.iter_mut().filter(|o| next(o.1).replay == replay);
        let windows = now.map(|(frame, o)| {
            let Piece { window: (from, to), again: seen, .. } = next(o);
            (o.ran, again) = (false, again && seen);
            (*frame, Window { from, to, first_subgroup: o.next_subgroup })
        });
        let windows = Some(windows.collect());
        drop(s);
        replays = replays.max(replay + 1);
        capacity = one(Session { windows, log_bytes, replay, again })?.1.log_capacity;
    }
    if replays > 1 {
        done.notes.push(format!(
            "What counts is spread over {replays} replays, so that drivers compile large shaders soon; --replays 1 counts everything \
             in one. Devices may pack fragments into subgroups otherwise in each: their executions are then off by some percent"
        ));
    }
    let frames = std::mem::take(&mut state.borrow_mut().frames);
    Ok(Measurement { summary, done, frames, sessions, replays })
}

/// Neighbours run together: a window's edge is a multiple of what a subgroup holds. Of ray tracing these are neighbours in
/// rows, too: it is one of eight rows of the largest launch.
fn grain(launches: &[crate::Launch]) -> u32 {
    let sizes = launches.iter().filter_map(|l| l.size);
    let largest = sizes.max_by_key(|s| s.iter().map(|n| u64::from(*n)).product::<u64>());
    largest.map(|s| s[0].saturating_mul(8)).filter(|n| (1..1 << 20).contains(n)).unwrap_or(256)
}

/// Makes the next window smaller, and leaves the rest for later; the work id, if it has only one.
fn halve(todo: &mut Vec<Piece>, grain: u32) -> Result<(), u32> {
    let piece = todo.pop().expect("it is not done");
    let (from, to) = piece.window;
    if to - from <= 1 {
        return Err(from);
    }
    let inside = |cut: &u32| (from + 1..to).contains(cut);
    let middle = from + (to - from) / 2;
    // Most work has small ids: everything is first cut at powers of two, and what lies beyond one of them is tried whole,
    // because mostly nothing does.
    let cuts = match to - from {
        n if n > 1 << 28 => [16, 20, 24, 28].map(|k| (1u32 << k).next_multiple_of(grain)),
        _ => [middle.next_multiple_of(grain), middle.next_multiple_of(256), middle, middle],
    };
    let cut = cuts.into_iter().find(inside).unwrap_or(middle);
    todo.push(Piece { window: (cut, to), ..piece });
    todo.push(Piece { window: (from, cut), ..piece });
    Ok(())
}

fn single(frame: u64, id: u32, need: u64) -> Error {
    let bytes = need * 4 + HEADER_BYTES;
    let text = format!(
        "frame {frame}: work with the id {id} alone appends {bytes} bytes, more than the log may take; --max-log-bytes \
         {bytes} allows it, --stages, --pipelines and --shaders instrument less"
    );
    Error::new(Kind::Memory, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All work ids.
    fn all() -> Vec<Piece> {
        vec![Piece { replay: 2, window: (0, u32::MAX), again: true }]
    }

    #[test]
    fn windows_leave_nothing_out_and_take_nothing_twice() {
        let mut todo = all();
        let mut seen = Vec::new();
        // What fits: less than 5000 ids, however the pieces fall.
        while let Some(&Piece { window: (from, to), .. }) = todo.last() {
            if to - from < 5000 || from > 1 << 18 {
                seen.push((from, to));
                todo.pop();
            } else {
                halve(&mut todo, 256).expect("it has more than one id");
            }
        }
        assert_eq!((seen[0].0, seen[seen.len() - 1].1), (0, u32::MAX));
        assert!(seen.windows(2).all(|w| w[0].1 == w[1].0), "{seen:?}");
        assert!(seen.len() < 200 && seen[..20].iter().all(|w| w.0 % 256 == 0), "{seen:?}");
    }

    #[test]
    fn launches_are_cut_between_rows_of_subgroups() {
        let of = |size| crate::Launch { size, ..crate::Launch::default() };
        assert_eq!(grain(&[of(Some([64, 64, 1])), of(Some([1280, 720, 1])), of(None)]), 10_240);
        assert_eq!((grain(&[]), grain(&[of(Some([1 << 30, 1, 1]))])), (256, 256));
        let mut todo = all();
        (0..3).for_each(|_| halve(&mut todo, 10_240).expect("it has more than one id"));
        assert!(todo.iter().rev().take(3).all(|p| p.window.0 % 10_240 == 0 && p.replay == 2), "{todo:?}");
    }

    #[test]
    fn one_id_cannot_be_halved() {
        let piece = |window| Piece { replay: 0, window, again: true };
        let mut todo = vec![piece((7, 9))];
        halve(&mut todo, 256).expect("two ids");
        assert_eq!(todo, [piece((8, 9)), piece((7, 8))]);
        assert_eq!(halve(&mut todo, 256), Err(7));
    }
}
