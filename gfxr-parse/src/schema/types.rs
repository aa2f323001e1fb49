//! What the tables of the schema are made of: commands, structs, members, types, enumerations, handles.

/// Index into [`super::generated::STRUCTS`].
pub type StructId = u16;

/// Index into [`super::generated::ENUMS`].
pub type EnumId = u16;

/// Index into [`super::generated::HANDLES`].
pub type HandleId = u16;

/// What one element is. The wire width equals the C width unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    /// Unsigned and signed integers, floats.
    U8,
    /// Signed 8 bits.
    I8,
    /// Unsigned 16 bits.
    U16,
    /// Signed 16 bits.
    I16,
    /// Unsigned 32 bits; also VkSampleMask, DWORD, xcb ids.
    U32,
    /// Signed 32 bits.
    I32,
    /// Unsigned 64 bits.
    U64,
    /// Signed 64 bits.
    I64,
    /// 32-bit float.
    F32,
    /// 64-bit float.
    F64,
    /// A character; only inside the string shapes.
    Char,
    /// VkBool32.
    Bool32,
    /// size_t, 8 bytes.
    Size,
    /// VkDeviceSize.
    DeviceSize,
    /// VkDeviceAddress: an address on the capture's device, remapped at replay.
    DeviceAddress,
    /// A pointer of the captured process that is not followed (void*, functions, window-system objects), 8 bytes.
    Opaque,
    /// An enum, 4 bytes.
    Enum(EnumId),
    /// A 32-bit bitmask; the enum that names its bits (its `values` may be empty).
    Flags(EnumId),
    /// A 64-bit bitmask.
    Flags64(EnumId),
    /// A handle; 8 bytes, the capture's id on the wire, the live handle in C.
    Handle(HandleId),
    /// A 64-bit integer that holds a handle id whose type the sibling member with this index (a VkObjectType, or the
    /// older VkDebugReportObjectTypeEXT) names.
    ObjectHandle(u8),
    /// An embedded struct or union.
    Struct(StructId),
    /// A C bit-field inside the 32-bit unit at the member's offset. A full u32 on the wire.
    Bits {
        /// Lowest bit.
        shift: u8,
        /// Number of bits.
        width: u8,
    },
}

/// How a member holds its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// By value, inline, no preamble.
    Value,
    /// `T name[n]` inside a struct: a full preamble on the wire (Array), elements inline in C. On the wire are as many
    /// as `len` says if it names a sibling (memoryTypes, memoryHeaps, physicalDevices), else all n.
    Fixed(u16),
    /// `T name[n][m]` inside a struct: the wire is ONE array preamble of n*m elements (as gfxreconstruct's
    /// `Encode…2DMatrix`), elements inline in C.
    Fixed2(u16, u16),
    /// `char name[n]` inside a struct: a string preamble on the wire.
    FixedStr(u16),
    /// `T*` to one element.
    Ptr,
    /// `T*` to many; the length is on the wire.
    Array,
    /// `const char*`.
    Str,
    /// `const char* const*`.
    StrArray,
    /// `LPCWSTR`: a wide string, 2-byte units on the wire.
    WStr,
    /// `T* const*`: an outer array of inner arrays.
    Array2,
    /// `void**`: a pointer to one 8-byte value that means nothing outside the captured process.
    PtrPtr,
    /// A pNext chain.
    PNext,
    /// A member the struct-level [`Special`] takes care of, or one that is not on the wire at all.
    Absent,
    /// The data of a descriptor update template (a command's last parameter).
    TemplateData,
}

/// Where the C API says an array's length is; used to check a count against what the wire really brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Len {
    /// Not an array, or null-terminated.
    None,
    /// The sibling member with this index (dereferenced if it is a pointer).
    Member(u8),
    /// The sibling's value divided by this, rounded up (codeSize / 4, samples / 32).
    MemberDiv(u8, u8),
    /// `sibling->field` (a parameter that is a struct pointer): index of the parameter, index of the field.
    Field(u8, u8),
    /// A constant.
    Const(u32),
    /// An expression no sibling names.
    Other,
}

impl Len {
    /// The sibling member that says how many elements there are, whatever it counts in.
    pub fn counter(self) -> Option<u8> {
        match self {
            Len::Member(n) | Len::MemberDiv(n, _) => Some(n),
            Len::None | Len::Field(..) | Len::Const(_) | Len::Other => None,
        }
    }
}

