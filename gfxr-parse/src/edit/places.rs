//! Values of a call: of which type they are, where they lie, what their bits are in print.
//!
//! Guarantees: what is written over a value touches its bits alone. Refuses values that do not fit their type, and leaves out what says which struct or
//! which member of a union comes (`sType`, `geometryType`).

use crate::image::{Image, Ptr};
use crate::schema::generated::ENUMS;
use crate::schema::{Member, Special, StructDef, Ty};
use crate::walk::{Pointee, Visitor};
use serde_json::Value;

/// A whole number, as it is or in hexadecimal.
pub(super) fn number(v: &Value) -> Option<u64> {
    match v.as_str() {
        Some(text) => u64::from_str_radix(text.strip_prefix("0x")?, 16).ok(),
        None => v.as_u64(),
    }
}

/// The bits of a value of this type; none where it can be none, or does not fit.
pub(super) fn bits(ty: Ty, v: &Value) -> Option<u64> {
    let of_enum = |id: u16, text: &str| {
        let found = ENUMS[usize::from(id)].values.iter().find(|e| e.1 == text);
        found.map(|e| e.0.cast_unsigned())
    };
    let bits = match (ty, v) {
        (Ty::Struct(_), _) => return None,
        (Ty::F32, _) => u64::from((v.as_f64()? as f32).to_bits()),
        (Ty::F64, _) => v.as_f64()?.to_bits(),
        (Ty::Bool32, Value::Bool(b)) => u64::from(*b),
        (Ty::Enum(id), Value::String(text)) if !text.starts_with("0x") => of_enum(id, text)? & 0xFFFF_FFFF,
        // (enumerants are printed as words)
        (Ty::Enum(_), Value::Number(_)) => return None,
        (Ty::Flags(id) | Ty::Flags64(id), Value::String(text)) => {
            text.split('|').try_fold(0, |all, name| {
                let name = name.trim();
                Some(all | number(&Value::from(name)).or_else(|| of_enum(id, name))?)
            })?
        }
        (Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64, _) => {
            let (value, unused) = (v.as_i64()?, 64 - width(ty));
            // (it fits if its upper bits say nothing but its sign)
            return (value << unused >> unused == value).then_some(value.cast_unsigned() << unused >> unused);
        }
        _ => number(v)?,
    };
    (bits & u64::MAX >> (64 - width(ty)) == bits).then_some(bits)
}

/// Bits of a value.
pub(super) fn width(ty: Ty) -> u32 {
    match ty {
        Ty::Bits { width, .. } => u32::from(width),
        _ => 8 * ty.c_layout().0 as u32,
    }
}

pub(super) fn read(image: &Image, ty: Ty, at: u32) -> u64 {
    match (ty, ty.c_layout().0) {
        (Ty::Bits { shift, width }, _) => {
            u64::from(image.u32(at) >> shift) & (u64::MAX >> (64 - u32::from(width)))
        }
        (_, 1) => image.u8(at).into(),
        (_, 2) => image.u16(at).into(),
        (_, 4) => image.u32(at).into(),
        _ => image.u64(at),
    }
}

pub(super) fn write(image: &mut Image, ty: Ty, at: u32, bits: u64) {
    let size = ty.c_layout().0 as u32;
    if size == 8 {
        return image.edit_u64(at, bits);
    }
    // (what is smaller than a word is a part of one)
    let (word, wide) = (at & !3, width(ty));
    let shift = match ty {
        Ty::Bits { shift, .. } => u32::from(shift),
        _ => 8 * (at & 3),
    };
    let mask = (u32::MAX >> (32 - wide)) << shift;
    image.edit_u32(word, image.u32(word) & !mask | (bits as u32) << shift & mask);
}

/// Types and places of all values, in the order in which they are printed.
#[derive(Default)]
pub(super) struct Places {
    pub(super) values: Vec<(Ty, u32)>,
    /// Other readings of some of them: as floats, as signed numbers.
    pub(super) floats: Vec<(Ty, u32)>,
    pub(super) signed: Vec<(Ty, u32)>,
    within: Vec<&'static StructDef>,
    member: &'static str,
}

impl Places {
    fn special(&self) -> Special {
        self.within.last().map_or(Special::None, |def| def.special)
    }

    /// The value says how what comes is read.
    fn steers(&self, ty: Ty) -> bool {
        let reads = [
            Special::AccelerationStructureGeometry,
            Special::MotionInstance,
            Special::PerformanceValue,
            Special::DescriptorGetInfo,
            Special::IndirectExecutionSetCreateInfo,
            Special::IndirectCommandsLayoutToken,
            Special::LayerSetting,
        ];
        matches!(ty, Ty::Enum(_)) && (self.member == "sType" || reads.contains(&self.special()))
    }
}

impl Visitor for Places {
    fn value(&mut self, _: &Image, ty: Ty, at: u32) {
        if self.steers(ty) {
            return;
        }
        self.values.push((ty, at));
        let (float, signed) = match self.special() {
            Special::ClearValue | Special::PerformanceValue => (Ty::F32, Ty::I32),
            Special::Union64 => (Ty::F64, Ty::I64),
            _ => return,
        };
        self.floats.push((float, at));
        self.signed.push((signed, at));
    }
    fn pointer(&mut self, _: &Image, _: &Ptr, _: Pointee) {}
    fn text(&mut self, _: &Image, _: u32, _: u64, _: u32) {}
    fn begin_struct(&mut self, _: &Image, def: &'static StructDef, _: u32) {
        self.within.push(def);
    }
    fn end_struct(&mut self, _: &'static StructDef) {
        self.within.pop();
    }
    fn member(&mut self, m: &'static Member) {
        self.member = m.name;
    }
    fn template_part(&mut self, _: usize, _: u64) {
        self.member = "";
    }
}
