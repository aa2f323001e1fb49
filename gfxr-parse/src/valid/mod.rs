//! What a decoded call keeps to before anything relies on it: checked once, by the schema, for every command.
//!
//! # The promise
//!
//! Decoding alone promises that an [`Image`] is well formed: pointers lead to elements that are there, strings end with a
//! zero, and a union holds the member that its selector names. It takes what the bytes say; a damaged capture may still
//! say that an array of one element has five. A call that passed [`check`] keeps to more, and code that links or calls it
//! cites these by name:
//!
//! - **counted**: a pointer that another member or parameter counts leads to at least so many elements, and where it is
//!   null, the registry lets it be null or the count is 0. Inner arrays likewise, where anything says how long they are;
//!   computed lengths (`codeSize / 4`) as well. A pointer to one element leads to one.
//! - **present**: a pointer that the registry does not call optional is not null, with its elements in the image if the
//!   driver reads them; strings in arrays of strings are not null.
//! - **ended**: strings end with a zero (every string that is decoded gets one).
//! - **chosen**: of a union only the member that the selector names is read, and is checked like any other.
//!
//! That is [`Level::Memory`]. [`Level::Usage`] adds what the registry's attributes say of values, the specification's
//! implicit valid usage: enumerants and bits that exist, masks and handles that may not be zero, counts that may not be,
//! sTypes; and the rules of `rules.rs`, which stand for sentences of the specification that drivers rely on. It does not
//! check VkBool32 (any value but 0 is true to every driver), nor whether a struct may stand in a chain (drivers skip what
//! they do not know).
//!
//! Where the driver writes, only **counted** and **present** hold: what lies there is the answer that was captured.
//!
//! What is refused is an error with the path of the member. The image is as it was: it still encodes to the same bytes.

mod checker;
pub(crate) mod level;
mod pipeline;
mod render_pass;
mod rules;
#[cfg(test)]
mod tests;

use crate::decode::special::{descriptor, token_member, union_member};
use crate::error::{Error, Result};
use crate::image::Image;
use crate::limits::deeper;
use crate::schema::generated::{ENUMS, HANDLES, STRUCTS};
use crate::schema::{Inner, Len, Member, Presence, Shape, Special, StructDef, StructId, Ty, struct_by_stype};
use crate::view::View;
use checker::{Checker, absent, elements_of};
pub use level::Level;

/// Checks a call, and remembers that it passed: the next time, and for its copies, that costs nothing.
#[inline]
pub fn check(image: &mut Image, level: Level) -> Result<()> {
    if image.checked < level {
        whole(image, level)?;
        image.checked = level;
    }
    Ok(())
}

/// The same of a call that cannot remember it.
#[inline]
pub fn check_again(image: &Image, level: Level) -> Result<()> {
    if image.checked < level { whole(image, level) } else { Ok(()) }
}

fn whole(image: &Image, level: Level) -> Result<()> {
    let Some(command) = image.command else { return Ok(()) };
    let c = Checker { image, usage: level == Level::Usage };
    c.members(command.params, command.looked_at, 0, false)?;
    if c.usage { rules::of_command(&c, command) } else { Ok(()) }
}

