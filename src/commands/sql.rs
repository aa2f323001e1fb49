//! `sql`: a question to a capture's database, which is made where there is none yet.
//!
//! Databases are kept beside their captures, or in the user's folder of caches. A name has a hash of all that the capture contains,
//! files beside it that it runs included, and of this program's version: so an answer is never one of an earlier capture or of
//! another program. Guarantees: the question changes nothing. Refuses what SQLite does not understand, in its words, with exit
//! code 2.

use super::db;
use crate::cli::{MemoryArgs, SqlArgs, SqlFormat};
use crate::exit::{Exit, Failure, complain, note};
use crate::input;
use crate::output::Output;
use analyses::report::escape;
use database::query::{Answer, Database, Take};
use database::schema;
use gfxr_parse::container::Capture;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How a file of SQLite begins.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Digits of a hash in a name.
const DIGITS: usize = 16;
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
    let (path, now) = if is_database(&args.file) { (args.file.clone(), false) } else { cached(args)? };
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

fn is_database(path: &Path) -> bool {
    let mut begin = [0; MAGIC.len()];
    // (what is no plain file may wait for a writer; opening a capture says so)
    let plain = path.is_file();
    plain && File::open(path).and_then(|mut f| f.read_exact(&mut begin)).is_ok() && begin == *MAGIC
}

/// The capture's database, and whether it had to be made now.
pub(super) fn cached(args: &SqlArgs) -> Result<(PathBuf, bool), Failure> {
    let capture = input::open(&args.file, &args.reading)?;
    let name = capture_name(&args.file)?;
    let key = key(&capture, &args.file);
    let file = format!(".{name}.{key}.sqlite");
    let folders = folders(args);
    if let Some(there) = folders.iter().map(|f| f.join(&file)).find(|p| is_database(p)) {
        return Ok((there, false));
    }
    drop(capture);
    let mut failed = None;
    for folder in &folders {
        let path = folder.join(&file);
        match make(&args.file, folder, &path, &args.reading) {
            Ok(()) => {
                others(folder, &name, &file).for_each(|old| _ = fs::remove_file(old));
                return Ok((path, true));
            }
            Err(Made::Nowhere(e)) => failed = failed.or(Some(e)),
            Err(Made::Failed(e)) => return Err(e),
        }
    }
    Err(failed.unwrap_or_else(|| Failure::new("there is no folder for the database; name one with --cache")))
}

/// Why there is no database.
enum Made {
    /// The folder cannot be written to.
    Nowhere(Failure),
    Failed(Failure),
}

fn make(capture: &Path, folder: &Path, path: &Path, reading: &MemoryArgs) -> Result<(), Made> {
    let nowhere = |e: io::Error| Made::Nowhere(Failure::new(format_args!("{}: {e}", folder.display())));
    fs::create_dir_all(folder).map_err(nowhere)?;
    // (whether it can be written to is known before the capture is read)
    let trial = folder.join(format!(".reray-replay.{}.part", std::process::id()));
    File::create_new(&trial).and_then(|_| fs::remove_file(&trial)).map_err(nowhere)?;
    note(format_args!("making {}, which later questions use", path.display()));
    db::make(capture, &[], true, path, reading).map(|_| ()).map_err(Made::Failed)
}

/// Where a database may be kept, the first choice first.
fn folders(args: &SqlArgs) -> Vec<PathBuf> {
    if let Some(only) = &args.cache {
        return vec![only.clone()];
    }
    let beside = args.file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let named = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
    [Some(beside.to_owned()), base.map(|b| b.join("reray-replay"))].into_iter().flatten().collect()
}

fn capture_name(path: &Path) -> Result<String, Failure> {
    let name = path.file_name().ok_or_else(|| Failure::usage("name a capture"))?;
    Ok(name.to_string_lossy().into_owned())
}

/// What a database's name has of its capture and of the program that makes it.
fn key(capture: &Capture, path: &Path) -> String {
    let mut hash = blake3::Hasher::new();
    hash.update(format!("{} {}", schema::VERSION, env!("CARGO_PKG_VERSION")).as_bytes());
    hash.update(capture.bytes());
    // Files that it runs blocks of; those that are not there are known by that.
    let mut files = BTreeSet::new();
    for block in capture.all_blocks() {
        match block {
            Ok(block) if block.file == 0 => {}
            Ok(block) => _ = files.insert(capture.file_name(block.file).to_owned()),
            Err(e) => _ = hash.update(e.to_string().as_bytes()),
        }
    }
    for name in files {
        hash.update(name.as_bytes());
        if let Ok(bytes) = fs::read(path.with_file_name(&name)) {
            hash.update(&bytes);
        }
    }
    hash.finalize().to_hex()[..DIGITS].to_owned()
}

/// Databases of what the capture contained earlier.
fn others(folder: &Path, name: &str, now: &str) -> impl Iterator<Item = PathBuf> {
    let (begin, end, now) = (format!(".{name}."), ".sqlite", now.to_owned());
    fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).filter_map(move |e| {
        let file = e.file_name().into_string().ok()?;
        let hash = file.strip_prefix(&begin)?.strip_suffix(end)?;
        let is_ours = hash.len() == DIGITS && hash.bytes().all(|b| b.is_ascii_hexdigit());
        (is_ours && file != now).then(|| e.path())
    })
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

    #[test]
    fn only_databases_of_this_capture_are_old_ones() {
        let folder = std::env::temp_dir().join(format!("reray-sql-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let old = ".a.gfxr.0123456789abcdef.sqlite";
        for name in
            [old, ".a.gfxr.0000000000000000.sqlite", ".b.gfxr.0123456789abcdef.sqlite", ".a.gfxr.mine.sqlite"]
        {
            fs::write(folder.join(name), "").expect("a file");
        }
        let found: Vec<PathBuf> = others(&folder, "a.gfxr", ".a.gfxr.0000000000000000.sqlite").collect();
        assert_eq!(found, [folder.join(old)]);
        fs::remove_dir_all(&folder).expect("all of it");
    }
}
