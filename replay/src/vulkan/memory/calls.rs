//! Commands on memory objects: allocated, mapped, bound.

use super::mapped::Mapped;
use super::place::{needs, newer};
use super::pool::{Cut, Only};
use super::rows::Rows;
use super::{coherent, place, pool, rebind};
use crate::error::{Error, Kind, Result};
use crate::link::Linked;
use crate::objects::Objects;
use crate::options::MemoryMode;
use crate::report::Report;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::memory::pool::fits;
use crate::vulkan::memory::state::{Bound, MemoryState};
use crate::vulkan::{Vulkan, exact, require_handles};
use ash::vk::{self, Handle, SubresourceLayout};
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use gfxr_parse::{argument, member, param, size_of_struct};
use world::Outcome;
use world::formats::level_size;
use world::span::Span;

/// The flags of a captured memory type.
fn captured_flags(vk: &Vulkan, device: u64, index: u32) -> Option<vk::MemoryPropertyFlags> {
    let gpu = vk.devices.get(&device)?.gpu_id;
    vk.prologue.memory.get(&gpu)?.get(index as usize).map(|f| vk::MemoryPropertyFlags::from_raw(*f))
}

/// vkAllocateMemory.
pub fn allocate(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, linked, report } = c;
    let device = call.image.u64(0);
    const INFO: usize = argument!("vkAllocateMemory", "pAllocateInfo");
    let id_at = call.image.target(param!("vkAllocateMemory", "pMemory"));
    let id = id_at.map_or(0, |at| call.image.u64(at));
    let Some(mut info) = linked.param::<vk::MemoryAllocateInfo<'static>>(INFO).copied() else {
        return Err(Error::divergence("pAllocateInfo is missing"));
    };
    let captured = captured_flags(vk, device, info.memory_type_index);
    let size = info.allocation_size;
    if vk.memory.mode == MemoryMode::Rebind {
        let flags = captured.unwrap_or(vk::MemoryPropertyFlags::empty());
        let info = View::call(&call.image).one("pAllocateInfo");
        let dedicated = info.is_some_and(|i| i.next("VkMemoryDedicatedAllocateInfo").is_some());
        vk.memory.by_id.insert(id, MemoryState { device, size, flags, dedicated, ..Default::default() });
        objects.insert_virtual(id, vk.types.memory);
        return Ok(Outcome::captured(call));
    }
    require_handles(objects, call, &[])?;
    let props = vk.device(device)?.gpu.memory;
    if vk.memory.mode == MemoryMode::Remap
        && let Some(want) = captured
    {
        info.memory_type_index = pool::best_type(&props, u32::MAX, want, vk::MemoryPropertyFlags::empty())
            .ok_or_else(|| {
                Error::new(
                    Kind::Unsupported,
                    format!("no memory type here has {want:?}; --memory rebind chooses others"),
                )
            })?;
    }
    let types = &props.memory_types[..props.memory_type_count as usize];
    let Some(here) = types.get(info.memory_type_index as usize).map(|t| t.property_flags) else {
        return Err(Error::divergence(format!(
            "memory of type {} is allocated, the device has {} types",
            info.memory_type_index,
            types.len()
        )));
    };
    fits(&props, info.memory_type_index, size)?;
    let ty = info.memory_type_index;
    if let Some(to) = linked.param_mut::<vk::MemoryAllocateInfo<'static>>(INFO) {
        *to = info;
    }
    // (what is one resource's alone cannot be filled before that is bound)
    let dedicated = vk.options.zero_memory && is_dedicated(vk, call, linked, INFO);
    let outcome = exact::allocate(vk, id, call, linked, report)?;
    if outcome.result() >= 0
        && let Some(at) = id_at
    {
        let flush = coherent::wants_flush(here)
            && captured.is_some_and(|c| c.contains(vk::MemoryPropertyFlags::HOST_COHERENT));
        let live = vk::DeviceMemory::from_raw(linked.word_at(at));
        vk.memory
            .by_id
            .insert(id, MemoryState { device, size, flags: here, live, ty, flush, ..Default::default() });
        if vk.options.zero_memory {
            let d = vk.device_mut(device)?;
            match dedicated {
                true => d.unfilled += 1,
                false => d.zero(Cut { memory: live, ty, size, part: (0, size) })?,
            }
        }
    }
    Ok(outcome)
}

