//! Running numbers: a command's place in its command buffer, a submission's place in the capture.
//!
//! They depend on every block before, so printing (on many threads) only says where they belong ([`Counter`]) and one
//! [`Counts`], fed in order, fills them in. Guarantees: the same numbers whichever blocks are printed, as long as the
//! others go through [`super::Printer::pass`]. Refuses nothing; a block that cannot be read counts for nothing.

use super::options::{Counter, CounterKind};
use crate::container::{Block, BlockKind, Scratch};
use crate::schema::generated::COMMANDS;
use crate::schema::{CommandDef, command_index};
use std::collections::HashMap;
use std::sync::LazyLock;

/// See the module's header.
#[derive(Debug, Default)]
pub struct Counts {
    commands: HashMap<u64, u64>,
    submits: u64,
    /// The command buffer counted last and its count, not yet in `commands`.
    last: (u64, u64),
}

/// For each command: which running number it carries, if any.
static COUNTED: LazyLock<Vec<Option<(&'static str, bool)>>> = LazyLock::new(|| {
    let counted = |command: &CommandDef| match command.name {
        "vkQueueSubmit" | "vkQueueSubmit2" | "vkQueueSubmit2KHR" | "vkQueuePresentKHR" => {
            Some(("sub_index", false))
        }
        name => name.starts_with("vkCmd").then_some(("cmd_index", true)),
    };
    COMMANDS.iter().map(counted).collect()
});

/// Which running number the call with this id carries, if any: its key, and whether it counts per command buffer.
#[inline]
pub(super) fn counted(call_id: u32) -> Option<(&'static str, bool)> {
    COUNTED[command_index(call_id)?]
}

impl Counts {
    /// The next number of this kind.
    #[inline]
    pub fn next(&mut self, kind: CounterKind) -> u64 {
        match kind {
            CounterKind::Submit => {
                self.submits += 1;
                self.submits
            }
            CounterKind::Command(buffer) => {
                if self.last.0 != buffer {
                    self.commands.insert(self.last.0, self.last.1);
                    self.last = (buffer, self.commands.get(&buffer).copied().unwrap_or(0));
                }
                self.last.1 += 1;
                self.last.1
            }
        }
    }

    /// Appends `bytes` to `out` with the numbers put in where `counters` say.
    pub fn weave(&mut self, bytes: &[u8], counters: &[Counter], out: &mut Vec<u8>) {
        out.reserve(bytes.len() + 8 * counters.len());
        let mut digits = itoa::Buffer::new();
        let mut done = 0;
        for c in counters {
            let number = self.next(c.kind);
            if c.shown {
                out.extend_from_slice(&bytes[done..c.at]);
                out.extend_from_slice(digits.format(number).as_bytes());
                done = c.at;
            }
        }
        out.extend_from_slice(&bytes[done..]);
    }
}

/// Which running number a block has, if any, without decoding it.
pub(super) fn kind_of(block: &Block, scratch: &mut Scratch) -> Option<CounterKind> {
    let (_, per_buffer) = counted(block.call_id()?)?;
    if !per_buffer {
        return Some(CounterKind::Submit);
    }
    let Ok(BlockKind::Call(call)) = block.kind() else { return None };
    let buffer = call.payload.bytes(scratch).ok()?.first_chunk()?;
    Some(CounterKind::Command(u64::from_le_bytes(*buffer)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_run_per_command_buffer() {
        let mut counts = Counts::default();
        let kinds = [7, 7, 9, 7, 9].map(CounterKind::Command);
        assert_eq!(kinds.map(|k| counts.next(k)), [1, 2, 1, 3, 2]);
        assert_eq!(counts.next(CounterKind::Submit), 1);
        assert_eq!(counts.next(CounterKind::Command(0)), 1);
    }

    #[test]
    fn weaving_puts_each_number_in_its_place() {
        let mut out = Vec::new();
        let counter = |at, shown| Counter { at, kind: CounterKind::Submit, shown };
        Counts::default().weave(b"abcd", &[counter(1, true), counter(1, false), counter(3, true)], &mut out);
        assert_eq!(out, b"a1bc3d");
    }
}
