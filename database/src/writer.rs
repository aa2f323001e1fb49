//! Writes a database: rows come in on one thread, SQLite takes them on another, in one transaction.
//!
//! Guarantees: the file is written beside its place and moved there by [`Writer::finish`]; until then, and where that never
//! comes, nothing lies at the place but what was there before, and the half-written file goes with the writer. Rows keep their
//! order. Refuses a second table of the same name.

use crate::error::Error;
use crate::schema::{self, View};
use crate::table::{Table, Value};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, params};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Values of a table that go to the other thread together.
const BATCH_VALUES: usize = 4096;
/// Batches that may wait there.
const WAITING: usize = 16;
/// Kibibytes of pages that SQLite keeps in memory.
const CACHE_KIB: u32 = 64 << 10;

/// What goes to the thread that writes.
enum Order {
    Table(Table),
    Rows(usize, Vec<Value>),
    View(View),
    /// A setting of the database: `about`.
    About(&'static str, String),
    Done,
}

/// Which table of a [`Writer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableId(usize);

/// See the module's header.
pub struct Writer {
    orders: SyncSender<Order>,
    thread: Option<JoinHandle<Result<(), Error>>>,
    tables: Vec<(String, usize, Vec<Value>)>,
    part: PathBuf,
    path: PathBuf,
}

impl Writer {
    /// Begins a database that will lie at `path`.
    pub fn create(path: &Path) -> Result<Writer, Error> {
        let name =
            path.file_name().ok_or_else(|| Error::new(format!("{}: no file's name", path.display())))?;
        let part = path.with_file_name(format!(".{}.{}.part", name.to_string_lossy(), std::process::id()));
        let at = |e: &dyn std::fmt::Display| Error::new(format!("{}: {e}", path.display()));
        // (SQLite's own words for a folder that is not there are few)
        std::fs::File::create(&part).map_err(|e| at(&e))?;
        let opened = open(&part).map_err(|e| {
            let _ = std::fs::remove_file(&part);
            at(&e)
        })?;
        let (orders, received) = sync_channel(WAITING);
        let shown = path.display().to_string();
        let thread = std::thread::Builder::new()
            .name("database".into())
            .spawn(move || write(opened, &received).map_err(|e| Error::new(format!("{shown}: {e}"))))
            .map_err(|e| at(&e))?;
        let mut writer = Writer { orders, thread: Some(thread), tables: vec![], part, path: path.to_owned() };
        writer.about("schema_version", schema::VERSION.to_string())?;
        writer.about("made_by", concat!("reray-replay ", env!("CARGO_PKG_VERSION")).to_owned())?;
        Ok(writer)
    }

    /// Makes a table.
    pub fn table(&mut self, table: Table) -> Result<TableId, Error> {
        if self.has(&table.name) {
            return Err(Error::new(format!("there is a table {} already", table.name)));
        }
        self.tables.push((table.name.to_string(), table.columns.len(), vec![]));
        self.order(Order::Table(table))?;
        Ok(TableId(self.tables.len() - 1))
    }

    /// Whether there is a table of this name; names differ by more than upper and lower case.
    pub fn has(&self, name: &str) -> bool {
        self.tables.iter().any(|t| t.0.eq_ignore_ascii_case(name))
    }

    /// Adds a row, a value for each column.
    ///
    /// # Panics
    /// If there are more or fewer: that is a mistake of whoever fills the table.
    pub fn row<const N: usize>(&mut self, table: TableId, row: [Value; N]) -> Result<(), Error> {
        self.values(table, row)
    }

    /// The same, of a table whose columns are not known beforehand.
    pub fn values(&mut self, table: TableId, row: impl IntoIterator<Item = Value>) -> Result<(), Error> {
        let (name, columns, waiting) = &mut self.tables[table.0];
        let before = waiting.len();
        waiting.extend(row);
        assert_eq!(waiting.len() - before, *columns, "a row of {name}");
        if waiting.len() >= BATCH_VALUES {
            let rows = std::mem::replace(waiting, Vec::with_capacity(BATCH_VALUES + *columns));
            self.order(Order::Rows(table.0, rows))?;
        }
        Ok(())
    }

    /// A view, made at the end.
    pub fn view(&mut self, view: View) -> Result<(), Error> {
        self.order(Order::View(view))
    }

    /// A line of table `about`.
    pub fn about(&mut self, name: &'static str, value: String) -> Result<(), Error> {
        self.order(Order::About(name, value))
    }

    fn order(&mut self, order: Order) -> Result<(), Error> {
        match self.orders.send(order) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.join().err().unwrap_or_else(|| Error::new("the database was closed".into()))),
        }
    }

    fn join(&mut self) -> Result<(), Error> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            Some(Ok(written)) => written,
            None => Ok(()),
        }
    }

    /// Makes the indexes and the views, and puts the file in its place.
    pub fn finish(mut self) -> Result<(), Error> {
        for table in 0..self.tables.len() {
            let rows = std::mem::take(&mut self.tables[table].2);
            if !rows.is_empty() {
                self.order(Order::Rows(table, rows))?;
            }
        }
        self.order(Order::Done)?;
        self.join()?;
        std::fs::rename(&self.part, &self.path)
            .map_err(|e| Error::new(format!("{}: {e}", self.path.display())))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // (the thread ends where nobody sends; after `finish` the file is not there any more)
        let (orders, _) = sync_channel(0);
        drop(std::mem::replace(&mut self.orders, orders));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let _ = std::fs::remove_file(&self.part);
    }
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open(path)?;
    // Nobody sees the file before it is whole: what a crash leaves is thrown away.
    db.execute_batch(&format!(
        "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
         PRAGMA cache_size = -{CACHE_KIB}; PRAGMA temp_store = MEMORY; BEGIN"
    ))?;
    for table in schema::of_itself() {
        db.execute(&table.create(), [])?;
    }
    Ok(db)
}