/// How long the inner arrays of an array of arrays are, where that can be known beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inner {
    /// No array of arrays, or nothing says how long they are.
    None,
    /// One element each.
    One,
    /// Inner array `k` has as many elements as field `1` of element `k` of the sibling array `0` says.
    Field(u8, u8),
}

/// What a device extension adds.
#[derive(Clone, Copy, Debug)]
pub struct Extension {
    /// Its name.
    pub name: &'static str,
    /// Major and minor number of the Vulkan version that took it in; (0, 0) if none has.
    pub promoted: (u32, u32),
    /// Its commands, by the names that they have in it.
    pub commands: &'static [&'static str],
    /// Its structs by canonical name, but for those of features and properties.
    pub structs: &'static [&'static str],
    /// Its structs of features.
    pub features: &'static [&'static str],
    /// Its enumerants and bits: (enum, value). sTypes, types of objects and results are not among them.
    pub values: &'static [(&'static str, i64)],
    /// The SPIR-V extensions that it lets shaders use.
    pub spirv: &'static [&'static str],
}

/// Whether a value may be zero, or a pointer null: what the registry's `optional` and `noautovalidity` say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Only the specification's prose says (`noautovalidity`).
    Open,
    /// It may be (`optional`).
    Optional,
    /// It may not be.
    Required,
}

/// A member of a struct or a parameter of a command.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Its C name.
    pub name: &'static str,
    /// What an element is.
    pub ty: Ty,
    /// How elements are held.
    pub shape: Shape,
    /// Offset in the C struct in bytes; for a parameter 8 × its index (each has an 8-byte slot of its own).
    pub at: u32,
    /// Where the length is.
    pub len: Len,
    /// The lengths of inner arrays.
    pub inner: Inner,
    /// Whether it may be null or zero.
    pub presence: Presence,
    /// Whether what it leads to may be.
    pub elements: Presence,
    /// Points to non-const memory: the driver writes it. Never set for a pNext (it shares its struct's fate), nor for
    /// pointers that are not followed.
    pub out: bool,
}

/// Structs whose wire form is not simply their members one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// Members in order.
    None,
    /// VkClearValue, VkClearColorValue: a u32 array of 4.
    ClearValue,
    /// A union carried as one u64 (VkPipelineExecutableStatisticValueKHR).
    Union64,
    /// VkDeviceOrHostAddress(Const)KHR: a u64, a device address (or a host pointer in host builds).
    DeviceOrHostAddress,
    /// VkAccelerationStructureGeometryKHR: only the active member of `geometry`.
    AccelerationStructureGeometry,
    /// VkAccelerationStructureMotionInstanceNV.
    MotionInstance,
    /// VkDescriptorImageInfo: which members are handles depends on the descriptor type around it.
    DescriptorImageInfo,
    /// VkWriteDescriptorSet.
    WriteDescriptorSet,
    /// VkPerformanceValueINTEL.
    PerformanceValue,
    /// VkDescriptorGetInfoEXT.
    DescriptorGetInfo,
    /// VkIndirectExecutionSetCreateInfoEXT.
    IndirectExecutionSetCreateInfo,
    /// VkIndirectCommandsLayoutTokenEXT.
    IndirectCommandsLayoutToken,
    /// VkMemoryToImageCopy, VkImageToMemoryCopy: pHostPointer is a byte array in newer files, 8 opaque bytes in
    /// older ones.
    HostImageCopy,
    /// VkLayerSettingEXT: pValues typed by `type`.
    LayerSetting,
    /// VkDataGraphPipelineConstantARM: pConstantData is there only if a VkTensorDescriptionARM is in the chain.
    DataGraphPipelineConstant,
    /// A union that gfxreconstruct never writes by itself; its parent is special, or no capture has it.
    BareUnion,
}

/// A struct or union.
#[derive(Clone, Copy, Debug)]
pub struct StructDef {
    /// Its canonical C name (aliases resolve to it).
    pub name: &'static str,
    /// sizeof, in bytes.
    pub size: u32,
    /// alignof, in bytes.
    pub align: u32,
    /// The VkStructureType value, if it has one.
    pub stype: Option<u32>,
    /// Its members.
    pub members: &'static [Member],
    /// Indices of the members that may be pointers or hold values that the registry restricts (`crate::valid`).
    pub looked_at: &'static [u8],
    /// Anything out of the ordinary.
    pub special: Special,
    /// A union: all members at offset 0.
    pub union: bool,
}

