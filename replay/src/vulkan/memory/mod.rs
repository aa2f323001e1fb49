//! Memory: captured memory objects and what they are here.
//!
//! `none` and `remap` pass memory through, the latter with the type index translated. `rebind` gives each resource
//! memory of its own; the captured memory object becomes a shadow that knows which resources lie where in it, so that
//! a fill finds them. Refuses in `rebind`: disjoint planes (by name).

mod coherent;
mod mapped;
mod pool;
mod rebind;
mod rows;

pub(crate) use mapped::Mapped;
pub use pool::Pool;
pub(crate) use pool::best_type as pool_best_type;
pub(crate) use pool::{Alloc, AllocKind};
pub(crate) use rows::Rows;
pub use rows::subresource_layout;

use super::{Gpu, Prologue, Vulkan, require_handles};
use crate::error::{Error, Kind, Result};
use crate::link::Linked;
use crate::objects::Objects;
use crate::options::{MemoryMode, Options};
use crate::report::Report;
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use gfxr_parse::view::View;
use world::Ids;
use world::Outcome;
use world::span::{Span, common, extent};

/// All captured memory objects.
#[derive(Default)]
pub struct Memories {
    /// The mode in force.
    pub mode: MemoryMode,
    pub(crate) by_id: Ids<MemoryState>,
}

/// A captured memory object.
#[derive(Default)]
pub(crate) struct MemoryState {
    pub device: u64,
    pub size: u64,
    /// Property flags of the captured memory type (or of the live one where the capture does not say).
    pub flags: vk::MemoryPropertyFlags,
    /// Live, unless it is a shadow.
    pub live: vk::DeviceMemory,
    /// Offset the application mapped at, and what is mapped, in whole atoms (nothing of a shadow).
    pub mapped: Option<(u64, Mapped)>,
    /// The live memory type is not coherent: our writes must be flushed.
    pub flush: bool,
    /// Resources bound to it.
    pub bound: Vec<Bound>,
    /// Shadows: the capture gave it to one resource alone.
    pub dedicated: bool,
    /// Shadows: memory that resources share here as they did there.
    pub arenas: Vec<rebind::Arena>,
    /// Shadows: what was written before anything was bound there.
    pub pending: Vec<(u64, Vec<u8>)>,
}

impl MemoryState {
    /// First byte of the live mapping and the one behind its last, in whole atoms.
    fn mapping(&self) -> (u64, u64) {
        self.mapped.as_ref().map_or((0, 0), |(_, m)| m.range())
    }
}

/// A resource in a captured memory object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub resource: u64,
    pub image: bool,
    /// Holds acceleration structures: only the device writes it. A fill that reaches into it does so because it covers
    /// whole pages, and would put captured addresses where live ones must be.
    pub device_only: bool,
    pub offset: u64,
    pub size: u64,
}

impl Bound {
    /// The bytes of the memory object that it takes.
    pub fn extent(&self) -> std::ops::Range<u64> {
        extent(self.offset, self.size)
    }
}

impl Memories {
    /// A device is gone.
    pub fn forget_device(&mut self, device: u64) {
        self.by_id.retain(|_, m| m.device != device);
    }
    /// A resource is gone.
    pub fn unbind(&mut self, memory: u64, resource: u64) {
        if let Some(m) = self.by_id.get_mut(&memory) {
            m.bound.retain(|b| b.resource != resource);
        }
    }
}

/// The mode for a device: the user's, else by comparing what was captured with what is here.
pub fn choose_mode(options: &Options, prologue: &Prologue, gpu_id: u64, gpu: &Gpu) -> MemoryMode {
    if options.memory != MemoryMode::Auto {
        return options.memory;
    }
    let types_equal = prologue.memory.get(&gpu_id).is_none_or(|then| {
        let now = &gpu.memory.memory_types[..gpu.memory.memory_type_count as usize];
        then.len() == now.len() && then.iter().zip(now).all(|(a, b)| *a == b.property_flags.as_raw())
    });
    match prologue.gpus.get(&gpu_id) {
        Some(then) if gpu.is_same(then) && types_equal => MemoryMode::None,
        Some(then) if gpu.is_same(then) => MemoryMode::Remap,
        Some(_) => MemoryMode::Rebind,
        None if types_equal => MemoryMode::None,
        None => MemoryMode::Rebind,
    }
}

