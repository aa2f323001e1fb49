//! One table's file: writing its parts, and reading them from bytes.
//!
//! The layout is in the header of the module above. Guarantees: a column of a chunk is handed out only if the checksums of the
//! chunk's head and of the column fit, and it has as many rows as the chunk says; lengths are compared with the bytes at hand
//! before they are used; values that count or measure add up to [`limits::SUM`] at most. Columns that nobody asked for are not
//! looked at. Refuses columns that are not the table's, and every
//! version but those it knows. In layout 1 one checksum behind the columns was that of the whole chunk.

use super::bytes::{Bad, Bytes, Cursor, checksum, put_name};
use super::{column, limits};
use crate::{ColumnData, Columns, Kind, Table};
use std::sync::atomic::{AtomicU64, Ordering};

const HEAD: &[u8; 8] = b"RRTABLE\0";
const CHUNK: &[u8; 4] = b"CHNK";
const INDEX: &[u8; 4] = b"INDX";
const TAIL: &[u8; 8] = b"RRTABEND";
/// Behind the index: where it is, checksum, mark.
const TRAILER: usize = 8 + 8 + TAIL.len();

fn kind_byte(kind: Kind) -> u8 {
    match kind {
        Kind::U64 => 0,
        Kind::F64 => 1,
        Kind::Text => 2,
    }
}

fn seal(out: &mut Vec<u8>) {
    let sum = checksum(out);
    out.extend_from_slice(&sum);
}

/// A file's first bytes.
pub fn header(table: &Table) -> Vec<u8> {
    let mut out = HEAD.to_vec();
    for n in [limits::FORMAT, table.version, table.columns.len() as u32] {
        out.extend_from_slice(&n.to_le_bytes());
    }
    put_name(&mut out, table.name);
    for c in table.columns {
        out.push(kind_byte(c.kind));
        put_name(&mut out, c.name);
    }
    seal(&mut out);
    out
}

/// A chunk: its columns as (encoding, bytes before compression, compressed).
pub fn chunk(rows: usize, columns: &[(u8, usize, Vec<u8>)]) -> Vec<u8> {
    let mut out = CHUNK.to_vec();
    out.extend_from_slice(&(rows as u32).to_le_bytes());
    for (encoding, raw, stored) in columns {
        out.push(*encoding);
        out.extend_from_slice(&(*raw as u32).to_le_bytes());
        out.extend_from_slice(&(stored.len() as u32).to_le_bytes());
        out.extend_from_slice(&checksum(stored));
    }
    seal(&mut out);
    columns.iter().for_each(|c| out.extend_from_slice(&c.2));
    out
}

/// A chunk's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its first byte.
    pub at: u64,
    /// Its rows.
    pub rows: u32,
}

/// What stands behind the last chunk, at this byte.
pub fn index(chunks: &[Chunk], at: u64) -> Vec<u8> {
    let mut out = INDEX.to_vec();
    out.extend_from_slice(&(chunks.len() as u32).to_le_bytes());
    for c in chunks {
        out.extend_from_slice(&c.at.to_le_bytes());
        out.extend_from_slice(&c.rows.to_le_bytes());
    }
    out.extend_from_slice(&at.to_le_bytes());
    seal(&mut out);
    out.extend_from_slice(TAIL);
    out
}

/// A table's file, opened.
pub struct TableFile {
    bytes: Bytes,
    table: &'static Table,
    layout: u32,
    /// The table's columns that it has, by their places.
    there: Vec<usize>,
    chunks: Vec<Chunk>,
    left_over: usize,
    /// What was read of each column so far adds up to this.
    sums: Vec<AtomicU64>,
}

impl TableFile {
    /// A file that was finished.
    pub fn open(bytes: Bytes, table: &'static Table) -> Result<Self, Bad> {
        let (first, layout, there) = read_header((*bytes).as_ref(), table)?;
        let chunks = read_index((*bytes).as_ref(), first)?;
        Ok(TableFile { bytes, table, layout, there, chunks, left_over: 0, sums: sums(table) })
    }

    /// Of a table that nothing was recorded in.
    pub fn empty(table: &'static Table) -> Self {
        let bytes: Bytes = std::sync::Arc::new(Vec::new());
        let layout = limits::FORMAT;
        TableFile { bytes, table, layout, there: vec![], chunks: vec![], left_over: 0, sums: vec![] }
    }

