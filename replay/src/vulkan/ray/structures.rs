//! Acceleration structures as objects: how large they are made here, and how one is made anew where the snapshot of a
//! trimmed capture shows too late what it needs.
//!
//! A structure that this device wants larger than the application made it lives in a buffer of ours; everything that
//! names it (handles, references in instances, shader binding tables) is translated anyway. Its size is known when it
//! is made from what sizes the application asked for; where it asked nobody (a snapshot), when it is built.

use super::queries;
use crate::error::{Error, Kind, Result, Vk};
use crate::objects::Objects;
use crate::vulkan::addresses::Gone;
use crate::vulkan::arguments::new_object;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::ray::recording::loader;
use crate::vulkan::ray::spare::Own;
use crate::vulkan::ray::state::Structure;
use crate::vulkan::{Vulkan, exact};
use ash::vk::{self, Handle};
use gfxr_parse::{argument, member, param};
use world::Outcome;

/// vkGetAccelerationStructureBuildSizesKHR: what the captured driver wanted and what this one wants.
pub fn build_sizes(c: &mut LinkedCall<'_>, _: Outcome) -> Result<()> {
    let LinkedCall { vk, call, linked, .. } = c;
    if let Some(to) = call.image.target(param!("vkGetAccelerationStructureBuildSizesKHR", "pSizeInfo")) {
        let at = to + member!("VkAccelerationStructureBuildSizesInfoKHR", "accelerationStructureSize");
        let (then, now) = (call.image.u64(at), linked.word_at(at));
        let now = vk.options.rehearse.made(now);
        vk.ray.sizes.learn(then, now);
    }
    Ok(())
}

/// vkCreateAccelerationStructureKHR.
pub fn create(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    const INFO: usize = argument!("vkCreateAccelerationStructureKHR", "pCreateInfo");
    let Some(info) = linked.param_mut::<vk::AccelerationStructureCreateInfoKHR<'_>>(INFO) else {
        return Err(Error::divergence("pCreateInfo is missing"));
    };
    let device = call.image.u64(0);
    let captured = info.size;
    let wanted = match vk.ray.sizes.wanted(captured) {
        Some(wanted) => wanted,
        // In a snapshot nobody has asked yet.
        None if call.in_state => captured,
        None => queries::bound(vk, device, captured)?.max(captured),
    };
    let mut own = None;
    if wanted > captured {
        let larger = Own::structure(vk.device_mut(device)?, wanted)?;
        (info.buffer, info.offset, info.size) = (larger.buffer(), 0, wanted);
        own = Some(larger);
        report.note("acceleration structures moved to larger buffers");
    }
    let (kind, size) = (info.ty, info.size);
    let id = new_object(call).ok().map(|(id, _)| id);
    let outcome = exact::create_structure(vk, id, own.is_some(), call, linked, report)?;
    if outcome.result() >= 0
        && let Ok((id, at)) = new_object(call)
    {
        let live = vk::AccelerationStructureKHR::from_raw(linked.word_at(at));
        vk.ray.by_live.insert(live.as_raw(), id);
        let info = call.image.target(call.command.params[INFO].at);
        let storage =
            info.map(|to| call.image.u64(to + member!("VkAccelerationStructureCreateInfoKHR", "buffer")));
        let whole = |b: &u64| vk.buffers.get(b).is_some_and(|b| b.size < captured.saturating_add(512));
        let storage = storage.filter(whole);
        let structure =
            Structure { id, device, live, kind, captured, size, address: 0, filled: false, storage, own };
        vk.ray.structures.insert(id, structure);
    }
    Ok(outcome)
}

/// vkDestroyAccelerationStructureKHR.
pub fn destroy(c: &mut LinkedCall<'_>) -> Result<Outcome> {
    let LinkedCall { vk, call, linked, report, .. } = c;
    let id = call.image.u64(param!("vkDestroyAccelerationStructureKHR", "accelerationStructure"));
    if keeps(vk, id, call.in_state) {
        return Ok(Outcome::captured(call));
    }
    let outcome = vk.raw(call, linked, report)?;
    if let Some(s) = vk.ray.structures.remove(&id) {
        vk.ray.by_live.remove(&s.live.as_raw());
        if s.address != 0
            && let Some(live) = vk.ray.references.remove(&s.address)
        {
            let (captured, size) = (s.address, s.size);
            vk.addresses.forget(Gone { id, structure: true, captured, live, size, block: call.block });
        }
        if let Some(own) = s.own {
            own.destroy(&vk.device(s.device)?.ash);
        }
    }
    Ok(outcome)
}

/// vkGetAccelerationStructureDeviceAddressKHR.
pub fn address(c: &mut LinkedCall<'_>, outcome: Outcome) -> Result<()> {
    let LinkedCall { vk, call, .. } = c;
    let captured = call.image.u64(call.image.ret_at());
    vk.ray.references.insert(captured, outcome.ret);
    vk.ray.moved |= captured != outcome.ret;
    exact::compare(vk, call.image.u64(0), captured, outcome.ret);
    let structure = member!("VkAccelerationStructureDeviceAddressInfoKHR", "accelerationStructure");
    if let Some(info) = call.image.target(param!("vkGetAccelerationStructureDeviceAddressKHR", "pInfo"))
        && let Some(s) = vk.ray.structures.get_mut(&call.image.u64(info + structure))
    {
        s.address = captured;
    }
    vk.addresses.changed = true;
    Ok(())
}

