//! From a declaration to a table member: what an element is, how it is held, where its length is.
//!
//! Refuses base types, declarators and length expressions that have no rule here or in the overlay, naming the type
//! and the member.

use super::decl::Decl;
use super::error::Result;
use super::model::{Inner, Len, Member, Presence, Shape, Ty};
use super::overlay;
use super::registry::{RawType, Registry};
use std::collections::HashMap;

/// Names to table indices, assigned before anything refers to them.
pub struct Ids {
    /// Structs and unions.
    pub structs: HashMap<String, u16>,
    /// Enums; masks go by the name of their bits, or their own if they have none.
    pub enums: HashMap<String, u16>,
    /// Handles.
    pub handles: HashMap<String, u16>,
}

/// Where a declaration stands.
pub struct Scope<'a> {
    /// The struct's or command's name.
    pub owner: &'a str,
    /// All its members or parameters.
    pub siblings: &'a [Decl],
    /// A command: `T x[4]` is a pointer.
    pub command: bool,
}

/// Resolves against the registry and the ids.
pub struct Resolver<'a> {
    /// The registry.
    pub registry: &'a Registry,
    /// The ids.
    pub ids: &'a Ids,
}

impl Resolver<'_> {
    /// The element type of a base type's name, if it can be held by value.
    fn element(&self, base: &str) -> Option<Ty> {
        let name = self.registry.canonical(base);
        if let Some(ty) = overlay::element(name) {
            return Some(ty);
        }
        Some(match self.registry.types.get(name)? {
            RawType::Struct { .. } => Ty::Struct(*self.ids.structs.get(name)?),
            RawType::Handle { .. } => Ty::Handle(*self.ids.handles.get(name)?),
            RawType::Function => Ty::Opaque,
            RawType::Enum => {
                let id = *self.ids.enums.get(name)?;
                if self.registry.enums.get(name).is_some_and(|e| e.wide) {
                    Ty::Flags64(id)
                } else {
                    Ty::Enum(id)
                }
            }
            RawType::Bitmask { bits, wide } => {
                let bits = bits.as_deref().map(|b| self.registry.canonical(b));
                let id = *self.ids.enums.get(bits.unwrap_or(name))?;
                if *wide { Ty::Flags64(id) } else { Ty::Flags(id) }
            }
        })
    }

    /// The type of a return value; none for void.
    pub fn returned(&self, proto: &Decl) -> Result<Option<Ty>> {
        match (proto.base.as_str(), proto.stars) {
            ("void", 0) => Ok(None),
            (_, 0) => {
                let ty = self.element(&proto.base);
                ty.map(Some).ok_or_else(|| format!("{}: returns unknown `{}`", proto.name, proto.base))
            }
            _ => Err(format!("{}: returns a pointer", proto.name)),
        }
    }

    /// A member without its offset.
    pub fn member(&self, decl: &Decl, scope: &Scope) -> Result<Member> {
        let path = format!("{}.{}", scope.owner, decl.name);
        let (mut ty, mut shape) = self.held(decl, scope).map_err(|e| format!("{path}: {e}"))?;
        let mut len = self.length(decl, scope).map_err(|e| format!("{path}: {e}"))?;
        if let Some(sibling) = &decl.objecttype {
            let index = position(scope, sibling).ok_or_else(|| format!("{path}: no sibling `{sibling}`"))?;
            ty = Ty::ObjectHandle(index);
        }
        if let Some(other) = overlay::instead(scope.owner, &decl.name) {
            (ty, shape, len) =
                (other.ty.unwrap_or(ty), other.shape.unwrap_or(shape), other.len.unwrap_or(len));
        }
        let followed = !matches!(shape, Shape::Value | Shape::PNext | Shape::Absent | Shape::TemplateData);
        let out = decl.stars > 0 && !decl.constant && followed;
        if matches!(shape, Shape::Value | Shape::Ptr | Shape::PtrPtr | Shape::PNext) {
            len = Len::None;
        }
        let inner = self.inner(decl, scope).map_err(|e| format!("{path}: {e}"))?;
        let [presence, elements] = presence(decl).map_err(|e| format!("{path}: {e}"))?;
        Ok(Member { name: decl.name.clone(), ty, shape, at: 0, len, inner, presence, elements, out })
    }

    /// How long the inner arrays of an array of arrays are.
    fn inner(&self, decl: &Decl, scope: &Scope) -> Result<Inner> {
        if let Some((_, array, field)) =
            overlay::INNER_LENGTHS.iter().find(|i| i.0 == (scope.owner, &*decl.name))
        {
            return match self.field(array, field, scope)? {
                Len::Field(array, field) => Ok(Inner::Field(array, field)),
                _ => Err("no field".to_owned()),
            };
        }
        Ok(match decl.len.as_deref().and_then(|l| l.split_once(',')) {
            Some((_, "1")) => Inner::One,
            _ => Inner::None,
        })
    }

    /// Element and holder by the declarator.
    fn held(&self, decl: &Decl, scope: &Scope) -> Result<(Ty, Shape)> {
        let base = self.registry.canonical(&decl.base);
        let has_len = decl.len.as_deref().is_some_and(|l| l != "null-terminated");
        let foreign = overlay::OPAQUE_OBJECTS.contains(&base);
        let element = || self.element(base).ok_or_else(|| format!("unknown type `{base}`"));
        if !decl.dims.is_empty() {
            return self.fixed(decl, scope);
        }
        match decl.stars {
            0 => match (base, decl.bits) {
                ("LPCWSTR", None) => Ok((Ty::Char, Shape::WStr)),
                ("uint32_t" | "VkGeometryInstanceFlagsKHR", Some(width)) => {
                    Ok((Ty::Bits { shift: 0, width }, Shape::Value))
                }
                (_, Some(_)) => Err(format!("a bit-field of `{base}`")),
                _ => Ok((element()?, Shape::Value)),
            },
            1 if decl.name == "pNext" => Ok((Ty::Opaque, Shape::PNext)),
            1 if base == "void" => {
                Ok(if has_len { (Ty::U8, Shape::Array) } else { (Ty::Opaque, Shape::Value) })
            }
            1 if base == "char" => match decl.len.as_deref() {
                Some("null-terminated") => Ok((Ty::Char, Shape::Str)),
                other => Err(format!("char* of length {other:?}")),
            },
            1 if foreign => Ok((Ty::Opaque, Shape::Value)),
            1 => match element()? {
                Ty::Opaque if !has_len => Ok((Ty::Opaque, Shape::PtrPtr)),
                Ty::Opaque => Err("an array of opaque pointers".to_owned()),
                ty => Ok((ty, if has_len { Shape::Array } else { Shape::Ptr })),
            },
            2 if base == "void" || foreign => Ok((Ty::Opaque, Shape::PtrPtr)),
            2 if base == "char" => Ok((Ty::Char, Shape::StrArray)),
            2 if has_len => Ok((element()?, Shape::Array2)),
            _ => Err("unknown pointer form".to_owned()),
        }
    }

    fn fixed(&self, decl: &Decl, scope: &Scope) -> Result<(Ty, Shape)> {
        if decl.stars > 0 {
            return Err("an array of pointers".to_owned());
        }
        let dims = decl.dims.iter().map(|d| self.dimension(d)).collect::<Result<Vec<u16>>>()?;
        if decl.base == "char" {
            return match dims[..] {
                [n] if !scope.command => Ok((Ty::Char, Shape::FixedStr(n))),
                _ => Err("an array of characters".to_owned()),
            };
        }
        let ty = self.element(&decl.base).ok_or_else(|| format!("unknown type `{}`", decl.base))?;
        match dims[..] {
            [_] if scope.command => Ok((ty, Shape::Array)),
            [n] => Ok((ty, Shape::Fixed(n))),
            [n, m] if !scope.command => Ok((ty, Shape::Fixed2(n, m))),
            _ => Err("unknown array form".to_owned()),
        }
    }

    fn dimension(&self, text: &str) -> Result<u16> {
        let value = text.parse().ok().or_else(|| self.registry.constants.get(text).copied());
        value.and_then(|v| u16::try_from(v).ok()).ok_or_else(|| format!("unknown dimension `{text}`"))
    }

    fn length(&self, decl: &Decl, scope: &Scope) -> Result<Len> {
        if let (true, [dim]) = (scope.command, &decl.dims[..]) {
            return Ok(Len::Const(self.dimension(dim)?.into()));
        }
        let Some(len) = decl.len.as_deref() else { return Ok(Len::None) };
        // `count,1` and `count,null-terminated`: the outer length is what can be checked.
        let outer = len
            .split_once(',')
            .map_or(len, |(outer, inner)| if matches!(inner, "1" | "null-terminated") { outer } else { len });
        if outer == "null-terminated" {
            return Ok(Len::None);
        }
        if let Some(index) = position(scope, outer) {
            return Ok(Len::Member(index));
        }
        if let Some((parameter, field)) = outer.split_once("->") {
            return self.field(parameter, field, scope);
        }
        self.expression(decl.altlen.as_deref().unwrap_or(outer), scope)
    }

    /// `parameter->field`.
    fn field(&self, parameter: &str, field: &str, scope: &Scope) -> Result<Len> {
        let refuse = || format!("no such length: {parameter}->{field}");
        let index = position(scope, parameter).ok_or_else(refuse)?;
        let base = self.registry.canonical(&scope.siblings[index as usize].base);
        let Some(RawType::Struct { members, .. }) = self.registry.types.get(base) else {
            return Err(refuse());
        };
        let at = members.iter().position(|m| m.name == field).ok_or_else(refuse)?;
        Ok(Len::Field(index, u8::try_from(at).map_err(|_| refuse())?))
    }

    /// The few C expressions that the registry uses.
    fn expression(&self, text: &str, scope: &Scope) -> Result<Len> {
        if overlay::UNNAMED_LENGTHS.contains(&text) {
            return Ok(Len::Other);
        }
        let words: Vec<&str> = text.split([' ', '(', ')', '*']).filter(|w| !w.is_empty()).collect();
        let refuse = || format!("unknown length `{text}`");
        let sibling = |name: &str| position(scope, name).ok_or_else(refuse);
        let number = |text: &str| text.parse::<u8>().map_err(|_| refuse());
        match words[..] {
            [name, "/", divisor] => Ok(Len::MemberDiv(sibling(name)?, number(divisor)?)),
            [name, "+", round, "/", divisor] if number(round)? + 1 == number(divisor)? => {
                Ok(Len::MemberDiv(sibling(name)?, number(divisor)?))
            }
            [factor, constant] => {
                let value = self.registry.constants.get(constant).ok_or_else(refuse)?;
                Ok(Len::Const(u32::from(number(factor)?) * *value as u32))
            }
            _ => Err(refuse()),
        }
    }
}

/// Whether a declaration, and what it leads to, may be null or zero.
fn presence(decl: &Decl) -> Result<[Presence; 2]> {
    if decl.noautovalidity {
        return Ok([Presence::Open; 2]);
    }
    let mut levels = [Presence::Required; 2];
    let words = decl.optional.as_deref().unwrap_or_default().split(',').filter(|w| !w.is_empty());
    for (word, level) in words.zip(&mut levels) {
        *level = match word {
            "true" => Presence::Optional,
            "false" => Presence::Required,
            other => return Err(format!("unknown optional `{other}`")),
        };
    }
    Ok(levels)
}

fn position(scope: &Scope, name: &str) -> Option<u8> {
    scope.siblings.iter().position(|s| s.name == name).and_then(|i| u8::try_from(i).ok())
}
