//! Comments between the lines of a text.
//!
//! Guarantees: the lines themselves stay as they are, in their order.

use super::blocks::{Blocks, Done};
use std::fmt::Write;
use std::sync::Arc;

/// SPIR-V text: lines and their word offsets.
pub(super) struct Assembly<'a>(pub(super) &'a [(u64, Arc<str>)]);

impl Assembly<'_> {
    /// Each line, with the block whose label it is.
    pub(super) fn lines<'b>(&'b self, blocks: &'b Blocks) -> impl Iterator<Item = (Vec<&'b Done>, &'b str)> {
        self.0.iter().map(|(offset, line)| (blocks.get(offset).into_iter().collect(), &**line))
    }

    /// With a comment over each block's label.
    pub(super) fn annotated(&self, blocks: &Blocks) -> String {
        let mut out = String::new();
        for (done, line) in self.lines(blocks) {
            for done in done {
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
    /// Each line, with the blocks that begin there.
    pub(super) fn lines<'b>(&'b self, blocks: &'b Blocks) -> impl Iterator<Item = (Vec<&'b Done>, &'b str)> {
        let here = move |n: u64| move |b: &&Done| b.line == n && *b.file == *self.file;
        self.lines.iter().map(move |(n, line)| (blocks.values().filter(here(*n)).collect(), &**line))
    }

    /// With a comment over each line that blocks begin at.
    pub(super) fn annotated(&self, blocks: &Blocks) -> String {
        let mut out = String::new();
        for (done, line) in self.lines(blocks) {
            let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
            for done in done {
                let _ = writeln!(out, "{indent}/* {} block=%{} */", done.words(), done.label);
            }
            let _ = writeln!(out, "{line}");
        }
        out
    }
}