    /// A file that may have been cut off: everything up to its last whole chunk.
    pub fn salvage(bytes: Bytes, table: &'static Table) -> Result<Self, Bad> {
        let all = (*bytes).as_ref();
        let (mut at, layout, there) = read_header(all, table)?;
        let mut chunks = vec![];
        while chunks.len() < limits::CHUNKS
            && let Ok(parts) = read_chunk(all, at, there.len(), layout)
            && parts.columns.iter().all(|c| c.whole().is_ok())
        {
            chunks.push(Chunk { at: at as u64, rows: parts.rows as u32 });
            at = parts.end;
        }
        let left_over = if all[at..].starts_with(INDEX) { 0 } else { all.len() - at };
        Ok(TableFile { bytes, table, layout, there, chunks, left_over, sums: sums(table) })
    }

    /// Its rows.
    pub fn rows(&self) -> u64 {
        self.chunks.iter().map(|c| u64::from(c.rows)).sum()
    }

    /// Bytes behind the last whole chunk that could not be read.
    pub fn left_over(&self) -> usize {
        self.left_over
    }

    /// How many chunks it has.
    pub fn chunks(&self) -> usize {
        self.chunks.len()
    }

    /// Appends a chunk's rows.
    pub fn read(&self, chunk: usize, into: &mut Columns) -> Result<(), Bad> {
        self.read_of(chunk, |_| true, into)
    }

    /// Appends a chunk's rows to the columns, by their place in the table, that are chosen.
    pub fn read_of(
        &self,
        chunk: usize,
        chosen: impl Fn(usize) -> bool,
        into: &mut Columns,
    ) -> Result<(), Bad> {
        let chunk = self.chunks[chunk];
        let at = usize::try_from(chunk.at).unwrap_or(usize::MAX);
        let parts = read_chunk((*self.bytes).as_ref(), at, self.there.len(), self.layout)?;
        if parts.rows != chunk.rows as usize {
            let (there, said) = (parts.rows, chunk.rows);
            return Err(Bad::new(at, format!("a chunk of {there} rows; the index says {said}")));
        }
        let mut there = self.there.iter().zip(&parts.columns).peekable();
        for (place, into) in into.columns_mut().iter_mut().enumerate() {
            let c = there.next_if(|(of, _)| **of == place).map(|c| c.1);
            if !chosen(place) {
                continue;
            }
            // (a column that the file's version had not yet)
            let Some(c) = c else {
                into.grow(parts.rows);
                continue;
            };
            c.whole()?;
            column::read(c.stored, c.raw, c.encoding, parts.rows, c.at, into)?;
            if let ColumnData::U64(values) = into {
                self.add_up(place, &values[values.len() - parts.rows..], c.at)?;
            }
        }
        Ok(())
    }

    /// Refuses a column whose values are too many to be added up.
    fn add_up(&self, place: usize, values: &[u64], at: usize) -> Result<(), Bad> {
        let column = &self.table.columns[place];
        if !column.adds_up() {
            return Ok(());
        }
        // (those of a chunk, none of them above 2^40, cannot overflow)
        let sum = match values.iter().fold(0, |all, v| all | v) >> 40 {
            0 => values.iter().sum(),
            _ => values.iter().fold(0, |sum: u64, v| sum.saturating_add(*v)),
        };
        let before = self.sums[place].fetch_add(sum.min(limits::SUM), Ordering::Relaxed);
        if before.saturating_add(sum) > limits::SUM {
            let why = format!("the values of column {} add up to more than {}", column.name, limits::SUM);
            return Err(Bad::new(at, why));
        }
        Ok(())
    }
}

fn sums(table: &Table) -> Vec<AtomicU64> {
    table.columns.iter().map(|_| AtomicU64::new(0)).collect()
}

