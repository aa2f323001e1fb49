//! Asks a database: read only, whatever the question.
//!
//! Guarantees: a question changes no file. Values come as SQLite has them. Refuses more than one statement at a time, with
//! SQLite's own words where it does not understand one.

use crate::error::Error;
use analyses::report::text::{beside, wrapped};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// What SQL makes of numbers that it does not have.
const UNSIGNED: &str = "whole numbers of 2^63 and more are the negative numbers of the same bits; printf('%u', COLUMN) prints them as they were";

/// A database that is only read.
pub struct Database(Connection);

/// A value of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer<'a> {
    /// There is none.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// Words; what is not UTF-8 in them is not told.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
}

/// Takes an answer, row by row.
pub trait Take {
    /// The names of its columns, before any row.
    fn columns(&mut self, names: &[String]);
    /// A row; false: no more is wanted.
    fn row(&mut self, values: &[Answer<'_>]) -> bool;
}

impl Database {
    /// Opens one that [`crate::Writer`] made.
    pub fn open(path: &Path) -> Result<Database, Error> {
        let at = |e: rusqlite::Error| Error::new(format!("{}: {e}", path.display()));
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(path, flags).map_err(at)?;
        db.execute_batch("PRAGMA query_only = ON; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 1073741824")
            .map_err(at)?;
        let version: String = db
            .query_row("SELECT value FROM about WHERE name = 'schema_version'", [], |row| row.get(0))
            .map_err(at)?;
        if version != crate::schema::VERSION.to_string() {
            let (path, known) = (path.display(), crate::schema::VERSION);
            return Err(Error::new(format!(
                "{path}: its schema has version {version}; this program knows {known}"
            )));
        }
        Ok(Database(db))
    }

    /// For this crate's own questions.
    pub(crate) fn connection(&self) -> &Connection {
        &self.0
    }

    /// Asks a question.
    pub fn ask(&self, sql: &str, take: &mut dyn Take) -> Result<(), Error> {
        self.asked(sql, take).map_err(|e| Error::new(words(&e)))
    }

    fn asked(&self, sql: &str, take: &mut dyn Take) -> rusqlite::Result<()> {
        let mut statement = self.0.prepare(sql)?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        take.columns(&names);
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let value = |i| {
                Ok(match row.get_ref(i)? {
                    ValueRef::Null => Answer::Null,
                    ValueRef::Integer(n) => Answer::Integer(n),
                    ValueRef::Real(n) => Answer::Real(n),
                    ValueRef::Text(t) => match std::str::from_utf8(t) {
                        Ok(t) => Answer::Text(t),
                        Err(_) => Answer::Bytes(t),
                    },
                    ValueRef::Blob(b) => Answer::Bytes(b),
                })
            };
            let values = (0..names.len()).map(value).collect::<rusqlite::Result<Vec<_>>>()?;
            if !take.row(&values) {
                break;
            }
        }
        Ok(())
    }

    /// What could not be read when it was made; nothing where all was.
    pub fn incomplete(&self) -> Result<Option<String>, Error> {
        self.about("incomplete")
    }

    /// Where the capture's file ended too early; nothing where it did not.
    pub fn cut_off(&self) -> Result<Option<String>, Error> {
        self.about("cut_off")
    }

    fn about(&self, name: &str) -> Result<Option<String>, Error> {
        let one = self.0.query_row("SELECT value FROM about WHERE name = ?", [name], |row| row.get(0));
        match one {
            Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
            found => found.map(Some).map_err(|e| Error::new(words(&e))),
        }
    }

    /// Every table and view with its columns, their units and meanings; in lines of so many columns.
    pub fn schema(&self, within: Option<usize>) -> Result<String, Error> {
        self.described(within).map_err(|e| Error::new(words(&e)))
    }

    fn described(&self, within: Option<usize>) -> rusqlite::Result<String> {
        let mut out = wrapped(UNSIGNED, within, 0) + "\n\n";
        let pair = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
        let mut tables = self.0.prepare("SELECT name, about FROM schema_tables ORDER BY rowid")?;
        let mut columns = self.0.prepare(
            "SELECT name, type, unit, about FROM schema_columns WHERE table_name = ? ORDER BY position",
        )?;
        for table in tables.query_map([], pair)? {
            let (name, about) = table?;
            out += &wrapped(&format!("{name}: {about}"), within, 0);
            out.push('\n');
            let text = |row: &rusqlite::Row<'_>| {
                Ok([row.get::<_, String>(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
            };
            for column in columns.query_map([&name], text)? {
                let [column, ty, unit, about] = column?;
                let ty = if unit.is_empty() { ty } else { format!("{ty} ({unit})") };
                out += &beside(&format!("  {column:<18} {ty:<20} "), 42, &about, within);
            }
            out.push('\n');
        }
        let mut views = self.0.prepare("SELECT name, about FROM schema_views ORDER BY rowid")?;
        for view in views.query_map([], pair)? {
            let (name, about) = view?;
            let names = self.0.prepare(&format!("SELECT * FROM {}", crate::table::quoted(&name)))?;
            let names: Vec<&str> = names.column_names().collect();
            out += &wrapped(&format!("view {name}: {about}"), within, 0);
            out.push('\n');
            out += &beside("", 2, &names.join(", "), within);
        }
        Ok(out)
    }
}

/// SQLite's own words.
fn words(e: &rusqlite::Error) -> String {
    match e {
        rusqlite::Error::SqliteFailure(_, Some(why)) => why.clone(),
        rusqlite::Error::SqlInputError { msg, sql, offset, .. } => {
            let at = usize::try_from(*offset).ok().and_then(|o| sql.get(o..)).map(str::trim_end);
            at.filter(|at| !at.is_empty()).map_or_else(|| msg.clone(), |at| format!("{msg}, at {at:?}"))
        }
        e => e.to_string(),
    }
}