/// Import and export structs that name things of the captured process.
fn foreign(s: vk::StructureType) -> bool {
    use vk::StructureType as S;
    matches!(
        s,
        S::IMPORT_MEMORY_FD_INFO_KHR
            | S::IMPORT_MEMORY_HOST_POINTER_INFO_EXT
            | S::IMPORT_MEMORY_WIN32_HANDLE_INFO_KHR
            | S::IMPORT_ANDROID_HARDWARE_BUFFER_INFO_ANDROID
            | S::EXPORT_MEMORY_WIN32_HANDLE_INFO_KHR
            | S::EXPORT_MEMORY_ALLOCATE_INFO
    )
}

/// The flags of a captured memory type.
fn captured_flags(vk: &Vulkan, device: u64, index: u32) -> Option<vk::MemoryPropertyFlags> {
    let gpu = vk.devices.get(&device)?.gpu_id;
    vk.prologue.memory.get(&gpu)?.get(index as usize).map(|f| vk::MemoryPropertyFlags::from_raw(*f))
}

/// vkAllocateMemory.
pub fn allocate(
    vk: &mut Vulkan,
    objects: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let device = call.image.u64(0);
    let id_at = call.image.target(call.command.params[3].at);
    let id = id_at.map_or(0, |at| call.image.u64(at));
    let Some(mut info) = linked.param::<vk::MemoryAllocateInfo<'static>>(1).copied() else {
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
    info.p_next = linked.unchain(info.p_next, foreign);
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
    if let Some(to) = linked.param_mut::<vk::MemoryAllocateInfo<'static>>(1) {
        *to = info;
    }
    let outcome = super::exact::allocate(vk, id, call, linked, report)?;
    if outcome.result() >= 0
        && let Some(at) = id_at
    {
        let flush = coherent::wants_flush(here)
            && captured.is_some_and(|c| c.contains(vk::MemoryPropertyFlags::HOST_COHERENT));
        let live = vk::DeviceMemory::from_raw(linked.word_at(at));
        vk.memory
            .by_id
            .insert(id, MemoryState { device, size, flags: here, live, flush, ..Default::default() });
    }
    Ok(outcome)
}

/// More than a heap holds is refused here: software drivers have been seen to crash.
pub(crate) fn fits(props: &vk::PhysicalDeviceMemoryProperties, ty: u32, size: u64) -> Result<()> {
    let heap = props.memory_types.get(ty as usize).map_or(0, |t| t.heap_index) as usize;
    let most = props.memory_heaps.get(heap).map_or(0, |h| h.size);
    if size <= most {
        return Ok(());
    }
    let text = format!("{size} bytes are allocated at once, the memory has {most}");
    Err(Error::failed(text, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY).unwrap_or_else(Error::divergence))
}

/// vkFreeMemory.
pub fn free(
    vk: &mut Vulkan,
    objects: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let state = vk.memory.by_id.remove(&call.image.u64(8));
    if state.is_some_and(|s| s.live == vk::DeviceMemory::null()) {
        return Ok(Outcome::captured(call));
    }
    require_handles(objects, call, &[])?;
    vk.raw(call, linked, report)
}

