//! How much memory what is decoded from one capture may take.
//!
//! A few kilobytes of a file can declare, and truly become, gigabytes. So every block carries the budget of its capture
//! to where it is decompressed and decoded. Guarantees: what one block declares and what decoding makes of it stay
//! below the budget together, whoever decodes it; nothing is decompressed that does not. Refuses larger blocks, with
//! what they need and how to allow it. How many blocks are decoded at once, and wait, is their reader's affair: it asks
//! for the same budget ([`crate::container::Capture::budget`]) and for what blocks declare
//! ([`crate::container::Block::declared_bytes`]).

use crate::error::{Error, Kind};
use crate::limits::{
    DEFAULT_MEMORY_BYTES, FREE_IMAGE_BYTES, MAX_BLOCK_BYTES, MAX_IMAGE_BYTES, MAX_IMAGE_RATIO,
};

/// See the module's header. Four bytes, for which every block has room: it is kept in KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    kib: u32,
}

impl Budget {
    /// So many bytes, rounded down to whole KiB; no block is larger than [`MAX_BLOCK_BYTES`] all the same.
    pub fn new(bytes: u64) -> Self {
        Budget { kib: u32::try_from(bytes >> 10).unwrap_or(u32::MAX) }
    }
    /// The bytes.
    #[inline]
    pub fn bytes(self) -> u64 {
        u64::from(self.kib) << 10
    }
    /// A block's data may become `size` bytes.
    #[inline]
    pub(crate) fn admits(self, size: u64) -> bool {
        size <= self.bytes().min(MAX_BLOCK_BYTES)
    }
    /// How large an image of a call may become whose parameters have `size` bytes.
    pub(crate) fn image_bytes(self, size: u64) -> usize {
        self.bytes().saturating_sub(size).min(most_of(size)) as usize
    }
    /// Why it may not become `want` bytes.
    #[cold]
    pub(crate) fn refuse_image(self, want: usize, size: u64) -> Error {
        let (want, most) = (want as u64, most_of(size));
        if want > most {
            return Error::limit("size in bytes of the decoded call", want, most);
        }
        let text = format!(
            "the call and what it is decoded from take {} bytes, decoding may take {} (--max-memory {} allows it)",
            want + size,
            self.bytes(),
            allowing(want + size)
        );
        Error::new(Kind::Memory, text)
    }
    /// Why a block's data may not become `size` bytes.
    #[cold]
    pub(crate) fn refuse(self, size: u64) -> Error {
        if size > MAX_BLOCK_BYTES {
            return Error::limit("uncompressed size", size, MAX_BLOCK_BYTES);
        }
        Error::new(
            Kind::Memory,
            format!(
                "uncompressed size is {size} bytes, decoding may take {} (--max-memory {} allows it)",
                self.bytes(),
                allowing(size)
            ),
        )
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(DEFAULT_MEMORY_BYTES)
    }
}

/// How large an image may become, whatever the budget.
fn most_of(size: u64) -> u64 {
    size.saturating_mul(MAX_IMAGE_RATIO).clamp(FREE_IMAGE_BYTES, MAX_IMAGE_BYTES as u64)
}

/// The least whole number of MiB that allows `bytes`, as the command line takes it.
fn allowing(bytes: u64) -> String {
    format!("{}M", bytes.div_ceil(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_says_what_it_needs() {
        let b = Budget::new(512 << 20);
        assert!(b.admits(512 << 20) && !b.admits((512 << 20) + 1));
        let e = b.refuse((600 << 20) + 1);
        assert_eq!(
            (e.kind(), e.to_string().as_str()),
            (
                Kind::Memory,
                "uncompressed size is 629145601 bytes, decoding may take 536870912 (--max-memory 601M allows it)"
            )
        );
        // No budget allows what is beyond the format's own bound.
        let all = Budget::new(u64::MAX);
        assert!(!all.admits(MAX_BLOCK_BYTES + 1));
        assert_eq!(
            all.refuse(9 << 30).to_string(),
            "uncompressed size is 9663676416, the limit is 8589934592"
        );
    }

    #[test]
    fn images_stay_near_the_size_of_their_bytes() {
        let b = Budget::new(512 << 20);
        assert_eq!(b.image_bytes(100), 16 << 20);
        assert_eq!(b.image_bytes(2 << 20), 32 << 20);
        assert_eq!(b.image_bytes(500 << 20), 12 << 20);
        assert_eq!(b.image_bytes(600 << 20), 0);
        assert_eq!(Budget::new(1 << 40).image_bytes(1 << 29), 1 << 30);
        let e = b.refuse_image(17 << 20, 100);
        assert_eq!(
            (e.kind(), e.to_string().as_str()),
            (Kind::Limit, "size in bytes of the decoded call is 17825792, the limit is 16777216")
        );
        let e = b.refuse_image(13 << 20, 500 << 20);
        assert_eq!(
            (e.kind(), e.to_string().as_str()),
            (
                Kind::Memory,
                "the call and what it is decoded from take 537919488 bytes, decoding may take 536870912 \
                 (--max-memory 513M allows it)"
            )
        );
    }
}
