//! Objects: what creates, binds, names and destroys them.
//!
//! Guarantees: a call that failed at capture makes nothing. Refuses nothing.

use super::generated;
use super::layouts::PipelineLayout;
use super::objects::*;
use super::passes::RenderPass;
use super::read::{created, destroyed, extent, gone, n32, n64, subresources};
use super::world::Handler;
use super::world::World;
use gfxr_parse::ahead::Call;
use gfxr_parse::param;
use gfxr_parse::view::View;
use std::rc::Rc;

/// Calls that make, bind, name and destroy objects, by canonical name.
pub(super) const HANDLERS: &[(&str, Handler)] = &[
    ("vkGetPhysicalDeviceProperties", gpu_properties),
    ("vkGetPhysicalDeviceProperties2", gpu_properties),
    ("vkGetPhysicalDeviceMemoryProperties", gpu_memory),
    ("vkGetPhysicalDeviceMemoryProperties2", gpu_memory),
    ("vkGetPhysicalDeviceQueueFamilyProperties", gpu_families),
    ("vkGetPhysicalDeviceQueueFamilyProperties2", gpu_families),
    ("vkCreateDevice", device),
    ("vkDestroyDevice", |w, c| gone(w.devices.remove(&c.image.u64(0)))),
    ("vkGetDeviceQueue", queue),
    ("vkGetDeviceQueue2", queue),
    ("vkAllocateMemory", memory),
    ("vkFreeMemory", |w, c| gone(w.memories.remove(&destroyed(c)))),
    ("vkMapMemory", map),
    ("vkMapMemory2", map),
    ("vkUnmapMemory", unmap),
    ("vkUnmapMemory2", unmap),
    ("vkCreateBuffer", buffer),
    ("vkDestroyBuffer", destroy_buffer),
    ("vkBindBufferMemory", bind_buffer),
    ("vkBindBufferMemory2", bind_buffer),
    ("vkGetBufferDeviceAddress", buffer_address),
    ("vkCreateBufferView", buffer_view),
    ("vkDestroyBufferView", |w, c| gone(w.buffer_views.remove(&destroyed(c)))),
    ("vkCreateImage", image),
    ("vkDestroyImage", |w, c| gone(w.images.remove(&destroyed(c)))),
    ("vkBindImageMemory", bind_image),
    ("vkBindImageMemory2", bind_image),
    ("vkCreateImageView", image_view),
    ("vkDestroyImageView", |w, c| gone(w.image_views.remove(&destroyed(c)))),
    ("vkCreateSampler", |_, _| {}),
    ("vkCreateAccelerationStructureKHR", structure),
    ("vkCreateAccelerationStructure2KHR", structure),
    ("vkCreateAccelerationStructureNV", structure_nv),
    ("vkDestroyAccelerationStructureKHR", |w, c| gone(w.structures.remove(&destroyed(c)))),
    ("vkDestroyAccelerationStructureNV", |w, c| gone(w.structures.remove(&destroyed(c)))),
    ("vkGetAccelerationStructureDeviceAddressKHR", structure_address),
    ("vkCreateRenderPass", render_pass),
    ("vkCreateRenderPass2", render_pass),
    ("vkDestroyRenderPass", |w, c| gone(w.render_passes.remove(&destroyed(c)))),
    ("vkCreateFramebuffer", framebuffer),
    ("vkDestroyFramebuffer", |w, c| gone(w.framebuffers.remove(&destroyed(c)))),
    ("vkCreateSwapchainKHR", swapchain),
    ("vkCreateSharedSwapchainsKHR", shared_swapchains),
    ("vkGetSwapchainImagesKHR", swapchain_images),
    ("vkDestroySwapchainKHR", destroy_swapchain),
    ("vkCreateSemaphore", semaphore),
    ("vkDestroySemaphore", |w, c| gone(w.syncs.remove(&destroyed(c)))),
    ("vkCreateFence", |w, c| gone(w.syncs.insert(created(c), Sync::Fence(flags(c) & 1 != 0)))),
    ("vkDestroyFence", |w, c| gone(w.syncs.remove(&destroyed(c)))),
    ("vkCreateEvent", |w, c| gone(w.syncs.insert(created(c), Sync::Event(flags(c) & 1 != 0)))),
    ("vkDestroyEvent", |w, c| gone(w.syncs.remove(&destroyed(c)))),
    ("vkCreateQueryPool", query_pool),
    ("vkDestroyQueryPool", |w, c| gone(w.query_pools.remove(&destroyed(c)))),
    ("vkCreateIndirectCommandsLayoutEXT", commands_layout),
    ("vkCreateIndirectCommandsLayoutNV", commands_layout),
    ("vkDestroyIndirectCommandsLayoutEXT", destroy_commands_layout),
    ("vkDestroyIndirectCommandsLayoutNV", destroy_commands_layout),
    ("vkSetDebugUtilsObjectNameEXT", name),
    ("vkDebugMarkerSetObjectNameEXT", name),
];

