//! The one traversal of a decoded call, in wire order; encoding, printing, diffing and hashing are [`Visitor`]s.
//!
//! Pointer records are consumed in the order in which the decoder made them, so a walk needs no look-ups. Guarantees:
//! every byte that was on the wire is visited exactly once, in order (the encoder relies on it). Refuses nothing: an
//! [`Image`] is well formed by construction; editing scalars in place keeps it so.

mod given;
mod special;

pub use given::{Masks, Outputs};

use crate::decode::special::union_members;
use crate::image::{Image, Ptr};
use crate::limits::deeper;
use crate::schema::generated::STRUCTS;
use crate::schema::{CommandDef, Member, Shape, Special, StructDef, StructId, TRAILING, Ty, struct_by_stype};

/// What a pointer record is the preamble of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointee {
    /// One element.
    Single,
    /// `len` elements.
    Array,
    /// An array embedded in its struct.
    Fixed,
    /// A C string of `len` characters.
    Str,
    /// A C string embedded in its struct.
    FixedStr,
    /// A wide string.
    WStr,
    /// An array of strings.
    Strs,
    /// An array of arrays.
    Array2,
    /// An inner array of one.
    Inner(Ty),
    /// A link of a pNext chain; its struct follows.
    Chain,
    /// Update-template data.
    Template,
    /// Not a pointer at all on the wire: the bare 8-byte address of an old host-image copy.
    Bare,
}

