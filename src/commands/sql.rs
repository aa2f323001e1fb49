//! `sql`: a question to a capture's database, which is made where there is none yet.
//!
//! Where databases are kept, `experiment::base::kept` says. Guarantees: the question changes nothing. Refuses what SQLite does not understand, in its words, with exit
//! code 2.

use crate::cli::{SqlArgs, SqlFormat};
use crate::exit::{Exit, Failure, complain};
use crate::input;
use crate::output::Output;
use analyses::report::escape;
use database::query::{Answer, Database, Take};
use experiment::base::kept;
use std::io::{self, Read};

/// Longest question that is read from stdin, in bytes.
const LONGEST: u64 = 1 << 20;

/// Runs the sub-command.
pub fn run(args: &SqlArgs) -> Result<Exit, Failure> {
    let question = match args.query.as_deref() {
        Some("-") => {
            let mut text = String::new();
            let read = io::stdin().take(LONGEST).read_to_string(&mut text);
            read.map_err(|e| Failure::new(format_args!("stdin: {e}")))?;
            text
        }
        of => of.unwrap_or_default().to_owned(),
    };
    let (path, now) = kept::of(&args.file, args.cache.as_deref(), args.reading.into())?;
    let db = Database::open(&path).map_err(Failure::new)?;
    let mut out = Output::create(args.output.as_deref())?;
    if args.schema {
        out.write(db.schema().map_err(Failure::new)?.as_bytes())?;
    } else {
        let mut table =
            Printed { format: args.format, out: &mut out, names: vec![], rows: vec![], failed: None };
        let asked = db.ask(&question, &mut table);
        asked.map_err(|e| {
            let hint = "--schema prints which tables and columns there are";
            Failure::usage(format_args!("{e}; {hint}"))
        })?;
        table.finish()?;
    }
    out.finish()?;
    // (what was just read has been said)
    if let Some(why) = db.cut_off().map_err(Failure::new)?.filter(|_| !now) {
        input::warn_of_the_end(&args.file.display().to_string(), &why);
    }
    match db.incomplete().map_err(Failure::new)? {
        Some(why) => {
            complain(format_args!("{}: {why}", args.file.display()));
            Ok(Exit::Failed)
        }
        None => Ok(Exit::Done),
    }
}

/// An answer on its way out.
struct Printed<'o> {
    format: SqlFormat,
    out: &'o mut Output,
    names: Vec<String>,
    /// Of text, whose widths are known at the end.
    rows: Vec<Vec<(String, bool)>>,
    failed: Option<Failure>,
}

impl Take for Printed<'_> {
    fn columns(&mut self, names: &[String]) {
        self.names = names.to_vec();
        match self.format {
            SqlFormat::Csv => self.line(names.iter().map(|n| csv(n)).collect::<Vec<_>>().join(",") + "\n"),
            SqlFormat::Json => self.line("[".into()),
            SqlFormat::Text => {}
        }
    }

    fn row(&mut self, values: &[Answer<'_>]) -> bool {
        match self.format {
            SqlFormat::Csv => {
                let cells: Vec<String> = values.iter().map(|v| csv(&plain(v))).collect();
                self.line(cells.join(",") + "\n");
            }
            SqlFormat::Json => {
                let first = if self.rows.is_empty() { "\n" } else { ",\n" };
                let members = self.names.iter().zip(values);
                let members: Vec<String> =
                    members.map(|(n, v)| format!("{}:{}", quoted(n), json(v))).collect();
                self.line(format!("{first}{{{}}}", members.join(",")));
                if self.rows.is_empty() {
                    self.rows.push(vec![]);
                }
            }
            SqlFormat::Text => {
                let number = |v: &Answer<'_>| matches!(v, Answer::Integer(_) | Answer::Real(_));
                let cell = |v| (escape::line(&plain(v)).into_owned(), number(v));
                self.rows.push(values.iter().map(cell).collect());
            }
        }
        self.failed.is_none() && !self.out.unread()
    }
}

impl Printed<'_> {
    fn line(&mut self, text: String) {
        if let Err(e) = self.out.write(text.as_bytes()) {
            self.failed.get_or_insert(e);
        }
    }

    fn finish(mut self) -> Result<(), Failure> {
        match self.format {
            SqlFormat::Csv => {}
            SqlFormat::Json => self.line("\n]\n".into()),
            SqlFormat::Text => {
                let text = aligned(&self.names, &self.rows);
                self.line(text);
            }
        }
        self.failed.map_or(Ok(()), Err)
    }
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
