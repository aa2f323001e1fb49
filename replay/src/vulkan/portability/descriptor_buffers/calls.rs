//! Calls about descriptor buffers, as this device has to hear them.

use super::state::{Device, Layout, Sizes, Stand};
use crate::error::{Error, Kind, Result, Vk};
use crate::options::Bridge;
use crate::vulkan::Vulkan;
use crate::vulkan::arguments::new_object;
use crate::vulkan::descriptors::usage::{holds_descriptors, usage_of};
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::memory::AllocKind;
use ash::vk::{self, Handle};
use gfxr_parse::view::View;
use gfxr_parse::{argument, member, param};
use world::Outcome;

/// A device was made.
pub(in super::super) fn device_made(c: &mut LinkedCall<'_>, outcome: Outcome) -> Result<()> {
    let LinkedCall { vk, call, .. } = c;
    if !vk.descriptor_buffers.is_on() || outcome.result() < 0 {
        return Ok(());
    }
    let id = new_object(call)?.0;
    let Some(d) = vk.devices.get(&id) else { return Ok(()) };
    let Some(instance) = vk.instances.get(&d.instance_id) else { return Ok(()) };
    if !d.gpu.has("VK_EXT_descriptor_buffer") {
        return Ok(());
    }
    let mut p = vk::PhysicalDeviceDescriptorBufferPropertiesEXT::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut p);
    let query = ash::khr::get_physical_device_properties2::Instance::new(&vk.entry, &instance.ash);
    // SAFETY: a query with a struct that the device knows.
    unsafe { query.get_physical_device_properties2(d.gpu.handle, &mut all) };
    let info = View::call(&call.image).one("pCreateInfo");
    let features = info.and_then(|i| {
        let chained = i.next("VkPhysicalDeviceFeatures2").and_then(|f| f.one("features"));
        chained.or_else(|| i.one("pEnabledFeatures"))
    });
    let robust = features.and_then(|f| f.u32("robustBufferAccess")) == Some(1);
    let functions = ash::ext::descriptor_buffer::Device::new(&instance.ash, &d.ash);
    vk.descriptor_buffers.devices.insert(id, Device { functions, sizes: Sizes::of(&p), robust });
    Ok(())
}

/// A device goes, and what was made on it.
pub(in crate::vulkan) fn device_gone(vk: &mut Vulkan, id: u64) {
    let of_it = |s: &Stand| s.device == id;
    let all: Vec<u64> = vk.descriptor_buffers.buffers.iter().filter(|b| of_it(b.1)).map(|b| *b.0).collect();
    all.into_iter().for_each(|b| gone(vk, b));
    vk.descriptor_buffers.devices.remove(&id);
}

/// A buffer was made: if it holds descriptors, this device reads another one.
pub(in super::super) fn buffer_made(c: &mut LinkedCall<'_>, outcome: Outcome) -> Result<()> {
    let LinkedCall { vk, call, .. } = c;
    let Some(factor) = vk.descriptor_buffers.factor.filter(|_| outcome.result() >= 0) else { return Ok(()) };
    let Some(info) = View::call(&call.image).one("pCreateInfo").filter(|i| holds_descriptors(*i)) else {
        return Ok(());
    };
    let (device, id, size) = (call.image.u64(0), new_object(call)?.0, info.u64("size").unwrap_or(0));
    use vk::BufferUsageFlags as U;
    let kinds = U::RESOURCE_DESCRIPTOR_BUFFER_EXT
        | U::SAMPLER_DESCRIPTOR_BUFFER_EXT
        | U::PUSH_DESCRIPTORS_DESCRIPTOR_BUFFER_EXT;
    let usage = usage_of(info) & kinds | U::SHADER_DEVICE_ADDRESS;
    let d = vk.device_mut(device)?;
    let get_address = d.get_address.ok_or_else(|| {
        Error::new(
            Kind::Unsupported,
            "descriptor buffers have addresses, and this device was made without them",
        )
    })?;
    let must = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let like = vk::MemoryPropertyFlags::DEVICE_LOCAL;
    let bytes = size.saturating_mul(factor);
    // SAFETY: plain creations on a live device, in order.
    let stand = unsafe {
        let info = vk::BufferCreateInfo::default().size(bytes).usage(usage);
        let buffer = d.ash.create_buffer(&info, None).what("vkCreateBuffer")?;
        let need = d.ash.get_buffer_memory_requirements(buffer);
        let alloc = d.alloc(need, (must, like), AllocKind::Linear, true)?;
        d.ash.bind_buffer_memory(buffer, alloc.memory(), alloc.offset()).what("vkBindBufferMemory")?;
        let address = get_address(d.ash.handle(), &vk::BufferDeviceAddressInfo::default().buffer(buffer));
        Stand { device, buffer, alloc, address, usage, size }
    };
    vk.cost(Bridge::Descriptors).memory += bytes;
    gone(vk, id);
    vk.descriptor_buffers.buffers.insert(id, stand);
    Ok(())
}

