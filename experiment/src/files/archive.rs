//! Results as one file: a `.tar.gz` of a folder, read into memory.
//!
//! Guarantees: names are seen as from the folder that holds the file that says what it is (`run.json`, `suite.json`), whether the
//! archive has that folder in it or only what is in it; what is written is the same bytes for the same files. Refuses absolute names
//! and those that lead out of the archive or the folder, links, devices, two files of one name, and what is more than [`Bounds`] say.

use crate::failure::Failure;
use crate::files::mmap;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use trace::Unreadable;
use trace::dir::{Bytes, Dir};
use trace::run::Run;

/// How much an archive may hold.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Bytes, unpacked.
    pub bytes: u64,
    /// Files.
    pub files: usize,
}

/// What is read.
pub const BOUNDS: Bounds = Bounds { bytes: 4 << 30, files: 1_000_000 };

/// Files by name.
type Files = BTreeMap<PathBuf, Bytes>;

/// A folder, or what was one.
#[derive(Clone)]
pub struct Place {
    path: PathBuf,
    files: Option<Arc<Files>>,
}

/// Whether a name is an archive's.
pub fn is_archive(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.ends_with(".tar.gz") || name.ends_with(".tgz")
}

impl Place {
    /// A folder, or an archive of a folder that holds one of these files.
    pub fn open(path: &Path, marks: &[&str]) -> Result<Place, Failure> {
        let fail = |e: &dyn std::fmt::Display| Failure::new(format_args!("{}: {e}", path.display()));
        let meta = fs::metadata(path).map_err(|e| fail(&e))?;
        if meta.is_dir() {
            return Ok(Place { path: path.to_owned(), files: None });
        }
        if !is_archive(path) {
            return Err(fail(&"neither a folder nor a .tar.gz file"));
        }
        let bytes = mmap::open(path).map_err(|e| fail(&e))?;
        let files = unpacked((*bytes).as_ref(), BOUNDS).map_err(|e| fail(&e))?;
        let files = inner(files, marks)
            .ok_or_else(|| fail(&format_args!("there is no {} in it", marks.join(" or "))))?;
        Ok(Place { path: path.to_owned(), files: Some(Arc::new(files)) })
    }

    /// Its name, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it has this file.
    pub fn has(&self, name: &Path) -> bool {
        match &self.files {
            Some(files) => files.contains_key(name),
            None => self.path.join(name).is_file(),
        }
    }

    /// A file.
    pub fn read(&self, name: &Path) -> Result<Bytes, Failure> {
        opener(self)(&self.path.join(name))
            .map_err(|e| Failure::new(format_args!("{}: {e}", self.path.join(name).display())))
    }

    /// The run in a folder of it; the empty name is its own.
    pub fn run(&self, folder: &Path) -> Result<Run, Unreadable> {
        let at = if folder.as_os_str().is_empty() { self.path.clone() } else { self.path.join(folder) };
        Run::open_with(&at, opener(self))
    }

    /// The trace in a folder of it; the empty name is its own.
    pub fn trace(&self, folder: &Path) -> Result<Dir, Unreadable> {
        let at = if folder.as_os_str().is_empty() { self.path.clone() } else { self.path.join(folder) };
        Dir::open_with(&at, opener(self))
    }

    /// All files below a folder of it, by name, in order.
    pub fn below(&self, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
        let mut all = vec![];
        match &self.files {
            Some(files) => all.extend(files.keys().filter(|n| n.starts_with(folder)).cloned()),
            None => walk(&self.path, folder, &mut all)?,
        }
        all.sort();
        Ok(all)
    }
}

/// Opens files of a place by their whole names.
fn opener(place: &Place) -> impl Fn(&Path) -> io::Result<Bytes> + Send + Sync + 'static {
    let (root, files) = (place.path.clone(), place.files.clone());
    move |path: &Path| match &files {
        None => mmap::open_plain(path),
        Some(files) => {
            let file = path.strip_prefix(&root).ok().and_then(|n| files.get(n));
            file.cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
        }
    }
}

fn walk(root: &Path, folder: &Path, all: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let whole = root.join(folder);
    let fail = |e: io::Error| Failure::new(format_args!("{}: {e}", whole.display()));
    // (a link in its place would lead out of it)
    if !fs::symlink_metadata(&whole).map_err(fail)?.is_dir() {
        return Err(Failure::new(format_args!("{}: no folder", whole.display())));
    }
    for entry in fs::read_dir(&whole).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let (name, kind) = (folder.join(entry.file_name()), entry.file_type().map_err(fail)?);
        match (kind.is_dir(), kind.is_file()) {
            (true, _) => walk(root, &name, all)?,
            (_, true) => all.push(name),
            _ => return Err(Failure::new(format_args!("{}: no plain file", root.join(&name).display()))),
        }
    }
    Ok(())
}

