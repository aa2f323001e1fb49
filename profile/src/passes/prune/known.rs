//! Which blocks were executed, from the tables that pass `blocks` leaves.

use crate::passes::learnt::{Entry, digits};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use trace::Source;
use trace::tables::{BLOCK_COUNTS, BLOCK_RUNS, BLOCKS, ENTRIES, FUNCTIONS};

/// Blocks by their function's id and their label, as the original module has them.
pub type Run = BTreeSet<(u32, u32)>;

/// What was executed of each entry point that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known(BTreeMap<Entry, Run>);

impl Known {
    /// Nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What of an entry point was executed, if it ran.
    pub fn of(&self, entry: &Entry) -> Option<&Run> {
        self.0.get(entry)
    }

    /// With this knowledge alone.
    #[cfg(test)]
    pub fn with(entry: Entry, run: Run) -> Self {
        Known(BTreeMap::from([(entry, run)]))
    }

    /// All of it as a few digits.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for ((shader, stage, name), run) in &self.0 {
            hasher.update(format!("{shader} {stage} {name} {run:?}\n").as_bytes());
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }

    /// Adds a trace's counts of the frames that are wanted.
    pub fn add(&mut self, trace: &dyn Source, wants: &dyn Fn(u64) -> bool) -> Result<(), String> {
        let read = |t| trace.read(t).map_err(|e| e.to_string());
        let runs = read(&BLOCK_RUNS)?;
        for (frame, sample) in runs.u64("frame").iter().zip(runs.u64("sample")) {
            if *sample > 1 && wants(*frame) {
                return Err(format!(
                    "frame {frame} counted one in {sample}: what it did not see may have run"
                ));
            }
        }
        let entries = read(&ENTRIES)?;
        let [shaders, names, stages] = ["shader", "name", "stage"].map(|c| entries.text(c));
        let mut entry_of = HashMap::new();
        for (row, entry) in entries.u64("entry").iter().enumerate() {
            let what = (digits(&shaders[row]), stages[row].to_string(), names[row].to_string());
            entry_of.insert(*entry, (what, entries.u64("variant")[row]));
        }
        let functions = read(&FUNCTIONS)?;
        let [variant, function, id] = ["variant", "function", "id"].map(|c| functions.u64(c));
        let ids: HashMap<(u64, u64), u32> =
            (0..functions.len()).map(|row| ((variant[row], function[row]), id[row] as u32)).collect();
        let blocks = read(&BLOCKS)?;
        let [variant, function, block, label] =
            ["variant", "function", "block", "label"].map(|c| blocks.u64(c));
        let labels: HashMap<(u64, u64, u64), u32> = (0..blocks.len())
            .map(|row| ((variant[row], function[row], block[row]), label[row] as u32))
            .collect();
        let counts = read(&BLOCK_COUNTS)?;
        let [frame, entry, function, block, executions] =
            ["frame", "entry", "function", "block", "executions"].map(|c| counts.u64(c));
        for row in 0..counts.len() {
            if executions[row] == 0 || !wants(frame[row]) {
                continue;
            }
            let Some((what, variant)) = entry_of.get(&entry[row]) else { continue };
            let id = ids.get(&(*variant, function[row]));
            let label = labels.get(&(*variant, function[row], block[row]));
            let (Some(&id), Some(&label)) = (id, label) else {
                return Err(format!("entry {} counts a block that no table has", entry[row]));
            };
            self.0.entry(what.clone()).or_default().insert((id, label));
        }
        Ok(())
    }
}
