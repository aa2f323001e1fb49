//! `rebind`: each resource has memory of its own; captured memory objects are shadows.
//!
//! Resources that alias each other at any time (`preflight/sharing.rs` knows that ahead) get one piece of memory for all of them,
//! laid out as it was. One that cannot lie there (it is larger here and would reach into its neighbour, wants another
//! memory type, alignment, or an allocation of its own) has memory of its own, and the run says so in its notes. An
//! allocation of its own gets also what the capture gave one, and what the driver prefers to. Rows of linear images:
//! `rows.rs`.

use super::place::{Needs, needs, newer};
use super::pool::{Alloc, AllocKind, Only};
use super::rows;
use crate::error::{Error, Kind, Result, Vk};
use crate::preflight::sharing::Group;
use crate::report::Report;
use crate::vulkan::Vulkan;
use crate::vulkan::memory::state::{Arena, Bound, host_parts};
use ash::vk;
use world::span::{common, extent};

/// Whether a resource gets an allocation of its own: always where it must, else where the driver would like it or the
/// capture had it, if it shares its memory with no other and there may be more allocations.
fn alone(need: &Needs, captured: bool, shares: bool, made: usize, most: u32) -> bool {
    let room = made < most as usize / 2;
    need.requires_own || (!shares && room && (need.prefers_own || captured))
}

/// Where a group's memory begins in the captured object, and what it must be, if one of its resources needs this.
fn arena(
    group: &Group,
    need: &vk::MemoryRequirements,
    offset: u64,
    granularity: u64,
) -> (u64, vk::MemoryRequirements) {
    let extent = group.to.saturating_sub(group.from);
    // Other drivers align images more; large groups can afford to please them.
    let spare = extent.clamp(256, 1 << 16).next_power_of_two();
    let alignment = need.alignment.max(granularity).max(spare);
    // A group that ends beyond all memory is one that no allocation can hold: it is refused as such.
    let base = group.from / alignment * alignment;
    // An image at the end may take more than it took.
    let slack = if group.images { extent / 2 } else { 0 };
    let end = group.to.saturating_add(slack).max(offset.saturating_add(need.size));
    let size = end.saturating_sub(base);
    let size = size.checked_next_multiple_of(alignment).unwrap_or(size);
    (base, vk::MemoryRequirements { size, alignment, memory_type_bits: need.memory_type_bits })
}