impl Checker<'_> {
    fn members(&self, members: &'static [Member], which: &[u8], base: u32, out: bool) -> Result<()> {
        for &i in which {
            let m = &members[usize::from(i)];
            let at = base + m.at;
            // Most of what there is to see, seen without leaving.
            let seen = match (m.shape, m.ty) {
                (Shape::Value, Ty::Handle(_)) => self.image.u64(at) != 0,
                (Shape::Value, Ty::Enum(id)) => self.image.u32(at) < ENUMS[usize::from(id)].dense,
                (Shape::PNext, _) => self.image.u64(at) == 0,
                _ => false,
            };
            if !seen {
                self.member(members, m, base, out || m.out).map_err(|e| e.within(m.name))?;
            }
        }
        Ok(())
    }

    fn member(&self, members: &'static [Member], m: &Member, base: u32, out: bool) -> Result<()> {
        let at = base + m.at;
        if m.presence == Presence::Open && self.usage && m.shape != Shape::PNext {
            // It may be ignored, and then hold anything; a rule looks at it where it is not.
            return Checker { image: self.image, usage: false }.member(members, m, base, out);
        }
        match m.shape {
            Shape::Value => self.value(m.ty, m.presence, at, out),
            Shape::Fixed(n) => self.elements(m.ty, m.elements, at, n.into(), out),
            Shape::Fixed2(n, k) => self.elements(m.ty, m.elements, at, u64::from(n) * u64::from(k), out),
            Shape::Ptr => match self.target(at, 1, m.presence, out, false)? {
                Some(to) => self.value(m.ty, m.elements, to, out),
                None => Ok(()),
            },
            Shape::Array => {
                let count = self.count(members, base, m);
                let required = m.presence == Presence::Required && !out && !self.asked(at);
                if count == Some(0) && self.usage && required {
                    no_count(members, m)?;
                }
                let Some(to) = self.array(at, count, m.presence, out)? else { return Ok(()) };
                self.elements(m.ty, m.elements, to, count.unwrap_or_else(|| self.len(at)), out)
            }
            Shape::Str | Shape::WStr => self.string(at, m.presence, out),
            Shape::StrArray => {
                let count = self.count(members, base, m);
                let Some(to) = self.array(at, count, m.presence, out)? else { return Ok(()) };
                let n = count.unwrap_or_else(|| self.len(at));
                self.each(n, |k| self.string(to + k * 8, Presence::Required, out))
            }
            Shape::Array2 => self.arrays(members, m, base, out),
            Shape::PtrPtr => match m.presence {
                Presence::Required if self.image.ptr(at).is_none() => Err(absent("a pointer")),
                _ => Ok(()),
            },
            Shape::PNext => self.chain(at, out),
            Shape::FixedStr(_) | Shape::Absent | Shape::TemplateData => Ok(()),
        }
    }

    /// An array of arrays.
    fn arrays(&self, members: &'static [Member], m: &Member, base: u32, out: bool) -> Result<()> {
        let at = base + m.at;
        let count = self.count(members, base, m);
        let Some(to) = self.array(at, count, m.presence, out)? else { return Ok(()) };
        let n = count.unwrap_or_else(|| self.len(at));
        self.each(n, |k| {
            let inner = match m.inner {
                Inner::None => return Ok(()),
                Inner::One => 1,
                Inner::Field(array, field) => self.field_of(members, base, array, field, k),
            };
            let slot = to + k * 8;
            // An inner array of none is never read.
            let presence = if inner == 0 { Presence::Optional } else { m.elements };
            match self.array(slot, Some(inner), presence, out)? {
                Some(to) => self.elements(m.ty, Presence::Optional, to, inner, out),
                None => Ok(()),
            }
        })
    }

    /// What a field of element `k` of a sibling array says; 0 where that array is not there, which is refused there.
    fn field_of(&self, members: &'static [Member], base: u32, array: u8, field: u8, k: u32) -> u64 {
        let Some(sibling) = members.get(usize::from(array)) else { return 0 };
        let (Ty::Struct(id), Some(to)) = (sibling.ty, self.image.target(base + sibling.at)) else { return 0 };
        let def = &STRUCTS[usize::from(id)];
        if u64::from(k) >= self.len(base + sibling.at) {
            return 0;
        }
        def.members.get(usize::from(field)).and_then(|f| self.integer(f, to + k * def.size)).unwrap_or(0)
    }

    /// An array that `count` counts: where its elements are, if there are any.
    #[inline]
    fn array(&self, at: u32, count: Option<u64>, presence: Presence, out: bool) -> Result<Option<u32>> {
        let Some(count) = count else {
            let is_there = self.image.ptr(at).is_some_and(|p| p.to != 0 || out);
            return match (is_there, presence) {
                (false, Presence::Required) if self.len(at) > 0 => Err(absent("an array")),
                _ => Ok(self.image.target(at)),
            };
        };
        if count == 0 {
            // An array that is there all the same is no array that its count counts.
            return match self.len(at) {
                n if n > 0 => Err(another_length(n, &elements_of(0, true))),
                _ => Ok(None),
            };
        }
        self.target(at, count, presence, out, true)
    }

    /// Where a pointer leads that is to lead to `count` elements, one at least; none where it may be null and is, or where
    /// the driver is to write into memory of ours.
    #[inline]
    fn target(
        &self,
        at: u32,
        count: u64,
        presence: Presence,
        out: bool,
        is_array: bool,
    ) -> Result<Option<u32>> {
        let there = self.image.ptr(at).filter(|p| p.to != 0 || (p.out_size != 0 && p.len != 0));
        let Some(p) = there else {
            // What the driver left null in its answer, it left null.
            return match presence {
                Presence::Required if !out || self.asked(at) => Err(absent(&elements_of(count, is_array))),
                _ => Ok(None),
            };
        };
        // A lone element may come as an array.
        if p.len < count || (p.len > count && is_array) {
            return Err(another_length(p.len, &elements_of(count, is_array)));
        }
        Ok((p.to != 0).then_some(p.to))
    }

    /// A parameter, as against a member of what the driver has written.
    fn asked(&self, at: u32) -> bool {
        at < self.image.ret_at()
    }

    fn len(&self, at: u32) -> u64 {
        self.image.ptr(at).map_or(0, |p| p.len)
    }

    fn string(&self, at: u32, presence: Presence, out: bool) -> Result<()> {
        match presence {
            Presence::Required if !out && self.image.target(at).is_none() => Err(absent("a string")),
            _ => Ok(()),
        }
    }

    fn each(&self, n: u64, one: impl Fn(u32) -> Result<()>) -> Result<()> {
        (0..n as u32).try_for_each(|k| one(k).map_err(|e| e.within(&format!("[{k}]"))))
    }

    /// `n` elements from `at` on, which are there.
    fn elements(&self, ty: Ty, presence: Presence, at: u32, n: u64, out: bool) -> Result<()> {
        if !has_to_be_looked_at(ty, presence) || (out && !matches!(ty, Ty::Struct(_))) {
            return Ok(());
        }
        let size = ty.c_layout().0 as u32;
        self.each(n, |k| self.value(ty, presence, at + k * size, out))
    }

    fn value(&self, ty: Ty, presence: Presence, at: u32, out: bool) -> Result<()> {
        match ty {
            Ty::Struct(id) => self.strukt(id, at, out),
            _ if out || !self.usage || presence == Presence::Open => Ok(()),
            Ty::Enum(id) => {
                let (e, v) = (&ENUMS[usize::from(id)], self.image.u32(at));
                let named =
                    v < e.dense || e.values.binary_search_by_key(&i64::from(v as i32), |v| v.0).is_ok();
                match named || (v == 0 && presence == Presence::Optional) {
                    true => Ok(()),
                    false => Err(unnamed(e.name, v)),
                }
            }
            Ty::Flags(id) => bits(id, self.image.u32(at).into(), presence),
            Ty::Flags64(id) => bits(id, self.image.u64(at), presence),
            Ty::Handle(id) if presence == Presence::Required && self.image.u64(at) == 0 => {
                Err(null_handle(id))
            }
            _ => Ok(()),
        }
    }

    fn strukt(&self, id: StructId, at: u32, out: bool) -> Result<()> {
        let def = &STRUCTS[usize::from(id)];
        if let (Some(stype), true) = (def.stype, self.usage && !out)
            && self.image.u32(at) != stype
        {
            return Err(Error::malformed(format!("expected the sType of {} ({stype}), found 0", def.name))
                .within("sType"));
        }
        match def.special {
            Special::None => self.members(def.members, def.looked_at, at, out)?,
            _ => self.special(def, at, out)?,
        }
        if self.usage && !out { rules::of_struct(self, id, at) } else { Ok(()) }
    }

    /// Structs behind an open pointer that is known not to be ignored.
    fn used(&self, v: &View<'_>, member: &str) -> Result<()> {
        let Some((m, at)) = v.definition(member) else { return Ok(()) };
        match (m.shape, self.image.target(at)) {
            (Shape::Array, Some(to)) => self.elements(m.ty, Presence::Required, to, self.len(at), false),
            (_, Some(to)) => self.value(m.ty, Presence::Required, to, false),
            (_, None) => Ok(()),
        }
        .map_err(|e| e.within(member))
    }

    /// The structs of a pNext chain, one after the other.
    fn chain(&self, at: u32, out: bool) -> Result<()> {
        let Some(to) = self.image.target(at) else { return Ok(()) };
        let Some(id) = struct_by_stype(self.image.u32(to)) else { return Ok(()) };
        deeper(|| self.strukt(id, to, out))
            .map_err(|e| e.within(&format!("<{}>", STRUCTS[usize::from(id)].name)))
    }

    /// Structs whose members do not say everything: what lies in a union, or which array is meant.
    fn special(&self, def: &'static StructDef, at: u32, out: bool) -> Result<()> {
        let m = def.members;
        let all = |members: &'static [Member]| {
            members
                .iter()
                .try_for_each(|m| self.member(def.members, m, at, out).map_err(|e| e.within(m.name)))
        };
        match def.special {
            Special::WriteDescriptorSet => {
                all(&m[..7])?; // … descriptorType
                let used = match descriptor::array_of(self.image.u32(at + m[6].at)) {
                    descriptor::Array::Image => &m[7],
                    descriptor::Array::Buffer => &m[8],
                    descriptor::Array::Texel => &m[9],
                    descriptor::Array::Neither => return Ok(()),
                };
                let count = u64::from(self.image.u32(at + m[5].at));
                self.array(at + used.at, Some(count), Presence::Required, out)
                    .map_err(|e| e.within(used.name))?;
                Ok(())
            }
            Special::AccelerationStructureGeometry => {
                all(&m[..3])?; // sType, pNext, geometryType
                if let Some(u) = union_member(m[3].ty, self.image.u32(at + m[2].at)) {
                    self.value(u.ty, Presence::Required, at + m[3].at, out)
                        .map_err(|e| e.within(u.name).within("geometry"))?;
                }
                all(&m[4..])
            }
            Special::DescriptorGetInfo => {
                all(&m[..3])?; // sType, pNext, type
                match self.image.u32(at + m[2].at) {
                    0 | 1 | 10 => self.target(at + m[3].at, 1, Presence::Required, out, false).map(drop),
                    2..=7 => self.target(at + m[3].at, 1, Presence::Optional, out, false).map(drop),
                    _ => Ok(()),
                }
                .map_err(|e| e.within("data"))
            }
            Special::IndirectExecutionSetCreateInfo => {
                all(&m[..3])?; // sType, pNext, type
                self.pointed_union(
                    union_member(m[3].ty, self.image.u32(at + m[2].at)),
                    at + m[3].at,
                    "info",
                    out,
                )
            }
            Special::IndirectCommandsLayoutToken => {
                all(&m[..3])?; // sType, pNext, type
                self.pointed_union(
                    token_member(m[3].ty, self.image.u32(at + m[2].at)),
                    at + m[3].at,
                    "data",
                    out,
                )?;
                all(&m[4..])
            }
            Special::HostImageCopy => {
                all(&m[..2])?; // sType, pNext
                match self.image.target(at + m[2].at) {
                    None => Err(absent("the host's memory").within("pHostPointer")),
                    Some(_) => all(&m[3..]),
                }
            }
            Special::LayerSetting => {
                all(&m[..3])?; // pLayerName, pSettingName, type
                let count = u64::from(self.image.u32(at + m[3].at));
                self.array(at + m[4].at, Some(count), Presence::Required, out)
                    .map(drop)
                    .map_err(|e| e.within("pValues"))
            }
            // Nothing in them leads anywhere, or only a driver fills them in.
            Special::None
            | Special::ClearValue
            | Special::Union64
            | Special::DeviceOrHostAddress
            | Special::DescriptorImageInfo
            | Special::MotionInstance
            | Special::PerformanceValue
            | Special::DataGraphPipelineConstant
            | Special::BareUnion => Ok(()),
        }
    }

    /// A union of pointers, of which its selector names one.
    fn pointed_union(&self, member: Option<&'static Member>, at: u32, name: &str, out: bool) -> Result<()> {
        let Some(u) = member else { return Ok(()) };
        self.target(at, 1, Presence::Required, out, false)
            .and_then(|to| to.map_or(Ok(()), |to| self.value(u.ty, Presence::Optional, to, out)))
            .map_err(|e| e.within(u.name).within(name))
    }

    /// What counts an array says, if anything does.
    #[inline]
    fn count(&self, members: &'static [Member], base: u32, m: &Member) -> Option<u64> {
        match m.len {
            Len::Member(i) => self.integer(members.get(usize::from(i))?, base),
            Len::MemberDiv(i, by) => {
                Some(self.integer(members.get(usize::from(i))?, base)?.div_ceil(u64::from(by)))
            }
            Len::Field(p, f) => {
                let parameter = members.get(usize::from(p))?;
                let Ty::Struct(id) = parameter.ty else { return None };
                let to = self.image.target(base + parameter.at)?;
                self.integer(STRUCTS[usize::from(id)].members.get(usize::from(f))?, to)
            }
            Len::Const(n) => Some(n.into()),
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
            1 => self.image.u8(at).into(),
            2 => self.image.u16(at).into(),
            4 => self.image.u32(at).into(),
            _ => self.image.u64(at),
        })
    }
}