/// A value as SQLite takes it.
impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Integer(n) => ValueRef::Integer(*n),
            Value::Real(n) => ValueRef::Real(*n),
            Value::Text(t) => ValueRef::Text(t.as_bytes()),
            Value::Word(t) => ValueRef::Text(t.as_bytes()),
        }))
    }
}

fn write(db: Connection, orders: &Receiver<Order>) -> rusqlite::Result<()> {
    let (mut tables, mut inserts, mut views): (Vec<Table>, Vec<_>, Vec<View>) = (vec![], vec![], vec![]);
    loop {
        // (who sends no end has failed: nothing is to come of it)
        match orders.recv() {
            Err(_) => return Ok(()),
            Ok(Order::Done) => break,
            Ok(Order::Table(table)) => {
                db.execute(&table.create(), [])?;
                inserts.push(db.prepare(&table.insert())?);
                describe(&db, &table)?;
                tables.push(table);
            }
            Ok(Order::Rows(table, values)) => {
                let insert = &mut inserts[table];
                for row in values.chunks_exact(tables[table].columns.len()) {
                    for (i, value) in row.iter().enumerate() {
                        insert.raw_bind_parameter(i + 1, value)?;
                    }
                    insert.raw_execute()?;
                }
            }
            Ok(Order::View(view)) => views.push(view),
            Ok(Order::About(name, value)) => {
                _ = db.execute("INSERT INTO about VALUES (?, ?)", params![name, value])?;
            }
        }
    }
    drop(inserts);
    for table in &tables {
        table.index().try_for_each(|sql| db.execute(&sql, []).map(|_| ()))?;
    }
    for view in &views {
        db.execute(&view.create(), [])?;
        db.execute("INSERT INTO schema_views VALUES (?, ?)", params![view.name, view.about])?;
    }
    // (the planner chooses by how many rows there are)
    db.execute_batch("COMMIT; PRAGMA analysis_limit = 400; ANALYZE")?;
    db.close().map_err(|(_, e)| e)
}

/// Writes down what a table's rows and columns are.
fn describe(db: &Connection, table: &Table) -> rusqlite::Result<()> {
    db.execute("INSERT INTO schema_tables VALUES (?, ?)", params![table.name, table.about])?;
    let mut insert = db.prepare("INSERT INTO schema_columns VALUES (?, ?, ?, ?, ?, ?)")?;
    for (i, c) in table.columns.iter().enumerate() {
        insert.execute(params![table.name, i as i64, c.name, c.kind.sql(), c.unit, c.about])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{count, text};

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("reray-database-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    fn numbers() -> Table {
        Table::new(
            "numbers",
            "numbers and their names",
            true,
            &[count("n", "number", ""), text("name", "")],
            &["name"],
        )
    }

    #[test]
    fn rows_are_there_in_their_order_and_the_file_only_at_the_end() {
        let folder = folder("rows");
        let path = folder.join("a.sqlite");
        let mut w = Writer::create(&path).expect("a place");
        let table = w.table(numbers()).expect("a table");
        assert!(w.table(numbers()).is_err(), "a second one of the same name");
        for n in 0..10_000u64 {
            w.row(table, [n.into(), format!("n{n}").into()]).expect("a row");
        }
        assert!(!path.exists());
        w.finish().expect("a database");
        let db = Connection::open(&path).expect("a database");
        let sum: (i64, i64, i64) = db
            .query_row("SELECT count(*), sum(n), sum(name = 'n' || n) FROM numbers", [], |r| {
                Ok((r.get(0)?, r.get(1)?, r.get(2)?))
            })
            .expect("an answer");
        assert_eq!(sum, (10_000, 49_995_000, 10_000));
        assert_eq!(std::fs::read_dir(&folder).expect("it is there").count(), 1, "nothing else is left");
        std::fs::remove_dir_all(&folder).expect("all of it");
    }

    #[test]
    fn nothing_is_left_of_what_is_not_finished() {
        let folder = folder("unfinished");
        let mut w = Writer::create(&folder.join("a.sqlite")).expect("a place");
        let table = w.table(numbers()).expect("a table");
        w.row(table, [1u64.into(), Value::Null]).expect("a row");
        drop(w);
        assert_eq!(std::fs::read_dir(&folder).expect("it is there").count(), 0);
        let nowhere = Writer::create(&folder.join("no/where.sqlite"));
        assert!(nowhere.is_err_and(|e| e.to_string().contains("where.sqlite: No such file")));
        std::fs::remove_dir_all(&folder).expect("all of it");
    }

    #[test]
    fn a_key_that_comes_twice_is_an_error_with_the_files_name() {
        let folder = folder("twice");
        let mut w = Writer::create(&folder.join("a.sqlite")).expect("a place");
        let table = w.table(numbers()).expect("a table");
        w.row(table, [1u64.into(), Value::Null]).expect("a row");
        w.row(table, [1u64.into(), Value::Null]).expect("it waits");
        let failed = w.finish().expect_err("a key that comes twice").to_string();
        assert!(failed.contains("a.sqlite: UNIQUE constraint failed: numbers.n"), "{failed}");
        assert_eq!(std::fs::read_dir(&folder).expect("it is there").count(), 0);
        std::fs::remove_dir_all(&folder).expect("all of it");
    }
}
