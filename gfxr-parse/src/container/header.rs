//! The file header: `GFXR`, version, options.
//!
//! ```text
//! u32 'GFXR' | u32 major | u32 minor | u32 n | n x { u32 key, u32 value }
//! ```
//!
//! Guarantees: what was read is written back byte for byte, unknown options included. Refuses: other files, versions
//! newer than 0.1, compression methods this build cannot undo.

use nom::Parser;
use nom::bytes::complete::tag;
use nom::multi::count;
use nom::number::complete::le_u32;

use crate::container::Compression;
use crate::container::fields::Put;
use crate::error::{Error, Kind, Result};
use crate::limits::MAX_FILE_OPTIONS;

/// The four letters a capture begins with.
pub const FOURCC: [u8; 4] = *b"GFXR";
/// The newest version this build reads, and the one it writes.
pub const NEWEST: (u32, u32) = (0, 1);
/// Option key: the value is a [`Compression`].
pub const OPTION_COMPRESSION: u32 = 1;
/// Bytes before the options.
const FIXED_BYTES: usize = 16;

/// See the module's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileHeader {
    /// Always 0 so far.
    pub major: u32,
    /// 1 since October 2025: frame ends are marked by blocks of their own.
    pub minor: u32,
    /// (key, value) as written, in order.
    pub options: Vec<(u32, u32)>,
}

impl FileHeader {
    /// The header of a new file.
    pub fn new(compression: Compression) -> Self {
        FileHeader {
            major: NEWEST.0,
            minor: NEWEST.1,
            options: vec![(OPTION_COMPRESSION, compression.value())],
        }
    }
    /// Reads it from the head of a file.
    pub fn read(file: &[u8]) -> Result<Self> {
        let fourcc: Result<(&[u8], &[u8]), nom::Err<()>> = tag(FOURCC.as_slice())(file);
        let Ok((rest, _)) = fourcc else { return Err(not_a_capture(file)) };
        let fixed: Result<_, nom::Err<()>> = (le_u32, le_u32, le_u32).parse_complete(rest);
        let Ok((rest, (major, minor, n))) = fixed else {
            return Err(short_header("file header", FIXED_BYTES as u64, file));
        };
        if (major, minor) > NEWEST {
            return Err(newer(major, minor));
        }
        if n > MAX_FILE_OPTIONS {
            return Err(
                Error::limit("number of file options", n.into(), MAX_FILE_OPTIONS.into()).at_offset(12)
            );
        }
        let options: Result<_, nom::Err<()>> = count((le_u32, le_u32), n as usize).parse_complete(rest);
        let Ok((_, options)) = options else {
            return Err(short_header(
                "file header with its options",
                (FIXED_BYTES + 8 * n as usize) as u64,
                file,
            ));
        };
        let header = FileHeader { major, minor, options };
        if let Some((place, value)) = header.compression_option()
            && Compression::from_value(value).is_none()
        {
            let offset = (FIXED_BYTES + 8 * place + 4) as u64;
            return Err(Error::unknown(format!(
                "compression method {value} is not known to this build (0 none, 1 LZ4, 2 zlib, 3 zstd)"
            ))
            .at_offset(offset));
        }
        Ok(header)
    }
    /// Where the compression option is, and its value; the last one counts.
    fn compression_option(&self) -> Option<(usize, u32)> {
        self.options.iter().enumerate().rfind(|(_, o)| o.0 == OPTION_COMPRESSION).map(|(i, o)| (i, o.1))
    }
    /// What compressed blocks are compressed with; none if the header does not say.
    pub fn compression(&self) -> Compression {
        self.compression_option().and_then(|(_, v)| Compression::from_value(v)).unwrap_or(Compression::None)
    }
    /// Changes the compression option; adds it only if there is something to say.
    pub fn set_compression(&mut self, compression: Compression) {
        match self.compression_option() {
            Some((i, _)) => self.options[i].1 = compression.value(),
            None if compression != Compression::None => {
                self.options.push((OPTION_COMPRESSION, compression.value()));
            }
            None => {}
        }
    }
    /// The version alone says that frame ends are marked by blocks of their own.
    pub fn explicit_frames(&self) -> bool {
        (self.major, self.minor) >= (0, 1)
    }
    /// Its size in bytes: where the first block begins.
    pub fn size(&self) -> usize {
        FIXED_BYTES + 8 * self.options.len()
    }
    /// What is odd about it, one line each; none of it keeps the file from being read.
    pub fn warnings(&self) -> Vec<String> {
        let unknown = self.options.iter().filter(|o| o.0 != OPTION_COMPRESSION);
        unknown
            .map(|(key, value)| format!("file option {key} (value {value}) is not known to this build"))
            .collect()
    }
    /// Writes it back.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.put(&FOURCC);
        out.put_u32(self.major);
        out.put_u32(self.minor);
        out.put_u32(self.options.len() as u32);
        for (key, value) in &self.options {
            out.put_u32(*key);
            out.put_u32(*value);
        }
    }
}

#[cold]
fn not_a_capture(file: &[u8]) -> Error {
    let head = &file[..file.len().min(4)];
    let found = if head.is_empty() { "nothing".to_string() } else { format!("\"{}\"", head.escape_ascii()) };
    Error::new(
        Kind::NotACapture,
        format!("not a GFXReconstruct capture: expected \"GFXR\" at the start, found {found}"),
    )
}

#[cold]
fn newer(major: u32, minor: u32) -> Error {
    let message = format!(
        "format version {major}.{minor} is newer than {}.{}, the newest this build reads",
        NEWEST.0, NEWEST.1
    );
    Error::new(Kind::NotACapture, message).at_offset(4)
}

#[cold]
fn short_header(what: &str, want: u64, file: &[u8]) -> Error {
    let message = format!("{what}: expected {want} bytes, the file has {}", file.len());
    Error::new(Kind::Truncated, message).at_offset(file.len() as u64)
}
