//! Metadata blocks: everything in a capture that is not a call of the API.
//!
//! ```text
//! u32 id = family << 16 | type | u64 thread (not 28, 29, 30) | fields | data (may be compressed where marked z)
//! ```
//!
//! Guarantees: [`MetaBlock::write`] gives back what was read, byte for byte, bytes after the last known
//! field included. The family is kept but not looked at: files before October 2021 have 0 there. Types of Direct3D 12,
//! OpenXR and the future are data ([`Other`]). Refuses bodies shorter than their fields, and the compressed bit on types
//! whose data are never compressed.

#[macro_use]
mod flat;

pub mod acceleration;
pub mod dependency;
pub mod device_info;
pub mod display_message;
pub mod environment;
pub mod execute_blocks;
pub mod fill_memory;
pub mod hardware_buffer;
pub mod id;
pub mod init_buffer;
pub mod init_image;
pub mod opaque;
pub mod process_info;
pub mod resize_window;
pub mod resource_init;
pub mod shader_groups;
pub mod swapchain_images;

pub use acceleration::{BuildAcceleration, CopyAcceleration, WriteAcceleration};
pub use dependency::ParentToChild;
pub use device_info::{DeviceMemory, DeviceProperties, MemoryHeap, MemoryType};
pub use display_message::DisplayMessage;
pub use environment::Environment;
pub use execute_blocks::ExecuteBlocks;
pub use fill_memory::FillMemory;
pub use hardware_buffer::{CreateHardwareBuffer, DestroyHardwareBuffer, HardwareBufferForm, Plane};
pub use init_buffer::{InitBuffer, InitTensor};
pub use init_image::InitImage;
pub use opaque::{OpaqueAddress, OpaqueDescriptor};
pub use process_info::{DriverInfo, ExeInfo};
pub use resize_window::{ResizeWindow, ResizeWindow2};
pub use resource_init::{BeginResourceInit, EndResourceInit};
pub use shader_groups::ShaderGroups;
pub use swapchain_images::{SwapchainImage, SwapchainImages};

use crate::container::fields::{Fields, Put, Text};
use crate::container::framing::{block_type, framed, typed};
use crate::container::payload::Payload;
use crate::error::{Error, Result};

/// The family of Vulkan's ids.
pub const FAMILY_VULKAN: u16 = 1;

/// A metadata block: what it says, and what stands around that.
#[derive(Clone, Debug, PartialEq)]
pub struct MetaBlock<'a> {
    /// The high 16 bits of the id; 1 is Vulkan, 0 in files before October 2021.
    pub family: u16,
    /// The capture's thread that wrote the block; 0 for types that do not say.
    pub thread: u64,
    /// What it says.
    pub meta: Meta<'a>,
    /// Bytes after the last known field; none in any known version.
    pub tail: &'a [u8],
}

/// A metadata type without a struct of its own here: Direct3D 12, OpenXR, or unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Other<'a> {
    /// The type: the low 16 bits of the id.
    pub id: u16,
    /// The block's type carries the compressed bit.
    pub compressed: bool,
    /// Everything after the id, thread (if the type has one) included.
    pub raw: &'a [u8],
}

macro_rules! metas {
    ($( $name:ident $(<$a:lifetime>)? = $id:ident, $thread:literal, $z:literal; )*) => {
        /// What a metadata block says.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs, reason = "each variant is documented on the struct it holds")]
        pub enum Meta<'a> {
            $( $name($name $(<$a>)?), )*
            CreateHardwareBuffer(CreateHardwareBuffer),
            Other(Other<'a>),
        }

        impl<'a> Meta<'a> {
            /// Its type: the low 16 bits of its id.
            pub fn id(&self) -> u16 {
                match self {
                    $( Meta::$name(_) => id::$id, )*
                    Meta::CreateHardwareBuffer(m) => m.form.id(),
                    Meta::Other(o) => o.id,
                }
            }
            fn read(ty: u16, f: &mut Fields<'a>) -> Result<Self> {
                Ok(match ty {
                    $( id::$id => Meta::$name($name::read(f)?), )*
                    _ => match HardwareBufferForm::of(ty) {
                        Some(form) => Meta::CreateHardwareBuffer(CreateHardwareBuffer::read(form, f)?),
                        None => Meta::Other(Other { id: ty, compressed: f.is_compressed(), raw: f.rest() }),
                    },
                })
            }
            /// Writes its fields (and data), without id and thread.
            pub fn write(&self, out: &mut Vec<u8>) {
                match self {
                    $( Meta::$name(m) => m.write(out), )*
                    Meta::CreateHardwareBuffer(m) => m.write(out),
                    Meta::Other(o) => out.put(o.raw),
                }
            }
        }

        /// The id is followed by the thread; the data may be compressed; none for types without a struct here.
        fn traits(ty: u16) -> Option<(bool, bool)> {
            match ty {
                $( id::$id => Some(($thread, $z)), )*
                _ => HardwareBufferForm::of(ty).map(|_| (true, false)),
            }
        }
    };
}

