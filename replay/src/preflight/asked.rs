//! What a capture asks of its device, all of it, before any of it runs.
//!
//! One pass over the blocks; only the calls that make instances, devices and resources are decoded. Guarantees: a call
//! that failed at capture asks for nothing; the same kind counts once. Refuses nothing: a call that cannot be decoded
//! asks for nothing here, and is an error where it is replayed.

use super::alignment::{self, Alignments};
use super::used::First;
use gfxr_parse::container::{BlockKind, Capture, Scratch};
use gfxr_parse::decode::decode_found;
use gfxr_parse::image::Image;
use gfxr_parse::meta::Meta;
use gfxr_parse::schema::generated::STRUCTS;
use gfxr_parse::schema::{Shape, StructId, Ty, command, command_named, struct_named};
use gfxr_parse::view::View;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// See the module's header.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// apiVersion of the instance; 0 if it did not say.
    pub api: u32,
    /// Instance extensions.
    pub instance_extensions: Vec<String>,
    /// Devices that are made.
    pub devices: Vec<AskedDevice>,
    /// Images that have memory, those of swapchains too, and how large and how many of each kind.
    pub images: BTreeMap<ImageKind, ImageSizes>,
    /// Images that never have memory, which can only be asked about: likewise, and their ids.
    pub unbound_images: BTreeMap<ImageKind, (ImageSizes, Vec<u64>)>,
    /// Formats of buffer views and whether they are stored to: (format, storage); the first call with each.
    pub texel_buffers: BTreeMap<(u32, bool), First>,
    /// Formats of vertex attributes, likewise.
    pub vertices: BTreeMap<u32, First>,
    /// Limits, by their name in VkPhysicalDeviceLimits, and the largest use.
    pub limits: BTreeMap<&'static str, u64>,
    /// How offsets of descriptors are aligned.
    pub alignments: Alignments,
    /// Images and buffers bound page by page.
    pub sparse: u64,
    /// Memory, semaphores and fences that came from outside of the process, by the struct or the command that says so.
    pub imports: BTreeMap<&'static str, u64>,
    /// Images of formats that only the captured driver knows.
    pub external_formats: u64,
    /// Most device memory allocated at one time, in bytes.
    pub peak_bytes: u64,
    /// Captured memory heaps (size, flags) by physical device.
    pub heaps: HashMap<u64, Vec<(u64, u32)>>,
    /// Captured Vulkan version of the device by physical device.
    pub device_api: HashMap<u64, u32>,
    /// What the program was told of descriptor buffers, by physical device: sizes by their names in
    /// VkPhysicalDeviceDescriptorBufferPropertiesEXT.
    pub descriptor_buffers: HashMap<u64, BTreeMap<&'static str, u64>>,
    /// Captured queue flags by family, by physical device, where the program asked.
    pub families: HashMap<u64, Vec<u32>>,
}

/// What one vkCreateDevice asks for.
#[derive(Clone, Debug, Default)]
pub struct AskedDevice {
    /// The physical device, by the capture's id.
    pub gpu: u64,
    /// Extensions.
    pub extensions: Vec<String>,
    /// Features by struct and member; VkPhysicalDeviceFeatures for those of Vulkan 1.0.
    pub features: Vec<(StructId, &'static str)>,
    /// (family, number of queues).
    pub queues: Vec<(u32, u32)>,
    /// Families whose queues get work.
    pub works: BTreeSet<u32>,
    /// Its captured id.
    id: u64,
    /// Physical devices it is made of.
    pub group: u64,
}

/// What vkGetPhysicalDeviceImageFormatProperties is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ImageKind {
    /// VkFormat.
    pub format: u32,
    /// VkImageType.
    pub kind: u32,
    /// VkImageTiling.
    pub tiling: u32,
    /// VkImageUsageFlags.
    pub usage: u32,
    /// VkImageCreateFlags.
    pub flags: u32,
}

/// The images of a kind: the largest in each respect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageSizes {
    /// How many there are.
    pub count: u64,
    /// Width, height, depth.
    pub extent: [u32; 3],
    /// Mip levels.
    pub levels: u32,
    /// Array layers.
    pub layers: u32,
    /// Every VkSampleCountFlagBits.
    pub samples: u32,
    /// The call that makes the first of them.
    pub first: First,
}