/// The create info of a call, and the id of what it made.
fn info(call: &Call) -> Option<(u64, View<'_>)> {
    let v = View::call(&call.image);
    let id = created(call);
    (id != 0).then_some(id).zip(v.one("pCreateInfo"))
}

/// The flags in the create info of a call.
fn flags(call: &Call) -> u32 {
    View::call(&call.image).one("pCreateInfo").map_or(0, |i| n32(i, "flags"))
}

fn gpu_properties(w: &mut World, call: &Call) {
    let Some(p) = View::call(&call.image).one("pProperties") else { return };
    let p = p.one("properties").unwrap_or(p);
    let Some(limits) = p.one("limits") else { return };
    let gpu = w.gpus.entry(call.image.u64(0)).or_default();
    gpu.max_sets = n32(limits, "maxBoundDescriptorSets");
    gpu.max_push_bytes = n32(limits, "maxPushConstantsSize");
}

fn gpu_memory(w: &mut World, call: &Call) {
    let Some(p) = View::call(&call.image).one("pMemoryProperties") else { return };
    let p = p.one("memoryProperties").unwrap_or(p);
    let flags: Vec<u32> = p.structs("memoryTypes").map(|t| n32(t, "propertyFlags")).collect();
    if !flags.is_empty() {
        w.gpus.entry(call.image.u64(0)).or_default().memory_flags = flags;
    }
}

fn gpu_families(w: &mut World, call: &Call) {
    let families = View::call(&call.image).structs("pQueueFamilyProperties");
    let flags: Vec<u32> =
        families.map(|f| n32(f.one("queueFamilyProperties").unwrap_or(f), "queueFlags")).collect();
    if !flags.is_empty() {
        w.gpus.entry(call.image.u64(0)).or_default().families = flags;
    }
}

fn device(w: &mut World, call: &Call) {
    let info = View::call(&call.image).one("pCreateInfo");
    let queues = info.into_iter().flat_map(|i| i.structs("pQueueCreateInfos"));
    let queues = queues.map(|q| (n32(q, "queueFamilyIndex"), n32(q, "queueCount"))).collect();
    w.devices.insert(created(call), Device { gpu: call.image.u64(0), queues });
}

fn queue(w: &mut World, call: &Call) {
    let v = View::call(&call.image);
    let v = v.one("pQueueInfo").unwrap_or(v);
    let (family, index) = (n32(v, "queueFamilyIndex"), n32(v, "queueIndex"));
    w.queues.insert(created(call), Queue { device: call.image.u64(0), family, index });
}

/// How memory can come from outside of the process.
const IMPORTS: &[&str] = &[
    "VkImportMemoryFdInfoKHR",
    "VkImportMemoryHostPointerInfoEXT",
    "VkImportMemoryWin32HandleInfoKHR",
    "VkImportMemoryWin32HandleInfoNV",
    "VkImportMemoryZirconHandleInfoFUCHSIA",
    "VkImportMemoryMetalHandleInfoEXT",
    "VkImportAndroidHardwareBufferInfoANDROID",
];

