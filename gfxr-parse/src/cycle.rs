//! What repeats in the submissions of a capture that never presents: programs that draw off screen, and compute, have
//! frames too, of several submissions each.
//!
//! A submission is described by the names of the commands that were recorded since the one before it. The cycle is the
//! shortest distance at which nearly all of them (nine of ten) are like one another, behind the first quarter, in which programs
//! load. A frame ends with the submission behind which the host most often waits or maps memory; where that says nothing, so that the
//! last submission ends one.
//!
//! Guarantees: reads call ids alone, and says the same of the same file. Refuses nothing; a capture in which each submission is like
//! the one before has no cycle, as each of them is a frame.

use crate::container::{Capture, FrameCounter, FrameRule};
use crate::schema::command;
use serde::Serialize;
use std::collections::BTreeSet;

/// The share of submissions that are like the one a cycle before.
const ALIKE: f64 = 0.9;

/// The longest cycle that is looked for.
const LONGEST: usize = 64;

/// How calls begin by which the host waits for the device, or is about to read what it wrote.
const READS: [&str; 3] = ["vkWait", "vkMapMemory", "vkInvalidateMappedMemory"];

/// How often a cycle has to come by to be one.
const ROUNDS: usize = 3;

/// Frames of as many submissions each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cycle {
    /// Submissions in a frame.
    pub submissions: u64,
    /// The submission that ends the first frame, from 1; what comes before belongs to that frame.
    pub first: u64,
    /// How many frames end.
    pub frames: u64,
}

/// What was between a submission and the one before it.
pub struct Submission {
    commands: BTreeSet<u32>,
    /// The host waits, or maps memory, before the next one.
    waited_for: bool,
}

impl Cycle {
    /// That of a capture.
    pub fn of(capture: &Capture) -> Option<Cycle> {
        of(&submissions(capture))
    }

    /// Whether this submission, from 1, ends a frame.
    pub fn ends(&self, submission: u64) -> bool {
        submission >= self.first && (submission - self.first).is_multiple_of(self.submissions)
    }
}

/// Whether a command of this name submits work to a queue.
pub fn submits(command: &str) -> bool {
    command.starts_with("vkQueueSubmit")
}

/// Every submission behind the snapshot that a trimmed capture begins with.
pub fn submissions(capture: &Capture) -> Vec<Submission> {
    let mut counter = FrameCounter::with_rule(FrameRule::detect(capture));
    let (mut all, mut commands) = (Vec::<Submission>::new(), BTreeSet::new());
    for block in capture.blocks() {
        let state = counter.feed(&block).state;
        let Some(id) = block.call_id().filter(|_| !state) else { continue };
        let Some(name) = command(id).map(|c| c.name) else { continue };
        if submits(name) {
            all.push(Submission { commands: std::mem::take(&mut commands), waited_for: false });
        } else if name.starts_with("vkCmd") {
            commands.insert(id);
        } else if READS.iter().any(|r| name.starts_with(r)) || name.ends_with("WaitIdle") {
            all.last_mut().into_iter().for_each(|s| s.waited_for = true);
        }
    }
    all
}

fn of(all: &[Submission]) -> Option<Cycle> {
    let settled = &all[all.len() / 4..];
    let repeats = |n: &usize| {
        let pairs = settled.len().saturating_sub(*n);
        let alike = settled.iter().zip(&settled[*n..]).filter(|(a, b)| a.commands == b.commands).count();
        alike as f64 >= ALIKE * pairs as f64
    };
    let longest = LONGEST.min(settled.len() / ROUNDS);
    let n = (1..=longest).find(repeats).filter(|&n| n > 1)?;
    // Of the places in a cycle, the one that is waited for most often; of equal ones the last submission's.
    let waits = |place: usize| {
        let (before, whole) = (all.len() - settled.len(), settled.iter().enumerate());
        whole.filter(|(i, s)| (before + i) % n == place && s.waited_for).count()
    };
    let last = (all.len() - 1) % n;
    let ends = (0..n).max_by_key(|&place| (waits(place), place == last))?;
    Some(Cycle {
        submissions: n as u64,
        first: ends as u64 + 1,
        frames: ((all.len() - 1 - ends) / n + 1) as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Submissions by letters that stand for what they record; a capital one is waited for.
    fn made(of: &str) -> Vec<Submission> {
        let one = |c: char| Submission {
            commands: BTreeSet::from([c.to_ascii_lowercase() as u32]),
            waited_for: c.is_ascii_uppercase(),
        };
        of.chars().map(one).collect()
    }

    #[test]
    fn what_repeats_is_found_behind_what_loads() {
        let cycle = |text: &str| of(&made(text)).map(|c| (c.submissions, c.first, c.frames));
        // Each submission is a frame of its own, or there is nothing that repeats.
        assert_eq!(cycle("aaaaaaaaaaaa"), None);
        assert_eq!((cycle(""), cycle("a"), cycle("abcdefghijkl")), (None, None, None));
        // Three and three; the last of each is waited for, or the last submission ends a frame.
        assert_eq!(cycle("xyabCabCabCabCabC"), Some((3, 2, 6)));
        assert_eq!(cycle("xyabcabcabcabcabc"), Some((3, 2, 6)));
        // What is left over at the end is no frame.
        assert_eq!(cycle("abCabCabCabCab"), Some((3, 3, 4)));
        // One in twenty may be unlike.
        assert_eq!(cycle(&("ab".repeat(20) + "aX" + &"ab".repeat(20))).map(|c| c.0), Some(2));
        let c = of(&made("xyabCabCabCabCabC")).expect("a cycle");
        let ends: Vec<u64> = (1..=17).filter(|n| c.ends(*n)).collect();
        assert_eq!(ends, [2, 5, 8, 11, 14, 17]);
    }
}
