//! Edits that add and take away: elements of arrays, structs of chains, what pointers lead to, texts.
//!
//! Elements at an array's beginning and end that are wanted as they were stay; those between are taken in their order, and where there are more of them
//! than before, the last of these is there again. A new element, struct or string begins as zeros. The values are for whoever edits values. Guarantees:
//! the count of an array that is written out follows it where the line leaves it as it was. Refuses what is embedded in a struct, data of update
//! templates, and counts that contradict the elements.

use super::blank;
use super::paths::{below, contents, is_nothing, refused};
use crate::encode::Encoder;
use crate::error::Error;
use crate::image::{Image, Ptr, attrib};
use crate::parts::{Encoded, Part};
use crate::print::PLACEHOLDER;
use crate::schema::generated::STRUCTS;
use crate::schema::{Inner, Len, Member, Special, StructDef, Ty, enum_named, struct_by_stype};
use crate::walk::{Pointee, Visitor};
use crate::writer::ParamWriter;
use crate::writer::params::SOME_ADDRESS;
use serde_json::Value;
use std::path::Path;

/// The first place where what is wanted has another form: not the same elements, structs, or text.
pub(super) fn differs(own: &Value, wanted: &Value, path: &str, parts: &Encoded) -> Option<String> {
    let here = || Some(path.to_owned());
    let text = |p: &Part| matches!(p.what, Pointee::Str | Pointee::WStr | Pointee::FixedStr);
    match (own, wanted) {
        (Value::Object(a), Value::Object(b)) => {
            if path.ends_with("/pNext") && a.get("sType") != b.get("sType") {
                return here();
            }
            // (arrays that a descriptor write does not use are not printed)
            let unused = |path: &String| {
                parts.part(path).is_some_and(|p| parts.structs[p.of].special == Special::WriteDescriptorSet)
            };
            let mut lacking = b.iter().filter(|(key, value)| !is_nothing(value) && !a.contains_key(*key));
            let lacking = lacking.find_map(|(key, _)| Some(below(path, key)).filter(unused));
            let of = |(key, own): (&String, &Value)| {
                let path = below(path, key);
                match b.get(key) {
                    Some(wanted) => differs(own, wanted, &path, parts),
                    None => Some(path).filter(|path| !own.is_null() && unused(path)),
                }
            };
            lacking.or_else(|| a.iter().find_map(of))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut all = a.iter().zip(b).enumerate();
            all.find_map(|(i, (a, b))| differs(a, b, &format!("{path}/{i}"), parts))
        }
        (Value::Array(_), Value::Array(_)) => here(),
        (Value::Null, b) if is_nothing(b) => None,
        (Value::Null, _) | (_, Value::Null) => here(),
        (Value::String(a), Value::String(b)) if a != b => {
            parts.part(path).is_some_and(|p| text(p) || a == PLACEHOLDER).then(|| path.to_owned())
        }
        _ => None,
    }
}