fn gone(vk: &mut Vulkan, id: u64) {
    let Some(stand) = vk.descriptor_buffers.buffers.remove(&id) else { return };
    // Another buffer may come to lie at its address.
    vk.descriptor_buffers.written.clear();
    if let Some(d) = vk.devices.get(&stand.device) {
        // SAFETY: ours, and as little in use as the buffer that it stands for.
        unsafe { d.ash.destroy_buffer(stand.buffer, None) };
    }
}

/// A buffer is about to be destroyed.
pub(in super::super) fn buffer_gone(c: &mut LinkedCall<'_>) -> Result<()> {
    if c.vk.descriptor_buffers.is_on() {
        gone(c.vk, c.call.image.u64(param!("vkDestroyBuffer", "buffer")));
    }
    Ok(())
}

/// vkGetDescriptorEXT: this driver's bytes are kept for the captured ones.
pub(in crate::vulkan) fn get(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    const INFO: usize = argument!("vkGetDescriptorEXT", "pDescriptorInfo");
    let LinkedCall { vk, call, linked, .. } = c;
    let (device, bytes) = (call.image.u64(0), call.image.u64(param!("vkGetDescriptorEXT", "dataSize")));
    let info = call.image.target(param!("vkGetDescriptorEXT", "pDescriptorInfo"));
    let kind = info.map_or(0, |at| call.image.u32(at + member!("VkDescriptorGetInfoEXT", "type")));
    let captured = call.image.ptr(param!("vkGetDescriptorEXT", "pDescriptor")).filter(|p| p.has_data());
    let Some(captured) =
        captured.and_then(|p| call.image.bytes().get(p.to as usize..)?.get(..p.len.min(bytes) as usize))
    else {
        return Ok(Outcome::captured(call));
    };
    let live = vk.device(device)?.ash.handle();
    let d = vk.descriptor_buffers.devices.get(&device);
    let found = d.and_then(|d| Some((d, d.size(kind)?)));
    let (d, size) = found.ok_or_else(|| {
        Error::new(
            Kind::Unsupported,
            format!("descriptors of VkDescriptorType {kind} have no size on this device"),
        )
    })?;
    // Images of several planes take several descriptors.
    let told = vk.descriptor_buffers.told.size(kind, d.robust).unwrap_or(bytes).max(1);
    let size = size * if bytes % told == 0 { (bytes / told).max(1) } else { 1 };
    let mut here = vec![0; size as usize];
    // SAFETY: a live device, arguments that linking made, and as many bytes as the device says.
    unsafe {
        let info = linked.ptr::<vk::DescriptorGetInfoEXT<'_>>(INFO);
        (d.functions.fp().get_descriptor_ext)(live, info, here.len(), here.as_mut_ptr().cast());
    }
    let known = vk.descriptor_buffers.live.entry(kind).or_default();
    let before = known.insert(captured.into(), here.clone().into());
    if before.is_some_and(|b| *b != here[..]) {
        // The same bytes mean something else from now on.
        vk.descriptor_buffers.written.clear();
    }
    vk.cost(Bridge::Descriptors).changed += 1;
    Ok(Outcome { ret: 0, called: true })
}

/// vkGetDescriptorSetLayoutSizeEXT: the factor has to make room for the set.
pub(in crate::vulkan) fn set_size(vk: &Vulkan, captured: u64, here: u64) -> Result<()> {
    match vk.descriptor_buffers.factor {
        Some(factor) if here > captured.saturating_mul(factor) => {
            let text = format!(
                "descriptor buffers: a set takes {here} bytes on this device and {captured} in the capture, more than {factor} times as many"
            );
            Err(Error::new(Kind::Unsupported, text))
        }
        _ => Ok(()),
    }
}

