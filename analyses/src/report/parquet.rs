//! Tables as Apache Parquet files: records of a trace, tables of reports; and the file itself ([`File`]), which the tables of databases are
//! written with, too.
//!
//! Whole numbers are INT64 with the logical type of unsigned 64 bits, numbers are DOUBLE, words are BYTE_ARRAY with the
//! logical type of a string; compressed with zstd. A record's columns are required, a report's optional (a cell may be
//! missing). Databases have signed whole numbers: INT64 without a logical type. The file's key/value metadata say what it is:
//! `about`, `version` (of the table, for records), and for each column `unit.NAME` and `about.NAME`, where there are any.
//!
//! Guarantees: rows and their order are the table's; column names are unique (two columns of one name get their units
//! behind it, and then numbers). A column of a report that holds words beside numbers becomes one of words.

use super::{Cell, Image, Table};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::io::Write;
use std::sync::Arc;
use trace::{ColumnData, Columns, Source, Unreadable};

/// A column of a file.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
    /// What they count or measure; empty for words.
    pub unit: String,
    /// What they mean.
    pub about: String,
    /// Rows may have none.
    pub optional: bool,
}

/// What a column's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers from 0.
    U64,
    /// Whole numbers.
    I64,
    /// Numbers.
    F64,
    /// Words.
    Text,
}

impl From<trace::Kind> for Kind {
    fn from(kind: trace::Kind) -> Kind {
        match kind {
            trace::Kind::U64 => Kind::U64,
            trace::Kind::F64 => Kind::F64,
            trace::Kind::Text => Kind::Text,
        }
    }
}

/// A column's values of one row group: those that are there, and which rows have one (all, where it says nothing).
#[derive(Clone, Debug)]
pub struct Values {
    /// Those that are there.
    pub data: Data,
    /// 1 for a row that has one, else 0.
    pub there: Option<Vec<i16>>,
}

/// Values of one kind.
#[derive(Clone, Debug)]
pub enum Data {
    /// Whole numbers, with or without a sign: the field's kind says what their bits mean.
    Whole(Vec<i64>),
    /// Numbers.
    Real(Vec<f64>),
    /// Words.
    Text(Vec<ByteArray>),
}

impl From<&ColumnData> for Data {
    fn from(column: &ColumnData) -> Data {
        match column {
            ColumnData::U64(v) => Data::Whole(v.iter().map(|n| n.cast_signed()).collect()),
            ColumnData::F64(v) => Data::Real(v.clone()),
            ColumnData::Text(v) => Data::Text(v.iter().map(|t| ByteArray::from(&**t)).collect()),
        }
    }
}

/// A file that is being written.
pub struct File<W: Write + Send> {
    writer: SerializedFileWriter<W>,
}