/// Whether memory is one resource's alone; that is taken out of the call where the driver does not want it so.
fn is_dedicated(vk: &Vulkan, call: &Call, linked: &mut Linked, info: usize) -> bool {
    let view = View::call(&call.image);
    let chain = view.one("pAllocateInfo");
    let of_others = ["VkDedicatedAllocationMemoryAllocateInfoNV", "VkMemoryDedicatedAllocateInfoTensorARM"];
    if of_others.iter().any(|name| chain.is_some_and(|i| i.next(name).is_some())) {
        return true;
    }
    let Some(dedicated) = chain.and_then(|i| i.next("VkMemoryDedicatedAllocateInfo")) else { return false };
    let id = |name| dedicated.u64(name).unwrap_or(0);
    let image = vk.images.get(&id("image")).map(|i| (i.device, Only::Image(i.live)));
    let buffer = vk.buffers.get(&id("buffer")).map(|b| (b.device, Only::Buffer(b.live)));
    let wanted = image.or(buffer).and_then(|(device, what)| {
        let d = vk.devices.get(&device)?;
        // (without Vulkan 1.1 it is not asked what the driver wants)
        Some(!newer(vk, d) || needs(d, what, true).requires_own)
    });
    if wanted == Some(true) {
        return true;
    }
    linked.unchain_of(linked.arg(info), |s| s == vk::StructureType::MEMORY_DEDICATED_ALLOCATE_INFO);
    false
}

/// vkFreeMemory.
pub fn free(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, linked, report } = c;
    let state = vk.memory.by_id.remove(&call.image.u64(param!("vkFreeMemory", "memory")));
    if state.is_some_and(|s| s.live == vk::DeviceMemory::null()) {
        return Ok(Outcome::captured(call));
    }
    require_handles(objects, call, &[])?;
    vk.raw(call, linked, report)
}

/// vkMapMemory, vkMapMemory2: our pointer is kept; what the application wrote comes as fill blocks.
pub fn map(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, linked, report } = c;
    if call.image.ret().is_some_and(|r| r < 0) {
        return Ok(Outcome::captured(call));
    }
    let image = &call.image;
    // Where the memory object, the first byte, their number and the result are.
    let (places, result) = match call.command.canonical {
        "vkMapMemory" => {
            let memory = param!("vkMapMemory", "memory");
            let range = (param!("vkMapMemory", "offset"), param!("vkMapMemory", "size"));
            (Some((memory, range.0, range.1)), argument!("vkMapMemory", "ppData"))
        }
        _ => {
            let info = image.target(param!("vkMapMemory2", "pMemoryMapInfo"));
            let places = info.map(|to| {
                let memory = to + member!("VkMemoryMapInfo", "memory");
                (memory, to + member!("VkMemoryMapInfo", "offset"), to + member!("VkMemoryMapInfo", "size"))
            });
            (places, argument!("vkMapMemory2", "ppData"))
        }
    };
    let (id, offset, asked) = places.map_or((0, 0, vk::WHOLE_SIZE), |(memory, from, bytes)| {
        (image.u64(memory), image.u64(from), image.u64(bytes))
    });
    let at = image.u64(0);
    let Some(m) = vk.memory.by_id.get_mut(&id) else {
        return Err(Error::divergence(format!("VkDeviceMemory {id} was never allocated")));
    };
    if m.mapped.is_some() {
        return Err(Error::divergence(format!("VkDeviceMemory {id} is already mapped")));
    }
    let all = m.size;
    let size = if asked == vk::WHOLE_SIZE { all.saturating_sub(offset) } else { asked };
    if Span::within(offset, size, all).is_none() {
        return Err(Error::divergence(format!(
            "a mapping of {size} bytes at {offset} leaves VkDeviceMemory {id} of {all} bytes"
        )));
    }
    if m.live == vk::DeviceMemory::null() {
        m.mapped = Some((offset, Mapped::nothing()));
        return Ok(Outcome::captured(call));
    }
    require_handles(objects, call, &[])?;
    // What is flushed later in whole atoms must be mapped.
    let atom = vk.devices.get(&at).map_or(1, |d| d.gpu.properties.limits.non_coherent_atom_size);
    let (from, bytes) = coherent::whole_atoms((offset, size), atom, all, (0, all));
    if let Some((_, from_at, bytes_at)) = places {
        linked.set_word_at(from_at, from);
        linked.set_word_at(bytes_at, bytes);
    }
    let mut pointer: *mut u8 = std::ptr::null_mut();
    linked.set_arg(result, (&raw mut pointer) as u64);
    let outcome = vk.raw(call, linked, report)?;
    if let Some(m) = vk.memory.by_id.get_mut(&id) {
        // SAFETY: the driver has just mapped as many bytes there; unmapping drops it.
        let mapped = unsafe { Mapped::new(pointer, from, bytes) };
        m.mapped = (outcome.result() >= 0).then_some((offset, mapped));
    }
    Ok(outcome)
}

