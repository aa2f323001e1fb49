//! The search of `reduce`: trials, what is known of them, and delta debugging over what can be taken away.
//!
//! Guarantees: what is gone is gone because the fault was there without it; what is known is written down behind every trial that showed the fault. Where it says
//! that nothing more can go, each was tried; before that, no trial leaves out all that another left out in vain, and more. Refuses notes of another capture or fault, and to go on where the GPU is of no use any more.

use super::parts::{Parts, STAGES};
use super::still::{Oracle, Seen, patience};
use crate::failure::{Exit, Failure};
use crate::files::output::write_file;
use crate::progress;
use crate::say::note;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::time::Instant;

/// What is kept while the search goes on.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// BLAKE3 of the capture.
    pub capture: String,
    /// The fault.
    pub still: String,
    /// Whether trials are replayed with `--zero-memory`.
    #[serde(default)]
    pub zero_memory: bool,
    /// What went, by what it is.
    pub gone: BTreeMap<String, Vec<u32>>,
    /// Of what nothing more can go.
    pub done: BTreeSet<String>,
    /// Trials behind which the GPU was of no use any more, by a hash of what went: they are not tried again.
    #[serde(default)]
    pub ended_the_gpu: BTreeSet<String>,
}

/// Units of a trial that is remembered as one that was in vain, at most: larger ones are seldom part of another.
const MOST_UNITS: usize = 1 << 12;

/// How often what is known is tried when a search goes on, and the result at the end.
const TRIES: u32 = 3;

/// Trials, and what they have come to.
pub struct Trials<'s> {
    /// Processes that were asked.
    pub asked: u64,
    /// When the search stops.
    pub until: Instant,
    /// Who is asked.
    pub oracle: Oracle<'s>,
    /// The file that is tried.
    pub trial: &'s Path,
    /// The file of what is known.
    pub notes: &'s Path,
    /// A capture that ends well where the GPU works.
    pub well: &'s Path,
    /// What is known.
    pub known: Kept,
}

impl Trials<'_> {
    /// What is known of a search of the same that was ended.
    pub fn resume(&mut self) -> Result<(), Failure> {
        let Ok(text) = std::fs::read(self.notes) else { return Ok(()) };
        let kept: Kept = serde_json::from_slice(&text).map_err(|e| {
            Failure::new(format_args!("{}: {e}; remove it to begin anew", self.notes.display()))
        })?;
        if (&kept.capture, &kept.still) != (&self.known.capture, &self.known.still) {
            let other = "is of another capture or fault; remove it to begin anew";
            return Err(Failure::new(format_args!("{} {other}", self.notes.display())));
        }
        let zero_memory = std::mem::replace(&mut self.known, kept).zero_memory;
        if self.known.zero_memory != zero_memory {
            // (what could not go, and what ended the GPU, was so with memory as it was then)
            self.known.done.clear();
            self.known.ended_the_gpu.clear();
            self.known.zero_memory = zero_memory;
        }
        Ok(())
    }

    /// Takes away what can go of these; what is gone, and whether nothing more can go.
    pub fn search(&mut self, parts: &dyn Parts) -> Result<(Vec<bool>, bool), Failure> {
        let known = self.known.gone.get(parts.name()).cloned().unwrap_or_default();
        let (gone, tried, in_vain) = (vec![false; parts.units()], HashSet::new(), vec![]);
        let mut search = Search { gone, tried, in_vain, presumes: true, parts, to: self };
        let known: Vec<u32> = known.into_iter().filter(|u| (*u as usize) < parts.units()).collect();
        let done = search.to.known.done.contains(parts.name());
        if !known.is_empty() {
            let notes = search.to.notes.display().to_string();
            // (a fault may come and go)
            let mut there = false;
            for _ in 0..TRIES {
                there = there || search.without(&known)?;
                search.tried.clear();
                search.in_vain.clear();
            }
            if there {
                note(format_args!(
                    "going on where {notes} was left: {} {} are gone",
                    known.len(),
                    parts.name()
                ));
            } else {
                note(format_args!("what {notes} knows does not show the fault now: these are tried anew"));
                // (what comes later is numbered by what is left of these)
                let Kept { gone, done, .. } = &mut search.to.known;
                let earlier = STAGES.iter().take_while(|s| **s != parts.name());
                let earlier: Vec<&str> = earlier.copied().collect();
                gone.retain(|name, _| earlier.contains(&&**name));
                done.retain(|name| earlier.contains(&&**name));
                return search.ended();
            }
        }
        if done {
            return Ok((search.gone, true));
        }
        search.ended()
    }

    /// How often the fault is there in a file, and how often that was tried.
    pub fn again(&mut self, file: &Path) -> Result<[u64; 2], Failure> {
        let mut shown = [0, 0];
        while shown[1] < u64::from(TRIES) && !self.oracle.interrupt.asked() {
            let one = self
                .oracle
                .look(file)
                .and_then(|seen| Ok((self.oracle.is(&seen), self.oracle.works(&seen, self.well)?)));
            let (is, works) = match one {
                Err(_) if self.oracle.interrupt.asked() => break,
                one => one?,
            };
            self.asked += 1;
            shown = [shown[0] + u64::from(is), shown[1] + 1];
            if !works {
                note("the GPU is of no use any more: what is left is not tried more often");
                break;
            }
        }
        Ok(shown)
    }

    /// Ends the search where the GPU is of no use any more.
    fn usable(&mut self, behind: &Seen, failed: Option<String>) -> Result<(), Failure> {
        if self.oracle.works(behind, self.well)? {
            return Ok(());
        }
        // (one that shows the fault is what the search goes on from)
        self.known.ended_the_gpu.extend(failed);
        write_file(self.notes, &serde_json::to_vec(&self.known).map_err(Failure::new)?)?;
        Err(Failure::with(
            Exit::Gone,
            format!(
                "the GPU is of no use any more: a replay that would end well on one that works does not. Reset it, or start the machine anew; the same command \
                 line goes on from {}",
                self.notes.display()
            ),
        ))
    }
}

