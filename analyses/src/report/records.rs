//! Records of a trace's table as they are, row by row: CSV (as `csv.rs` writes it) and JSON Lines, an object a row.
//!
//! Guarantees: every row and column, in the trace's order; numbers in full. In JSON a number that is not finite is null.

use super::csv::line;
use trace::{ColumnData, Columns, Table};

/// The line of names for CSV, with units where there are any.
pub fn csv_header(table: &Table) -> String {
    let mut out = String::new();
    let name = |c: &trace::Column| match c.unit {
        "" => c.name.to_owned(),
        unit => format!("{} ({unit})", c.name),
    };
    line(&mut out, table.columns.iter().map(name));
    out
}

/// Rows as lines of CSV.
pub fn csv(columns: &Columns) -> String {
    let mut out = String::new();
    for row in 0..columns.len() {
        line(&mut out, columns.columns().iter().map(|c| field(c, row)));
    }
    out
}

fn field(column: &ColumnData, row: usize) -> String {
    match column {
        ColumnData::U64(c) => c[row].to_string(),
        ColumnData::F64(c) if c[row].is_finite() => c[row].to_string(),
        ColumnData::F64(_) => String::new(),
        ColumnData::Text(c) => c[row].to_string(),
    }
}

/// Rows as lines of JSON.
pub fn jsonl(columns: &Columns) -> String {
    let mut out = String::new();
    let names: Vec<String> =
        columns.table().columns.iter().map(|c| serde_json::Value::from(c.name).to_string()).collect();
    for row in 0..columns.len() {
        let mut begin = '{';
        for (name, column) in names.iter().zip(columns.columns()) {
            let value: serde_json::Value = match column {
                ColumnData::U64(c) => c[row].into(),
                ColumnData::F64(c) => c[row].into(),
                ColumnData::Text(c) => (*c[row]).into(),
            };
            out.push(begin);
            out.push_str(&format!("{name}:{value}"));
            begin = ',';
        }
        out.push_str("}\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::table::{Kind, count, text};
    use trace::{Column, Value};

    static T: Table = Table {
        name: "t",
        about: "",
        version: 1,
        columns: &[
            count("n", "things", ""),
            Column { name: "x", kind: Kind::F64, unit: "ms", about: "", since: 1 },
            text("word", ""),
        ],
    };

    #[test]
    fn rows_as_csv_and_json() {
        let mut c = Columns::new(&T);
        c.push(&[Value::U64(u64::MAX), Value::F64(0.5), Value::Text("a,\"b\"")]);
        c.push(&[Value::U64(0), Value::F64(f64::NAN), Value::Text("")]);
        assert_eq!(csv_header(&T), "n (things),x (ms),word\n");
        assert_eq!(csv(&c), "18446744073709551615,0.5,\"a,\"\"b\"\"\"\n0,,\n");
        let expected = concat!(
            "{\"n\":18446744073709551615,\"x\":0.5,\"word\":\"a,\\\"b\\\"\"}\n",
            "{\"n\":0,\"x\":null,\"word\":\"\"}\n"
        );
        assert_eq!(jsonl(&c), expected);
    }
}
