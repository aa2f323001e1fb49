//! Sizes, alignments and offsets of the LP64 C ABI, bit-fields and unions included.
//!
//! Guarantees: what is returned is what a C compiler for Linux on x86-64 or aarch64 lays out. Refuses a struct that
//! contains itself, and bit-fields that would share a unit with a smaller neighbour (no struct has them).

use super::error::Result;
use super::model::{Member, Shape, Struct, Ty};

/// Lays out all structs, embedded ones first.
pub fn lay_out(structs: &mut [Struct]) -> Result<()> {
    let mut state = vec![State::New; structs.len()];
    (0..structs.len()).try_for_each(|i| one(structs, &mut state, i))
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Busy,
    Done,
}

fn one(structs: &mut [Struct], state: &mut [State], index: usize) -> Result<()> {
    match state[index] {
        State::Done => return Ok(()),
        State::Busy => return Err(format!("{}: contains itself", structs[index].name)),
        State::New => state[index] = State::Busy,
    }
    for m in 0..structs[index].members.len() {
        if let (Ty::Struct(inner), false) =
            (structs[index].members[m].ty, is_pointer(structs[index].members[m].shape))
        {
            one(structs, state, inner as usize)?;
        }
    }
    let (mut end, mut align, mut largest) = (0u32, 1u32, 0u32);
    // The bit position reached in the current 32-bit unit, and where the unit lies.
    let mut unit: Option<(u32, u8)> = None;
    for m in 0..structs[index].members.len() {
        let (size, its_align) = slot(structs, &structs[index].members[m]);
        let union = structs[index].union;
        let name = structs[index].name.clone();
        let member = &mut structs[index].members[m];
        align = align.max(its_align);
        if let Ty::Bits { shift, width } = &mut member.ty {
            if union || *width == 0 || *width > 32 {
                return Err(format!("{name}.{}: unknown bit-field", member.name));
            }
            let (at, used) = match unit {
                Some((at, used)) if used + *width <= 32 => (at, used),
                _ if end % 4 == 0 => (end, 0),
                _ => return Err(format!("{name}.{}: a bit-field behind a smaller member", member.name)),
            };
            (member.at, *shift) = (at, used);
            unit = Some((at, used + *width));
            end = at + 4;
            continue;
        }
        unit = None;
        member.at = if union { 0 } else { end.next_multiple_of(its_align) };
        end = member.at + size;
        largest = largest.max(size);
    }
    let size = if structs[index].union { largest } else { end };
    structs[index].size = size.next_multiple_of(align);
    structs[index].align = align;
    state[index] = State::Done;
    Ok(())
}

/// Whether the member is one pointer in C, whatever it points to.
fn is_pointer(shape: Shape) -> bool {
    !matches!(shape, Shape::Value | Shape::Fixed(_) | Shape::Fixed2(..) | Shape::FixedStr(_))
}

fn slot(structs: &[Struct], member: &Member) -> (u32, u32) {
    if is_pointer(member.shape) {
        return (8, 8);
    }
    let (size, align) = match member.ty {
        Ty::U8 | Ty::I8 | Ty::Char => (1, 1),
        Ty::U16 | Ty::I16 => (2, 2),
        Ty::U32 | Ty::I32 | Ty::F32 | Ty::Bool32 | Ty::Enum(_) | Ty::Flags(_) | Ty::Bits { .. } => (4, 4),
        Ty::Struct(id) => (structs[id as usize].size, structs[id as usize].align),
        _ => (8, 8),
    };
    let count = match member.shape {
        Shape::Fixed(n) | Shape::FixedStr(n) => u32::from(n),
        Shape::Fixed2(n, m) => u32::from(n) * u32::from(m),
        _ => 1,
    };
    (size * count, align)
}
