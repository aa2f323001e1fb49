//! The one interpreter that turns a call's parameter bytes into an [`Image`].
//!
//! It walks the schema and the bytes side by side. Guarantees of the result: see `image.rs`. Refuses: missing or
//! left-over bytes, attribute bits that contradict the schema, unknown sTypes, anything beyond `limits.rs`. A length
//! is trusted only after its bytes have been seen, so memory grows with the input (times the ratio of C size to wire
//! size of a struct, which `MAX_IMAGE_BYTES` bounds, and the capture's budget where a call was found in one).

mod reader;
pub(crate) mod special;
#[cfg(test)]
mod tests;

/// Where the parts of update-template data lie in an image (see `special.rs`).
pub mod template {
    /// Bytes in front of the packed descriptors.
    pub const HEADER_BYTES: usize = super::TEMPLATE_HEADER_WORDS * 8;
    /// Bytes in front of each tail's payload.
    pub const TAIL_HEADER_BYTES: usize = 16;

    use crate::image::Image;

    /// How many image infos, buffer infos, texel buffer views and tails the header at `at` says there are.
    pub fn counts(image: &Image, at: u32) -> [u64; 4] {
        [0, 8, 16, 24].map(|word| image.u64(at + word))
    }
    /// How many elements (or bytes) the tail at `at` has, and their VkDescriptorType.
    pub fn tail(image: &Image, at: u32) -> (u64, u64) {
        (image.u64(at), image.u64(at + 8))
    }
}

use crate::container::{Block, Budget, FunctionCall, Scratch};
use crate::error::{Error, Kind, Result};
use crate::image::{HandleAt, Image, Ptr, attrib};
use crate::limits::{MAX_DEPTH, MAX_IMAGE_BYTES, MAX_PNEXT, deeper};
use crate::schema::generated::STRUCTS;
use crate::schema::{CommandDef, Member, Shape, Special, StructId, TRAILING, Ty, struct_by_stype};

/// Decodes the parameters of `command` into `image`, which is cleared first and keeps its memory between calls.
///
/// Offsets in errors are relative to `params`.
pub fn decode_call(command: &'static CommandDef, params: &[u8], image: &mut Image) -> Result<()> {
    decode_within(command, params, Budget::new(u64::MAX), image)
}

#[inline]
fn decode_within(
    command: &'static CommandDef,
    params: &[u8],
    budget: Budget,
    image: &mut Image,
) -> Result<()> {
    image.clear();
    image.command = Some(command);
    let mut d = Decoder { budget, ..Decoder::new(params, image) };
    d.call(command).map_err(|e| e.within(command.name))
}

/// Decompresses and decodes the parameters of a call that was found in `block`, and gives the decompressed bytes.
///
/// What both take together stays within the budget of the capture; errors have their place in the file.
#[inline]
pub fn decode_found<'s>(
    command: &'static CommandDef,
    block: &Block<'s>,
    call: &FunctionCall<'s>,
    scratch: &'s mut Scratch,
    image: &mut Image,
) -> Result<&'s [u8]> {
    let payload = &call.payload;
    if payload.is_compressed() && payload.size() > MAX_IMAGE_BYTES as u64 {
        let e = Error::limit("uncompressed size of a call", payload.size(), MAX_IMAGE_BYTES as u64);
        return Err(block.blame(e.at_offset(payload.offset()).within(command.name)));
    }
    let params = payload.bytes(scratch)?;
    match decode_within(command, params, payload.budget(), image) {
        Ok(()) => Ok(params),
        Err(e) if payload.is_compressed() => Err(block.blame(e.in_decompressed())),
        Err(e) => Err(block.blame(e.rebase(payload.offset()))),
    }
}

/// Decodes `count` structs of type `id` that lie back to back behind one array preamble (the form in which some
/// metadata blocks carry structs), with nothing after them. The array's pointer is the image's first slot.
pub fn decode_struct_array(id: StructId, encoded: &[u8], image: &mut Image) -> Result<usize> {
    image.clear();
    let mut d = Decoder::new(encoded, image);
    let at = d.alloc(8)?;
    d.elements_at(Ty::Struct(id), at).map_err(|e| e.within(STRUCTS[id as usize].name))?;
    Ok(d.pos())
}

/// Decodes an array of arrays of structs of type `id` (an acceleration structure's build ranges in a metadata block).
pub fn decode_struct_array2(id: StructId, encoded: &[u8], image: &mut Image) -> Result<usize> {
    image.clear();
    let mut d = Decoder::new(encoded, image);
    let at = d.alloc(8)?;
    d.array2(Ty::Struct(id), at).map_err(|e| e.within(STRUCTS[id as usize].name))?;
    Ok(d.pos())
}

