//! Opening files as memory maps: the one place outside `replay` with `unsafe`.
//!
//! Guarantees: opening never waits. Refuses what is no regular file (`gfxr_parse::container::file`), and what the operating
//! system refuses.

use gfxr_parse::container::{Bytes, open_file};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A mapped file.
pub struct Map(memmap2::Mmap);

impl AsRef<[u8]> for Map {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Map {
    /// Gives the memory of the first `bytes` bytes back to the system: whoever goes through a capture once does not keep
    /// all of it in memory. Reading them again reads the file again.
    #[cfg(unix)]
    pub fn release(&self, bytes: usize) {
        let bytes = bytes.min(self.0.len());
        // SAFETY: the map is private, read-only and backed by the file, so dropped pages come back with the same bytes
        // (or, should the file have changed, with others, as for any page that was never read; see `open`).
        #[allow(unsafe_code)]
        let r = unsafe { self.0.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, 0, bytes) };
        // Advice may be refused; then memory stays.
        let _ = r;
    }

    /// Windows takes pages of files back by itself.
    #[cfg(windows)]
    pub fn release(&self, _: usize) {}
}

/// The bytes of an open file, as a map.
pub fn map(file: File) -> io::Result<Arc<Map>> {
    // SAFETY: the map is only ever read, as bytes, of which every value is valid. Should another process write to
    // the file meanwhile, those bytes change under us: every length read from them is checked against the map's
    // own, and nothing checked is read twice. Should it be cut short, the kernel ends this process (SIGBUS), which
    // is the price of not copying captures of many gigabytes.
    #[allow(unsafe_code)]
    let map = unsafe { memmap2::Mmap::map(&file) }?;
    Ok(Arc::new(Map(map)))
}

/// The bytes of an open file.
pub fn bytes(file: File) -> io::Result<Bytes> {
    Ok(map(file)?)
}

/// The bytes of a file.
pub fn open(path: &Path) -> io::Result<Bytes> {
    bytes(open_file(path)?)
}

/// The bytes of a file in a folder of somebody's, of which only plain files are read.
pub fn open_plain(path: &Path) -> io::Result<Bytes> {
    trace::dir::plain(path)?;
    open(path)
}
