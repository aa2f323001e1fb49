//! Comments between the lines of a text.
//!
//! Guarantees: the lines themselves stay as they are, in their order.

use super::Blocks;
use std::fmt::Write;
use std::sync::Arc;

/// SPIR-V text: lines and their word offsets.
pub(super) struct Assembly<'a>(pub(super) &'a [(u64, Arc<str>)]);

impl Assembly<'_> {
    /// With a comment over each block's label.
    pub(super) fn annotated(&self, blocks: &Blocks) -> String {
        let mut out = String::new();
        for (offset, line) in self.0 {
            if let Some(done) = blocks.get(offset) {
                let _ = writeln!(out, "            ; /* {} */", done.words());
            }
            let _ = writeln!(out, "{line}");
        }
        out
    }
}

/// A source: lines and their numbers.
pub(super) struct Source<'a> {
    pub(super) file: &'a str,
    pub(super) lines: &'a [(u64, Arc<str>)],
}

impl Source<'_> {
    /// With a comment over each line that blocks begin at.
    pub(super) fn annotated(&self, blocks: &Blocks) -> String {
        let mut out = String::new();
        for (number, line) in self.lines {
            let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
            for done in blocks.values().filter(|b| b.line == *number && *b.file == *self.file) {
                let _ = writeln!(out, "{indent}/* {} block=%{} */", done.words(), done.label);
            }
            let _ = writeln!(out, "{line}");
        }
        out
    }
}
