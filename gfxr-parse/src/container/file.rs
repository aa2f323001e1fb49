//! Opening a capture and the files beside it.
//!
//! Guarantees: opening never waits (for a writer at the other end of a pipe, say), and what is opened is a regular file,
//! which has an end. A sibling is named by the capture, which may be a stranger's: no symbolic link is followed to it, so
//! that with a plain name (`assets.rs` sees to that) it lies in the capture's own folder. The capture itself may be a
//! link: whoever runs the program named it. Refuses pipes, sockets, devices and folders.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::container::Bytes;

/// Opens a file that the user named.
pub fn open_file(path: &Path) -> io::Result<File> {
    open(path, OFlags::empty())
}

/// Opens a file that a capture named.
pub(crate) fn open_sibling(path: &Path) -> io::Result<File> {
    open(path, OFlags::NOFOLLOW)
}

fn open(path: &Path, more: OFlags) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY | more;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(fd) => File::from(fd),
        Err(Errno::LOOP) if more.contains(OFlags::NOFOLLOW) => return Err(refuse("a symbolic link")),
        // Nobody listens at a socket that is opened as a file.
        Err(Errno::NXIO) => return Err(refuse("a socket or a device")),
        Err(e) => return Err(e.into()),
    };
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    match kind {
        k if k.is_file() => Ok(file),
        k if k.is_fifo() => Err(refuse("a pipe")),
        k if k.is_char_device() || k.is_block_device() => Err(refuse("a device")),
        _ => Err(refuse("something else")),
    }
}

fn refuse(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("expected a regular file, found {what}"))
}

/// Reads a whole file into memory: for those who have nothing better.
pub fn read_file(mut file: File) -> io::Result<Bytes> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Arc::new(bytes))
}
