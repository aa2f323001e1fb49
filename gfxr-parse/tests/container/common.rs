//! Helpers: bytes from hex, small files, the folder of real captures.

use std::path::PathBuf;

use gfxr_parse::container::{Block, Blocks, Capture, Compression, FileHeader};

/// Bytes from hex digits; blanks and `|` only group them.
pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '|')
        .map(|c| c.to_digit(16).expect("a hex digit"))
        .collect();
    assert!(digits.len().is_multiple_of(2), "an odd number of hex digits");
    digits.chunks(2).map(|d| (d[0] * 16 + d[1]) as u8).collect()
}

/// `text`, padded with zeros to `n` bytes.
pub fn pad(text: &str, n: usize) -> Vec<u8> {
    let mut out = text.as_bytes().to_vec();
    out.resize(n, 0);
    out
}

/// The only block in `bytes`, as if the file's method were LZ4 and the header 16 bytes.
pub fn only_block(bytes: &[u8]) -> Block<'_> {
    let mut blocks = Blocks::new(bytes, 16, Compression::Lz4);
    let block = blocks.next().expect("one block");
    assert!(blocks.next().is_none(), "more than one block");
    assert!(blocks.truncated().is_none(), "truncated: {:?}", blocks.truncated());
    block
}

/// A header of this version without options.
pub fn version(major: u32, minor: u32) -> FileHeader {
    FileHeader { major, minor, options: vec![] }
}

/// A capture of these bytes.
pub fn capture(bytes: Vec<u8>) -> Capture {
    Capture::new(bytes).expect("a capture")
}

/// The real captures, smallest first; none (with a note) if the folder is not here.
pub fn captures(test: &str) -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/captures");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("{test}: skipped, {} is not here", folder.display());
        return vec![];
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "gfxr"))
        .collect();
    files.sort_by_key(|p| std::fs::metadata(p).map_or(0, |m| m.len()));
    files
}
