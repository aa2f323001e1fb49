//! Several traces of one capture as one: counts of blocks and edges of the same frame, entry point and place are added.
//!
//! Guarantees: sums are exact and do not depend on how the traces are grouped; what was instrumented is taken over from the
//! first trace that has it. Entry points are the same where pipeline, stage, shader and name are; passes where their names
//! are. Only tables of blocks, and those they refer to, are taken over. Refuses traces that counted in different ways
//! (unit, sample, additions that may be lost), shaders of one hash and different structure, and sums over 2⁶⁴.

use std::collections::BTreeMap;
use std::sync::Arc;
use trace::tables::{
    BLOCK_COUNTS, BLOCK_RUNS, BLOCKS, EDGE_COUNTS, EDGES, ENTRIES, FRAMES, FUNCTIONS, INSTRUCTIONS, PIPELINES,
};
use trace::{ColumnData, Columns, Memory, Source, Table, Unreadable, Value};

/// The tables that say what a variant is.
static OF_VARIANTS: [&Table; 4] = [&FUNCTIONS, &BLOCKS, &EDGES, &INSTRUCTIONS];

/// A variant's rows in each of these, without its number.
type OfVariant = [Vec<Vec<Own>>; OF_VARIANTS.len()];

/// A value that keys can be made of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Own {
    Number(u64),
    Words(Arc<str>),
}

impl Own {
    fn value(&self) -> Value<'_> {
        match self {
            Own::Number(n) => Value::U64(*n),
            Own::Words(w) => Value::Text(w),
        }
    }
}

fn row(t: &Columns, r: usize) -> Vec<Own> {
    let of = |c: &ColumnData| match c {
        ColumnData::U64(c) => Own::Number(c[r]),
        ColumnData::Text(c) => Own::Words(c[r].clone()),
        // None of these tables has any.
        ColumnData::F64(c) => Own::Number(c[r] as u64),
    };
    t.columns().iter().map(of).collect()
}

fn put(out: &mut Memory, table: &'static Table, row: &[Own]) {
    out.put(table, &row.iter().map(Own::value).collect::<Vec<_>>());
}

/// What has been taken over so far.
#[derive(Default)]
struct Merged {
    frames: BTreeMap<u64, Vec<Own>>,
    pipelines: BTreeMap<u64, Vec<Own>>,
    /// By what an entry point is: its number, its variant's.
    entries: BTreeMap<Vec<Own>, (u64, u64)>,
    /// By shader, entry point and stage: its number, and its rows in each of the tables, without the number.
    variants: BTreeMap<Vec<Own>, (u64, OfVariant)>,
    /// By pass and frame.
    runs: BTreeMap<Vec<Own>, Vec<Own>>,
    blocks: BTreeMap<Vec<Own>, u64>,
    edges: BTreeMap<Vec<Own>, u64>,
}

/// One trace of many.
pub fn merge(traces: &[&dyn Source]) -> Result<Memory, Unreadable> {
    let mut merged = Merged::default();
    for (n, trace) in (1..).zip(traces) {
        merged.add(*trace).map_err(|e| Unreadable(format!("trace {n}: {e}")))?;
    }
    Ok(merged.out())
}

impl Merged {
    fn add(&mut self, trace: &dyn Source) -> Result<(), Unreadable> {
        let t = trace.read(&FRAMES)?;
        (0..t.len()).for_each(|r| {
            self.frames.entry(t.u64("frame")[r]).or_insert_with(|| row(&t, r));
        });
        let t = trace.read(&PIPELINES)?;
        (0..t.len()).for_each(|r| {
            self.pipelines.entry(t.u64("pipeline")[r]).or_insert_with(|| row(&t, r));
        });
        let entries = self.entries(trace)?;
        self.runs(trace)?;
        for (table, into) in [(&BLOCK_COUNTS, &mut self.blocks), (&EDGE_COUNTS, &mut self.edges)] {
            let t = trace.read(table)?;
            for r in 0..t.len() {
                let mut key = row(&t, r);
                let Some(Own::Number(n)) = key.pop() else { continue };
                let entry = entries.get(&t.u64("entry")[r]).ok_or_else(|| {
                    Unreadable(format!("table {}, row {r}: there is no such entry point", table.name))
                })?;
                // Pass, frame, entry, …
                key[2] = Own::Number(*entry);
                let sum = into.entry(key).or_default();
                *sum = sum.checked_add(n).ok_or_else(|| {
                    Unreadable(format!("table {}, row {r}: the sum is over 2^64", table.name))
                })?;
            }
        }
        Ok(())
    }

