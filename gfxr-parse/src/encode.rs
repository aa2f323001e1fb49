//! The mirror of the decoder: an [`Image`] back to parameter bytes.
//!
//! The oracle of this crate is `encode(decode(bytes)) == bytes` on every call of every capture. Guarantees: scalars that
//! were edited in place come out edited, everything else comes out as it came in. Refuses nothing.

use crate::decode::special::TEMPLATE_STRAY;
use crate::image::{Image, Ptr, attrib};
use crate::schema::{StructId, Ty};
use crate::walk::{Pointee, Visitor, walk_call, walk_struct_array};

/// Appends the parameters of the call in `image` to `out`.
pub fn encode_call(image: &Image, out: &mut Vec<u8>) {
    walk_call(image, &mut Encoder { out });
}

/// Appends what `decode_struct_array` (or, with `twice`, `decode_struct_array2`) read.
pub fn encode_struct_array(image: &Image, id: StructId, twice: bool, out: &mut Vec<u8>) {
    walk_struct_array(image, id, twice, &mut Encoder { out });
}

pub(crate) struct Encoder<'o> {
    pub(crate) out: &'o mut Vec<u8>,
}

impl Encoder<'_> {
    fn u32(&mut self, v: u32) {
        self.out.extend_from_slice(&v.to_le_bytes());
    }
    fn u64(&mut self, v: u64) {
        self.out.extend_from_slice(&v.to_le_bytes());
    }
    fn bytes(&mut self, image: &Image, at: u32, n: usize) {
        let at = at as usize;
        self.out.extend_from_slice(&image.bytes()[at..at + n]);
    }
}

impl Visitor for Encoder<'_> {
    fn value(&mut self, image: &Image, ty: Ty, at: u32) {
        if let Ty::Bits { shift, width } = ty {
            let mask = if width == 32 { u32::MAX } else { (1 << width) - 1 };
            return self.u32(image.u32(at) >> shift & mask);
        }
        self.bytes(image, at, ty.c_layout().0);
    }

    fn values(&mut self, image: &Image, ty: Ty, at: u32, n: u64) {
        debug_assert!(!matches!(ty, Ty::Bits { .. }), "no arrays of bit-fields in C");
        self.bytes(image, at, n as usize * ty.c_layout().0);
    }

    fn text(&mut self, image: &Image, at: u32, n: u64, unit: u32) {
        self.bytes(image, at, n as usize * unit as usize);
    }

    fn pointer(&mut self, _image: &Image, p: &Ptr, what: Pointee) {
        if what == Pointee::Bare {
            return self.u64(p.addr);
        }
        self.u32(p.attrib);
        let counted = p.attrib & attrib::KINDS != attrib::SINGLE;
        if p.is_null() {
            if matches!(what, Pointee::Inner(ty) if !matches!(ty, Ty::Struct(_))) {
                self.u64(p.len);
            }
            return;
        }
        if p.attrib & attrib::ADDRESS != 0 {
            self.u64(p.addr);
        }
        if counted {
            self.u64(p.len);
        }
    }

    fn template_counts(&mut self, counts: [u64; 3]) {
        counts.into_iter().for_each(|n| self.u64(n));
    }

    fn template_tail(&mut self, count: u64, ty: u64) {
        self.u64(count);
        if ty != TEMPLATE_STRAY {
            self.u32(ty as u32);
        }
    }
}
