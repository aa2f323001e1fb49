//! Buffers, images and their addresses: what handlers and hooks need to know of them.

use super::{exact, init_draw, require_handles};
use crate::error::{Error, Result};
use crate::vulkan::arguments::new_object;
use crate::vulkan::linked_call::{LinkedCall, Subscription::After, Subscriptions};
use crate::vulkan::live::{BufferState, ImageState};
use crate::vulkan::portability::{sparse, stand_ins};
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use gfxr_parse::{argument, member, param};
use world::Outcome;

/// Buffers and images that go, and addresses that are learnt.
pub(super) const SUBSCRIPTIONS: Subscriptions = &[
    (&["vkDestroyBuffer"], After(buffer_destroyed)),
    (&["vkDestroyImage"], After(image_destroyed)),
    (&["vkGetBufferDeviceAddress"], After(buffer_address)),
];

/// vkCreateBuffer.
pub fn create_buffer(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, linked, report } = c;
    require_handles(objects, call, &[])?;
    const INFO: usize = argument!("vkCreateBuffer", "pCreateInfo");
    let Some(mut info) = linked.param::<vk::BufferCreateInfo<'static>>(INFO).copied() else {
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
    let id = new_object(call).ok().map(|(id, _)| id);
    // What commands write to a buffer or its aligned copy is copied to the other.
    if vk.needs.restorable || id.is_some_and(|id| vk.realigned.has(id)) {
        super::copyable::widen_buffer(linked, &mut info);
    }
    if let Some(to) = linked.param_mut::<vk::BufferCreateInfo<'static>>(INFO) {
        *to = info;
    }
    let (size, usage, flags) = (info.size, info.usage, info.flags);
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
        if flags != asked_flags {
            sparse::made(vk, call.image.u64(0), id, false)?;
        }
    }
    Ok(outcome)
}

/// vkDestroyBuffer: its piece of memory goes back only after the buffer is gone.
fn buffer_destroyed(c: &mut LinkedCall<'_>, _: Outcome) -> Result<()> {
    let LinkedCall { vk, call, .. } = c;
    let id = call.image.u64(param!("vkDestroyBuffer", "buffer"));
    let Some(state) = vk.buffers.remove(&id) else { return Ok(()) };
    if state.captured_address != 0 {
        vk.addresses.remove(state.captured_address, id, call.block);
    }
    if let Some((memory, _)) = state.memory {
        vk.memory.unbind(memory, id);
    }
    Ok(())
}

/// vkCreateImage.
pub fn create_image(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, linked, report } = c;
    require_handles(objects, call, &[vk.types.swapchain])?;
    const INFO: usize = argument!("vkCreateImage", "pCreateInfo");
    let Some(mut info) = linked.param::<vk::ImageCreateInfo<'static>>(INFO).copied() else {
        return Err(Error::divergence("pCreateInfo is missing"));
    };
    let asked_flags = info.flags;
    info.flags = sparse::image_flags(vk, asked_flags, report);
    let is_sparse = info.flags != asked_flags;
    // (the linked one names what stands in for it)
    let captured = captured_format(call);
    if captured != info.format {
        info.flags = stand_ins::flags(info.flags);
    }
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
    let types = &vk.device(call.image.u64(0))?.gpu.memory;
    let lazy = vk::MemoryPropertyFlags::LAZILY_ALLOCATED;
    let lazy = types.memory_types_as_slice().iter().any(|t| t.property_flags.contains(lazy));
    let kept = if transient && vk.needs.kept_attachments && !lazy {
        vk::ImageUsageFlags::TRANSIENT_ATTACHMENT
    } else {
        vk::ImageUsageFlags::empty()
    };
    info.usage &= !kept;
    if vk.needs.transfer_src && (!transient || !kept.is_empty()) {
        info.usage |= vk::ImageUsageFlags::TRANSFER_SRC;
    }
    if vk.needs.restorable {
        super::copyable::widen_image(vk, call.image.u64(0), &mut info)?;
    }
    // Uses of ours are uses of the stencil aspect too, where the application says those apart.
    if let Some(stencil) = linked.in_chain::<vk::ImageStencilUsageCreateInfo<'_>>(info.p_next) {
        stencil.stencil_usage |= info.usage & !asked;
        stencil.stencil_usage &= !kept;
    }
    if let Some(to) = linked.param_mut::<vk::ImageCreateInfo<'static>>(INFO) {
        *to = info;
    }
    let copy = vk::ImageCreateInfo { p_next: std::ptr::null(), ..info };
    let outcome = vk.raw(call, linked, report)?;
    if outcome.result() >= 0
        && let Ok((id, at)) = new_object(call)
    {
        let device = call.image.u64(0);
        let live = vk::Image::from_raw(linked.word_at(at));
        // Planes that are bound apart have sizes of their own.
        let size = match info.flags.contains(vk::ImageCreateFlags::DISJOINT) {
            true => 0,
            // SAFETY: both are alive.
            false => unsafe { vk.device(device)?.ash.get_image_memory_requirements(live).size },
        };
        let mut state = ImageState::new(device, live, &copy, size);
        state.captured_format = captured;
        if captured != info.format {
            stand_ins::made(vk, &state);
        }
        vk.images.insert(id, state);
        if is_sparse {
            sparse::made(vk, device, id, true)?;
        }
    }
    Ok(outcome)
}

/// The format that a vkCreateImage asked for.
fn captured_format(call: &Call) -> vk::Format {
    let info = call.image.target(param!("vkCreateImage", "pCreateInfo"));
    let raw = info.map_or(0, |to| call.image.u32(to + member!("VkImageCreateInfo", "format")));
    vk::Format::from_raw(raw as i32)
}

/// vkDestroyImage: likewise.
fn image_destroyed(c: &mut LinkedCall<'_>, _: Outcome) -> Result<()> {
    let LinkedCall { vk, call, .. } = c;
    let id = call.image.u64(param!("vkDestroyImage", "image"));
    if let Some((memory, _)) = vk.images.remove(&id).and_then(|i| i.memory) {
        vk.memory.unbind(memory, id);
    }
    Ok(())
}

/// vkGetBufferDeviceAddress: the captured address now means this one.
fn buffer_address(c: &mut LinkedCall<'_>, outcome: Outcome) -> Result<()> {
    let LinkedCall { vk, call, .. } = c;
    let info = call.image.target(param!("vkGetBufferDeviceAddress", "pInfo"));
    let buffer = info.map_or(0, |to| call.image.u64(to + member!("VkBufferDeviceAddressInfo", "buffer")));
    let size = vk.buffers.get(&buffer).map_or(1, |b| b.size);
    let captured = call.image.u64(call.image.ret_at());
    vk.addresses.insert(captured, buffer, outcome.ret, size);
    exact::compare(vk, call.image.u64(0), captured, outcome.ret);
    if let Some(b) = vk.buffers.get_mut(&buffer) {
        b.captured_address = captured;
    }
    Ok(())
}
