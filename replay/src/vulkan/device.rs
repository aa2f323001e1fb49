//! Devices and queues.

use super::portability::Folding;
use super::{Vulkan, memory, portability};
use crate::error::{Error, Kind, Result};
use crate::objects::Objects;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::live::{DeviceState, QueueState};
use crate::vulkan::memory::mode::choose_mode;
use ash::vk::{self, Handle};
use gfxr_parse::view::View;
use gfxr_parse::{argument, param};
use std::ffi::{CString, c_char};
use world::Outcome;

/// vkCreateDevice: negotiates extensions and features, then chooses the memory mode.
pub fn create(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, linked, report } = c;
    let gpu_id = call.image.u64(0);
    let Some(gpu) = vk.gpus.get(&gpu_id).cloned() else {
        return Err(Error::divergence(format!("VkPhysicalDevice {gpu_id} was never enumerated")));
    };
    let instance_id = gpu.instance;
    const INFO: usize = argument!("vkCreateDevice", "pCreateInfo");
    let Some(info) = linked.param::<vk::DeviceCreateInfo<'_>>(INFO).copied() else {
        return Err(Error::divergence("pCreateInfo is missing"));
    };
    let short = |what: &str| Error::new(Kind::Capture, format!("{what} holds fewer than its count says"));
    let queues = linked.all(info.p_queue_create_infos, info.queue_create_info_count);
    let queues = queues.ok_or_else(|| short("pQueueCreateInfos"))?.iter();
    let queues = queues
        .map(|q| Some((q.queue_family_index, linked.all(q.p_queue_priorities, q.queue_count)?.to_vec())));
    let queues: Vec<(u32, Vec<f32>)> =
        queues.collect::<Option<_>>().ok_or_else(|| short("pQueuePriorities"))?;
    let asked: Vec<(u32, u32)> = queues.iter().map(|q| (q.0, q.1.len() as u32)).collect();
    let then = vk.captured_families.get(&gpu_id).map(Vec::as_slice);
    let folding = Folding::new(&asked, then, &gpu.families);
    if folding.made.is_empty() {
        // Work of our own needs one.
        return Err(Error::divergence("a device without queues"));
    }
    let priorities = folding.priorities(&queues);
    let families: Vec<_> = folding
        .made
        .iter()
        .zip(&priorities)
        .map(|(&(family, _), p)| {
            vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(p)
        })
        .collect();
    let asked = linked.texts(info.pp_enabled_extension_names, info.enabled_extension_count);
    let asked = asked.ok_or_else(|| short("ppEnabledExtensionNames"))?;
    let mut lines = Vec::new();
    let mut extensions =
        portability::extensions(&gpu, &asked, vk.options.remove_unsupported, &vk.unused, &mut lines);
    let optional = vk.needs.optional_device_extensions.iter().filter(|n| gpu.has(n));
    for need in vk.needs.device_extensions.iter().chain(optional) {
        let need = CString::new(*need).expect("a constant");
        if !extensions.contains(&need) {
            extensions.push(need);
        }
    }
    // Extensions of what no shader needs are not asked for.
    let p_next = linked.unchain(info.p_next, |s| {
        s == vk::StructureType::DEVICE_DEVICE_MEMORY_REPORT_CREATE_INFO_EXT
            || vk.unused.structs.contains(&(s.as_raw() as u32))
    });
    let Some(info) = linked.param_mut::<vk::DeviceCreateInfo<'static>>(INFO) else {
        return Err(Error::divergence("pCreateInfo is missing"));
    };
    info.p_next = p_next;
    if folding.changed {
        info.queue_create_info_count = families.len() as u32;
        info.p_queue_create_infos = families.as_ptr().cast();
    }
    let exact;
    // SAFETY: linking made the chain of structs that were decoded: each lies whole in the call's memory and is what its sType
    // says (`gfxr_parse::valid`, **present**).
    unsafe {
        let Some(instance) = vk.instances.get(&instance_id) else {
            return Err(Error::divergence("the device's instance is gone"));
        };
        let memory = choose_mode(&vk.options, &vk.prologue, gpu_id, &gpu);
        exact = super::exact::negotiate(vk, &instance.ash, gpu_id, &gpu, info, memory)?;
        let remove = vk.options.remove_unsupported;
        portability::features(&vk.entry, &instance.ash, &gpu, info, remove, &vk.unused, &mut lines)?;
    }
    portability::refuse(&lines, &gpu)?;
    if !vk.whole_table {
        vk.negotiation = lines;
    }
    // SAFETY: as above.
    let buffer_addresses = unsafe { portability::asks_for_buffer_addresses(info) };
    let mut core = vk::PhysicalDeviceFeatures::default();
    // SAFETY: as above.
    let statistics = unsafe {
        let instance = &vk.instances[&instance_id].ash;
        match vk.needs.statistics {
            true => super::statistics::add(&vk.entry, instance, &gpu, info, &mut core),
            false => Default::default(),
        }
    };
    let mut own = Vec::new();
    // SAFETY: as above.
    unsafe { super::features::turn_on(vk, (gpu_id, &gpu), info, &mut core, &mut own, &mut extensions) };
    let our_addresses = vk.needs.features.iter().any(|f| f.member == "bufferDeviceAddress");
    let pointers: Vec<*const c_char> = extensions.iter().map(|n| n.as_ptr()).collect();
    info.enabled_extension_count = pointers.len() as u32;
    info.pp_enabled_extension_names = pointers.as_ptr();
    #[allow(deprecated, reason = "old captures fill it in, and old loaders read it")]
    {
        info.enabled_layer_count = 0;
        info.pp_enabled_layer_names = std::ptr::null();
    }
    super::require_handles(objects, call, &[])?;
    let outcome = vk.raw(call, linked, report)?;
    if outcome.result() < 0 {
        return Ok(outcome);
    }
    let to = call.image.target(param!("vkCreateDevice", "pDevice"));
    let to = to.ok_or_else(|| Error::divergence("the capture has no id for the new device"))?;
    let live = vk::Device::from_raw(linked.word_at(to));
    // SAFETY: a live device just made by this instance.
    let ash = unsafe { ash::Device::load(vk.instances[&instance_id].ash.fp_v1_0(), live) };
    let id = call.image.u64(to);
    let mode = choose_mode(&vk.options, &vk.prologue, gpu_id, &gpu);
    vk.memory_mode = Some(mode);
    vk.last_gpu = Some(gpu.name());
    vk.memory.mode = mode;
    let instance_live = vk.instances[&instance_id].ash.handle().as_raw();
    vk.table.reset(instance_live, vk.devices.is_empty().then(|| live.as_raw()));
    let extensions: Vec<String> = extensions.iter().map(|e| e.to_string_lossy().into_owned()).collect();
    let clocks = super::Clocks::new(&vk.instances[&instance_id].ash, &ash, &extensions);
    let get_address =
        [c"vkGetBufferDeviceAddress", c"vkGetBufferDeviceAddressKHR", c"vkGetBufferDeviceAddressEXT"]
            .into_iter()
            .filter(|_| buffer_addresses || our_addresses)
            // SAFETY: a live device and a C string; all three names have the same type.
            .find_map(|n| unsafe {
                let f = vk.instances[&instance_id].ash.get_device_proc_addr(live, n.as_ptr());
                std::mem::transmute::<vk::PFN_vkVoidFunction, Option<vk::PFN_vkGetBufferDeviceAddress>>(f)
            });
    let state = DeviceState {
        id,
        ash,
        get_address,
        gpu,
        gpu_id,
        instance_id,
        folding,
        buffer_addresses,
        extensions,
        statistics,
        clocks,
        upload: None,
        pool: memory::Pool::default(),
        spare: super::ray::Spare::new(vk.options.looped.is_some()),
        queues: Vec::new(),
        watchdog_ns: vk.options.watchdog_ns(),
        zero_memory: vk.options.zero_memory,
        unfilled: 0,
    };
    if state.runs_on_host() {
        super::driver::is_software();
    }
    if state.folding.changed {
        // Which family a command buffer is for says which half of a transfer of ownership it records.
        objects.follow_to(world::Depth::Commands);
        vk.differs = true;
    }
    if !vk.stand_ins.is_empty() {
        // What is uploaded is decoded when it is known what it is.
        objects.follow_to(world::Depth::Execution);
        vk.differs = true;
    }
    if !vk.realigned.is_empty() {
        // What sets contain says where dynamic offsets lead.
        objects.follow_to(world::Depth::Commands);
    }
    vk.devices.insert(id, state);
    vk.devices_made += 1;
    super::exact::device_made(vk, id, exact);
    Ok(outcome)
}

