//! Addresses and shader-group handles exactly as captured, where the driver is the capture's own.
//!
//! The captureReplay features let a driver give an object the address, and a shader group the handle, that it had
//! before. The capture layer turns them on by itself where the driver has them, and writes what the driver must be told
//! into metadata blocks, each right before the call that makes the object: opaque addresses of buffers and memory
//! objects, addresses of acceleration structures, replay handles of shader groups. Here they are turned on at
//! vkCreateDevice (`features.rs`) and given back at the creation.
//!
//! An object that the driver refuses at its address is made again without, counted, and translated as everywhere else.
//! What the driver then answers is compared with the capture and counted. Where all are as captured, nothing is looked
//! up, copied or rewritten.
//!
//! Refuses: `rebind`, where memory objects are not those captured (by name, if the user insists); a device without the
//! features, likewise. Not given back: descriptors' capture-replay data (VK_EXT_descriptor_buffer); the run says so.

mod features;
mod state;

pub use state::{Counts, Exact};

use super::{DeviceState, Gpu, Vulkan};
use crate::error::{Error, Kind, Result};
use crate::link::Linked;
use crate::options::{AddressMode, MemoryMode};
use crate::report::Report;
use ash::vk;
use features::Features;
use gfxr_parse::ahead::Call;
use gfxr_parse::meta::Meta;
use gfxr_parse::{argument, param};
use world::Outcome;

/// A metadata block that says what to tell the driver; any other is left alone.
pub(crate) fn remember(vk: &mut Vulkan, meta: &Meta<'_>, report: &mut Report) {
    match meta {
        Meta::OpaqueAddress(m) => {
            vk.exact.addresses.insert(m.object, m.address);
        }
        Meta::ShaderGroups(m) => {
            vk.exact.groups.insert(m.pipeline, m.handles.to_vec());
        }
        Meta::OpaqueDescriptor(_) => {
            report.note("capture-replay data of descriptors was not given back to the driver");
        }
        _ => {}
    }
}

/// At vkCreateDevice: what is turned on in its chain.
///
/// # Safety
/// `info` is a linked VkDeviceCreateInfo.
pub(crate) unsafe fn negotiate(
    vk: &Vulkan,
    instance: &ash::Instance,
    gpu_id: u64,
    gpu: &Gpu,
    info: &mut vk::DeviceCreateInfo<'_>,
    memory: MemoryMode,
) -> Result<Features> {
    let wish = vk.options.addresses;
    let same = vk.prologue.gpus.get(&gpu_id).is_some_and(|then| gpu.is_same(then));
    let wanted = match wish {
        AddressMode::Translate | AddressMode::Known => false,
        AddressMode::Exact => true,
        AddressMode::Auto => same && memory != MemoryMode::Rebind,
    };
    // SAFETY: as the caller says.
    let asked = unsafe { features::asked(info) };
    if wanted && asked.any() {
        if memory == MemoryMode::Rebind {
            return Err(refused(
                "memory objects are not the captured ones",
                "with --memory none or remap, or ",
            ));
        }
        let here = features::here(&vk.entry, instance, gpu, asked);
        let on = asked.and(here);
        if wish == AddressMode::Exact && !on.buffers {
            return Err(refused(&format!("{} has no bufferDeviceAddressCaptureReplay", gpu.name()), ""));
        }
        // SAFETY: as the caller says.
        unsafe { features::set(info, on) };
        return Ok(on);
    }
    // SAFETY: as the caller says.
    unsafe { features::set(info, Features::default()) };
    Ok(Features::default())
}

#[cold]
fn refused(why: &str, instead: &str) -> Error {
    Error::new(
        Kind::Unsupported,
        format!("--addresses exact: {why}; replay {instead}with --addresses translate"),
    )
}

/// A device was made with these.
pub(crate) fn device_made(vk: &mut Vulkan, id: u64, on: Features) {
    vk.exact.devices.insert(id, on);
}

impl Vulkan {
    fn exact_on(&self, device: u64) -> Features {
        self.exact.devices.get(&device).copied().unwrap_or_default()
    }
    /// Nothing on this device has another address or handle than it had: nothing is to be translated.
    pub(crate) fn all_as_captured(&self, device: u64) -> bool {
        let on = self.exact_on(device);
        on.buffers && on.structures && self.addresses.nothing_moved() && self.ray.nothing_moved()
    }
    /// The mode in force.
    pub fn address_mode(&self) -> Option<AddressMode> {
        let any = self.exact.devices.values().any(|f| f.buffers);
        let mode = match self.options.addresses {
            _ if any => AddressMode::Exact,
            AddressMode::Known => AddressMode::Known,
            _ => AddressMode::Translate,
        };
        (!self.exact.devices.is_empty()).then_some(mode)
    }
}

