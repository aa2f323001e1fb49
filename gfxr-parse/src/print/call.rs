//! Calls: the [`Visitor`] that turns a decoded call into members and values.
//!
//! Guarantees: every byte the walk shows is printed or on a rule of `rules.rs`. Refuses nothing.

use super::Sink;
use super::counts::counted;
use super::engine::{Engine, State};
use super::options::{Blob, Counter, CounterKind, Options};
use super::rules;
use crate::decode::special::{TEMPLATE_STRAY, descriptor};
use crate::image::{Image, Ptr, attrib};
use crate::schema::generated::ENUMS;
use crate::schema::{EnumId, Member, Shape, Special, StructDef, Ty};
use crate::walk::{Pointee, Visitor, walk_call, walk_struct_array};

impl<S: Sink> Engine<S> {
    /// Prints the call in the image.
    pub(super) fn call(&mut self, index: u64, thread: u64) {
        let Some(command) = self.image.command else { return };
        self.sink.begin_record(index, "function", Some(command.name));
        self.sink.thread(thread);
        if let Some((key, per_buffer)) = counted(command.id) {
            let at = self.sink.counter(key);
            let kind = if per_buffer { CounterKind::Command(self.image.u64(0)) } else { CounterKind::Submit };
            self.counters.push(Counter { at, kind, shown: true });
        }
        let mut v = Walk {
            sink: &mut self.sink,
            state: &mut self.state,
            blobs: &mut self.blobs,
            options: self.options,
            command: command.name,
            index,
            member: None,
            by: By::Value,
            skip: false,
            keep_empty: false,
            empty: false,
            tail: None,
            key_at: 0,
        };
        v.state.stack.clear();
        v.state.unions.clear();
        if let Some(ty) = command.ret {
            v.sink.result();
            v.scalar(&self.image, ty, self.image.ret_at());
        }
        v.sink.begin_args();
        walk_call(&self.image, &mut v);
        v.close_union();
        v.sink.end_args();
        v.sink.end_record();
    }

    /// Prints what `decode_struct_array` (or, with `twice`, `decode_struct_array2`) left in the image, as a value.
    pub(super) fn structs(&mut self, index: u64, id: crate::schema::StructId, twice: bool) {
        let mut v = Walk {
            sink: &mut self.sink,
            state: &mut self.state,
            blobs: &mut self.blobs,
            options: self.options,
            command: "",
            index,
            member: None,
            by: By::Value,
            skip: false,
            keep_empty: false,
            empty: false,
            tail: None,
            key_at: 0,
        };
        v.state.stack.clear();
        v.state.unions.clear();
        walk_struct_array(&self.image, id, twice, &mut v);
    }
}

/// How a value was reached: upstream writes some types otherwise behind a pointer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Value,
    Pointer,
}

pub(super) struct Walk<'p, S> {
    pub(super) sink: &'p mut S,
    pub(super) state: &'p mut State,
    pub(super) blobs: &'p mut Vec<Blob>,
    pub(super) options: Options,
    pub(super) command: &'static str,
    pub(super) index: u64,
    pub(super) member: Option<&'static Member>,
    by: By,
    /// The next value or array is not to be printed (it has been, or its absence says as much).
    skip: bool,
    /// The next array is written as `[]` if it is empty; else an empty array reads as null, as upstream's do.
    keep_empty: bool,
    /// Inside an empty array that reads as null.
    empty: bool,
    /// The next array is a tail of template data of this descriptor type.
    tail: Option<u64>,
    /// Where the key of the current member of a VkWriteDescriptorSet was written.
    key_at: usize,
}