/// Commands that are looked at.
const LOOKED_AT: &[&str] = &[
    "vkCreateInstance",
    "vkCreateDevice",
    "vkCreateImage",
    "vkBindImageMemory",
    "vkBindImageMemory2",
    "vkBindImageMemory2KHR",
    "vkCreateSwapchainKHR",
    "vkCreateBuffer",
    "vkCreateBufferView",
    "vkCreateGraphicsPipelines",
    "vkCmdBindVertexBuffers2",
    "vkCmdBindVertexBuffers2EXT",
    "vkCmdSetVertexInputEXT",
    "vkCmdTraceRaysKHR",
    "vkCreatePipelineLayout",
    "vkCreateSampler",
    "vkCreateFramebuffer",
    "vkAllocateMemory",
    "vkFreeMemory",
    "vkGetDeviceQueue",
    "vkGetDeviceQueue2",
    "vkQueueSubmit",
    "vkQueueSubmit2",
    "vkQueueSubmit2KHR",
    "vkQueueBindSparse",
    "vkGetPhysicalDeviceProperties2",
    "vkGetPhysicalDeviceProperties2KHR",
    "vkGetPhysicalDeviceQueueFamilyProperties",
    "vkGetPhysicalDeviceQueueFamilyProperties2",
    "vkGetPhysicalDeviceQueueFamilyProperties2KHR",
    "vkImportSemaphoreFdKHR",
    "vkImportSemaphoreWin32HandleKHR",
    "vkImportSemaphoreZirconHandleFUCHSIA",
    "vkImportFenceFdKHR",
    "vkImportFenceWin32HandleKHR",
];

/// Structs that bring memory into the process.
const IMPORTS: &[&str] = &[
    "VkImportMemoryFdInfoKHR",
    "VkImportMemoryHostPointerInfoEXT",
    "VkImportMemoryWin32HandleInfoKHR",
    "VkImportAndroidHardwareBufferInfoANDROID",
    "VkImportMemoryWin32HandleInfoNV",
    "VkImportMemoryZirconHandleInfoFUCHSIA",
    "VkImportMemoryMetalHandleInfoEXT",
    "VkImportMemoryBufferCollectionFUCHSIA",
    "VkImportNativeBufferInfoOHOS",
    "VkImportScreenBufferInfoQNX",
];

const SPARSE_BINDING: u32 = 1;

/// What says how descriptors lie in descriptor buffers.
const DESCRIPTOR_BUFFERS: &[&str] = &[
    "descriptorBufferOffsetAlignment",
    "samplerDescriptorSize",
    "combinedImageSamplerDescriptorSize",
    "sampledImageDescriptorSize",
    "storageImageDescriptorSize",
    "uniformTexelBufferDescriptorSize",
    "robustUniformTexelBufferDescriptorSize",
    "storageTexelBufferDescriptorSize",
    "robustStorageTexelBufferDescriptorSize",
    "uniformBufferDescriptorSize",
    "robustUniformBufferDescriptorSize",
    "storageBufferDescriptorSize",
    "robustStorageBufferDescriptorSize",
    "inputAttachmentDescriptorSize",
    "accelerationStructureDescriptorSize",
];

/// Looks through a capture.
pub fn scan(capture: &Capture) -> Asked {
    let ids: HashMap<u32, &str> =
        LOOKED_AT.iter().map(|n| (command_named(n).expect("known").id, *n)).collect();
    let mut s = Scan::default();
    let (mut scratch, mut image) = (Scratch::new(), Image::default());
    for block in capture.blocks() {
        if block.meta_type().is_some_and(|t| t == 11 || t == 12) {
            if let Ok(BlockKind::Meta(m)) = block.kind() {
                s.meta(&m.meta);
            }
            continue;
        }
        let Some(name) = block.call_id().and_then(|id| ids.get(&id)) else { continue };
        if let Ok(BlockKind::Call(call)) = block.kind()
            && let Some(c) = command(call.call_id)
            && decode_found(c, &block, &call, &mut scratch, &mut image).is_ok()
            && image.ret().is_none_or(|r| r >= 0)
        {
            s.call(name, &image, (block.index, c.name));
        }
    }
    for (id, (kind, sizes)) in s.unbound {
        let (all, ids) = s.out.unbound_images.entry(kind).or_default();
        all.insert_all(sizes);
        ids.push(id);
    }
    s.out.alignments = alignment::scan(capture);
    s.out
}

