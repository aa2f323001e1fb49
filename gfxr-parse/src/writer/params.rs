//! Encoding a call's parameters by hand: what tests and tools write synthetic captures with.
//!
//! ```text
//! pointer   u32 attributes | [u64 address] | [u64 length] | [data]
//! ```
//!
//! Guarantees: every pointer is written as gfxreconstruct's encoder writes it. Refuses nothing: what it writes is as
//! right as its caller.

use crate::container::fields::Put;
use crate::image::attrib;

/// The address written where nobody cares: not null, that is all that matters.
pub const SOME_ADDRESS: u64 = 0x7F00_0000_1000;

/// Appends values in wire order; methods chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParamWriter {
    out: Vec<u8>,
}

macro_rules! scalars {
    ($( $name:ident: $ty:ty, $array:ident, $ptr:ident, $doc:literal; )*) => {
        impl ParamWriter {
            $(
                #[doc = concat!($doc, ", by value.")]
                pub fn $name(&mut self, v: $ty) -> &mut Self {
                    self.bytes(&v.to_le_bytes())
                }
                #[doc = concat!("A pointer to one: ", $doc, ".")]
                pub fn $ptr(&mut self, v: $ty) -> &mut Self {
                    self.preamble(attrib::SINGLE | attrib::DATA, None).$name(v)
                }
                #[doc = concat!("An array: ", $doc, ".")]
                pub fn $array(&mut self, vs: &[$ty]) -> &mut Self {
                    self.preamble(attrib::ARRAY | attrib::DATA, Some(vs.len() as u64));
                    vs.iter().for_each(|v| self.out.put(&v.to_le_bytes()));
                    self
                }
            )*
        }
    };
}

scalars! {
    u8: u8, u8_array, u8_ptr, "8 bits, also blobs";
    u16: u16, u16_array, u16_ptr, "16 bits";
    u32: u32, u32_array, u32_ptr, "32 bits: integers, enums, flags, VkBool32, VkResult";
    i32: i32, i32_array, i32_ptr, "32 bits, signed";
    u64: u64, u64_array, u64_ptr, "64 bits: handle ids, sizes, addresses, 64-bit flags";
    i64: i64, i64_array, i64_ptr, "64 bits, signed";
    f32: f32, f32_array, f32_ptr, "a float";
    f64: f64, f64_array, f64_ptr, "a double";
}

