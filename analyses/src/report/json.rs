//! A report as JSON: every number of it, with `schema_version` first; and back.
//!
//! Guarantees: what is read is a report whose tables have a cell for each column and whose pictures a value for each pixel.
//! Refuses another `schema_version`.

use super::{Report, SCHEMA_VERSION};
use serde::Deserialize;
use serde_json::Value;

/// The report as indented JSON, with a line end.
pub fn render(report: &Report) -> String {
    // (a report has string keys and plain values only: nothing in it can fail to be written)
    let mut json = serde_json::to_string_pretty(report).unwrap_or_default();
    json.push('\n');
    json
}

/// Reads one; else what is wrong with it.
pub fn read(json: &Value) -> Result<Report, String> {
    let version = json["schema_version"].as_u64();
    if version != Some(SCHEMA_VERSION.into()) {
        let found = version.map_or_else(|| "none".to_owned(), |v| v.to_string());
        return Err(format!("schema_version {found}; this program reads {SCHEMA_VERSION}"));
    }
    let report = Report::deserialize(json).map_err(|e| e.to_string())?;
    for t in &report.tables {
        if let Some(n) = t.rows.iter().position(|row| row.len() != t.columns.len()) {
            let (cells, columns) = (t.rows[n].len(), t.columns.len());
            return Err(format!("table {}, row {n}: {cells} cells under {columns} columns", t.name));
        }
    }
    for i in &report.images {
        if u64::from(i.width) * u64::from(i.height) != i.pixels.len() as u64 {
            return Err(format!("image {}: {} pixels of {} x {}", i.name, i.pixels.len(), i.width, i.height));
        }
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, Column, Cost, Mark, Report, SCHEMA_VERSION, Series, Table, Unit};
    use super::{read, render};

    #[test]
    fn what_is_written_can_be_read() {
        let report = Report {
            schema_version: SCHEMA_VERSION,
            analysis: "x".into(),
            title: "X".into(),
            tables: vec![Table {
                name: "t".into(),
                columns: vec![Column::new("a", Unit::Count), Column::new("b", Unit::Milliseconds)],
                rows: vec![vec![Cell::Count(3), Cell::Number(2.0)], vec!["words".into(), Cell::Missing]],
            }],
            series: vec![Series {
                name: "s".into(),
                title: "S".into(),
                mark: Mark::Bars,
                x: Column::new("time", Unit::Milliseconds),
                y: Column::new("frames", Unit::Count),
                points: vec![(Cell::Number(0.5), Cell::Count(9))],
            }],
            notes: vec!["A note.".into()],
            cost: Cost::Unknown { why: "nobody looked".into() },
            ..Report::new("", "")
        };
        let json = render(&report);
        assert!(json.starts_with("{\n  \"schema_version\": 1,\n"), "{json}");
        assert!(json.contains("\"unit\": \"milliseconds\""), "{json}");
        let mut value = serde_json::from_str(&json).unwrap();
        assert_eq!(read(&value).unwrap(), report);
        value["tables"][0]["rows"][1] = serde_json::json!([1]);
        assert_eq!(read(&value).unwrap_err(), "table t, row 1: 1 cells under 2 columns");
        value["schema_version"] = 2.into();
        assert!(read(&value).unwrap_err().contains("schema_version 2"));
    }
}
