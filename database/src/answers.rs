//! Answers as tables: those of questions to traces, of runs and of timed replays, by one rule.
//!
//! A table of a report goes in as `ANALYSIS_TABLE`, with the number of the report before its columns; `reports` says what each is
//! of, `headlines` what they say in sentences. Two columns of one name get their units behind it. Guarantees: numbers are those of the
//! report. Refuses nothing: a report whose table has other columns than that of an earlier one gets a table of its own.

use crate::error::Error;
use crate::table::{Column, Kind, Table, Value, Word, count, text};
use crate::writer::{TableId, Writer};
use analyses::explain::abouts;
use analyses::report::{Cell, Report, Unit};
use std::collections::HashMap;

/// Several reports, whose tables are made when the first has them.
#[derive(Default)]
pub struct Answers {
    of: Option<(TableId, TableId)>,
    /// By name: the columns, and which table.
    tables: HashMap<String, (Vec<Column>, TableId)>,
    count: u64,
}

impl Answers {
    /// Adds one; `source` is what it is of: a capture, a trace, a file. `trace` is the number of the trace, if it is of one.
    pub fn add(
        &mut self,
        writer: &mut Writer,
        source: &str,
        trace: Option<u64>,
        report: &Report,
    ) -> Result<(), Error> {
        self.count += 1;
        let (reports, headlines) = match self.of {
            Some(of) => of,
            None => {
                let of = (writer.table(list())?, writer.table(sentences())?);
                *self.of.insert(of)
            }
        };
        let title = report.title.as_str();
        writer.row(
            reports,
            [self.count.into(), report.analysis.as_str().into(), title.into(), source.into(), trace.into()],
        )?;
        for (i, headline) in report.headlines.iter().enumerate() {
            writer.row(headlines, [self.count.into(), i.into(), headline.as_str().into()])?;
        }
        for sheet in report.sheets() {
            let columns = columns(&report.analysis, &sheet);
            let id = self.table(writer, report, &sheet.name, columns)?;
            for (i, row) in sheet.rows.into_iter().enumerate() {
                let cells = row.into_iter().map(|c| match c {
                    Cell::Count(n) => n.into(),
                    Cell::Number(n) if n.is_finite() => Value::Real(n),
                    Cell::Number(_) | Cell::Missing => Value::Null,
                    Cell::Text(t) => t.into(),
                });
                writer.values(id, [self.count.into(), i.into()].into_iter().chain(cells))?;
            }
        }
        Ok(())
    }

    fn table(
        &mut self,
        writer: &mut Writer,
        report: &Report,
        sheet: &str,
        columns: Vec<Column>,
    ) -> Result<TableId, Error> {
        let mut name = plain(&format!("{}_{sheet}", report.analysis));
        loop {
            match self.tables.get(&name) {
                Some((there, id)) if *there == columns => return Ok(*id),
                Some(_) => name.push('_'),
                // (nor what others call theirs)
                None if writer.has(&name) => name.push('_'),
                None => break,
            }
        }
        let table = Table {
            name: name.clone().into(),
            about: format!("{}: {sheet}", report.title).into(),
            columns: columns.clone(),
            keyed: false,
            indexes: vec![],
        };
        let id = writer.table(table)?;
        self.tables.insert(name, (columns, id));
        Ok(id)
    }
}

fn list() -> Table {
    Table::new(
        "reports",
        "an answer whose tables are here",
        true,
        &[
            count("report", "number", "from 1"),
            text("analysis", "the question: its tables begin with its name"),
            text("title", "its heading"),
            text("source", "what it is of: the capture, a trace's folder, a file"),
            count("trace", "number", "the trace it is of, a row of `traces`; NULL for others"),
        ],
        &[],
    )
}

fn sentences() -> Table {
    Table::new(
        "headlines",
        "what a report says in sentences, the most important first",
        false,
        &[
            count("report", "number", "a row of `reports`"),
            count("position", "index", "from 0"),
            text("text", "the sentence"),
        ],
        &["report"],
    )
}

/// A name without blanks and signs.
fn plain(name: &str) -> String {
    let word = |c: char| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    name.chars().map(word).collect()
}

fn columns(analysis: &str, sheet: &analyses::report::Table) -> Vec<Column> {
    let meanings = abouts(analysis, sheet);
    let mut all = vec![
        count("report", "number", "a row of `reports`"),
        count("row", "index", "its place in the report's table, from 0"),
    ];
    for (i, c) in sheet.columns.iter().enumerate() {
        let symbol = c.unit.symbol();
        let twin = sheet.columns.iter().filter(|o| plain(&o.name) == plain(&c.name)).count() > 1;
        let mut name = plain(&c.name);
        if twin && !symbol.is_empty() {
            let symbol = if symbol == "%" { "percent" } else { symbol };
            name = format!("{name}_{}", plain(symbol));
        }
        while name.is_empty() || all.iter().any(|o| o.name == name) {
            name.push('_');
        }
        let is_text = c.unit == Unit::Text || sheet.rows.iter().any(|r| matches!(r[i], Cell::Text(_)));
        let unit = match symbol {
            "" if is_text => "",
            "" if c.unit == Unit::Ratio => "ratio",
            "" => "number",
            s => s,
        };
        let about: Word = match meanings.get(i).copied().filter(|a| !a.is_empty()) {
            Some(about) => Word::Owned(about.to_owned()),
            None => c.name.clone().into(),
        };
        // (a cell keeps its own type: counts stay whole in a column of numbers)
        let kind = match (is_text, c.unit) {
            (true, _) => Kind::Text,
            (false, Unit::Count | Unit::Bytes) => Kind::Integer,
            _ => Kind::Real,
        };
        all.push(Column { name: name.into(), kind, unit: Word::Owned(unit.to_owned()), about });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use analyses::report;

    #[test]
    fn columns_of_one_name_get_their_units_and_meet_nobody_elses() {
        let column = report::Column::new;
        let sheet = report::Table {
            name: "places".into(),
            columns: vec![
                column("GPU", Unit::Milliseconds),
                column("GPU", Unit::Percent),
                column("row", Unit::Count),
                column("", Unit::Text),
            ],
            rows: vec![],
        };
        let names: Vec<String> = columns("none", &sheet).iter().map(|c| c.name.to_string()).collect();
        assert_eq!(names, ["report", "row", "gpu_ms", "gpu_percent", "row_", "_"]);
    }
}