/// Gives a resource its memory.
pub fn bind(
    vk: &mut Vulkan,
    device: u64,
    resource: u64,
    is_image: bool,
    memory: u64,
    offset: u64,
    report: &mut Report,
) -> Result<()> {
    let missing = || Error::divergence(format!("resource {resource} was never created"));
    let gone = || Error::divergence(format!("VkDevice {device} is gone"));
    let newer = newer(vk, vk.devices.get(&device).ok_or_else(gone)?);
    let Some(m) = vk.memory.by_id.get_mut(&memory) else {
        return Err(Error::divergence(format!("VkDeviceMemory {memory} was never allocated")));
    };
    let d = vk.devices.get_mut(&device).ok_or_else(gone)?;
    let (what, linear, addresses, device_only) = if is_image {
        let i = vk.images.get(&resource).ok_or_else(missing)?;
        (Only::Image(i.live), i.tiling == vk::ImageTiling::LINEAR, false, false)
    } else {
        let b = vk.buffers.get(&resource).ok_or_else(missing)?;
        let is = |usage| b.usage.contains(usage);
        let structures = is(vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR);
        (Only::Buffer(b.live), true, is(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS), structures)
    };
    let mut need = needs(d, what, newer);
    let size = match what {
        Only::Image(_) => need.memory.size,
        Only::Buffer(_) => vk.buffers.get(&resource).map_or(0, |b| b.size),
    };
    let visible = match m.flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE) {
        true => vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT,
        false => vk::MemoryPropertyFlags::empty(),
    };
    // An optimal image is never written through a mapping.
    let must = if linear { visible } else { vk::MemoryPropertyFlags::empty() };
    let like = m.flags & (vk::MemoryPropertyFlags::DEVICE_LOCAL | vk::MemoryPropertyFlags::HOST_CACHED);
    let limits = &d.gpu.properties.limits;
    // (what is one resource's alone cannot be filled before that is bound)
    let most = if d.zero_memory { 0 } else { limits.max_memory_allocation_count };
    let place = vk.sharing.of(resource);
    let own = alone(&need, m.dedicated, place.is_some(), d.pool.dedicated_allocations(), most);
    let mut shared = None;
    if let Some((place, group)) = place.filter(|(p, _)| !own && size <= p.room) {
        if !m.arenas.iter().any(|a| a.group == place.group) {
            let (base, all) = arena(&group, &need.memory, offset, limits.buffer_image_granularity);
            let kind = if group.images { AllocKind::Optimal } else { AllocKind::Linear };
            let with = addresses || group.addresses;
            let mut get = |must| d.alloc(all, (must, like), kind, with);
            let alloc = if must == visible {
                get(must)?
            } else {
                match get(visible) {
                    Err(e) if !e.is_gone() => get(must)?,
                    got => got?,
                }
            };
            m.arenas.push(Arena { group: place.group, base, alloc });
        }
        let a = m.arenas.iter().find(|a| a.group == place.group).expect("made above");
        shared = offset
            .checked_sub(a.base)
            .and_then(|at| a.alloc.part(at, need.memory, !must.is_empty(), addresses));
    }
    if place.is_some() {
        report.note(match shared {
            Some(_) => "resources that shared memory at capture share it here",
            None => "resources that shared memory at capture have memory of their own (rebind): aliased contents are not shared",
        });
    }
    let is_shared = shared.is_some();
    if addresses {
        // The application rounded addresses up, to as much as a serialised acceleration structure wants.
        need.memory.alignment = need.memory.alignment.max(256);
    }
    let kind = if linear { AllocKind::Linear } else { AllocKind::Optimal };
    let alloc = match shared {
        Some(part) => part,
        None if own => d.dedicated(need.memory, (must, like), what, addresses)?,
        None => d.alloc(need.memory, (must, like), kind, addresses)?,
    };
    // SAFETY: the device and the resource are alive, the resource is not bound yet, and the memory comes from a type its
    // requirements allow.
    unsafe {
        match what {
            Only::Image(i) => {
                d.ash.bind_image_memory(i, alloc.memory(), alloc.offset()).what("vkBindImageMemory")
            }
            Only::Buffer(b) => {
                d.ash.bind_buffer_memory(b, alloc.memory(), alloc.offset()).what("vkBindBufferMemory")
            }
        }?;
    }
    if let Some(i) = vk.images.get_mut(&resource).filter(|_| is_image) {
        i.alloc = Some(alloc);
    } else if let Some(b) = vk.buffers.get_mut(&resource) {
        b.alloc = Some(alloc);
    }
    if device_only {
        return Ok(());
    }
    // What was written before there was anything here; what lies in shared memory has it already.
    let Some(m) = vk.memory.by_id.get(&memory) else { return Ok(()) };
    let there: Vec<Bound> = match is_shared {
        true => m.bound.iter().map(|b| Bound { device_only: true, ..*b }).collect(),
        false => Vec::new(),
    };
    let new = Bound { resource, image: is_image, device_only, offset, size };
    for (at, data) in &m.pending {
        for (at, part) in host_parts(&there, *at, data) {
            write(vk, &new, at, part);
        }
    }
    Ok(())
}

/// Gives an image whose planes are bound apart memory for each. `planes`: their aspects.
pub fn bind_planes(vk: &mut Vulkan, device: u64, image: u64, planes: &[u32]) -> Result<()> {
    let missing = || Error::divergence(format!("resource {image} was never created"));
    let state = vk.images.get(&image).ok_or_else(missing)?;
    let (live, tiling) = (state.live, state.tiling);
    if !state.planes.is_empty() {
        return Err(Error::divergence(format!("VkImage {image} is bound to memory already")));
    }
    let gone = || Error::divergence(format!("VkDevice {device} is gone"));
    let newer = newer(vk, vk.devices.get(&device).ok_or_else(gone)?);
    if tiling == vk::ImageTiling::LINEAR || !newer {
        return Err(Error::new(
            Kind::Unsupported,
            format!("VkImage {image} is linear and bound plane by plane; --memory rebind cannot"),
        ));
    }
    let d = vk.device_mut(device)?;
    let flags = vk::MemoryPropertyFlags::empty();
    let mut allocs = Vec::new();
    for plane in planes {
        let aspect = vk::ImageAspectFlags::from_raw(*plane);
        let mut plane = vk::ImagePlaneMemoryRequirementsInfo::default().plane_aspect(aspect);
        let info = vk::ImageMemoryRequirementsInfo2::default().image(live).push_next(&mut plane);
        let mut need = vk::MemoryRequirements2::default();
        // SAFETY: both are alive, and the device has Vulkan 1.1.
        unsafe { d.ash.get_image_memory_requirements2(&info, &mut need) };
        let like = (flags, vk::MemoryPropertyFlags::DEVICE_LOCAL);
        let need = need.memory_requirements;
        allocs.push((aspect, d.alloc(need, like, AllocKind::Optimal, false)?));
    }
    let plane = |a: &(vk::ImageAspectFlags, Alloc)| vk::BindImagePlaneMemoryInfo::default().plane_aspect(a.0);
    let mut chains: Vec<_> = allocs.iter().map(plane).collect();
    let infos: Vec<_> = allocs
        .iter()
        .zip(&mut chains)
        .map(|((_, alloc), chain)| {
            let info = vk::BindImageMemoryInfo::default().image(live).memory(alloc.memory());
            info.memory_offset(alloc.offset()).push_next(chain)
        })
        .collect();
    // SAFETY: as above; the image is not bound yet, and each plane's memory is as its requirements say.
    unsafe { d.ash.bind_image_memory2(&infos) }.what("vkBindImageMemory2")?;
    if let Some(i) = vk.images.get_mut(&image) {
        i.planes = allocs.into_iter().map(|a| a.1).collect();
    }
    Ok(())
}

