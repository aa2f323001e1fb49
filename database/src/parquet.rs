//! Every table of a database as an Apache Parquet file, for DuckDB, pandas and the like.
//!
//! A table is `NAME.parquet`, compressed with zstd; its columns are the table's: INTEGER is INT64, REAL is DOUBLE, TEXT is a string,
//! all optional. The file's key/value metadata have `about` and, for each column, `unit.NAME` and `about.NAME`, as
//! those of `analyze --format parquet` do, which are written the same way ([`analyses::report::parquet`]). Guarantees: rows and their
//! order are the table's. A column of whole numbers that holds another is one of DOUBLE. Refuses nothing.

use crate::error::Error;
use crate::table::quoted;
use analyses::report::parquet::{Data, Field, File, Kind, Values};
use parquet::errors::{ParquetError, Result};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};
use std::fs;
use std::path::Path;

/// Rows of a group: they are in memory together.
const GROUP_ROWS: usize = 1 << 16;
/// The tables that say what the others are.
const OF_ITSELF: [&str; 4] = ["about", "schema_tables", "schema_columns", "schema_views"];

fn other(e: impl std::fmt::Display) -> ParquetError {
    ParquetError::General(e.to_string())
}

/// Writes all tables of the database at `path` into a folder that is there.
pub fn write(path: &Path, folder: &Path) -> std::result::Result<(), Error> {
    let at = |e: &dyn std::fmt::Display| Error::new(format!("{}: {e}", path.display()));
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(|e| at(&e))?;
    let tables = tables(&db).map_err(|e| at(&e))?;
    for (name, about) in tables.iter().filter(|t| !OF_ITSELF.contains(&t.0.as_str())) {
        let file = folder.join(format!("{name}.parquet"));
        table(&db, name, about, &file).map_err(|e| Error::new(format!("{}: {e}", file.display())))?;
    }
    Ok(())
}

fn tables(db: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let mut all = db.prepare("SELECT name, about FROM schema_tables ORDER BY rowid")?;
    all.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn fields(db: &Connection, table: &str) -> rusqlite::Result<Vec<Field>> {
    let mut all = db.prepare(
        "SELECT name, type, unit, about FROM schema_columns WHERE table_name = ? ORDER BY position",
    )?;
    let field = |row: &Row<'_>| {
        let kind = match row.get::<_, String>(1)?.as_str() {
            "INTEGER" => Kind::I64,
            "REAL" => Kind::F64,
            _ => Kind::Text,
        };
        Ok(Field { name: row.get(0)?, kind, unit: row.get(2)?, about: row.get(3)?, optional: true })
    };
    let mut fields = all.query_map([table], field)?.collect::<rusqlite::Result<Vec<_>>>()?;
    for f in fields.iter_mut().filter(|f| f.kind == Kind::I64) {
        let (name, table) = (quoted(&f.name), quoted(table));
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE typeof({name}) = 'real')");
        if db.query_row(&sql, [], |row| row.get(0))? {
            f.kind = Kind::F64;
        }
    }
    Ok(fields)
}

fn table(db: &Connection, name: &str, about: &str, path: &Path) -> Result<()> {
    let fields = fields(db, name).map_err(other)?;
    let out = fs::File::create_new(path).map_err(other)?;
    let mut file = File::new(out, &[("about", about.to_owned())], &fields)?;
    let mut statement = db.prepare(&format!("SELECT * FROM {}", quoted(name))).map_err(other)?;
    let mut rows = statement.query([]).map_err(other)?;
    let mut more = true;
    while more {
        let mut columns: Vec<(Data, Vec<i16>)> = fields.iter().map(|f| (empty(f.kind), vec![])).collect();
        for _ in 0..GROUP_ROWS {
            let Some(row) = rows.next().map_err(other)? else {
                more = false;
                break;
            };
            for (i, (data, there)) in columns.iter_mut().enumerate() {
                there.push(push(data, row.get_ref(i).map_err(other)?).into());
            }
        }
        if columns.first().is_none_or(|c| c.1.is_empty()) {
            break;
        }
        let columns = columns.into_iter().map(|(data, there)| Values { data, there: Some(there) });
        file.write(&columns.collect::<Vec<_>>())?;
    }
    file.finish()
}

fn empty(kind: Kind) -> Data {
    match kind {
        Kind::I64 | Kind::U64 => Data::Whole(vec![]),
        Kind::F64 => Data::Real(vec![]),
        Kind::Text => Data::Text(vec![]),
    }
}

/// Adds one; false where there is none.
fn push(to: &mut Data, value: ValueRef<'_>) -> bool {
    match (to, value) {
        (Data::Whole(v), ValueRef::Integer(n)) => v.push(n),
        (Data::Real(v), ValueRef::Integer(n)) => v.push(n as f64),
        (Data::Real(v), ValueRef::Real(n)) => v.push(n),
        (Data::Text(v), ValueRef::Text(t) | ValueRef::Blob(t)) => v.push(t.to_vec().into()),
        (Data::Text(v), ValueRef::Integer(n)) => v.push(n.to_string().into_bytes().into()),
        (Data::Text(v), ValueRef::Real(n)) => v.push(n.to_string().into_bytes().into()),
        _ => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Table, Value, count, text};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field as Read;

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let folder = std::env::temp_dir().join(format!("reray-database-{}-parquet", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("a.sqlite");
        let mut w = crate::Writer::create(&path).expect("a place");
        let columns = [count("n", "bytes", "how many"), text("name", ""), count("mixed", "number", "")];
        let t = w.table(Table::new("numbers", "numbers", true, &columns, &[])).expect("a table");
        w.row(t, [1u64.into(), "one".into(), Value::Real(0.5)]).expect("a row");
        w.row(t, [2u64.into(), Value::Null, 7u64.into()]).expect("a row");
        w.finish().expect("a database");
        write(&path, &folder).expect("files");
        let file = fs::File::open(folder.join("numbers.parquet")).expect("a file");
        let reader = SerializedFileReader::new(file).expect("Parquet");
        let rows: Vec<Vec<Read>> = reader
            .get_row_iter(None)
            .expect("rows")
            .map(|r| r.expect("a row").get_column_iter().map(|c| c.1.clone()).collect())
            .collect();
        let expected = [
            vec![Read::Long(1), Read::Str("one".into()), Read::Double(0.5)],
            vec![Read::Long(2), Read::Null, Read::Double(7.0)],
        ];
        assert_eq!(rows, expected);
        let metadata = reader.metadata().file_metadata().key_value_metadata().expect("metadata").clone();
        let of = |k: &str| metadata.iter().find(|m| m.key == k).and_then(|m| m.value.clone());
        assert_eq!((of("unit.n"), of("about.n")), (Some("bytes".into()), Some("how many".into())));
        std::fs::remove_dir_all(&folder).expect("all of it");
    }
}
