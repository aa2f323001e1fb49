//! What every column of every report means: a description beside its unit, by question and table.
//!
//! The sheets themselves lie with the questions, which build their tables of them. The book's pages of analyses are written from here
//! (`tests/pages.rs`), and what programs read (Parquet's metadata) carries the same words. Guarantees: [`unexplained`] names every
//! table and column of a report that is not described, or is described with another unit or in another place; tests hold each report
//! that `analyze` gives to it.

use crate::QUESTIONS;
use crate::report::sheet::{Meaning, Sheet};
use crate::report::{Report, Table};
use crate::times::{bench, command_times, frame, frame_times, loop_times, run_times};
use crate::verdict::what_if;

/// The tables of one analysis.
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// The question's or analysis's name.
    pub name: &'static str,
    /// Its tables, then its series.
    pub sheets: &'static [Sheet],
}

const fn list(name: &'static str, sheets: &'static [Sheet]) -> List {
    List { name, sheets }
}

/// Of what a replay, a looped frame and runs of `bench` report.
static ANALYSES: &[List] = &[
    list(frame::NAME, frame::SHEETS),
    list(frame_times::NAME, frame_times::SHEETS),
    list(command_times::NAME, command_times::SHEETS),
    list("loop-times", loop_times::SHEETS),
    list("run-times", run_times::SHEETS),
    list("bench", bench::SHEETS),
    list("what-if", what_if::SHEETS),
];

/// The described tables of each question, in the order of [`QUESTIONS`], then of what else makes reports.
pub fn lists() -> impl Iterator<Item = List> {
    QUESTIONS.iter().map(|q| list(q.name, q.sheets)).chain(ANALYSES.iter().copied())
}

/// The description of a table of this analysis.
fn described(analysis: &str, table: &str) -> Option<&'static Sheet> {
    lists().find(|l| l.name == analysis)?.sheets.iter().find(|s| s.is(table))
}

/// The meaning of each column of a table of this analysis; none where they are not described.
pub fn meanings(analysis: &str, table: &Table) -> Option<Vec<&'static Meaning>> {
    described(analysis, &table.name)?.of(table).ok()
}

/// What the columns of a table of this analysis mean, one by one; empty words where they are not described.
pub fn abouts(analysis: &str, table: &Table) -> Vec<&'static str> {
    let known = meanings(analysis, table).map(|all| all.iter().map(|m| m.about).collect());
    known.unwrap_or_else(|| vec![""; table.columns.len()])
}

