//! `diff`: what differs between two captures of one program.
//!
//! Guarantees: stdout has the answer and nothing else. Databases are those of `sql`, made where there are none; with what was measured
//! they are made for this question only. Where a capture could be read only in part, that is said and the exit code is 1. Refuses
//! nothing of its own.

use crate::cli::DiffArgs;
use crate::exit::{Exit, Failure, columns, complain};
use crate::input;
use crate::output::{self, Output};
use analyses::report::escape;
use database::diff::{self, Side, report};
use database::query::Database;
use experiment::base::{self, kept};
use experiment::progress::step;
use gfxr_parse::container::Capture;
use profile::{ShaderHash, Sink, texts};
use std::path::{Path, PathBuf};

/// Runs the sub-command.
pub fn run(args: &DiffArgs) -> Result<Exit, Failure> {
    let folder = Temporary::new();
    let a = Opened::new(&args.a, &args.of_a, "a", args, &folder)?;
    let b = Opened::new(&args.b, &args.of_b, "b", args, &folder)?;
    step("comparing");
    let wanted = |frame: u64| args.frames.as_ref().is_none_or(|r| r.contains(frame));
    let found = diff::difference(&a.side(), &b.side(), &wanted, &spirv).map_err(Failure::new)?;
    let mut out = Output::create(args.output.as_deref())?;
    if args.json {
        out.write(output::json(&report::json(&found))?.as_bytes())?;
    } else {
        let within = columns().filter(|_| args.output.is_none());
        out.write(report::text(&found, args.limit, within).as_bytes())?;
    }
    out.finish()?;
    let complete = a.is_complete()? & b.is_complete()?;
    Ok(match (complete, args.exit_code && !found.is_equal()) {
        (false, _) => Exit::Failed,
        (true, true) => Exit::Diverged,
        (true, false) => Exit::Done,
    })
}

/// A capture and its database.
struct Opened {
    name: String,
    capture: Capture,
    db: Database,
}

impl Opened {
    fn new(
        path: &Path,
        measured: &[PathBuf],
        side: &str,
        args: &DiffArgs,
        folder: &Temporary,
    ) -> Result<Opened, Failure> {
        let made = if measured.is_empty() {
            kept::of(path, args.cache.as_deref(), args.reading.into())?.0
        } else {
            std::fs::create_dir_all(&folder.0)
                .map_err(|e| Failure::new(format_args!("{}: {e}", folder.0.display())))?;
            let to = folder.0.join(format!("{side}.sqlite"));
            base::make(path, measured, true, &to, args.reading.into())?;
            to
        };
        let capture = input::open(path, args.reading)?;
        let db = Database::open(&made).map_err(Failure::new)?;
        Ok(Opened { name: escape::line(&path.display().to_string()).into_owned(), capture, db })
    }

    fn side(&self) -> Side<'_> {
        Side { name: self.name.clone(), capture: &self.capture, db: &self.db }
    }

    /// All of it could be read; else why not is said.
    fn is_complete(&self) -> Result<bool, Failure> {
        let why = self.db.incomplete().map_err(Failure::new)?;
        if let Some(why) = &why {
            complain(format_args!("{}: {why}", self.name));
        }
        Ok(why.is_none())
    }
}

/// SPIR-V as text, without the places of instructions, which move with every change.
fn spirv(code: &[u8]) -> Option<String> {
    struct Lines(String);
    impl Sink for Lines {
        fn put(&mut self, table: &'static trace::Table, values: &[trace::Value<'_>]) {
            if let (true, [_, _, trace::Value::Text(line)]) =
                (table.name == trace::tables::SPIRV_TEXT.name, values)
            {
                self.0.push_str(line);
                self.0.push('\n');
            }
        }
    }
    let words: Vec<u32> =
        code.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    let mut lines = Lines(String::new());
    texts::write(ShaderHash::of(&words), &words, &mut lines).ok()?;
    Some(lines.0)
}

/// A folder for this question only.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Self {
        Temporary(std::env::temp_dir().join(format!("reray-replay-diff-{}", std::process::id())))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
