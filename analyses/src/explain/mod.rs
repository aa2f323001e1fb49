//! What every column of every report means: a description beside its unit, by question and table.
//!
//! The book's pages of analyses are written from here (`tests/pages.rs`), and what programs read (Parquet's metadata) carries the
//! same words. Guarantees: [`unexplained`] names every table and column of a report that is not described, or is described with
//! another unit or in another place; tests hold each report that `analyze` gives to it.

mod common;
mod lists;
mod meaning;
mod rays;
mod resources;
mod shaders;
mod times;
mod what_if;
mod work;

pub use lists::{ANALYSES, LISTS, List};
pub use meaning::{Meaning, OTHERS, Sheet};

use crate::report::{Report, Table};

/// The described tables of this analysis; none where it is not known.
pub fn of(analysis: &str) -> Option<&'static [Sheet]> {
    LISTS.iter().chain(ANALYSES).find(|l| l.name == analysis).map(|l| l.sheets)
}

/// The description of a table of this analysis.
pub fn sheet(analysis: &str, table: &str) -> Option<&'static Sheet> {
    of(analysis)?.iter().find(|s| s.is(table))
}

/// What the columns of a table of this analysis mean, one by one; empty words where they are not described.
pub fn abouts(analysis: &str, table: &Table) -> Vec<&'static str> {
    let known = sheet(analysis, &table.name).and_then(|s| s.of(table).ok());
    known.unwrap_or_else(|| vec![""; table.columns.len()])
}

/// What of a report is not described: a line each; nothing where all is.
pub fn unexplained(report: &Report) -> Vec<String> {
    let lacks = |t: &Table| match sheet(&report.analysis, &t.name) {
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
    use super::meaning::m;
    use super::{ANALYSES, LISTS, OTHERS, of, unexplained};
    use crate::report::{Column, Report, Table, Unit};
    use crate::{QUESTIONS, explain};

    #[test]
    fn every_question_and_analysis_is_described_and_nothing_else() {
        let listed: Vec<&str> = LISTS.iter().map(|l| l.name).collect();
        let questions: Vec<&str> = QUESTIONS.iter().map(|q| q.name()).collect();
        assert_eq!(listed, questions);
        for name in [crate::times::frame_times::NAME, crate::times::command_times::NAME] {
            assert!(of(name).is_some(), "{name}");
        }
        for list in LISTS.iter().chain(ANALYSES) {
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
    fn columns_of_a_driver_stand_where_they_may() {
        static SHEET: explain::Sheet = explain::Sheet {
            table: "t*",
            about: "",
            columns: &[&[m("a", Unit::Text, "A"), m(OTHERS, Unit::Count, "O"), m("z", Unit::Text, "Z")]],
        };
        let of = |names: &[&str]| {
            let columns = names.iter().map(|n| Column::new(*n, Unit::Text)).collect();
            SHEET.of(&Table { name: "t1".into(), columns, rows: vec![] })
        };
        assert!(SHEET.is("t1") && !SHEET.is("s"));
        assert_eq!(of(&["a", "z"]).unwrap(), ["A", "Z"]);
        assert_eq!(of(&["a", "b", "c", "z"]).unwrap(), ["A", "O", "O", "Z"]);
        assert_eq!(of(&["a", "b"]).unwrap_err(), "b (Text)");
    }
}