fn memory(w: &mut World, call: &Call) {
    let Some(info) = View::call(&call.image).one("pAllocateInfo") else { return };
    let (id, device, type_index) = (created(call), call.image.u64(0), n32(info, "memoryTypeIndex"));
    if id == 0 {
        return;
    }
    let gpu = w.devices.get(&device).and_then(|d| w.gpus.get(&d.gpu));
    let m = Memory {
        device,
        size: n64(info, "allocationSize"),
        type_index,
        flags: gpu.and_then(|g| g.memory_flags.get(type_index as usize).copied()),
        imported: info.chain().any(|c| IMPORTS.contains(&c.name)),
        mapped: None,
        frame: call.frame,
    };
    w.memories.insert(id, m);
}

/// vkMapMemory(device, memory, offset, …); vkMapMemory2(device, pMemoryMapInfo, …).
fn map(w: &mut World, call: &Call) {
    let v = View::call(&call.image);
    let v = v.one("pMemoryMapInfo").unwrap_or(v);
    if let Some(m) = w.memories.get_mut(&n64(v, "memory")) {
        m.mapped = Some(n64(v, "offset"));
    }
}

fn unmap(w: &mut World, call: &Call) {
    let v = View::call(&call.image);
    let v = v.one("pMemoryUnmapInfo").unwrap_or(v);
    if let Some(m) = w.memories.get_mut(&n64(v, "memory")) {
        m.mapped = None;
    }
}

fn buffer(w: &mut World, call: &Call) {
    let Some((id, info)) = info(call) else { return };
    let wide = info.next("VkBufferUsageFlags2CreateInfo").map(|u| n64(u, "usage"));
    let buffer = Buffer {
        size: n64(info, "size"),
        usage: wide.unwrap_or_else(|| n32(info, "usage").into()),
        flags: n32(info, "flags"),
        bound: None,
        address: 0,
        frame: call.frame,
    };
    let before = w.buffers.insert(id, buffer);
    address_gone(w, id, before);
}

fn address_gone(w: &mut World, id: u64, b: Option<Buffer>) {
    if let Some(b) = b.filter(|b| b.address != 0) {
        w.addresses.remove(b.address, id);
    }
}

fn destroy_buffer(w: &mut World, call: &Call) {
    let id = destroyed(call);
    let b = w.buffers.remove(&id);
    address_gone(w, id, b);
}

