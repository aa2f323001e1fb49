//! Writing a trace, row by row.
//!
//! Guarantees: memory is bounded (a chunk of each table at most, see `limits`); everything is written to names that end in
//! `.partial` and renamed by [`Writer::finish`], the manifest last, so that a folder with a `manifest.json` is a whole
//! trace. What a run wrote before it broke off can be read up to each table's last whole chunk. After an error nothing
//! more is written; the error comes back from `finish`, and [`Writer::failed`] says so before.
//! Refuses a folder that holds other things; a trace that is there already is replaced.

use super::column::Pending;
use super::file::{self, Chunk};
use super::limits;
use super::manifest::{MANIFEST, MANIFEST_VERSION, Manifest, PARTIAL, TABLE_SUFFIX, TableNote};
use crate::{Table, Unreadable, Value};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// See the module's header.
pub struct Writer {
    folder: PathBuf,
    manifest: Manifest,
    tables: BTreeMap<&'static str, Open>,
    failed: Option<Unreadable>,
    finished: bool,
}

struct Open {
    table: &'static Table,
    path: PathBuf,
    file: File,
    at: u64,
    chunks: Vec<Chunk>,
    rows: u64,
    pending_rows: usize,
    pending: Vec<Pending>,
}

impl Writer {
    /// A new trace in this folder, which is made. `tables` and `complete` of the manifest are filled in at the end.
    pub fn create(folder: &Path, manifest: Manifest) -> Result<Writer, Unreadable> {
        fs::create_dir_all(folder).map_err(|e| broken(folder, &e))?;
        clear(folder)?;
        let mut manifest = manifest;
        manifest.schema_version = MANIFEST_VERSION;
        manifest.tables.clear();
        manifest.complete = false;
        let writer = Writer {
            folder: folder.to_owned(),
            manifest,
            tables: BTreeMap::new(),
            failed: None,
            finished: false,
        };
        writer.write_manifest(&format!("{MANIFEST}{PARTIAL}"))?;
        Ok(writer)
    }

    /// The manifest, to be completed before the end.
    pub fn manifest(&mut self) -> &mut Manifest {
        &mut self.manifest
    }

    /// Where the trace is written to.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether something went wrong: there is no use in going on.
    pub fn failed(&self) -> Option<&Unreadable> {
        self.failed.as_ref()
    }

    /// Adds a row: a value for each of the table's columns.
    pub fn put(&mut self, table: &'static Table, values: &[Value<'_>]) {
        if self.failed.is_none()
            && let Err(e) = self.try_put(table, values)
        {
            self.failed = Some(e);
        }
    }

    fn try_put(&mut self, table: &'static Table, values: &[Value<'_>]) -> Result<(), Unreadable> {
        let open = match self.tables.entry(table.name) {
            std::collections::btree_map::Entry::Occupied(o) => o.into_mut(),
            std::collections::btree_map::Entry::Vacant(v) => v.insert(Open::create(&self.folder, table)?),
        };
        let wrong = |why| Unreadable(format!("a row of table {} was not written: {why}", table.name));
        if values.len() != table.columns.len() {
            let (is, of) = (values.len(), table.columns.len());
            return Err(wrong(format!("it has {is} values for {of} columns")));
        }
        for ((pending, value), column) in open.pending.iter().zip(values).zip(table.columns) {
            pending.takes(value).map_err(|why| wrong(format!("column {}: {why}", column.name)))?;
        }
        open.pending.iter_mut().zip(values).for_each(|(p, v)| p.push(v));
        open.pending_rows += 1;
        let text: usize = open.pending.iter().map(Pending::text_bytes).max().unwrap_or(0);
        if open.pending_rows == limits::CHUNK_ROWS || text >= limits::CHUNK_TEXT {
            open.flush()?;
        }
        Ok(())
    }

    /// Writes what is pending as chunks, so that a run that breaks off later leaves it readable.
    pub fn flush(&mut self) -> Result<(), Unreadable> {
        if let Some(e) = &self.failed {
            return Err(e.clone());
        }
        self.tables.values_mut().try_for_each(Open::flush)
    }

    /// Whether no row was added.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Gives the trace up: nothing of it stays but the folder.
    pub fn abandon(mut self) {
        self.finished = true;
        let mut all: Vec<PathBuf> = self.tables.values().map(|open| open.path.clone()).collect();
        all.push(self.folder.join(format!("{MANIFEST}{PARTIAL}")));
        // (what cannot be removed can be seen to be no whole trace)
        all.iter().for_each(|path| drop(fs::remove_file(path)));
    }

    /// Ends the trace: its files get their names.
    pub fn finish(mut self) -> Result<Manifest, Unreadable> {
        self.flush()?;
        for open in self.tables.values_mut() {
            let index = file::index(&open.chunks, open.at);
            open.write(&index)?;
            self.manifest.tables.push(TableNote {
                name: open.table.name.to_owned(),
                version: open.table.version,
                rows: open.rows,
                size_bytes: open.at,
            });
            let to = self.folder.join(format!("{}{TABLE_SUFFIX}", open.table.name));
            fs::rename(&open.path, &to).map_err(|e| broken(&to, &e))?;
        }
        self.manifest.complete = true;
        let partial = format!("{MANIFEST}{PARTIAL}");
        self.write_manifest(&partial)?;
        let to = self.folder.join(MANIFEST);
        fs::rename(self.folder.join(partial), &to).map_err(|e| broken(&to, &e))?;
        self.finished = true;
        Ok(std::mem::take(&mut self.manifest))
    }

    fn write_manifest(&self, name: &str) -> Result<(), Unreadable> {
        let path = self.folder.join(name);
        fs::write(&path, self.manifest.render()).map_err(|e| broken(&path, &e))
    }
}

