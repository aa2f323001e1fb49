//! `sql`: a question to a capture's database, which is made where there is none yet.
//!
//! Where databases are kept, `experiment::base::kept` says. Guarantees: the question changes nothing. Refuses what SQLite does not understand, in its words, with exit
//! code 2.

use crate::cli::{SqlArgs, SqlFormat};
use crate::exit::{Exit, Failure, columns, complain};
use crate::input;
use crate::output::Output;
use database::print::{Format, Printed};
use database::query::Database;
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
    let within = columns().filter(|_| args.output.is_none());
    if args.schema {
        out.write(db.schema(within).map_err(Failure::new)?.as_bytes())?;
    } else {
        let format = match args.format {
            SqlFormat::Text => Format::Text,
            SqlFormat::Csv => Format::Csv,
            SqlFormat::Json => Format::Json,
        };
        let mut failed = None;
        let mut table = Printed::new(format, within, |text: &str| {
            if let Err(e) = out.write(text.as_bytes()) {
                failed.get_or_insert(e);
            }
            failed.is_none() && !out.unread()
        });
        let asked = db.ask(&question, &mut table);
        asked.map_err(|e| {
            let text = e.to_string();
            let hint = match text.contains("no such table") || text.contains("no such column") {
                true => "; --schema prints which tables and columns there are",
                false => "",
            };
            Failure::usage(format_args!("{text}{hint}"))
        })?;
        table.finish();
        failed.map_or(Ok(()), Err)?;
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
