//! The schema: what every Vulkan command, struct, enum and handle looks like on the wire of a capture and in C.
//!
//! The tables in `generated/` are written by `cargo xtask generate` from the Vulkan registry, gfxreconstruct's call
//! ids and the overlay in `xtask/src/generate/overlay.rs`; nothing here is specific to one command. Sizes, alignments
//! and offsets are those of the LP64 C ABI (Linux, x86-64 and aarch64).
//!
//! Guarantees: indices inside the tables are in range (a test walks them all). Refuses nothing: it is data.

pub mod generated;
pub mod offsets;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;
mod types;

pub use types::{
    AbiShape, Class, CommandDef, Dispatch, EnumDef, EnumId, Extension, HandleDef, HandleId, Inner, Len,
    Member, Presence, Shape, Special, StructDef, StructId, Ty,
};

/// The piece that [`CommandDef::trailing`] speaks of, as if it were a parameter.
pub static TRAILING: Member = Member {
    name: "pData",
    ty: Ty::Opaque,
    shape: Shape::TemplateData,
    at: 0,
    len: Len::None,
    inner: Inner::None,
    presence: Presence::Open,
    elements: Presence::Open,
    out: false,
};

/// For each call id from the first on: its index in [`generated::COMMANDS`] plus one, 0 where there is none.
static BY_ID: LazyLock<Vec<u16>> = LazyLock::new(|| {
    let ids = || generated::COMMANDS.iter().map(|c| c.id);
    let first = ids().min().unwrap_or(0);
    let mut table = vec![0; (ids().max().unwrap_or(0) - first + 1) as usize];
    for (i, id) in ids().enumerate() {
        table[(id - first) as usize] = i as u16 + 1;
    }
    table
});

/// The index in [`generated::COMMANDS`] of the command with this ApiCallId.
#[inline]
pub fn command_index(id: u32) -> Option<usize> {
    let first = generated::COMMANDS[0].id; // sorted by id
    let entry = *BY_ID.get(id.wrapping_sub(first) as usize)?;
    (entry as usize).checked_sub(1)
}

/// The command with this ApiCallId.
#[inline]
pub fn command(id: u32) -> Option<&'static CommandDef> {
    command_index(id).map(|i| &generated::COMMANDS[i])
}

/// The command with this name.
pub fn command_named(name: &str) -> Option<&'static CommandDef> {
    let by_name = &generated::COMMANDS_BY_NAME;
    by_name
        .binary_search_by(|&i| generated::COMMANDS[i as usize].name.cmp(name))
        .ok()
        .map(|i| &generated::COMMANDS[by_name[i] as usize])
}

/// The struct that goes by this VkStructureType.
pub fn struct_by_stype(stype: u32) -> Option<StructId> {
    let t = &generated::STYPES;
    t.binary_search_by_key(&stype, |e| e.0).ok().map(|i| t[i].1)
}

/// The struct with this canonical name.
pub fn struct_named(name: &str) -> Option<StructId> {
    generated::STRUCTS.binary_search_by(|s| s.name.cmp(name)).ok().map(|i| i as StructId)
}

/// The enum, or the bits, with this C name.
pub fn enum_named(name: &str) -> Option<&'static EnumDef> {
    generated::ENUMS.binary_search_by(|e| e.name.cmp(name)).ok().map(|i| &generated::ENUMS[i])
}

/// The handle type with this C name.
pub fn handle_named(name: &str) -> Option<HandleId> {
    generated::HANDLES.binary_search_by(|h| h.name.cmp(name)).ok().map(|i| i as HandleId)
}

impl Ty {
    /// sizeof and alignof of one element in C.
    pub fn c_layout(self) -> (usize, usize) {
        match self {
            Ty::U8 | Ty::I8 | Ty::Char => (1, 1),
            Ty::U16 | Ty::I16 => (2, 2),
            Ty::U32 | Ty::I32 | Ty::F32 | Ty::Bool32 | Ty::Enum(_) | Ty::Flags(_) | Ty::Bits { .. } => (4, 4),
            Ty::U64
            | Ty::I64
            | Ty::F64
            | Ty::Size
            | Ty::DeviceSize
            | Ty::DeviceAddress
            | Ty::Opaque
            | Ty::Flags64(_)
            | Ty::Handle(_)
            | Ty::ObjectHandle(_) => (8, 8),
            Ty::Struct(id) => {
                let s = &generated::STRUCTS[id as usize];
                (s.size as usize, s.align as usize)
            }
        }
    }
}
