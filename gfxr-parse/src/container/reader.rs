//! A capture at hand: the bytes of its file, and the sibling files it names.
//!
//! Files are opened here (`file.rs`), and their bytes got by what the caller gives: mapping memory needs `unsafe`, which is
//! not here.
//!
//! Guarantees: bytes are never copied; sibling files are opened once, when first met. Refuses files that are no captures
//! ([`FileHeader::read`]), and what `file.rs` does not open.

use super::source::{Bytes, Source};
use std::fs::File;
use std::io;
use std::path::Path;

use crate::container::assets::Readable;
use crate::container::file::{open_file, open_sibling};
use crate::container::{AllBlocks, Assets, Blocks, Budget, FileHeader};
use crate::error::{Error, Kind, Result};

/// See the module's header.
#[derive(Debug)]
pub struct Capture {
    source: Source,
    header: FileHeader,
    assets: Assets,
    budget: Budget,
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
        Ok(Capture { source, header, assets: Assets::new(open), budget: Budget::default() })
    }
    /// One in the file system: `bytes` (a memory map, or [`super::read_file`]) gets the bytes of it and of the files
    /// beside it.
    pub fn open(
        path: &Path,
        bytes: impl Fn(File) -> io::Result<Bytes> + Send + Sync + 'static,
    ) -> Result<Self> {
        let main = open_file(path)
            .and_then(&bytes)
            .map_err(|e| Error::new(Kind::Io, e.to_string()).in_file(path.display().to_string()))?;
        Self::at(path, main, bytes)
    }
    /// One at `path` that is open already: its bytes are `main`.
    pub fn at(
        path: &Path,
        main: Bytes,
        bytes: impl Fn(File) -> io::Result<Bytes> + Send + Sync + 'static,
    ) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Self::with_assets(Source::shared(&path.display().to_string(), main), move |asset| {
            bytes(open_sibling(&folder.join(asset))?)
        })
    }
    /// The same, with this memory for what is decoded from it instead of [`Budget::default`].
    pub fn within(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }
    /// The memory that what is decoded from it may take.
    pub fn budget(&self) -> Budget {
        self.budget
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
    /// The blocks of the main file alone: what the file is made of. What happens in the capture is [`Self::blocks`].
    pub fn blocks_of_main_file(&self) -> Blocks<'_> {
        let start = self.header.size();
        Blocks::new(&self.bytes()[start..], start as u64, self.header.compression()).within(self.budget)
    }
    /// All blocks in the order they run: at an "execute blocks from file" block those of the sibling file follow. An
    /// error is a sibling that cannot be read, or not to its end; the blocks after it follow all the same.
    pub fn all_blocks(&self) -> AllBlocks<'_> {
        AllBlocks::new(self.blocks_of_main_file(), &self.assets, self.header.compression(), self.budget)
    }
    /// The same, of siblings as much as can be read: for those who look ahead, and leave the errors to who follows.
    pub fn blocks(&self) -> Readable<'_> {
        self.all_blocks().readable()
    }
}

/// Puts the file's name on an error, if it has one.
fn named(error: Error, name: &str) -> Error {
    if name.is_empty() { error } else { error.in_file(name) }
}
