//! What the registry cannot say: gfxreconstruct's special cases and the platforms' own types.
//!
//! One line per fact. Types and commands that the registry lacks are in `overlay.xml`, in the registry's own format.
//! An entry that names a struct or member that does not exist is refused by the generator.

use super::model::{Len, Shape, Ty};

/// Types and commands the registry lacks.
pub const EXTRA: &str = include_str!("overlay.xml");

/// Structs that only tools know by name: pointers to them are never followed, 8 bytes on the wire.
pub const OPAQUE_OBJECTS: &[&str] = &[
    "AHardwareBuffer",
    "ANativeWindow",
    "CAMetalLayer",
    "Display",
    "IDirectFB",
    "IDirectFBSurface",
    "OHBufferHandle",
    "OHNativeWindow",
    "OH_NativeBuffer",
    "_screen_buffer",
    "_screen_context",
    "_screen_window",
    "ubm_device",
    "ubm_surface",
    "wl_display",
    "wl_surface",
    "xcb_connection_t",
];

/// Length expressions that no sibling names; the length on the wire is all there is.
pub const UNNAMED_LENGTHS: &[&str] = &["*_max_sub_layers_minus1 + 1", "TileCols", "TileRows", "sizeof(SID)"];

/// Arrays of arrays whose inner lengths the specification states in prose: the parameter, then the array beside it and the
/// field of its elements that says how long the inner array of the same index is.
pub const INNER_LENGTHS: &[((&str, &str), &str, &str)] = &[
    (("vkBuildAccelerationStructuresKHR", "ppBuildRangeInfos"), "pInfos", "geometryCount"),
    (("vkCmdBuildAccelerationStructuresKHR", "ppBuildRangeInfos"), "pInfos", "geometryCount"),
    (("vkCmdBuildAccelerationStructuresIndirectKHR", "ppMaxPrimitiveCounts"), "pInfos", "geometryCount"),
];

/// Base types by value, by their canonical name.
pub fn element(name: &str) -> Option<Ty> {
    Some(match name {
        "uint8_t" => Ty::U8,
        "int8_t" => Ty::I8,
        "uint16_t" => Ty::U16,
        "int16_t" => Ty::I16,
        "uint32_t" | "VkFlags" | "VkSampleMask" => Ty::U32,
        "int32_t" | "int" => Ty::I32,
        "uint64_t" | "VkFlags64" => Ty::U64,
        "int64_t" => Ty::I64,
        "float" => Ty::F32,
        "double" => Ty::F64,
        "VkBool32" => Ty::Bool32,
        "size_t" => Ty::Size,
        "VkDeviceSize" => Ty::DeviceSize,
        "VkDeviceAddress" => Ty::DeviceAddress,
        "VkRemoteAddressNV" => Ty::Opaque,
        // X11 ids are `unsigned long`; gfxreconstruct writes them as size_t.
        "Window" | "VisualID" | "RROutput" => Ty::U64,
        "DWORD" | "xcb_window_t" | "xcb_visualid_t" | "zx_handle_t" => Ty::U32,
        // GgpStreamDescriptor is 32 bits in C but 64 on the wire, and no replay calls for it: the wire decides.
        "GgpStreamDescriptor" | "GgpFrameToken" => Ty::U64,
        "HANDLE" | "HWND" | "HINSTANCE" | "HMONITOR" | "IOSurfaceRef" => Ty::Opaque,
        "MTLBuffer_id" | "MTLCommandQueue_id" | "MTLDevice_id" | "MTLSharedEvent_id" | "MTLTexture_id" => {
            Ty::Opaque
        }
        _ => return None,
    })
}

/// What a member is instead of what its declaration says.
pub struct Instead {
    /// Another element.
    pub ty: Option<Ty>,
    /// Another holder.
    pub shape: Option<Shape>,
    /// Another length.
    pub len: Option<Len>,
}

/// Members that are not held as their declaration says.
pub const MEMBERS: &[(&str, &str, Instead)] = &[
    // The data of a descriptor update template.
    ("vkUpdateDescriptorSetWithTemplate", "pData", TEMPLATE),
    ("vkCmdPushDescriptorSetWithTemplate", "pData", TEMPLATE),
    // They follow as a piece of their own behind the parameters (TRAILING).
    ("VkPushDescriptorSetWithTemplateInfo", "pData", ABSENT),
    // Handed to a callback only; gfxreconstruct writes the driver's number, not an id.
    ("VkDeviceMemoryReportCallbackDataEXT", "objectHandle", RAW),
    // The wire has all elements, whatever the count beside them says.
    ("VkPipelineBinaryKeyKHR", "key", FULL),
    ("VkQueueFamilyGlobalPriorityProperties", "priorities", FULL),
    ("VkShaderModuleIdentifierEXT", "identifier", FULL),
];