/// vkUnmapMemory, vkUnmapMemory2.
pub fn unmap(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, linked, report } = c;
    let image = &call.image;
    let id = match call.command.canonical {
        "vkUnmapMemory" => image.u64(param!("vkUnmapMemory", "memory")),
        _ => {
            let info = image.target(param!("vkUnmapMemory2", "pMemoryUnmapInfo"));
            info.map_or(0, |to| image.u64(to + member!("VkMemoryUnmapInfo", "memory")))
        }
    };
    let Some(m) = vk.memory.by_id.get_mut(&id) else {
        return Err(Error::divergence(format!("VkDeviceMemory {id} was never allocated")));
    };
    if m.mapped.take().is_none() {
        return Err(Error::divergence(format!("VkDeviceMemory {id} is not mapped")));
    }
    if m.live == vk::DeviceMemory::null() {
        return Ok(Outcome::captured(call));
    }
    require_handles(objects, call, &[])?;
    vk.raw(call, linked, report)
}

/// vkFlushMappedMemoryRanges, vkInvalidateMappedMemoryRanges: in this device's atoms. Shadows live in coherent memory:
/// nothing to do.
pub fn flush(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, linked, report } = c;
    if vk.memory.mode == MemoryMode::Rebind {
        return Ok(Outcome::captured(call));
    }
    require_handles(objects, call, &[])?;
    let image = &call.image;
    if let Some(p) = image.ptr(param!("vkFlushMappedMemoryRanges", "pMemoryRanges")).filter(|p| p.has_data())
    {
        let atom = vk.device(image.u64(0))?.gpu.properties.limits.non_coherent_atom_size;
        for at in (0..p.len).map(|i| p.to + i as u32 * size_of_struct!("VkMappedMemoryRange")) {
            let id = image.u64(at + member!("VkMappedMemoryRange", "memory"));
            let Some(m) = vk.memory.by_id.get(&id).filter(|m| m.mapped.is_some()) else { continue };
            let from_at = at + member!("VkMappedMemoryRange", "offset");
            let bytes_at = at + member!("VkMappedMemoryRange", "size");
            let (from, bytes) =
                coherent::whole_atoms((image.u64(from_at), image.u64(bytes_at)), atom, m.size, m.mapping());
            linked.set_word_at(from_at, from);
            linked.set_word_at(bytes_at, bytes);
        }
    }
    vk.raw(call, linked, report)
}

/// Queries about a memory object that may be a shadow.
pub fn shadow_query(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    _: &mut Report,
) -> Result<Option<Outcome>> {
    Ok((vk.memory.mode == MemoryMode::Rebind).then(|| Outcome::captured(call)))
}

/// A resource must lie inside the memory that it is bound to: drivers do not look.
fn inside(vk: &Vulkan, resource: u64, is_image: bool, memory: u64, offset: u64) -> Result<()> {
    let Some(m) = vk.memory.by_id.get(&memory) else { return Ok(()) };
    let size = if is_image {
        // Of an image in planes each is bound for itself; of one whose memory is another here, that counts.
        let known = vk.images.get(&resource).filter(|i| {
            vk.memory.mode != MemoryMode::Rebind && !i.flags.contains(vk::ImageCreateFlags::DISJOINT)
        });
        known.map_or(0, |i| i.size)
    } else {
        vk.buffers.get(&resource).map_or(0, |b| b.size)
    };
    if Span::within(offset, size, m.size).is_some() {
        return Ok(());
    }
    Err(Error::divergence(format!(
        "resource {resource} of {size} bytes is bound at byte {offset} of VkDeviceMemory {memory}, which has {}",
        m.size
    )))
}

