//! Buffers, and what was written to them.
//!
//! Guarantees: of two that write the same bytes the later counts. Refuses nothing. Not known: all but the last 4,096 writes.

use std::ops::Range;

/// VkBufferUsageFlags of buffers that are read by address or as the size of work: shader device address, shader binding table, build input of acceleration
/// structures and of micromaps, indirect commands.
const BY_ADDRESS: u64 = 0x2_0000 | 0x400 | 0x8_0000 | 0x80_0000 | INDIRECT;
/// VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT.
pub const INDIRECT: u64 = 0x100;

/// Writes that are known, at most.
const MOST_WRITES: usize = 1 << 12;

/// A buffer of this usage is read by address, or as the size of work.
pub fn is_read(usage: u64) -> bool {
    usage & BY_ADDRESS != 0
}

/// Bytes of a buffer that were written.
#[derive(Clone, Debug)]
pub struct Write {
    /// Where.
    pub bytes: Range<u64>,
    /// The command, and its submission.
    pub by: [u32; 2],
    /// Objects whose addresses are in them.
    pub holds: Vec<u64>,
}

/// A buffer.
#[derive(Clone, Debug, Default)]
pub struct Buffer {
    /// In bytes.
    pub size: u64,
    /// It is read by address, or as the size of work.
    pub read: bool,
    /// Its memory, and where in it.
    pub memory: Option<(u64, u64)>,
    /// What was written last.
    pub writes: Vec<Write>,
}

impl Buffer {
    /// These bytes are written.
    pub fn write(&mut self, bytes: Range<u64>, by: [u32; 2], holds: Vec<u64>) {
        let bytes = bytes.start..bytes.end.min(self.size);
        if bytes.start < bytes.end {
            self.writes.retain(|w| w.bytes.start < bytes.start || bytes.end < w.bytes.end);
            if self.writes.len() == MOST_WRITES {
                self.writes.remove(0);
            }
            self.writes.push(Write { bytes, by, holds });
        }
    }
}

/// So many bytes from the first.
pub fn span(first: u64, size: u64) -> Range<u64> {
    first..first.saturating_add(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_that_write_the_same_the_later_counts() {
        let mut buffer = Buffer { size: 64, ..Buffer::default() };
        buffer.write(0..16, [1, 2], vec![]);
        buffer.write(16..32, [3, 4], vec![7]);
        buffer.write(8..64, [5, 6], vec![]);
        buffer.write(60..90, [7, 8], vec![]);
        buffer.write(64..90, [9, 10], vec![]);
        let left: Vec<_> = buffer.writes.iter().map(|w| (w.bytes.clone(), w.by)).collect();
        assert_eq!(left, [(0..16, [1, 2]), (8..64, [5, 6]), (60..64, [7, 8])]);
        (0..2 * MOST_WRITES as u64).for_each(|n| buffer.write(n % 60..n % 60 + 4, [n as u32; 2], vec![]));
        assert!(buffer.writes.len() <= MOST_WRITES);
    }
}