/// What of a report is not described: a line each; nothing where all is.
pub fn unexplained(report: &Report) -> Vec<String> {
    let lacks = |t: &Table| match described(&report.analysis, &t.name) {
        None => Some("the table".to_owned()),
        Some(s) => s.of(t).err(),
    };
    report
        .sheets()
        .iter()
        .filter_map(|t| Some(format!("{}.{}: {}", report.analysis, t.name, lacks(t)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{lists, unexplained};
    use crate::report::sheet::{Meaning, OTHERS, Sheet, m, sheet};
    use crate::report::{Column, Report, Table, Unit};

    #[test]
    fn every_analysis_has_a_name_and_every_table_and_column_words() {
        let names: Vec<&str> = lists().map(|l| l.name).collect();
        for (n, list) in lists().enumerate() {
            assert_eq!(names.iter().position(|name| *name == list.name), Some(n), "{}", list.name);
            for (n, sheet) in list.sheets.iter().enumerate() {
                assert!(!sheet.about.is_empty(), "{}.{}", list.name, sheet.table);
                let same = list.sheets.iter().position(|s| s.table == sheet.table);
                assert_eq!(same, Some(n), "{}.{}", list.name, sheet.table);
                for meaning in sheet.meanings() {
                    assert!(!meaning.about.is_empty(), "{}.{}.{}", list.name, sheet.table, meaning.name);
                }
            }
        }
    }

    #[test]
    fn columns_are_held_to_their_names_units_and_order() {
        let report = |columns: &[(&str, Unit)]| {
            let columns = columns.iter().map(|(n, u)| Column::new(*n, *u)).collect();
            let table = Table { name: "kinds".into(), columns, rows: vec![] };
            Report { tables: vec![table], ..Report::new("advice", "") }
        };
        let right = [
            ("possibly", Unit::Text),
            ("how many", Unit::Count),
            ("bytes a frame", Unit::Ratio),
            ("descriptors a frame", Unit::Ratio),
            ("binds a frame", Unit::Ratio),
        ];
        assert_eq!(unexplained(&report(&right)), Vec::<String>::new());
        let mut other = right;
        other[1].1 = Unit::Bytes;
        assert_eq!(unexplained(&report(&other)), ["advice.kinds: how many (Bytes)"]);
        other = right;
        other.swap(2, 3);
        assert_eq!(unexplained(&report(&other)), ["advice.kinds: descriptors a frame (Ratio)"]);
        assert_eq!(
            unexplained(&report(&right[..4])),
            ["advice.kinds: binds a frame, which is described and not there"]
        );
        let mut more = right.to_vec();
        more.push(("new", Unit::Count));
        assert_eq!(unexplained(&report(&more)), ["advice.kinds: new (Count)"]);
        let mut estimated = right.to_vec();
        estimated.insert(3, ("± bytes a frame", Unit::Ratio));
        assert_eq!(unexplained(&report(&estimated)), Vec::<String>::new());
        estimated.swap(2, 3);
        assert_eq!(unexplained(&report(&estimated)), ["advice.kinds: ± bytes a frame (Ratio)"]);
        let unknown = Report { analysis: "no such".into(), ..report(&right) };
        assert_eq!(unexplained(&unknown), ["no such.kinds: the table"]);
    }

    #[test]
    fn tables_of_a_sheet_are_described_by_it() {
        static SHEET: Sheet = sheet(
            "t",
            "",
            &[&[m("a|b", Unit::Text, "A"), m("n", Unit::Count, "N"), m(OTHERS, Unit::Bytes, "O")]],
        );
        let open = |m: &Meaning| match m.name {
            OTHERS => ["x", "y"].map(|n| Column::new(n, m.unit)).into(),
            _ => vec![Column::new("b", m.unit)],
        };
        let table = SHEET.table_with(open, [vec!["r".into(), 1u64.into(), 2u64.into(), 3u64.into()]]);
        let columns: Vec<_> = table.columns.iter().map(|c| (&*c.name, c.unit)).collect();
        let expected = [("b", Unit::Text), ("n", Unit::Count), ("x", Unit::Bytes), ("y", Unit::Bytes)];
        assert_eq!((&*table.name, table.rows.len(), columns), ("t", 1, expected.to_vec()));
        assert_eq!(
            SHEET.of(&table).unwrap().iter().map(|m| m.about).collect::<Vec<_>>(),
            ["A", "N", "O", "O"]
        );
    }

    #[test]
    fn columns_of_a_driver_stand_where_they_may() {
        static SHEET: Sheet = Sheet {
            table: "t*",
            about: "",
            columns: &[&[m("a", Unit::Text, "A"), m(OTHERS, Unit::Count, "O"), m("z", Unit::Text, "Z")]],
        };
        let of = |names: &[&str]| {
            let columns = names.iter().map(|n| Column::new(*n, Unit::Text)).collect();
            let found = SHEET.of(&Table { name: "t1".into(), columns, rows: vec![] });
            found.map(|all| all.iter().map(|m| m.about).collect::<Vec<_>>())
        };
        assert!(SHEET.is("t1") && !SHEET.is("s"));
        assert_eq!(of(&["a", "z"]).unwrap(), ["A", "Z"]);
        assert_eq!(of(&["a", "b", "c", "z"]).unwrap(), ["A", "O", "O", "Z"]);
        assert_eq!(of(&["a", "b"]).unwrap_err(), "b (Text)");
    }
}
