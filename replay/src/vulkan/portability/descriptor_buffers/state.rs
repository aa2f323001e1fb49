//! What is kept of descriptor buffers that this device reads elsewhere: descriptors by their captured bytes, layouts, and
//! the buffers themselves.

use crate::vulkan::memory::Alloc;
use ash::vk;
use std::collections::{BTreeMap, HashMap};
use world::layouts::ty;

/// Bytes by bytes.
type ByBytes = HashMap<Box<[u8]>, Box<[u8]>>;

/// See the module's header; without a factor nothing is kept.
#[derive(Default)]
pub struct DescriptorBuffers {
    /// By how much they are larger here.
    pub(super) factor: Option<u64>,
    /// Functions and sizes, by captured device.
    pub(super) devices: HashMap<u64, Device>,
    /// What the program was told.
    pub(super) told: Sizes,
    /// This driver's bytes, by VkDescriptorType and captured bytes.
    pub(super) live: HashMap<u32, ByBytes>,
    /// Where bindings lie here, by class of the set layout.
    pub(super) layouts: HashMap<u32, Layout>,
    /// By captured buffer.
    pub(super) buffers: HashMap<u64, Stand>,
    /// Descriptors written, and bytes in their places that no descriptor was got for.
    pub(super) descriptors: u64,
    pub(super) unknown: u64,
    /// Sets that are written, by captured address and class, and the world's stamp of their bytes then.
    pub(super) written: HashMap<(u64, u32), u64>,
}

impl DescriptorBuffers {
    /// Larger by a factor.
    pub(in super::super) fn new(factor: u64, told: Sizes) -> Self {
        DescriptorBuffers { factor: Some(factor), told, ..DescriptorBuffers::default() }
    }
    /// They are read elsewhere.
    pub fn is_on(&self) -> bool {
        self.factor.is_some()
    }
}

/// A device with descriptor buffers.
pub(super) struct Device {
    pub(super) functions: ash::ext::descriptor_buffer::Device,
    pub(super) sizes: Sizes,
    /// Accesses to buffers are robust.
    pub(super) robust: bool,
}

/// Where the bindings of a layout lie here.
pub(super) struct Layout {
    pub(super) offsets: BTreeMap<u32, u64>,
}

/// What this device reads in the stead of a descriptor buffer.
pub(super) struct Stand {
    pub(super) device: u64,
    pub(super) buffer: vk::Buffer,
    pub(super) alloc: Alloc,
    pub(super) address: u64,
    pub(super) usage: vk::BufferUsageFlags,
    /// Bytes of the captured one.
    pub(super) size: u64,
}

/// Members of VkPhysicalDeviceDescriptorBufferPropertiesEXT that say how descriptors lie, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes(pub BTreeMap<&'static str, u64>);

impl Sizes {
    /// Those of a device.
    pub(super) fn of(p: &vk::PhysicalDeviceDescriptorBufferPropertiesEXT<'_>) -> Self {
        Sizes(BTreeMap::from([
            ("descriptorBufferOffsetAlignment", p.descriptor_buffer_offset_alignment),
            ("samplerDescriptorSize", p.sampler_descriptor_size as u64),
            ("combinedImageSamplerDescriptorSize", p.combined_image_sampler_descriptor_size as u64),
            ("sampledImageDescriptorSize", p.sampled_image_descriptor_size as u64),
            ("storageImageDescriptorSize", p.storage_image_descriptor_size as u64),
            ("uniformTexelBufferDescriptorSize", p.uniform_texel_buffer_descriptor_size as u64),
            ("robustUniformTexelBufferDescriptorSize", p.robust_uniform_texel_buffer_descriptor_size as u64),
            ("storageTexelBufferDescriptorSize", p.storage_texel_buffer_descriptor_size as u64),
            ("robustStorageTexelBufferDescriptorSize", p.robust_storage_texel_buffer_descriptor_size as u64),
            ("uniformBufferDescriptorSize", p.uniform_buffer_descriptor_size as u64),
            ("robustUniformBufferDescriptorSize", p.robust_uniform_buffer_descriptor_size as u64),
            ("storageBufferDescriptorSize", p.storage_buffer_descriptor_size as u64),
            ("robustStorageBufferDescriptorSize", p.robust_storage_buffer_descriptor_size as u64),
            ("inputAttachmentDescriptorSize", p.input_attachment_descriptor_size as u64),
            ("accelerationStructureDescriptorSize", p.acceleration_structure_descriptor_size as u64),
        ]))
    }

    /// Bytes of a descriptor of this VkDescriptorType.
    pub(super) fn size(&self, kind: u32, robust_access: bool) -> Option<u64> {
        let (plain, robust) = match kind {
            ty::SAMPLER => ("samplerDescriptorSize", None),
            ty::COMBINED_IMAGE_SAMPLER => ("combinedImageSamplerDescriptorSize", None),
            ty::SAMPLED_IMAGE => ("sampledImageDescriptorSize", None),
            ty::STORAGE_IMAGE => ("storageImageDescriptorSize", None),
            ty::INPUT_ATTACHMENT => ("inputAttachmentDescriptorSize", None),
            ty::ACCELERATION_STRUCTURE_KHR => ("accelerationStructureDescriptorSize", None),
            ty::UNIFORM_TEXEL_BUFFER => {
                ("uniformTexelBufferDescriptorSize", Some("robustUniformTexelBufferDescriptorSize"))
            }
            ty::STORAGE_TEXEL_BUFFER => {
                ("storageTexelBufferDescriptorSize", Some("robustStorageTexelBufferDescriptorSize"))
            }
            ty::UNIFORM_BUFFER => ("uniformBufferDescriptorSize", Some("robustUniformBufferDescriptorSize")),
            ty::STORAGE_BUFFER => ("storageBufferDescriptorSize", Some("robustStorageBufferDescriptorSize")),
            _ => return None,
        };
        self.0.get(robust.filter(|_| robust_access).unwrap_or(plain)).copied()
    }
}

impl Device {
    /// Bytes of a descriptor of this VkDescriptorType.
    pub(super) fn size(&self, kind: u32) -> Option<u64> {
        self.sizes.size(kind, self.robust)
    }
}