/// What the first parameter of a command is, hence which table its pointer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispatch {
    /// No dispatchable handle (vkCreateInstance, vkEnumerateInstance…).
    Global,
    /// VkInstance or VkPhysicalDevice.
    Instance,
    /// VkDevice, VkQueue or VkCommandBuffer.
    Device,
}

/// A command of the API.
#[derive(Clone, Copy, Debug)]
pub struct CommandDef {
    /// Its C name, alias spelling kept (vkCmdDrawIndirectCountKHR).
    pub name: &'static str,
    /// The name it is an alias of, or its own.
    pub canonical: &'static str,
    /// gfxreconstruct's ApiCallId (family 1 in the high 16 bits).
    pub id: u32,
    /// Its parameters in C order; slots of 8 bytes.
    pub params: &'static [Member],
    /// Indices of those that may be pointers or hold values that the registry restricts (`crate::valid`).
    pub looked_at: &'static [u8],
    /// The return value, if not void.
    pub ret: Option<Ty>,
    /// Index of its C calling shape in [`super::generated::SHAPES`].
    pub abi: u16,
    /// Which loader table has it.
    pub dispatch: Dispatch,
    /// The wire carries one piece more after the last parameter, before the return value, that is no C parameter: the
    /// update-template data ([`Shape::TemplateData`]) whose pointer is `pData` in the last parameter's struct, where
    /// it is [`Shape::Absent`] (vkCmdPushDescriptorSetWithTemplate2).
    pub trailing: bool,
}

/// One parameter's or return value's class in the C calling convention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// 32-bit integer.
    I4,
    /// 64-bit integer or pointer.
    I8,
    /// 16-bit integer.
    I2,
    /// 32-bit float.
    F4,
}

/// A C calling shape: parameter classes, then the return class.
#[derive(Clone, Copy, Debug)]
pub struct AbiShape {
    /// The parameters' classes.
    pub params: &'static [Class],
    /// The return value's class; none for void.
    pub ret: Option<Class>,
}

/// An enum or the bits of a bitmask.
#[derive(Clone, Copy, Debug)]
pub struct EnumDef {
    /// C name: `VkFormat`, or for masks the bits' name (`VkImageUsageFlagBits`).
    pub name: &'static str,
    /// For masks: the name of the flags type (`VkImageUsageFlags`), else the same as `name`.
    pub flags_name: &'static str,
    /// 32 or 64.
    pub width: u8,
    /// A bitmask.
    pub bitmask: bool,
    /// All values from 0 up to this, without it, have a name.
    pub dense: u32,
    /// All bits that have a name.
    pub mask: u64,
    /// (value, full C name), sorted by value; aliases left out (the first canonical name per value).
    pub values: &'static [(i64, &'static str)],
}

impl EnumDef {
    /// What a value is called, as 32 bits.
    #[inline]
    pub fn value(&self, v: u32) -> Option<&'static str> {
        let wide = if self.bitmask { i64::from(v) } else { i64::from(v.cast_signed()) };
        // Most enums are numbered from 0 without gaps.
        if let Some(&(value, name)) = self.values.get(v as usize)
            && value == wide
        {
            return Some(name);
        }
        self.values.binary_search_by_key(&wide, |e| e.0).ok().map(|i| self.values[i].1)
    }

    /// What a single bit is called.
    pub fn bit(&self, bit: u64) -> Option<&'static str> {
        self.values.binary_search_by_key(&bit.cast_signed(), |e| e.0).ok().map(|i| self.values[i].1)
    }

    /// What the bits that are set are called; those without a name are left out.
    pub fn bits(&self, v: u64) -> impl Iterator<Item = &'static str> {
        (0..64).map(|b| 1 << b).filter(move |b| v & b != 0).filter_map(|b| self.bit(b))
    }
}

/// A handle type.
#[derive(Clone, Copy, Debug)]
pub struct HandleDef {
    /// C name.
    pub name: &'static str,
    /// Its VkObjectType value.
    pub object_type: u32,
    /// Index of its parent's type, if any.
    pub parent: Option<HandleId>,
    /// A pointer for the loader (VkInstance, VkPhysicalDevice, VkDevice, VkQueue, VkCommandBuffer).
    pub dispatchable: bool,
}
