//! Blocks that are no calls: metadata, markers, annotations. Names and members are upstream's.
//!
//! Upstream has no form for a few metadata types (driver info, parent to child) and writes "not available" for some
//! members; here they are written like the rest. Guarantees: contents of memory are not decompressed unless they are
//! collected. Refuses nothing of its own.

use super::Sink;
use super::engine::Engine;
use super::options::{Binaries, Blob, PLACEHOLDER, Printed};
use crate::container::{Block, BlockKind, Marker, MarkerKind, Payload};
use crate::decode::{decode_struct_array, decode_struct_array2};
use crate::error::Result;
use crate::meta::{Meta, SwapchainImage, id};
use crate::schema::enum_named;
use crate::schema::{StructId, struct_named};
use std::sync::LazyLock;

/// The structs that metadata of acceleration structures carry.
static ACCELERATION: LazyLock<[StructId; 3]> = LazyLock::new(|| {
    let names = [
        "VkAccelerationStructureBuildGeometryInfoKHR",
        "VkAccelerationStructureBuildRangeInfoKHR",
        "VkCopyAccelerationStructureInfoKHR",
    ];
    names.map(|n| struct_named(n).expect("in the schema"))
});

impl<S: Sink> Engine<S> {
    /// Prints a block that is no call.
    pub(super) fn other(&mut self, block: &Block, kind: &BlockKind) -> Result<Printed> {
        match kind {
            BlockKind::FrameMarker(m) => Ok(self.marker("frame", m)),
            BlockKind::StateMarker(m) => Ok(self.marker("state", m)),
            BlockKind::Annotation(a) => {
                self.sink.begin_record(block.index, "annotation", None);
                let kind = ["kUnknown", "kText", "kJson", "kXml"];
                self.sink.key("type");
                self.sink.name(kind.get(a.kind.value() as usize).unwrap_or(&"OUT_OF_RANGE_ERROR"));
                self.text("label", &a.label.text());
                self.text("data", &a.data.text());
                self.sink.end_record();
                Ok(Printed::Yes)
            }
            BlockKind::Meta(m) => {
                let Some(name) = record_name(m.meta.id()) else { return Ok(Printed::Skipped) };
                self.sink.begin_record(block.index, "meta", Some(name));
                self.sink.begin_args();
                self.members(block, &m.meta)?;
                self.sink.end_args();
                self.sink.end_record();
                Ok(Printed::Yes)
            }
            BlockKind::Call(_) | BlockKind::Method(_) | BlockKind::Unknown(_) => Ok(Printed::Skipped),
        }
    }

    fn marker(&mut self, kind: &'static str, marker: &Marker) -> Printed {
        let ty = match marker.kind {
            MarkerKind::Begin => "BeginMarker",
            MarkerKind::End => "EndMarker",
            MarkerKind::Other(_) => return Printed::Skipped,
        };
        self.sink.begin_bare(kind);
        self.sink.key("marker_type");
        self.sink.name(ty);
        self.sink.key("frame_number");
        self.sink.u64(marker.frame);
        self.sink.end_record();
        Printed::Yes
    }

    fn u64(&mut self, key: &str, v: impl Into<u64>) {
        self.sink.key(key);
        self.sink.u64(v.into());
    }
    fn text(&mut self, key: &str, v: &str) {
        self.sink.key(key);
        self.sink.text(v);
    }
    fn hex(&mut self, key: &str, v: u64, width: usize) {
        self.sink.key(key);
        self.sink.hex(v, width);
    }
    fn list<T>(&mut self, key: &str, flat: bool, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.sink.key(key);
        self.sink.begin_array(flat);
        for (i, item) in items.iter().enumerate() {
            self.sink.element(i as u32);
            each(self, item);
        }
        self.sink.end_array();
    }