impl<S: Sink> Walk<'_, S> {
    /// The struct around the current place.
    pub(super) fn owner(&self) -> Option<(&'static StructDef, u32)> {
        self.state.stack.last().copied()
    }

    /// Closes the object of a union whose member has been printed.
    #[inline]
    fn close_union(&mut self) {
        if self.state.unions.last() == Some(&self.state.stack.len()) {
            self.state.unions.pop();
            self.sink.end_object();
        }
    }

    pub(super) fn open_union(&mut self, name: &str) {
        self.state.unions.push(self.state.stack.len());
        self.sink.begin_object();
        self.sink.key(name);
    }

    fn flags(&mut self, id: EnumId, v: u64, width: usize) {
        if self.options.expand_flags && v != 0 {
            self.sink.name(&expand(v, &ENUMS[id as usize], width));
        } else {
            self.sink.hex(v, width);
        }
    }

    /// One value that is not a struct.
    #[inline]
    fn scalar(&mut self, image: &Image, ty: Ty, at: u32) {
        let s = &mut *self.sink;
        let direct = self.by == By::Value;
        match ty {
            Ty::Handle(_) | Ty::ObjectHandle(_) | Ty::U64 | Ty::Size | Ty::DeviceSize => s.u64(image.u64(at)),
            Ty::U32 => s.u64(image.u32(at).into()),
            Ty::Enum(id) => {
                let v = image.u32(at);
                match ENUMS[id as usize].value(v) {
                    Some(name) => s.name(name),
                    None => s.hex(v.into(), 8),
                }
            }
            Ty::Flags(id) if direct => self.flags(id, image.u32(at).into(), 8),
            Ty::Flags64(id) if direct => self.flags(id, image.u64(at), 16),
            Ty::Flags(_) => s.u64(image.u32(at).into()),
            Ty::Flags64(_) => s.u64(image.u64(at)),
            Ty::Bool32 if direct || self.state.stack.is_empty() => s.bool(image.u32(at) != 0),
            Ty::Bool32 => s.u64(image.u32(at).into()),
            Ty::F32 => s.f32(image.f32(at)),
            Ty::F64 => s.f64(f64::from_bits(image.u64(at))),
            Ty::DeviceAddress if direct || self.state.stack.is_empty() => s.hex(image.u64(at), 1),
            Ty::DeviceAddress => s.u64(image.u64(at)),
            Ty::Opaque if self.member.is_some_and(rules::hex_pointer) => s.hex(image.u64(at), 1),
            Ty::Opaque => s.u64(image.u64(at)),
            Ty::U8 | Ty::Char => s.u64(image.u8(at).into()),
            Ty::I8 => s.i64((image.u8(at) as i8).into()),
            Ty::U16 => s.u64(image.u16(at).into()),
            Ty::I16 => s.i64((image.u16(at) as i16).into()),
            Ty::I32 => s.i64((image.u32(at) as i32).into()),
            Ty::I64 => s.i64(image.u64(at) as i64),
            Ty::Bits { shift, width } => {
                let mask = if width == 32 { u32::MAX } else { (1 << width) - 1 };
                let v = image.u32(at) >> shift & mask;
                match self.member {
                    Some(m) if m.name == "flags" && self.options.expand_flags && v != 0 => {
                        s.name(&expand(v.into(), &rules::INSTANCE_FLAGS, 8));
                    }
                    Some(m) if m.name == "flags" => s.hex(v.into(), 8),
                    _ => s.u64(v.into()),
                }
            }
            Ty::Struct(_) => {}
        }
    }
}

/// The names of all bits set, joined by a bar.
pub(super) fn expand(v: u64, def: &crate::schema::EnumDef, width: usize) -> String {
    let mut out = String::new();
    for bit in (0..64).map(|b| 1u64 << b).filter(|b| v & b != 0) {
        if !out.is_empty() {
            out.push('|');
        }
        match def.bit(bit) {
            Some(name) => out.push_str(name),
            None => out.push_str(&format!("0x{bit:0width$x}")),
        }
    }
    out
}