metas! {
    // type                    id                       thread, z
    DisplayMessage<'a>       = DISPLAY_MESSAGE,         true,  false;
    FillMemory<'a>           = FILL_MEMORY,             true,  true;
    ResizeWindow             = RESIZE_WINDOW,           true,  false;
    SwapchainImages          = SWAPCHAIN_IMAGES,        true,  false;
    BeginResourceInit        = BEGIN_RESOURCE_INIT,     true,  false;
    EndResourceInit          = END_RESOURCE_INIT,       true,  false;
    InitBuffer<'a>           = INIT_BUFFER,             true,  true;
    InitImage<'a>            = INIT_IMAGE,              true,  true;
    DestroyHardwareBuffer    = DESTROY_HARDWARE_BUFFER, true,  false;
    DeviceProperties<'a>     = DEVICE_PROPERTIES,       true,  false;
    DeviceMemory             = DEVICE_MEMORY,           true,  false;
    ResizeWindow2            = RESIZE_WINDOW_2,         true,  false;
    OpaqueAddress            = OPAQUE_ADDRESS,          true,  false;
    ShaderGroups<'a>         = SHADER_GROUPS,           true,  false;
    ExeInfo<'a>              = EXE_INFO,                true,  false;
    DriverInfo<'a>           = DRIVER_INFO,             true,  false;
    ParentToChild            = PARENT_TO_CHILD,         true,  false;
    BuildAcceleration<'a>    = BUILD_ACCELERATION,      false, false;
    CopyAcceleration<'a>     = COPY_ACCELERATION,       false, false;
    WriteAcceleration        = WRITE_ACCELERATION,      false, false;
    Environment<'a>          = ENVIRONMENT,             true,  false;
    ExecuteBlocks<'a>        = EXECUTE_BLOCKS,          true,  false;
    OpaqueDescriptor<'a>     = OPAQUE_DESCRIPTOR,       true,  false;
    InitTensor<'a>           = INIT_TENSOR,             true,  true;
}

impl<'a> Meta<'a> {
    /// The data at its end, if its type has data that may be compressed.
    pub fn payload(&self) -> Option<&Payload<'a>> {
        match self {
            Meta::FillMemory(m) => Some(&m.data),
            Meta::InitBuffer(m) => Some(&m.data),
            Meta::InitImage(m) => Some(&m.data),
            Meta::InitTensor(m) => Some(&m.data),
            _ => None,
        }
    }
    /// Its texts, each to be put another in its place; of the environment it is the whole.
    pub fn texts_mut(&mut self) -> Vec<&mut Text<'a>> {
        match self {
            Meta::DisplayMessage(m) => vec![&mut m.message],
            Meta::DeviceProperties(m) => vec![&mut m.name],
            Meta::DriverInfo(m) => vec![&mut m.text],
            Meta::Environment(m) => vec![&mut m.raw],
            Meta::ExecuteBlocks(m) => vec![&mut m.file],
            Meta::ExeInfo(m) => vec![
                &mut m.product_version,
                &mut m.file_version,
                &mut m.app_name,
                &mut m.company_name,
                &mut m.file_description,
                &mut m.internal_name,
                &mut m.original_filename,
                &mut m.product_name,
            ],
            _ => vec![],
        }
    }
    /// The same, to put other data in their place.
    pub fn payload_mut(&mut self) -> Option<&mut Payload<'a>> {
        match self {
            Meta::FillMemory(m) => Some(&mut m.data),
            Meta::InitBuffer(m) => Some(&mut m.data),
            Meta::InitImage(m) => Some(&mut m.data),
            Meta::InitTensor(m) => Some(&mut m.data),
            _ => None,
        }
    }
}

