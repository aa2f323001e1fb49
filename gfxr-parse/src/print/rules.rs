//! Which members are printed otherwise than their type says. Each rule is upstream's, by name.
//!
//! Guarantees: the answers depend on the schema alone. Refuses nothing.

use crate::image::Image;
use crate::schema::generated::STRUCTS;
use crate::schema::{EnumDef, Member, Special, StructDef, enum_named};
use std::sync::LazyLock;

/// Opaque pointers that are written in hexadecimal: functions, user data, and what vkMapMemory returned.
pub(super) fn hex_pointer(m: &Member) -> bool {
    m.name.starts_with("pfn") || matches!(m.name, "pUserData" | "userData" | "ppData")
}

/// The name of the union's member stands between the struct and its value: upstream leaves it out of two.
pub(crate) fn names_its_union(special: Special) -> bool {
    !matches!(special, Special::IndirectExecutionSetCreateInfo | Special::IndirectCommandsLayoutToken)
}

/// Arrays of bytes that are one number.
pub(super) fn is_uuid(m: &Member) -> bool {
    m.name.ends_with("UUID") || m.name.ends_with("LUID") || m.name == "uuid"
}

/// The bytes that upstream never writes out, and how the file that may hold them is called.
pub(super) fn blob(command: &str, owner: Option<&StructDef>, m: &Member) -> Option<&'static str> {
    match (m.name, owner.map(|s| s.name)) {
        ("pCode", Some("VkShaderModuleCreateInfo")) => Some("shader_module"),
        ("pInitialData", Some("VkPipelineCacheCreateInfo")) => Some("pipeline_cache_data"),
        ("pHostPointer", Some("VkMemoryToImageCopy")) => Some("memorytoimagecopy"),
        ("pHostPointer", Some("VkImageToMemoryCopy")) => Some("imagetomemorycopy"),
        ("pData", None) if command == "vkGetPipelineCacheData" => Some("pipeline_cache_data"),
        ("pValues", None) if command == "vkCmdPushConstants" => Some("pushconstants"),
        _ => None,
    }
}

/// The name of the member of VkDescriptorDataEXT that a descriptor type uses.
pub(super) fn descriptor_member(ty: u32) -> Option<&'static str> {
    Some(match ty {
        0 => "pSampler",
        1 => "pCombinedImageSampler",
        2 => "pSampledImage",
        3 => "pStorageImage",
        4 => "pUniformTexelBuffer",
        5 => "pStorageTexelBuffer",
        6 => "pUniformBuffer",
        7 => "pStorageBuffer",
        10 => "pInputAttachmentImage",
        crate::decode::special::descriptor::ACCELERATION_STRUCTURE => "accelerationStructure",
        _ => return None,
    })
}

/// The name of the member of VkPerformanceValueDataINTEL that a value type uses.
pub(super) fn performance_member(ty: u32) -> Option<&'static str> {
    ["value32", "value64", "valueFloat", "valueBool", "valueString"].get(ty as usize).copied()
}

/// VkGeometryInstanceFlagBitsKHR, which hides in a bit-field that only its name gives away.
pub(super) static INSTANCE_FLAGS: LazyLock<&EnumDef> = LazyLock::new(|| {
    enum_named("VkGeometryInstanceFlagBitsKHR").expect("VkGeometryInstanceFlagBitsKHR is in the schema")
});

/// What the sType of each struct is called, by struct.
static STYPE_NAMES: LazyLock<Vec<Option<&'static str>>> = LazyLock::new(|| {
    let stypes = enum_named("VkStructureType");
    let name = |s: &StructDef| stypes.and_then(|e| e.value(s.stype?));
    STRUCTS.iter().map(name).collect()
});

/// What the sType of this struct is called.
#[inline]
pub(super) fn stype_name(def: &'static StructDef) -> Option<&'static str> {
    // Its place in the table, from its address.
    let offset = (std::ptr::from_ref(def) as usize).wrapping_sub(STRUCTS.as_ptr() as usize);
    *STYPE_NAMES.get(offset / size_of::<StructDef>())?
}

/// The value of a 32-bit sibling member at `index`.
pub(super) fn sibling(image: &Image, def: &StructDef, at: u32, index: usize) -> u32 {
    image.u32(at + def.members[index].at)
}