impl<S: Sink> Visitor for Walk<'_, S> {
    #[inline]
    fn value(&mut self, image: &Image, ty: Ty, at: u32) {
        if std::mem::take(&mut self.skip) {
            return;
        }
        if let Some((def, base)) = self.owner()
            && def.special != Special::None
        {
            match def.special {
                Special::Union64 => return self.statistic(image, at),
                Special::DeviceOrHostAddress => {
                    self.sink.begin_object();
                    self.sink.key("deviceAddress");
                    self.sink.hex(image.u64(at), 1);
                    return self.sink.end_object();
                }
                Special::DescriptorGetInfo => self.union_of(image),
                Special::PerformanceValue if ty == Ty::U64 => {
                    self.union_of(image);
                    let (v, s) = (image.u64(at), &mut *self.sink);
                    return match rules::sibling(image, def, base, 0) {
                        0 => s.u64(v & 0xFFFF_FFFF),
                        2 => s.f32(f32::from_bits(v as u32)),
                        3 => s.bool(v as u32 != 0),
                        _ => s.u64(v),
                    };
                }
                _ => {}
            }
        }
        if let (Ty::Enum(_), Some((def, _)), Some(m)) = (ty, self.owner(), self.member)
            && m.at == 0
            && def.stype == Some(image.u32(at))
            && m.name == "sType"
            && let Some(name) = rules::stype_name(def)
        {
            return self.sink.name(name);
        }
        self.scalar(image, ty, at);
        self.by = By::Value;
    }

    fn values(&mut self, image: &Image, ty: Ty, at: u32, n: u64) {
        if std::mem::take(&mut self.skip) {
            return;
        }
        if let Some(descriptor) = self.tail.take() {
            return self.state.tails.push((descriptor, at, n));
        }
        if let Some((def, _)) = self.owner()
            && def.special == Special::ClearValue
        {
            return self.clear_value(image, def, at);
        }
        if matches!(ty, Ty::U8 | Ty::U32) && self.binary(image, ty, at, n) {
            return;
        }
        if n == 0 && !std::mem::take(&mut self.keep_empty) {
            return self.sink.null();
        }
        let size = ty.c_layout().0 as u32;
        self.by = By::Pointer;
        self.sink.begin_array(true);
        for i in 0..n as u32 {
            self.sink.element(i);
            self.scalar(image, ty, at + i * size);
        }
        self.sink.end_array();
        self.by = By::Value;
    }

    #[inline]
    fn pointer(&mut self, image: &Image, p: &Ptr, what: Pointee) {
        if what == Pointee::Bare {
            return self.sink.u64(p.addr);
        }
        let special = self.owner().filter(|o| o.0.special != Special::None);
        if special.is_some() {
            self.union_of(image);
        }
        if p.has_data() && !(what == Pointee::Template && p.attrib & attrib::SINGLE == 0) {
            self.by = By::Pointer;
            self.keep_empty = p.len == 0 && matches!(what, Pointee::Inner(_));
        } else if special.is_some_and(|(def, at)| self.is_unused(image, def, at)) {
            self.sink.rollback(self.key_at);
        } else {
            self.sink.null();
        }
    }

    fn text(&mut self, image: &Image, at: u32, n: u64, unit: u32) {
        self.by = By::Value;
        let bytes = &image.bytes()[at as usize..at as usize + n as usize * unit as usize];
        if unit == 1 {
            match std::str::from_utf8(bytes) {
                Ok(text) => self.sink.text(text),
                Err(_) => self.sink.text(&String::from_utf8_lossy(bytes)),
            }
        } else {
            let units = bytes.chunks_exact(2).map(|c| u16::from_le_bytes([c[0], c[1]]));
            let text: String =
                char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
            self.sink.text(&text);
        }
    }

    fn begin_array(&mut self, n: u64) {
        self.by = By::Value;
        self.empty = n == 0 && !std::mem::take(&mut self.keep_empty);
        if self.empty { self.sink.null() } else { self.sink.begin_array(n == 0) }
    }
    fn element(&mut self, i: u32) {
        self.sink.element(i);
    }
    fn end_array(&mut self) {
        if !std::mem::take(&mut self.empty) {
            self.sink.end_array();
        }
    }

    #[inline]
    fn begin_struct(&mut self, _image: &Image, def: &'static StructDef, at: u32) {
        self.by = By::Value;
        self.state.stack.push((def, at));
        if !matches!(def.special, Special::ClearValue | Special::Union64 | Special::DeviceOrHostAddress) {
            self.sink.begin_object();
        }
    }
    #[inline]
    fn end_struct(&mut self, def: &'static StructDef) {
        self.close_union();
        self.state.stack.pop();
        if !matches!(def.special, Special::ClearValue | Special::Union64 | Special::DeviceOrHostAddress) {
            self.sink.end_object();
        }
    }

    #[inline]
    fn member(&mut self, m: &'static Member) {
        self.close_union();
        self.member = Some(m);
        self.by = By::Value;
        if m.shape == Shape::Absent {
            return;
        }
        if self.owner().is_some_and(|o| o.0.special == Special::WriteDescriptorSet) {
            self.key_at = self.sink.mark();
        }
        self.sink.key(m.name);
    }
    fn union_member(&mut self, m: &'static Member) {
        if self.owner().is_none_or(|o| rules::names_its_union(o.0.special)) {
            self.open_union(m.name);
        }
        self.member = Some(m);
    }
    fn ret(&mut self) {
        self.close_union();
        self.skip = true;
    }

    fn template_counts(&mut self, _counts: [u64; 3]) {
        self.member = None;
        self.by = By::Value;
        self.state.tails.clear();
        self.sink.begin_object();
    }
    fn template_part(&mut self, kind: usize, n: u64) {
        // Upstream leaves texel buffer views out when there are none, but not the other two.
        self.skip = kind == 2 && n == 0;
        if !self.skip {
            self.sink.key(["imageInfos", "bufferInfos", "bufferViews"][kind]);
            self.keep_empty = n == 0;
        }
    }
    fn template_tail(&mut self, _count: u64, ty: u64) {
        self.tail = (ty != TEMPLATE_STRAY).then_some(ty);
    }
    fn end_template(&mut self, image: &Image) {
        let structures = u64::from(descriptor::ACCELERATION_STRUCTURE);
        let kinds = [
            ("accelStructViews", (|t, s| t == s) as fn(u64, u64) -> bool, Ty::U64),
            ("inlineUniformBlock", |t, s| t != s, Ty::U8),
        ];
        for (name, wanted, ty) in kinds {
            let mut n = 0;
            for &(tail, at, count) in self.state.tails.iter().filter(|t| wanted(t.0, structures)) {
                for i in 0..count as u32 {
                    if n == 0 {
                        self.sink.key(name);
                        self.sink.begin_array(true);
                    }
                    self.sink.element(n);
                    let at = at + i * ty.c_layout().0 as u32;
                    self.sink.u64(if tail == structures { image.u64(at) } else { image.u8(at).into() });
                    n += 1;
                }
            }
            if n > 0 {
                self.sink.end_array();
            }
        }
        self.sink.end_object();
    }
}
