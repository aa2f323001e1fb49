//! Sizes that queries answer: of compacted and of serialised structures.
//!
//! The application makes a copy as large as the captured driver said. Each such query is remembered with the structure
//! it asked about; when the application reads results, what the captured driver had answered meets what this one
//! answers. Where it read them by other means (a copy on the GPU, mapped memory), this driver's answers are read when a
//! structure of unknown size is made: by then the application knew them, so that they are there. The largest that can be
//! meant is taken.

use super::state::Pool;
use crate::error::{Error, Result, Vk};
use crate::link::Linked;
use crate::vulkan::Vulkan;
use crate::vulkan::arguments::new_object;
use crate::vulkan::linked_call::LinkedCall;
use crate::vulkan::ray::recording::{loader, wait_for_all};
use crate::vulkan::ray::state::{About, Answers};
use ash::vk::{self, Handle};
use gfxr_parse::ahead::Call;
use gfxr_parse::{argument, param};
use std::collections::HashMap;
use world::Outcome;

impl About {
    fn of(query: vk::QueryType) -> Option<Self> {
        Some(match query {
            vk::QueryType::ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR => About::Compacted,
            vk::QueryType::ACCELERATION_STRUCTURE_SERIALIZATION_SIZE_KHR => About::Serialised,
            vk::QueryType::ACCELERATION_STRUCTURE_SERIALIZATION_BOTTOM_LEVEL_POINTERS_KHR
            | vk::QueryType::ACCELERATION_STRUCTURE_SIZE_KHR => About::Other,
            _ => return None,
        })
    }
}

/// vkCreateQueryPool.
pub fn create_pool(c: &mut LinkedCall<'_>, _: Outcome) -> Result<()> {
    let LinkedCall { vk, call, linked, .. } = c;
    const INFO: usize = argument!("vkCreateQueryPool", "pCreateInfo");
    let about = linked.param::<vk::QueryPoolCreateInfo<'_>>(INFO).and_then(|i| About::of(i.query_type));
    if let (Some(about), Ok((id, at))) = (about, new_object(call)) {
        let live = vk::QueryPool::from_raw(linked.word_at(at));
        vk.ray.pools.insert(id, Pool { device: call.image.u64(0), live, about, asked: HashMap::new() });
    }
    Ok(())
}

/// vkDestroyQueryPool.
pub fn destroy_pool(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, call, .. } = c;
    vk.ray.pools.remove(&call.image.u64(param!("vkDestroyQueryPool", "queryPool")));
    Ok(())
}

/// vkCmdWriteAccelerationStructuresPropertiesKHR.
pub fn ask(c: &mut LinkedCall<'_>) -> Result<()> {
    let LinkedCall { vk, call, .. } = c;
    let pool = call.image.u64(param!("vkCmdWriteAccelerationStructuresPropertiesKHR", "queryPool"));
    let first = call.image.u32(param!("vkCmdWriteAccelerationStructuresPropertiesKHR", "firstQuery"));
    let of = param!("vkCmdWriteAccelerationStructuresPropertiesKHR", "pAccelerationStructures");
    if let Some(pool) = vk.ray.pools.get_mut(&pool) {
        for (i, id) in (0..).zip(call.image.u64s(of)) {
            pool.asked.insert(first.saturating_add(i), (id, false));
        }
    }
    Ok(())
}

/// A query's answer, 32 or 64 bits wide.
fn result(bytes: &[u8], at: usize, wide: bool) -> Option<u64> {
    if wide {
        bytes.get(at..at.checked_add(8)?).map(|b| u64::from_le_bytes(b.try_into().expect("8 bytes")))
    } else {
        bytes
            .get(at..at.checked_add(4)?)
            .map(|b| u64::from(u32::from_le_bytes(b.try_into().expect("4 bytes"))))
    }
}

/// vkGetQueryPoolResults has succeeded: what the captured driver had answered beside what this one answers.
pub(super) fn learn(c: &mut LinkedCall<'_>, outcome: Outcome) -> Result<()> {
    if outcome.result() == vk::Result::SUCCESS.as_raw() {
        learn_from(c.vk, c.call, c.linked);
    }
    Ok(())
}

fn learn_from(vk: &mut Vulkan, call: &Call, linked: &Linked) {
    let id = call.image.u64(param!("vkGetQueryPoolResults", "queryPool"));
    let Some(pool) = vk.ray.pools.get(&id) else { return };
    let about = pool.about;
    let data = call.image.ptr(param!("vkGetQueryPoolResults", "pData"));
    let Some(p) = data.filter(|p| p.has_data() && p.to != 0) else { return };
    let (to, len) = (p.to as usize, p.len as usize);
    let first = call.image.u32(param!("vkGetQueryPoolResults", "firstQuery"));
    let count = call.image.u32(param!("vkGetQueryPoolResults", "queryCount"));
    let stride = call.image.u64(param!("vkGetQueryPoolResults", "stride")) as usize;
    let flags = call.image.u32(param!("vkGetQueryPoolResults", "flags"));
    let wide = flags & vk::QueryResultFlags::TYPE_64.as_raw() != 0;
    let then = &call.image.bytes()[to..to + len];
    let now: Vec<u8> = linked.words().iter().flat_map(|w| w.to_le_bytes()).skip(to).take(len).collect();
    for i in 0..count {
        let Some(at) = (i as usize).checked_mul(stride) else { break };
        let (Some(then), Some(now)) = (result(then, at, wide), result(&now, at, wide)) else { break };
        let query = first.saturating_add(i);
        answered(vk, id, query, about, now);
        let asked = vk.ray.pools.get(&id).and_then(|p| p.asked.get(&query));
        meet(vk, asked.map(|a| a.0), about, then, now);
    }
}

