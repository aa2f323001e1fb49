//! Where results go: stdout, or a file that is there whole or not at all.
//!
//! Guarantees: a file given with `-o` is written beside its final place and moved there at the end; on failure the
//! half-written one is removed and what was there before stays. What is no regular file (`/dev/null`, a pipe) is
//! written straight. What goes to stdout may go to a terminal, and is escaped (`analyses::report::escape`); a file gets the bytes as
//! they are. A reader that closes stdout, or a pipe, changes nothing of what the command does, its exit code least of all: what it
//! does not read is dropped, and a command that has nothing else to do asks [`Output::unread`]. Refuses nothing of its own.

use crate::failure::Failure;
use crate::say;
use analyses::report::escape;
use analyses::report::text::rewrapped;
use serde::Serialize;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// See the module's header. Unbuffered: callers write in large pieces.
pub struct Output {
    sink: Sink,
    name: String,
}

enum Sink {
    Stdout(io::Stdout),
    Direct(File),
    Replace {
        file: File,
        temporary: PathBuf,
        path: PathBuf,
    },
    /// Its reader has had enough.
    Unread,
    Done,
}

impl Output {
    /// The file at `path`, or stdout.
    pub fn create(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else {
            return Ok(Output { sink: Sink::Stdout(io::stdout()), name: "stdout".to_string() });
        };
        let name = path.display().to_string();
        let fail = |e: io::Error| Failure::new(format_args!("{name}: {e}{}", advice(&e)));
        let special = fs::metadata(path).is_ok_and(|m| !m.is_file());
        let sink = if special {
            Sink::Direct(File::options().write(true).open(path).map_err(fail)?)
        } else {
            let file_name =
                path.file_name().ok_or_else(|| Failure::usage(format_args!("{name}: not a file name")))?;
            let temporary =
                path.with_file_name(format!(".{}.{}.part", file_name.to_string_lossy(), std::process::id()));
            Sink::Replace {
                file: File::create(&temporary).map_err(fail)?,
                temporary,
                path: path.to_path_buf(),
            }
        };
        Ok(Output { sink, name })
    }

    /// Appends bytes; text in whole characters.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let result = match &mut self.sink {
            Sink::Stdout(out) => say::without_bars(|| out.lock().write_all(&escape::bytes(bytes))),
            Sink::Direct(file) | Sink::Replace { file, .. } => file.write_all(bytes),
            Sink::Unread | Sink::Done => Ok(()),
        };
        match result {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => {
                self.sink = Sink::Unread;
                Ok(())
            }
            result => result.map_err(|e| Failure::new(format_args!("{}: {e}", self.name))),
        }
    }

    /// Whether nobody reads what is written from here on.
    pub fn unread(&self) -> bool {
        matches!(self.sink, Sink::Unread)
    }

    /// All has been written: puts the file in its place.
    pub fn finish(mut self) -> Result<(), Failure> {
        let result = match std::mem::replace(&mut self.sink, Sink::Done) {
            Sink::Stdout(mut out) => match out.flush() {
                Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                flushed => flushed,
            },
            Sink::Replace { temporary, path, .. } => fs::rename(&temporary, path).inspect_err(|_| {
                let _ = fs::remove_file(&temporary);
            }),
            Sink::Direct(_) | Sink::Unread | Sink::Done => Ok(()),
        };
        result.map_err(|e| Failure::new(format_args!("{}: {e}", self.name)))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Sink::Replace { temporary, .. } = &self.sink {
            // Not finished: nobody is to find half a file.
            let _ = fs::remove_file(temporary);
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Output::write(self, bytes).map(|()| bytes.len()).map_err(|e| io::Error::other(e.to_string()))
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What to do about a file that cannot be written.
pub fn advice(e: &io::Error) -> &'static str {
    match e.kind() {
        io::ErrorKind::NotFound => "; make its folder first",
        io::ErrorKind::IsADirectory => "; name a file, not a folder",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; name a place that may be written to"
        }
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => "; that is a file: name a folder",
        io::ErrorKind::StorageFull => "; make room, or name another place",
        _ => "",
    }
}

/// Makes a folder, and those around it.
pub fn folder(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|e| Failure::new(format_args!("{}: {e}{}", path.display(), advice(&e))))
}

/// Writes all of it to stdout.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = Output::create(None)?;
    out.write(bytes)?;
    out.finish()
}

/// A value as JSON for people: indented, with a line end.
pub fn json(value: &impl Serialize) -> Result<String, Failure> {
    Ok(serde_json::to_string_pretty(value).map_err(Failure::new)? + "\n")
}

/// Writes lines to stdout, of sentences each, wrapped where a terminal shows them.
pub fn print_sentences(text: &str) -> Result<(), Failure> {
    print(rewrapped(text, say::columns()).as_bytes())
}

/// Writes a whole file at once, the same way.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut out = Output::create(Some(path))?;
    out.write(bytes)?;
    out.finish()
}