/// The call's bytes with the wanted form at `path`; counts in `wanted` follow. Contents are in files in this folder.
pub(super) fn changed(
    parts: &Encoded,
    path: &str,
    own: &Value,
    wanted: &mut Value,
    folder: &Path,
) -> Result<Vec<u8>, Error> {
    let none = Value::Null;
    let (is, wants) = (own.pointer(path).unwrap_or(&none), wanted.pointer(path).unwrap_or(&none).clone());
    let kind = || refused(path, "expected a value of the same kind");
    let part = parts.part(path).ok_or_else(kind)?;
    if matches!(part.what, Pointee::Fixed | Pointee::Template | Pointee::Bare) {
        return Err(refused(path, "it is embedded: its elements can be neither more nor fewer"));
    }
    let ty = match (part.what, part.ty, part.member) {
        (Pointee::Inner(ty), ..) | (_, Some(ty), _) => ty,
        (.., Some(m)) => m.ty,
        _ => return Err(kind()),
    };
    let special = parts.structs[part.of].special;
    let mut to = ParamWriter::new();
    match (part.what, &wants) {
        (Pointee::FixedStr, Value::Null) => return Err(kind()),
        (_, Value::Null) => _ = to.bytes(&part.null()),
        (Pointee::Str | Pointee::FixedStr, Value::String(text)) => {
            _ = to.bytes(&part.preamble(text.len())).bytes(text.as_bytes());
        }
        (Pointee::WStr, Value::String(text)) => {
            let units: Vec<u16> = text.encode_utf16().collect();
            to.bytes(&part.preamble(units.len()));
            units.iter().for_each(|u| _ = to.bytes(&u.to_le_bytes()));
        }
        (Pointee::Array, Value::String(file)) if is == PLACEHOLDER || is.is_null() => {
            if is.is_null() && READ_OTHERWISE.contains(&special) {
                return Err(kind());
            }
            let (bytes, size) = (contents(folder, file, path)?, ty.c_layout().0);
            // (as it is printed again)
            if let Some(says) = wanted.pointer_mut(path) {
                *says = PLACEHOLDER.into();
            }
            if parts.bytes[part.data..part.end] == bytes {
                return Ok(parts.bytes.clone());
            }
            if bytes.len() % size != 0 {
                let why = format!("{file} has {} bytes, which are no whole elements of {size}", bytes.len());
                return Err(refused(path, &why));
            }
            to.bytes(&part.preamble(bytes.len() / size)).bytes(&bytes);
            counts_follow(parts, part, bytes.len() / size, own, wanted)?;
        }
        (Pointee::Chain, Value::Object(_)) => _ = to.bytes(&chain(parts, path, &wants)?),
        (what, Value::Array(elements)) if what != Pointee::Single && !is.is_object() => {
            let some = if elements.is_empty() { part.null() } else { part.preamble(elements.len()) };
            to.bytes(&some);
            let before = is.as_array().map_or(&[][..], Vec::as_slice);
            for source in sources(before, elements) {
                match source {
                    Some(i) if i < part.elements() => _ = to.bytes(&parts.bytes[part.element(i)]),
                    // (what these are is said elsewhere, and was not read)
                    _ if READ_OTHERWISE.contains(&special) => return Err(kind()),
                    _ => blank::element(what, ty, &mut to).map_err(|of| unmade(path, of))?,
                }
            }
            counts_follow(parts, part, elements.len(), own, wanted)?;
        }
        // (what one pointer leads to may be anything but an array)
        (Pointee::Single, _) if is.is_null() && !wants.is_array() => {
            to.bytes(&part.preamble(1));
            blank::element(part.what, ty, &mut to).map_err(|of| unmade(path, of))?;
        }
        _ => return Err(kind()),
    }
    Ok(parts.with(part, to.as_bytes()))
}

/// Structs with arrays whose elements are not those of the schema.
const READ_OTHERWISE: [Special; 3] =
    [Special::HostImageCopy, Special::LayerSetting, Special::DataGraphPipelineConstant];

fn unmade(path: &str, of: &str) -> Error {
    refused(path, &format!("there is none to copy, and a new {of} cannot be made"))
}

/// Which of the elements before each of the wanted ones is made of; none: of none of them.
fn sources(before: &[Value], wanted: &[Value]) -> Vec<Option<usize>> {
    let common = before.len().min(wanted.len());
    let front = (0..common).take_while(|&i| before[i] == wanted[i]).count();
    let from_end = |i: &usize| before[before.len() - 1 - i] == wanted[wanted.len() - 1 - i];
    let back = (0..common - front).take_while(from_end).count();
    let place = |i: usize| match wanted.len() - i {
        behind if behind <= back => before.len() - behind,
        _ => i.min((before.len() - back).saturating_sub(1)),
    };
    (0..wanted.len()).map(|i| Some(place(i)).filter(|&p| p < before.len())).collect()
}

/// A chain as it is wanted, of the structs that are in it and of new ones.
fn chain(parts: &Encoded, path: &str, wanted: &Value) -> Result<Vec<u8>, Error> {
    let mut links = vec![];
    let mut next = parts.part(path);
    while let Some(link) = next {
        links.push(link);
        next = parts.part(&format!("{}/pNext", link.path));
    }
    let (own, ends) = (links.iter().zip(links.iter().skip(1)), links.last());
    let of = |stype: u32| {
        let bytes = stype.to_le_bytes();
        own.clone().find(|(link, _)| parts.bytes[link.data..].starts_with(&bytes))
    };
    let mut stypes = vec![];
    let mut at = wanted;
    while !at.is_null() {
        stypes.push(stype(at).ok_or_else(|| refused(path, "expected the sType of a known struct"))?);
        at = &at["pNext"];
    }
    let mut bytes = ends.map_or_else(Vec::new, |p| p.null());
    for (stype, def) in stypes.into_iter().rev() {
        let mut link = ParamWriter::new();
        match of(stype) {
            Some((own, next)) => {
                link.bytes(&own.preamble(1)).bytes(&stype.to_le_bytes()).bytes(&bytes);
                link.bytes(&parts.bytes[next.end..own.end]);
            }
            None => {
                let kind = attrib::STRUCT | attrib::SINGLE | attrib::DATA;
                link.preamble(kind, None).u32(stype).bytes(&bytes);
                blank::members(def, 2, &mut link).map_err(|of| unmade(path, of))?;
            }
        }
        bytes = link.take();
    }
    Ok(bytes)
}