    /// The entry points' numbers in the whole, by those in the trace.
    fn entries(&mut self, trace: &dyn Source) -> Result<BTreeMap<u64, u64>, Unreadable> {
        let mut rows: BTreeMap<u64, OfVariant> = BTreeMap::new();
        for (n, table) in OF_VARIANTS.iter().enumerate() {
            let t = trace.read(table)?;
            for r in 0..t.len() {
                rows.entry(t.u64("variant")[r]).or_default()[n].push(row(&t, r).split_off(1));
            }
        }
        let t = trace.read(&ENTRIES)?;
        let mut numbers = BTreeMap::new();
        for r in 0..t.len() {
            let what = ["shader", "name", "stage"].map(|c| Own::Words(t.text(c)[r].clone())).to_vec();
            let own = rows.get(&t.u64("variant")[r]).cloned().unwrap_or_default();
            let next = self.variants.len() as u64;
            let known = self.variants.entry(what.clone()).or_insert_with(|| (next, own.clone()));
            if known.1 != own {
                return Err(Unreadable(format!(
                    "shader {} is of another structure than in a trace before; traces of different builds do not add up",
                    t.text("shader")[r]
                )));
            }
            let variant = known.0;
            let mut key = vec![Own::Number(t.u64("pipeline")[r]), Own::Number(t.u64("index")[r])];
            key.extend(what);
            let next = self.entries.len() as u64;
            let entry = self.entries.entry(key).or_insert((next, variant)).0;
            numbers.insert(t.u64("entry")[r], entry);
        }
        Ok(numbers)
    }

    fn runs(&mut self, trace: &dyn Source) -> Result<(), Unreadable> {
        let t = trace.read(&BLOCK_RUNS)?;
        for r in 0..t.len() {
            let row = row(&t, r);
            // Unit, additions, sample.
            let way = |row: &[Own]| row[2..5].to_vec();
            let other = self.runs.values().find(|o| o[0] == row[0] && way(o) != way(&row));
            if other.is_some() {
                return Err(Unreadable(format!(
                    "pass {} counted in another way than in a trace before (unit, additions, or sample); such counts do \
                     not add up",
                    t.text("pass")[r]
                )));
            }
            self.runs.entry(row[..2].to_vec()).or_insert(row);
        }
        Ok(())
    }

    fn out(self) -> Memory {
        let mut out = Memory::default();
        self.frames.values().for_each(|r| put(&mut out, &FRAMES, r));
        self.pipelines.values().for_each(|r| put(&mut out, &PIPELINES, r));
        let mut entries: Vec<_> = self.entries.into_iter().collect();
        entries.sort_by_key(|e| e.1.0);
        for (key, (entry, variant)) in entries {
            let mut row = vec![Own::Number(entry), key[0].clone(), key[1].clone(), Own::Number(variant)];
            row.extend_from_slice(&key[2..]);
            put(&mut out, &ENTRIES, &row);
        }
        let mut variants: Vec<_> = self.variants.into_values().collect();
        variants.sort_by_key(|v| v.0);
        for (n, rows) in variants {
            for (table, rows) in OF_VARIANTS.iter().zip(rows) {
                for row in rows {
                    put(&mut out, table, &[vec![Own::Number(n)], row].concat());
                }
            }
        }
        self.runs.values().for_each(|r| put(&mut out, &BLOCK_RUNS, r));
        for (table, of) in [(&BLOCK_COUNTS, self.blocks), (&EDGE_COUNTS, self.edges)] {
            for (mut key, n) in of {
                key.push(Own::Number(n));
                put(&mut out, table, &key);
            }
        }
        out
    }
}

/// The tables that a merged trace has.
pub static MERGED: [&Table; 10] = [
    &FRAMES,
    &PIPELINES,
    &ENTRIES,
    &FUNCTIONS,
    &BLOCKS,
    &EDGES,
    &INSTRUCTIONS,
    &BLOCK_RUNS,
    &BLOCK_COUNTS,
    &EDGE_COUNTS,
];
