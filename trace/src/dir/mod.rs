//! A trace on disk: a folder with `manifest.json` and a file for each table, `NAME.table`.
//!
//! All numbers are little-endian. A *name* is a byte that says how many bytes follow, and these bytes (UTF-8). A *sum* is
//! the first 8 bytes of BLAKE3 over everything since the part's mark; a column's is over its compressed bytes. This is layout
//! 2; layout 1, which is still read, had one sum behind a chunk's columns instead.
//!
//! ```text
//!             0        4        8       12       16       20
//! header      | "RRTABLE\0"     | layout | version| columns| name | kind name | kind name | … | sum (8) |
//!                                                                   kind: 0 whole numbers, 1 numbers, 2 words
//!
//!             0        4        8        9            13           17
//! chunk       | "CHNK" | rows   | encoding | bytes raw | bytes zstd | sum (8) | … for each column | sum (8) | zstd column, … |
//!             …
//!             0        4        8                12
//! index       | "INDX" | chunks | chunk at (8)   | rows   | … for each chunk | index at (8) | sum (8) | "RRTABEND" |
//! ```
//!
//! Columns of a chunk are encoded (`column.rs`: differences, byte planes, dictionaries) and compressed with zstd each by
//! itself, and are read by themselves: what nobody asks for is neither unpacked nor looked at. A file is read from any bytes: a memory map, or memory. The index at the end says where chunks are; a file that
//! was cut off has none, and is read chunk by chunk up to the last whole one.
//!
//! Guarantees: [`Dir`] hands out what was put into [`Writer`], in the same order, or an error that says where; a trace
//! whose writing broke off is marked so ([`Dir::warnings`]). Refuses what `limits.rs` says is too much.

mod bytes;
mod column;
mod file;
mod limits;
mod manifest;
#[cfg(test)]
mod tests;
mod writer;

pub use bytes::Bytes;
pub use manifest::{
    Capture, CostNote, Device, MANIFEST, MANIFEST_VERSION, Manifest, PassNote, PictureNote, PicturesNote,
    TableNote,
};
pub use writer::Writer;

use crate::tables::TABLES;
use crate::{Columns, Parts, Source, Table, Unreadable};
use bytes::Bad;
use file::TableFile;
use manifest::{PARTIAL, TABLE_SUFFIX};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How the caller opens a file.
type OpenFile = dyn Fn(&Path) -> io::Result<Bytes> + Send + Sync;

/// Refuses what is no plain file: in a folder that somebody sent a symbolic link leads anywhere, and a device or a pipe never ends.
pub fn plain(path: &Path) -> io::Result<()> {
    let kind = std::fs::symlink_metadata(path)?.file_type();
    match kind.is_file() {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "no plain file, but a link, a folder, a device or a pipe",
        )),
    }
}

/// The bytes of a plain file.
pub(crate) fn read(path: &Path) -> io::Result<Bytes> {
    plain(path)?;
    Ok(Arc::new(std::fs::read(path)?))
}

/// A trace that lies in a folder.
pub struct Dir {
    folder: PathBuf,
    manifest: Manifest,
    warnings: Vec<String>,
    open: Box<OpenFile>,
}

impl Dir {
    /// Opens a trace; files are read into memory.
    pub fn open(folder: &Path) -> Result<Dir, Unreadable> {
        Dir::open_with(folder, read)
    }

    /// Opens a trace whose files the caller opens: as memory maps, say.
    pub fn open_with(
        folder: &Path,
        open: impl Fn(&Path) -> io::Result<Bytes> + Send + Sync + 'static,
    ) -> Result<Dir, Unreadable> {
        let mut dir = Dir {
            folder: folder.to_owned(),
            manifest: Manifest::default(),
            warnings: vec![],
            open: Box::new(open),
        };
        let (path, bytes) = match dir.file(MANIFEST)? {
            Some(whole) => whole,
            None => dir.file(&format!("{MANIFEST}{PARTIAL}"))?.ok_or_else(|| {
                Unreadable(format!(
                    "{}: there is no {MANIFEST}; name a folder that `reray-replay profile` wrote",
                    folder.display()
                ))
            })?,
        };
        dir.manifest = Manifest::parse((*bytes).as_ref(), &path)?;
        if !dir.manifest.complete {
            dir.salvage()?;
        }
        Ok(dir)
    }

    /// A trace that broke off has no list of its tables, nor of how much of each there is.
    fn salvage(&mut self) -> Result<(), Unreadable> {
        self.warnings.push(format!(
            "{}: the trace was not finished: tables go up to their last whole chunk",
            self.folder.display()
        ));
        self.manifest.tables.clear();
        for &table in TABLES {
            let Some((path, bytes)) = self.table_bytes(table)? else { continue };
            let size_bytes = (*bytes).as_ref().len() as u64;
            match TableFile::salvage(bytes, table) {
                Ok(file) => {
                    if file.left_over() > 0 {
                        self.warnings.push(format!(
                            "{}: the last {} bytes are no whole chunk and are left out",
                            path.display(),
                            file.left_over()
                        ));
                    }
                    let (name, version, rows) = (table.name.to_owned(), table.version, file.rows());
                    self.manifest.tables.push(TableNote { name, version, rows, size_bytes });
                }
                Err(bad) => self.warnings.push(format!("{}; the table is left out", place(&path, &bad))),
            }
        }
        Ok(())
    }

