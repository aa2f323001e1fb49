//! Traces as tables: every table of a trace by one rule, with the names, units and meanings that the trace declares.
//!
//! What `bindings` wrote of the capture itself goes in under the tables' own names. Of other traces a table goes in as
//! `trace_NAME`, with the trace's number before its columns, as several traces may have it; `traces` says what each is of. What a
//! table's first column numbers is looked up by it, in other tables too: such columns have an index. Guarantees: rows and their order are
//! the trace's. Refuses nothing: tables that this program does not know are not in its traces.

use crate::error::Error;
use crate::table::{Column, Kind, Table, Value, Word, count, text};
use crate::writer::{TableId, Writer};
use std::collections::BTreeMap;
use trace::dir::Dir;
use trace::tables::{
    CONTENT_WORDS, DESCRIPTORS, DYNAMIC_OFFSETS, INVOCATION_BLOCKS, INVOCATION_SETS, INVOCATIONS,
    RESOURCE_BUFFERS, RESOURCE_MEMBERS, RESOURCE_PIPELINES, RESOURCE_SLOTS, RESOURCE_STAGES, SET_CONTENTS,
    SYNC_ACCESSES, SYNC_BARRIERS, SYNC_OBJECTS, SYNC_SUBMISSIONS, SYNC_WAITS, TABLES, UPLOADS,
};
use trace::{ColumnData, Columns, Source, Unreadable};

/// Several traces, whose tables are made when the first has them.
#[derive(Default)]
pub struct Traces {
    of: Option<TableId>,
    tables: BTreeMap<&'static str, TableId>,
    count: u64,
}

/// Tables of bindings, which views ask and which are there even where they have no rows.
static OF_BINDINGS: &[&trace::Table] = &[
    &RESOURCE_PIPELINES,
    &RESOURCE_STAGES,
    &RESOURCE_SLOTS,
    &RESOURCE_MEMBERS,
    &INVOCATION_SETS,
    &SET_CONTENTS,
    &DYNAMIC_OFFSETS,
    &DESCRIPTORS,
    &INVOCATION_BLOCKS,
    &CONTENT_WORDS,
    &UPLOADS,
    &RESOURCE_BUFFERS,
    &SYNC_SUBMISSIONS,
    &SYNC_WAITS,
    &SYNC_BARRIERS,
    &SYNC_ACCESSES,
    &SYNC_OBJECTS,
];

/// What `bindings` wrote of the capture. (Its draws are told by the capture itself, with more columns.)
pub fn bindings(writer: &mut Writer, dir: &Dir) -> Result<(), Error> {
    let promised = |t: &trace::Table| OF_BINDINGS.iter().any(|b| b.name == t.name);
    for table in TABLES.iter().copied().filter(|t| t.name != INVOCATIONS.name) {
        let written = dir.rows(table).is_some();
        if written || promised(table) {
            let id = writer.table(described(table, false))?;
            if written {
                rows(writer, dir, table, id, None)?;
            }
        }
    }
    Ok(())
}

impl Traces {
    /// Adds one; its number, from 1.
    pub fn add(&mut self, writer: &mut Writer, dir: &Dir) -> Result<u64, Error> {
        self.count += 1;
        let of = match self.of {
            Some(of) => of,
            None => *self.of.insert(writer.table(list())?),
        };
        let m = dir.manifest();
        let words = |all: Vec<String>| Value::from(all.join(" "));
        writer.row(
            of,
            [
                self.count.into(),
                dir.folder().display().to_string().into(),
                m.capture.name.as_str().into(),
                m.device.name.as_str().into(),
                words(m.passes.iter().map(|p| p.name.clone()).collect()),
                words(m.frames.iter().map(u64::to_string).collect()),
                m.complete.into(),
            ],
        )?;
        for table in TABLES.iter().copied().filter(|t| dir.rows(t).is_some()) {
            let id = match self.tables.get(table.name) {
                Some(id) => *id,
                None => {
                    let id = writer.table(described(table, true))?;
                    self.tables.insert(table.name, id);
                    id
                }
            };
            rows(writer, dir, table, id, Some(self.count))?;
        }
        Ok(self.count)
    }
}