/// vkMapMemory, vkMapMemory2: our pointer is kept; what the application wrote comes as fill blocks.
pub fn map(
    vk: &mut Vulkan,
    objects: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    if call.image.ret().is_some_and(|r| r < 0) {
        return Ok(Outcome::captured(call));
    }
    let image = &call.image;
    let (id, offset) = if call.command.params.len() == 6 {
        (image.u64(8), image.u64(16))
    } else {
        // VkMemoryMapInfo: sType, pNext, flags, memory, offset, size.
        image.target(8).map_or((0, 0), |to| (image.u64(to + 24), image.u64(to + 32)))
    };
    let at = image.u64(0);
    let direct = call.command.params.len() == 6;
    let asked = match direct {
        true => image.u64(24),
        false => image.target(8).map_or(vk::WHOLE_SIZE, |to| image.u64(to + 40)),
    };
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
    if direct {
        linked.set_arg(2, from);
        linked.set_arg(3, bytes);
    } else if let Some(to) = image.target(8) {
        linked.set_word_at(to + 32, from);
        linked.set_word_at(to + 40, bytes);
    }
    let mut pointer: *mut u8 = std::ptr::null_mut();
    let last = call.command.params.len() - 1;
    linked.set_arg(last, (&raw mut pointer) as u64);
    let outcome = vk.raw(call, linked, report)?;
    if let Some(m) = vk.memory.by_id.get_mut(&id) {
        // SAFETY: the driver has just mapped as many bytes there; unmapping drops it.
        let mapped = unsafe { Mapped::new(pointer, from, bytes) };
        m.mapped = (outcome.result() >= 0).then_some((offset, mapped));
    }
    Ok(outcome)
}

