//! Pointers among plain data: push constants, what the host writes to memory, what an update or a snapshot brings.
//!
//! Such data has no types here. A word of 64 bits, aligned to 8 bytes, that lies in the captured range of a buffer whose
//! address the application asked for is taken for a pointer and becomes the live one. An application must ask for an
//! address before it can write it, so that the range is known when the word comes. Where every address is the captured
//! one, and where nobody asked for an address, the data is not even looked at.
//!
//! Left alone: references to acceleration structures, which are translated where a build reads them, and shader binding
//! tables, which are translated where a trace reads them. A table that is uploaded through another buffer is looked at
//! twice; that does harm only where live and captured ranges overlap.
//!
//! Not found: pointers that shaders compute or the application packs otherwise than as aligned 64-bit words. Taken
//! wrongly: numbers that happen to lie in a range; ranges are a small part of 2^64.

use super::commands::remember;
use crate::error::Result;
use crate::exec::{Call, Outcome};
use crate::link::Linked;
use crate::objects::Objects;
use crate::report::Report;
use crate::vulkan::Vulkan;
use ash::vk;

/// Where in `data`, which begins `at` bytes into whatever its alignment counts from, which live pointers go.
fn pointers(vk: &Vulkan, at: u64, data: &[u8]) -> Vec<(usize, u64)> {
    let Some((low, high)) = vk.addresses.bounds() else { return Vec::new() };
    let first = (at.next_multiple_of(8) - at) as usize;
    let words = data.get(first..).unwrap_or_default().chunks_exact(8);
    let words = (first..).step_by(8).zip(words);
    let mut found = Vec::new();
    for (place, word) in words {
        let word = u64::from_le_bytes(word.try_into().expect("8 bytes"));
        if (low..high).contains(&word)
            && !vk.ray.references.contains_key(&word)
            && let Some(live) = vk.addresses.known(word)
        {
            found.push((place, live));
        }
    }
    found
}

fn put(data: &mut [u8], found: &[(usize, u64)]) {
    for (place, live) in found {
        data[*place..place + 8].copy_from_slice(&live.to_le_bytes());
    }
}

/// The bytes of a write at `at` of some memory, with its pointers translated; none if it has no pointers.
///
/// `tables` are the parts, as (offset, size), in which pointers are translated later.
pub(crate) fn written(vk: &mut Vulkan, at: u64, data: &[u8], tables: &[(u64, u64)]) -> Option<Vec<u8>> {
    let mut found = pointers(vk, at, data);
    found.retain(|(place, _)| {
        let place = at + *place as u64;
        !tables.iter().any(|(offset, size)| (*offset..offset + size).contains(&place))
    });
    if found.is_empty() {
        return None;
    }
    vk.ray.totals.written_addresses += found.len() as u64;
    let mut data = data.to_vec();
    put(&mut data, &found);
    Some(data)
}

/// The same for the contents of one buffer.
pub(crate) fn buffer_written(vk: &mut Vulkan, buffer: u64, at: u64, data: &[u8]) -> Option<Vec<u8>> {
    if is_table(vk, buffer) { None } else { written(vk, at, data, &[]) }
}

/// Whether a buffer is made to hold shader binding tables.
pub(crate) fn is_table(vk: &Vulkan, buffer: u64) -> bool {
    let table = vk::BufferUsageFlags::SHADER_BINDING_TABLE_KHR;
    vk.buffers.get(&buffer).is_some_and(|b| b.usage.contains(table))
}

/// Puts the pointers of data at image offset `to` into the linked call; nothing where the image is aligned too little.
fn put_linked(linked: &mut Linked, to: u32, found: &[(usize, u64)]) {
    for (place, live) in found {
        let at = to + *place as u32;
        linked.set_u32_at(at, *live as u32);
        linked.set_u32_at(at + 4, (*live >> 32) as u32);
    }
}

/// Push constants at image offset `to`: translated in the linked call, and remembered so.
pub(super) fn push(
    vk: &mut Vulkan,
    call: &Call,
    linked: &mut Linked,
    (layout, stages, offset): (u64, u32, u32),
    (to, len): (u32, u64),
) {
    let mut values = call.image.bytes()[to as usize..to as usize + len as usize].to_vec();
    let found = if to % 4 == 0 { pointers(vk, u64::from(offset), &values) } else { Vec::new() };
    put(&mut values, &found);
    put_linked(linked, to, &found);
    vk.ray.totals.push_constant_addresses += found.len() as u64;
    if vk.ray.on {
        remember(vk, call.image.u64(0), layout, stages, offset, values);
    }
}

/// vkCmdUpdateBuffer: commandBuffer, dstBuffer, dstOffset, dataSize, pData.
pub fn update_buffer(
    vk: &mut Vulkan,
    _: &mut Objects,
    call: &Call,
    linked: &mut Linked,
    report: &mut Report,
) -> Result<Outcome> {
    if let Some(p) = call.image.ptr(32).filter(|p| p.has_data() && p.to % 4 == 0)
        && !is_table(vk, call.image.u64(8))
    {
        let data = &call.image.bytes()[p.to as usize..p.to as usize + p.len as usize];
        let found = pointers(vk, call.image.u64(16), data);
        put_linked(linked, p.to, &found);
        vk.ray.totals.written_addresses += found.len() as u64;
    }
    vk.raw(call, linked, report)
}