    /// Contents: a placeholder, or the name of the file that will hold them.
    fn contents(&mut self, index: u64, stem: &str, bytes: &[u8]) {
        self.sink.key("data");
        if self.options.binaries != Binaries::Collect {
            return self.sink.name(PLACEHOLDER);
        }
        let name = format!("{index}_{stem}.bin");
        self.sink.text(&name);
        self.blobs.push(Blob { name, bytes: bytes.to_vec() });
    }
    fn payload(&mut self, index: u64, stem: &str, data: &Payload) -> Result<()> {
        if self.options.binaries != Binaries::Collect {
            self.contents(index, stem, &[]);
            return Ok(());
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let bytes = data.bytes(&mut scratch).map(|b| self.contents(index, stem, b));
        self.scratch = scratch;
        bytes
    }

    /// An array of structs in parameter encoding; returns the bytes it took.
    fn encoded(
        &mut self,
        block: &Block,
        key: &str,
        ty: StructId,
        twice: bool,
        from: (&[u8], u64),
    ) -> Result<usize> {
        let (bytes, offset) = from;
        let read = if twice { decode_struct_array2 } else { decode_struct_array };
        let used = read(ty, bytes, &mut self.image).map_err(|e| block.blame(e.rebase(offset)))?;
        self.sink.key(key);
        self.structs(block.index, ty, twice);
        Ok(used)
    }

    fn members(&mut self, block: &Block, meta: &Meta) -> Result<()> {
        let index = block.index;
        match meta {
            Meta::DisplayMessage(m) => self.text("message", &m.message.text()),
            Meta::FillMemory(m) => {
                self.u64("memory_id", m.memory);
                self.u64("offset", m.offset);
                self.u64("size", m.data.size());
                self.payload(index, "fill_memory", &m.data)?;
            }
            Meta::ResizeWindow(m) => {
                self.u64("surface_id", m.surface);
                self.u64("width", m.width);
                self.u64("height", m.height);
            }
            Meta::ResizeWindow2(m) => {
                self.u64("surface_id", m.surface);
                self.u64("width", m.width);
                self.u64("height", m.height);
                self.u64("pre_transform", m.pre_transform);
            }
            Meta::SwapchainImages(m) => {
                self.u64("device_id", m.device);
                self.u64("swapchain_id", m.swapchain);
                self.u64("last_presented_image", m.last_presented);
                self.list("image_state", false, &m.images, Self::swapchain_image);
            }
            Meta::BeginResourceInit(m) => {
                self.u64("device_id", m.device);
                self.u64("max_resource_size", m.total_bytes);
                self.u64("max_copy_size", m.max_bytes);
            }
            Meta::EndResourceInit(m) => self.u64("device_id", m.device),
            Meta::InitBuffer(m) => {
                self.u64("device_id", m.device);
                self.u64("buffer_id", m.buffer);
                self.u64("data_size", m.data.size());
                self.payload(index, "init_buffer", &m.data)?;
            }
            Meta::InitTensor(m) => {
                self.u64("device_id", m.device);
                self.u64("tensor_id", m.tensor);
                self.u64("data_size", m.data.size());
                self.payload(index, "init_tensor", &m.data)?;
            }
            Meta::InitImage(m) => {
                self.u64("device_id", m.device);
                self.u64("image_id", m.image);
                self.u64("data_size", m.data.size());
                self.u64("aspect", m.aspect);
                self.u64("layout", m.layout);
                self.list("level_sizes", true, &m.level_bytes, |p, &n| p.sink.u64(n));
                self.payload(index, "init_image", &m.data)?;
            }
            Meta::CreateHardwareBuffer(m) => {
                self.u64("device_id", m.device);
                self.u64("memory_id", m.memory);
                self.u64("buffer_id", m.buffer);
                self.u64("format", m.format);
                self.u64("width", m.width);
                self.u64("height", m.height);
                self.u64("stride", m.stride);
                self.u64("usage", m.usage);
                self.u64("layers", m.layers);
            }
            Meta::DestroyHardwareBuffer(m) => self.u64("buffer_id", m.buffer),
            _ => self.more_members(block, meta)?,
        }
        Ok(())
    }

    fn more_members(&mut self, block: &Block, meta: &Meta) -> Result<()> {
        let index = block.index;
        match meta {
            Meta::DeviceProperties(m) => {
                self.u64("physical_device_id", m.physical_device);
                self.u64("api_version", m.api_version);
                self.u64("driver_version", m.driver_version);
                self.u64("vendor_id", m.vendor);
                self.u64("device_id", m.device);
                self.u64("device_type", m.device_type);
                self.sink.key("pipeline_cache_uuid");
                self.sink.uuid(&m.pipeline_cache_uuid);
                self.text("device_name", &m.name.text());
            }
            Meta::DeviceMemory(m) => {
                self.u64("physical_device_id", m.physical_device);
                self.list("memory_types", false, &m.types, |p, t| {
                    p.sink.begin_object();
                    p.mask("property_flags", "VkMemoryPropertyFlagBits", t.flags);
                    p.u64("heap_index", t.heap);
                    p.sink.end_object();
                });
                self.list("memory_heaps", false, &m.heaps, |p, h| {
                    p.sink.begin_object();
                    p.u64("size", h.size);
                    p.mask("flags", "VkMemoryHeapFlagBits", h.flags);
                    p.sink.end_object();
                });
            }
            Meta::OpaqueAddress(m) => {
                self.u64("device_id", m.device);
                self.u64("object_id", m.object);
                self.hex("address", m.address, 1);
            }
            Meta::OpaqueDescriptor(m) => {
                self.u64("device_id", m.device);
                self.u64("object_id", m.object);
                self.u64("data_size", m.data.len() as u64);
                self.contents(index, "opaque_descriptor_data", m.data);
            }
            Meta::ShaderGroups(m) => {
                self.u64("device_id", m.device);
                self.u64("pipeline_id", m.pipeline);
                self.u64("data_size", m.handles.len() as u64);
                self.contents(index, "set_raytracing_shader_group_handles", m.handles);
            }
            Meta::ExeInfo(m) => {
                self.text("product_version", &m.product_version.until_nul().text());
                self.text("file_version", &m.file_version.until_nul().text());
                self.list("app_version", true, &m.app_version, |p, &n| p.sink.u64(n.into()));
                self.text("app_name", &m.app_name.until_nul().text());
                self.text("company_name", &m.company_name.until_nul().text());
                self.text("file_description", &m.file_description.until_nul().text());
                self.text("internal_name", &m.internal_name.until_nul().text());
                self.text("original_filename", &m.original_filename.until_nul().text());
                self.text("product_name", &m.product_name.until_nul().text());
            }
            Meta::DriverInfo(m) => self.text("driver_record", &m.text.until_nul().text()),
            Meta::ParentToChild(m) => {
                self.u64("dependency_type", m.kind);
                self.u64("parent_id", m.parent);
                self.list("child_ids", true, &m.children, |p, &n| p.sink.u64(n));
            }
            Meta::BuildAcceleration(m) => {
                let [geometry, range, _] = *ACCELERATION;
                self.u64("device_id", m.device);
                let used = self.encoded(block, "pInfos", geometry, false, (m.encoded, m.offset))?;
                let rest = (&m.encoded[used..], m.offset + used as u64);
                self.encoded(block, "ppBuildRangeInfos", range, true, rest)?;
            }
            Meta::CopyAcceleration(m) => {
                self.u64("device_id", m.device);
                self.encoded(block, "pInfo", ACCELERATION[2], false, (m.encoded, m.offset))?;
            }
            Meta::WriteAcceleration(m) => {
                self.u64("device_id", m.device);
                self.sink.key("queryType");
                match enum_named("VkQueryType").and_then(|e| e.value(m.query_type)) {
                    Some(name) => self.sink.name(name),
                    None => self.sink.hex(m.query_type.into(), 8),
                }
                self.u64("acceleration_structure_id", m.acceleration_structure);
            }
            Meta::Environment(m) => {
                for (name, value) in m.variables() {
                    self.sink.key_text(&name.text());
                    self.sink.text(&value.text());
                }
            }
            Meta::ExecuteBlocks(m) => {
                self.u64("n_blocks", m.blocks);
                self.sink.key("offset");
                self.sink.i64(m.offset);
                self.text("filename", &m.file.text());
            }
            _ => {}
        }
        Ok(())
    }

    fn mask(&mut self, key: &str, bits: &str, v: u32) {
        self.sink.key(key);
        match enum_named(bits) {
            Some(def) if self.options.expand_flags && v != 0 => {
                self.sink.name(&super::call::expand(v.into(), def, 8));
            }
            _ => self.sink.hex(v.into(), 8),
        }
    }

    fn swapchain_image(&mut self, m: &SwapchainImage) {
        self.sink.begin_object();
        self.u64("image_id", m.image);
        self.u64("image_index", m.index);
        self.u64("image_layout", m.layout);
        self.u64("acquired", m.acquired);
        self.u64("acquire_device_mask", m.acquire_device_mask);
        self.u64("acquire_semaphore_id", m.acquire_semaphore);
        self.u64("acquire_fence_id", m.acquire_fence);
        self.u64("last_presented_queue_id", m.last_presented_queue);
        self.sink.end_object();
    }
}

/// What the record of a metadata block of this type is called; none if it has no form in print.
pub fn record_name(ty: u16) -> Option<&'static str> {
    Some(match ty {
        id::DISPLAY_MESSAGE => "DisplayMessageCommand",
        id::FILL_MEMORY => "FillMemoryCommand",
        id::RESIZE_WINDOW => "ResizeWindowCommand",
        id::SWAPCHAIN_IMAGES => "SetSwapchainImageStateCommand",
        id::BEGIN_RESOURCE_INIT => "BeginResourceInitCommand",
        id::END_RESOURCE_INIT => "EndResourceInitCommand",
        id::INIT_BUFFER => "InitBufferCommand",
        id::INIT_IMAGE => "InitImageCommand",
        id::CREATE_HARDWARE_BUFFER_1 | id::CREATE_HARDWARE_BUFFER_2 | id::CREATE_HARDWARE_BUFFER_3 => {
            "CreateHardwareBufferCommand"
        }
        id::DESTROY_HARDWARE_BUFFER => "DestroyHardwareBufferCommand",
        id::DEVICE_PROPERTIES => "SetDevicePropertiesCommand",
        id::DEVICE_MEMORY => "SetDeviceMemoryPropertiesCommand",
        id::RESIZE_WINDOW_2 => "ResizeWindowCommand2",
        id::OPAQUE_ADDRESS => "SetOpaqueAddressCommand",
        id::SHADER_GROUPS => "SetRayTracingShaderGroupHandlesCommand",
        id::EXE_INFO => "ExeFileInfo",
        id::DRIVER_INFO => "DriverInfo",
        id::PARENT_TO_CHILD => "ParentToChildDependency",
        id::BUILD_ACCELERATION => "ProcessVulkanBuildAccelerationStructuresCommand",
        id::COPY_ACCELERATION => "VulkanCopyAccelerationStructuresCommand",
        id::WRITE_ACCELERATION => "VulkanWriteAccelerationStructuresPropertiesCommand",
        id::ENVIRONMENT => "SetEnvironmentVariablesCommand",
        id::EXECUTE_BLOCKS => "ExecuteBlocksFromFile",
        id::OPAQUE_DESCRIPTOR => "SetOpaqueDescriptorDataCommand",
        id::INIT_TENSOR => "InitTensorCommand",
        _ => return None,
    })
}