fn list() -> Table {
    Table::new(
        "traces",
        "a trace whose tables are here as trace_…",
        true,
        &[
            count("trace", "number", "from 1, in the order in which they were named"),
            text("folder", "where it was"),
            text("capture", "the capture it is of, as the trace says"),
            text("device", "the device that it was measured on; empty where it was followed without one"),
            text("passes", "the passes that measured, separated by blanks"),
            text("frames", "the frames that were measured, separated by blanks"),
            count("complete", "flag", "0 if its writing broke off"),
        ],
        &[],
    )
}

/// A column of a trace that its first column numbers things by, in whatever table.
fn is_key(column: &trace::Column) -> bool {
    let first = TABLES.iter().any(|t| t.columns.first().is_some_and(|c| c.name == column.name));
    first && column.kind == trace::Kind::U64 && matches!(column.unit, "id" | "number")
}

/// Traces call draws, dispatches and traces invocations; elsewhere those are threads of shaders.
fn renamed(table: &trace::Table, name: &'static str) -> Word {
    match [&INVOCATIONS, &INVOCATION_SETS, &INVOCATION_BLOCKS].iter().any(|t| t.name == table.name) {
        true if name == "invocation" => "draw_id".into(),
        true => Word::Owned(name.replace("invocation", "draw")),
        false => name.into(),
    }
}

/// A table of traces as one of SQL.
fn described(table: &'static trace::Table, of_several: bool) -> Table {
    let column = |c: &trace::Column| Column {
        name: renamed(table, c.name),
        kind: match c.kind {
            trace::Kind::U64 => Kind::Integer,
            trace::Kind::F64 => Kind::Real,
            trace::Kind::Text => Kind::Text,
        },
        unit: if c.unit.is_empty() && c.kind != trace::Kind::Text { "number" } else { c.unit }.into(),
        about: renamed(table, c.about),
    };
    let name = renamed(table, table.name);
    let number = of_several.then(|| count("trace", "number", "a row of `traces`"));
    let columns = number.into_iter().chain(table.columns.iter().map(column)).collect();
    let keys = table.columns.iter().filter(|c| is_key(c));
    Table {
        name: if of_several { Word::Owned(format!("trace_{name}")) } else { name },
        about: table.about.into(),
        columns,
        keyed: false,
        indexes: keys.map(|c| vec![renamed(table, c.name)]).collect(),
    }
}

fn rows(
    writer: &mut Writer,
    dir: &Dir,
    table: &'static trace::Table,
    into: TableId,
    number: Option<u64>,
) -> Result<(), Error> {
    let mut failed = None;
    let read = dir.each(table, &mut |columns: &Columns| {
        failed = (0..columns.len())
            .try_for_each(|row| {
                let of = columns.columns().iter().map(|c| match c {
                    ColumnData::U64(v) => v[row].into(),
                    ColumnData::F64(v) => Value::Real(v[row]),
                    ColumnData::Text(v) => (*v[row]).into(),
                });
                writer.values(into, number.map(Value::from).into_iter().chain(of))
            })
            .err();
        // (what failed is in `failed`; the reader's own kind of failure ends the reading)
        if failed.is_some() { Err(Unreadable(String::new())) } else { Ok(()) }
    });
    match (failed, read) {
        (Some(e), _) => Err(e),
        (None, Err(e)) => Err(Error::new(e.0)),
        (None, Ok(())) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::tables::{RESOURCE_SLOTS, SET_CONTENTS};

    #[test]
    fn tables_are_described_as_the_trace_does_and_found_by_what_they_number() {
        let t = described(&SET_CONTENTS, false);
        assert_eq!((&*t.name, t.columns.len()), ("set_contents", 4));
        assert_eq!(t.columns[3].about, "a row of `descriptors`; 0 if it was never written");
        assert_eq!(t.indexes, [["contents"], ["descriptor"]]);
        let t = described(&RESOURCE_SLOTS, true);
        assert_eq!((&*t.name, &*t.columns[0].name), ("trace_resource_slots", "trace"));
        assert_eq!(t.indexes, [["pipeline"]]);
        let t = described(&INVOCATION_SETS, false);
        assert_eq!((&*t.name, &*t.columns[0].name), ("draw_sets", "draw_id"));
        assert_eq!(t.columns[0].about, "a row of `draws`");
    }

    #[test]
    fn no_table_has_a_column_twice() {
        for table in TABLES {
            for several in [false, true] {
                let t = described(table, several);
                let mut names: Vec<String> = t.columns.iter().map(|c| c.name.to_lowercase()).collect();
                names.sort();
                names.dedup();
                assert_eq!(names.len(), t.columns.len(), "{}", t.name);
            }
        }
    }
}
