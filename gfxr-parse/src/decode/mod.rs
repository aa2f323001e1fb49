//! The one interpreter that turns a call's parameter bytes into an [`Image`].
//!
//! It walks the schema and the bytes side by side. Guarantees of the result: see `image.rs`. Refuses: missing or
//! left-over bytes, attribute bits that contradict the schema, unknown sTypes, anything beyond `limits.rs`. A length
//! is trusted only after its bytes have been seen, so memory grows with the input (times the ratio of C size to wire
//! size of a struct, which `MAX_IMAGE_BYTES` bounds).

mod reader;
pub(crate) mod special;
#[cfg(test)]
mod tests;

/// Where the parts of update-template data lie in an image (see `special.rs`).
pub mod template {
    /// Bytes in front of the packed descriptors.
    pub const HEADER_BYTES: usize = super::special::TEMPLATE_HEADER_WORDS * 8;
    /// Bytes in front of each tail's payload.
    pub const TAIL_HEADER_BYTES: usize = 16;
}

use crate::error::{Error, Kind, Result};
use crate::image::{HandleAt, Image, Ptr, attrib};
use crate::limits::{MAX_DEPTH, MAX_IMAGE_BYTES, MAX_PNEXT};
use crate::schema::generated::STRUCTS;
use crate::schema::{CommandDef, Len, Member, Shape, Special, StructId, TRAILING, Ty, struct_by_stype};

/// Decodes the parameters of `command` into `image`, which is cleared first and keeps its memory between calls.
///
/// Offsets in errors are relative to `params`.
pub fn decode_call(command: &'static CommandDef, params: &[u8], image: &mut Image) -> Result<()> {
    image.clear();
    image.command = Some(command);
    let mut d = Decoder::new(params, image);
    d.call(command).map_err(|e| e.within(command.name))
}

/// Decodes `count` structs of type `id` that lie back to back behind one array preamble (the form in which some
/// metadata blocks carry structs), with nothing after them. The array's pointer is the image's first slot.
pub fn decode_struct_array(id: StructId, encoded: &[u8], image: &mut Image) -> Result<usize> {
    image.clear();
    let mut d = Decoder::new(encoded, image);
    let at = d.alloc(8)?;
    d.array(Ty::Struct(id), at).map_err(|e| e.within(STRUCTS[id as usize].name))?;
    Ok(d.pos)
}

/// Decodes an array of arrays of structs of type `id` (an acceleration structure's build ranges in a metadata block).
pub fn decode_struct_array2(id: StructId, encoded: &[u8], image: &mut Image) -> Result<usize> {
    image.clear();
    let mut d = Decoder::new(encoded, image);
    let at = d.alloc(8)?;
    d.array2(Ty::Struct(id), at).map_err(|e| e.within(STRUCTS[id as usize].name))?;
    Ok(d.pos)
}

struct Decoder<'a, 'i> {
    input: &'a [u8],
    pos: usize,
    image: &'i mut Image,
    /// Inside memory the driver writes.
    out: bool,
    depth: usize,
    chain: usize,
}

impl<'a, 'i> Decoder<'a, 'i> {
    fn new(input: &'a [u8], image: &'i mut Image) -> Self {
        Decoder { input, pos: 0, image, out: false, depth: 0, chain: 0 }
    }

    fn call(&mut self, c: &'static CommandDef) -> Result<()> {
        let slots = c.params.len() + usize::from(c.ret.is_some());
        self.alloc(slots * 8)?;
        for p in c.params {
            self.out = p.out;
            self.member(p, 0).map_err(|e| e.within(p.name))?;
        }
        self.out = false;
        if c.trailing {
            let at = self.trailing_slot(c)?;
            self.template(at).map_err(|e| e.within(TRAILING.name))?;
        }
        // What came back is no input: an address in it is not one to translate.
        self.out = true;
        if let Some(ty) = c.ret {
            let at = self.image.ret_at();
            self.value(ty, at).map_err(|e| e.within("return"))?;
        }
        self.counts(c.params, 0);
        let left = self.input.len() - self.pos;
        if left != 0 {
            return Err(Error::malformed(format!("{left} bytes are left over after the last parameter"))
                .at_offset(self.pos as u64));
        }
        Ok(())
    }

