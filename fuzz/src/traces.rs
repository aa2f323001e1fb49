//! Target "trace": folders of a trace with changed files, and records that nobody measured.
//!
//! Half of the inputs are folders: what reads them must end in rows or in an error that says where. The other half are rows of
//! a real trace with other values, or made up from what the tables say of their columns. These go to the questions from memory,
//! past [`trace::dir`], and keep to what it lets through: values that add up to too much are among the folders. Guarantees: seed and index name an input as long as the captures are the same.

use std::path::Path;

use analyses::{QUESTIONS, Question};
use gfxr_parse::container::Capture;
use trace::dir::{Dir, Manifest, Writer};
use trace::tables::TABLES;
use trace::{Column, ColumnData, Columns, Memory, Source, Table, Value, table::Kind};

use crate::answers;
use crate::folder::{self, Folder, WORDS};
use crate::rng::Rng;
use crate::seeds::Seeds;
use crate::targets::Ran;

/// Most rows of a table that are used.
const MOST_ROWS: usize = 200;
/// Values of columns that are summed: [`MOST_ROWS`] of them stay below what the reader of traces lets through.
const MOST_SUMMED: u64 = 1 << 47;
/// Traces that inputs are made of.
const BASES: usize = 10;

/// An input.
pub enum Input {
    /// Files.
    Folder(Folder),
    /// Rows, and what is asked.
    Rows(Memory, &'static Question),
}

/// What inputs are made of.
pub struct Traces {
    bases: Vec<(Vec<Columns>, Folder)>,
    /// Words that occur in them.
    words: Vec<String>,
}

impl Traces {
    /// Those of some of the captures: what `bindings` says of them, which takes no device.
    pub fn new(seeds: &Seeds, scratch: &Path) -> std::io::Result<Self> {
        let mut bases = vec![];
        let mut words: Vec<String> = WORDS.map(String::from).to_vec();
        for file in &seeds.files {
            let bytes = [file.header.clone(), file.blocks.concat()].concat();
            let Ok(capture) = Capture::new(bytes) else { continue };
            let rows = crate::echo::rows(&capture);
            let tables: Vec<Columns> =
                TABLES.iter().filter_map(|t| rows.read(t).ok()).filter(|c| !c.is_empty()).collect();
            if tables.is_empty() {
                continue;
            }
            for column in tables.iter().flat_map(|t| t.columns()) {
                if let ColumnData::Text(all) = column {
                    words.extend(all.iter().take(40).map(|t| t.to_string()));
                }
            }
            let folder = written(&tables, scratch)?;
            bases.push((tables, folder));
            if bases.len() == BASES {
                break;
            }
        }
        words.sort();
        words.dedup();
        Ok(Traces { bases, words })
    }

    /// Input number `index`.
    pub fn make(&self, seed: u64, index: u64) -> Input {
        let mut rng = Rng::new(seed ^ 0x7472_6163_6500_0000, index);
        let rng = &mut rng;
        if self.bases.is_empty() || index.is_multiple_of(2) {
            return self.rows(rng);
        }
        let mut files = rng.pick(&self.bases).1.clone();
        folder::mutate(&mut files, rng);
        Input::Folder(files)
    }

    /// Rows of a real trace with other values, or of any table that a question wants.
    fn rows(&self, rng: &mut Rng) -> Input {
        let question = *rng.pick(QUESTIONS);
        let mut memory = Memory::default();
        if !self.bases.is_empty() && rng.chance(1, 3) {
            let tables = &rng.pick(&self.bases).0;
            // A few tables get other values; rows of others go.
            for columns in tables {
                let wrong = rng.chance(1, 6);
                for n in 0..columns.len().min(MOST_ROWS) {
                    let mut row = row(columns, n);
                    if wrong && rng.chance(1, 4) {
                        let c = rng.below(row.len());
                        row[c] = self.value(&columns.table().columns[c], n, rng);
                    }
                    if !rng.chance(1, 200) {
                        memory.put(columns.table(), &row);
                    }
                }
            }
        } else {
            for &table in TABLES {
                let wanted = question.wants.iter().any(|t| t.name == table.name);
                if wanted || rng.chance(1, 3) {
                    self.made_up(table, &mut memory, rng);
                }
            }
        }
        Input::Rows(memory, question)
    }

    /// Rows whose numbers are small most of the time, so that they refer to each other.
    fn made_up(&self, table: &'static Table, memory: &mut Memory, rng: &mut Rng) {
        for n in 0..1 + rng.below(12) {
            let row: Vec<Value> = table.columns.iter().map(|c| self.value(c, n, rng)).collect();
            memory.put(table, &row);
        }
    }

    fn value(&self, column: &Column, row: usize, rng: &mut Rng) -> Value<'_> {
        let most = if column.adds_up() { MOST_SUMMED } else { u64::MAX };
        match column.kind {
            Kind::U64 => Value::U64(most.min(match rng.below(16) {
                0..=6 => rng.below(4) as u64,
                7..=11 => row as u64,
                12 | 13 => rng.below(1000) as u64,
                14 => rng.edge(),
                _ => u64::MAX,
            })),
            Kind::F64 => {
                Value::F64([0.0, 1.0, 0.5, -1.0, 1e300, f64::NAN, f64::INFINITY, 1e-300][rng.below(8)])
            }
            Kind::Text => Value::Text(&self.words[rng.below(self.words.len())]),
        }
    }
}

/// Runs an input.
pub fn run(input: Input, index: u64) -> Ran {
    let mut ran = Ran::default();
    match input {
        Input::Rows(memory, question) => {
            ran.read = 1;
            answers::one(&memory, question, index.is_multiple_of(64), &mut ran);
        }
        Input::Folder(files) => {
            ran.largest = files.values().map(|f| f.len() as u64).sum();
            match Dir::open_with(Path::new("trace"), folder::opener(files)) {
                Ok(dir) => {
                    assert!(dir.warnings().iter().all(|w| !w.is_empty()));
                    answers::tables(&dir, &mut ran);
                    answers::all(&dir, &mut ran);
                }
                Err(e) => answers::refused(&e, &mut ran),
            }
        }
    }
    ran
}

/// A row of a table.
fn row(columns: &Columns, n: usize) -> Vec<Value<'_>> {
    let value = |c| match c {
        &ColumnData::U64(ref all) => Value::U64(all[n]),
        ColumnData::F64(all) => Value::F64(all[n]),
        ColumnData::Text(all) => Value::Text(&all[n]),
    };
    columns.columns().iter().map(value).collect()
}

/// These tables, as a folder.
pub fn written(tables: &[Columns], scratch: &Path) -> std::io::Result<Folder> {
    let _ = std::fs::remove_dir_all(scratch);
    let wrong = |e: trace::Unreadable| std::io::Error::other(e.to_string());
    let mut writer = Writer::create(scratch, Manifest::default()).map_err(wrong)?;
    for columns in tables {
        for n in 0..columns.len().min(MOST_ROWS) {
            writer.put(columns.table(), &row(columns, n));
        }
    }
    writer.finish().map_err(wrong)?;
    let files = folder::read(scratch)?;
    std::fs::remove_dir_all(scratch)?;
    Ok(files)
}