/// Words of the header that update-template data carry in an image: image, buffer and texel-buffer counts, then the
/// number of tails.
pub const TEMPLATE_HEADER_WORDS: usize = 4;

/// Images up to this size are not held against their limit, which is larger but where the budget is used up.
const SMALL_IMAGE_BYTES: usize = 64 << 10;
/// The same for records of pointers.
const FEW_PTRS: usize = SMALL_IMAGE_BYTES / size_of::<Ptr>();

struct Decoder<'a, 'i> {
    /// How many bytes there were, and those not read yet.
    size: usize,
    budget: Budget,
    rest: &'a [u8],
    image: &'i mut Image,
    /// Inside memory the driver writes.
    out: bool,
    depth: usize,
    chain: usize,
    /// So many pointers may be recorded before their memory is held against the limit (again).
    ptrs: usize,
}

impl<'a, 'i> Decoder<'a, 'i> {
    fn new(input: &'a [u8], image: &'i mut Image) -> Self {
        Decoder {
            size: input.len(),
            budget: Budget::new(u64::MAX),
            rest: input,
            image,
            out: false,
            depth: 0,
            chain: 0,
            ptrs: FEW_PTRS,
        }
    }

    fn call(&mut self, c: &'static CommandDef) -> Result<()> {
        let slots = c.params.len() + usize::from(c.ret.is_some());
        self.alloc(slots * 8)?;
        self.members::<true>(c.params, 0)?;
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
        if !self.rest.is_empty() {
            let text = format!("{} bytes are left over after the last parameter", self.left());
            return Err(Error::malformed(text).at_offset(self.pos() as u64));
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

    /// Members, or parameters, one after the other. What most of them are is read right here: on the small calls that
    /// captures are made of, entering and leaving functions costs more than reading does.
    fn members<const PARAMS: bool>(&mut self, members: &'static [Member], base: u32) -> Result<()> {
        for m in members {
            let at = base + m.at;
            if PARAMS {
                self.out = m.out;
            }
            match m.shape {
                Shape::Value => self.value(m.ty, at),
                Shape::Ptr | Shape::Array => self.elements_at(m.ty, at),
                _ => self.member(m, base),
            }
            .map_err(|e| e.within(m.name))?;
        }
        Ok(())
    }

    #[inline(never)]
    fn member(&mut self, m: &Member, base: u32) -> Result<()> {
        let at = base + m.at;
        match m.shape {
            Shape::Value => self.value(m.ty, at),
            Shape::Fixed(n) => self.fixed(m.ty, at, n as u64),
            Shape::Fixed2(n, k) => self.fixed(m.ty, at, n as u64 * k as u64),
            Shape::FixedStr(n) => self.fixed_str(at, n as u64),
            Shape::Ptr | Shape::Array => self.elements_at(m.ty, at),
            Shape::Str => self.string(at, attrib::STRING, 1),
            Shape::WStr => self.string(at, attrib::WSTRING, 2),
            Shape::StrArray => self.strings(at),
            Shape::Array2 => self.array2(m.ty, at),
            Shape::PtrPtr => self.elements_at(Ty::Opaque, at),
            Shape::PNext => self.pnext(at),
            Shape::Absent => Ok(()),
            Shape::TemplateData => self.template(at),
        }
    }

    /// One element by value at `at`, whose memory is already there.
    #[inline(always)]
    fn value(&mut self, ty: Ty, at: u32) -> Result<()> {
        match ty {
            Ty::Handle(h) => {
                let id = self.u64()?;
                self.image.set_u64(at, id);
                if id != 0 {
                    self.image.handles.push(HandleAt { at, ty: h, out: self.out, lenient: false });
                }
            }
            Ty::Struct(id) => return self.strukt(id, at),
            Ty::U32 | Ty::I32 | Ty::F32 | Ty::Bool32 | Ty::Enum(_) | Ty::Flags(_) => {
                let v = self.u32()?;
                self.image.set_u32(at, v);
            }
            _ => return self.rare_value(ty, at),
        }
        Ok(())
    }

    #[inline(never)]
    fn rare_value(&mut self, ty: Ty, at: u32) -> Result<()> {
        match ty {
            Ty::Bits { shift, width } => {
                let v = self.u32()?;
                if width < 32 && v >> width != 0 {
                    let e = Error::malformed(format!("expected a value of {width} bits, found {v:#x}"));
                    return Err(e.at_offset(self.pos() as u64 - 4));
                }
                let unit = self.image.u32(at) | v << shift;
                self.image.set_u32(at, unit);
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
            _ => {
                let n = ty.c_layout().0;
                let bytes = self.take(n)?;
                self.image.put(at, bytes);
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn element(&mut self, ty: Ty, at: u32) -> Result<()> {
        self.value(ty, at)
    }

    /// `n` elements by value from `at` on.
    #[inline(never)]
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
                let bytes = self.take(n as usize * size)?;
                self.image.put(at, bytes);
            }
        }
        Ok(())
    }

    fn strukt(&mut self, id: StructId, at: u32) -> Result<()> {
        let def = &STRUCTS[id as usize];
        self.bounded_ptrs()?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Error::limit("nesting of structs", self.depth as u64, MAX_DEPTH as u64)
                .at_offset(self.pos() as u64));
        }
        if def.special == Special::None {
            if let Some(stype) = def.stype {
                self.check_stype(def.name, stype)?;
            }
            self.members::<false>(def.members, at)?;
        } else {
            self.special(def, at)?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// A struct that says what it is must say so: the first sign of bytes and schema having lost each other.
    fn check_stype(&self, name: &str, want: u32) -> Result<()> {
        if let Some(b) = self.rest.first_chunk() {
            let found = u32::from_le_bytes(*b);
            // Applications leave anything in structs that are filled in for them, and drivers ignore it.
            if found != want && found != 0 && !self.out {
                let named = struct_by_stype(found).map_or("no known struct", |s| STRUCTS[s as usize].name);
                return Err(Error::malformed(format!(
                    "expected the sType of {name} ({want}), found {found} ({named})"
                ))
                .at_offset(self.pos() as u64));
            }
        }
        Ok(())
    }

    /// `T*` to one element, or to many: as many as the wire says, for the wire of some calls has single elements where
    /// the API has arrays (a trimmed capture's snapshot), and arrays where it has one.
    #[inline(always)]
    fn elements_at(&mut self, ty: Ty, at: u32) -> Result<()> {
        let p = self.preamble(attrib::SINGLE | attrib::ARRAY)?;
        self.pointed(ty, Ptr { at, ..p })
    }

    /// The elements behind a preamble: sets memory aside, records the pointer, reads them.
    #[inline(always)]
    fn pointed(&mut self, ty: Ty, mut p: Ptr) -> Result<()> {
        let size = ty.c_layout().0;
        if !p.has_data() {
            p.out_size = if self.out { size as u32 } else { 0 };
        } else if p.len > 0 {
            self.need(if p.is_array() { p.len.saturating_mul(wire_min(ty)) } else { 1 })?;
            p.to = self.alloc((p.len as usize).saturating_mul(size))?;
        }
        self.record(p);
        match (p.to, p.is_array()) {
            (0, _) => Ok(()),
            (to, true) => self.elements(ty, to, p.len),
            (to, false) => self.element(ty, to),
        }
    }

    /// `T name[capacity]` inside a struct.
    fn fixed(&mut self, ty: Ty, at: u32, capacity: u64) -> Result<()> {
        self.inline(ty, at, attrib::ARRAY, capacity, "elements")
    }

    fn fixed_str(&mut self, at: u32, capacity: u64) -> Result<()> {
        self.inline(Ty::U8, at, attrib::STRING, capacity, "characters")
    }

    /// An array whose memory is part of the struct.
    fn inline(&mut self, ty: Ty, at: u32, kind: u32, capacity: u64, what: &str) -> Result<()> {
        let p = self.preamble(kind)?;
        if p.len > capacity {
            let text = format!("expected at most {capacity} {what}, found {}", p.len);
            return Err(Error::malformed(text).at_offset(self.pos() as u64));
        }
        let to = if p.has_data() { at } else { 0 };
        self.record(Ptr { at, to, inline: true, ..p });
        if p.has_data() { self.elements(ty, at, p.len) } else { Ok(()) }
    }

    fn string(&mut self, at: u32, kind: u32, unit: usize) -> Result<()> {
        let mut p = Ptr { at, ..self.preamble(kind)? };
        if p.has_data() {
            self.need(p.len.saturating_mul(unit as u64))?;
            p.to = self.alloc((p.len as usize + 1) * unit)?; // the terminating zero is not on the wire
        }
        self.record(p);
        if p.has_data() { self.elements(Ty::U8, p.to, p.len * unit as u64) } else { Ok(()) }
    }

    fn strings(&mut self, at: u32) -> Result<()> {
        self.pointers(at, attrib::STRING, |d, at| d.string(at, attrib::STRING, 1))
    }

    fn array2(&mut self, ty: Ty, at: u32) -> Result<()> {
        self.pointers(at, attrib::ARRAY2D, |d, at| d.inner_array(ty, at))
    }

    /// An array of pointers, each read by `each`.
    fn pointers(
        &mut self,
        at: u32,
        kind: u32,
        mut each: impl FnMut(&mut Self, u32) -> Result<()>,
    ) -> Result<()> {
        let mut p = Ptr { at, ..self.preamble(kind)? };
        let n = if p.has_data() { p.len } else { 0 };
        if n > 0 {
            self.need(n.saturating_mul(4))?;
            p.to = self.alloc(n as usize * 8)?;
        }
        self.record(p);
        for k in 0..n as u32 {
            self.bounded_ptrs()?;
            each(self, p.to + k * 8).map_err(|e| e.within(&format!("[{k}]")))?;
        }
        Ok(())
    }

    fn inner_array(&mut self, ty: Ty, at: u32) -> Result<()> {
        let mut p = self.preamble(attrib::ARRAY)?;
        // The writer of scalar inner arrays puts the length down even for a null one.
        if p.is_null() && !matches!(ty, Ty::Struct(_)) {
            p.len = self.u64()?;
        }
        self.pointed(ty, Ptr { at, ..p })
    }

    fn pnext(&mut self, at: u32) -> Result<()> {
        let mut p = Ptr { at, ..self.preamble(attrib::SINGLE)? };
        if !p.has_data() {
            self.record(p);
            return Ok(());
        }
        self.chain += 1;
        if self.chain > MAX_PNEXT {
            return Err(Error::limit("pNext chain length", self.chain as u64, MAX_PNEXT as u64)
                .at_offset(self.pos() as u64));
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
            .at_offset(self.pos() as u64));
        };
        let def = &STRUCTS[id as usize];
        p.to = self.alloc(def.size as usize)?;
        self.record(p);
        let depth = std::mem::take(&mut self.depth);
        deeper(|| self.strukt(id, p.to)).map_err(|e| e.within(&format!("<{}>", def.name)))?;
        self.depth = depth;
        self.chain -= 1;
        Ok(())
    }

    /// Reads a pointer's preamble; where the pointer lies and leads is for the caller to say. `kinds`: which kinds of
    /// pointer it may be; it is to be exactly one of them. All but [`attrib::SINGLE`] have a length behind them.
    #[inline(always)]
    fn preamble(&mut self, kinds: u32) -> Result<Ptr> {
        let start = self.pos();
        let a = self.u32()?;
        let mut p = Ptr { at: 0, to: 0, attrib: a, inline: false, len: 0, addr: 0, out_size: 0 };
        // A string is written as a single one, an array of strings as an array as well.
        let plain = attrib::SINGLE | attrib::ARRAY;
        let kind = a & if kinds & plain == 0 { attrib::KINDS & !plain } else { attrib::KINDS };
        let known = p.is_null() || (kind.is_power_of_two() && kind & kinds != 0);
        if a & !attrib::ALL != 0 || !known {
            return Err(not_a_pointer(kinds, a).at_offset(start as u64));
        }
        if !p.is_null() {
            if a & attrib::ADDRESS != 0 {
                p.addr = self.u64()?;
            }
            p.len = if kind == attrib::SINGLE { 1 } else { self.u64()? };
        }
        Ok(p)
    }

    /// Records a pointer, in wire order, and marks its slot. Returns the record's index.
    #[inline(always)]
    fn record(&mut self, p: Ptr) -> usize {
        let i = self.image.ptrs.len();
        self.image.ptrs.push(p);
        if !p.inline && !p.is_null() {
            self.image.set_u64(p.at, i as u64 + 1);
        }
        i
    }

    /// Grows the image by `size` bytes within the limit.
    #[inline]
    fn alloc(&mut self, size: usize) -> Result<u32> {
        if self.image.len().saturating_add(size) > SMALL_IMAGE_BYTES {
            self.room(size)?;
        }
        Ok(self.image.alloc(size))
    }

    /// Fails if there are more records of pointers than there is memory for. A few more than that go unnoticed: as
    /// many as one struct has members.
    #[inline(always)]
    fn bounded_ptrs(&mut self) -> Result<()> {
        if self.image.ptrs.len() > self.ptrs {
            self.room(self.image.ptrs.len() * size_of::<Ptr>())?;
            self.ptrs = self.image.ptrs.len() * 2;
        }
        Ok(())
    }

    /// Fails unless the image may hold `size` more bytes.
    #[cold]
    fn room(&self, size: usize) -> Result<()> {
        let want = self.image.held_bytes().saturating_add(size);
        if want <= self.budget.image_bytes(self.size as u64) {
            return Ok(());
        }
        Err(self.budget.refuse_image(want, self.size as u64).at_offset(self.pos() as u64))
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

#[cold]
fn not_a_pointer(kinds: u32, found: u32) -> Error {
    let kind = attrib_name(kinds);
    Error::malformed(format!("expected the preamble of {kind} pointer, found {found:#x}"))
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