#[derive(Default)]
struct Scan {
    out: Asked,
    /// Uses of texel buffers by buffer.
    texels: HashMap<u64, bool>,
    /// By queue: its device and family.
    queues: HashMap<u64, (u64, u32)>,
    memory: HashMap<u64, u64>,
    allocated: u64,
    /// Images without memory so far.
    unbound: HashMap<u64, (ImageKind, ImageSizes)>,
}

impl Scan {
    fn meta(&mut self, m: &Meta) {
        match m {
            Meta::DeviceProperties(d) => {
                self.out.device_api.insert(d.physical_device, d.api_version);
            }
            Meta::DeviceMemory(d) => {
                self.out.heaps.insert(d.physical_device, d.heaps.iter().map(|h| (h.size, h.flags)).collect());
            }
            _ => {}
        }
    }

    fn limit(&mut self, name: &'static str, used: u64) {
        let most = self.out.limits.entry(name).or_default();
        *most = used.max(*most);
    }

    fn call(&mut self, name: &str, image: &Image, first: First) {
        let v = View::call(image);
        let created = || image.handles.iter().find(|h| h.out).map_or(0, |h| image.u64(h.at));
        match name {
            n if n.starts_with("vkImport") => {
                for known in LOOKED_AT.iter().filter(|l| **l == n) {
                    *self.out.imports.entry(known).or_default() += 1;
                }
            }
            "vkFreeMemory" => {
                if let Some(size) = v.u64("memory").and_then(|m| self.memory.remove(&m)) {
                    self.allocated -= size;
                }
            }
            "vkBindImageMemory" => self.bound(v.u64("image").unwrap_or(0)),
            "vkBindImageMemory2" | "vkBindImageMemory2KHR" => {
                v.structs("pBindInfos").for_each(|b| self.bound(b.u64("image").unwrap_or(0)));
            }
            "vkGetDeviceQueue" | "vkGetDeviceQueue2" => {
                let family = v.one("pQueueInfo").unwrap_or(v).u32("queueFamilyIndex").unwrap_or(0);
                self.queues.insert(created(), (v.u64("device").unwrap_or(0), family));
            }
            "vkQueueSubmit" | "vkQueueSubmit2" | "vkQueueSubmit2KHR" | "vkQueueBindSparse" => {
                let sparse = ["pImageOpaqueBinds", "pImageBinds"];
                for b in
                    v.structs("pBindInfo").flat_map(|b| sparse.into_iter().flat_map(move |n| b.structs(n)))
                {
                    self.bound(b.u64("image").unwrap_or(0));
                }
                let queue = v.u64("queue").and_then(|q| self.queues.get(&q)).copied();
                let empty = v.u32("submitCount").or_else(|| v.u32("bindInfoCount")) == Some(0);
                for d in self.out.devices.iter_mut().filter(|d| !empty && queue.is_some_and(|q| q.0 == d.id))
                {
                    d.works.extend(queue.map(|q| q.1));
                }
            }
            "vkCreateGraphicsPipelines" => {
                for info in v.structs("pCreateInfos").filter_map(|i| i.one("pVertexInputState")) {
                    self.vertex_input(info, first);
                }
            }
            "vkCmdSetVertexInputEXT" => self.vertex_input(v, first),
            "vkCmdBindVertexBuffers2" | "vkCmdBindVertexBuffers2EXT" => {
                let most = v.u64s("pStrides").into_iter().max();
                self.limit("maxVertexInputBindingStride", most.unwrap_or(0));
            }
            "vkCmdTraceRaysKHR" => {
                // (that of ray generation is its size)
                for table in
                    ["pMissShaderBindingTable", "pHitShaderBindingTable", "pCallableShaderBindingTable"]
                {
                    let stride = v.one(table).and_then(|t| t.u64("stride"));
                    self.limit("maxShaderGroupStride", stride.unwrap_or(0));
                }
            }
            "vkGetPhysicalDeviceProperties2" | "vkGetPhysicalDeviceProperties2KHR" => {
                let all = v.one("pProperties");
                if let Some(p) = all.and_then(|p| p.next("VkPhysicalDeviceDescriptorBufferPropertiesEXT")) {
                    let names = DESCRIPTOR_BUFFERS.iter().filter_map(|n| Some((*n, p.u64(n)?)));
                    self.out.descriptor_buffers.insert(v.u64("physicalDevice").unwrap_or(0), names.collect());
                }
            }
            n if n.starts_with("vkGetPhysicalDeviceQueueFamilyProperties") => {
                let families = v.structs("pQueueFamilyProperties");
                let flags = families.map(|f| f.one("queueFamilyProperties").unwrap_or(f).u32("queueFlags"));
                let flags: Vec<u32> = flags.map(|f| f.unwrap_or(0)).collect();
                if !flags.is_empty() {
                    self.out.families.insert(v.u64("physicalDevice").unwrap_or(0), flags);
                }
            }
            _ => {
                let Some(info) = v.one("pCreateInfo").or_else(|| v.one("pAllocateInfo")) else { return };
                self.create(name, v, (info, first), created());
            }
        }
    }

