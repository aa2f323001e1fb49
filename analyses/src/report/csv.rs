//! A table as CSV (RFC 4180): a header line with names (and units where there are any), then a line a row.
//!
//! Guarantees: every row has as many fields as the header; numbers are written in full; what is missing is empty.

use super::{Cell, Table};

/// The table as CSV, with line ends of one byte.
pub fn render(table: &Table) -> String {
    let mut out = String::new();
    let header = table.columns.iter().map(|c| match c.unit.symbol() {
        "" => c.name.clone(),
        unit => format!("{} ({unit})", c.name),
    });
    line(&mut out, header);
    for row in &table.rows {
        line(&mut out, row.iter().map(field));
    }
    out
}

fn field(cell: &Cell) -> String {
    match cell {
        Cell::Count(n) => n.to_string(),
        Cell::Number(n) if n.is_finite() => n.to_string(),
        Cell::Text(t) => t.clone(),
        Cell::Number(_) | Cell::Missing => String::new(),
    }
}

pub(super) fn line(out: &mut String, fields: impl Iterator<Item = String>) {
    for (i, f) in fields.enumerate() {
        if i > 0 {
            out.push(',');
        }
        if f.contains(['"', ',', '\n', '\r']) {
            out.push('"');
            out.push_str(&f.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(&f);
        }
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::{Column, Unit};
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let table = Table {
            name: "t".into(),
            columns: vec![Column::new("a", Unit::Text), Column::new("b", Unit::Milliseconds)],
            rows: vec![
                vec!["plain".into(), Cell::Number(0.25)],
                vec!["a \"b\", c\nd".into(), Cell::Missing],
                vec!["".into(), Cell::Number(f64::NAN)],
                vec!["n".into(), Cell::Count(u64::MAX)],
            ],
        };
        let expected = "a,b (ms)\nplain,0.25\n\"a \"\"b\"\", c\nd\",\n,\nn,18446744073709551615\n";
        assert_eq!(render(&table), expected);
    }
}