/// vkBindBufferMemory, vkBindImageMemory.
pub fn bind(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, linked, report } = c;
    let image = &call.image;
    // (images are bound with the same parameters)
    let resource = image.u64(param!("vkBindBufferMemory", "buffer"));
    let memory = image.u64(param!("vkBindBufferMemory", "memory"));
    let offset = image.u64(param!("vkBindBufferMemory", "memoryOffset"));
    let is_image = call.command.name.starts_with("vkBindImage");
    inside(vk, resource, is_image, memory, offset)?;
    bound_once(vk, resource, is_image)?;
    let outcome = if vk.memory.mode == MemoryMode::Rebind {
        require_handles(objects, call, &[vk.types.memory])?;
        rebind::bind(vk, image.u64(0), resource, is_image, memory, offset, report)?;
        Outcome::captured(call)
    } else {
        require_handles(objects, call, &[])?;
        match place::elsewhere(vk, image.u64(0), (resource, is_image), (memory, offset), report)? {
            true => Outcome::captured(call),
            false => vk.raw(call, linked, report)?,
        }
    };
    record(vk, resource, is_image, memory, offset);
    Ok(outcome)
}

/// vkBindBufferMemory2, vkBindImageMemory2.
pub fn bind2(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, linked, report } = c;
    let image = &call.image;
    let is_image = call.command.name.starts_with("vkBindImage");
    let infos: Vec<Binding> = View::call(image).structs("pBindInfos").map(Binding::read).collect();
    infos.iter().try_for_each(|b| inside(vk, b.resource, is_image, b.memory, b.offset))?;
    // Planes are bound one by one, and their structs are in the chain.
    infos.iter().filter(|b| b.plane == 0).try_for_each(|b| bound_once(vk, b.resource, is_image))?;
    let device = image.u64(0);
    let rebinds = vk.memory.mode == MemoryMode::Rebind;
    let shadows: &[_] = if rebinds { &[vk.types.memory, vk.types.swapchain] } else { &[vk.types.swapchain] };
    require_handles(objects, call, shadows)?;
    let mut stays = Vec::new();
    for (i, b) in infos.iter().enumerate() {
        let at = (b.memory, b.offset);
        stays.push(match () {
            () if b.swapchain.0 != 0 => {
                place::bind_to_swapchain(vk, b.resource, b.swapchain).map(|()| false)?
            }
            // With the first of its planes come all.
            () if rebinds && b.plane != 0 => {
                if infos[..i].iter().all(|o| o.resource != b.resource) {
                    let planes = infos.iter().filter(|o| o.resource == b.resource).map(|o| o.plane);
                    rebind::bind_planes(vk, device, b.resource, &planes.collect::<Vec<_>>())?;
                }
                false
            }
            () if rebinds => {
                rebind::bind(vk, device, b.resource, is_image, b.memory, b.offset, report)?;
                false
            }
            // What is bound plane by plane has other requirements.
            () => b.plane != 0 || !place::elsewhere(vk, device, (b.resource, is_image), at, report)?,
        });
    }
    let outcome = match keep_bindings(linked, &stays) {
        0 if rebinds || !stays.is_empty() => Outcome::captured(call),
        _ => vk.raw(call, linked, report)?,
    };
    for b in infos.iter().filter(|b| b.swapchain.0 == 0) {
        record(vk, b.resource, is_image, b.memory, b.offset);
    }
    Ok(outcome)
}

/// One of a call's bindings.
struct Binding {
    resource: u64,
    memory: u64,
    offset: u64,
    /// VkImageAspectFlagBits of the plane that is bound, or 0.
    plane: u32,
    /// The swapchain whose memory it is, and which image's.
    swapchain: (u64, u32),
}

impl Binding {
    fn read(info: View<'_>) -> Self {
        let n = |v: View<'_>, name| v.u64(name).unwrap_or(0);
        let plane = info.next("VkBindImagePlaneMemoryInfo").and_then(|p| p.u32("planeAspect"));
        let swapchain = info
            .next("VkBindImageMemorySwapchainInfoKHR")
            .map(|s| (n(s, "swapchain"), s.u32("imageIndex").unwrap_or(0)));
        Binding {
            resource: info.u64("buffer").or(info.u64("image")).unwrap_or(0),
            memory: n(info, "memory"),
            offset: n(info, "memoryOffset"),
            plane: plane.unwrap_or(0),
            swapchain: swapchain.unwrap_or_default(),
        }
    }
}