/// What an archive holds.
fn unpacked(bytes: &[u8], bounds: Bounds) -> Result<Files, String> {
    // (what tar adds to files is small; a stream that never ends is not read to its end)
    let most = bounds.bytes.saturating_add(bounds.files as u64 * 2048);
    let mut archive = tar::Archive::new(GzDecoder::new(bytes).take(most));
    let wrong = |e: io::Error| format!("{e}; it is to be a .tar.gz file");
    let (mut files, mut left) = (Files::new(), bounds.bytes);
    for entry in archive.entries().map_err(wrong)? {
        let mut entry = entry.map_err(wrong)?;
        let named = entry.path().map_err(wrong)?.into_owned();
        let mut name = PathBuf::new();
        for part in named.components() {
            match part {
                Component::Normal(part) => name.push(part),
                Component::CurDir => {}
                _ => return Err(format!("{} in it leads out of it", named.display())),
            }
        }
        let kind = entry.header().entry_type();
        if kind.is_dir() || kind.is_pax_global_extensions() {
            continue;
        }
        if !kind.is_file() {
            return Err(format!("{} in it is no plain file", named.display()));
        }
        let size = entry.size();
        if size > left || files.len() >= bounds.files {
            return Err(format!("it holds more than {} bytes or {} files", bounds.bytes, bounds.files));
        }
        left -= size;
        let mut content = vec![];
        entry.read_to_end(&mut content).map_err(wrong)?;
        if content.len() as u64 != size {
            return Err(format!("{} in it is cut short", named.display()));
        }
        if files.insert(name, Arc::new(content)).is_some() {
            return Err(format!("{} is in it twice", named.display()));
        }
    }
    // (what was cut off behind the last file shows in the sum at the end)
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(wrong)?;
    Ok(files)
}

/// The files of the outermost folder with one of these in it.
fn inner(files: Files, marks: &[&str]) -> Option<Files> {
    let marked = |n: &&PathBuf| n.file_name().is_some_and(|f| marks.iter().any(|m| f == *m));
    let root = files.keys().filter(marked).min_by_key(|n| n.components().count())?.parent()?.to_owned();
    let seen = |(name, bytes): (PathBuf, Bytes)| Some((name.strip_prefix(&root).ok()?.to_owned(), bytes));
    Some(files.into_iter().filter_map(seen).collect())
}

/// Writes an archive, file by file, in the order in which they come.
pub struct Writer<W: Write>(tar::Builder<GzEncoder<W>>);

impl<W: Write> Writer<W> {
    /// An empty one.
    pub fn new(to: W) -> Self {
        // (no time and no name in its header: the same files are the same bytes)
        Writer(tar::Builder::new(flate2::GzBuilder::new().write(to, flate2::Compression::default())))
    }

    /// One more file.
    pub fn file(&mut self, name: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(0);
        header.set_cksum();
        self.0.append_data(&mut header, name, bytes)
    }

    /// All are in it.
    pub fn finish(self) -> io::Result<W> {
        self.0.into_inner()?.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut w = Writer::new(vec![]);
        for (name, bytes) in files {
            w.file(Path::new(name), bytes).expect("memory");
        }
        w.finish().expect("memory")
    }

    /// One whose header says what it likes.
    fn odd(name: &[u8], kind: tar::EntryType) -> Vec<u8> {
        let mut header = tar::Header::new_gnu();
        header.as_gnu_mut().expect("it is one").name[..name.len()].copy_from_slice(name);
        header.set_entry_type(kind);
        header.set_size(0);
        header.set_cksum();
        let mut b = tar::Builder::new(GzEncoder::new(vec![], flate2::Compression::fast()));
        b.append(&header, &[][..]).expect("memory");
        b.into_inner().expect("memory").finish().expect("memory")
    }

    #[test]
    fn what_was_written_comes_back_wherever_it_was_packed() {
        let files: &[(&str, &[u8])] = &[("suite.json", b"{}"), ("units/a/run.json", b"run")];
        assert_eq!(packed(files), packed(files));
        let deeper: Vec<(String, &[u8])> = files.iter().map(|(n, b)| (format!("./x/y/{n}"), *b)).collect();
        let deeper: Vec<(&str, &[u8])> = deeper.iter().map(|(n, b)| (n.as_str(), *b)).collect();
        for bytes in [packed(files), packed(&deeper)] {
            let all =
                inner(unpacked(&bytes, BOUNDS).expect("an archive"), &["suite.json"]).expect("it is there");
            let all: Vec<(&str, &[u8])> =
                all.iter().map(|(n, b)| (n.to_str().expect("plain"), (**b).as_ref())).collect();
            assert_eq!(all, files);
        }
        assert!(inner(unpacked(&packed(files), BOUNDS).expect("an archive"), &["other.json"]).is_none());
    }

    #[test]
    fn what_leads_out_or_is_too_much_is_refused() {
        let of = |bytes: &[u8], bounds| unpacked(bytes, bounds).err().expect("refused");
        let file = tar::EntryType::Regular;
        assert!(of(&odd(b"../a", file), BOUNDS).contains("leads out"));
        assert!(of(&odd(b"/etc/a", file), BOUNDS).contains("leads out"));
        assert!(of(&odd(b"a", tar::EntryType::Symlink), BOUNDS).contains("no plain file"));
        let two = packed(&[("a", b"12345"), ("b", b"12345")]);
        assert!(unpacked(&two, Bounds { bytes: 10, files: 2 }).is_ok());
        assert!(of(&two, Bounds { bytes: 9, files: 2 }).contains("more than 9 bytes"));
        assert!(of(&two, Bounds { bytes: 10, files: 1 }).contains("1 files"));
        assert!(of(&packed(&[("a", b"1"), ("./a", b"2")]), BOUNDS).contains("twice"));
        for end in [0, 5, 20, two.len() - 9, two.len() / 2] {
            assert!(unpacked(&two[..end], BOUNDS).is_err(), "{end}");
        }
        assert!(unpacked(b"no archive at all", BOUNDS).is_err());
        assert!(
            is_archive(Path::new("a/b.TAR.GZ"))
                && is_archive(Path::new("b.tgz"))
                && !is_archive(Path::new("b.gz"))
        );
    }
}
