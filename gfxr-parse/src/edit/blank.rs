//! Values that are not there yet, as parameter bytes: zeros, null pointers, and the sTypes that belong to the structs.
//!
//! Guarantees: what is made decodes as a value of its type. Refuses structs whose form another value decides that nobody has said yet.

use crate::image::attrib::{ARRAY, ARRAY2D, DATA, SINGLE, STRING, STRUCT, WSTRING};
use crate::schema::generated::STRUCTS;
use crate::schema::{Len, Member, Shape, Special, StructDef, Ty};
use crate::walk::{Pointee, members_of_union};
use crate::writer::ParamWriter;

/// An element of what this pointer leads to. Refused ones are told by what they are.
pub(super) fn element(what: Pointee, ty: Ty, to: &mut ParamWriter) -> Result<(), &'static str> {
    match what {
        Pointee::Strs => _ = to.string(""),
        Pointee::Array2 if matches!(ty, Ty::Struct(_)) => _ = to.structures(0, |_, _| {}),
        Pointee::Array2 => _ = to.preamble(ARRAY | DATA, Some(0)),
        _ => value(ty, to)?,
    }
    Ok(())
}

/// The members of a struct, from this one on.
pub(super) fn members(def: &StructDef, from: usize, to: &mut ParamWriter) -> Result<(), &'static str> {
    let all = &def.members[from..];
    match def.special {
        Special::None | Special::DescriptorImageInfo | Special::WriteDescriptorSet => {
            all.iter().try_for_each(|m| member(def, m, to))
        }
        Special::ClearValue => {
            _ = to.u32_array(&[0; 4]);
            Ok(())
        }
        Special::Union64 | Special::DeviceOrHostAddress => {
            _ = to.u64(0);
            Ok(())
        }
        // (the first of each union is what zero says)
        Special::AccelerationStructureGeometry | Special::MotionInstance => {
            all.iter().try_for_each(|m| match members_of_union(m).first() {
                Some(first) if matches!(m.ty, Ty::Struct(id) if STRUCTS[usize::from(id)].union) => {
                    value(first.ty, to)
                }
                _ => member(def, m, to),
            })
        }
        Special::BareUnion
        | Special::PerformanceValue
        | Special::DescriptorGetInfo
        | Special::IndirectExecutionSetCreateInfo
        | Special::IndirectCommandsLayoutToken
        | Special::HostImageCopy
        | Special::LayerSetting
        | Special::DataGraphPipelineConstant => Err(def.name),
    }
}

fn value(ty: Ty, to: &mut ParamWriter) -> Result<(), &'static str> {
    match ty {
        Ty::Struct(id) => return members(&STRUCTS[usize::from(id)], 0, to),
        Ty::Bits { .. } => _ = to.u32(0),
        _ => (0..ty.c_layout().0).for_each(|_| _ = to.u8(0)),
    }
    Ok(())
}

fn member(def: &StructDef, m: &Member, to: &mut ParamWriter) -> Result<(), &'static str> {
    let of_struct = if matches!(m.ty, Ty::Struct(_)) { STRUCT } else { 0 };
    let fixed = |n: usize, to: &mut ParamWriter| {
        let n = if matches!(m.len, Len::Member(_)) { 0 } else { n };
        to.preamble(of_struct | ARRAY | DATA, Some(n as u64));
        (0..n).try_for_each(|_| value(m.ty, to))
    };
    match m.shape {
        Shape::Value if m.name == "sType" => _ = to.u32(def.stype.unwrap_or(0)),
        Shape::Value => value(m.ty, to)?,
        Shape::Fixed(n) => fixed(n.into(), to)?,
        Shape::Fixed2(n, k) => fixed(usize::from(n) * usize::from(k), to)?,
        Shape::FixedStr(_) => _ = to.preamble(STRING | SINGLE | DATA, Some(0)),
        Shape::Ptr | Shape::PtrPtr => _ = to.null(of_struct | SINGLE),
        Shape::Array => _ = to.null(of_struct | ARRAY),
        Shape::Str => _ = to.null_string(),
        Shape::WStr => _ = to.null(WSTRING | SINGLE),
        Shape::StrArray => _ = to.null(STRING | ARRAY),
        Shape::Array2 => _ = to.null(of_struct | ARRAY2D),
        Shape::PNext => _ = to.null_struct(),
        Shape::Absent => {}
        Shape::TemplateData => return Err(def.name),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::decode_struct_array;
    use crate::encode::encode_struct_array;
    use crate::image::Image;

    /// Of every struct of the registry that can be made: it decodes, and is written again as it was made.
    #[test]
    fn every_struct_can_be_made_or_is_refused() {
        let (mut made, mut refused) = (0, vec![]);
        for (id, def) in STRUCTS.iter().enumerate() {
            let (id, mut bytes) = (id as u16, ParamWriter::new());
            bytes.preamble(STRUCT | ARRAY | DATA, Some(1));
            if let Err(name) = value(Ty::Struct(id), &mut bytes) {
                refused.push(name);
                continue;
            }
            let mut image = Image::default();
            let used = decode_struct_array(id, bytes.as_bytes(), &mut image).expect(def.name);
            assert_eq!(used, bytes.as_bytes().len(), "{}", def.name);
            let mut again = vec![];
            encode_struct_array(&image, id, false, &mut again);
            assert_eq!(again, bytes.as_bytes(), "{}", def.name);
            made += 1;
        }
        assert!(made > 1000, "{made}");
        refused.sort_unstable();
        refused.dedup();
        assert!(refused.len() < 30, "{refused:?}");
    }
}
