//! Which words of which blocks had one value, from the tables that `bindings` leaves.

use crate::passes::learnt::{Entry, digits};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use trace::Source;
use trace::tables::{CONTENT_WORDS, INVOCATION_BLOCKS, INVOCATIONS, RESOURCE_STAGES};

/// Where a block is bound: set, binding, element; none of push constants.
pub type Place = Option<(u32, u32, u32)>;

/// Words by their offset in bytes.
pub type Words = BTreeMap<u64, u32>;

/// Known words of an entry point's blocks, by where they are bound.
pub type Blocks = BTreeMap<Place, Words>;

/// What is known of each entry point that was invoked: all contents that a block had.
#[derive(Clone, Debug, Default)]
pub struct Known {
    entries: BTreeMap<Entry, Blocks>,
}

/// What the blocks of a pipeline were.
#[derive(Default)]
struct Seen {
    invocations: u64,
    /// Of each block its contents, and in how many invocations they were known.
    blocks: BTreeMap<Place, (BTreeSet<u64>, u64)>,
}

impl Known {
    /// Some invocation was seen.
    pub fn saw_any(&self) -> bool {
        !self.entries.is_empty()
    }

    /// What is known of an entry point.
    pub fn of(&self, entry: &Entry) -> Option<Blocks> {
        self.entries.get(entry).cloned()
    }

    /// With this knowledge alone.
    #[cfg(test)]
    pub fn with(entry: Entry, blocks: Blocks) -> Self {
        Known { entries: BTreeMap::from([(entry, blocks)]) }
    }

    /// All of it as a few digits.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for ((shader, stage, name), blocks) in &self.entries {
            hasher.update(format!("{shader} {stage} {name} {blocks:?}\n").as_bytes());
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }

    /// Adds a trace's invocations of the frames that are wanted. What two traces do not agree about is not known.
    pub fn add(&mut self, trace: &dyn Source, wants: &dyn Fn(u64) -> bool) -> Result<(), String> {
        let said = |e: trace::Unreadable| e.to_string();
        let mut pipelines: HashMap<u64, Seen> = HashMap::new();
        // (invocations are numbered from 0)
        let mut of_invocation: Vec<Option<u64>> = vec![];
        trace
            .each_of(&INVOCATIONS, &["invocation", "frame", "pipeline"], &mut |rows| {
                let [number, frame, pipeline] = ["invocation", "frame", "pipeline"].map(|c| rows.u64(c));
                for row in 0..rows.len() {
                    let wanted = wants(frame[row]);
                    let at = number[row] as usize;
                    of_invocation.resize(of_invocation.len().max(at + 1), None);
                    of_invocation[at] = wanted.then_some(pipeline[row]);
                    if wanted {
                        pipelines.entry(pipeline[row]).or_default().invocations += 1;
                    }
                }
                Ok(())
            })
            .map_err(said)?;
        let columns = ["invocation", "space", "set", "binding", "element", "contents"];
        trace
            .each_of(&INVOCATION_BLOCKS, &columns, &mut |rows| {
                let [number, set, binding, element, contents] =
                    ["invocation", "set", "binding", "element", "contents"].map(|c| rows.u64(c));
                let space = rows.text("space");
                for row in 0..rows.len() {
                    let pipeline = of_invocation.get(number[row] as usize).copied().flatten();
                    let Some(seen) = pipeline.and_then(|p| pipelines.get_mut(&p)) else { continue };
                    let place = match &*space[row] {
                        "push" => None,
                        _ => Some((set[row] as u32, binding[row] as u32, element[row] as u32)),
                    };
                    let block = seen.blocks.entry(place).or_default();
                    block.0.insert(contents[row]);
                    block.1 += 1;
                }
                Ok(())
            })
            .map_err(said)?;
        let words = contents(trace, &pipelines).map_err(said)?;
        let stages = trace.read(&RESOURCE_STAGES).map_err(said)?;
        let [module, stage, name] = ["module", "stage", "entry"].map(|c| stages.text(c));
        let mut of_entry: BTreeMap<Entry, Vec<&Seen>> = BTreeMap::new();
        for (row, pipeline) in stages.u64("pipeline").iter().enumerate() {
            let Some(seen) = pipelines.get(pipeline) else { continue };
            let entry = (digits(&module[row]), stage[row].to_string(), name[row].to_string());
            of_entry.entry(entry).or_default().push(seen);
        }
        for (entry, seen) in of_entry {
            let new = common(&seen, &words);
            match self.entries.get_mut(&entry) {
                None => _ = self.entries.insert(entry, new),
                Some(known) => {
                    known.retain(|place, _| new.contains_key(place));
                    for (place, words) in known {
                        words.retain(|at, w| new[place].get(at) == Some(w));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The words of all contents that were seen.
fn contents(trace: &dyn Source, seen: &HashMap<u64, Seen>) -> Result<HashMap<u64, Words>, trace::Unreadable> {
    let mut all: HashMap<u64, Words> = HashMap::new();
    let wanted = seen.values().flat_map(|s| s.blocks.values().flat_map(|b| b.0.iter().copied()));
    all.extend(wanted.map(|c| (c, Words::new())));
    trace.each_of(&CONTENT_WORDS, &["contents", "offset", "word"], &mut |rows| {
        let [contents, offset, word] = ["contents", "offset", "word"].map(|c| rows.u64(c));
        for row in 0..rows.len() {
            if let Some(words) = all.get_mut(&contents[row]) {
                words.insert(offset[row], word[row] as u32);
            }
        }
        Ok(())
    })?;
    Ok(all)
}

/// What all invocations of these pipelines have in common.
fn common(seen: &[&Seen], words: &HashMap<u64, Words>) -> Blocks {
    let mut out = Blocks::new();
    let places: BTreeSet<&Place> = seen.iter().flat_map(|s| s.blocks.keys()).collect();
    for place in places {
        // Each invocation of each pipeline has it, and it is known (of number 0 nothing is).
        let known =
            |s: &&Seen| s.blocks.get(place).is_some_and(|b| b.1 >= s.invocations && !b.0.contains(&0));
        if !seen.iter().all(known) {
            continue;
        }
        let mut all = seen.iter().flat_map(|s| &s.blocks[place].0).map(|c| &words[c]);
        let Some(mut same) = all.next().cloned() else { continue };
        for other in all {
            same.retain(|at, w| other.get(at) == Some(w));
        }
        out.insert(*place, same);
    }
    out
}
