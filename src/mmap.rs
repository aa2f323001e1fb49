//! Opening files as memory maps: the one place outside `replay` with `unsafe`.
//!
//! Guarantees: what cannot be mapped (pipes, `/dev/stdin`) is read into memory instead. Refuses nothing the operating
//! system does not.

use gfxr_parse::container::Bytes;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// The bytes of a file.
pub fn open(path: &Path) -> io::Result<Bytes> {
    let mut file = File::open(path)?;
    let meta = file.metadata()?;
    if meta.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    if meta.is_file() {
        // SAFETY: the map is only ever read, as bytes, of which every value is valid. Should another process write to
        // the file meanwhile, those bytes change under us: every length read from them is checked against the map's
        // own, and nothing checked is read twice. Should it be cut short, the kernel ends this process (SIGBUS), which
        // is the price of not copying captures of many gigabytes.
        #[allow(unsafe_code)]
        let map = unsafe { memmap2::Mmap::map(&file) }?;
        return Ok(Arc::new(map));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Arc::new(bytes))
}