    /// Where the pointer to trailing template data lies: `pData` in the last parameter's struct.
    fn trailing_slot(&mut self, c: &CommandDef) -> Result<u32> {
        let last = c.params.len() - 1;
        let member = match c.params[last].ty {
            Ty::Struct(id) => STRUCTS[id as usize].members.iter().find(|m| m.shape == Shape::Absent),
            _ => None,
        };
        match (member, self.image.target(last as u32 * 8)) {
            (Some(m), Some(to)) => Ok(to + m.at),
            // No struct to hold the pointer: it gets a slot that nothing refers to.
            _ => self.alloc(8),
        }
    }

    fn member(&mut self, m: &Member, base: u32) -> Result<()> {
        let at = base + m.at;
        match m.shape {
            Shape::Value => self.value(m.ty, at),
            Shape::Fixed(n) => self.fixed(m.ty, at, n as u64),
            Shape::Fixed2(n, k) => self.fixed(m.ty, at, n as u64 * k as u64),
            Shape::FixedStr(n) => self.fixed_str(at, n as u64),
            Shape::Ptr => self.single(m.ty, at),
            Shape::Array => self.array(m.ty, at),
            Shape::Str => self.string(at, attrib::STRING, 1),
            Shape::WStr => self.string(at, attrib::WSTRING, 2),
            Shape::StrArray => self.strings(at),
            Shape::Array2 => self.array2(m.ty, at),
            Shape::PtrPtr => self.single(Ty::Opaque, at),
            Shape::PNext => self.pnext(at),
            Shape::Absent => Ok(()),
            Shape::TemplateData => self.template(at),
        }
    }

    /// One element by value at `at`, whose memory is already there.
    fn value(&mut self, ty: Ty, at: u32) -> Result<()> {
        match ty {
            Ty::Struct(id) => return self.strukt(id, at),
            Ty::Bits { shift, width } => {
                let v = self.u32()?;
                if width < 32 && v >> width != 0 {
                    let e = Error::malformed(format!("expected a value of {width} bits, found {v:#x}"));
                    return Err(e.at_offset(self.pos as u64 - 4));
                }
                let unit = self.image.u32(at) | v << shift;
                self.image.set_u32(at, unit);
            }
            Ty::Handle(h) => {
                let id = self.u64()?;
                self.image.set_u64(at, id);
                if id != 0 {
                    self.image.handles.push(HandleAt { at, ty: h, out: self.out, lenient: false });
                }
            }
            Ty::DeviceAddress => {
                let v = self.u64()?;
                self.image.set_u64(at, v);
                if v != 0 && !self.out {
                    self.image.addresses.push(at);
                }
            }
            Ty::Opaque => {
                let v = self.u64()?;
                self.image.set_u64(at, v);
                if v != 0 {
                    self.image.opaque.push(at);
                }
            }
            _ => match ty.c_layout().0 {
                4 => {
                    let v = self.u32()?;
                    self.image.set_u32(at, v);
                }
                8 => {
                    let v = self.u64()?;
                    self.image.set_u64(at, v);
                }
                n => {
                    let bytes = self.take(n)?;
                    let at = at as usize;
                    self.image.bytes_mut()[at..at + n].copy_from_slice(bytes);
                }
            },
        }
        Ok(())
    }

    /// `n` elements by value from `at` on.
    fn elements(&mut self, ty: Ty, at: u32, n: u64) -> Result<()> {
        let (size, _) = ty.c_layout();
        match ty {
            Ty::Struct(_) | Ty::Handle(_) | Ty::DeviceAddress | Ty::Opaque | Ty::Bits { .. } => {
                for i in 0..n {
                    self.value(ty, at + (i as usize * size) as u32)
                        .map_err(|e| e.within(&format!("[{i}]")))?;
                }
            }
            _ => {
                let len = n as usize * size;
                let bytes = self.take(len)?;
                let at = at as usize;
                self.image.bytes_mut()[at..at + len].copy_from_slice(bytes);
            }
        }
        Ok(())
    }