/// Leaves those of a linked call's bindings that stay; how many.
fn keep_bindings(linked: &mut Linked, stays: &[bool]) -> usize {
    let kept = stays.iter().filter(|s| **s).count();
    // (images' and buffers' are laid out likewise)
    const COUNT: usize = argument!("vkBindImageMemory2", "bindInfoCount");
    const INFOS: usize = argument!("vkBindImageMemory2", "pBindInfos");
    if kept < stays.len()
        && let Some(infos) = linked.params::<vk::BindImageMemoryInfo<'static>>(INFOS, COUNT)
    {
        let all = infos.iter().zip(stays).filter(|i| *i.1).map(|i| *i.0).collect::<Vec<_>>();
        let at = linked.keep(&all);
        linked.set_arg(INFOS, at as u64);
        linked.set_arg(COUNT, kept as u64);
    }
    kept
}

/// Refuses what has memory already: drivers trust that it has none.
fn bound_once(vk: &Vulkan, resource: u64, is_image: bool) -> Result<()> {
    let (bound, name) = if is_image {
        (vk.images.get(&resource).is_some_and(|i| i.memory.is_some()), "VkImage")
    } else {
        (vk.buffers.get(&resource).is_some_and(|b| b.memory.is_some()), "VkBuffer")
    };
    if bound {
        return Err(Error::divergence(format!("{name} {resource} is bound to memory already")));
    }
    Ok(())
}

/// Remembers which resource lies where.
fn record(vk: &mut Vulkan, resource: u64, is_image: bool, memory: u64, offset: u64) {
    let (size, device_only) = if is_image {
        vk.images.get_mut(&resource).map_or((0, false), |i| {
            i.memory = Some((memory, offset));
            // What the host writes there is not in the format that stands in for it.
            (if i.stands_in() { 0 } else { i.size }, false)
        })
    } else {
        vk.buffers.get_mut(&resource).map_or((0, false), |b| {
            b.memory = Some((memory, offset));
            (b.size, b.usage.contains(vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR))
        })
    };
    if let Some(m) = vk.memory.by_id.get_mut(&memory) {
        m.bound.retain(|b| b.resource != resource);
        m.bound.push(Bound { resource, image: is_image, device_only, offset, size });
    }
}

/// vkGetImageSubresourceLayout and its successors: what they said at capture is compared with what they say here.
pub fn subresource_layout(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    let outcome = vk.raw(call, linked, report)?;
    if vk.memory.mode != MemoryMode::Rebind {
        return Ok(outcome);
    }
    let v = View::call(&call.image);
    let number = |v: View<'_>, n| v.u64(n).unwrap_or(0);
    let (Some(which), Some(layout)) = (v.one("pSubresource"), v.one("pLayout")) else { return Ok(outcome) };
    let which = which.one("imageSubresource").unwrap_or(which);
    let l = layout.one("subresourceLayout").unwrap_or(layout);
    let then = SubresourceLayout {
        offset: number(l, "offset"),
        size: number(l, "size"),
        row_pitch: number(l, "rowPitch"),
        array_pitch: number(l, "arrayPitch"),
        depth_pitch: number(l, "depthPitch"),
    };
    let (aspect, mip) = (which.u32("aspectMask").unwrap_or(0), which.u32("mipLevel").unwrap_or(0));
    let asked = which.u32("arrayLayer").unwrap_or(0);
    let (device, id) = (number(v, "device"), number(v, "image"));
    let d = vk.devices.get(&device).map(|d| d.ash.clone());
    let (Some(d), Some(image)) = (d, vk.images.get_mut(&id)) else { return Ok(outcome) };
    if image.tiling != vk::ImageTiling::LINEAR || mip >= image.levels {
        return Ok(outcome);
    }
    image.rows.retain(|r| r.mip != mip);
    for layer in 0..image.layers {
        let what = vk::ImageSubresource {
            aspect_mask: vk::ImageAspectFlags::from_raw(aspect),
            mip_level: mip,
            array_layer: layer,
        };
        // SAFETY: both are alive, the image is linear and has this subresource.
        let now = unsafe { d.get_image_subresource_layout(image.live, what) };
        let distance = i128::from(layer) - i128::from(asked);
        let offset = i128::from(then.offset).saturating_add(distance.saturating_mul(then.array_pitch.into()));
        let then = SubresourceLayout { offset: u64::try_from(offset).unwrap_or(0), ..then };
        let height = level_size(image.extent.height, mip);
        let depth = level_size(image.extent.depth, mip);
        image.rows.push(Rows { mip, then, now, height, depth });
    }
    if image.rows.iter().all(Rows::same) {
        image.rows.clear();
    } else {
        report
            .note("linear images whose rows lie elsewhere here: what the host writes goes there row by row");
    }
    Ok(outcome)
}
