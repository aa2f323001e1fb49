//! Ranges of bytes whose ends come from a capture.
//!
//! Guarantees: a [`Span`] lies inside the size that it was checked against, its end is a number, and so it can be
//! added, subtracted and cut with without further thought; [`extent`] and [`common`] never wrap. Refuses (by `None`)
//! what reaches beyond.

use std::ops::Range;

/// A range inside something of a known size. It is made by checking and by nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    start: u64,
    len: u64,
}

impl Span {
    /// `len` bytes from `start` on, if all of them lie in `size` bytes.
    pub fn within(start: u64, len: u64, size: u64) -> Option<Self> {
        (start.checked_add(len)? <= size).then_some(Span { start, len })
    }
    /// Its first byte.
    pub fn start(self) -> u64 {
        self.start
    }
    /// How many bytes.
    pub fn len(self) -> u64 {
        self.len
    }
    /// It has no byte.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
    /// The byte behind its last.
    pub fn end(self) -> u64 {
        self.start + self.len
    }
    /// Those bytes of `bytes`; none if there are fewer than it was checked against.
    pub fn of(self, bytes: &[u8]) -> Option<&[u8]> {
        bytes.get(usize::try_from(self.start).ok()?..usize::try_from(self.end()).ok()?)
    }
}

/// From `start` to the byte behind the last of `len`; what would be beyond all numbers is cut.
pub fn extent(start: u64, len: u64) -> Range<u64> {
    start..start.saturating_add(len)
}

/// What two ranges have in common, if that is a byte or more.
pub fn common(a: &Range<u64>, b: &Range<u64>) -> Option<Range<u64>> {
    let both = a.start.max(b.start)..a.end.min(b.end);
    (both.start < both.end).then_some(both)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_lies_inside_or_is_none() {
        let s = Span::within(4, 6, 10).expect("to the last byte");
        assert_eq!((s.start(), s.len(), s.end(), s.is_empty()), (4, 6, 10, false));
        assert_eq!(Span::within(4, 7, 10), None);
        assert!(Span::within(10, 0, 10).expect("behind the last byte").is_empty());
        assert_eq!(Span::within(11, 0, 10), None);
    }

    #[test]
    fn ends_do_not_wrap() {
        // The 64 bytes before a mapping: 2^64 - 64 + 64 = 0.
        assert_eq!(Span::within(u64::MAX - 63, 64, u64::MAX), None);
        assert_eq!(Span::within(u64::MAX, 1, u64::MAX), None);
        assert_eq!(extent(u64::MAX - 1, 5), u64::MAX - 1..u64::MAX);
    }

    #[test]
    fn the_bytes_of_a_span_are_those_or_none() {
        let s = Span::within(1, 2, 3).expect("inside");
        assert_eq!(s.of(&[7, 8, 9]), Some(&[8, 9][..]));
        assert_eq!(s.of(&[7, 8]), None, "fewer than it was checked against");
    }

    #[test]
    fn ranges_have_in_common_what_lies_in_both() {
        assert_eq!(common(&(0..10), &(5..20)), Some(5..10));
        assert_eq!(common(&(0..10), &(10..20)), None);
        assert_eq!(common(&extent(u64::MAX, u64::MAX), &(0..10)), None);
    }
}
