//! Pointers among plain data: push constants, what the host writes to memory, what an update or a snapshot brings.
//!
//! Such data has no types here. A word of 64 bits, aligned to 8 bytes, that lies in the captured range of a buffer whose
//! address the application asked for is taken for a pointer and becomes the live one. An application must ask for an
//! address before it can write it, so that the range is known when the word comes. Where every address is the captured
//! one, and where nobody asked for an address, the data is not even looked at.
//!
//! Some drivers' addresses look like two small numbers: 0xE0_0000_00C0 is also the indices 192 and 224 of a mesh. Such a
//! word is taken for a pointer only where shaders read structures: in push constants, and in buffers made for storage,
//! uniforms or addresses and for neither vertices, indices nor build inputs. Elsewhere, as in staging buffers, it is
//! left alone and counted, until a shader that finds it says otherwise (`shader_pointers/`). What shaders say of push constants is
//! final. With `--addresses known` nothing but what they say is translated, except in updates of buffers, whose data cannot
//! be changed once they are recorded.
//!
//! Also left alone: references to acceleration structures, which are translated where a build reads them, and shader
//! binding tables, which are translated where a trace reads them. A table that is uploaded through another buffer is
//! looked at twice; that does harm only where live and captured ranges overlap.
//!
//! Not found: pointers that shaders compute or the application packs otherwise than as aligned 64-bit words.

use crate::error::{Error, Kind, Result};
use crate::link::Linked;
use crate::options::AddressMode;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::ray::recording::remember;
use crate::vulkan::shader_pointers::{Verdict, Word};
use crate::vulkan::{Vulkan, descriptors};
use ash::vk;
use gfxr_parse::ahead::Call;
use gfxr_parse::{member, param};
use world::World;
use world::span::{common, extent};

/// Halves of an address below this may as well be indices or sizes.
const SMALL: u64 = 1 << 24;

/// A word that lies in a captured range.
struct Found {
    /// Where in the data.
    place: usize,
    captured: u64,
    live: u64,
    /// It may as well be two numbers.
    doubtful: bool,
}

/// The words of `data` that lie in captured ranges; `at` is what the alignment of its first byte counts from.
fn pointers(vk: &Vulkan, at: u64, data: &[u8]) -> Vec<Found> {
    let Some((low, high)) = vk.addresses.bounds() else { return Vec::new() };
    words(at, data)
        .filter(|(_, word)| (low..high).contains(word) && !vk.ray.references.contains_key(word))
        .filter(|(_, word)| plausible(*word))
        .filter_map(|(place, word)| {
            Some(Found { place, captured: word, live: vk.addresses.known(word)?, doubtful: doubtful(word) })
        })
        .collect()
}

fn doubtful(word: u64) -> bool {
    word >> 32 < SMALL && word & 0xFFFF_FFFF < SMALL
}

/// Whether what a pointer points to would be aligned.
fn plausible(word: u64) -> bool {
    word.is_multiple_of(if doubtful(word) { 16 } else { 4 })
}

/// The aligned words of `data` and where in it they are.
fn words(at: u64, data: &[u8]) -> impl Iterator<Item = (usize, u64)> {
    let first = (at.wrapping_neg() % 8) as usize;
    let chunks = data.get(first..).unwrap_or_default().chunks_exact(8);
    let word = |chunk: &[u8]| u64::from_le_bytes(chunk.try_into().expect("8 bytes"));
    chunks.enumerate().map(move |(i, chunk)| (first + i * 8, word(chunk)))
}

fn put(data: &mut [u8], found: &[Found]) {
    for f in found {
        data[f.place..f.place + 8].copy_from_slice(&f.live.to_le_bytes());
    }
}