/// What a printed struct says that it is.
fn stype(of: &Value) -> Option<(u32, &'static StructDef)> {
    let name = of["sType"].as_str()?;
    let value = enum_named("VkStructureType")?.values.iter().find(|v| v.1 == name)?.0;
    let stype = u32::try_from(value).ok()?;
    Some((stype, &STRUCTS[usize::from(struct_by_stype(stype)?)]))
}

/// Where an array has as many elements as a number says, the number is wanted to say so, unless it was to be another one: then they contradict.
fn counts_follow(
    parts: &Encoded,
    part: &Part,
    n: usize,
    own: &Value,
    wanted: &mut Value,
) -> Result<(), Error> {
    let Some((member, (beside, last))) = part.member.zip(part.path.rsplit_once('/')) else { return Ok(()) };
    let sibling = |i: u8| parts.structs[part.of].members.get(usize::from(i));
    let field = |m: &'static Member, i: u8| match m.ty {
        Ty::Struct(id) => STRUCTS[usize::from(id)].members.get(usize::from(i)),
        _ => None,
    };
    let n = n as u64;
    let count = match (part.what, member.len, member.inner) {
        (Pointee::Inner(_), _, Inner::Field(array, of)) => {
            let place = sibling(array).and_then(|m| Some((m, field(m, of)?, beside.rsplit_once('/')?.0)));
            place.map(|(m, f, beside)| (format!("{beside}/{}/{last}/{}", m.name, f.name), n))
        }
        (Pointee::Inner(_), ..) => None,
        (_, Len::Member(i), _) => sibling(i).map(|m| (format!("{beside}/{}", m.name), n)),
        (_, Len::MemberDiv(i, d), _) => {
            sibling(i).map(|m| (format!("{beside}/{}", m.name), n * u64::from(d)))
        }
        (_, Len::Field(i, of), _) => {
            let place = sibling(i).and_then(|m| Some((m, field(m, of)?)));
            place.map(|(m, f)| (format!("{beside}/{}/{}", m.name, f.name), n))
        }
        _ => None,
    };
    let Some((path, n)) = count else { return Ok(()) };
    match (own.pointer(&path), wanted.pointer_mut(&path)) {
        // (a count of samples has a name)
        (Some(was), _) if !was.is_number() => {}
        (Some(was), Some(says)) if was == says => *says = n.into(),
        (_, Some(says)) if *says != n => {
            return Err(refused(&path, &format!("it says {says}, and {} wants {n}", part.path)));
        }
        _ => {}
    }
    Ok(())
}

impl Part {
    /// Its preamble, leading to `n` elements.
    fn preamble(&self, n: usize) -> Vec<u8> {
        let mut attrib = self.ptr.attrib & !attrib::NULL | attrib::ADDRESS | attrib::DATA;
        // (a trimmed capture's snapshot may have one where an array is)
        if matches!(self.what, Pointee::Array | Pointee::Inner(_)) {
            attrib = attrib & !attrib::SINGLE | attrib::ARRAY;
        }
        let addr = if self.ptr.addr == 0 { SOME_ADDRESS } else { self.ptr.addr };
        self.written(Ptr { attrib, addr, len: n as u64, ..self.ptr })
    }

    /// Its preamble, leading nowhere.
    fn null(&self) -> Vec<u8> {
        let attrib = self.ptr.attrib & !(attrib::ADDRESS | attrib::DATA) | attrib::NULL;
        self.written(Ptr { attrib, len: 0, ..self.ptr })
    }

    fn written(&self, ptr: Ptr) -> Vec<u8> {
        let mut bytes = vec![];
        Encoder { out: &mut bytes }.pointer(&Image::default(), &ptr, self.what);
        bytes
    }
}