/// What both drivers said about one structure.
fn meet(vk: &mut Vulkan, id: Option<u64>, about: About, then: u64, now: u64) {
    match (about, id) {
        (About::Compacted, _) => {
            let made = vk.options.rehearse.made(now);
            vk.ray.sizes.learn(then, made);
        }
        (About::Serialised, Some(id)) => {
            vk.ray.answers.entry(id).or_default().serialised_then = Some(then);
        }
        _ => {}
    }
}

/// The same, where the host asked directly.
pub(super) fn compare(vk: &mut Vulkan, id: u64, query: vk::QueryType, then: u64, now: u64) {
    if let Some(about) = About::of(query) {
        meet(vk, Some(id), about, then, now);
    }
}

/// This driver's answer to one query is known.
fn answered(vk: &mut Vulkan, pool: u64, query: u32, about: About, now: u64) {
    let now = vk.options.rehearse.larger(now);
    let Some(asked) = vk.ray.pools.get_mut(&pool).and_then(|p| p.asked.get_mut(&query)) else { return };
    asked.1 = true;
    let answers = vk.ray.answers.entry(asked.0).or_default();
    match about {
        About::Compacted => answers.compacted = Some(now),
        About::Serialised => answers.serialised = Some(now),
        About::Other => {}
    }
}

/// Reads the answers that the application must have read by other means.
fn read_unread(vk: &mut Vulkan, device: u64) -> Result<()> {
    let unread: Vec<(u64, vk::QueryPool, About, u32)> = vk
        .ray
        .pools
        .iter()
        .filter(|(_, p)| p.device == device && p.about != About::Other)
        .flat_map(|(id, p)| p.asked.iter().filter(|(_, a)| !a.1).map(|(q, _)| (*id, p.live, p.about, *q)))
        .collect();
    for (id, live, about, query) in unread {
        let mut now = [0u64];
        let d = &vk.device(device)?.ash;
        // SAFETY: a live pool; a query without a result says NOT_READY.
        match unsafe { d.get_query_pool_results(live, query, &mut now, vk::QueryResultFlags::TYPE_64) } {
            Ok(()) => answered(vk, id, query, about, now[0]),
            Err(vk::Result::NOT_READY) => {}
            Err(e) => return Err(Error::driver("vkGetQueryPoolResults", e)),
        }
    }
    Ok(())
}

/// What a structure of `captured` bytes, a size that nobody named, can take here at most: as much as the largest copy of
/// anything that was that large. 0 where nothing is known.
pub(super) fn bound(vk: &mut Vulkan, device: u64, captured: u64) -> Result<u64> {
    read_unread(vk, device)?;
    let of = |(id, a): (&u64, &Answers)| {
        let s = vk.ray.structures.get(id).filter(|s| s.captured >= captured)?;
        // A serialised structure says itself how large it is when it is read again.
        a.compacted.into_iter().chain(a.serialised.map(|_| s.size)).max()
    };
    Ok(vk.ray.answers.iter().filter_map(of).max().unwrap_or(0))
}

/// Bytes that a structure takes when it is serialised here; none if nobody asked.
pub(super) fn serialised(vk: &mut Vulkan, device: u64, id: u64) -> Result<Option<u64>> {
    read_unread(vk, device)?;
    Ok(vk.ray.answers.get(&id).and_then(|a| a.serialised))
}

/// Asks this device about structures and waits: for a snapshot, and in place of the host.
pub(super) fn ask_now(
    vk: &mut Vulkan,
    device: u64,
    structures: &[vk::AccelerationStructureKHR],
    query: vk::QueryType,
) -> Result<Vec<u64>> {
    let loader = loader(vk, device)?;
    let d = vk.device_mut(device)?;
    let n = structures.len() as u32;
    let info = vk::QueryPoolCreateInfo::default().query_type(query).query_count(n);
    // SAFETY: a plain creation; destroyed below, when its only use has been waited for.
    let pool = unsafe { d.ash.create_query_pool(&info, None) }.what("vkCreateQueryPool")?;
    let mut sizes = vec![0u64; structures.len()];
    let done = d.with_upload(|u, d, _| {
        u.run(d, |cmd| {
            wait_for_all(d, cmd);
            // SAFETY: recording; the structures are alive and built.
            unsafe {
                d.cmd_reset_query_pool(cmd, pool, 0, n);
                loader.cmd_write_acceleration_structures_properties(cmd, structures, query, pool, 0);
            }
        })?;
        let how = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: as large as the pool.
        unsafe { d.get_query_pool_results(pool, 0, &mut sizes, how) }.what("vkGetQueryPoolResults")
    });
    // SAFETY: ours, and idle.
    unsafe { d.ash.destroy_query_pool(pool, None) };
    done.map(|()| sizes)
}

/// This driver's answer about a structure that was asked directly.
pub(super) fn answer(vk: &mut Vulkan, id: u64, query: vk::QueryType, now: u64) {
    let now = vk.options.rehearse.larger(now);
    let answers = vk.ray.answers.entry(id).or_default();
    match About::of(query) {
        Some(About::Compacted) => answers.compacted = Some(now),
        Some(About::Serialised) => answers.serialised = Some(now),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_at_both_widths() {
        let bytes: Vec<u8> = (1..=12).collect();
        assert_eq!(result(&bytes, 0, true), Some(0x0807_0605_0403_0201));
        assert_eq!(result(&bytes, 8, false), Some(0x0C0B_0A09));
        assert_eq!(result(&bytes, 8, true), None);
    }

    #[test]
    fn only_queries_about_structures_are_kept() {
        assert_eq!(About::of(vk::QueryType::TIMESTAMP), None);
        assert_eq!(
            About::of(vk::QueryType::ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR),
            Some(About::Compacted)
        );
    }
}
