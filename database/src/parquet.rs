//! Every table of a database as an Apache Parquet file, for DuckDB, pandas and the like.
//!
//! A table is `NAME.parquet`, compressed with zstd; its columns are the table's: INTEGER is INT64, REAL is DOUBLE, TEXT is a string,
//! all optional. The file's key/value metadata have `about` and, for each column, `unit.NAME` and `about.NAME`, as
//! those of `analyze --format parquet` do. Guarantees: rows and their order are the table's. A column of whole numbers that holds
//! another is one of DOUBLE. Refuses nothing.

use crate::error::Error;
use crate::table::{Kind, quoted};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Rows of a group: they are in memory together.
const GROUP_ROWS: usize = 1 << 16;
/// The tables that say what the others are.
const OF_ITSELF: [&str; 4] = ["about", "schema_tables", "schema_columns", "schema_views"];

struct Field {
    name: String,
    kind: Kind,
    unit: String,
    about: String,
}

/// A column's values of one row group: those that are there, and which rows have one.
enum Values {
    Integer(Vec<i64>),
    Real(Vec<f64>),
    Text(Vec<ByteArray>),
}

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
            "INTEGER" => Kind::Integer,
            "REAL" => Kind::Real,
            _ => Kind::Text,
        };
        Ok(Field { name: row.get(0)?, kind, unit: row.get(2)?, about: row.get(3)? })
    };
    let mut fields = all.query_map([table], field)?.collect::<rusqlite::Result<Vec<_>>>()?;
    for f in fields.iter_mut().filter(|f| f.kind == Kind::Integer) {
        let (name, table) = (quoted(&f.name), quoted(table));
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE typeof({name}) = 'real')");
        if db.query_row(&sql, [], |row| row.get(0))? {
            f.kind = Kind::Real;
        }
    }
    Ok(fields)
}

fn table(db: &Connection, name: &str, about: &str, path: &Path) -> Result<()> {
    let fields = fields(db, name).map_err(other)?;
    let mut types = vec![];
    let mut metadata = vec![KeyValue::new("about".to_owned(), about.to_owned())];
    for f in &fields {
        let (physical, logical) = match f.kind {
            Kind::Integer => (Physical::INT64, None),
            Kind::Real => (Physical::DOUBLE, None),
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let t = Type::primitive_type_builder(&f.name, physical)
            .with_logical_type(logical)
            .with_repetition(Repetition::OPTIONAL);
        types.push(Arc::new(t.build()?));
        for (key, value) in [("unit", &f.unit), ("about", &f.about)] {
            if !value.is_empty() {
                metadata.push(KeyValue::new(format!("{key}.{}", f.name), value.clone()));
            }
        }
    }
    let schema = Type::group_type_builder("table").with_fields(types).build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_key_value_metadata(Some(metadata))
        .set_created_by(concat!("reray-replay ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let file = File::create_new(path).map_err(other)?;
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
    let mut statement = db.prepare(&format!("SELECT * FROM {}", quoted(name))).map_err(other)?;
    let mut rows = statement.query([]).map_err(other)?;
    let mut more = true;
    while more {
        let mut columns: Vec<(Values, Vec<i16>)> = fields.iter().map(|f| (f.kind.empty(), vec![])).collect();
        for _ in 0..GROUP_ROWS {
            let Some(row) = rows.next().map_err(other)? else {
                more = false;
                break;
            };
            for (i, (values, there)) in columns.iter_mut().enumerate() {
                there.push(values.push(row.get_ref(i).map_err(other)?).into());
            }
        }
        if columns.first().is_none_or(|c| c.1.is_empty()) {
            break;
        }
        let mut group = writer.next_row_group()?;
        for (values, there) in &columns {
            let Some(mut column) = group.next_column()? else { break };
            let there = Some(there.as_slice());
            match (column.untyped(), values) {
                (ColumnWriter::Int64ColumnWriter(w), Values::Integer(v)) => w.write_batch(v, there, None)?,
                (ColumnWriter::DoubleColumnWriter(w), Values::Real(v)) => w.write_batch(v, there, None)?,
                (ColumnWriter::ByteArrayColumnWriter(w), Values::Text(v)) => w.write_batch(v, there, None)?,
                _ => return Err(other("a column of another kind than its field")),
            };
            column.close()?;
        }
        group.close()?;
    }
    writer.close().map(|_| ())
}

impl Kind {
    fn empty(self) -> Values {
        match self {
            Kind::Integer => Values::Integer(vec![]),
            Kind::Real => Values::Real(vec![]),
            Kind::Text => Values::Text(vec![]),
        }
    }
}

impl Values {
    /// Adds one; false where there is none.
    fn push(&mut self, value: ValueRef<'_>) -> bool {
        match (self, value) {
            (_, ValueRef::Null) => return false,
            (Values::Integer(v), ValueRef::Integer(n)) => v.push(n),
            (Values::Real(v), ValueRef::Integer(n)) => v.push(n as f64),
            (Values::Real(v), ValueRef::Real(n)) => v.push(n),
            (Values::Text(v), ValueRef::Text(t) | ValueRef::Blob(t)) => v.push(t.to_vec().into()),
            (Values::Text(v), ValueRef::Integer(n)) => v.push(n.to_string().into_bytes().into()),
            (Values::Text(v), ValueRef::Real(n)) => v.push(n.to_string().into_bytes().into()),
            _ => return false,
        }
        true
    }
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
        let file = File::open(folder.join("numbers.parquet")).expect("a file");
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
