//! Buffers, images and their addresses: what handlers and hooks need to know of them.

use super::memory::{Alloc, Rows};
use super::{Vulkan, descriptors, exact, init_draw, portability, require_handles};
use crate::error::{Error, Result};
use crate::link::Linked;
use crate::objects::Objects;
use crate::report::Report;
use crate::vulkan::portability::sparse;
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use world::Outcome;

/// A live buffer.
#[derive(Clone)]
pub struct BufferState {
    /// Captured id of its device.
    pub device: u64,
    /// Live handle.
    pub live: vk::Buffer,
    /// In bytes.
    pub size: u64,
    /// As created here.
    pub usage: vk::BufferUsageFlags,
    /// As created here.
    pub flags: vk::BufferCreateFlags,
    /// Captured memory object and offset.
    pub memory: Option<(u64, u64)>,
    /// The address it had at capture, once the application asked for it.
    pub captured_address: u64,
    pub(crate) alloc: Option<Alloc>,
}

/// A live image.
#[derive(Clone)]
pub struct ImageState {
    /// Captured id of its device.
    pub device: u64,
    /// Live handle.
    pub live: vk::Image,
    /// 1D, 2D or 3D.
    pub kind: vk::ImageType,
    /// Its format.
    pub format: vk::Format,
    /// Size of mip level 0.
    pub extent: vk::Extent3D,
    /// Mip levels.
    pub levels: u32,
    /// Array layers.
    pub layers: u32,
    /// Samples per texel.
    pub samples: vk::SampleCountFlags,
    /// As created here.
    pub usage: vk::ImageUsageFlags,
    /// As created here.
    pub flags: vk::ImageCreateFlags,
    /// Linear, optimal or by DRM modifier.
    pub tiling: vk::ImageTiling,
    /// Bytes of memory it takes here.
    pub size: u64,
    /// Captured memory object and offset.
    pub memory: Option<(u64, u64)>,
    /// The layout our own transitions left it in while a state snapshot is loaded.
    pub layout: vk::ImageLayout,
    /// Captured id of the virtual swapchain that owns it.
    pub swapchain: Option<u64>,
    pub(crate) alloc: Option<Alloc>,
    /// Linear, memory rebound: its rows, where they lie otherwise than at capture.
    pub(crate) rows: Vec<Rows>,
}

impl ImageState {
    /// One that has just been made with these parameters.
    pub fn new(device: u64, live: vk::Image, info: &vk::ImageCreateInfo<'_>, size: u64) -> Self {
        ImageState {
            device,
            live,
            kind: info.image_type,
            format: info.format,
            extent: info.extent,
            levels: info.mip_levels,
            layers: info.array_layers,
            samples: info.samples,
            usage: info.usage,
            flags: info.flags,
            tiling: info.tiling,
            size,
            memory: None,
            layout: info.initial_layout,
            swapchain: None,
            alloc: None,
            rows: Vec::new(),
        }
    }
    /// Every aspect its format has.
    pub fn aspects(&self) -> vk::ImageAspectFlags {
        aspects_of(self.format)
    }
    /// All of it.
    pub fn range(&self) -> vk::ImageSubresourceRange {
        vk::ImageSubresourceRange {
            aspect_mask: self.aspects(),
            base_mip_level: 0,
            level_count: vk::REMAINING_MIP_LEVELS,
            base_array_layer: 0,
            layer_count: vk::REMAINING_ARRAY_LAYERS,
        }
    }
}

/// Every aspect a format has.
pub(super) fn aspects_of(format: vk::Format) -> vk::ImageAspectFlags {
    use vk::{Format as F, ImageAspectFlags as A};
    match format {
        F::D16_UNORM | F::X8_D24_UNORM_PACK32 | F::D32_SFLOAT => A::DEPTH,
        F::S8_UINT => A::STENCIL,
        F::D16_UNORM_S8_UINT | F::D24_UNORM_S8_UINT | F::D32_SFLOAT_S8_UINT => A::DEPTH | A::STENCIL,
        _ => A::COLOR,
    }
}

/// The id the capture gave the new object in the last parameter, and where it lies.
pub(crate) fn new_object(call: &Call) -> Result<(u64, u32)> {
    let at = call.command.params.last().map_or(0, |p| p.at);
    let to =
        call.image.target(at).ok_or_else(|| Error::divergence("the capture has no id for the new object"))?;
    Ok((call.image.u64(to), to))
}

