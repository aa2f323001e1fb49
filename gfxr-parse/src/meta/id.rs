//! Metadata types: the low 16 bits of an id.

/// [`super::DisplayMessage`]
pub const DISPLAY_MESSAGE: u16 = 1;
/// [`super::FillMemory`]
pub const FILL_MEMORY: u16 = 2;
/// [`super::ResizeWindow`]
pub const RESIZE_WINDOW: u16 = 3;
/// [`super::SwapchainImages`]
pub const SWAPCHAIN_IMAGES: u16 = 4;
/// [`super::BeginResourceInit`]
pub const BEGIN_RESOURCE_INIT: u16 = 5;
/// [`super::EndResourceInit`]
pub const END_RESOURCE_INIT: u16 = 6;
/// [`super::InitBuffer`]
pub const INIT_BUFFER: u16 = 7;
/// [`super::InitImage`]
pub const INIT_IMAGE: u16 = 8;
/// [`super::CreateHardwareBuffer`] with 32 bits of usage and no device
pub const CREATE_HARDWARE_BUFFER_1: u16 = 9;
/// [`super::DestroyHardwareBuffer`]
pub const DESTROY_HARDWARE_BUFFER: u16 = 10;
/// [`super::DeviceProperties`]
pub const DEVICE_PROPERTIES: u16 = 11;
/// [`super::DeviceMemory`]
pub const DEVICE_MEMORY: u16 = 12;
/// [`super::ResizeWindow2`]
pub const RESIZE_WINDOW_2: u16 = 13;
/// [`super::OpaqueAddress`]
pub const OPAQUE_ADDRESS: u16 = 14;
/// [`super::ShaderGroups`]
pub const SHADER_GROUPS: u16 = 15;
/// [`super::ExeInfo`]
pub const EXE_INFO: u16 = 18;
/// [`super::DriverInfo`]
pub const DRIVER_INFO: u16 = 22;
/// [`super::CreateHardwareBuffer`] without a device
pub const CREATE_HARDWARE_BUFFER_2: u16 = 24;
/// [`super::ParentToChild`]
pub const PARENT_TO_CHILD: u16 = 27;
/// [`super::BuildAcceleration`]
pub const BUILD_ACCELERATION: u16 = 28;
/// [`super::CopyAcceleration`]
pub const COPY_ACCELERATION: u16 = 29;
/// [`super::WriteAcceleration`]
pub const WRITE_ACCELERATION: u16 = 30;
/// [`super::Environment`]
pub const ENVIRONMENT: u16 = 32;
/// [`super::ExecuteBlocks`]
pub const EXECUTE_BLOCKS: u16 = 34;
/// [`super::CreateHardwareBuffer`]
pub const CREATE_HARDWARE_BUFFER_3: u16 = 35;
/// [`super::OpaqueDescriptor`]
pub const OPAQUE_DESCRIPTOR: u16 = 37;
/// [`super::InitTensor`]
pub const INIT_TENSOR: u16 = 39;
/// From here on: experiments of whoever wrote the file.
pub const EXPERIMENTAL: u16 = 0x8000;
