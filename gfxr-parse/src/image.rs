//! A decoded call: C-layout memory whose pointers, handles and addresses are still symbols.
//!
//! The first bytes are the parameter slots, 8 bytes each (then one for the return value); everything a pointer leads
//! to follows. An image is never patched in place: replaying copies it, links the copy and calls the function;
//! reading goes through offsets. A pointer's slot holds, until linked, the number of its [`Ptr`] record plus one
//! (0 = null).
//!
//! Guarantees: every `at` and `to` is inside the image, `to` is aligned for its element type, and `len` elements are
//! really there when `DATA` is set. Refuses nothing itself; the decoder does.

use crate::limits::TRUSTED_SIZE;
use crate::schema::{CommandDef, HandleId};
use crate::valid::level::Level;

/// Attribute bits of a pointer on the wire.
pub mod attrib {
    /// Null: nothing follows.
    pub const NULL: u32 = 1;
    /// One element.
    pub const SINGLE: u32 = 2;
    /// Many elements, the length follows.
    pub const ARRAY: u32 = 4;
    /// A string.
    pub const STRING: u32 = 8;
    /// A wide string.
    pub const WSTRING: u32 = 0x10;
    /// Elements are structs.
    pub const STRUCT: u32 = 0x20;
    /// The application's address follows.
    pub const ADDRESS: u32 = 0x40;
    /// The pointed-to data follow.
    pub const DATA: u32 = 0x80;
    /// An array of arrays.
    pub const ARRAY2D: u32 = 0x100;
    /// What kind of pointer it is: one of these.
    pub const KINDS: u32 = SINGLE | ARRAY | STRING | WSTRING | ARRAY2D;
    /// All bits gfxreconstruct knows.
    pub const ALL: u32 = 0x1FF;
}

/// One pointer preamble of the wire, in wire order. Also what links the slot `at` to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ptr {
    /// Where in the image the C pointer lies; for arrays embedded in a struct, where their first element lies.
    pub at: u32,
    /// Where its data lie; 0 when there are none (null, or the capture left them out).
    pub to: u32,
    /// [`attrib`] bits as written.
    pub attrib: u32,
    /// Embedded in the struct: no C pointer to link.
    pub inline: bool,
    /// Element count (characters for strings); 1 for single.
    pub len: u64,
    /// The application's address.
    pub addr: u64,
    /// For memory the driver writes and whose contents the capture left out: bytes per element, so that replay can
    /// set such memory aside. Zero everywhere else.
    pub out_size: u32,
}

impl Ptr {
    /// Null in the captured program.
    #[inline]
    pub fn is_null(&self) -> bool {
        self.attrib & attrib::NULL != 0
    }
    /// Its data are in the image.
    #[inline]
    pub fn has_data(&self) -> bool {
        self.attrib & (attrib::DATA | attrib::NULL) == attrib::DATA
    }
    /// Written as an array, whatever the API says it is.
    #[inline]
    pub fn is_array(&self) -> bool {
        self.attrib & (attrib::ARRAY | attrib::NULL) == attrib::ARRAY
    }
}

/// A handle in the image: 8 bytes at `at` hold the capture's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandleAt {
    /// Where.
    pub at: u32,
    /// Its type.
    pub ty: HandleId,
    /// The driver writes it (the id is the one the capture gave the new object).
    pub out: bool,
    /// The application may have left rubbish here (a member its descriptor type does not use): an id that names no
    /// object of this type is no error, the driver gets null.
    pub lenient: bool,
}

/// A decoded call. See the module's header.
#[derive(Clone, Debug, Default)]
pub struct Image {
    words: Vec<u64>,
    /// Pointer preambles in wire order.
    pub ptrs: Vec<Ptr>,
    /// Handles in wire order, null ones left out.
    pub handles: Vec<HandleAt>,
    /// Where non-zero VkDeviceAddress values lie that go INTO the driver.
    pub addresses: Vec<u32>,
    /// Where captured process pointers lie that mean nothing here (void*, window-system objects).
    pub opaque: Vec<u32>,
    /// How much of what `crate::valid` promises was found to hold.
    pub(crate) checked: Level,
    /// sTypes and unions hold what the wire said; this is the command they belong to.
    pub command: Option<&'static CommandDef>,
}

