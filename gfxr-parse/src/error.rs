//! The crate's one error: where in the file, which block, which call and member, what was expected.
//!
//! One boxed word, so that `Result` stays small; every constructor is `#[cold]`. Context is added from the inside out
//! while the error travels: a member path by the decoder, block index and file offset by whoever holds the block.

use std::fmt;

/// `Result` of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of thing went wrong; decides whether reading can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The operating system refused (open, map, write).
    Io,
    /// A file that the capture names is not there; nothing is wrong with the capture's own blocks.
    Missing,
    /// Not a capture, or one of a version this build does not know.
    NotACapture,
    /// Bytes are missing at the end.
    Truncated,
    /// Bytes are there but cannot be what the format says.
    Malformed,
    /// Larger than a bound in `limits.rs`.
    Limit,
    /// More than the memory that decoding may take (`container/budget.rs`); nothing is wrong with the bytes.
    Memory,
    /// Well formed as far as one can tell, but not known to this build (a call id, an sType).
    Unknown,
    /// Nothing wrong with the bytes: the caller asked for what is not there.
    Usage,
}

/// A path longer than this is cut.
const LONG_PATH: usize = 400;
/// How much of its start is kept.
const LONG_PATH_HEAD: usize = 120;
/// Stands for what was left out.
const ELLIPSIS: char = '…';

#[derive(Debug)]
struct Inner {
    kind: Kind,
    message: String,
    path: String,
    /// Where the path was cut: what stands before is still growing, what stands after stays.
    cut: Option<usize>,
    offset: Option<u64>,
    block: Option<u64>,
    file: Option<String>,
}

/// See the module's header.
pub struct Error(Box<Inner>);

impl Error {
    /// A new error without context.
    #[cold]
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            kind,
            message: message.into(),
            path: String::new(),
            cut: None,
            offset: None,
            block: None,
            file: None,
        }))
    }
    /// Bytes that contradict the format.
    #[cold]
    pub fn malformed(message: impl Into<String>) -> Self {
        Self::new(Kind::Malformed, message)
    }
    /// `want` more bytes were needed for `what`, `have` were left.
    #[cold]
    pub fn truncated(what: &str, want: u64, have: u64) -> Self {
        Self::new(Kind::Truncated, format!("{what}: expected {want} more bytes, found {have}"))
    }
    /// A bound of `limits.rs` was crossed.
    #[cold]
    pub fn limit(what: &str, value: u64, bound: u64) -> Self {
        Self::new(Kind::Limit, format!("{what} is {value}, the limit is {bound}"))
    }
    /// Something this build does not know.
    #[cold]
    pub fn unknown(message: impl Into<String>) -> Self {
        Self::new(Kind::Unknown, message)
    }
    /// Puts a member name (or `[index]`, or `<VkStruct>`) in front of the path. Of very long paths (a chain of
    /// hundreds of structs) both ends are kept.
    #[cold]
    pub fn within(mut self, segment: &str) -> Self {
        let Inner { path, cut, .. } = &mut *self.0;
        let joint = if path.is_empty() || path.starts_with(['[', '<', ELLIPSIS]) { "" } else { "." };
        let (head, tail) = path.split_at(cut.unwrap_or(path.len()));
        let mut head = format!("{segment}{joint}{head}");
        if cut.is_some() {
            head.truncate(head.floor_char_boundary(LONG_PATH_HEAD));
            *cut = Some(head.len());
            *path = head + tail;
        } else if head.len() > LONG_PATH {
            *cut = Some(0);
            *path = format!("{ELLIPSIS}{head}");
        } else {
            *path = head;
        }
        self
    }
    /// Sets the offset if none is set yet: the innermost place wins.
    #[cold]
    pub fn at_offset(mut self, offset: u64) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }
    /// Turns an offset relative to a block's parameters into one of the file.
    #[cold]
    pub fn rebase(mut self, base: u64) -> Self {
        if let Some(o) = &mut self.0.offset {
            *o += base;
        }
        self
    }
    /// Forgets the offset (it was one inside decompressed bytes, which have no place in the file) and keeps it as text.
    #[cold]
    pub fn in_decompressed(mut self) -> Self {
        if let Some(o) = self.0.offset.take() {
            self.0.message = format!("{} (at byte {o} of the decompressed parameters)", self.0.message);
        }
        self
    }
    /// Sets the block's index.
    #[cold]
    pub fn in_block(mut self, index: u64) -> Self {
        self.0.block.get_or_insert(index);
        self
    }
    /// Sets the file's name.
    #[cold]
    pub fn in_file(mut self, name: impl Into<String>) -> Self {
        self.0.file.get_or_insert_with(|| name.into());
        self
    }
    /// What kind it is.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }
    /// The message alone.
    pub fn message(&self) -> &str {
        &self.0.message
    }
    /// The member path, `vkCreateDevice.pCreateInfo.pNext<…>`; empty outside a call.
    pub fn path(&self) -> &str {
        &self.0.path
    }
    /// The file's name, if somebody set it.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }
    /// File offset, if known.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }
    /// Block index, if known.
    pub fn block(&self) -> Option<u64> {
        self.0.block
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let e = &*self.0;
        if let Some(file) = &e.file {
            write!(f, "{file}: ")?;
        }
        match (e.block, e.offset) {
            (Some(b), Some(o)) => write!(f, "block {b}, offset {o:#x}: ")?,
            (Some(b), None) => write!(f, "block {b}: ")?,
            (None, Some(o)) => write!(f, "offset {o:#x}: ")?,
            (None, None) => {}
        }
        if !e.path.is_empty() {
            write!(f, "{}: ", e.path)?;
        }
        f.write_str(&e.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
