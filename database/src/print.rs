//! An answer as text in columns, as CSV (RFC 4180) or as JSON, an object a row.
//!
//! Guarantees: rows of CSV and JSON go out as they come; text waits for the last, as all of them say how wide a column is. Bytes are hexadecimal; what is nothing is empty, in
//! JSON null. Refuses nothing: who takes the text says whether there should be more.

use crate::query::{Answer, Take};
use analyses::report::escape;

/// How an answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// In columns.
    Text,
    /// Comma-separated values.
    Csv,
    /// An array of objects.
    Json,
}

/// An answer on its way out; `W` takes text, and says whether more is wanted.
pub struct Printed<W: FnMut(&str) -> bool> {
    format: Format,
    write: W,
    names: Vec<String>,
    /// Of text, whose widths are known at the end: cells, and whether each is a number.
    rows: Vec<Vec<(String, bool)>>,
    first: bool,
}

impl<W: FnMut(&str) -> bool> Printed<W> {
    /// Nothing yet.
    pub fn new(format: Format, write: W) -> Self {
        Printed { format, write, names: vec![], rows: vec![], first: true }
    }

    /// The answer has ended.
    pub fn finish(mut self) {
        match self.format {
            Format::Csv => {}
            Format::Json => drop((self.write)("\n]\n")),
            Format::Text => drop((self.write)(&aligned(&self.names, &self.rows))),
        }
    }
}

impl<W: FnMut(&str) -> bool> Take for Printed<W> {
    fn columns(&mut self, names: &[String]) {
        self.names = names.to_vec();
        match self.format {
            Format::Csv => drop((self.write)(&line(names.iter().map(|n| csv(n))))),
            Format::Json => drop((self.write)("[")),
            Format::Text => {}
        }
    }

    fn row(&mut self, values: &[Answer<'_>]) -> bool {
        match self.format {
            Format::Csv => (self.write)(&line(values.iter().map(|v| csv(&plain(v))))),
            Format::Json => {
                let members = self.names.iter().zip(values);
                let members: Vec<String> =
                    members.map(|(n, v)| format!("{}:{}", quoted(n), json(v))).collect();
                let before = if std::mem::take(&mut self.first) { "\n" } else { ",\n" };
                (self.write)(&format!("{before}{{{}}}", members.join(",")))
            }
            Format::Text => {
                let number = |v: &Answer<'_>| matches!(v, Answer::Integer(_) | Answer::Real(_));
                let cell = |v| (escape::line(&plain(v)).into_owned(), number(v));
                self.rows.push(values.iter().map(cell).collect());
                true
            }
        }
    }
}

/// A line of CSV.
fn line(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(",") + "\n"
}

/// Columns below each other, numbers to the right.
fn aligned(names: &[String], rows: &[Vec<(String, bool)>]) -> String {
    let width = |text: &str| text.chars().count();
    let widest = |i: usize| rows.iter().map(|r| width(&r[i].0)).chain([width(&names[i])]).max();
    let widths: Vec<usize> = (0..names.len()).map(|i| widest(i).unwrap_or(0)).collect();
    let numbers: Vec<bool> = (0..names.len())
        .map(|i| rows.iter().any(|r| r[i].1) && rows.iter().all(|r| r[i].1 || r[i].0.is_empty()))
        .collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.enumerate().map(|(i, c)| {
            let pad = " ".repeat(widths[i] - width(c));
            if numbers[i] { pad + c } else { c.to_owned() + &pad }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let mut out = line(&mut names.iter().map(String::as_str));
    rows.iter().for_each(|r| out.push_str(&line(&mut r.iter().map(|c| c.0.as_str()))));
    out
}

fn plain(value: &Answer<'_>) -> String {
    match value {
        Answer::Null => String::new(),
        Answer::Integer(n) => n.to_string(),
        Answer::Real(n) => n.to_string(),
        Answer::Text(t) => (*t).to_owned(),
        Answer::Bytes(b) => b.iter().map(|b| format!("{b:02x}")).collect(),
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn json(value: &Answer<'_>) -> String {
    match value {
        Answer::Null => "null".into(),
        Answer::Integer(n) => n.to_string(),
        Answer::Real(n) => serde_json::Value::from(*n).to_string(),
        text => quoted(&plain(text)),
    }
}

fn csv(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_aligned_and_numbers_stand_to_the_right() {
        let cell = |t: &str, n| (t.to_owned(), n);
        let rows =
            [vec![cell("vkÄ", false), cell("7", true)], vec![cell("vkCmdDraw", false), cell("12", true)]];
        let text = aligned(&["name".into(), "calls".into()], &rows);
        assert_eq!(text, "name       calls\nvkÄ            7\nvkCmdDraw     12\n");
    }

    #[test]
    fn values_are_quoted_as_their_form_wants_it() {
        assert_eq!((csv("a,b"), csv("a\"b"), csv("a")), ("\"a,b\"".into(), "\"a\"\"b\"".into(), "a".into()));
        assert_eq!(json(&Answer::Text("a\"b\n")), "\"a\\\"b\\n\"");
        assert_eq!((json(&Answer::Real(f64::NAN)), json(&Answer::Null)), ("null".into(), "null".into()));
        assert_eq!(
            (json(&Answer::Bytes(&[1, 255])), plain(&Answer::Real(1.5))),
            ("\"01ff\"".into(), "1.5".into())
        );
    }
}