/// vkDestroyDevice: our own objects on it go first.
pub fn destroy(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, objects, call, linked, report } = c;
    let id = call.image.u64(0);
    if id == 0 {
        return Ok(Outcome::captured(call));
    }
    release(vk, objects, id)?;
    vk.device(id)?.tell_unfilled(report);
    let (instance, device) = vk.table.source();
    let outcome = vk.raw(call, linked, report)?;
    if let Some(d) = vk.devices.remove(&id)
        && (device == Some(d.ash.handle().as_raw()) || vk.devices.len() == 1)
    {
        let only = vk.devices.values().next().filter(|_| vk.devices.len() == 1);
        vk.table.reset(instance, only.map(|d| d.ash.handle().as_raw()));
    }
    Ok(outcome)
}

/// Destroys what we made on a device: virtual swapchains' images, uploads, memory.
pub(super) fn release(vk: &mut Vulkan, objects: &mut Objects, id: u64) -> Result<()> {
    super::swapchain::settle(vk)?;
    vk.device(id)?.wait_idle()?;
    vk.watch.idle(id, None);
    super::ray::device_gone(vk, id)?;
    super::portability::stand_ins::device_gone(vk, id);
    super::portability::descriptor_buffers::device_gone(vk, id);
    let chains: Vec<u64> = vk.swapchains.iter().filter(|s| s.1.device == id).map(|s| *s.0).collect();
    for c in chains {
        super::swapchain::release(vk, objects, c)?;
    }
    vk.queues.retain(|_, q| q.device != id);
    vk.images.retain(|_, i| i.device != id);
    vk.buffers.retain(|_, b| b.device != id);
    vk.memory.forget_device(id);
    if let Some(d) = vk.devices.get_mut(&id) {
        if let Some(u) = d.upload.take() {
            u.destroy(&d.ash);
        }
        d.pool.destroy(&d.ash);
    }
    Ok(())
}

