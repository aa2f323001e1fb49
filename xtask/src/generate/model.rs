//! The tables in the generator's memory: the same shape as `gfxr-parse/src/schema/mod.rs`, names owned.
//!
//! The enums' `Debug` output is what the emitter writes, so their names and fields are those of the schema. A
//! difference between the two does not compile once generated.

/// As the schema's `Ty`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
    Char,
    Bool32,
    Size,
    DeviceSize,
    DeviceAddress,
    Opaque,
    Enum(u16),
    Flags(u16),
    Flags64(u16),
    Handle(u16),
    ObjectHandle(u8),
    Struct(u16),
    Bits { shift: u8, width: u8 },
}

/// As the schema's `Shape`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Value,
    Fixed(u16),
    Fixed2(u16, u16),
    FixedStr(u16),
    Ptr,
    Array,
    Str,
    StrArray,
    WStr,
    Array2,
    PtrPtr,
    PNext,
    Absent,
    TemplateData,
}

/// As the schema's `Len`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Len {
    None,
    Member(u8),
    MemberDiv(u8, u8),
    Field(u8, u8),
    Const(u32),
    Other,
}

/// As the schema's `Inner`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inner {
    None,
    One,
    Field(u8, u8),
}

/// As the schema's `Presence`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Open,
    Optional,
    Required,
}

/// As the schema's `Member`.
#[derive(Clone, Debug)]
pub struct Member {
    /// C name.
    pub name: String,
    /// Element.
    pub ty: Ty,
    /// Holder.
    pub shape: Shape,
    /// Offset.
    pub at: u32,
    /// Length.
    pub len: Len,
    /// Length of inner arrays.
    pub inner: Inner,
    /// Whether it may be null or zero.
    pub presence: Presence,
    /// Whether what it leads to may.
    pub elements: Presence,
    /// Written by the driver.
    pub out: bool,
}

/// As the schema's `StructDef`.
#[derive(Clone, Debug)]
pub struct Struct {
    /// C name.
    pub name: String,
    /// sizeof.
    pub size: u32,
    /// alignof.
    pub align: u32,
    /// Structure type.
    pub stype: Option<u32>,
    /// Members.
    pub members: Vec<Member>,
    /// Members that may be pointers or hold values that the registry restricts.
    pub looked_at: Vec<u8>,
    /// The schema's `Special`, by name.
    pub special: &'static str,
    /// Union.
    pub union: bool,
}

/// As the schema's `CommandDef`.
#[derive(Clone, Debug)]
pub struct Command {
    /// C name.
    pub name: String,
    /// What it is an alias of.
    pub canonical: String,
    /// ApiCallId.
    pub id: u32,
    /// Parameters.
    pub params: Vec<Member>,
    /// Those that may be pointers or hold values that the registry restricts.
    pub looked_at: Vec<u8>,
    /// Return.
    pub ret: Option<Ty>,
    /// Index of the shape.
    pub abi: u16,
    /// The schema's `Dispatch`, by name.
    pub dispatch: &'static str,
    /// Template data behind the parameters.
    pub trailing: bool,
}

/// As the schema's `EnumDef`.
#[derive(Clone, Debug)]
pub struct Enum {
    /// C name.
    pub name: String,
    /// The mask's name.
    pub flags_name: String,
    /// 64 bits.
    pub wide: bool,
    /// A mask.
    pub bitmask: bool,
    /// Sorted values.
    pub values: Vec<(i64, String)>,
    /// All values below this are named.
    pub dense: u32,
    /// All named bits.
    pub mask: u64,
}

/// As the schema's `HandleDef`.
#[derive(Clone, Debug)]
pub struct Handle {
    /// C name.
    pub name: String,
    /// VkObjectType.
    pub object_type: u32,
    /// Parent.
    pub parent: Option<u16>,
    /// Dispatchable.
    pub dispatchable: bool,
}

/// A calling shape: parameter classes, return class.
pub type Abi = (Vec<&'static str>, Option<&'static str>);

/// A command id that nothing in the registry or the overlay describes: id, name, reason.
pub type Undecodable = (u32, String, &'static str);

/// Everything that is written out.
#[derive(Default)]
pub struct Tables {
    /// Registry version.
    pub version: String,
    /// Sorted by name.
    pub structs: Vec<Struct>,
    /// Sorted by name.
    pub enums: Vec<Enum>,
    /// Sorted by name.
    pub handles: Vec<Handle>,
    /// Sorted by id.
    pub commands: Vec<Command>,
    /// In order of first use.
    pub shapes: Vec<Abi>,
    /// Sorted by id.
    pub undecodable: Vec<Undecodable>,
}