/// The bytes of a write `at` bytes into a memory, with its pointers translated; none if it has no pointers.
pub(crate) fn memory_written(vk: &mut Vulkan, memory: u64, at: u64, data: &[u8]) -> Result<Option<Vec<u8>>> {
    let found = pointers(vk, at, data);
    if found.is_empty() && vk.shader_pointers.journal.is_empty() && vk.descriptors.is_unused() {
        return Ok(None);
    }
    let all = extent(at, data.len() as u64);
    let end = all.end;
    let bound = vk.memory.by_id.get(&memory).map_or(&[][..], |m| &m.bound);
    let reached = bound.iter().filter(|b| !b.image && common(&b.extent(), &all).is_some());
    let buffers: Vec<(u64, u64, u64)> = reached.map(|b| (b.resource, b.offset, b.extent().end)).collect();
    for &(buffer, from, to) in &buffers {
        let start = at.max(from);
        vk.shader_pointers.journal.overwritten(buffer, start - from, end.min(to) - start);
    }
    let mut pieces = Vec::new();
    for &(buffer, from, to) in &buffers {
        let (start, stop) = (at.max(from), end.min(to));
        let part = (start - at) as usize..(stop - at) as usize;
        let found = descriptors::written(vk, buffer, start - from, &data[part.clone()])?;
        pieces.extend(found.into_iter().map(|(r, live)| (r.start + part.start..r.end + part.start, live)));
    }
    let found = outside(found, &pieces);
    let placed = found.into_iter().map(|f| {
        let at = at.saturating_add(f.place as u64);
        let holder = buffers.iter().find(|b| (b.1..b.2).contains(&at));
        (holder.map(|b| (b.0, at - b.1)), f)
    });
    let placed = placed.collect();
    Ok(translated(vk, data, placed, pieces))
}

/// The same for the contents of one buffer.
pub(crate) fn buffer_written(vk: &mut Vulkan, buffer: u64, data: &[u8]) -> Result<Option<Vec<u8>>> {
    vk.shader_pointers.journal.overwritten(buffer, 0, data.len() as u64);
    let pieces = descriptors::written(vk, buffer, 0, data)?;
    let found = outside(pointers(vk, 0, data), &pieces);
    let found = found.into_iter().map(|f| (Some((buffer, f.place as u64)), f)).collect();
    Ok(translated(vk, data, found, pieces))
}

/// The words that lie in no descriptor: what those hold is the driver's.
fn outside(mut found: Vec<Found>, pieces: &[descriptors::Piece]) -> Vec<Found> {
    if !pieces.is_empty() {
        found.retain(|f| !pieces.iter().any(|(r, _)| f.place < r.end && r.start < f.place + 8));
    }
    found
}

fn usage(vk: &Vulkan, buffer: u64) -> vk::BufferUsageFlags {
    vk.buffers.get(&buffer).map_or(vk::BufferUsageFlags::empty(), |b| b.usage)
}

/// What becomes of a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Translated,
    /// Where it is used.
    Later,
    /// It may be no pointer.
    Left,
}

/// What becomes of a word in a buffer of this usage.
fn fate(usage: vk::BufferUsageFlags, found: &Found) -> Fate {
    use vk::BufferUsageFlags as U;
    let structures = usage.intersects(U::STORAGE_BUFFER | U::UNIFORM_BUFFER | U::SHADER_DEVICE_ADDRESS);
    let numbers = U::VERTEX_BUFFER | U::INDEX_BUFFER | U::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR;
    if usage.contains(U::SHADER_BINDING_TABLE_KHR) {
        Fate::Later
    } else if found.doubtful && (!structures || usage.intersects(numbers)) {
        Fate::Left
    } else {
        Fate::Translated
    }
}

/// A word, and the buffer and place it is written to, if that is known.
type Placed = (Option<(u64, u64)>, Found);