    /// What the trace is of.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What a reader is to be told before anything else: what is missing from the trace.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The rows of a table; none where it is not in the trace.
    pub fn rows(&self, table: &Table) -> Option<u64> {
        self.manifest.tables.iter().find(|t| t.name == table.name).map(|t| t.rows)
    }

    fn file(&self, name: &str) -> Result<Option<(PathBuf, Bytes)>, Unreadable> {
        let path = self.folder.join(name);
        match (self.open)(&path) {
            Ok(bytes) => Ok(Some((path, bytes))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Unreadable(format!("{}: {e}", path.display()))),
        }
    }

    fn table_bytes(&self, table: &Table) -> Result<Option<(PathBuf, Bytes)>, Unreadable> {
        let whole = self.file(&format!("{}{TABLE_SUFFIX}", table.name))?;
        if whole.is_some() || self.manifest.complete {
            return Ok(whole);
        }
        self.file(&format!("{}{TABLE_SUFFIX}{PARTIAL}", table.name))
    }

    /// A table's file; none where nothing was recorded in it.
    fn table(&self, table: &'static Table) -> Result<Option<(PathBuf, TableFile)>, Unreadable> {
        let Some(note) = self.manifest.tables.iter().find(|t| t.name == table.name) else { return Ok(None) };
        let Some((path, bytes)) = self.table_bytes(table)? else {
            return Err(Unreadable(format!(
                "{}: {} is missing, which {MANIFEST} names; copy the whole folder, or record it again",
                self.folder.display(),
                table.name
            )));
        };
        let opened = if self.manifest.complete {
            let length = (*bytes).as_ref().len() as u64;
            if length != note.size_bytes && note.version == table.version {
                let why = format!("the file ends here; {MANIFEST} says it has {} bytes", note.size_bytes);
                return Err(damaged(&path, &Bad { at: length, why }));
            }
            TableFile::open(bytes, table)
        } else {
            TableFile::salvage(bytes, table)
        };
        let file = opened.map_err(|bad| damaged(&path, &bad))?;
        if file.rows() != note.rows {
            let why = format!("{} rows; {MANIFEST} says {}", file.rows(), note.rows);
            return Err(damaged(&path, &Bad { at: 0, why }));
        }
        Ok(Some((path, file)))
    }
}

impl Source for Dir {
    fn read(&self, table: &'static Table) -> Result<Columns, Unreadable> {
        let mut columns = Columns::new(table);
        if let Some((path, file)) = self.table(table)? {
            let bytes = |c: &crate::Column| if c.kind == crate::Kind::Text { 16 } else { 8 };
            let row: u64 = table.columns.iter().map(bytes).sum();
            if file.rows().saturating_mul(row) > limits::WHOLE {
                let (path, rows, most) = (path.display(), file.rows(), limits::WHOLE / row);
                return Err(Unreadable(format!(
                    "{path}: {rows} rows, of a table that is read as a whole; {most} is the most: record fewer frames"
                )));
            }
            for chunk in 0..file.chunks() {
                file.read(chunk, &mut columns).map_err(|bad| damaged(&path, &bad))?;
            }
        }
        Ok(columns)
    }

    fn each(
        &self,
        table: &'static Table,
        take: &mut dyn FnMut(&Columns) -> Result<(), Unreadable>,
    ) -> Result<(), Unreadable> {
        let names: Vec<&str> = table.columns.iter().map(|c| c.name).collect();
        self.each_of(table, &names, take)
    }

    fn each_of(
        &self,
        table: &'static Table,
        columns: &[&str],
        take: &mut dyn FnMut(&Columns) -> Result<(), Unreadable>,
    ) -> Result<(), Unreadable> {
        let chosen = table.chosen(columns);
        let Some((path, file)) = self.table(table)? else { return Ok(()) };
        for chunk in 0..file.chunks() {
            let mut columns = Columns::new(table);
            file.read_of(chunk, |c| chosen[c], &mut columns).map_err(|bad| damaged(&path, &bad))?;
            take(&columns)?;
        }
        Ok(())
    }

    fn parts(&self, table: &'static Table, columns: &[&str]) -> Result<Box<dyn Parts + '_>, Unreadable> {
        let chosen = table.chosen(columns);
        Ok(match self.table(table)? {
            Some((path, file)) => Box::new(Chunks { path, file, chosen }),
            None => Box::new(Chunks { path: PathBuf::new(), file: TableFile::empty(table), chosen }),
        })
    }
}

/// A table's chunks, of which some columns are asked for.
struct Chunks {
    path: PathBuf,
    file: TableFile,
    chosen: Vec<bool>,
}

impl Parts for Chunks {
    fn len(&self) -> usize {
        self.file.chunks()
    }

    fn read(&self, part: usize, into: &mut Columns) -> Result<(), Unreadable> {
        into.clear();
        self.file.read_of(part, |c| self.chosen[c], into).map_err(|bad| damaged(&self.path, &bad))
    }
}

fn place(path: &Path, bad: &Bad) -> String {
    format!("{}, byte {}: {}", path.display(), bad.at, bad.why)
}

fn damaged(path: &Path, bad: &Bad) -> Unreadable {
    let advice = if bad.why.contains("this program") {
        "read the trace with the program that wrote it (manifest.json names it)"
    } else {
        "the file is damaged: copy it again, or record the trace again"
    };
    Unreadable(format!("{}; {advice}", place(path, bad)))
}