const RAW: Instead = Instead { ty: Some(Ty::U64), shape: None, len: None };
const TEMPLATE: Instead = Instead { ty: None, shape: Some(Shape::TemplateData), len: None };
const ABSENT: Instead = Instead { ty: None, shape: Some(Shape::Absent), len: None };
const FULL: Instead = Instead { ty: None, shape: None, len: Some(Len::None) };

/// Commands whose template data follow the parameters.
pub const TRAILING: &[&str] = &["vkCmdPushDescriptorSetWithTemplate2"];

/// The entry for a member.
pub fn instead(owner: &str, member: &str) -> Option<&'static Instead> {
    MEMBERS.iter().find(|m| m.0 == owner && m.1 == member).map(|m| &m.2)
}

/// Structs whose wire form is their own, by the schema's `Special`.
pub const SPECIALS: &[(&str, &str)] = &[
    ("VkAccelerationStructureGeometryKHR", "AccelerationStructureGeometry"),
    ("VkAccelerationStructureMotionInstanceNV", "MotionInstance"),
    ("VkClearColorValue", "ClearValue"),
    ("VkClearValue", "ClearValue"),
    ("VkDataGraphPipelineConstantARM", "DataGraphPipelineConstant"),
    ("VkDescriptorGetInfoEXT", "DescriptorGetInfo"),
    ("VkDescriptorImageInfo", "DescriptorImageInfo"),
    ("VkDeviceOrHostAddressConstAMDX", "DeviceOrHostAddress"),
    ("VkDeviceOrHostAddressConstKHR", "DeviceOrHostAddress"),
    ("VkDeviceOrHostAddressKHR", "DeviceOrHostAddress"),
    ("VkImageToMemoryCopy", "HostImageCopy"),
    ("VkIndirectCommandsLayoutTokenEXT", "IndirectCommandsLayoutToken"),
    ("VkIndirectExecutionSetCreateInfoEXT", "IndirectExecutionSetCreateInfo"),
    ("VkLayerSettingEXT", "LayerSetting"),
    ("VkMemoryToImageCopy", "HostImageCopy"),
    ("VkPerformanceValueINTEL", "PerformanceValue"),
    ("VkPipelineExecutableStatisticValueKHR", "Union64"),
    ("VkWriteDescriptorSet", "WriteDescriptorSet"),
    // Unions that never stand alone on the wire.
    ("VkAccelerationStructureGeometryDataKHR", "BareUnion"),
    ("VkAccelerationStructureMotionInstanceDataNV", "BareUnion"),
    ("VkClusterAccelerationStructureOpInputNV", "BareUnion"),
    ("VkDescriptorDataEXT", "BareUnion"),
    ("VkDescriptorMappingSourceDataEXT", "BareUnion"),
    ("VkIndirectCommandsTokenDataEXT", "BareUnion"),
    ("VkIndirectExecutionSetInfoEXT", "BareUnion"),
    ("VkPerformanceCounterResultKHR", "BareUnion"),
    ("VkPerformanceValueDataINTEL", "BareUnion"),
    ("VkResourceDescriptorDataEXT", "BareUnion"),
];

const NVX: &str = "VK_NVX_device_generated_commands was removed from the registry";
const MIR: &str = "VK_KHR_mir_surface was removed from the registry";
const EARLY_AS: &str = "a command of the provisional VK_KHR_ray_tracing, gone in its final version";

/// Commands with an id that no definition exists for, and why.
pub const UNDECODABLE: &[(&str, &str)] = &[
    ("vkBindAccelerationStructureMemoryKHR", EARLY_AS),
    ("vkCmdProcessCommandsNVX", NVX),
    ("vkCmdReserveSpaceForCommandsNVX", NVX),
    ("vkCreateIndirectCommandsLayoutNVX", NVX),
    ("vkCreateMirSurfaceKHR", MIR),
    ("vkCreateObjectTableNVX", NVX),
    ("vkDestroyIndirectCommandsLayoutNVX", NVX),
    ("vkDestroyObjectTableNVX", NVX),
    ("vkGetAccelerationStructureMemoryRequirementsKHR", EARLY_AS),
    ("vkGetPhysicalDeviceGeneratedCommandsPropertiesNVX", NVX),
    ("vkGetPhysicalDeviceMirPresentationSupportKHR", MIR),
    ("vkRegisterObjectsNVX", NVX),
    ("vkUnregisterObjectsNVX", NVX),
];