/// The driver's answer to a question for an address.
pub(crate) fn compare(vk: &mut Vulkan, device: u64, captured: u64, live: u64) {
    if vk.exact_on(device).buffers {
        vk.exact.counts.addresses[usize::from(captured != live)] += 1;
    }
}

/// The driver's answer to a question for handles of shader groups, each of which has as many bytes.
pub(crate) fn compare_handles<'h>(
    vk: &mut Vulkan,
    device: u64,
    pairs: impl Iterator<Item = (&'h [u8], &'h [u8])>,
) {
    if vk.exact_on(device).groups {
        for (captured, live) in pairs {
            vk.exact.counts.handles[usize::from(captured != live)] += 1;
        }
    }
}

/// Calls, and once more with what `without` leaves out if the driver refuses the address or the handle.
fn twice(
    vk: &mut Vulkan,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
    without: impl FnOnce(&mut Linked),
) -> Result<Outcome> {
    let outcome = vk.raw(call, linked, report)?;
    if outcome.result() != vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS.as_raw() {
        return Ok(outcome);
    }
    vk.exact.counts.refused += 1;
    without(linked);
    vk.raw(call, linked, report)
}

/// vkCreateBuffer of the buffer with this captured id.
pub(crate) fn create_buffer(
    vk: &mut Vulkan,
    id: Option<u64>,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let on = vk.exact_on(call.image.u64(0)).buffers;
    let address = id.and_then(|id| vk.exact.addresses.remove(&id)).filter(|_| on);
    type Info = vk::BufferCreateInfo<'static>;
    const INFO: usize = argument!("vkCreateBuffer", "pCreateInfo");
    let missing = || Error::divergence("pCreateInfo is missing");
    let structs = [
        vk::StructureType::BUFFER_OPAQUE_CAPTURE_ADDRESS_CREATE_INFO,
        vk::StructureType::BUFFER_DEVICE_ADDRESS_CREATE_INFO_EXT,
    ];
    // The application's own, if it has any, says what the capture's says.
    let head = linked.param::<Info>(INFO).ok_or_else(missing)?.p_next;
    let was = linked.unchain(head, |s| structs.contains(&s));
    let info = linked.param_mut::<Info>(INFO).ok_or_else(missing)?;
    info.p_next = was;
    let Some(address) = address else {
        info.flags &= !vk::BufferCreateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY;
        return vk.raw(call, linked, report);
    };
    // The layer does the same at capture; the address of storage for structures is asked for by nobody but it.
    info.flags |= vk::BufferCreateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY;
    info.usage |= vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
    let mut opaque = vk::BufferOpaqueCaptureAddressCreateInfo::default().opaque_capture_address(address);
    if address != 0 {
        opaque.p_next = was;
        info.p_next = (&raw const opaque).cast();
    }
    twice(vk, call, linked, report, |linked| {
        if let Some(info) = linked.param_mut::<Info>(INFO) {
            info.p_next = was;
        }
    })
}

/// vkAllocateMemory of the memory object with this captured id.
pub(crate) fn allocate(
    vk: &mut Vulkan,
    id: u64,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let on = vk.exact_on(call.image.u64(0)).buffers;
    let address = vk.exact.addresses.remove(&id).filter(|_| on);
    type Info = vk::MemoryAllocateInfo<'static>;
    const INFO: usize = argument!("vkAllocateMemory", "pAllocateInfo");
    let missing = || Error::divergence("pAllocateInfo is missing");
    let ours = vk::StructureType::MEMORY_OPAQUE_CAPTURE_ADDRESS_ALLOCATE_INFO;
    let head = linked.param::<Info>(INFO).ok_or_else(missing)?.p_next;
    let was = linked.unchain(head, |s| s == ours);
    let replay = vk::MemoryAllocateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY;
    let flags = linked.in_chain::<vk::MemoryAllocateFlagsInfo<'_>>(was);
    let address = address.filter(|_| flags.is_some());
    if let Some(flags) = flags {
        // (the application may have given the flag itself)
        flags.flags = if address.is_some() { flags.flags | replay } else { flags.flags & !replay };
    }
    let mut opaque =
        vk::MemoryOpaqueCaptureAddressAllocateInfo::default().opaque_capture_address(address.unwrap_or(0));
    opaque.p_next = was;
    let info = linked.param_mut::<Info>(INFO).ok_or_else(missing)?;
    info.p_next = if address.is_some_and(|a| a != 0) { (&raw const opaque).cast() } else { was };
    if address.is_none() {
        return vk.raw(call, linked, report);
    }
    twice(vk, call, linked, report, |linked| {
        if let Some(info) = linked.param_mut::<Info>(INFO) {
            info.p_next = was;
        }
    })
}