/// Writes `data` to wherever resources lie in `[at, at + len)` of a shadow.
pub fn fill(vk: &mut Vulkan, memory: u64, at: u64, data: &[u8]) -> Result<()> {
    let Some(m) = vk.memory.by_id.get_mut(&memory) else { return Ok(()) };
    let all = extent(at, data.len() as u64);
    let end = all.end;
    let (mut covered, mut to) = (0u64, Vec::new());
    for b in &m.bound {
        let Some(there) = common(&b.extent(), &all) else { continue };
        covered = covered.saturating_add(there.end - there.start);
        if b.device_only {
            continue;
        }
        to.push(*b);
    }
    if covered < data.len() as u64 {
        // A later binding may want it; an equal range replaces the one before.
        m.pending.retain(|(a, d)| *a < at || extent(*a, d.len() as u64).end > end);
        m.pending.push((at, data.to_vec()));
    }
    to.iter().for_each(|b| write(vk, b, at, data));
    Ok(())
}

/// Writes what of `data` (which begins at `at` of the captured memory) lies in a resource.
fn write(vk: &Vulkan, to: &Bound, at: u64, data: &[u8]) {
    if to.image {
        let Some(image) = vk.images.get(&to.resource) else { return };
        let Some(alloc) = &image.alloc else { return };
        if image.rows.is_empty() {
            return copy_overlap(alloc, to.offset, to.size, at, data);
        }
        for (here, part) in rows::rewrite(&image.rows, to.offset, at, data) {
            alloc.write(here, part);
        }
    } else if let Some(alloc) = vk.buffers.get(&to.resource).and_then(|b| b.alloc.as_ref()) {
        copy_overlap(alloc, to.offset, to.size, at, data);
    }
}

/// Copies the part of `data` (which begins at `at`) that lies in `[offset, offset + size)`.
fn copy_overlap(alloc: &Alloc, offset: u64, size: u64, at: u64, data: &[u8]) {
    if let Some(c) = common(&extent(at, data.len() as u64), &extent(offset, size)) {
        alloc.write(c.start - offset, &data[(c.start - at) as usize..(c.end - at) as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(size: u64, alignment: u64) -> vk::MemoryRequirements {
        vk::MemoryRequirements { size, alignment, memory_type_bits: 5 }
    }

    #[test]
    fn shared_memory_is_as_large_as_all_of_it() {
        let group = Group { from: 1000, to: 4000, images: false, addresses: false };
        let (base, all) = arena(&group, &need(50, 16), 3960, 1);
        assert_eq!((base, all.size, all.alignment, all.memory_type_bits), (0, 4096, 4096, 5));
        let (base, all) = arena(&group, &need(5000, 16), 1000, 512);
        assert_eq!((base, all.size), (0, 8192), "this one takes more here");
        let far = Group { from: 1 << 20, to: (1 << 20) + 100_000, images: true, addresses: false };
        let (base, all) = arena(&far, &need(50, 1 << 17), 1 << 20, 1 << 10);
        assert_eq!(
            (base, all.size, all.alignment),
            (1 << 20, 1 << 18, 1 << 17),
            "and half as much behind images"
        );
    }

    #[test]
    fn groups_at_the_end_of_all_numbers_are_no_smaller_for_it() {
        let far = Group { from: u64::MAX - 100, to: u64::MAX, images: true, addresses: false };
        let (base, all) = arena(&far, &need(u64::MAX, 16), u64::MAX - 50, 1);
        assert!(base <= far.from && all.size >= far.to - base, "{base} {all:?}");
        let backwards = Group { from: 4096, to: 0, images: false, addresses: false };
        assert_eq!(arena(&backwards, &need(64, 16), 0, 1).1.size, 0, "nothing lies there");
    }

    #[test]
    fn who_has_an_allocation_alone() {
        let n = |requires_own, prefers_own| Needs { memory: need(1, 1), requires_own, prefers_own };
        assert!(!alone(&n(false, false), false, false, 0, 100));
        assert!(alone(&n(false, false), true, false, 0, 100), "the capture did");
        assert!(alone(&n(false, true), false, false, 0, 100), "the driver would like it");
        assert!(!alone(&n(false, true), true, true, 0, 100), "but it shares");
        assert!(!alone(&n(false, true), true, false, 50, 100), "but there are many");
        assert!(alone(&n(true, true), false, true, 99, 100), "the driver insists");
    }
}