impl Image {
    /// Empties it, keeping its memory.
    #[inline]
    pub fn clear(&mut self) {
        self.words.clear();
        self.ptrs.clear();
        self.handles.clear();
        self.addresses.clear();
        self.opaque.clear();
        self.checked = Level::Decoded;
        self.command = None;
    }
    /// Gives the memory of a large one back; what most calls need stays.
    #[inline]
    pub fn trim(&mut self) {
        if self.words.capacity() > TRUSTED_SIZE / 8 || self.ptrs.capacity() > TRUSTED_SIZE / size_of::<Ptr>()
        {
            *self = Image::default();
        }
    }
    /// Becomes a copy of another, keeping its memory.
    pub fn copy_from(&mut self, other: &Image) {
        self.words.clone_from(&other.words);
        self.ptrs.clone_from(&other.ptrs);
        self.handles.clone_from(&other.handles);
        self.addresses.clone_from(&other.addresses);
        self.opaque.clone_from(&other.opaque);
        self.checked = other.checked;
        self.command = other.command;
    }
    /// Size in bytes, a multiple of 8.
    #[inline]
    pub fn len(&self) -> usize {
        self.words.len() * 8
    }
    /// Bytes of memory that it holds, what is known about its pointers and handles included.
    #[inline]
    pub fn held_bytes(&self) -> usize {
        self.len() + self.ptrs.len() * size_of::<Ptr>() + self.handles.len() * size_of::<HandleAt>()
    }
    /// Nothing decoded yet.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
    /// The image as 64-bit words (for a copy that stays aligned).
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words
    }
    /// All bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words)
    }
    /// All bytes, to edit scalars in place before encoding or linking.
    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.words)
    }
    /// Appends `size` zero bytes (rounded up to 8) and returns their offset, which is 8-aligned.
    #[inline]
    pub fn alloc(&mut self, size: usize) -> u32 {
        let at = self.words.len() * 8;
        self.words.resize(self.words.len() + size.div_ceil(8), 0);
        at as u32
    }
    /// Reads one byte.
    #[inline]
    pub fn u8(&self, at: u32) -> u8 {
        self.bytes()[at as usize]
    }
    /// Reads 16 bits.
    #[inline]
    pub fn u16(&self, at: u32) -> u16 {
        let i = at as usize;
        u16::from_le_bytes(self.bytes()[i..i + 2].try_into().expect("2 bytes"))
    }
    /// Reads 32 bits.
    #[inline]
    pub fn u32(&self, at: u32) -> u32 {
        let i = at as usize;
        u32::from_le_bytes(self.bytes()[i..i + 4].try_into().expect("4 bytes"))
    }
    /// Reads 64 bits.
    #[inline]
    pub fn u64(&self, at: u32) -> u64 {
        let i = at as usize;
        u64::from_le_bytes(self.bytes()[i..i + 8].try_into().expect("8 bytes"))
    }
    /// Reads a 32-bit float.
    pub fn f32(&self, at: u32) -> f32 {
        f32::from_bits(self.u32(at))
    }
    /// Overwrites 32 bits from outside; whatever was checked has to be checked again.
    pub fn edit_u32(&mut self, at: u32, v: u32) {
        self.checked = Level::Decoded;
        self.set_u32(at, v);
    }
    /// The same for 64 bits.
    pub fn edit_u64(&mut self, at: u32, v: u64) {
        self.checked = Level::Decoded;
        self.set_u64(at, v);
    }
    /// Overwrites 32 bits.
    #[inline]
    pub(crate) fn set_u32(&mut self, at: u32, v: u32) {
        let i = at as usize;
        self.bytes_mut()[i..i + 4].copy_from_slice(&v.to_le_bytes());
    }
    /// Overwrites 64 bits.
    #[inline]
    pub(crate) fn set_u64(&mut self, at: u32, v: u64) {
        debug_assert!(at.is_multiple_of(8), "as C aligns them");
        self.words[at as usize / 8] = v;
    }
    /// Overwrites bytes.
    #[inline]
    pub(crate) fn put(&mut self, at: u32, bytes: &[u8]) {
        let i = at as usize;
        self.bytes_mut()[i..i + bytes.len()].copy_from_slice(bytes);
    }
    /// The record of the pointer whose slot is `at`; none when it is null.
    #[inline]
    pub fn ptr(&self, at: u32) -> Option<&Ptr> {
        let n = self.u64(at);
        if n == 0 { None } else { self.ptrs.get(n as usize - 1) }
    }
    /// Where the pointer in slot `at` leads, if its data are there. An array of none leads nowhere.
    #[inline]
    pub fn target(&self, at: u32) -> Option<u32> {
        self.ptr(at).filter(|p| p.has_data() && p.to != 0).map(|p| p.to)
    }
    /// The handles, or 64-bit numbers, that the pointer in slot `at` leads to, if its data are there.
    #[inline]
    pub fn u64s(&self, at: u32) -> impl ExactSizeIterator<Item = u64> + '_ {
        let (to, n) = self.ptr(at).filter(|p| p.has_data()).map_or((0, 0), |p| (p.to, p.len as u32));
        (0..n).map(move |i| self.u64(to + i * 8))
    }
    /// The same for 32-bit numbers.
    #[inline]
    pub fn u32s(&self, at: u32) -> impl ExactSizeIterator<Item = u32> + '_ {
        let (to, n) = self.ptr(at).filter(|p| p.has_data()).map_or((0, 0), |p| (p.to, p.len as u32));
        (0..n).map(move |i| self.u32(to + i * 4))
    }
    /// Offset of the return value's slot (valid only if the command returns something).
    #[inline]
    pub fn ret_at(&self) -> u32 {
        self.command.map_or(0, |c| c.params.len() as u32 * 8)
    }
    /// The captured VkResult (or other return value), if the command returns one.
    #[inline]
    pub fn ret(&self) -> Option<i32> {
        self.command.and_then(|c| c.ret).map(|_| self.u32(self.ret_at()) as i32)
    }
    /// Whether the pNext chain that starts in slot `at` holds a struct with this sType.
    pub fn chain_has(&self, at: u32, stype: u32) -> bool {
        self.chain_find(at, stype).is_some()
    }
    /// The offset of the first struct with this sType in the pNext chain that starts in slot `at`.
    pub fn chain_find(&self, at: u32, stype: u32) -> Option<u32> {
        let mut slot = at;
        while let Some(to) = self.target(slot) {
            if self.u32(to) == stype {
                return Some(to);
            }
            slot = to + 8; // sType is padded to 8, then pNext: true of every struct that has an sType
        }
        None
    }
}
