//! A capture at hand: the bytes of its file, and the sibling files it names.
//!
//! This crate opens files only through what the caller gives it: mapping memory needs `unsafe`, which is not here.
//!
//! Guarantees: bytes are never copied; sibling files are opened once, when first met. Refuses files that are no captures
//! ([`FileHeader::read`]).

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::container::{AllBlocks, Assets, Blocks, FileHeader};
use crate::error::{Error, Kind, Result};

/// Bytes that live somewhere: a `Vec`, a memory map, a test's constant.
pub type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Reads a whole file into memory: an opener for those who have nothing better.
pub fn read_file(path: &Path) -> io::Result<Bytes> {
    Ok(Arc::new(std::fs::read(path)?))
}

/// A file's bytes and its name for messages.
#[derive(Clone)]
pub struct Source {
    name: Arc<str>,
    bytes: Bytes,
}

impl Source {
    /// Bytes under a name.
    pub fn new(name: &str, bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Self::shared(name, Arc::new(bytes))
    }
    /// Bytes somebody else holds, too.
    pub fn shared(name: &str, bytes: Bytes) -> Self {
        Source { name: name.into(), bytes }
    }
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }
    pub(crate) fn into_bytes(self) -> Bytes {
        self.bytes
    }
}

impl From<Vec<u8>> for Source {
    /// Without a name.
    fn from(bytes: Vec<u8>) -> Self {
        Source::new("", bytes)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({:?}, {} bytes)", self.name, self.bytes().len())
    }
}

/// See the module's header.
#[derive(Debug)]
pub struct Capture {
    source: Source,
    header: FileHeader,
    assets: Assets,
}

impl Capture {
    /// One that names no sibling files, or whose sibling files nobody needs.
    pub fn new(source: impl Into<Source>) -> Result<Self> {
        Self::with_assets(source, |name: &str| {
            Err(io::Error::new(io::ErrorKind::Unsupported, format!("nobody said where \"{name}\" is")))
        })
    }
    /// One whose sibling files `open` opens by the name the capture gives them.
    pub fn with_assets(
        source: impl Into<Source>,
        open: impl Fn(&str) -> io::Result<Bytes> + Send + Sync + 'static,
    ) -> Result<Self> {
        let source = source.into();
        let header = FileHeader::read(source.bytes()).map_err(|e| named(e, source.name()))?;
        Ok(Capture { source, header, assets: Assets::new(open) })
    }
    /// One in the file system: `open` (a memory map, or [`read_file`]) opens it and the files beside it.
    pub fn open(
        path: &Path,
        open: impl Fn(&Path) -> io::Result<Bytes> + Send + Sync + 'static,
    ) -> Result<Self> {
        let name = path.display().to_string();
        let bytes = open(path).map_err(|e| Error::new(Kind::Io, e.to_string()).in_file(&name))?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Self::with_assets(Source::shared(&name, bytes), move |asset| open(&folder.join(asset)))
    }
    /// Its file header.
    pub fn header(&self) -> &FileHeader {
        &self.header
    }
    /// Its name, as given.
    pub fn name(&self) -> &str {
        self.source.name()
    }
    /// The bytes of the main file.
    pub fn bytes(&self) -> &[u8] {
        self.source.bytes()
    }
    /// The name of file number `file` ([`crate::container::Block::file`]): 0 is the capture itself.
    pub fn file_name(&self, file: u32) -> &str {
        match file.checked_sub(1) {
            None => self.source.name(),
            Some(asset) => self.assets.name(asset).unwrap_or("?"),
        }
    }
    /// The blocks of the main file alone.
    pub fn blocks(&self) -> Blocks<'_> {
        let start = self.header.size();
        Blocks::new(&self.bytes()[start..], start as u64, self.header.compression())
    }
    /// All blocks in the order they run: at an "execute blocks from file" block those of the sibling file follow.
    pub fn all_blocks(&self) -> AllBlocks<'_> {
        AllBlocks::new(self.blocks(), &self.assets, self.header.compression())
    }
}

/// Puts the file's name on an error, if it has one.
fn named(error: Error, name: &str) -> Error {
    if name.is_empty() { error } else { error.in_file(name) }
}
