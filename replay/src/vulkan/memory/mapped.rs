//! Memory of a device that the host sees, and the only code that reads or writes it.
//!
//! Guarantees: no byte outside the mapping is touched, whatever offsets a capture names. Refuses (by `false` or `None`)
//! ranges that leave the mapping; nothing of such a range is written.

use world::span::Span;

/// Mapped bytes of a memory object; offsets are the memory object's, not the mapping's.
pub(crate) struct Mapped {
    /// Of the byte at `first`.
    pointer: *mut u8,
    /// The offset in the memory object that the mapping begins at.
    first: u64,
    len: u64,
}

// SAFETY: the memory is the process's, whoever looks at it; blocks are shared behind a lock.
unsafe impl Send for Mapped {}
// SAFETY: as above. What two threads write at once are bytes that no reference points to.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// `len` bytes of a memory object from its byte `first` on, which the driver mapped at `pointer`.
    ///
    /// # Safety
    /// They stay mapped there until this is dropped.
    pub unsafe fn new(pointer: *mut u8, first: u64, len: u64) -> Self {
        // A driver that maps nothing, or more than there are addresses, maps nothing for us.
        let len = if pointer.is_null() || isize::try_from(len).is_err() { 0 } else { len };
        Mapped { pointer, first, len }
    }

    /// Nothing is mapped: of objects that exist only here.
    pub fn nothing() -> Self {
        Mapped { pointer: std::ptr::null_mut(), first: 0, len: 0 }
    }

    /// The first mapped byte of the memory object and the one behind the last.
    pub fn range(&self) -> (u64, u64) {
        (self.first, self.first.saturating_add(self.len))
    }

    /// Where `len` bytes from the memory object's byte `at` on lie, if all are mapped.
    fn place(&self, at: u64, len: u64) -> Option<*mut u8> {
        let span = Span::within(at.checked_sub(self.first)?, len, self.len)?;
        // SAFETY: inside the mapping, whose length is no more than addresses are.
        Some(unsafe { self.pointer.add(span.start() as usize) })
    }

    /// Puts `data` at the memory object's byte `at`; false, and nothing is written, if it would leave the mapping.
    pub fn write(&self, at: u64, data: &[u8]) -> bool {
        let Some(to) = self.place(at, data.len() as u64) else { return false };
        // SAFETY: mapped, see `new`, and inside, see `place`; `data` is memory of ours, which no driver maps.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len()) };
        true
    }

    /// A copy of the bytes there.
    pub fn read(&self, at: u64, len: u64) -> Option<Vec<u8>> {
        // SAFETY: the copy is made before anything else is written.
        unsafe { self.bytes(at, len) }.map(<[u8]>::to_vec)
    }

    /// The bytes there.
    ///
    /// # Safety
    /// Nobody writes them while they are borrowed, neither the device nor `write`.
    pub unsafe fn bytes(&self, at: u64, len: u64) -> Option<&[u8]> {
        let from = self.place(at, len)?;
        // SAFETY: mapped and inside, as above; a length that is inside is one of addresses.
        Some(unsafe { std::slice::from_raw_parts(from, len as usize) })
    }

    /// The 32 bits at the memory object's byte `at`, a multiple of 4, which the device may be writing.
    pub fn word(&self, at: u64) -> Option<u32> {
        let from = self.place(at, 4)?.cast::<u32>();
        // SAFETY: mapped, inside and aligned; a value that is being written is one of the two.
        from.is_aligned().then(|| unsafe { from.read_volatile() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(bytes: &mut [u8], first: u64) -> Mapped {
        // SAFETY: the tests drop it before `bytes`.
        unsafe { Mapped::new(bytes.as_mut_ptr(), first, bytes.len() as u64) }
    }

    #[test]
    fn what_is_inside_is_written_and_read() {
        let mut memory = [0u8; 16];
        let m = over(&mut memory, 100);
        assert_eq!(m.range(), (100, 116));
        assert!(m.write(112, &[1, 2, 3, 4]));
        assert_eq!(m.read(111, 3), Some(vec![0, 1, 2]));
        assert!(m.write(116, &[]), "no byte behind the last");
        assert_eq!(memory[12..], [1, 2, 3, 4]);
    }

    #[test]
    fn what_leaves_the_mapping_is_not_touched() {
        let mut memory = [7u8; 16];
        let m = over(&mut memory, 100);
        for (at, len) in [(99, 1), (113, 4), (116, 1), (u64::MAX - 1, 2), (u64::MAX - 63, 64), (0, 16)] {
            assert!(!m.write(at, &vec![0; len]), "{len} bytes at {at}");
            assert_eq!(m.read(at, len as u64), None);
        }
        assert_eq!(m.read(100, u64::MAX), None);
        assert_eq!(m.word(114), None);
        assert_eq!(memory, [7; 16]);
    }

    #[test]
    fn nothing_has_no_bytes() {
        assert!(!Mapped::nothing().write(0, &[1]));
        // SAFETY: nothing is at null, and nothing is said to be.
        let null = unsafe { Mapped::new(std::ptr::null_mut(), 0, 64) };
        assert!(!null.write(0, &[1]) && null.read(0, 1).is_none());
        assert_eq!(null.range(), (0, 0));
    }

    #[test]
    fn words_are_read_where_they_are_aligned() {
        let mut memory = [0u32, 0x0403_0201];
        // SAFETY: dropped before `memory`.
        let m = unsafe { Mapped::new(memory.as_mut_ptr().cast(), 8, 8) };
        assert_eq!(m.word(12), Some(0x0403_0201));
        assert_eq!(m.word(10), None);
    }
}