impl<W: Write + Send> File<W> {
    /// With these columns; `about`: what its metadata say besides.
    pub fn new(out: W, about: &[(&str, String)], fields: &[Field]) -> Result<Self> {
        let mut types = vec![];
        let mut metadata: Vec<KeyValue> =
            about.iter().map(|(k, v)| KeyValue::new((*k).to_owned(), v.clone())).collect();
        for f in fields {
            let (physical, logical) = match f.kind {
                Kind::U64 => (Physical::INT64, Some(LogicalType::integer(64, false))),
                Kind::I64 => (Physical::INT64, None),
                Kind::F64 => (Physical::DOUBLE, None),
                Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            };
            let repetition = if f.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
            let t = Type::primitive_type_builder(&f.name, physical)
                .with_logical_type(logical)
                .with_repetition(repetition);
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
        Ok(File { writer: SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))? })
    }

    /// Adds a row group: the values of each column, in the order of the fields.
    pub fn write(&mut self, columns: &[Values]) -> Result<()> {
        let mut group = self.writer.next_row_group()?;
        for values in columns {
            let Some(mut column) = group.next_column()? else { break };
            let there = values.there.as_deref();
            match (column.untyped(), &values.data) {
                (ColumnWriter::Int64ColumnWriter(w), Data::Whole(v)) => w.write_batch(v, there, None)?,
                (ColumnWriter::DoubleColumnWriter(w), Data::Real(v)) => w.write_batch(v, there, None)?,
                (ColumnWriter::ByteArrayColumnWriter(w), Data::Text(v)) => w.write_batch(v, there, None)?,
                _ => return Err(ParquetError::General("a column of another kind than its field".into())),
            };
            column.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Ends it.
    pub fn finish(self) -> Result<()> {
        self.writer.close().map(|_| ())
    }
}

/// Why a file was not written.
#[derive(Debug)]
pub enum Failed {
    /// The trace could not be read.
    Read(Unreadable),
    /// The file could not be written.
    Write(String),
}

impl From<ParquetError> for Failed {
    fn from(e: ParquetError) -> Self {
        Failed::Write(e.to_string())
    }
}

/// All records of a table, some at a time.
pub fn records(
    trace: &dyn Source,
    table: &'static trace::Table,
    out: impl Write + Send,
) -> std::result::Result<(), Failed> {
    let field = |c: &trace::Column| Field {
        name: c.name.to_owned(),
        kind: c.kind.into(),
        unit: c.unit.to_owned(),
        about: c.about.to_owned(),
        optional: false,
    };
    let fields: Vec<Field> = table.columns.iter().map(field).collect();
    let about = [("about", table.about.to_owned()), ("version", table.version.to_string())];
    let mut file = File::new(out, &about, &fields)?;
    let mut failed = None;
    let mut write = |c: &Columns| {
        let values = c.columns().iter().map(|c| Values { data: c.into(), there: None });
        failed = file.write(&values.collect::<Vec<_>>()).err();
        // (the reader's own kind of failure ends the reading; what failed is in `failed`)
        if failed.is_some() { Err(Unreadable(String::new())) } else { Ok(()) }
    };
    let read = trace.each(table, &mut write);
    if let Some(e) = failed {
        return Err(e.into());
    }
    read.map_err(Failed::Read)?;
    Ok(file.finish()?)
}

/// A table of this analysis's report.
pub fn table(
    analysis: &str,
    table: &Table,
    about: &str,
    out: impl Write + Send,
) -> std::result::Result<(), Failed> {
    let meanings = crate::explain::abouts(analysis, table);
    let columns: Vec<(Kind, Values)> = (0..table.columns.len()).map(|c| values(table, c)).collect();
    let described = columns.iter().zip(names(table)).zip(table.columns.iter().zip(meanings));
    let fields = described.map(|((c, name), (column, about))| Field {
        name,
        kind: c.0,
        unit: column.unit.symbol().to_owned(),
        about: about.to_owned(),
        optional: true,
    });
    let fields: Vec<Field> = fields.collect();
    let mut file = File::new(out, &[("about", about.to_owned())], &fields)?;
    file.write(&columns.into_iter().map(|c| c.1).collect::<Vec<_>>())?;
    Ok(file.finish()?)
}

/// A picture's values: x, y, value; pixels without one are left out.
pub fn image(image: &Image, out: impl Write + Send) -> std::result::Result<(), Failed> {
    let field = |name: &str, kind, unit: &str| Field {
        name: name.to_owned(),
        kind,
        unit: unit.to_owned(),
        about: String::new(),
        optional: false,
    };
    let value = if image.value.name.is_empty() { "value" } else { &image.value.name };
    let fields = [
        field("x", Kind::U64, "pixels"),
        field("y", Kind::U64, "pixels"),
        field(value, Kind::F64, image.value.unit.symbol()),
    ];
    let width = image.width.max(1) as usize;
    let there = || image.pixels.iter().enumerate().filter(|p| !p.1.is_nan());
    let all = |data: Data| Values { data, there: None };
    let mut file = File::new(out, &[("about", image.title.clone())], &fields)?;
    file.write(&[
        all(Data::Whole(there().map(|p| (p.0 % width) as i64).collect())),
        all(Data::Whole(there().map(|p| (p.0 / width) as i64).collect())),
        all(Data::Real(there().map(|p| f64::from(*p.1)).collect())),
    ])?;
    Ok(file.finish()?)
}

/// A column's values, and their kind: the narrowest that all of them have.
fn values(table: &Table, column: usize) -> (Kind, Values) {
    let cells = || table.rows.iter().map(move |row| &row[column]);
    let has = |f: fn(&Cell) -> bool| cells().any(f);
    let words = has(|c| matches!(c, Cell::Text(_)));
    let numbers = has(|c| matches!(c, Cell::Number(_)));
    let there = cells().map(|c| i16::from(!matches!(c, Cell::Missing))).collect();
    let present = || cells().filter(|c| !matches!(c, Cell::Missing));
    let (kind, data) = if words {
        let text = |c: &Cell| match c {
            Cell::Count(n) => n.to_string().into_bytes().into(),
            Cell::Number(n) => n.to_string().into_bytes().into(),
            Cell::Text(t) => t.as_str().into(),
            Cell::Missing => "".into(),
        };
        (Kind::Text, Data::Text(present().map(text).collect()))
    } else if numbers {
        let number = |c: &Cell| match c {
            Cell::Count(n) => *n as f64,
            Cell::Number(n) => *n,
            _ => f64::NAN,
        };
        (Kind::F64, Data::Real(present().map(number).collect()))
    } else {
        let count = |c: &Cell| if let Cell::Count(n) = c { n.cast_signed() } else { 0 };
        (Kind::U64, Data::Whole(present().map(count).collect()))
    };
    (kind, Values { data, there: Some(there) })
}

/// The columns' names, each once.
fn names(table: &Table) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    for (i, c) in table.columns.iter().enumerate() {
        let twice = table.columns.iter().filter(|other| other.name == c.name).count() > 1;
        let mut name = match (c.name.as_str(), c.unit.symbol()) {
            ("", _) => "what".to_owned(),
            (name, unit) if twice && !unit.is_empty() => format!("{name} ({unit})"),
            (name, _) => name.to_owned(),
        };
        if names.contains(&name) {
            name = format!("{name} {}", i + 1);
        }
        names.push(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::super::{Column, Unit};
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field as Read;
    use trace::tables::SIMT;
    use trace::{Memory, Value};

    type Row = Vec<(String, Read)>;

    fn open(bytes: Vec<u8>) -> (Vec<(String, String)>, Vec<Row>) {
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap().clone();
        let rows = reader.get_row_iter(None).unwrap().map(|r| {
            r.unwrap().get_column_iter().map(|(name, field)| (name.clone(), field.clone())).collect()
        });
        (metadata.into_iter().map(|kv| (kv.key, kv.value.unwrap_or_default())).collect(), rows.collect())
    }

    #[test]
    fn records_keep_units_and_descriptions() {
        let mut m = Memory::default();
        for n in 0..3 {
            m.put(&SIMT, &[1, n, 0, 2, 8, u64::MAX - n, 5].map(Value::U64));
        }
        let mut out = vec![];
        records(&m, &SIMT, &mut out).unwrap();
        let (metadata, rows) = open(out);
        let of = |key: &str| metadata.iter().find(|kv| kv.0 == key).map(|kv| kv.1.as_str());
        assert_eq!((of("about"), of("version")), (Some(SIMT.about), Some("1")));
        assert_eq!((of("unit.active"), of("about.executions")), (Some("invocations"), Some("how often")));
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[2][1], ("entry".into(), Read::ULong(2)));
        assert_eq!(rows[2][5], ("executions".into(), Read::ULong(u64::MAX - 2)));
    }

    #[test]
    fn cells_keep_what_they_are() {
        let t = Table {
            name: "t".into(),
            columns: vec![
                Column::new("", Unit::Text),
                Column::new("mean", Unit::Milliseconds),
                Column::new("mean", Unit::FramesPerSecond),
                Column::new("mixed", Unit::Count),
            ],
            rows: vec![
                vec!["é".into(), Cell::Number(0.5), Cell::Count(3), Cell::Count(4)],
                vec![Cell::Missing, Cell::Missing, Cell::Number(f64::NAN), "none".into()],
            ],
        };
        let mut out = vec![];
        table("none", &t, "A table", &mut out).unwrap();
        let (metadata, rows) = open(out);
        assert!(metadata.contains(&("unit.mean (FPS)".into(), "FPS".into())), "{metadata:?}");
        let names: Vec<&str> = rows[0].iter().map(|f| f.0.as_str()).collect();
        assert_eq!(names, ["what", "mean (ms)", "mean (FPS)", "mixed"]);
        let values = |row: usize| rows[row].iter().map(|f| f.1.clone()).collect::<Vec<_>>();
        let first = [Read::Str("é".into()), Read::Double(0.5), Read::Double(3.0), Read::Str("4".into())];
        assert_eq!(values(0), first);
        assert_eq!(values(1)[..2], [Read::Null, Read::Null]);
        assert!(matches!(values(1)[2], Read::Double(n) if n.is_nan()));
        assert_eq!(values(1)[3], Read::Str("none".into()));
    }

    #[test]
    fn pictures_are_rows() {
        let i = Image {
            name: "i".into(),
            title: "I".into(),
            value: Column::new("efficiency", Unit::Percent),
            width: 2,
            height: 2,
            pixels: vec![1.0, f32::NAN, 3.0, 4.0],
        };
        let mut out = vec![];
        image(&i, &mut out).unwrap();
        let (_, rows) = open(out);
        let expected = [(0, 0, 1.0), (0, 1, 3.0), (1, 1, 4.0)];
        for (row, (x, y, value)) in rows.iter().zip(expected) {
            let values: Vec<Read> = row.iter().map(|f| f.1.clone()).collect();
            assert_eq!(values, [Read::ULong(x), Read::ULong(y), Read::Double(value)]);
        }
        assert_eq!(rows.len(), 3);
    }
}