/// A snapshot will make a structure with this captured address: words of that value are no pointers.
pub(crate) fn foresee(vk: &mut Vulkan, captured: u64) {
    vk.ray.references.entry(captured).or_insert(captured);
}

/// A structure must have room for `need` bytes. In a snapshot it is made anew if it has not: nothing but ids and
/// addresses name it yet, and both are ours. Later that would be too late for descriptors.
pub(super) fn ensure(
    vk: &mut Vulkan,
    objects: Option<&mut Objects>,
    live: vk::AccelerationStructureKHR,
    need: u64,
    what: &str,
) -> Result<vk::AccelerationStructureKHR> {
    let Some(id) = vk.ray.by_live.get(&live.as_raw()).copied() else { return Ok(live) };
    let s = &vk.ray.structures[&id];
    if s.size >= need {
        return Ok(live);
    }
    let Some(objects) = objects else {
        return Err(Error::new(
            Kind::Unsupported,
            format!(
                "{what} VkAccelerationStructureKHR {id} takes {need} bytes on this device, it was made of {} \
                 ({} at capture): its size was not one that the capture had asked for",
                s.size, s.captured
            ),
        ));
    };
    renew(vk, objects, id, need)
}

/// Makes a structure anew, empty and with room for `need` bytes, under the same id.
pub(super) fn renew(
    vk: &mut Vulkan,
    objects: &mut Objects,
    id: u64,
    need: u64,
) -> Result<vk::AccelerationStructureKHR> {
    let device = vk.ray.structures[&id].device;
    let loader = loader(vk, device)?;
    let own = Own::structure(vk.device_mut(device)?, need)?;
    let s = vk.ray.structures.get_mut(&id).expect("looked up before");
    let info = vk::AccelerationStructureCreateInfoKHR::default().buffer(own.buffer()).size(need).ty(s.kind);
    // SAFETY: a buffer of that size and use; the old structure is idle, as everything is while a snapshot is loaded.
    let (live, at) = unsafe {
        let live = loader.create_acceleration_structure(&info, None);
        let live = live.what("vkCreateAccelerationStructureKHR")?;
        loader.destroy_acceleration_structure(s.live, None);
        let about = vk::AccelerationStructureDeviceAddressInfoKHR::default().acceleration_structure(live);
        (live, loader.get_acceleration_structure_device_address(&about))
    };
    vk.ray.by_live.remove(&s.live.as_raw());
    vk.ray.by_live.insert(live.as_raw(), id);
    (s.live, s.size) = (live, need);
    let (before, address) = (s.own.replace(own), s.address);
    if address != 0 {
        vk.ray.references.insert(address, at);
        vk.ray.moved |= address != at;
        vk.addresses.changed = true;
    }
    let ty = objects.any(id).map(|e| e.ty);
    objects.insert(id, live.as_raw(), ty.ok_or_else(|| Error::divergence("the structure is gone"))?);
    if let Some(before) = before {
        before.destroy(&vk.device(device)?.ash);
    }
    Ok(live)
}

/// Something is built or copied into it.
pub(super) fn filled(vk: &mut Vulkan, live: vk::AccelerationStructureKHR) {
    if let Some(id) = vk.ray.by_live.get(&live.as_raw())
        && let Some(s) = vk.ray.structures.get_mut(id)
    {
        s.filled = true;
    }
}

impl Structure {
    /// One that a test has made itself, and filled.
    #[cfg(test)]
    pub fn bare(
        device: u64,
        live: vk::AccelerationStructureKHR,
        kind: vk::AccelerationStructureTypeKHR,
        size: u64,
    ) -> Self {
        Structure {
            id: 0,
            device,
            live,
            kind,
            captured: size,
            size,
            address: 0,
            filled: true,
            storage: None,
            own: None,
        }
    }
    /// Destroys it, which the application has done already, and what it lives in if that is ours.
    pub(super) fn destroy(self, vk: &Vulkan) -> Result<()> {
        let loader = loader(vk, self.device)?;
        // SAFETY: nothing uses it any more.
        unsafe { loader.destroy_acceleration_structure(self.live, None) };
        if let Some(own) = self.own {
            own.destroy(&vk.device(self.device)?.ash);
        }
        Ok(())
    }
}

/// What we made for structures of a device that is about to go.
pub(super) fn forget(vk: &mut Vulkan, device: u64) -> Result<()> {
    let all = std::mem::take(&mut vk.ray.structures);
    let (gone, kept) = all.into_iter().partition(|(_, s)| s.device == device);
    vk.ray.structures = kept;
    let gone: std::collections::HashMap<u64, Structure> = gone;
    for s in gone.into_values() {
        vk.ray.by_live.remove(&s.live.as_raw());
        if let Some(own) = s.own {
            own.destroy(&vk.device(device)?.ash);
        }
    }
    Ok(())
}

/// A structure goes. True: it is a temporary one of a snapshot, and is kept until its copy is made.
fn keeps(vk: &mut Vulkan, id: u64, in_state: bool) -> bool {
    let bottom = |s: &Structure| s.kind != vk::AccelerationStructureTypeKHR::TOP_LEVEL;
    let original = |s: &Structure| in_state && s.filled && s.address == 0 && bottom(s);
    if !vk.ray.structures.get(&id).is_some_and(original) {
        return false;
    }
    if let Some(s) = vk.ray.structures.remove(&id) {
        vk.ray.by_live.remove(&s.live.as_raw());
        vk.ray.snapshot.originals.push(s);
    }
    true
}