/// Whether an element can be anything but right.
fn has_to_be_looked_at(ty: Ty, presence: Presence) -> bool {
    match ty {
        Ty::Struct(id) => {
            let def = &STRUCTS[usize::from(id)];
            !def.looked_at.is_empty() || def.stype.is_some()
        }
        Ty::Enum(_) | Ty::Flags(_) | Ty::Flags64(_) => presence != Presence::Open,
        Ty::Handle(_) => presence == Presence::Required,
        _ => false,
    }
}

fn bits(id: u16, v: u64, presence: Presence) -> Result<()> {
    let e = &ENUMS[usize::from(id)];
    if v & !e.mask != 0 {
        return Err(unknown_bits(e.flags_name, v & !e.mask));
    }
    if v == 0 && presence == Presence::Required {
        return Err(Error::malformed(format!("expected bits of {}, found none", e.flags_name)));
    }
    Ok(())
}

/// A count that may not be 0 is. (One among a command's parameters may: then drivers have nothing to do.)
#[cold]
fn no_count(members: &'static [Member], m: &Member) -> Result<()> {
    match m.len {
        Len::Member(i) if members[usize::from(i)].presence == Presence::Required => {
            Err(Error::malformed(format!("expected {} above 0", members[usize::from(i)].name)))
        }
        _ => Ok(()),
    }
}

#[cold]
fn another_length(have: u64, wanted: &str) -> Error {
    Error::malformed(format!("expected {wanted}, found {have}"))
}

#[cold]
fn unnamed(name: &str, v: u32) -> Error {
    let version = crate::schema::generated::REGISTRY_VERSION;
    Error::malformed(format!("expected a value of {name}, found {} ({v:#x}; registry {version})", v as i32))
}

#[cold]
fn unknown_bits(name: &str, v: u64) -> Error {
    let version = crate::schema::generated::REGISTRY_VERSION;
    Error::malformed(format!("expected bits of {name}, found {v:#x} beside them (registry {version})"))
}

#[cold]
fn null_handle(id: u16) -> Error {
    Error::malformed(format!("expected a {}, found VK_NULL_HANDLE", HANDLES[usize::from(id)].name))
}
