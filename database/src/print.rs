//! An answer as text in columns, as CSV (RFC 4180) or as JSON, an object a row.
//!
//! Guarantees: rows of CSV and JSON go out as they come; text waits for the last, as all of them say how wide a column is. Bytes are hexadecimal; what is nothing is empty, in
//! JSON null. Refuses nothing: who takes the text says whether there should be more.

use crate::query::{Answer, Take};
use analyses::report::escape;
use analyses::report::text::{aligned, said_of_cuts};

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
    /// How many columns text has.
    within: Option<usize>,
    write: W,
    names: Vec<String>,
    /// Of text, whose widths are known at the end: cells, and whether each is a number.
    rows: Vec<Vec<(String, bool)>>,
    first: bool,
}

impl<W: FnMut(&str) -> bool> Printed<W> {
    /// Nothing yet; text in so many columns.
    pub fn new(format: Format, within: Option<usize>, write: W) -> Self {
        Printed { format, within, write, names: vec![], rows: vec![], first: true }
    }

    /// The answer has ended.
    pub fn finish(mut self) {
        match self.format {
            Format::Csv => {}
            Format::Json => drop((self.write)("\n]\n")),
            Format::Text => {
                let numbers: Vec<bool> = (0..self.names.len())
                    .map(|i| {
                        let mut cells = self.rows.iter().map(|r| &r[i]);
                        cells.clone().any(|c| c.1) && cells.all(|c| c.1 || c.0.is_empty())
                    })
                    .collect();
                let rows = self.rows.into_iter().map(|r| r.into_iter().map(|c| c.0).collect());
                let lines: Vec<Vec<String>> = [self.names].into_iter().chain(rows).collect();
                let answer = aligned(&lines, 1, &numbers, self.within);
                let said = said_of_cuts(self.within, answer.cut);
                let between = if said.is_empty() { "" } else { "\n" };
                (self.write)(&format!("{}{between}{said}", answer.text));
            }
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