/// Sees a call piece by piece. All methods but the first three default to nothing.
pub trait Visitor {
    /// One element that is not a struct.
    fn value(&mut self, image: &Image, ty: Ty, at: u32);
    /// The preamble of a pointer; if it has data they follow at once.
    fn pointer(&mut self, image: &Image, p: &Ptr, what: Pointee);
    /// `n` characters of `unit` bytes each.
    fn text(&mut self, image: &Image, at: u32, n: u64, unit: u32);
    /// Elements that are not structs, one after the other.
    fn values(&mut self, image: &Image, ty: Ty, at: u32, n: u64) {
        let size = ty.c_layout().0 as u32;
        self.begin_array(n);
        for i in 0..n as u32 {
            self.element(i);
            self.value(image, ty, at + i * size);
        }
        self.end_array();
    }
    /// An array's elements begin.
    fn begin_array(&mut self, _n: u64) {}
    /// The next element of it.
    fn element(&mut self, _i: u32) {}
    /// They end.
    fn end_array(&mut self) {}
    /// A struct begins.
    fn begin_struct(&mut self, _image: &Image, _def: &'static StructDef, _at: u32) {}
    /// It ends.
    fn end_struct(&mut self, _def: &'static StructDef) {}
    /// A member or parameter: its value comes next.
    fn member(&mut self, _m: &'static Member) {}
    /// A union's active member: its value comes next.
    fn union_member(&mut self, _m: &'static Member) {}
    /// The call's return value comes next.
    fn ret(&mut self) {}
    /// The three counts at the head of template data.
    fn template_counts(&mut self, _counts: [u64; 3]) {}
    /// Template data of one kind come next: `n` image infos, buffer infos or texel buffer views.
    fn template_part(&mut self, _kind: usize, _n: u64) {}
    /// A tail of template data: its count and descriptor type (`TEMPLATE_STRAY` for a stray count alone).
    fn template_tail(&mut self, _count: u64, _ty: u64) {}
    /// Template data end.
    fn end_template(&mut self, _image: &Image) {}
}

/// Walks a whole call.
pub fn walk_call<V: Visitor>(image: &Image, visitor: &mut V) {
    let Some(command) = image.command else { return };
    let mut w = Walker { image, next: 0, v: visitor };
    w.call(command);
}

/// Walks an image made by `decode_struct_array` (`twice` = false) or `decode_struct_array2`.
pub fn walk_struct_array<V: Visitor>(image: &Image, id: StructId, twice: bool, visitor: &mut V) {
    let mut w = Walker { image, next: 0, v: visitor };
    if twice { w.array2(Ty::Struct(id)) } else { w.array(Ty::Struct(id), Pointee::Array) }
}

struct Walker<'i, 'v, V> {
    image: &'i Image,
    next: usize,
    v: &'v mut V,
}

impl<V: Visitor> Walker<'_, '_, V> {
    fn call(&mut self, command: &'static CommandDef) {
        for p in command.params {
            self.v.member(p);
            self.shape(p, 0);
        }
        if command.trailing {
            self.v.member(&TRAILING);
            self.template();
        }
        if let Some(ty) = command.ret {
            self.v.ret();
            self.value(ty, self.image.ret_at());
        }
    }

    fn take(&mut self, what: Pointee) -> Ptr {
        let p = self.image.ptrs[self.next];
        self.next += 1;
        self.v.pointer(self.image, &p, what);
        p
    }

    fn member(&mut self, m: &'static Member, base: u32) {
        self.v.member(m);
        self.shape(m, base);
    }

    fn shape(&mut self, m: &'static Member, base: u32) {
        let at = base + m.at;
        match m.shape {
            Shape::Value => self.value(m.ty, at),
            Shape::Fixed(_) | Shape::Fixed2(..) => {
                let p = self.take(Pointee::Fixed);
                if p.has_data() {
                    self.elements(m.ty, p.to, p.len);
                }
            }
            Shape::FixedStr(_) => {
                let p = self.take(Pointee::FixedStr);
                if p.has_data() {
                    self.v.text(self.image, p.to, p.len, 1);
                }
            }
            Shape::Ptr => self.single(m.ty),
            Shape::Array => self.array(m.ty, Pointee::Array),
            Shape::Str => self.string(Pointee::Str, 1),
            Shape::WStr => self.string(Pointee::WStr, 2),
            Shape::StrArray => self.strings(),
            Shape::Array2 => self.array2(m.ty),
            Shape::PtrPtr => self.single(Ty::Opaque),
            Shape::PNext => self.pnext(),
            Shape::Absent => {}
            Shape::TemplateData => self.template(),
        }
    }

    fn value(&mut self, ty: Ty, at: u32) {
        match ty {
            Ty::Struct(id) => self.strukt(&STRUCTS[id as usize], at),
            _ => self.v.value(self.image, ty, at),
        }
    }

    fn elements(&mut self, ty: Ty, at: u32, n: u64) {
        let Ty::Struct(id) = ty else { return self.v.values(self.image, ty, at, n) };
        let def = &STRUCTS[id as usize];
        self.v.begin_array(n);
        for i in 0..n as u32 {
            self.v.element(i);
            self.strukt(def, at + i * def.size);
        }
        self.v.end_array();
    }

    fn strukt(&mut self, def: &'static StructDef, at: u32) {
        self.v.begin_struct(self.image, def, at);
        if def.special == Special::None {
            for m in def.members {
                self.member(m, at);
            }
        } else {
            self.special(def, at);
        }
        self.v.end_struct(def);
    }

    fn single(&mut self, ty: Ty) {
        let p = self.take(Pointee::Single);
        self.data(ty, &p);
    }

    /// One element or many, as the wire had it.
    fn data(&mut self, ty: Ty, p: &Ptr) {
        if p.has_data() {
            if p.is_array() { self.elements(ty, p.to, p.len) } else { self.value(ty, p.to) }
        }
    }

    fn array(&mut self, ty: Ty, what: Pointee) {
        let p = self.take(what);
        self.data(ty, &p);
    }

    fn string(&mut self, what: Pointee, unit: u32) {
        let p = self.take(what);
        if p.has_data() {
            self.v.text(self.image, p.to, p.len, unit);
        }
    }

    fn strings(&mut self) {
        let p = self.take(Pointee::Strs);
        if p.has_data() {
            self.v.begin_array(p.len);
            for i in 0..p.len as u32 {
                self.v.element(i);
                self.string(Pointee::Str, 1);
            }
            self.v.end_array();
        }
    }

    fn array2(&mut self, ty: Ty) {
        let p = self.take(Pointee::Array2);
        if p.has_data() {
            self.v.begin_array(p.len);
            for i in 0..p.len as u32 {
                self.v.element(i);
                self.array(ty, Pointee::Inner(ty));
            }
            self.v.end_array();
        }
    }

    fn pnext(&mut self) {
        let p = self.take(Pointee::Chain);
        if p.has_data()
            && let Some(id) = struct_by_stype(self.image.u32(p.to))
        {
            deeper(|| self.strukt(&STRUCTS[id as usize], p.to));
        }
    }

    fn each(&mut self, members: &'static [Member], at: u32) {
        for m in members {
            self.member(m, at);
        }
    }
}

/// The members of the union that `m` holds.
pub fn members_of_union(m: &Member) -> &'static [Member] {
    union_members(m.ty)
}
