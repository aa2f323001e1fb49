//! A report as JSON: every number of it, with `schema_version` first.

use super::Report;

/// The report as indented JSON, with a line end.
pub fn render(report: &Report) -> String {
    // (a report has string keys and plain values only: nothing in it can fail to be written)
    let mut json = serde_json::to_string_pretty(report).unwrap_or_default();
    json.push('\n');
    json
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, Column, Cost, Mark, Report, SCHEMA_VERSION, Series, Table, Unit};
    use super::render;

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
        assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
    }
}