impl<'a> MetaBlock<'a> {
    /// A new one of Vulkan's family.
    pub fn new(thread: u64, meta: Meta<'a>) -> Self {
        MetaBlock { family: FAMILY_VULKAN, thread, meta, tail: &[] }
    }
    pub(crate) fn read(f: &mut Fields<'a>) -> Result<Self> {
        let at_id = f.clone();
        let id = f.u32("metadata id")?;
        let ty = id as u16;
        let mut thread = 0;
        if let Some((has_thread, compressible)) = traits(ty) {
            if f.is_compressed() && !compressible {
                return Err(at_id.blame(Error::malformed(format!(
                    "metadata type {ty} ({}): never compressed, found a compressed block",
                    name(ty).unwrap_or("?")
                ))));
            }
            if has_thread {
                thread = f.u64("thread id")?;
            }
        }
        let meta = Meta::read(ty, f)?;
        Ok(MetaBlock { family: (id >> 16) as u16, thread, meta, tail: f.rest() })
    }
    /// Its id: family and type.
    pub fn id(&self) -> u32 {
        u32::from(self.family) << 16 | u32::from(self.meta.id())
    }
    /// Its data are compressed.
    pub fn is_compressed(&self) -> bool {
        match &self.meta {
            Meta::Other(o) => o.compressed,
            meta => meta.payload().is_some_and(Payload::is_compressed),
        }
    }
    /// Writes the whole block, header included.
    pub fn write(&self, out: &mut Vec<u8>) {
        framed(out, typed(block_type::META_DATA, self.is_compressed()), |out| {
            out.put_u32(self.id());
            if traits(self.meta.id()).is_some_and(|t| t.0) {
                out.put_u64(self.thread);
            }
            self.meta.write(out);
            out.put(self.tail);
        });
    }
    /// What is odd about it, if it is of a kind that gets skipped.
    pub fn warning(&self) -> Option<String> {
        match &self.meta {
            Meta::Other(o) if o.id >= id::EXPERIMENTAL => {
                Some(format!("metadata type {:#x} is experimental, skipped", o.id))
            }
            Meta::Other(o) => Some(match name(o.id) {
                Some(name) => format!("metadata type {} ({name}) is not Vulkan's, skipped", o.id),
                None => format!("metadata type {} is not known to this build, skipped", o.id),
            }),
            Meta::CreateHardwareBuffer(_) | Meta::DestroyHardwareBuffer(_) => {
                Some("Android hardware buffers are not replayed".to_string())
            }
            _ if !self.tail.is_empty() => {
                Some(format!("{} bytes after the last known field, skipped", self.tail.len()))
            }
            _ => None,
        }
    }
}

/// A metadata type in words; none for types nobody has given a meaning yet.
pub fn name(ty: u16) -> Option<&'static str> {
    const NAMES: [&str; 40] = [
        "",
        "display message",
        "fill memory",
        "resize window",
        "swapchain image state",
        "begin resource init",
        "end resource init",
        "init buffer",
        "init image",
        "create hardware buffer (first form)",
        "destroy hardware buffer",
        "device properties",
        "device memory properties",
        "resize window 2",
        "opaque address",
        "ray-tracing shader group handles",
        "create heap allocation",
        "init subresource",
        "executable info",
        "init D3D12 acceleration structure (first form)",
        "fill memory resource values",
        "DXGI adapter info",
        "driver info",
        "",
        "create hardware buffer (second form)",
        "",
        "D3D12 runtime info",
        "parent to child",
        "build acceleration structures",
        "copy acceleration structures",
        "write acceleration structure properties",
        "",
        "environment variables",
        "view-relative location",
        "execute blocks from file",
        "create hardware buffer",
        "initialize meta command",
        "opaque capture descriptor data",
        "init D3D12 acceleration structure",
        "init tensor",
    ];
    NAMES.get(usize::from(ty)).copied().filter(|n| !n.is_empty())
}
