//! What descriptor sets held, so that two slots are compared by comparing two numbers.

use super::numbers::{NOTHING, Numbers};
use std::collections::HashMap;
use std::sync::Arc;
use trace::tables::{DESCRIPTORS, DYNAMIC_OFFSETS, SET_CONTENTS};
use trace::{Source, Unreadable};

/// A descriptor.
#[derive(Clone, Debug, PartialEq)]
pub struct Descriptor {
    /// Its type.
    pub kind: Arc<str>,
    /// The buffer, or 0.
    pub buffer: u64,
    /// In the buffer.
    pub offset: u64,
    /// Of the buffer.
    pub range: u64,
    /// Why it is not known; empty where it is.
    pub unknown: Arc<str>,
}

/// What one slot held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Element and number of the descriptor, by element.
    pub descriptors: Vec<(u32, u32)>,
    /// Whether one of them is not known.
    pub unknown: bool,
}

/// All contents.
#[derive(Debug, Default)]
pub struct Sets {
    by_number: Numbers<u32>,
    /// Binding and value, by binding, for each contents.
    contents: Vec<Vec<(u32, u32)>>,
    values: Vec<Value>,
    descriptors: Numbers<Descriptor>,
    /// Binding and a number for its offsets, by binding, for each list.
    offsets: Numbers<Vec<(u32, u32)>>,
}

impl Sets {
    pub(super) fn read(trace: &dyn Source) -> Result<Sets, Unreadable> {
        let mut sets = Sets::default();
        let t = trace.read(&DESCRIPTORS)?;
        for r in 0..t.len() {
            let d = Descriptor {
                kind: t.text("type")[r].clone(),
                buffer: t.u64("buffer")[r],
                offset: t.u64("offset")[r],
                range: t.u64("range")[r],
                unknown: t.text("unknown")[r].clone(),
            };
            sets.descriptors.insert(t.u64("descriptor")[r], d);
        }
        drop(t);
        let mut interned: HashMap<Vec<(u32, u32)>, u32> = HashMap::new();
        let rows = grouped(trace, &SET_CONTENTS, ["contents", "binding", "element", "descriptor"])?;
        for of in rows.chunk_by(|a, b| a[0] == b[0]) {
            let bindings = of.chunk_by(|a, b| a[1] == b[1]).map(|of| {
                let value: Vec<(u32, u32)> = of.iter().map(|r| (r[2] as u32, r[3] as u32)).collect();
                let number = *interned.entry(value).or_insert_with_key(|value| {
                    let unknown =
                        |d: &u32| sets.descriptors.get(&u64::from(*d)).is_some_and(|d| !d.unknown.is_empty());
                    let unknown = value.iter().any(|(_, d)| unknown(d));
                    sets.values.push(Value { descriptors: value.clone(), unknown });
                    sets.values.len() as u32 - 1
                });
                (of[0][1] as u32, number)
            });
            let bindings = bindings.collect();
            sets.by_number.insert(of[0][0], sets.contents.len() as u32);
            sets.contents.push(bindings);
        }
        let mut interned: HashMap<Vec<(u64, u64)>, u32> = HashMap::new();
        let rows = grouped(trace, &DYNAMIC_OFFSETS, ["offsets", "binding", "element", "offset"])?;
        for of in rows.chunk_by(|a, b| a[0] == b[0]) {
            let bindings = of.chunk_by(|a, b| a[1] == b[1]).map(|of| {
                let next = interned.len() as u32;
                let value = of.iter().map(|r| (r[2], r[3])).collect();
                (of[0][1] as u32, *interned.entry(value).or_insert(next))
            });
            let bindings = bindings.collect();
            sets.offsets.insert(of[0][0], bindings);
        }
        Ok(sets)
    }

    /// The index of these contents.
    pub(super) fn index(&self, number: u64) -> u32 {
        self.by_number.get(&number).copied().unwrap_or(NOTHING)
    }

    /// What a binding of these contents held: an index for [`Sets::value`], or [`NOTHING`].
    pub fn slot(&self, contents: u32, binding: u32) -> u32 {
        let Some(all) = self.contents.get(contents as usize) else { return NOTHING };
        all.binary_search_by_key(&binding, |b| b.0).map_or(NOTHING, |n| all[n].1)
    }

    /// A number for a binding's dynamic offsets; [`NOTHING`] if it has none.
    pub fn offset(&self, offsets: u64, binding: u32) -> u32 {
        let Some(all) = self.offsets.get(&offsets) else { return NOTHING };
        all.binary_search_by_key(&binding, |b| b.0).map_or(NOTHING, |n| all[n].1)
    }

    /// What it is.
    pub fn value(&self, value: u32) -> Option<&Value> {
        self.values.get(value as usize)
    }

    /// A descriptor by number.
    pub fn descriptor(&self, number: u32) -> Option<&Descriptor> {
        self.descriptors.get(&u64::from(number))
    }
}

/// Rows of four numbers, by the first three.
fn grouped(
    trace: &dyn Source,
    table: &'static trace::Table,
    columns: [&str; 4],
) -> Result<Vec<[u64; 4]>, Unreadable> {
    let mut rows: Vec<[u64; 4]> = vec![];
    trace.each_of(table, &columns, &mut |t| {
        let c = columns.map(|c| t.u64(c));
        rows.extend((0..t.len()).map(|r| c.map(|c| c[r])));
        Ok(())
    })?;
    if !rows.is_sorted() {
        rows.sort_unstable();
    }
    Ok(rows)
}