    /// Bindings and attributes of vertices: of a pipeline, or of the command that sets them.
    fn vertex_input(&mut self, info: View<'_>, first: First) {
        let (mut attributes, mut bindings) = (0, 0);
        for a in info.structs("pVertexAttributeDescriptions") {
            if let Some(format) = a.u32("format") {
                self.out.vertices.entry(format).or_insert(first);
            }
            self.limit("maxVertexInputAttributeOffset", a.u32("offset").unwrap_or(0).into());
            attributes += 1;
        }
        for b in info.structs("pVertexBindingDescriptions") {
            self.limit("maxVertexInputBindingStride", b.u32("stride").unwrap_or(0).into());
            bindings += 1;
        }
        self.limit("maxVertexInputAttributes", attributes);
        self.limit("maxVertexInputBindings", bindings);
    }

    fn create(&mut self, name: &str, v: View<'_>, (info, first): (View<'_>, First), id: u64) {
        let number = |n| info.u32(n).unwrap_or(0);
        match name {
            "vkCreateInstance" => {
                self.out.api = info.one("pApplicationInfo").and_then(|a| a.u32("apiVersion")).unwrap_or(0);
                let names = info.texts("ppEnabledExtensionNames");
                self.out.instance_extensions = names.into_iter().map(|n| n.into_owned()).collect();
            }
            "vkCreateDevice" => {
                let asked = AskedDevice {
                    id,
                    works: BTreeSet::new(),
                    gpu: v.u64("physicalDevice").unwrap_or(0),
                    extensions: info
                        .texts("ppEnabledExtensionNames")
                        .into_iter()
                        .map(|n| n.into_owned())
                        .collect(),
                    features: features(info),
                    queues: info
                        .structs("pQueueCreateInfos")
                        .map(|q| (q.u32("queueFamilyIndex").unwrap_or(0), q.u32("queueCount").unwrap_or(0)))
                        .collect(),
                    group: info
                        .next("VkDeviceGroupDeviceCreateInfo")
                        .and_then(|g| g.u64("physicalDeviceCount"))
                        .unwrap_or(1),
                };
                self.out.devices.push(asked);
            }
            "vkCreateImage" => {
                let extent = info.one("extent");
                let size = |n| extent.and_then(|e| e.u32(n)).unwrap_or(1);
                let kind = ImageKind {
                    format: number("format"),
                    kind: number("imageType"),
                    tiling: number("tiling"),
                    usage: number("usage"),
                    flags: number("flags"),
                };
                let sizes = ImageSizes {
                    count: 1,
                    extent: [size("width"), size("height"), size("depth")],
                    levels: number("mipLevels"),
                    layers: number("arrayLayers"),
                    samples: number("samples"),
                    first,
                };
                self.out.sparse += u64::from(kind.flags & SPARSE_BINDING);
                let external = info.next("VkExternalFormatANDROID").and_then(|f| f.u64("externalFormat"));
                self.out.external_formats += u64::from(external.is_some_and(|f| f != 0));
                self.unbound.insert(id, (kind, sizes));
            }
            "vkCreateSwapchainKHR" => {
                let extent = info.one("imageExtent");
                let size = |n| extent.and_then(|e| e.u32(n)).unwrap_or(1);
                let (format, usage) = (number("imageFormat"), number("imageUsage"));
                let extent = [size("width"), size("height"), 1];
                let layers = number("imageArrayLayers");
                let kind = ImageKind { format, kind: 1, tiling: 0, usage, flags: 0 };
                let sizes = ImageSizes { count: 1, extent, levels: 1, layers, samples: 1, first };
                self.out.images.entry(kind).or_default().insert_all(sizes);
            }
            "vkCreateBuffer" => {
                self.out.sparse += u64::from(number("flags") & SPARSE_BINDING);
                // VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT, …_STORAGE_TEXEL_BUFFER_BIT.
                if number("usage") & 0xC != 0 {
                    self.texels.insert(id, number("usage") & 8 != 0);
                }
            }
            "vkCreateBufferView" => {
                let storage = info.u64("buffer").and_then(|b| self.texels.get(&b)).copied().unwrap_or(false);
                self.out.texel_buffers.entry((number("format"), storage)).or_insert(first);
            }
            "vkCreatePipelineLayout" => {
                self.limit("maxBoundDescriptorSets", info.u64("setLayoutCount").unwrap_or(0));
                for r in info.structs("pPushConstantRanges") {
                    let end = u64::from(r.u32("offset").unwrap_or(0)) + u64::from(r.u32("size").unwrap_or(0));
                    self.limit("maxPushConstantsSize", end);
                }
            }
            "vkCreateSampler" if number("anisotropyEnable") != 0 => {
                let most = f32::from_bits(number("maxAnisotropy"));
                self.limit("maxSamplerAnisotropy", most as u64);
            }
            "vkCreateFramebuffer" => {
                self.limit("maxFramebufferWidth", number("width").into());
                self.limit("maxFramebufferHeight", number("height").into());
                self.limit("maxFramebufferLayers", number("layers").into());
            }
            "vkAllocateMemory" => {
                let size = info.u64("allocationSize").unwrap_or(0);
                self.memory.insert(id, size);
                self.allocated += size;
                self.out.peak_bytes = self.out.peak_bytes.max(self.allocated);
                self.limit("maxMemoryAllocationCount", self.memory.len() as u64);
                for name in IMPORTS.iter().filter(|n| info.next(n).is_some()) {
                    *self.out.imports.entry(name).or_default() += 1;
                }
            }
            _ => {}
        }
    }

    /// An image has memory: it is not only asked about.
    fn bound(&mut self, image: u64) {
        if let Some((kind, sizes)) = self.unbound.remove(&image) {
            self.out.images.entry(kind).or_default().insert_all(sizes);
        }
    }
}