impl ParamWriter {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }
    /// What has been written.
    pub fn as_bytes(&self) -> &[u8] {
        &self.out
    }
    /// The same, taken out; the writer is empty again.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }
    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.out.put(bytes);
        self
    }
    /// A pointer's preamble with these [`attrib`] bits, the address bit added; the caller writes the data.
    pub fn preamble(&mut self, attributes: u32, length: Option<u64>) -> &mut Self {
        self.pointer(attributes | attrib::ADDRESS, SOME_ADDRESS, length)
    }
    /// A pointer's preamble exactly so: the address if [`attrib::ADDRESS`] is set, the length if there is one.
    pub fn pointer(&mut self, attributes: u32, address: u64, length: Option<u64>) -> &mut Self {
        self.out.put_u32(attributes);
        if attributes & attrib::ADDRESS != 0 {
            self.out.put_u64(address);
        }
        if let Some(length) = length {
            self.out.put_u64(length);
        }
        self
    }
    /// A null pointer; `attributes` say to what.
    pub fn null(&mut self, attributes: u32) -> &mut Self {
        self.u32(attributes | attrib::NULL)
    }
    /// A null pointer to a struct; also the end of a pNext chain, and pAllocator.
    pub fn null_struct(&mut self) -> &mut Self {
        self.null(attrib::STRUCT | attrib::SINGLE)
    }
    /// A null array of structs.
    pub fn null_structs(&mut self) -> &mut Self {
        self.null(attrib::STRUCT | attrib::ARRAY)
    }
    /// A null array of anything else.
    pub fn null_array(&mut self) -> &mut Self {
        self.null(attrib::ARRAY)
    }
    /// A null string.
    pub fn null_string(&mut self) -> &mut Self {
        self.null(attrib::STRING | attrib::SINGLE)
    }
    /// A pointer to one whose data the capture left out (an output of a call that failed).
    pub fn ptr_without_data(&mut self) -> &mut Self {
        self.preamble(attrib::SINGLE, None)
    }
    /// An array whose data the capture left out.
    pub fn array_without_data(&mut self, length: u64) -> &mut Self {
        self.preamble(attrib::ARRAY, Some(length))
    }
    /// A string.
    pub fn string(&mut self, text: &str) -> &mut Self {
        self.preamble(attrib::STRING | attrib::SINGLE | attrib::DATA, Some(text.len() as u64));
        self.bytes(text.as_bytes())
    }
    /// A wide string, 2-byte units.
    pub fn wide_string(&mut self, text: &str) -> &mut Self {
        let units: Vec<u16> = text.encode_utf16().collect();
        self.preamble(attrib::WSTRING | attrib::SINGLE | attrib::DATA, Some(units.len() as u64));
        units.iter().for_each(|u| self.out.put(&u.to_le_bytes()));
        self
    }
    /// An array of strings.
    pub fn strings(&mut self, texts: &[&str]) -> &mut Self {
        self.preamble(attrib::STRING | attrib::ARRAY | attrib::DATA, Some(texts.len() as u64));
        texts.iter().for_each(|t| {
            self.string(t);
        });
        self
    }
    /// A pointer to a struct whose members `members` writes; a link of a pNext chain begins with its sType.
    pub fn structure(&mut self, members: impl FnOnce(&mut Self)) -> &mut Self {
        self.preamble(attrib::STRUCT | attrib::SINGLE | attrib::DATA, None);
        members(self);
        self
    }
    /// An array of `n` structs; `members` writes those of number `i`.
    pub fn structures(&mut self, n: usize, mut members: impl FnMut(&mut Self, usize)) -> &mut Self {
        self.preamble(attrib::STRUCT | attrib::ARRAY | attrib::DATA, Some(n as u64));
        (0..n).for_each(|i| members(self, i));
        self
    }
    /// An array of arrays of scalars; `inner` writes number `i` (with [`ParamWriter::u32_array`], …).
    pub fn arrays(&mut self, n: usize, mut inner: impl FnMut(&mut Self, usize)) -> &mut Self {
        self.preamble(attrib::ARRAY2D | attrib::DATA, Some(n as u64));
        (0..n).for_each(|i| inner(self, i));
        self
    }
    /// An array of arrays of structs; `inner` writes number `i` (with [`ParamWriter::structures`]).
    pub fn structure_arrays(&mut self, n: usize, mut inner: impl FnMut(&mut Self, usize)) -> &mut Self {
        self.preamble(attrib::STRUCT | attrib::ARRAY2D | attrib::DATA, Some(n as u64));
        (0..n).for_each(|i| inner(self, i));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_look_like_the_encoders() {
        let mut w = ParamWriter::new();
        w.u32_ptr(7).u8_array(&[1, 2]).string("ab").null_struct();
        w.structure(|w| {
            w.u32(3);
        });
        let a = SOME_ADDRESS.to_le_bytes();
        let want: Vec<u8> = [
            &[0xC2, 0, 0, 0][..],
            &a,
            &[7, 0, 0, 0],
            &[0xC4, 0, 0, 0],
            &a,
            &[2, 0, 0, 0, 0, 0, 0, 0],
            &[1, 2],
            &[0xCA, 0, 0, 0],
            &a,
            &[2, 0, 0, 0, 0, 0, 0, 0],
            b"ab",
            &[0x23, 0, 0, 0],
            &[0xE2, 0, 0, 0],
            &a,
            &[3, 0, 0, 0],
        ]
        .concat();
        assert_eq!(w.take(), want);
        w.strings(&["x"]).array_without_data(4).ptr_without_data();
        let want: Vec<u8> = [
            &[0xCC, 0, 0, 0][..],
            &a,
            &[1, 0, 0, 0, 0, 0, 0, 0],
            &[0xCA, 0, 0, 0],
            &a,
            &[1, 0, 0, 0, 0, 0, 0, 0],
            b"x",
            &[0x44, 0, 0, 0],
            &a,
            &[4, 0, 0, 0, 0, 0, 0, 0],
            &[0x42, 0, 0, 0],
            &a,
        ]
        .concat();
        assert_eq!(w.take(), want);
        w.structure_arrays(1, |w, _| {
            w.structures(1, |w, _| {
                w.u64(9);
            });
        });
        let want: Vec<u8> = [
            &[0xE0, 1, 0, 0][..],
            &a,
            &[1, 0, 0, 0, 0, 0, 0, 0],
            &[0xE4, 0, 0, 0],
            &a,
            &[1, 0, 0, 0, 0, 0, 0, 0],
            &[9, 0, 0, 0, 0, 0, 0, 0],
        ]
        .concat();
        assert_eq!(w.take(), want);
    }
}
