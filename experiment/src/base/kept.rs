//! Databases that are kept for later questions, and made where there is none yet.
//!
//! They are kept beside their captures, or in the user's folder of caches. A name has a hash of all that the capture contains,
//! files beside it that it runs included, and of this program's version: so an answer is never one of an earlier capture or of
//! another program. Guarantees: databases of what the capture contained earlier are taken away. Refuses folders that cannot be written
//! to, before the capture is read.

use crate::failure::Failure;
use crate::files::folder::cache;
use crate::files::input;
use crate::files::memory::Memory;
use crate::say::note;
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

fn is_database(path: &Path) -> bool {
    let mut begin = [0; MAGIC.len()];
    // (what is no plain file may wait for a writer; opening a capture says so)
    let plain = path.is_file();
    plain && File::open(path).and_then(|mut f| f.read_exact(&mut begin)).is_ok() && begin == *MAGIC
}

/// The file itself where it is a database; else the capture's database, and whether it had to be made now. `only` is the folder where it is
/// kept, if somebody said so.
pub fn of(of: &Path, only: Option<&Path>, reading: Memory) -> Result<(PathBuf, bool), Failure> {
    if is_database(of) {
        return Ok((of.to_owned(), false));
    }
    let capture = input::open(of, reading)?;
    let name = capture_name(of)?;
    let key = key(&capture, of);
    let file = format!(".{name}.{key}.sqlite");
    let folders = folders(of, only);
    if let Some(there) = folders.iter().map(|f| f.join(&file)).find(|p| is_database(p)) {
        return Ok((there, false));
    }
    drop(capture);
    let mut failed = None;
    for folder in &folders {
        let path = folder.join(&file);
        match make(of, folder, &path, reading) {
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

fn make(capture: &Path, folder: &Path, path: &Path, reading: Memory) -> Result<(), Made> {
    let nowhere = |e: io::Error| Made::Nowhere(Failure::new(format_args!("{}: {e}", folder.display())));
    fs::create_dir_all(folder).map_err(nowhere)?;
    // (whether it can be written to is known before the capture is read)
    let trial = folder.join(format!(".reray-replay.{}.part", std::process::id()));
    File::create_new(&trial).and_then(|_| fs::remove_file(&trial)).map_err(nowhere)?;
    note(format_args!("making {}, which later questions use", path.display()));
    super::make(capture, &[], true, path, reading).map(|_| ()).map_err(Made::Failed)
}

/// Where a database may be kept, the first choice first.
fn folders(of: &Path, only: Option<&Path>) -> Vec<PathBuf> {
    if let Some(only) = only {
        return vec![only.to_owned()];
    }
    let beside = of.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::iter::once(beside.to_owned()).chain(cache()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

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