/// Keeps what is to be translated now, counts, and notes the others for when a shader says what they are. `last_chance`:
/// what is not translated now cannot be later.
fn settle(vk: &mut Vulkan, found: Vec<Placed>, last_chance: bool) -> Vec<Found> {
    let known_only = vk.options.addresses == AddressMode::Known && !last_chance;
    let mut kept = Vec::new();
    for (holder, f) in found {
        let mut fate = fate(holder.map_or(vk::BufferUsageFlags::empty(), |h| usage(vk, h.0)), &f);
        if known_only && fate == Fate::Translated {
            fate = Fate::Left;
        }
        let done = fate == Fate::Translated;
        if let Some((buffer, at)) = holder
            && (fate != Fate::Left || !last_chance)
        {
            // What is translated where it is used is not to be touched before, but leads on.
            vk.shader_pointers.journal.put(buffer, at, Word::new(f.captured, f.live, fate != Fate::Left));
        }
        vk.ray.totals.written_addresses += u64::from(done);
        vk.ray.totals.doubtful_addresses += u64::from(fate == Fate::Left);
        if done {
            kept.push(f);
        }
    }
    kept
}

fn translated(
    vk: &mut Vulkan,
    data: &[u8],
    found: Vec<Placed>,
    pieces: Vec<descriptors::Piece>,
) -> Option<Vec<u8>> {
    let found = settle(vk, found, false);
    (!found.is_empty() || !pieces.is_empty()).then(|| {
        let mut data = data.to_vec();
        put(&mut data, &found);
        pieces.into_iter().for_each(|(at, live)| data[at].copy_from_slice(&live));
        data
    })
}

/// Puts the pointers of data at image offset `to` into the linked call; nothing where the image is aligned too little.
fn put_linked(linked: &mut Linked, to: u32, found: &[Found]) {
    for f in found {
        let at = to + f.place as u32;
        linked.set_u32_at(at, f.live as u32);
        linked.set_u32_at(at + size_of::<u32>() as u32, (f.live >> 32) as u32);
    }
}

/// Push constants at image offset `to`: translated in the linked call, and remembered so.
pub(super) fn push(
    vk: &mut Vulkan,
    world: &World,
    call: &Call,
    linked: &mut Linked,
    (layout, stages, offset): (u64, u32, u32),
    (to, len): (u32, u64),
) -> Result<()> {
    let mut values = call.image.bytes()[to as usize..to as usize + len as usize].to_vec();
    let found = if to % 4 == 0 { pushed(vk, world, call, (stages, offset), &values)? } else { Vec::new() };
    put(&mut values, &found);
    put_linked(linked, to, &found);
    vk.ray.totals.push_constant_addresses += found.len() as u64;
    if vk.ray.translates {
        remember(vk, call.image.u64(0), layout, stages, offset, values);
    }
    Ok(())
}

/// The pointers among push constants: those that shaders know, and what looks like one where they say nothing.
fn pushed(
    vk: &mut Vulkan,
    world: &World,
    call: &Call,
    (stages, offset): (u32, u32),
    values: &[u8],
) -> Result<Vec<Found>> {
    let mut found = pointers(vk, u64::from(offset), values);
    // (snapshots of GFXReconstruct 0.9 do not say where buffers were)
    let nowhere = vk.prologue.trimmed && vk.shader_pointers.on && vk.addresses.bounds().is_none();
    if !nowhere && vk.addresses.nothing_moved() && vk.ray.nothing_moved() {
        return Ok(found);
    }
    let layout = match call.command.canonical {
        "vkCmdPushConstants2" => {
            let info = call.image.target(param!("vkCmdPushConstants2", "pPushConstantsInfo"));
            info.map_or(0, |info| call.image.u64(info + member!("VkPushConstantsInfo", "layout")))
        }
        _ => call.image.u64(param!("vkCmdPushConstants", "layout")),
    };
    let shaders = vk.shader_pointers.of_layout(world, layout);
    let places = shaders.pointer_places(stages, offset, values.len() as u32);
    let guessed: Vec<u32> = found.iter().map(|f| offset.saturating_add(f.place as u32)).collect();
    let mut verdicts = shaders.verdicts(stages, &guessed).into_iter();
    let before = found.len();
    found.retain(|_| verdicts.next() == Some(Verdict::Open));
    let looked_like = before - found.len();
    if vk.options.addresses == AddressMode::Known {
        vk.ray.totals.doubtful_addresses += found.len() as u64;
        found.clear();
    }
    let mut sure = 0;
    for (at, verdict) in places.iter().zip(shaders.verdicts(stages, &places)) {
        let Verdict::Pointer { structure } = verdict else { continue };
        sure += usize::from(guessed.contains(at));
        let place = at.saturating_sub(offset) as usize;
        let Some(word) = values.get(place..).and_then(|v| v.first_chunk()) else { continue };
        let word = u64::from_le_bytes(*word);
        let live = match structure {
            true => vk.ray.references.get(&word).copied().or_else(|| vk.addresses.known(word)),
            false => vk.addresses.known(word),
        };
        match live {
            Some(live) => found.push(Found { place, captured: word, live, doubtful: false }),
            None if nowhere && word != 0 => {
                let text = "shaders take a push constant for a buffer's address, and the snapshot says no buffer's: record with \
                            GFXReconstruct 1.0 or later, or from the first frame on";
                return Err(Error::new(Kind::Unsupported, text));
            }
            None => vk.ray.totals.push_constant_unknown += u64::from(word != 0),
        }
    }
    vk.ray.totals.push_constant_numbers += (looked_like - sure) as u64;
    Ok(found)
}