/// vkCreateAccelerationStructureKHR; `moved`: it lies in a buffer of ours.
pub(crate) fn create_structure(
    vk: &mut Vulkan,
    id: Option<u64>,
    moved: bool,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let on = vk.exact_on(call.image.u64(0)).structures && !moved;
    let address = id.and_then(|id| vk.exact.addresses.remove(&id)).filter(|_| on);
    type Info = vk::AccelerationStructureCreateInfoKHR<'static>;
    const INFO: usize = argument!("vkCreateAccelerationStructureKHR", "pCreateInfo");
    if let Some(info) = linked.param_mut::<Info>(INFO) {
        let replay = vk::AccelerationStructureCreateFlagsKHR::DEVICE_ADDRESS_CAPTURE_REPLAY;
        info.create_flags.set_to(replay, address.is_some());
        info.device_address = address.unwrap_or(0);
    }
    twice(vk, call, linked, report, |linked| {
        if let Some(info) = linked.param_mut::<Info>(INFO) {
            info.device_address = 0;
        }
    })
}

trait SetTo {
    fn set_to(&mut self, bits: Self, on: bool);
}

impl SetTo for vk::AccelerationStructureCreateFlagsKHR {
    fn set_to(&mut self, bits: Self, on: bool) {
        *self = if on { *self | bits } else { *self & !bits };
    }
}

/// vkCreateRayTracingPipelinesKHR.
pub(crate) fn create_pipelines(
    vk: &mut Vulkan,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let device = call.image.u64(0);
    let size = match vk.devices.get(&device) {
        Some(d) if vk.exact_on(device).groups => replay_handle_bytes(vk, d),
        _ => 0,
    };
    let mut ids = call.image.u64s(param!("vkCreateRayTracingPipelinesKHR", "pPipelines"));
    let replay = vk::PipelineCreateFlags::RAY_TRACING_SHADER_GROUP_HANDLE_CAPTURE_REPLAY_KHR;
    const INFOS: usize = argument!("vkCreateRayTracingPipelinesKHR", "pCreateInfos");
    const COUNT: usize = argument!("vkCreateRayTracingPipelinesKHR", "createInfoCount");
    let infos = linked.params_mut::<vk::RayTracingPipelineCreateInfoKHR<'static>>(INFOS, COUNT);
    // The driver reads these while it is called.
    let mut given: Vec<Vec<u8>> = Vec::new();
    let mut groups = Vec::new();
    for info in infos.unwrap_or_default() {
        let long_enough = |h: &Vec<u8>| {
            size != 0 && size.checked_mul(info.group_count as usize).is_some_and(|n| h.len() >= n)
        };
        let id = ids.next().unwrap_or(0);
        let handles = vk.exact.groups.remove(&id).filter(long_enough);
        info.flags &= !replay;
        let Some(handles) = handles else { continue };
        info.flags |= replay;
        groups.push((info.p_groups, info.group_count));
        given.push(handles);
    }
    for ((at, n), handles) in groups.iter().zip(&given) {
        for (group, handle) in
            linked.all_mut(*at, *n).unwrap_or_default().iter_mut().zip(handles.chunks(size))
        {
            group.p_shader_group_capture_replay_handle = handle.as_ptr().cast();
        }
    }
    let outcome = twice(vk, call, linked, report, |linked| {
        for (at, n) in &groups {
            for group in linked.all_mut(*at, *n).unwrap_or_default() {
                group.p_shader_group_capture_replay_handle = std::ptr::null();
            }
        }
    });
    drop(given);
    outcome
}

fn replay_handle_bytes(vk: &Vulkan, d: &DeviceState) -> usize {
    let Some(instance) = vk.instances.get(&d.instance_id) else { return 0 };
    let mut pipeline = vk::PhysicalDeviceRayTracingPipelinePropertiesKHR::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut pipeline);
    let query = ash::khr::get_physical_device_properties2::Instance::new(&vk.entry, &instance.ash);
    // SAFETY: a chain of known structs.
    unsafe { query.get_physical_device_properties2(d.gpu.handle, &mut all) };
    pipeline.shader_group_handle_capture_replay_size as usize
}