/// vkUnmapMemory, vkUnmapMemory2.
pub fn unmap(
    vk: &mut Vulkan,
    objects: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let image = &call.image;
    let direct = call.command.params[1].shape == gfxr_parse::schema::Shape::Value;
    // VkMemoryUnmapInfo: sType, pNext, flags, memory.
    let id = if direct { image.u64(8) } else { image.target(8).map_or(0, |to| image.u64(to + 24)) };
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
pub fn flush(
    vk: &mut Vulkan,
    objects: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    if vk.memory.mode == MemoryMode::Rebind {
        return Ok(Outcome::captured(call));
    }
    require_handles(objects, call, &[])?;
    let image = &call.image;
    if let Some(p) = image.ptr(16).filter(|p| p.has_data()) {
        let atom = vk.device(image.u64(0))?.gpu.properties.limits.non_coherent_atom_size;
        // VkMappedMemoryRange: sType, pNext, memory, offset, size; 40 bytes.
        for at in (0..p.len).map(|i| p.to + i as u32 * 40) {
            let Some(m) = vk.memory.by_id.get(&image.u64(at + 16)).filter(|m| m.mapped.is_some()) else {
                continue;
            };
            let (from, bytes) =
                coherent::whole_atoms((image.u64(at + 24), image.u64(at + 32)), atom, m.size, m.mapping());
            linked.set_word_at(at + 24, from);
            linked.set_word_at(at + 32, bytes);
        }
    }
    vk.raw(call, linked, report)
}

/// What we wrote to mapped memory reaches the device.
fn flush_ours(vk: &Vulkan, m: &MemoryState, at: u64, len: u64) -> Result<()> {
    let d = vk.device(m.device)?;
    let atom = d.gpu.properties.limits.non_coherent_atom_size;
    let (from, bytes) = coherent::whole_atoms((at, len), atom, m.size, m.mapping());
    let range = vk::MappedMemoryRange::default().memory(m.live).offset(from).size(bytes);
    // SAFETY: the memory is mapped there.
    unsafe { d.ash.flush_mapped_memory_ranges(&[range]) }
        .map_err(|e| Error::driver("vkFlushMappedMemoryRanges", e))
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
pub fn bind(
    vk: &mut Vulkan,
    objects: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let image = &call.image;
    let (resource, memory, offset) = (image.u64(8), image.u64(16), image.u64(24));
    let is_image = call.command.name.starts_with("vkBindImage");
    inside(vk, resource, is_image, memory, offset)?;
    bound_once(vk, resource, is_image)?;
    let outcome = if vk.memory.mode == MemoryMode::Rebind {
        require_handles(objects, call, &[vk.types.memory])?;
        rebind::bind(vk, image.u64(0), resource, is_image, memory, offset, report)?;
        Outcome::captured(call)
    } else {
        require_handles(objects, call, &[])?;
        rebind::fits(vk, image.u64(0), resource, is_image, memory, offset)?;
        vk.raw(call, linked, report)?
    };
    record(vk, resource, is_image, memory, offset);
    Ok(outcome)
}

/// vkBindBufferMemory2, vkBindImageMemory2.
pub fn bind2(
    vk: &mut Vulkan,
    objects: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    let image = &call.image;
    let is_image = call.command.name.starts_with("vkBindImage");
    // Both structs: sType, pNext, resource, memory, memoryOffset; 40 bytes.
    let infos: Vec<(u64, u64, u64, bool)> = image.ptr(16).filter(|p| p.has_data()).map_or(Vec::new(), |p| {
        let at = |i: u64| p.to + i as u32 * 40;
        (0..p.len)
            .map(|i| {
                (
                    image.u64(at(i) + 16),
                    image.u64(at(i) + 24),
                    image.u64(at(i) + 32),
                    image.u64(at(i) + 8) != 0,
                )
            })
            .collect()
    });
    infos
        .iter()
        .try_for_each(|&(resource, memory, offset, _)| inside(vk, resource, is_image, memory, offset))?;
    // Planes are bound one by one, and their structs are in the chain.
    infos.iter().filter(|i| !i.3).try_for_each(|i| bound_once(vk, i.0, is_image))?;
    let outcome = if vk.memory.mode == MemoryMode::Rebind {
        require_handles(objects, call, &[vk.types.memory, vk.types.swapchain])?;
        for &(resource, memory, offset, chain) in &infos {
            if chain && is_image {
                return Err(Error::new(
                    Kind::Unsupported,
                    format!(
                        "VkImage {resource} is bound plane by plane, to a swapchain or across a device group; --memory rebind cannot"
                    ),
                ));
            }
            rebind::bind(vk, image.u64(0), resource, is_image, memory, offset, report)?;
        }
        Outcome::captured(call)
    } else {
        require_handles(objects, call, &[])?;
        // What is bound plane by plane or to a swapchain has other requirements.
        for &(resource, memory, offset, _) in infos.iter().filter(|i| !i.3) {
            rebind::fits(vk, image.u64(0), resource, is_image, memory, offset)?;
        }
        vk.raw(call, linked, report)?
    };
    for (resource, memory, offset, _) in infos {
        record(vk, resource, is_image, memory, offset);
    }
    Ok(outcome)
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
            (i.size, false)
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

/// A fill-memory block: `offset` counts from the mapped pointer.
pub fn fill(vk: &mut Vulkan, memory: u64, offset: u64, data: &[u8], report: &mut Report) -> Result<()> {
    let Some(m) = vk.memory.by_id.get(&memory) else {
        report.note("fills of memory that does not exist were skipped");
        return Ok(());
    };
    let Some((mapped_at, _)) = m.mapped else {
        return Err(Error::divergence(format!("a fill of VkDeviceMemory {memory}, which is not mapped")));
    };
    let span = mapped_at.checked_add(offset).and_then(|at| Span::within(at, data.len() as u64, m.size));
    let Some(span) = span else {
        return Err(Error::divergence(format!(
            "a fill of {} bytes at {offset} from the mapping at {mapped_at} leaves VkDeviceMemory {memory} of {} bytes",
            data.len(),
            m.size
        )));
    };
    let translated = super::ray::memory_written(vk, memory, span.start(), data)?;
    if !vk.realigned.is_empty() {
        super::portability::memory_written(vk, memory, span.start(), translated.as_deref().unwrap_or(data));
    }
    let data = translated.as_deref().unwrap_or(data);
    let Some(m) = vk.memory.by_id.get(&memory) else { return Ok(()) };
    if m.live == vk::DeviceMemory::null() {
        return rebind::fill(vk, memory, span.start(), data);
    }
    let Some((_, mapped)) = &m.mapped else { return Ok(()) };
    // The application wrote nothing behind its mapping, whatever whole pages hold.
    let data = &data[..mapped.range().1.saturating_sub(span.start()).min(data.len() as u64) as usize];
    for (at, part) in host_parts(&m.bound, span.start(), data) {
        if !mapped.write(at, part) {
            return Err(Error::divergence(format!(
                "a fill of {} bytes at {at} of VkDeviceMemory {memory} leaves what is mapped of it",
                part.len()
            )));
        }
    }
    if m.flush {
        flush_ours(vk, m, span.start(), data.len() as u64)?;
    }
    Ok(())
}

/// The parts of a fill at `at` that lie in nothing only the device writes.
fn host_parts<'d>(bound: &[Bound], at: u64, data: &'d [u8]) -> Vec<(u64, &'d [u8])> {
    let all = extent(at, data.len() as u64);
    let mut holes: Vec<(u64, u64)> = bound
        .iter()
        .filter(|b| b.device_only)
        .filter_map(|b| common(&b.extent(), &all).map(|c| (c.start, c.end)))
        .collect();
    if holes.is_empty() {
        return vec![(at, data)];
    }
    holes.sort_unstable();
    holes.push((all.end, all.end));
    let mut parts = Vec::new();
    let mut from = at;
    for (a, b) in holes {
        if a > from {
            parts.push((from, &data[(from - at) as usize..(a - at) as usize]));
        }
        from = from.max(b);
    }
    parts
}

/// Writes into a resource's memory from the host, if that memory is visible there. For init blocks.
pub fn write_resource(vk: &mut Vulkan, resource: u64, is_image: bool, data: &[u8]) -> Result<bool> {
    write_within(vk, resource, is_image, 0, data)
}

/// The same, from the resource's byte `within` on.
pub(crate) fn write_within(
    vk: &mut Vulkan,
    resource: u64,
    is_image: bool,
    within: u64,
    data: &[u8],
) -> Result<bool> {
    let (memory, alloc) = if is_image {
        vk.images.get(&resource).map_or((None, None), |i| (i.memory, i.alloc.clone()))
    } else {
        vk.buffers.get(&resource).map_or((None, None), |b| (b.memory, b.alloc.clone()))
    };
    if let Some(a) = alloc {
        return Ok(a.write(within, data));
    }
    let Some((id, offset)) = memory else { return Ok(false) };
    let Some(m) = vk.memory.by_id.get(&id) else { return Ok(false) };
    let span = offset.checked_add(within).and_then(|at| Span::within(at, data.len() as u64, m.size));
    let Some(span) = span.filter(|_| m.flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE)) else {
        return Ok(false);
    };
    match &m.mapped {
        Some((_, mapped)) => {
            let done = mapped.write(span.start(), data);
            if done && coherent::wants_flush(m.flags) {
                flush_ours(vk, m, span.start(), span.len())?;
            }
            Ok(done)
        }
        None => while_mapped(vk, m, |mapped| mapped.write(span.start(), data)),
    }
}

/// Maps a live memory object that is not mapped, all of it, and flushes what was written.
fn while_mapped<R>(vk: &Vulkan, m: &MemoryState, f: impl FnOnce(&Mapped) -> R) -> Result<R> {
    let d = vk.device(m.device)?;
    // SAFETY: alive, visible to the host and not mapped; the mapping is dropped before it ends.
    let mapped = unsafe {
        let pointer = d.ash.map_memory(m.live, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty());
        Mapped::new(pointer.map_err(|e| Error::driver("vkMapMemory", e))?.cast(), 0, m.size)
    };
    let r = f(&mapped);
    let range = vk::MappedMemoryRange::default().memory(m.live).size(vk::WHOLE_SIZE);
    let coherent = m.flags.contains(vk::MemoryPropertyFlags::HOST_COHERENT);
    // SAFETY: mapped just above.
    let flushed = unsafe {
        let flushed = if coherent { Ok(()) } else { d.ash.flush_mapped_memory_ranges(&[range]) };
        d.ash.unmap_memory(m.live);
        flushed
    };
    flushed.map_err(|e| Error::driver("vkFlushMappedMemoryRanges", e))?;
    Ok(r)
}

/// A copy of `len` bytes of a memory object from `at` on, as the host sees them. None where it does not, or where only
/// others are mapped; changes nothing, not even what is mapped.
pub(crate) fn read(vk: &Vulkan, memory: u64, at: u64, len: u64) -> Option<Vec<u8>> {
    let m = vk.memory.by_id.get(&memory)?;
    let span = Span::within(at, len, m.size)?;
    if !m.flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE) {
        return None;
    }
    match &m.mapped {
        Some((_, mapped)) => mapped.read(span.start(), span.len()),
        None => while_mapped(vk, m, |mapped| mapped.read(span.start(), span.len())).ok()?,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vulkan::CapturedGpu;

    fn here(flags: &[u32]) -> Gpu {
        let mut memory = vk::PhysicalDeviceMemoryProperties {
            memory_type_count: flags.len() as u32,
            ..Default::default()
        };
        for (t, f) in memory.memory_types.iter_mut().zip(flags) {
            t.property_flags = vk::MemoryPropertyFlags::from_raw(*f);
        }
        Gpu {
            handle: vk::PhysicalDevice::null(),
            instance: 1,
            index: 0,
            properties: vk::PhysicalDeviceProperties {
                vendor_id: 7,
                driver_version: 3,
                ..Default::default()
            },
            memory,
            families: Vec::new(),
            extensions: Vec::new(),
        }
    }

    fn then(driver: u32, flags: &[u32]) -> Prologue {
        let gpu = CapturedGpu { vendor: 7, driver, ..Default::default() };
        Prologue { gpus: [(5, gpu)].into(), memory: [(5, flags.to_vec())].into(), ..Default::default() }
    }

    #[test]
    fn the_mode_follows_from_what_was_captured_and_what_is_here() {
        let auto = Options::default();
        let mode = |p: &Prologue, flags: &[u32]| choose_mode(&auto, p, 5, &here(flags));
        assert_eq!(mode(&then(3, &[1, 6]), &[1, 6]), MemoryMode::None);
        assert_eq!(mode(&then(3, &[1, 6]), &[6, 1]), MemoryMode::Remap);
        assert_eq!(mode(&then(4, &[1, 6]), &[1, 6]), MemoryMode::Rebind, "another driver version");
        assert_eq!(mode(&Prologue::default(), &[1]), MemoryMode::None, "the capture does not say");
        let forced = Options { memory: MemoryMode::Remap, ..Default::default() };
        assert_eq!(choose_mode(&forced, &then(3, &[1]), 5, &here(&[1])), MemoryMode::Remap);
    }

    #[test]
    fn fills_go_around_what_only_the_device_writes() {
        let b = |offset, size, device_only| Bound { resource: 1, image: false, device_only, offset, size };
        let data: Vec<u8> = (0..100).collect();
        let bound = [b(90, 20, true), b(110, 5, true), b(150, 10, false), b(190, 100, true)];
        let parts: Vec<_> =
            host_parts(&bound, 100, &data).iter().map(|(at, p)| (*at, p.len(), p[0])).collect();
        assert_eq!(parts, [(115, 75, 15)]);
        assert_eq!(host_parts(&bound[2..3], 100, &data), [(100, &data[..])]);
    }

    #[test]
    fn fills_at_the_end_of_all_numbers_wrap_nowhere() {
        let b = |offset, size| Bound { resource: 1, image: false, device_only: true, offset, size };
        let data = [1u8; 64];
        assert_eq!(host_parts(&[b(u64::MAX - 8, u64::MAX)], 0, &data), [(0, &data[..])]);
        assert_eq!(host_parts(&[b(0, u64::MAX)], 100, &data), []);
        assert_eq!(host_parts(&[b(8, 16)], u64::MAX - 200, &data), [(u64::MAX - 200, &data[..])]);
    }

    #[test]
    fn types_are_chosen_by_what_they_must_be_then_by_likeness() {
        let memory = here(&[0b0001, 0b0110, 0b0111, 0b1110]).memory;
        let f = vk::MemoryPropertyFlags::from_raw;
        assert_eq!(pool::best_type(&memory, u32::MAX, f(0b0110), f(0)), Some(1));
        assert_eq!(pool::best_type(&memory, u32::MAX, f(0b0110), f(0b0001)), Some(2));
        assert_eq!(pool::best_type(&memory, 0b1000, f(0b0110), f(0b0001)), Some(3));
        assert_eq!(pool::best_type(&memory, 0b0001, f(0b0110), f(0)), None);
    }
}