    fn strukt(&mut self, id: StructId, at: u32) -> Result<()> {
        let def = &STRUCTS[id as usize];
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Error::limit("nesting of structs", self.depth as u64, MAX_DEPTH as u64)
                .at_offset(self.pos as u64));
        }
        if def.special == Special::None {
            if let Some(stype) = def.stype {
                self.check_stype(def.name, stype)?;
            }
            for m in def.members {
                self.member(m, at).map_err(|e| e.within(m.name))?;
            }
            self.counts(def.members, at);
        } else {
            self.special(def, at)?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// A struct that says what it is must say so: the first sign of bytes and schema having lost each other.
    fn check_stype(&self, name: &str, want: u32) -> Result<()> {
        if let Some(b) = self.input.get(self.pos..self.pos + 4) {
            let found = u32::from_le_bytes(b.try_into().expect("4 bytes"));
            // Zero is left by applications that never filled an output structure in; drivers ignore it.
            if found != want && found != 0 {
                let named = struct_by_stype(found).map_or("no known struct", |s| STRUCTS[s as usize].name);
                return Err(Error::malformed(format!(
                    "expected the sType of {name} ({want}), found {found} ({named})"
                ))
                .at_offset(self.pos as u64));
            }
        }
        Ok(())
    }

    /// `T*` to one element.
    fn single(&mut self, ty: Ty, at: u32) -> Result<()> {
        let i = self.preamble(at, attrib::SINGLE | attrib::ARRAY, false)?;
        if self.image.ptrs[i].is_array() {
            return self.array_data(ty, i);
        }
        if self.image.ptrs[i].has_data() {
            self.need(1)?;
            let to = self.alloc(ty.c_layout().0)?;
            self.image.ptrs[i].to = to;
            self.value(ty, to)?;
        } else if self.out {
            self.image.ptrs[i].out_size = ty.c_layout().0 as u32;
        }
        Ok(())
    }

    /// `T*` to as many elements as the wire says.
    fn array(&mut self, ty: Ty, at: u32) -> Result<()> {
        // A trimmed capture's snapshot has single structs where the API has arrays.
        let i = self.preamble(at, attrib::SINGLE | attrib::ARRAY, false)?;
        self.array_data(ty, i)
    }

    fn array_data(&mut self, ty: Ty, i: usize) -> Result<()> {
        let p = self.image.ptrs[i];
        if p.has_data() && p.len > 0 {
            self.need(p.len.saturating_mul(wire_min(ty)))?;
            let size = (p.len as usize).saturating_mul(ty.c_layout().0);
            let to = self.alloc(size)?;
            self.image.ptrs[i].to = to;
            self.elements(ty, to, p.len)?;
        } else if self.out && !p.has_data() {
            self.image.ptrs[i].out_size = ty.c_layout().0 as u32;
        }
        Ok(())
    }

    /// `T name[capacity]` inside a struct.
    fn fixed(&mut self, ty: Ty, at: u32, capacity: u64) -> Result<()> {
        let i = self.preamble(at, attrib::ARRAY, true)?;
        let p = self.image.ptrs[i];
        if p.len > capacity {
            return Err(Error::malformed(format!("expected at most {capacity} elements, found {}", p.len))
                .at_offset(self.pos as u64));
        }
        if p.has_data() {
            self.image.ptrs[i].to = at;
            self.elements(ty, at, p.len)?;
        }
        Ok(())
    }

    fn fixed_str(&mut self, at: u32, capacity: u64) -> Result<()> {
        let i = self.preamble(at, attrib::STRING, true)?;
        let p = self.image.ptrs[i];
        if p.len > capacity {
            return Err(Error::malformed(format!("expected at most {capacity} characters, found {}", p.len))
                .at_offset(self.pos as u64));
        }
        if p.has_data() {
            self.image.ptrs[i].to = at;
            self.elements(Ty::U8, at, p.len)?;
        }
        Ok(())
    }

    fn string(&mut self, at: u32, kind: u32, unit: usize) -> Result<()> {
        let i = self.preamble(at, kind, false)?;
        let p = self.image.ptrs[i];
        if p.has_data() {
            self.need(p.len.saturating_mul(unit as u64))?;
            let n = p.len as usize * unit;
            let to = self.alloc(n + unit)?; // the terminating zero is not on the wire
            self.image.ptrs[i].to = to;
            self.elements(Ty::U8, to, n as u64)?;
        }
        Ok(())
    }

    fn strings(&mut self, at: u32) -> Result<()> {
        let i = self.preamble(at, attrib::STRING, false)?;
        let p = self.image.ptrs[i];
        if p.has_data() && p.len > 0 {
            self.need(p.len.saturating_mul(4))?;
            let to = self.alloc(p.len as usize * 8)?;
            self.image.ptrs[i].to = to;
            for k in 0..p.len as u32 {
                self.string(to + k * 8, attrib::STRING, 1).map_err(|e| e.within(&format!("[{k}]")))?;
            }
        }
        Ok(())
    }

    fn array2(&mut self, ty: Ty, at: u32) -> Result<()> {
        let i = self.preamble(at, attrib::ARRAY2D, false)?;
        let p = self.image.ptrs[i];
        if p.has_data() && p.len > 0 {
            self.need(p.len.saturating_mul(4))?;
            let to = self.alloc(p.len as usize * 8)?;
            self.image.ptrs[i].to = to;
            for k in 0..p.len as u32 {
                self.inner_array(ty, to + k * 8).map_err(|e| e.within(&format!("[{k}]")))?;
            }
        }
        Ok(())
    }

    fn inner_array(&mut self, ty: Ty, at: u32) -> Result<()> {
        let i = self.preamble(at, attrib::ARRAY, false)?;
        // The writer of scalar inner arrays puts the length down even for a null one.
        if self.image.ptrs[i].is_null() && !matches!(ty, Ty::Struct(_)) {
            self.image.ptrs[i].len = self.u64()?;
        }
        self.array_data(ty, i)
    }

    fn pnext(&mut self, at: u32) -> Result<()> {
        let i = self.preamble(at, attrib::SINGLE, false)?;
        if !self.image.ptrs[i].has_data() {
            return Ok(());
        }
        self.chain += 1;
        if self.chain > MAX_PNEXT {
            return Err(Error::limit("pNext chain length", self.chain as u64, MAX_PNEXT as u64)
                .at_offset(self.pos as u64));
        }
        let stype = self.peek_u32()?;
        let Some(id) = struct_by_stype(stype) else {
            return Err(Error::new(
                Kind::Unknown,
                format!(
                    "sType {stype} is not in the registry of this build ({})",
                    crate::schema::generated::REGISTRY_VERSION
                ),
            )
            .at_offset(self.pos as u64));
        };
        let def = &STRUCTS[id as usize];
        let to = self.alloc(def.size as usize)?;
        self.image.ptrs[i].to = to;
        self.strukt(id, to).map_err(|e| e.within(&format!("<{}>", def.name)))?;
        self.chain -= 1;
        Ok(())
    }

    /// Reads a pointer's preamble, records it and marks its slot. Returns the record's index. `kinds`: which kinds of
    /// pointer it may be; it is to be exactly one of them. All but [`attrib::SINGLE`] have a length behind them.
    fn preamble(&mut self, at: u32, kinds: u32, inline: bool) -> Result<usize> {
        let start = self.pos;
        let a = self.u32()?;
        let null = a & attrib::NULL != 0;
        // A string is written as a single one, an array of strings as an array as well.
        let plain = attrib::SINGLE | attrib::ARRAY;
        let kind = a & attrib::KINDS & if kinds & plain == 0 { !plain } else { !0 };
        if a & !attrib::ALL != 0 || (!null && (kind & kinds != kind || kind.count_ones() != 1)) {
            return Err(Error::malformed(format!(
                "expected the preamble of {} pointer, found {a:#x}",
                attrib_name(kinds)
            ))
            .at_offset(start as u64));
        }
        let counted = kind != attrib::SINGLE;
        let mut p =
            Ptr { at, to: 0, attrib: a, inline, len: u64::from(!counted && !null), addr: 0, out_size: 0 };
        if !null {
            if a & attrib::ADDRESS != 0 {
                p.addr = self.u64()?;
            }
            if counted {
                p.len = self.u64()?;
            }
        }
        let i = self.image.ptrs.len();
        self.image.ptrs.push(p);
        if !inline && !null {
            self.image.set_u64(at, i as u64 + 1);
        }
        Ok(i)
    }

    /// Grows the image by `size` bytes within the limit.
    fn alloc(&mut self, size: usize) -> Result<u32> {
        if size > MAX_IMAGE_BYTES || self.image.len() + size > MAX_IMAGE_BYTES {
            return Err(Error::limit("size of the decoded call", size as u64, MAX_IMAGE_BYTES as u64)
                .at_offset(self.pos as u64));
        }
        Ok(self.image.alloc(size))
    }

    /// Compares what counts say with what arrays brought.
    fn counts(&mut self, members: &[Member], base: u32) {
        for m in members {
            if m.shape != Shape::Array && m.shape != Shape::Array2 && m.shape != Shape::StrArray {
                continue;
            }
            let Some(n) = self.image.ptr(base + m.at).map(|p| (p.len, p.has_data())) else { continue };
            let Some(count) = self.count_of(members, base, m.len) else { continue };
            if count > n.0 {
                let record = self.image.u64(base + m.at) as u32 - 1;
                self.image.short.push((record, count));
            }
        }
    }

    fn count_of(&self, members: &[Member], base: u32, len: Len) -> Option<u64> {
        match len {
            Len::Member(i) => self.integer(members.get(i as usize)?, base),
            Len::MemberDiv(i, by) => Some(self.integer(members.get(i as usize)?, base)?.div_ceil(by as u64)),
            Len::Field(p, f) => {
                let Ty::Struct(id) = members.get(p as usize)?.ty else { return None };
                let to = self.image.target(base + members[p as usize].at)?;
                self.integer(STRUCTS[id as usize].members.get(f as usize)?, to)
            }
            Len::Const(n) => Some(n as u64),
            Len::None | Len::Other => None,
        }
    }

    fn integer(&self, m: &Member, base: u32) -> Option<u64> {
        let at = match m.shape {
            Shape::Value => base + m.at,
            Shape::Ptr => self.image.target(base + m.at)?,
            _ => return None,
        };
        Some(match m.ty.c_layout().0 {
            1 => self.image.u8(at) as u64,
            2 => self.image.u16(at) as u64,
            4 => self.image.u32(at) as u64,
            _ => self.image.u64(at),
        })
    }
}

/// The fewest bytes one element takes on the wire; used to reject a length before allocating for it.
fn wire_min(ty: Ty) -> u64 {
    match ty {
        // Every member is at least one byte wide; specials write at least one value.
        Ty::Struct(id) => {
            let s = &STRUCTS[id as usize];
            if s.special != Special::None {
                1
            } else {
                s.members.iter().map(wire_min_member).sum::<u64>().max(1)
            }
        }
        Ty::Bits { .. } => 4,
        _ => ty.c_layout().0 as u64,
    }
}

fn wire_min_member(m: &Member) -> u64 {
    match m.shape {
        Shape::Value => match m.ty {
            Ty::Struct(_) => 1,
            Ty::Bits { .. } => 4,
            _ => m.ty.c_layout().0 as u64,
        },
        Shape::Absent => 0,
        _ => 4,
    }
}

fn attrib_name(kinds: u32) -> &'static str {
    match kinds {
        attrib::SINGLE => "a single",
        attrib::ARRAY => "an array",
        _ if kinds == attrib::SINGLE | attrib::ARRAY => "a single or an array",
        attrib::STRING => "a string",
        attrib::WSTRING => "a wide-string",
        _ => "an array-of-arrays",
    }
}
