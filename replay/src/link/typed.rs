//! Structs of a linked call as the C types they are, for handlers and hooks that read and change them.
//!
//! Guarantees: what is given out lies in memory that the call owns, whole and aligned, whatever its pointers and counts
//! say; nothing is taken on trust, not even the decoder's checks. Refuses (by `None`) null pointers and whatever reaches
//! beyond; pointers to elsewhere, such as a handler's own structs, are beyond.
#![allow(unsafe_code)]

use super::Linked;
use super::plain::Plain;
use ash::vk;
use std::ffi::{CStr, CString, c_char, c_void};
use world::span::Span;

impl Linked {
    /// Which piece of memory holds as many bytes at this address (0: the call's own, else spare), and where in it.
    fn place(&self, address: u64, bytes: u64, align: usize) -> Option<(usize, usize)> {
        let pieces = std::iter::once(&self.words).chain(&self.spare);
        let inside = |piece: &Vec<u64>| {
            let at = address.checked_sub(piece.as_ptr() as u64)?;
            Some(Span::within(at, bytes, piece.len() as u64 * 8)?.start() as usize)
        };
        let found = pieces.map(inside).enumerate().find_map(|(n, at)| Some((n, at?)))?;
        address.is_multiple_of(align as u64).then_some(found)
    }

    /// `n` elements behind a pointer.
    pub fn all<T: Plain>(&self, at: *const T, n: u32) -> Option<&[T]> {
        if n == 0 {
            return Some(&[]);
        }
        let bytes = u64::from(n) * size_of::<T>() as u64;
        let (piece, from) = self.place(at as u64, bytes, align_of::<T>())?;
        let piece = if piece == 0 { &self.words } else { &self.spare[piece - 1] };
        // SAFETY: that many bytes of a piece of ours, aligned; any bits are a `T`.
        Some(unsafe { std::slice::from_raw_parts(piece.as_ptr().cast::<u8>().add(from).cast(), n as usize) })
    }

    /// The same, to change.
    pub fn all_mut<T: Plain>(&mut self, at: *const T, n: u32) -> Option<&mut [T]> {
        if n == 0 {
            return Some(&mut []);
        }
        let bytes = u64::from(n) * size_of::<T>() as u64;
        let (piece, from) = self.place(at as u64, bytes, align_of::<T>())?;
        let piece = if piece == 0 { &mut self.words } else { &mut self.spare[piece - 1] };
        // SAFETY: as above, and borrowed with all the rest of it.
        Some(unsafe {
            std::slice::from_raw_parts_mut(piece.as_mut_ptr().cast::<u8>().add(from).cast(), n as usize)
        })
    }

    /// Keeps elements in the call's own memory, for a pointer of its to lead to; where they are. Whoever gives a call
    /// another array does it so: the next who looks at the call finds it.
    pub fn keep<T: Plain>(&mut self, items: &[T]) -> *const T {
        let bytes = size_of_val(items);
        let mut piece = vec![0u64; bytes.div_ceil(8)];
        let to = piece.as_mut_ptr();
        // SAFETY: room for as many bytes, just made.
        unsafe { std::ptr::copy_nonoverlapping(items.as_ptr().cast::<u8>(), to.cast(), bytes) };
        self.spare.push(piece);
        to.cast()
    }

    /// What a pointer leads to.
    pub fn one<T: Plain>(&self, at: *const T) -> Option<&T> {
        self.all(at, 1)?.first()
    }
    /// The same, to change.
    pub fn one_mut<T: Plain>(&mut self, at: *const T) -> Option<&mut T> {
        self.all_mut(at, 1)?.first_mut()
    }
    /// What the argument in slot `i` points to.
    pub fn param<T: Plain>(&self, i: usize) -> Option<&T> {
        self.one(self.arg(i) as *const T)
    }
    /// The same, to change.
    pub fn param_mut<T: Plain>(&mut self, i: usize) -> Option<&mut T> {
        self.one_mut(self.arg(i) as *const T)
    }
    /// The array that the argument in slot `i` points to, with as many elements as slot `n` says.
    pub fn params<T: Plain>(&self, i: usize, n: usize) -> Option<&[T]> {
        self.all(self.arg(i) as *const T, self.arg(n) as u32)
    }
    /// The same, to change.
    pub fn params_mut<T: Plain>(&mut self, i: usize, n: usize) -> Option<&mut [T]> {
        self.all_mut(self.arg(i) as *const T, self.arg(n) as u32)
    }

    /// A text, up to its terminating zero.
    pub fn text(&self, at: *const c_char) -> Option<&CStr> {
        let (piece, from) = self.place(at as u64, 1, 1)?;
        let piece = if piece == 0 { &self.words } else { &self.spare[piece - 1] };
        let left = (piece.len() * 8 - from) as u64;
        CStr::from_bytes_until_nul(self.all(at.cast::<u8>(), u32::try_from(left).unwrap_or(u32::MAX))?).ok()
    }
    /// An array of texts; none if one of them is missing.
    pub fn texts(&self, at: *const *const c_char, n: u32) -> Option<Vec<CString>> {
        self.all(at, n)?.iter().map(|t| self.text(*t).map(CStr::to_owned)).collect()
    }