impl Drop for Writer {
    /// A run that breaks off leaves behind what it knows.
    fn drop(&mut self) {
        if !self.finished {
            let _ = self.flush();
            let _ = self.write_manifest(&format!("{MANIFEST}{PARTIAL}"));
        }
    }
}

impl Open {
    fn create(folder: &Path, table: &'static Table) -> Result<Open, Unreadable> {
        let path = folder.join(format!("{}{TABLE_SUFFIX}{PARTIAL}", table.name));
        let file = File::create(&path).map_err(|e| broken(&path, &e))?;
        let pending = table.columns.iter().map(|c| Pending::new(c.kind)).collect();
        let mut open = Open { table, path, file, at: 0, chunks: vec![], rows: 0, pending_rows: 0, pending };
        open.write(&file::header(table))?;
        Ok(open)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Unreadable> {
        self.file.write_all(bytes).map_err(|e| broken(&self.path, &e))?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Unreadable> {
        if self.pending_rows == 0 {
            return Ok(());
        }
        if self.chunks.len() == limits::CHUNKS {
            let most = limits::CHUNKS;
            return Err(Unreadable(format!("{}: more than {most} chunks", self.path.display())));
        }
        let mut raw = vec![];
        let mut columns = vec![];
        for pending in &mut self.pending {
            let encoding = pending.drain(&mut raw);
            let stored =
                zstd::bulk::compress(&raw, limits::ZSTD_LEVEL).map_err(|e| broken(&self.path, &e))?;
            columns.push((encoding, raw.len(), stored));
        }
        let rows = std::mem::take(&mut self.pending_rows);
        let at = self.at;
        self.write(&file::chunk(rows, &columns))?;
        self.chunks.push(Chunk { at, rows: rows as u32 });
        self.rows += rows as u64;
        Ok(())
    }
}

/// Removes a trace's files. Refuses a folder that holds something and is no trace.
fn clear(folder: &Path) -> Result<(), Unreadable> {
    let fail = |e: io::Error| broken(folder, &e);
    let mut ours = vec![];
    let (mut is_trace, mut others) = (false, false);
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let whole = name.strip_suffix(PARTIAL).unwrap_or(&name);
        if whole == MANIFEST {
            is_trace = true;
            // (first of all: without it the folder is no whole trace)
            ours.insert(0, entry.path());
        } else if whole.ends_with(TABLE_SUFFIX) {
            ours.push(entry.path());
        } else {
            others = true;
        }
    }
    if !is_trace && (others || !ours.is_empty()) {
        return Err(Unreadable(format!(
            "{}: it holds other things and no trace; name a new folder, or an empty one",
            folder.display()
        )));
    }
    ours.iter().try_for_each(|path| fs::remove_file(path).map_err(|e| broken(path, &e)))
}

fn broken(path: &Path, e: &io::Error) -> Unreadable {
    let advice = match e.kind() {
        io::ErrorKind::StorageFull => "; make room, or name another folder",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; name a folder that may be written to"
        }
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => "; name a folder, not a file",
        _ => "",
    };
    Unreadable(format!("{}: {e}{advice}", path.display()))
}