/// vkCmdUpdateBuffer.
pub fn update_buffer(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, call, linked, .. } = c;
    let data = call.image.ptr(param!("vkCmdUpdateBuffer", "pData"));
    if let Some(p) = data.filter(|p| p.has_data() && p.to % 4 == 0) {
        let data = &call.image.bytes()[p.to as usize..p.to as usize + p.len as usize];
        let buffer = call.image.u64(param!("vkCmdUpdateBuffer", "dstBuffer"));
        let at = call.image.u64(param!("vkCmdUpdateBuffer", "dstOffset"));
        vk.shader_pointers.journal.overwritten(buffer, at, data.len() as u64);
        let pieces = descriptors::updated(vk, buffer, at, data);
        let found = outside(pointers(vk, at, data), &pieces);
        let found =
            found.into_iter().map(|f| (Some((buffer, at.saturating_add(f.place as u64))), f)).collect();
        let found = settle(vk, found, true);
        put_linked(linked, p.to, &found);
        for (place, live) in pieces {
            linked.set_bytes_at(p.to + place.start as u32, &live);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_aligned_to_what_they_are_written_to() {
        let data: Vec<u8> = (0..21).collect();
        let places = |at, n| words(at, &data[..n]).map(|w| w.0).collect::<Vec<_>>();
        assert_eq!(places(16, 21), [0, 8]);
        assert_eq!(places(20, 21), [4, 12]);
        assert_eq!(places(21, 21), [3, 11]);
        assert!(places(20, 11).is_empty());
        assert!(places(1, 3).is_empty());
        assert_eq!(words(4, &data).next(), Some((4, 0x0B0A_0908_0706_0504)));
    }

    #[test]
    fn pointers_go_where_they_were_found() {
        let mut data = [0; 12];
        put(&mut data, &[Found { place: 4, captured: 0, live: 0x0102, doubtful: false }]);
        assert_eq!(data, [0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn two_small_numbers_are_a_pointer_only_where_shaders_read_structures() {
        use vk::BufferUsageFlags as U;
        assert!(doubtful(0xE0_0000_00C0) && plausible(0xE0_0000_00C0) && !plausible(0xE0_0000_00C4));
        assert!(!doubtful(0x7FCA_387F_D0BC) && plausible(0x7FCA_387F_D0BC) && !plausible(0x7FCA_387F_D0BF));
        let [sure, doubtful] =
            [false, true].map(|doubtful| Found { place: 0, captured: 0, live: 1, doubtful });
        assert_eq!(fate(U::TRANSFER_SRC, &doubtful), Fate::Left);
        assert_eq!(fate(U::TRANSFER_SRC, &sure), Fate::Translated);
        assert_eq!(fate(U::STORAGE_BUFFER, &doubtful), Fate::Translated);
        assert_eq!(fate(U::STORAGE_BUFFER | U::INDEX_BUFFER, &doubtful), Fate::Left);
        assert_eq!(fate(U::SHADER_BINDING_TABLE_KHR, &sure), Fate::Later);
    }
}
