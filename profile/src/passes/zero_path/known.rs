//! Which words of which loads are mostly zero, from the tables that pass `values` leaves.

use crate::passes::learnt::{Entry, digits};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use trace::Source;
use trace::tables::{ENTRIES, VALUE_SITES, VALUES};

/// Words of a load that are mostly zero, by where the load stands in the original module.
pub type Loads = BTreeMap<u32, BTreeSet<u32>>;

/// See the module's header.
#[derive(Clone, Debug, Default)]
pub struct Known(BTreeMap<Entry, Loads>);

/// Executions and zeros of each word of each load.
#[derive(Clone, Debug, Default)]
pub struct Counts(BTreeMap<Entry, BTreeMap<(u32, u32), [u64; 2]>>);

impl Known {
    /// Nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is known of an entry point.
    pub fn of(&self, entry: &Entry) -> Option<&Loads> {
        self.0.get(entry)
    }

    /// All of it as a few digits.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for ((shader, stage, name), loads) in &self.0 {
            hasher.update(format!("{shader} {stage} {name} {loads:?}\n").as_bytes());
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }
}

impl Counts {
    /// Nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The words of which so many per cent are zero.
    pub fn mostly_zero(&self, share: u64) -> Known {
        let mut all = BTreeMap::new();
        for (entry, words) in &self.0 {
            let mut loads = Loads::new();
            for ((load, word), [executions, zeros]) in words {
                if *executions > 0 && u128::from(*zeros) * 100 >= u128::from(*executions) * u128::from(share)
                {
                    loads.entry(*load).or_default().insert(*word);
                }
            }
            if !loads.is_empty() {
                all.insert(entry.clone(), loads);
            }
        }
        Known(all)
    }

    /// Adds a trace's counts of the frames that are wanted.
    pub fn add(&mut self, trace: &dyn Source, wants: &dyn Fn(u64) -> bool) -> Result<(), String> {
        let read = |t| trace.read(t).map_err(|e| e.to_string());
        let entries = read(&ENTRIES)?;
        let [shaders, names, stages] = ["shader", "name", "stage"].map(|c| entries.text(c));
        let entry_of: HashMap<u64, Entry> = entries
            .u64("entry")
            .iter()
            .enumerate()
            .map(|(row, e)| (*e, (digits(&shaders[row]), stages[row].to_string(), names[row].to_string())))
            .collect();
        // A load's words are sites one behind the other.
        let sites = read(&VALUE_SITES)?;
        let [entry, site, word_offset] = ["entry", "site", "word_offset"].map(|c| sites.u64(c));
        let mut rows: Vec<usize> = (0..sites.len()).collect();
        rows.sort_by_key(|&row| (entry[row], site[row]));
        let mut word_of: HashMap<(u64, u64), (u32, u32)> = HashMap::new();
        let mut last = None;
        for row in rows {
            let load = (entry[row], word_offset[row]);
            let word = match last {
                Some((l, word)) if l == load => word + 1,
                _ => 0,
            };
            last = Some((load, word));
            word_of.insert((entry[row], site[row]), (word_offset[row] as u32, word));
        }
        let values = read(&VALUES)?;
        let [frame, entry, site, executions, zeros] =
            ["frame", "entry", "site", "executions", "zeros"].map(|c| values.u64(c));
        for row in (0..values.len()).filter(|&row| wants(frame[row])) {
            let known = entry_of.get(&entry[row]).zip(word_of.get(&(entry[row], site[row])));
            let Some((what, word)) = known else {
                return Err(format!("entry {} has values of a site that no table has", entry[row]));
            };
            let sums = self.0.entry(what.clone()).or_default().entry(*word).or_default();
            sums[0] += executions[row];
            sums[1] += zeros[row];
        }
        Ok(())
    }
}