impl ImageSizes {
    /// Others of the same kind.
    fn insert_all(&mut self, other: ImageSizes) {
        self.count += other.count;
        self.extent = std::array::from_fn(|i| self.extent[i].max(other.extent[i]));
        self.levels = self.levels.max(other.levels);
        self.layers = self.layers.max(other.layers);
        self.samples |= other.samples;
        if self.first.1.is_empty() || other.first.0 < self.first.0 {
            self.first = other.first;
        }
    }
}

/// Every feature that a VkDeviceCreateInfo turns on, by the schema.
fn features(info: View<'_>) -> Vec<(StructId, &'static str)> {
    let mut found = Vec::new();
    let mut add = |v: View<'_>| {
        let Some(id) = struct_named(v.name) else { return };
        let members = STRUCTS[id as usize].members.iter();
        let on =
            members.filter(|m| m.ty == Ty::Bool32 && m.shape == Shape::Value && v.u32(m.name) == Some(1));
        found.extend(on.map(|m| (id, m.name)));
    };
    info.one("pEnabledFeatures").into_iter().for_each(&mut add);
    for v in info.chain().filter(|v| v.name.starts_with("VkPhysicalDevice") && v.name.contains("Features")) {
        add(v.one("features").unwrap_or(v));
    }
    found
}