/// Where the first chunk begins, and the layout.
fn read_header(bytes: &[u8], table: &Table) -> Result<(usize, u32, Vec<usize>), Bad> {
    let mut c = Cursor::new(bytes, 0);
    c.mark(HEAD, "a table's file: the mark \"RRTABLE\"")?;
    let at = c.at();
    let format = c.u32("the layout's version")?;
    let (oldest, ours) = (limits::OLDEST_FORMAT, limits::FORMAT);
    if !(oldest..=ours).contains(&format) {
        return Err(Bad::new(at, format!("layout {format}; this program reads layouts {oldest} to {ours}")));
    }
    let (version_at, version) = (c.at(), c.u32("the table's version")?);
    let count = c.length(limits::COLUMNS, "the number of columns")?;
    let name_at = c.at();
    let name = c.name("the table's name")?;
    let mut columns = vec![];
    for _ in 0..count {
        columns.push((c.u8("a column's kind")?, c.name("a column's name")?));
    }
    c.checksum(0, "the header")?;
    if name != table.name {
        return Err(Bad::new(name_at, format!("table {name:?}; expected {:?}", table.name)));
    }
    let Some(there) = table.of_version(version) else {
        let why = format!("version {version} of table {name}; this program reads version {}", table.version);
        return Err(Bad::new(version_at, why));
    };
    let expected = there.iter().map(|n| &table.columns[*n]).map(|c| (kind_byte(c.kind), c.name));
    if !columns.iter().copied().eq(expected) {
        let names: Vec<&str> = columns.iter().map(|c| c.1).collect();
        let why = format!("columns {}; this program knows others by the same version", names.join(", "));
        return Err(Bad::new(name_at, why));
    }
    Ok((c.at(), format, there))
}

struct Parts<'a> {
    rows: usize,
    columns: Vec<Stored<'a>>,
    end: usize,
}

struct Stored<'a> {
    encoding: u8,
    raw: usize,
    stored: &'a [u8],
    /// None where the chunk's was looked at.
    sum: Option<[u8; 8]>,
    at: usize,
}

impl Stored<'_> {
    /// Whether it is as it was written.
    fn whole(&self) -> Result<(), Bad> {
        match self.sum {
            Some(sum) if sum != checksum(self.stored) => {
                Err(Bad::new(self.at, "the checksum of a column from here on does not fit"))
            }
            _ => Ok(()),
        }
    }
}

fn read_chunk(bytes: &[u8], at: usize, columns: usize, layout: u32) -> Result<Parts<'_>, Bad> {
    let mut c = Cursor::new(bytes, at);
    c.mark(CHUNK, "a chunk: the mark \"CHNK\"")?;
    let rows = c.length(limits::CHUNK_ROWS, "a chunk's rows")?;
    let mut heads = vec![];
    for _ in 0..columns {
        let encoding = c.u8("a column's encoding")?;
        let raw = c.length(limits::COLUMN, "a column's bytes")?;
        let length = c.length(limits::COLUMN * 2, "a column's compressed bytes")?;
        let sum = if layout == 1 { None } else { Some(c.array("a column's checksum")?) };
        heads.push((encoding, raw, length, sum));
    }
    if layout > 1 {
        c.checksum(at, "the chunk's head")?;
    }
    let mut columns = vec![];
    for (encoding, raw, length, sum) in heads {
        let at = c.at();
        columns.push(Stored { encoding, raw, stored: c.take(length, "a column")?, sum, at });
    }
    if layout == 1 {
        c.checksum(at, "the chunk")?;
    }
    Ok(Parts { rows, columns, end: c.at() })
}

fn read_index(bytes: &[u8], first: usize) -> Result<Vec<Chunk>, Bad> {
    let cut = || Bad::new(bytes.len(), "the file ends without its index: it was cut off");
    let trailer = bytes.len().checked_sub(TRAILER).filter(|&t| t >= first).ok_or_else(cut)?;
    if !bytes.ends_with(TAIL) {
        return Err(cut());
    }
    let mut c = Cursor::new(bytes, trailer);
    let begin = c.u64("where the index is")?;
    let begin = usize::try_from(begin).ok().filter(|b| (first..trailer).contains(b)).ok_or_else(|| {
        Bad::new(trailer, format!("an index at byte {begin} of a file of {} bytes", bytes.len()))
    })?;
    let mut c = Cursor::new(bytes, begin);
    c.mark(INDEX, "the index: the mark \"INDX\"")?;
    let count = c.length(limits::CHUNKS, "the number of chunks")?;
    let mut chunks: Vec<Chunk> = vec![];
    for _ in 0..count {
        let at = c.at();
        let chunk = Chunk { at: c.u64("where a chunk is")?, rows: c.u32("a chunk's rows")? };
        // (one chunk's rows are not there twice)
        if chunks.last().is_some_and(|last| last.at >= chunk.at) {
            return Err(Bad::new(at, format!("a chunk at byte {} is not behind the one before", chunk.at)));
        }
        chunks.push(chunk);
    }
    if c.at() != trailer {
        return Err(Bad::new(c.at(), "the index is longer or shorter than its chunks"));
    }
    c.take(8, "where the index is")?;
    c.checksum(begin, "the index")?;
    Ok(chunks)
}