/// The binds of a vkBind…Memory, or 2.
pub fn binds(v: View<'_>) -> impl Iterator<Item = View<'_>> {
    let many = v.u64("bindInfoCount").is_some();
    (!many).then_some(v).into_iter().chain(v.structs("pBindInfos"))
}

/// The memory that a bind names.
fn bound_to(v: View<'_>) -> Bound {
    Bound { memory: n64(v, "memory"), offset: n64(v, "memoryOffset") }
}

fn bind_buffer(w: &mut World, call: &Call) {
    for bind in binds(View::call(&call.image)) {
        if let Some(b) = w.buffers.get_mut(&n64(bind, "buffer")) {
            b.bound = Some(bound_to(bind));
        }
    }
}

fn bind_image(w: &mut World, call: &Call) {
    for bind in binds(View::call(&call.image)) {
        let Some(i) = w.images.get_mut(&n64(bind, "image")) else { continue };
        let bound = bound_to(bind);
        if bound.memory == 0 {
            i.swapchain = bind.next("VkBindImageMemorySwapchainInfoKHR").map_or(0, |s| n64(s, "swapchain"));
            continue;
        }
        // VkImageAspectFlagBits: planes are bits 4, 5, 6; memory planes 7 to 10.
        let plane = bind.next("VkBindImagePlaneMemoryInfo").map_or(0, |p| match n32(p, "planeAspect") {
            0x20 | 0x100 => 1,
            0x40 | 0x200 => 2,
            0x400 => 3,
            _ => 0,
        });
        if i.bound.len() <= plane {
            i.bound.resize(plane + 1, bound);
        }
        i.bound[plane] = bound;
    }
}

/// vkGetBufferDeviceAddress(device, pInfo).
fn buffer_address(w: &mut World, call: &Call) {
    let id = View::call(&call.image).one("pInfo").map_or(0, |i| n64(i, "buffer"));
    let address = call.image.u64(call.image.ret_at());
    if let Some(b) = w.buffers.get_mut(&id).filter(|_| address != 0) {
        b.address = address;
        w.addresses.insert(address, id, b.size, ());
    }
}

fn buffer_view(w: &mut World, call: &Call) {
    let Some((id, info)) = info(call) else { return };
    let (buffer, offset) = (n64(info, "buffer"), n64(info, "offset"));
    let range = w.range_of(buffer, offset, n64(info, "range"));
    w.buffer_views.insert(id, BufferView { buffer, format: n32(info, "format"), offset, range });
}

fn image(w: &mut World, call: &Call) {
    let Some((id, info)) = info(call) else { return };
    let image = Image {
        kind: n32(info, "imageType"),
        format: n32(info, "format"),
        extent: extent(info, "extent"),
        levels: n32(info, "mipLevels"),
        layers: n32(info, "arrayLayers"),
        samples: n32(info, "samples"),
        tiling: n32(info, "tiling"),
        usage: n32(info, "usage"),
        flags: n32(info, "flags"),
        initial_layout: n32(info, "initialLayout"),
        bound: vec![],
        swapchain: info.next("VkImageSwapchainCreateInfoKHR").map_or(0, |s| n64(s, "swapchain")),
        frame: call.frame,
    };
    w.images.insert(id, image);
}

fn image_view(w: &mut World, call: &Call) {
    let Some((id, info)) = info(call) else { return };
    let view = ImageView {
        image: n64(info, "image"),
        kind: n32(info, "viewType"),
        format: n32(info, "format"),
        range: info.one("subresourceRange").map(subresources).unwrap_or_default(),
    };
    w.image_views.insert(id, view);
}

fn structure(w: &mut World, call: &Call) {
    let Some((id, info)) = info(call) else { return };
    // The newer struct names a range of addresses instead of a buffer.
    let range = info.one("addressRange").map(|r| (n64(r, "address"), n64(r, "size")));
    let (buffer, offset, size) = match range {
        Some((address, size)) => {
            let (buffer, offset) = w.at_address(address).unwrap_or_default();
            (buffer, offset, size)
        }
        None => (n64(info, "buffer"), n64(info, "offset"), n64(info, "size")),
    };
    w.structures.insert(id, Structure { buffer, offset, size, kind: n32(info, "type"), address: 0 });
}

fn structure_nv(w: &mut World, call: &Call) {
    let Some((id, info)) = info(call) else { return };
    let kind = info.one("info").map_or(0, |i| n32(i, "type"));
    w.structures.insert(id, Structure { kind, size: n64(info, "compactedSize"), ..Structure::default() });
}

fn structure_address(w: &mut World, call: &Call) {
    let id = View::call(&call.image).one("pInfo").map_or(0, |i| n64(i, "accelerationStructure"));
    if let Some(s) = w.structures.get_mut(&id) {
        s.address = call.image.u64(call.image.ret_at());
    }
}

fn render_pass(w: &mut World, call: &Call) {
    let Some((id, info)) = info(call) else { return };
    w.render_passes.insert(id, Rc::new(RenderPass::of(info)));
}

fn framebuffer(w: &mut World, call: &Call) {
    let Some((id, info)) = info(call) else { return };
    let extent = ["width", "height", "layers"].map(|n| n32(info, n));
    let imageless = n32(info, "flags") & 1 != 0;
    let views = if imageless { vec![] } else { info.u64s("pAttachments") };
    w.framebuffers.insert(id, Framebuffer { views, extent });
}

fn swapchain_of(info: View<'_>, frame: u64) -> Swapchain {
    let e = info.one("imageExtent").map_or([0, 0], |e| [n32(e, "width"), n32(e, "height")]);
    let image = Image {
        kind: 1,
        format: n32(info, "imageFormat"),
        extent: [e[0], e[1], 1],
        levels: 1,
        layers: n32(info, "imageArrayLayers"),
        samples: 1,
        usage: n32(info, "imageUsage"),
        frame,
        ..Image::default()
    };
    Swapchain { image, images: vec![] }
}

fn swapchain(w: &mut World, call: &Call) {
    let Some((id, info)) = info(call) else { return };
    w.swapchains.insert(id, swapchain_of(info, call.frame));
}

fn shared_swapchains(w: &mut World, call: &Call) {
    let v = View::call(&call.image);
    for (id, info) in v.u64s("pSwapchains").into_iter().zip(v.structs("pCreateInfos")) {
        w.swapchains.insert(id, swapchain_of(info, call.frame));
    }
}

fn swapchain_images(w: &mut World, call: &Call) {
    let id = call.image.u64(param!("vkGetSwapchainImagesKHR", "swapchain"));
    own_images(w, id, &View::call(&call.image).u64s("pSwapchainImages"));
}

/// These are the images of a swapchain.
pub(super) fn own_images(w: &mut World, id: u64, images: &[u64]) {
    let Some(swapchain) = w.swapchains.get_mut(&id) else { return };
    for &image in images.iter().filter(|i| **i != 0) {
        w.images.entry(image).or_insert_with(|| Image { swapchain: id, ..swapchain.image.clone() });
        if !swapchain.images.contains(&image) {
            swapchain.images.push(image);
        }
    }
}

fn destroy_swapchain(w: &mut World, call: &Call) {
    for image in w.swapchains.remove(&destroyed(call)).unwrap_or_default().images {
        w.images.remove(&image);
    }
}

fn semaphore(w: &mut World, call: &Call) {
    let Some((id, info)) = info(call) else { return };
    let timeline = info.next("VkSemaphoreTypeCreateInfo").filter(|t| n32(*t, "semaphoreType") == 1);
    let initial = timeline.map(|t| n64(t, "initialValue"));
    w.syncs.insert(id, initial.map_or(Sync::Binary, Sync::Timeline));
    if let Some(initial) = initial {
        w.reached.insert(id, initial);
    }
}

fn query_pool(w: &mut World, call: &Call) {
    let Some((id, info)) = info(call) else { return };
    let pool = Queries { ty: n32(info, "queryType"), count: n32(info, "queryCount") };
    w.query_pools.insert(id, pool);
}

/// VkDebugUtilsObjectNameInfoEXT has objectHandle and pObjectName; the older struct object and pObjectName.
fn name(w: &mut World, call: &Call) {
    let v = View::call(&call.image);
    let Some(info) = v.one("pNameInfo") else { return };
    let id = info.u64("objectHandle").or_else(|| info.u64("object")).unwrap_or(0);
    if id == 0 {
        return;
    }
    match info.text("pObjectName").filter(|t| !t.is_empty()) {
        Some(text) => gone(w.names.insert(id, text.trim_end_matches('\0').into())),
        None => gone(w.names.remove(&id)),
    }
}

/// The layout that a bind or push names: by id, or in the chain where the id is 0.
pub(super) fn layout_of(w: &mut World, v: View<'_>) -> Option<Rc<PipelineLayout>> {
    match n64(v, "layout") {
        0 => v.next("VkPipelineLayoutCreateInfo").map(|info| super::shaders::pipeline_layout_of(w, 0, info)),
        id => w.pipeline_layouts.get(&id).cloned(),
    }
}

/// vkCreateIndirectCommandsLayoutEXT, NV.
fn commands_layout(w: &mut World, call: &Call) {
    let Some(info) = View::call(&call.image).one("pCreateInfo") else { return };
    let older = call.command.canonical.ends_with("NV");
    let token = |t: View<'_>| match older {
        true => (generated::Token::of_nv(n32(t, "tokenType")), n32(t, "offset")),
        false => (generated::Token::of(n32(t, "type")), n32(t, "offset")),
    };
    let tokens = info.structs("pTokens").map(token).collect();
    let stride = n32(info, "indirectStride");
    w.generated.insert(created(call), Rc::new(generated::Layout { tokens, stride }));
}

/// vkDestroyIndirectCommandsLayoutEXT, NV.
fn destroy_commands_layout(w: &mut World, call: &Call) {
    w.generated.remove(&destroyed(call));
}