/// vkCreatePipelineLayout: where the bindings of its sets lie here.
pub(in super::super) fn pipeline_layout(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, objects, call, .. } = c;
    if !vk.descriptor_buffers.is_on() {
        return Ok(());
    }
    let Some(d) = vk.descriptor_buffers.devices.get(&call.image.u64(0)) else { return Ok(()) };
    let device = vk.device(call.image.u64(0))?.ash.handle();
    let ids = View::call(&call.image).one("pCreateInfo").map_or(vec![], |i| i.u64s("pSetLayouts"));
    for id in ids {
        let Some(layout) = objects.world().set_layouts.get(&id).filter(|l| l.in_descriptor_buffers()) else {
            continue;
        };
        if vk.descriptor_buffers.layouts.contains_key(&layout.class) {
            continue;
        }
        let live = vk::DescriptorSetLayout::from_raw(objects.live(id));
        let offset = |binding| {
            let mut at = 0;
            // SAFETY: a live layout for descriptor buffers, and a binding that it has.
            unsafe {
                (d.functions.fp().get_descriptor_set_layout_binding_offset_ext)(
                    device, live, binding, &mut at,
                );
            }
            at
        };
        let offsets = layout.bindings.iter().map(|b| (b.binding, offset(b.binding))).collect();
        vk.descriptor_buffers.layouts.insert(layout.class, Layout { offsets });
    }
    Ok(())
}

/// vkCmdBindDescriptorBuffersEXT: what this device reads.
pub(in super::super) fn bind(c: &mut LinkedCall<'_>) -> Result<()> {
    const INFOS: usize = argument!("vkCmdBindDescriptorBuffersEXT", "pBindingInfos");
    const COUNT: usize = argument!("vkCmdBindDescriptorBuffersEXT", "bufferCount");
    let LinkedCall { vk, objects, call, linked, .. } = c;
    let Some(factor) = vk.descriptor_buffers.factor else { return Ok(()) };
    let captured: Vec<u64> =
        View::call(&call.image).structs("pBindingInfos").map(|i| i.u64("address").unwrap_or(0)).collect();
    let stands = captured.iter().map(|at| {
        let (buffer, within) = objects.world().at_address(*at)?;
        Some((vk.descriptor_buffers.buffers.get(&buffer)?, within))
    });
    let stands: Option<Vec<_>> = stands.collect();
    let unknown = || {
        Error::new(Kind::Unsupported, "a descriptor buffer is bound at an address that no buffer is known at")
    };
    let stands = stands.ok_or_else(unknown)?;
    let mut chains = Vec::new();
    let infos =
        linked.params_mut::<vk::DescriptorBufferBindingInfoEXT<'static>>(INFOS, COUNT).ok_or_else(unknown)?;
    for (info, (stand, within)) in infos.iter_mut().zip(&stands) {
        info.address = stand.address + within * factor;
        info.usage = stand.usage;
        chains.push(info.p_next);
    }
    for (chain, (stand, _)) in chains.into_iter().zip(&stands) {
        if let Some(push) =
            linked.in_chain::<vk::DescriptorBufferBindingPushDescriptorBufferHandleEXT<'_>>(chain)
        {
            push.buffer = stand.buffer;
        }
        if let Some(usage) = linked.in_chain::<vk::BufferUsageFlags2CreateInfoKHR<'_>>(chain) {
            usage.usage = vk::BufferUsageFlags2KHR::from_raw(stand.usage.as_raw().into());
        }
    }
    vk.cost(Bridge::Descriptors).changed += 1;
    Ok(())
}

/// vkCmdSetDescriptorBufferOffsetsEXT and its successor.
pub(in super::super) fn offsets(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, call, linked, .. } = c;
    let Some(factor) = vk.descriptor_buffers.factor else { return Ok(()) };
    let v = View::call(&call.image);
    let v = v.one("pSetDescriptorBufferOffsetsInfo").unwrap_or(v);
    if let Some((first, n)) = v.array("pOffsets") {
        for at in (0..n as u32).map(|n| first + n * size_of::<u64>() as u32) {
            linked.set_word_at(at, call.image.u64(at).saturating_mul(factor));
        }
    }
    vk.cost(Bridge::Descriptors).changed += 1;
    Ok(())
}