/// A search among parts.
struct Search<'s, 't> {
    /// By unit.
    gone: Vec<bool>,
    /// Hashes of what was tried, and did not show the fault.
    tried: HashSet<blake3::Hash>,
    /// What went in trials that did not show the fault.
    in_vain: Vec<Vec<u32>>,
    /// Where some units are needed, more than these are presumed to be.
    presumes: bool,
    parts: &'s dyn Parts,
    to: &'s mut Trials<'t>,
}

impl Search<'_, '_> {
    /// Goes through everything; what is gone, and whether nothing more can go.
    fn ended(mut self) -> Result<(Vec<bool>, bool), Failure> {
        let minimal = match self.all() {
            // (what the trial that was ended would have shown is not known: it is one for the next time)
            Err(_) if self.to.oracle.interrupt.asked() => false,
            all => all?,
        };
        if minimal {
            self.to.known.done.insert(self.parts.name().to_owned());
            write_file(self.to.notes, &serde_json::to_vec(&self.to.known).map_err(Failure::new)?)?;
        }
        Ok((self.gone, minimal))
    }

    /// How many units are left.
    fn left(&self) -> usize {
        self.gone.iter().filter(|g| !**g).count()
    }

    /// Goes through everything until nothing goes any more; whether that was reached.
    fn all(&mut self) -> Result<bool, Failure> {
        let mut said = usize::MAX;
        loop {
            let before = self.left();
            let parts = self.parts;
            for level in parts.levels() {
                let (left, all) = (self.left(), self.gone.len());
                if left != said {
                    progress::step(&format!("{}: {left} of {all} {} are left", level.name, parts.name()));
                    said = left;
                }
                if !self.level(&level.groups)? {
                    return Ok(false);
                }
            }
            if self.left() != before {
                self.presumes = true;
            } else if !std::mem::take(&mut self.presumes) {
                return Ok(true);
            }
        }
    }

    /// Takes away what can go of these, more at once at first; whether there was time for it.
    fn level(&mut self, groups: &[Vec<u32>]) -> Result<bool, Failure> {
        let stays = |gone: &[bool], group: &[u32]| group.iter().any(|b| !gone[*b as usize]);
        let mut left: Vec<&Vec<u32>> = groups.iter().filter(|g| stays(&self.gone, g)).collect();
        let mut size = left.len().div_ceil(2).max(1);
        while !left.is_empty() {
            // (what comes last is used least)
            let mut kept = vec![];
            for some in left.rchunks(size) {
                if Instant::now() >= self.to.until || self.to.oracle.interrupt.asked() {
                    return Ok(false);
                }
                let units = some.iter().flat_map(|g| g.iter().copied()).filter(|b| !self.gone[*b as usize]);
                let all = self.parts.with_users(&self.gone, &units.collect::<Vec<_>>());
                if all.is_empty() || self.presumes_needed(&all) || !self.without(&all)? {
                    kept.extend(some.iter().rev().copied());
                }
            }
            kept.reverse();
            left = kept.into_iter().filter(|g| stays(&self.gone, g)).collect();
            if size == 1 {
                break;
            }
            size = size.div_ceil(2).min(left.len().div_ceil(2)).max(1);
        }
        Ok(true)
    }

    /// Some of these units are known to be needed.
    fn presumes_needed(&self, units: &[u32]) -> bool {
        let units: HashSet<u32> = units.iter().copied().filter(|_| self.presumes).collect();
        self.in_vain.iter().any(|some| some.len() <= units.len() && some.iter().all(|u| units.contains(u)))
    }

    /// Takes these units away if the fault is there without them.
    fn without(&mut self, units: &[u32]) -> Result<bool, Failure> {
        let mut gone = self.gone.clone();
        units.iter().for_each(|b| gone[*b as usize] = true);
        self.parts.keep(&self.gone, &mut gone);
        if self.gone == gone {
            return Ok(true);
        }
        let bits: Vec<u8> = gone.iter().map(|g| u8::from(*g)).collect();
        let hash = blake3::hash(&bits);
        let to = &mut *self.to;
        let trial = format!("{}: {hash}", self.parts.name());
        if self.tried.contains(&hash) || to.known.ended_the_gpu.contains(&trial) {
            return Ok(false);
        }
        write_file(to.trial, &self.parts.written(&gone)?)?;
        to.asked += 1;
        let seen = to.oracle.look(to.trial)?;
        if !to.oracle.is(&seen) {
            to.usable(&seen, Some(trial))?;
            self.tried.insert(hash);
            let went = (0..gone.len()).filter(|u| gone[*u] && !self.gone[*u]).map(|u| u as u32);
            let went: Vec<u32> = went.take(MOST_UNITS + 1).collect();
            if went.len() <= MOST_UNITS {
                self.in_vain.push(went);
            }
            return Ok(false);
        }
        to.oracle.patience = patience(&seen);
        self.gone = gone;
        let gone = (0..self.gone.len() as u32).filter(|b| self.gone[*b as usize]).collect();
        to.known.gone.insert(self.parts.name().to_owned(), gone);
        write_file(to.notes, &serde_json::to_vec(&to.known).map_err(Failure::new)?)?;
        to.usable(&seen, None)?;
        Ok(true)
    }
}
