//! A trace's tables as the checks want them: entry points by pipeline, rows by frame and entry point, functions by name.

use std::collections::{BTreeMap, HashMap};
use trace::tables::TABLES;
use trace::{ColumnData, Columns, Source};

/// What is read of a trace.
pub struct Trace {
    /// Frames and their subgroup size.
    pub frames: Vec<(u64, u64)>,
    tables: BTreeMap<&'static str, Rows>,
    /// Numbers of entry points: by the pipeline's name and which of its stages.
    entries: HashMap<(String, u64), u64>,
    variants: HashMap<u64, u64>,
    functions: HashMap<(u64, u64), String>,
    blocks: HashMap<(u64, u64), Vec<u64>>,
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Number(u64),
    Words(String),
    Fraction(f64),
}

/// One row, by the names of its columns.
#[derive(Clone, Debug)]
pub struct Row(HashMap<&'static str, Cell>);

type Rows = Vec<Row>;

impl Row {
    /// A number of it.
    pub fn number(&self, column: &str) -> u64 {
        match self.0.get(column) {
            Some(Cell::Number(n)) => *n,
            other => panic!("no number is called {column}: {other:?}"),
        }
    }
    /// Words of it.
    pub fn words(&self, column: &str) -> &str {
        match self.0.get(column) {
            Some(Cell::Words(s)) => s,
            other => panic!("no words are called {column}: {other:?}"),
        }
    }
}

fn rows(columns: &Columns) -> Rows {
    let names: Vec<&'static str> = columns.table().columns.iter().map(|c| c.name).collect();
    let row = |i: usize| {
        let cell = |data: &ColumnData| match data {
            ColumnData::U64(c) => Cell::Number(c[i]),
            ColumnData::F64(c) => Cell::Fraction(c[i]),
            ColumnData::Text(c) => Cell::Words(c[i].to_string()),
        };
        Row(names.iter().zip(columns.columns()).map(|(name, data)| (*name, cell(data))).collect())
    };
    (0..columns.len()).map(row).collect()
}

impl Trace {
    /// Reads all of it.
    pub fn read(source: &dyn Source) -> Result<Self, String> {
        let mut tables = BTreeMap::new();
        for table in TABLES {
            tables.insert(table.name, rows(&source.read(table).map_err(|e| e.to_string())?));
        }
        let of = |name: &str| tables[name].iter();
        let names: HashMap<u64, &str> =
            of("pipelines").map(|r| (r.number("pipeline"), r.words("name"))).collect();
        let named = |r: &Row| {
            let name = names.get(&r.number("pipeline")).map(|n| (*n).to_owned()).unwrap_or_default();
            ((name, r.number("index")), r.number("entry"))
        };
        let mut blocks: HashMap<(u64, u64), Vec<u64>> = HashMap::new();
        for r in of("blocks") {
            let of = blocks.entry((r.number("variant"), r.number("function"))).or_default();
            of.resize(of.len().max(r.number("block") as usize + 1), 0);
            of[r.number("block") as usize] = r.number("instructions");
        }
        // What GLSL calls `add(u1;u1;` is `add` here.
        let plain = |name: &str| name.split('(').next().unwrap_or_default().to_owned();
        Ok(Trace {
            frames: of("frames").map(|r| (r.number("frame"), r.number("subgroup_size"))).collect(),
            entries: of("entries").map(named).collect(),
            variants: of("entries").map(|r| (r.number("entry"), r.number("variant"))).collect(),
            functions: of("functions")
                .map(|r| ((r.number("variant"), r.number("function")), plain(r.words("name"))))
                .collect(),
            blocks,
            tables,
        })
    }

    /// The number of an entry point, if it was instrumented.
    pub fn entry(&self, pipeline: &str, index: u64) -> Option<u64> {
        self.entries.get(&(pipeline.to_owned(), index)).copied()
    }

    /// All rows of a table; none where this program knows no such table.
    pub fn all(&self, table: &str) -> impl Iterator<Item = &Row> {
        self.tables.get(table).into_iter().flatten()
    }

    /// Rows of a frame and an entry point.
    pub fn rows(&self, table: &str, frame: u64, entry: u64) -> Vec<&Row> {
        let ours = |r: &&Row| r.number("frame") == frame && r.number("entry") == entry;
        self.all(table).filter(ours).collect()
    }

    /// The function of a row, by name.
    pub fn function(&self, entry: u64, row: &Row) -> &str {
        self.functions.get(&(self.variants[&entry], row.number("function"))).map_or("", |s| s)
    }

    /// The names of an entry point's functions, with how many blocks each has.
    pub fn blocks(&self, entry: u64) -> BTreeMap<&str, u32> {
        let variant = self.variants[&entry];
        let of = self.functions.iter().filter(|((v, _), _)| *v == variant);
        of.map(|(key, name)| (&**name, self.blocks.get(key).map_or(0, |b| b.len() as u32))).collect()
    }
}