/// vkGetDeviceQueue, vkGetDeviceQueue2.
pub fn get_queue(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    let v = View::call(&call.image);
    let info = v.one("pQueueInfo").unwrap_or(v);
    let captured = (info.u32("queueFamilyIndex").unwrap_or(0), info.u32("queueIndex").unwrap_or(0));
    let folding = vk.devices.get(&call.image.u64(0)).map(|d| &d.folding).filter(|f| f.changed);
    let (family, index) = folding.map_or(captured, |f| f.queue(captured));
    if folding.is_some() {
        let (members, plain) =
            ([("queueFamilyIndex", family), ("queueIndex", index), ("flags", 0)], info.name == v.name);
        for (name, value) in members {
            match info.definition(name) {
                Some((_, at)) if plain => linked.set_word_at(at, value.into()),
                Some((_, at)) => linked.set_u32_at(at, value),
                None => {}
            }
        }
    }
    let outcome = vk.raw(call, linked, report)?;
    let out = call.image.handles.iter().find(|h| h.out && h.ty == vk.types.queue);
    if let Some(h) = out {
        let (id, live) = (call.image.u64(h.at), vk::Queue::from_raw(linked.word_at(h.at)));
        let device = call.image.u64(0);
        vk.queues.insert(id, QueueState { id, device, family, live });
        if let Some(d) = vk.devices.get_mut(&device)
            && !d.queues.contains(&live)
        {
            d.queues.push(live);
        }
    }
    Ok(outcome)
}
