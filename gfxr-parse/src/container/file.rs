//! Opening a capture and the files beside it.
//!
//! Guarantees: opening never waits (for a writer at the other end of a pipe, say), and what is opened is a regular file,
//! which has an end. A sibling is named by the capture, which may be a stranger's: no symbolic link is followed to it, so
//! that with a plain name (`assets.rs` sees to that) it lies in the capture's own folder. The capture itself may be a
//! link: whoever runs the program named it. Refuses pipes, sockets, devices and folders.

use std::fs::{File, FileType};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use crate::container::Bytes;

/// Opens a file that the user named.
pub fn open_file(path: &Path) -> io::Result<File> {
    open(path, true)
}

/// Opens a file that a capture named.
pub(crate) fn open_sibling(path: &Path) -> io::Result<File> {
    open(path, false)
}

fn open(path: &Path, follow: bool) -> io::Result<File> {
    let file = system::open(path, follow)?;
    match file.metadata()?.file_type() {
        k if k.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        k if k.is_file() => Ok(file),
        k if k.is_symlink() => Err(refuse("a symbolic link")),
        k => Err(refuse(system::what(k))),
    }
}

#[cfg(unix)]
mod system {
    use super::{File, FileType, Path, io, refuse};
    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;
    use std::os::unix::fs::FileTypeExt;

    pub(super) fn open(path: &Path, follow: bool) -> io::Result<File> {
        let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        flags.set(OFlags::NOFOLLOW, !follow);
        match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(fd) => Ok(File::from(fd)),
            Err(Errno::LOOP) if !follow => Err(refuse("a symbolic link")),
            // Nobody listens at a socket that is opened as a file.
            Err(Errno::NXIO) => Err(refuse("a socket or a device")),
            Err(e) => Err(e.into()),
        }
    }

    pub(super) fn what(kind: FileType) -> &'static str {
        match kind {
            k if k.is_fifo() => "a pipe",
            k if k.is_char_device() || k.is_block_device() => "a device",
            _ => "something else",
        }
    }
}

#[cfg(windows)]
mod system {
    use super::{File, FileType, Path, io};
    use std::os::windows::fs::OpenOptionsExt;

    /// Folders are opened, too, so that they can be told.
    const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
    /// A symbolic link is opened itself.
    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;

    pub(super) fn open(path: &Path, follow: bool) -> io::Result<File> {
        let link = if follow { 0 } else { FILE_FLAG_OPEN_REPARSE_POINT };
        std::fs::OpenOptions::new().read(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS | link).open(path)
    }

    pub(super) fn what(_: FileType) -> &'static str {
        "something else"
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