/// vkCreateBuffer.
pub fn create_buffer(
    vk: &mut Vulkan,
    objects: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    require_handles(objects, call, &[])?;
    let Some(mut info) = linked.param::<vk::BufferCreateInfo<'static>>(1).copied() else {
        return Err(Error::divergence("pCreateInfo is missing"));
    };
    let asked_flags = info.flags;
    info.flags = sparse::buffer_flags(vk, asked_flags, report);
    if vk.prologue.trimmed {
        // Its contents may come as an init block.
        info.usage |= vk::BufferUsageFlags::TRANSFER_DST;
    }
    if vk.needs.transfer_src {
        info.usage |= vk::BufferUsageFlags::TRANSFER_SRC;
    }
    if vk.needs.restorable {
        super::contents::widen_buffer(linked, &mut info);
    }
    if let Some(to) = linked.param_mut::<vk::BufferCreateInfo<'static>>(1) {
        *to = info;
    }
    let (size, usage, flags) = (info.size, info.usage, info.flags);
    let id = new_object(call).ok().map(|(id, _)| id);
    let outcome = exact::create_buffer(vk, id, call, linked, report)?;
    if outcome.result() >= 0
        && let Ok((id, at)) = new_object(call)
    {
        let live = vk::Buffer::from_raw(linked.word_at(at));
        let state = BufferState {
            device: call.image.u64(0),
            live,
            size,
            usage,
            flags,
            memory: None,
            captured_address: 0,
            alloc: None,
        };
        vk.buffers.insert(id, state);
        descriptors::buffer_made(vk, call, id);
        if flags != asked_flags {
            sparse::made(vk, call.image.u64(0), id, false)?;
        }
        portability::buffer_made(vk, call.image.u64(0), id)?;
    }
    Ok(outcome)
}

/// vkDestroyBuffer.
pub fn destroy_buffer(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let id = call.image.u64(8);
    let state = vk.buffers.remove(&id);
    vk.shader_pointers.journal.forget(id);
    descriptors::buffer_gone(vk, id);
    portability::buffer_gone(vk, id);
    if let Some(b) = state.as_ref().filter(|b| b.captured_address != 0) {
        vk.addresses.remove(b.captured_address, id);
    }
    if let Some((memory, _)) = state.as_ref().and_then(|b| b.memory) {
        vk.memory.unbind(memory, id);
    }
    let outcome = vk.raw(call, linked, report);
    drop(state); // its piece of memory goes back only after the buffer is gone
    outcome
}

/// vkCreateImage.
pub fn create_image(
    vk: &mut Vulkan,
    objects: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    require_handles(objects, call, &[vk.types.swapchain])?;
    let Some(mut info) = linked.param::<vk::ImageCreateInfo<'static>>(1).copied() else {
        return Err(Error::divergence("pCreateInfo is missing"));
    };
    let asked_flags = info.flags;
    info.flags = sparse::image_flags(vk, asked_flags, report);
    info.p_next = linked.unchain(info.p_next, |s| s == vk::StructureType::IMAGE_SWAPCHAIN_CREATE_INFO_KHR);
    let transient = info.usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT);
    let asked = info.usage;
    if vk.prologue.trimmed {
        // Its contents may come as an init block.
        match transient || info.samples != vk::SampleCountFlags::TYPE_1 {
            true => init_draw::widen(vk, call.image.u64(0), &mut info)?,
            false => info.usage |= vk::ImageUsageFlags::TRANSFER_DST,
        }
    }
    if !transient && vk.needs.transfer_src {
        info.usage |= vk::ImageUsageFlags::TRANSFER_SRC;
    }
    if vk.needs.restorable {
        super::contents::widen_image(vk, call.image.u64(0), &mut info)?;
    }
    // Uses of ours are uses of the stencil aspect too, where the application says those apart.
    if let Some(stencil) = linked.in_chain::<vk::ImageStencilUsageCreateInfo<'_>>(info.p_next) {
        stencil.stencil_usage |= info.usage & !asked;
    }
    if let Some(to) = linked.param_mut::<vk::ImageCreateInfo<'static>>(1) {
        *to = info;
    }
    let copy = vk::ImageCreateInfo { p_next: std::ptr::null(), ..info };
    let outcome = vk.raw(call, linked, report)?;
    if outcome.result() >= 0
        && let Ok((id, at)) = new_object(call)
    {
        let device = call.image.u64(0);
        let live = vk::Image::from_raw(linked.word_at(at));
        // SAFETY: both are alive.
        let need = unsafe { vk.device(device)?.ash.get_image_memory_requirements(live) };
        vk.images.insert(id, ImageState::new(device, live, &copy, need.size));
        if info.flags != asked_flags {
            sparse::made(vk, device, id, true)?;
        }
    }
    Ok(outcome)
}

/// vkDestroyImage.
pub fn destroy_image(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let id = call.image.u64(8);
    let state = vk.images.remove(&id);
    if let Some((memory, _)) = state.as_ref().and_then(|i| i.memory) {
        vk.memory.unbind(memory, id);
    }
    let outcome = vk.raw(call, linked, report);
    drop(state);
    outcome
}

/// vkGetBufferDeviceAddress: the captured address now means this one.
pub fn buffer_address(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let outcome = vk.raw(call, linked, report)?;
    // VkBufferDeviceAddressInfo: sType, pNext, buffer.
    let buffer = call.image.target(8).map_or(0, |to| call.image.u64(to + 16));
    let size = vk.buffers.get(&buffer).map_or(1, |b| b.size);
    let captured = call.image.u64(call.image.ret_at());
    vk.addresses.insert(captured, buffer, outcome.ret, size);
    exact::compare(vk, call.image.u64(0), captured, outcome.ret);
    if let Some(b) = vk.buffers.get_mut(&buffer) {
        b.captured_address = captured;
    }
    Ok(outcome)
}