    /// The structs of a pNext chain: where they are, and their types.
    pub fn chain(
        &self,
        head: *const c_void,
    ) -> impl Iterator<Item = (*const c_void, vk::StructureType)> + '_ {
        let mut next = head;
        std::iter::from_fn(move || {
            let s = self.one(next.cast::<vk::BaseInStructure<'_>>())?;
            let here = (next, s.s_type);
            next = s.p_next.cast();
            Some(here)
        })
    }
    /// The struct of this type in a pNext chain.
    pub fn in_chain<T: Plain + vk::TaggedStructure>(&mut self, head: *const c_void) -> Option<&mut T> {
        let (at, _) = self.chain(head).find(|s| s.1 == T::STRUCTURE_TYPE)?;
        self.one_mut(at.cast::<T>())
    }
    /// Takes structs out of a pNext chain; gives back its new head.
    pub fn unchain(
        &mut self,
        head: *const c_void,
        unwanted: impl Fn(vk::StructureType) -> bool,
    ) -> *const c_void {
        let kept: Vec<_> = self.chain(head).filter(|s| !unwanted(s.1)).map(|s| s.0).collect();
        for (n, at) in kept.iter().enumerate() {
            let next = kept.get(n + 1).map_or(std::ptr::null(), |p| p.cast());
            if let Some(s) = self.one_mut(at.cast::<vk::BaseInStructure<'_>>()) {
                s.p_next = next;
            }
        }
        kept.first().copied().unwrap_or(std::ptr::null())
    }
    /// The same of the chain of the struct at an address.
    pub fn unchain_of(&mut self, at: u64, unwanted: impl Fn(vk::StructureType) -> bool) {
        let at = at as *const vk::BaseInStructure<'_>;
        let Some(head) = self.one(at).map(|i| i.p_next).filter(|n| !n.is_null()) else { return };
        let kept = self.unchain(head.cast(), unwanted);
        if let Some(info) = self.one_mut(at) {
            info.p_next = kept.cast();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vk::StructureType as S;

    /// A call's memory that holds these words; their addresses.
    fn linked(words: &[u64]) -> (Linked, impl Fn(usize) -> u64 + use<>) {
        let l = Linked { words: words.to_vec(), ..Default::default() };
        let base = l.words.as_ptr() as u64;
        (l, move |word| base + word as u64 * 8)
    }

    #[test]
    fn what_lies_in_the_call_is_given_and_nothing_else() {
        let (mut l, at) = linked(&[1, 2, 3]);
        assert_eq!(l.all(at(1) as *const u64, 2), Some(&[2, 3][..]));
        assert_eq!(l.all(at(1) as *const u64, 3), None, "one too many");
        assert_eq!(l.all(at(3) as *const u64, 1), None, "behind the end");
        assert_eq!(l.one((at(0) - 8) as *const u64), None, "before the beginning");
        assert_eq!(l.one((at(0) + 1) as *const u64), None, "not aligned");
        assert_eq!(l.one(std::ptr::null::<u64>()), None);
        assert_eq!(l.all(std::ptr::null::<u64>(), 0), Some(&[][..]), "no elements of nothing");
        assert_eq!(l.all(u64::MAX as *const u8, 1), None, "an end that would wrap");
        let elsewhere = 7u64;
        assert_eq!(l.one(&raw const elsewhere), None, "memory of somebody else");
        l.all_mut(at(0) as *const u32, 6).expect("inside")[1] = 9;
        assert_eq!(l.words[0], 9 << 32 | 1);
        let kept = l.keep(&[5u32, 6, 7]);
        assert_eq!(l.all(kept, 3), Some(&[5, 6, 7][..]));
        assert_eq!(l.all(kept, 5), None, "more than was kept");
    }

    #[test]
    fn arguments_lead_to_as_many_as_their_count_says() {
        let (mut l, at) = linked(&[0, 2, 10, 11]);
        l.words[0] = at(2);
        assert_eq!(l.params::<u64>(0, 1), Some(&[10, 11][..]));
        assert_eq!(l.param::<u64>(0), Some(&10));
        l.words[1] = 3;
        assert_eq!(l.params::<u64>(0, 1), None);
        *l.param_mut::<u64>(0).expect("there") = 12;
        assert_eq!(l.words[2], 12);
    }

    #[test]
    fn texts_end_inside_or_are_none() {
        let (mut l, at) =
            linked(&[0, 0, u64::from_le_bytes(*b"abc\0defg"), u64::from_le_bytes(*b"12345678")]);
        (l.words[0], l.words[1]) = (at(2), at(2) + 1);
        let all = l.texts(at(0) as *const _, 2).expect("both end");
        assert_eq!(all, [c"abc".to_owned(), c"bc".to_owned()]);
        l.words[1] = at(3);
        assert_eq!(l.texts(at(0) as *const _, 2), None, "the second has no end");
        l.words[1] = 0;
        assert_eq!(l.texts(at(0) as *const _, 2), None, "the second is null");
        assert_eq!(l.texts(at(0) as *const _, u32::MAX), None, "more than there are");
    }

    #[test]
    fn structs_are_taken_out_of_chains() {
        let kinds = [S::MEMORY_ALLOCATE_FLAGS_INFO, S::IMPORT_MEMORY_FD_INFO_KHR, S::MEMORY_ALLOCATE_INFO];
        let (mut l, at) = linked(&[0; 12]);
        for (n, s) in kinds.into_iter().enumerate() {
            l.words[n * 4] = s.as_raw() as u32 as u64;
            l.words[n * 4 + 1] = if n < 2 { at(n * 4 + 4) } else { 0 };
        }
        let head = at(0) as *const c_void;
        l.in_chain::<vk::MemoryAllocateFlagsInfo<'_>>(head).expect("the first").device_mask = 3;
        assert_eq!(l.words[2] >> 32, 3);
        assert!(l.in_chain::<vk::BufferCreateInfo<'_>>(head).is_none());
        let new = l.unchain(head, |s| s == kinds[1]);
        assert_eq!(l.chain(new).map(|s| s.1).collect::<Vec<_>>(), [kinds[0], kinds[2]]);
        let new = l.unchain(new, |s| s == kinds[0]);
        assert_eq!((new as u64, l.chain(new).count()), (at(8), 1));
        assert!(l.unchain(new, |_| true).is_null());
    }
}
